//! MT19937, the Mersenne Twister of the paper's Algorithm 3 and of MATLAB's `rng(seed, 'twister')` (Matsumoto and
//! Nishimura, 1998).

const N: usize = 624;
const M: usize = 397;
/// MATLAB's seed 0 is the seed that the generator's authors use where none is given.
const DEFAULT_SEED: u32 = 5489;

/// The generator.
#[derive(Clone)]
pub struct Mt19937 {
    state: [u32; N],
    next: usize,
}

impl Mt19937 {
    /// The generator after MATLAB's `rng(seed, 'twister')`.
    pub fn matlab(seed: u32) -> Mt19937 {
        Mt19937::new(if seed == 0 { DEFAULT_SEED } else { seed })
    }

    /// The authors' `init_genrand`; what C++'s `std::mt19937(seed)` does, too.
    pub fn new(seed: u32) -> Mt19937 {
        let mut state = [seed; N];
        for i in 1..N {
            let before = state[i - 1];
            state[i] = (before ^ before >> 30)
                .wrapping_mul(1_812_433_253)
                .wrapping_add(i as u32);
        }
        Mt19937 { state, next: N }
    }

    /// The authors' `init_by_array`: a seed of any number of words.
    pub fn from_words(words: &[u32]) -> Mt19937 {
        let mut mt = Mt19937::new(19_650_218);
        let state = &mut mt.state;
        let mut i = 1;
        let mut step = |i: &mut usize, factor: u32, add: &dyn Fn(u32) -> u32| {
            let before = state[*i - 1];
            let mixed = state[*i] ^ (before ^ before >> 30).wrapping_mul(factor);
            state[*i] = add(mixed);
            *i += 1;
            if *i == N {
                state[0] = state[N - 1];
                *i = 1;
            }
        };
        for turn in 0..N.max(words.len()) {
            let j = turn % words.len();
            step(&mut i, 1_664_525, &|mixed| {
                mixed.wrapping_add(words[j]).wrapping_add(j as u32)
            });
        }
        for _ in 1..N {
            let at = i as u32;
            step(&mut i, 1_566_083_941, &|mixed| mixed.wrapping_sub(at));
        }
        mt.state[0] = 0x8000_0000;
        mt
    }

    /// 32 random bits.
    pub fn next_u32(&mut self) -> u32 {
        if self.next == N {
            self.twist();
        }
        let mut y = self.state[self.next];
        self.next += 1;
        y ^= y >> 11;
        y ^= y << 7 & 0x9d2c_5680;
        y ^= y << 15 & 0xefc6_0000;
        y ^ y >> 18
    }

    fn twist(&mut self) {
        let mix = |now: u32, next: u32, far: u32| {
            let y = now & 0x8000_0000 | next & 0x7fff_ffff;
            let odd = if y & 1 != 0 { 0x9908_b0df } else { 0 };
            far ^ y >> 1 ^ odd
        };
        let state = &mut self.state;
        for i in 0..N - M {
            state[i] = mix(state[i], state[i + 1], state[i + M]);
        }
        for i in N - M..N - 1 {
            state[i] = mix(state[i], state[i + 1], state[i + M - N]);
        }
        state[N - 1] = mix(state[N - 1], state[0], state[M - 1]);
        self.next = 0;
    }

    /// A multiple of 2^-53 in (0, 1), as MATLAB's `rand`.
    pub fn next_f64(&mut self) -> f64 {
        loop {
            let high = u64::from(self.next_u32() >> 5);
            let low = u64::from(self.next_u32() >> 6);
            let bits = high << 26 | low;
            if bits != 0 {
                return bits as f64 * (1.0 / (1u64 << 53) as f64);
            }
        }
    }

    /// An integer from `low` to `high`, both included, as MATLAB's `randi([low high])`.
    pub fn next_integer(&mut self, low: i32, high: i32) -> i32 {
        let count = f64::from(high - low + 1);
        low + (self.next_f64() * count) as i32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first outputs that the authors print in mt19937ar.out.
    #[test]
    fn first_words_are_the_authors() {
        let mut mt = Mt19937::from_words(&[0x123, 0x234, 0x345, 0x456]);
        let first: Vec<u32> = (0..5).map(|_| mt.next_u32()).collect();
        assert_eq!(
            first,
            [1067595299, 955945823, 477289528, 4107218783, 4228976476]
        );
    }

    /// C++ requires that the 10,000th output after the default seed is 4123659995.
    #[test]
    fn ten_thousandth_word_is_the_standards() {
        let mut mt = Mt19937::new(5489);
        assert_eq!((0..10_000).map(|_| mt.next_u32()).last(), Some(4123659995));
    }

    /// MATLAB's documentation shows the first numbers of rng(0) and rng(1) (to four digits: 0.8147, 0.9058, 0.1270,
    /// 0.9134; 0.4170, 0.7203, 0.0001, 0.3023).
    #[test]
    fn first_numbers_are_matlabs() {
        let shown = |seed| {
            let mut mt = Mt19937::matlab(seed);
            [(); 4].map(|()| (mt.next_f64() * 1e4).round())
        };
        assert_eq!(shown(0), [8147.0, 9058.0, 1270.0, 9134.0]);
        assert_eq!(shown(1), [4170.0, 7203.0, 1.0, 3023.0]);
    }
}
