//! All products of a block and c added exactly, one rounding at the end (paper, 4.1.2 and 4.1.3: CDNA 1).

use super::ieee::{exact_sum, needs_double};
use super::special::special_result;
use super::term::{addend, product};
use super::{Operand, Unit, finish};
use crate::format::{Decoded, zero};

pub fn block(unit: Unit, a: &[Decoded], b: &[Decoded], c: Operand) -> u64 {
    if let Some(special) = special_result(unit, a, b, c) {
        return special;
    }
    let products = a.iter().zip(b).filter_map(|(&a, &b)| product(unit, a, b));
    let double = needs_double(&[unit.a, unit.b, c.format]);
    match exact_sum(double, products.chain(addend(c))) {
        Some(sum) => finish(unit, sum),
        None => zero(unit.carry(), false),
    }
}
