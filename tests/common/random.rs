//! A counter-based random generator (splitmix64): the same cases from the same seed on every machine.

/// Seed of the random tests: `MFMA_TEST_SEED`, else a fixed one. A failing test prints its case, so the seed is only
/// needed to widen the search.
pub fn seed() -> u64 {
    match std::env::var("MFMA_TEST_SEED") {
        Ok(text) => text.parse().expect("MFMA_TEST_SEED must be a number"),
        Err(_) => 20_260_401,
    }
}

pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// `width` random bits, 0 to 64.
    pub fn bits(&mut self, width: u32) -> u64 {
        match width {
            0 => 0,
            _ => self.next() >> (64 - width),
        }
    }

    /// A number below `bound`. The bias is far below what a test could see.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    /// A number of the closed interval.
    pub fn between(&mut self, low: i32, high: i32) -> i32 {
        low + self.below((high - low + 1) as u64) as i32
    }

    pub fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len() as u64) as usize]
    }
}
