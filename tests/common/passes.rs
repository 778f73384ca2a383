//! The ways through the library that every vector takes.

use mfma::reference::dot_raw;

use super::evidence::Set;

/// A way from a set's vectors to its results.
pub struct Pass {
    pub name: &'static str,
    pub run: fn(&Set) -> Vec<u64>,
}

pub const PASSES: &[Pass] = &[Pass {
    name: "reference",
    run: reference,
}];

fn reference(set: &Set) -> Vec<u64> {
    let unit = set.model.unit();
    set.cases
        .iter()
        .map(|case| dot_raw(unit, &case.a, &case.b, case.c))
        .collect()
}
