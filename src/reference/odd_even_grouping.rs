//! Odd and even products aligned and added apart, then together, then c (paper, Algorithm 2: CDNA 3, 8-bit inputs).

use super::global_alignment::{Aligned, add_late, align_and_add, round};
use super::special::special_result;
use super::term::{addend, aligned_products};
use super::trace::{Item, Observer, Step};
use super::{Operand, Unit};
use crate::format::Decoded;

pub fn block(unit: Unit, a: &[Decoded], b: &[Decoded], c: Operand, o: &mut impl Observer) -> u64 {
    if let Some(result) = special_result(unit, a, b, c) {
        o.step(Step::Special { result });
        return result;
    }
    let mut group = |first: usize, item: Item| {
        let factors = a.iter().copied().zip(b.iter().copied()).enumerate();
        let terms = aligned_products(unit, factors.skip(first).step_by(2), o);
        align_and_add(unit, &terms, item, o)
    };
    let products = match (group(0, Item::OddSum), group(1, Item::EvenSum)) {
        (Some(odd), Some(even)) => Some(add_groups(unit, odd, even, o)),
        (one, other) => one.or(other),
    };
    let c = drop_far_addend(unit, products, c, o);
    let total = add_late(unit, products, c, o);
    round(unit, total, o)
}

/// Steps 6 to 8: both sums relative to the larger exponent. A group that cancels keeps its exponent.
fn add_groups(unit: Unit, odd: Aligned, even: Aligned, o: &mut impl Observer) -> Aligned {
    let exponent = odd.exponent.max(even.exponent);
    let rounding = unit.params.alignment_rounding;
    let bits = odd.bits;
    let odd = odd.rescaled(exponent, bits, rounding, Item::OddSum, o);
    let even = even.rescaled(exponent, bits, rounding, Item::EvenSum, o);
    let products = Aligned {
        sum: odd.sum + even.sum,
        exponent,
        bits,
    };
    o.step(Step::Sum {
        item: Item::Sum,
        value: products.fixed(),
    });
    products
}

/// Steps 11 to 15: a c that lies wholly below what is kept of the products is dropped, not rounded.
fn drop_far_addend(
    unit: Unit,
    products: Option<Aligned>,
    c: Operand,
    o: &mut impl Observer,
) -> Operand {
    let (Some(gap), Some(products), Some(term)) = (unit.params.drop_c_beyond, products, addend(c))
    else {
        return c;
    };
    if products.exponent - term.exponent > gap as i32 {
        o.step(Step::DroppedAddend);
        Operand::zero(c.format)
    } else {
        c
    }
}
