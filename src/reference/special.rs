//! Infinities and NaNs in units that add many terms at once.

use super::term::product;
use super::{Operand, Unit, flush_factor};
use crate::format::{Class, Decoded, Format, infinity, nan};
use crate::model::Conventions;

/// The NaN that a unit with these conventions returns.
pub fn canonical_nan(conventions: Conventions, format: Format) -> u64 {
    match conventions {
        Conventions::Amd => nan(format, true),
        Conventions::Nvidia | Conventions::Toolbox if format == Format::Fp64 => nan(format, true),
        Conventions::Nvidia | Conventions::Toolbox => format.info().sign_bit() - 1,
    }
}

/// The NaN operand that a unit passes on, quieted, if it is one of those that do: NVIDIA's binary64 units. The first of
/// `operands` that is a NaN counts.
pub fn propagated_nan(unit: Unit, operands: &[Operand]) -> Option<u64> {
    if !unit.params.propagates_nans(unit.output) {
        return None;
    }
    let operand = operands.iter().find(|x| x.value.class == Class::Nan)?;
    let (from, to) = (operand.format.info(), unit.output.info());
    let payload =
        operand.value.significand << (to.fraction_bits - from.fraction_bits - from.ignored_bits);
    Some(nan(unit.output, operand.value.negative) | payload)
}

/// What product a finite or infinite pair of factors makes, as far as specials go.
fn class_of_product(unit: Unit, a: Decoded, b: Decoded) -> (Class, bool) {
    let a = flush_factor(unit, unit.a, a);
    let b = flush_factor(unit, unit.b, b);
    let negative = a.negative != b.negative;
    let class = match (a.class, b.class) {
        (Class::Nan, _) | (_, Class::Nan) => Class::Nan,
        (Class::Infinite, Class::Zero) | (Class::Zero, Class::Infinite) => Class::Nan,
        (Class::Infinite, _) | (_, Class::Infinite) => Class::Infinite,
        (Class::Zero, _) | (_, Class::Zero) => Class::Zero,
        (Class::Finite, Class::Finite) => {
            let limit = unit.output.info().max_exponent() + 1;
            let too_large = unit.params.product_limit
                && product(unit, a, b).is_some_and(|term| term.reaches(limit));
            if too_large {
                Class::Infinite
            } else {
                Class::Finite
            }
        }
    };
    (class, negative)
}

/// The result of a block in which something is not finite: NaN if any term is a NaN or infinities of both signs meet,
/// else the infinity. `None` when all terms are finite.
pub fn special_result(unit: Unit, a: &[Decoded], b: &[Decoded], c: Operand) -> Option<u64> {
    let products = a.iter().zip(b).map(|(&a, &b)| class_of_product(unit, a, b));
    let mut infinities = [false; 2];
    for (class, negative) in products.chain([(c.value.class, c.value.negative)]) {
        match class {
            Class::Nan => return Some(canonical_nan(unit.params.conventions, unit.carry())),
            Class::Infinite => infinities[usize::from(negative)] = true,
            Class::Zero | Class::Finite => {}
        }
    }
    match infinities {
        [false, false] => None,
        [true, true] => Some(canonical_nan(unit.params.conventions, unit.carry())),
        [_, negative] => Some(infinity(unit.carry(), negative)),
    }
}
