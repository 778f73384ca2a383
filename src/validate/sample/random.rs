//! A generator for every case: what a directed case is follows from seed, name of the stream and number of the case
//! alone.

/// One step of SplitMix64.
#[inline]
pub(crate) fn splitmix64(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Numbers of one case.
pub(super) struct Rng(u64);

impl Rng {
    /// The generator of case `index` of the stream `name`.
    pub(super) fn new(seed: u64, name: &str, index: u64) -> Rng {
        // FNV-1a keeps streams apart; two steps of the generator keep neighbouring cases apart.
        let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325, |h: u64, byte| {
            (h ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
        });
        let mut outer = Rng(seed ^ hash);
        let mut inner = Rng(outer.next().wrapping_add(index));
        Rng(inner.next())
    }

    /// 64 random bits.
    pub(super) fn next(&mut self) -> u64 {
        splitmix64(&mut self.0)
    }

    /// A number from `low` to `high`, both included.
    pub(super) fn range(&mut self, low: i32, high: i32) -> i32 {
        let span = (i64::from(high) - i64::from(low) + 1) as u64;
        low + ((self.next() >> 32) % span) as i32
    }

    /// True once in `n`.
    pub(super) fn once_in(&mut self, n: i32) -> bool {
        self.range(1, n) == 1
    }

    /// One of several.
    pub(super) fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.range(0, choices.len() as i32 - 1) as usize]
    }

    /// All numbers below `count`, in random order.
    pub(super) fn order(&mut self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        for i in (1..count).rev() {
            order.swap(i, self.range(0, i as i32) as usize);
        }
        order
    }
}
