//! d = (...((c + p1) + p2) + ...): one IEEE fused multiply-add a product, in the order of k (paper, 4.1.1).

use super::ieee::{exact_sum, needs_double, zero_sum};
use super::special::{propagated_nan, special_result};
use super::term::{addend, product, tell_product};
use super::trace::{Observer, Step};
use super::{Operand, Unit, fl, flush_factor};
use crate::format::Decoded;

pub fn block(unit: Unit, a: &[Decoded], b: &[Decoded], c: Operand, o: &mut impl Observer) -> u64 {
    assert!(!a.is_empty());
    let mut sum = c;
    let mut result = 0;
    for (index, (&a, &b)) in a.iter().zip(b).enumerate() {
        tell_product(unit, index, [a, b], product(unit, a, b), o);
        result = fused_multiply_add(unit, a, b, sum);
        o.step(Step::Fused { index, result });
        sum = Operand::new(unit.output, result);
    }
    result
}

/// a * b + c, rounded once.
fn fused_multiply_add(unit: Unit, a: Decoded, b: Decoded, c: Operand) -> u64 {
    if let Some(special) = special_result(unit, &[a], &[b], c) {
        let factor = |format, value| Operand { format, value };
        let operands = [factor(unit.b, b), c, factor(unit.a, a)];
        return propagated_nan(unit, &operands).unwrap_or(special);
    }
    let a = flush_factor(unit, unit.a, a);
    let b = flush_factor(unit, unit.b, b);
    let product = product(unit, a, b);
    let product_negative = a.negative != b.negative;
    let rounding = unit.params.rounding;
    if product.is_none() && c.value.is_zero() {
        let signs = [product_negative, c.value.negative];
        return zero_sum(unit.output, signs, false, rounding);
    }
    let double = needs_double(&[unit.a, unit.b, c.format]);
    match exact_sum(double, product.into_iter().chain(addend(c))) {
        Some(sum) => fl(unit, sum, rounding),
        None => zero_sum(unit.output, [false; 2], true, rounding),
    }
}
