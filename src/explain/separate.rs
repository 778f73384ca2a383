//! Short inputs on which two units differ.

use super::shared_formats;
use crate::error::Error;
use crate::format::{Class, decode};
use crate::model::Model;
use crate::probe::{Case, Family, Feature, Fit, Formats, Random, Source, differing, same_result};
use crate::reference::dot_raw;

/// An input on which two units differ.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Separation {
    /// The input.
    pub case: Case,
    /// The first unit's result.
    pub x: u64,
    /// The second's.
    pub y: u64,
}

/// Vectors of a family that are tried where it shows a feature in which the units differ; elsewhere a tenth of them.
const TRIES: usize = 4000;

/// Searches for a short input on which the units differ; `None` when none of several ten thousand directed vectors
/// tells them apart, as when they are the same.
pub fn separate(x: &Model, y: &Model, seed: u64) -> Result<Option<Separation>, Error> {
    let formats = shared_formats(x, y)?;
    let results = |case: &Case| {
        let result = |model: &Model| dot_raw(model.unit(), &case.a, &case.b, case.c);
        (result(x), result(y))
    };
    let differ = |case: &Case| {
        let (of_x, of_y) = results(case);
        !same_result(formats.output, of_x, of_y)
    };
    let mut rng = Random::new(seed);
    let mut best: Option<Case> = None;
    let mut found = 0;
    for (family, count) in order(x, y, &formats) {
        for case in candidates(x, y, &formats, family, count, &mut rng) {
            if !differ(&case) {
                continue;
            }
            let short = shorten(&formats, case, &differ);
            if best
                .as_ref()
                .is_none_or(|best| cost(&formats, &short) < cost(&formats, best))
            {
                best = Some(short);
            }
            found += 1;
            if found == 12 {
                break;
            }
        }
        if found >= 12 {
            break;
        }
    }
    Ok(best.map(|case| {
        let (x, y) = results(&case);
        Separation { case, x, y }
    }))
}

/// Families, those that show what differs first and most.
fn order(x: &Model, y: &Model, formats: &Formats) -> Vec<(Family, usize)> {
    let features: Vec<Feature> =
        differing(x.params(), y.params(), formats.inputs(), formats.output);
    let likely: Vec<Family> = features
        .iter()
        .flat_map(|&feature| Fit::families_of(feature))
        .collect();
    let mut order: Vec<(Family, usize)> = Family::ALL
        .into_iter()
        .map(|family| {
            let count = if likely.contains(&family) {
                TRIES
            } else {
                TRIES / 10
            };
            (family, count)
        })
        .collect();
    order.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    order
}

/// Vectors around the places where the units do something.
pub(super) fn candidates(
    x: &Model,
    y: &Model,
    formats: &Formats,
    family: Family,
    count: usize,
    rng: &mut Random,
) -> Vec<Case> {
    let mut hints = Fit::hints(x.params());
    let more = Fit::hints(y.params());
    hints.gaps.extend(more.gaps);
    hints.exponents.extend(more.exponents);
    hints.fma = hints.fma.max(more.fma);
    let source = Source {
        formats: *formats,
        k: (2 * hints.fma).clamp(4, 256),
        least: 1,
        hints: &hints,
    };
    source.many(family, count, rng)
}

/// Fewer elements first, then fewer that are not zero, then shorter significands.
fn cost(formats: &Formats, case: &Case) -> (usize, usize, u32) {
    let ones = |format: crate::Format, bits: u64| {
        let value = decode(format, bits);
        if value.class == Class::Finite {
            value.significand.count_ones()
        } else {
            0
        }
    };
    let pairs = case.a.iter().zip(&case.b);
    let used = pairs.clone().filter(|(a, b)| **a != 0 || **b != 0).count();
    let bits = pairs
        .map(|(&a, &b)| ones(formats.a, a) + ones(formats.b, b))
        .sum::<u32>();
    (case.a.len(), used, bits + ones(formats.output, case.c))
}

/// Leaves out and simplifies what is not needed for `differ` to stay true.
pub(super) fn shorten(formats: &Formats, case: Case, differ: &impl Fn(&Case) -> bool) -> Case {
    let mut best = case;
    loop {
        let mut better = false;
        let mut attempt = |best: &mut Case, change: &dyn Fn(&mut Case)| {
            let mut other = best.clone();
            change(&mut other);
            if other != *best && cost(formats, &other) < cost(formats, best) && differ(&other) {
                *best = other;
                better = true;
            }
        };
        for i in (0..best.a.len()).rev() {
            attempt(&mut best, &|case| {
                case.a.remove(i);
                case.b.remove(i);
            });
        }
        for i in 0..best.a.len() {
            attempt(&mut best, &|case| (case.a[i], case.b[i]) = (0, 0));
        }
        attempt(&mut best, &|case| case.c = 0);
        // Clear fraction bits, the last ones first.
        for i in 0..best.a.len() {
            for bit in 0..fraction(formats.a) {
                attempt(&mut best, &|case| case.a[i] &= !(1 << bit));
            }
            for bit in 0..fraction(formats.b) {
                attempt(&mut best, &|case| case.b[i] &= !(1 << bit));
            }
        }
        for bit in 0..fraction(formats.output) {
            attempt(&mut best, &|case| case.c &= !(1 << bit));
        }
        if !better {
            return best;
        }
    }
}

/// Bits of the fraction field, those that a unit ignores included.
fn fraction(format: crate::Format) -> u32 {
    format.info().fraction_bits + format.info().ignored_bits
}
