//! Products aligned to the largest exponent, cut, added as integers (paper, Algorithm 1; NVIDIA: Table 3).

use super::special::special_result;
use super::term::{Term, addend, aligned_products, rescale};
use super::trace::{Fixed, Item, Observer, Step};
use super::{Operand, Unit, finish};
use crate::format::{Decoded, Exact, Rounding, zero};
use crate::model::Scheme;

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

    /// As a signed integer.
    pub fn fixed(&self) -> Fixed {
        Fixed {
            value: self.sum,
            unit: self.unit(),
        }
    }

    /// The sum relative to a larger exponent, with `bits` fractional bits.
    pub fn rescaled(
        &self,
        exponent: i32,
        bits: u32,
        rounding: Rounding,
        item: Item,
        o: &mut impl Observer,
    ) -> Aligned {
        let sum = rescale(self.sum, self.unit(), exponent - bits as i32, rounding);
        let aligned = Aligned {
            sum,
            exponent,
            bits,
        };
        o.step(Step::Aligned {
            item,
            from: self.fixed(),
            to: aligned.fixed(),
        });
        aligned
    }
}

pub fn block(unit: Unit, a: &[Decoded], b: &[Decoded], c: Operand, o: &mut impl Observer) -> u64 {
    if let Some(result) = special_result(unit, a, b, c) {
        o.step(Step::Special { result });
        return result;
    }
    let factors = a.iter().copied().zip(b.iter().copied());
    let mut terms = aligned_products(unit, factors.enumerate(), o);
    if unit.params.late_c {
        let products = align_and_add(unit, &terms, Item::Sum, o);
        let total = add_late(unit, products, c, o);
        return round(unit, total, o);
    }
    terms.extend(addend(c).map(|term| (Item::Addend, term)));
    match align_and_add(unit, &terms, Item::Sum, o) {
        Some(total) => round(unit, total, o),
        None => zero(unit.carry(), false),
    }
}

/// Steps 3 and 4 of Algorithm 1: maximum exponent, alignment with truncation, sum. `None` when there is no term.
pub fn align_and_add(
    unit: Unit,
    terms: &[(Item, Term)],
    item: Item,
    o: &mut impl Observer,
) -> Option<Aligned> {
    let params = unit.params;
    let sticky = params.sticky && params.scheme == Scheme::GlobalAlignment;
    let largest = terms.iter().map(|(_, term)| term.exponent).max()?;
    let exponent = params
        .min_exponent
        .map_or(largest, |limit| largest.max(limit));
    o.step(Step::MaxExponent {
        item,
        exponent,
        limited: exponent > largest,
    });
    let mut total = Aligned {
        sum: 0,
        exponent,
        bits: params.alignment_bits + u32::from(sticky),
    };
    for (item, term) in terms {
        let kept = term.aligned(exponent, params.alignment_bits, Rounding::TowardZero);
        let kept = if sticky {
            let lost = i128::from(term.loses_bits(exponent, params.alignment_bits));
            2 * kept + if term.negative { -lost } else { lost }
        } else {
            kept
        };
        o.step(Step::Aligned {
            item: *item,
            from: term.fixed(),
            to: Fixed {
                value: kept,
                unit: total.unit(),
            },
        });
        total.sum += kept;
    }
    o.step(Step::Sum {
        item,
        value: total.fixed(),
    });
    Some(total)
}

/// Steps 5 to 14 of Algorithm 1: the sum of the products and c, one aligned to the other.
pub fn add_late(
    unit: Unit,
    products: Option<Aligned>,
    c: Operand,
    o: &mut impl Observer,
) -> Aligned {
    let params = unit.params;
    let rounding = params.alignment_rounding;
    let c = match addend(c) {
        Some(term) => Some(term),
        // c = 0 counts with an exponent of its own.
        None => params.zero_c_exponent.map(|exponent| {
            o.step(Step::ZeroAddend { exponent });
            Term {
                negative: false,
                exponent,
                significand: 0,
                fraction_bits: 0,
            }
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
            let aligned = c.aligned(products.exponent, products.bits, rounding);
            let total = Aligned {
                sum: products.sum + aligned,
                ..products
            };
            tell_addend(c, aligned, total, o);
            total
        }
        _ => {
            let bits = params.late_sum_bits;
            let products = products.map_or(0, |p| {
                let sum = p.rescaled(c.exponent, bits, rounding, Item::Sum, o);
                sum.sum
            });
            let aligned = c.aligned(c.exponent, bits, rounding);
            let total = Aligned {
                sum: products + aligned,
                exponent: c.exponent,
                bits,
            };
            tell_addend(c, aligned, total, o);
            second_round_down(unit, total, o)
        }
    }
}

fn tell_addend(c: Term, aligned: i128, total: Aligned, o: &mut impl Observer) {
    o.step(Step::Aligned {
        item: Item::Addend,
        from: c.fixed(),
        to: Fixed {
            value: aligned,
            unit: total.unit(),
        },
    });
    o.step(Step::Sum {
        item: Item::Total,
        value: total.fixed(),
    });
}

/// Steps 12 and 13: the total, normalised but not below the smallest normal exponent, is rounded down to a number of
/// fractional bits.
fn second_round_down(unit: Unit, total: Aligned, o: &mut impl Observer) -> Aligned {
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
    total.rescaled(exponent, bits, Rounding::Down, Item::Total, o)
}

/// Step 15: to the output format.
pub fn round(unit: Unit, total: Aligned, o: &mut impl Observer) -> u64 {
    if total.sum == 0 {
        return zero(unit.carry(), false);
    }
    let sum = Exact {
        negative: total.sum < 0,
        magnitude: total.sum.unsigned_abs(),
        sticky: false,
        unit: total.unit(),
    };
    finish(unit, sum, o)
}
