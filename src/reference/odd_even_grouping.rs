//! Odd and even products aligned and added apart, then together, then c (paper, Algorithm 2: CDNA 3, 8-bit inputs).

use super::global_alignment::{Aligned, add_late, align_and_add, round};
use super::special::special_result;
use super::term::{addend, aligned_products};
use super::{Operand, Unit};
use crate::format::Decoded;

pub fn block(unit: Unit, a: &[Decoded], b: &[Decoded], c: Operand) -> u64 {
    if let Some(special) = special_result(unit, a, b, c) {
        return special;
    }
    let group = |first: usize| {
        let factors = a.iter().copied().zip(b.iter().copied());
        let terms = aligned_products(unit, factors.skip(first).step_by(2));
        align_and_add(unit, &terms)
    };
    let products = match (group(0), group(1)) {
        (Some(odd), Some(even)) => Some(add_groups(unit, odd, even)),
        (one, other) => one.or(other),
    };
    let c = drop_far_addend(unit, products, c);
    round(unit, add_late(unit, products, c))
}

/// Steps 6 to 8: both sums relative to the larger exponent. A group that cancels keeps its exponent.
fn add_groups(unit: Unit, odd: Aligned, even: Aligned) -> Aligned {
    let exponent = odd.exponent.max(even.exponent);
    let rounding = unit.params.alignment_rounding;
    let bits = odd.bits;
    Aligned {
        sum: odd.rescaled(exponent, bits, rounding).sum
            + even.rescaled(exponent, bits, rounding).sum,
        exponent,
        bits,
    }
}

/// Steps 11 to 15: a c that lies wholly below what is kept of the products is dropped, not rounded.
fn drop_far_addend(unit: Unit, products: Option<Aligned>, c: Operand) -> Operand {
    let (Some(gap), Some(products), Some(term)) = (unit.params.drop_c_beyond, products, addend(c))
    else {
        return c;
    };
    if products.exponent - term.exponent > gap as i32 {
        Operand::zero(c.format)
    } else {
        c
    }
}
