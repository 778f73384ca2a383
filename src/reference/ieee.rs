//! IEEE 754 addition and fused multiply-add, by exact sums.

use super::special::canonical_nan;
use super::term::{Term, addend};
use super::trace::{Observer, Step};
use super::wide::Wide;
use super::{Operand, Unit, fl};
use crate::format::{Class, Exact, Format, Rounding, infinity, zero};

/// Limbs that hold any sum of a few thousand products of binary32 numbers or smaller, and binary32 addends: the last
/// bit weighs 2^-298 or more, the first less than 2^256.
pub const SINGLE_LIMBS: usize = 10;
/// The same for binary64: 2^-2148 to 2^2048.
pub const DOUBLE_LIMBS: usize = 67;

/// The exact sum of terms that are finite, `None` if it is zero.
pub fn exact_sum(double: bool, terms: impl Iterator<Item = Term>) -> Option<Exact> {
    fn sum<const N: usize>(unit: i32, terms: impl Iterator<Item = Term>) -> Option<Exact> {
        let mut wide = Wide::<N>::zero(unit);
        for term in terms {
            wide.add(term.negative, term.significand, term.unit());
        }
        wide.exact()
    }
    if double {
        sum::<DOUBLE_LIMBS>(-2150, terms)
    } else {
        sum::<SINGLE_LIMBS>(-320, terms)
    }
}

/// Does a computation with these formats need the long accumulator of binary64?
pub fn needs_double(formats: &[Format]) -> bool {
    formats.contains(&Format::Fp64)
}

/// A zero sum of terms that were not all zero, or of zeros of both signs: -0 when rounding down, else +0.
pub fn zero_sum(
    format: Format,
    signs: [bool; 2],
    exact_cancellation: bool,
    rounding: Rounding,
) -> u64 {
    let negative = if exact_cancellation || signs[0] != signs[1] {
        rounding == Rounding::Down
    } else {
        signs[0]
    };
    zero(format, negative)
}

/// IEEE addition of two numbers, the result rounded to the output format (and flushed, if the unit does so).
pub fn add(unit: Unit, x: Operand, y: Operand, rounding: Rounding, o: &mut impl Observer) -> u64 {
    let result = sum(unit, x, y, rounding);
    o.step(Step::Added { x, y, result });
    result
}

fn sum(unit: Unit, x: Operand, y: Operand, rounding: Rounding) -> u64 {
    let output = unit.output;
    match (x.value.class, y.value.class) {
        (Class::Nan, _) | (_, Class::Nan) => canonical_nan(unit.params.conventions, output),
        (Class::Infinite, Class::Infinite) if x.value.negative != y.value.negative => {
            canonical_nan(unit.params.conventions, output)
        }
        (Class::Infinite, _) => infinity(output, x.value.negative),
        (_, Class::Infinite) => infinity(output, y.value.negative),
        (Class::Zero, Class::Zero) => zero_sum(
            output,
            [x.value.negative, y.value.negative],
            false,
            rounding,
        ),
        _ => {
            let terms = [x, y].into_iter().filter_map(addend);
            match exact_sum(needs_double(&[x.format, y.format]), terms) {
                Some(sum) => fl(unit, sum, rounding),
                None => zero_sum(output, [false; 2], true, rounding),
            }
        }
    }
}
