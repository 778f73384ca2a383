//! Products and addends as exact terms, and their alignment.

use super::trace::{Fixed, Item, Observer, Step};
use super::{Operand, Unit, flush_factor};
use crate::format::{Class, Decoded, Rounding};

/// A nonzero finite term: (-1)^`negative` * `significand` * 2^(`exponent` - `fraction_bits`), not normalised.
#[derive(Clone, Copy, Debug)]
pub struct Term {
    pub negative: bool,
    pub exponent: i32,
    pub significand: u128,
    pub fraction_bits: u32,
}

/// Tells of a product, and of the factors as the unit takes them.
pub fn tell_product(
    unit: Unit,
    index: usize,
    [a, b]: [Decoded; 2],
    term: Option<Term>,
    o: &mut impl Observer,
) {
    o.step(Step::Product {
        index,
        a: flush_factor(unit, unit.a, a),
        b: flush_factor(unit, unit.b, b),
        value: term.map(|term| term.fixed()),
        exponent: term.map_or(0, |term| term.exponent),
    });
}

impl Term {
    /// The term as a signed integer.
    pub fn fixed(&self) -> Fixed {
        let magnitude = i128::try_from(self.significand).expect("a significand is small");
        Fixed {
            value: if self.negative { -magnitude } else { magnitude },
            unit: self.unit(),
        }
    }

    /// Weight of the significand's last bit.
    pub fn unit(&self) -> i32 {
        self.exponent - self.fraction_bits as i32
    }

    /// Is the magnitude 2^`exponent` or more?
    pub fn reaches(&self, exponent: i32) -> bool {
        self.unit() + self.significand.ilog2() as i32 >= exponent
    }

    /// The term relative to `max_exponent` with `bits` fractional bits: signed, in units of 2^(max_exponent - bits).
    pub fn aligned(&self, max_exponent: i32, bits: u32, rounding: Rounding) -> i128 {
        rescale(
            self.fixed().value,
            self.unit(),
            max_exponent - bits as i32,
            rounding,
        )
    }

    /// Did [`Term::aligned`] with truncation lose anything?
    pub fn loses_bits(&self, max_exponent: i32, bits: u32) -> bool {
        let below = max_exponent - bits as i32 - self.unit();
        below > 0 && (self.significand.trailing_zeros() as i32) < below
    }
}

/// `value` * 2^`from` in units of 2^`to`, rounded.
pub fn rescale(value: i128, from: i32, to: i32, rounding: Rounding) -> i128 {
    if from >= to {
        let shift = (from - to) as u32;
        assert!(
            value.unsigned_abs().leading_zeros() > shift,
            "alignment overflows"
        );
        return value << shift;
    }
    let shift = (to - from) as u32;
    let negative = value < 0;
    let magnitude = value.unsigned_abs();
    let (kept, half, rest) = if shift >= 128 {
        (0, false, magnitude != 0)
    } else {
        let below = magnitude & ((1 << shift) - 1);
        let half_bit = 1u128 << (shift - 1);
        (
            magnitude >> shift,
            below & half_bit != 0,
            below & (half_bit - 1) != 0,
        )
    };
    let up = rounding.rounds_away(negative, kept & 1 != 0, half, rest);
    let kept = (kept + u128::from(up)) as i128;
    if negative { -kept } else { kept }
}

/// The product of two finite factors, `None` if it is zero. A subnormal factor has been flushed if the unit does so.
pub fn product(unit: Unit, a: Decoded, b: Decoded) -> Option<Term> {
    let a = flush_factor(unit, unit.a, a);
    let b = flush_factor(unit, unit.b, b);
    if a.class != Class::Finite || b.class != Class::Finite {
        return None;
    }
    Some(Term {
        negative: a.negative != b.negative,
        exponent: a.exponent + b.exponent,
        significand: u128::from(a.significand) * u128::from(b.significand),
        fraction_bits: unit.a.info().fraction_bits + unit.b.info().fraction_bits,
    })
}

/// The nonzero products of a block, in order, with their indices, as the unit's alignment sees them: a unit that
/// normalises products halves a significand of 2 or more and raises the exponent.
pub fn aligned_products(
    unit: Unit,
    factors: impl Iterator<Item = (usize, (Decoded, Decoded))>,
    o: &mut impl Observer,
) -> Vec<(Item, Term)> {
    let mut terms = Vec::with_capacity(factors.size_hint().0);
    for (index, (a, b)) in factors {
        let mut term = product(unit, a, b);
        if let Some(term) = &mut term
            && !unit.params.denormal_products
            && term.significand >> (term.fraction_bits + 1) != 0
        {
            term.exponent += 1;
            term.fraction_bits += 1;
        }
        tell_product(unit, index, [a, b], term, o);
        terms.extend(term.map(|term| (Item::Product(index), term)));
    }
    terms
}

/// The addend, `None` if it is zero (or not finite).
pub fn addend(c: Operand) -> Option<Term> {
    (c.value.class == Class::Finite).then(|| Term {
        negative: c.value.negative,
        exponent: c.value.exponent,
        significand: c.value.significand.into(),
        fraction_bits: c.format.info().fraction_bits,
    })
}
