//! What the fuzz targets run: calls of the C interface made of arbitrary bytes, and what must hold for each.
//!
//! Nothing here needs a fuzzer: `tests/fuzz.rs` runs the same functions on the kept inputs and on random ones.
//! Zero bytes stand for the plain choice everywhere, and inputs that are too short go on with zeros.

pub mod bytes;
pub mod convert;
pub mod dots;
pub mod gemm;
pub mod memory;
pub mod params;
pub mod simple;

/// What a target does with an input.
pub type Target = fn(&[u8]);

/// Every target by its name.
#[allow(dead_code)]
pub const TARGETS: &[(&str, Target)] = &[
    ("gemm", gemm::run),
    ("simple", simple::run),
    ("dots", dots::run),
    ("convert", convert::run),
    ("params", params::run),
];
