//! The library's random generator as tests use it: the same cases from the same seed on every machine.

/// Seed of the random tests: `MFMA_TEST_SEED`, else a fixed one. A failing test prints its case, so the seed is only
/// needed to widen the search.
pub fn seed() -> u64 {
    match std::env::var("MFMA_TEST_SEED") {
        Ok(text) => text.parse().expect("MFMA_TEST_SEED must be a number"),
        Err(_) => 20_260_401,
    }
}

pub struct Random(mfma::probe::Random);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(mfma::probe::Random::new(seed))
    }

    pub fn next(&mut self) -> u64 {
        self.0.bits()
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
        self.0.below(bound)
    }

    /// A number of the closed interval.
    pub fn between(&mut self, low: i32, high: i32) -> i32 {
        low + self.below((high - low + 1) as u64) as i32
    }

    pub fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len() as u64) as usize]
    }
}
