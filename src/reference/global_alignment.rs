//! Products aligned to the largest exponent, cut, added as integers (paper, Algorithm 1; NVIDIA: Table 3).

use super::special::special_result;
use super::term::{Term, addend, aligned_products, rescale};
use super::{Operand, Unit, finish};
use crate::format::{Decoded, Exact, Rounding, zero};

/// A fixed-point sum: `sum` * 2^(`exponent` - `bits`), where `exponent` is the one its terms were aligned to.
#[derive(Clone, Copy, Debug)]
pub struct Aligned {
    pub sum: i128,
    pub exponent: i32,
    pub bits: u32,
}

impl Aligned {
    fn unit(&self) -> i32 {
        self.exponent - self.bits as i32
    }

    /// The sum relative to a larger exponent, with `bits` fractional bits.
    pub fn rescaled(&self, exponent: i32, bits: u32, rounding: Rounding) -> Aligned {
        let sum = rescale(self.sum, self.unit(), exponent - bits as i32, rounding);
        Aligned {
            sum,
            exponent,
            bits,
        }
    }
}

pub fn block(unit: Unit, a: &[Decoded], b: &[Decoded], c: Operand) -> u64 {
    if let Some(special) = special_result(unit, a, b, c) {
        return special;
    }
    let mut terms = aligned_products(unit, a.iter().copied().zip(b.iter().copied()));
    if unit.params.late_c {
        let products = align_and_add(unit, &terms);
        return round(unit, add_late(unit, products, c));
    }
    terms.extend(addend(c));
    match align_and_add(unit, &terms) {
        Some(total) => round(unit, total),
        None => zero(unit.carry(), false),
    }
}

/// Steps 3 and 4 of Algorithm 1: maximum exponent, alignment with truncation, sum. `None` when there is no term.
pub fn align_and_add(unit: Unit, terms: &[Term]) -> Option<Aligned> {
    let params = unit.params;
    let exponent = terms.iter().map(|term| term.exponent).max()?;
    let exponent = params
        .min_exponent
        .map_or(exponent, |limit| exponent.max(limit));
    let bits = params.alignment_bits;
    let aligned = |term: &Term| {
        let kept = term.aligned(exponent, bits, Rounding::TowardZero);
        if params.sticky {
            let lost = i128::from(term.loses_bits(exponent, bits));
            2 * kept + if term.negative { -lost } else { lost }
        } else {
            kept
        }
    };
    Some(Aligned {
        sum: terms.iter().map(aligned).sum(),
        exponent,
        bits: bits + u32::from(params.sticky),
    })
}

/// Steps 5 to 14 of Algorithm 1: the sum of the products and c, one aligned to the other.
pub fn add_late(unit: Unit, products: Option<Aligned>, c: Operand) -> Aligned {
    let params = unit.params;
    let rounding = params.alignment_rounding;
    let c = match addend(c) {
        Some(term) => Some(term),
        // c = 0 counts with an exponent of its own.
        None => params.zero_c_exponent.map(|exponent| Term {
            negative: false,
            exponent,
            significand: 0,
            fraction_bits: 0,
        }),
    };
    let Some(c) = c else {
        return products.unwrap_or(Aligned {
            sum: 0,
            exponent: 0,
            bits: 0,
        });
    };
    match products {
        Some(products) if products.exponent >= c.exponent => {
            let c = c.aligned(products.exponent, products.bits, rounding);
            Aligned {
                sum: products.sum + c,
                ..products
            }
        }
        _ => {
            let bits = params.late_sum_bits;
            let products = products.map_or(0, |p| p.rescaled(c.exponent, bits, rounding).sum);
            let total = Aligned {
                sum: products + c.aligned(c.exponent, bits, rounding),
                exponent: c.exponent,
                bits,
            };
            second_round_down(unit, total)
        }
    }
}

/// Steps 12 and 13: the total, normalised but not below the smallest normal exponent, is rounded down to a number of
/// fractional bits.
fn second_round_down(unit: Unit, total: Aligned) -> Aligned {
    let Some(bits) = unit.params.late_total_bits else {
        return total;
    };
    if total.sum == 0 {
        return total;
    }
    let leading = total.sum.unsigned_abs().ilog2() as i32;
    let exponent = (total.unit() + leading).max(unit.output.info().min_exponent());
    if exponent - bits as i32 <= total.unit() {
        return total;
    }
    total.rescaled(exponent, bits, Rounding::Down)
}

/// Step 15: to the output format.
pub fn round(unit: Unit, total: Aligned) -> u64 {
    if total.sum == 0 {
        return zero(unit.carry(), false);
    }
    let sum = Exact {
        negative: total.sum < 0,
        magnitude: total.sum.unsigned_abs(),
        sticky: false,
        unit: total.unit(),
    };
    finish(unit, sum)
}
