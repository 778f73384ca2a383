//! Random inputs that stress what a matrix unit does: every case follows from a seed and its number alone.

use mfma::validate::sample::{Directed, Shape};

pub use mfma::validate::Case;

use crate::suites::Suite;

/// The kinds of cases and their names; case i is of kind i mod their number.
pub const SAMPLERS: [(&str, Directed); 11] = [
    ("bits", Directed::AnyBits),
    ("window", Directed::Window),
    ("pairs", Directed::Pairs),
    ("cancelled by c", Directed::CancelledByC),
    ("gap", Directed::Gap),
    ("subnormal", Directed::Subnormal),
    ("limits", Directed::Limits),
    ("sparse", Directed::Sparse),
    ("specials", Directed::Specials),
    ("ties", Directed::Ties),
    ("window again", Directed::Window),
];

/// The kind of case number `index`.
pub fn sampler(index: u64) -> (&'static str, Directed) {
    SAMPLERS[(index % SAMPLERS.len() as u64) as usize]
}

/// Case number `index` of a suite.
pub fn random_case(suite: &Suite, seed: u64, index: u64) -> Case {
    let shape = Shape {
        a: suite.a,
        b: suite.b,
        output: suite.output,
        k: suite.length(),
    };
    sampler(index).1.case(&shape, seed, suite.name, index)
}
