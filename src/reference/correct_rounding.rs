//! All products of a block and c added exactly, one rounding at the end (paper, 4.1.2 and 4.1.3: CDNA 1).

use super::ieee::{exact_sum, needs_double};
use super::special::special_result;
use super::term::{addend, product, tell_product};
use super::trace::{Observer, Step};
use super::{Operand, Unit, finish};
use crate::format::{Decoded, zero};

pub fn block(unit: Unit, a: &[Decoded], b: &[Decoded], c: Operand, o: &mut impl Observer) -> u64 {
    if let Some(result) = special_result(unit, a, b, c) {
        o.step(Step::Special { result });
        return result;
    }
    let factors = a.iter().zip(b).enumerate();
    let products = factors.filter_map(|(index, (&a, &b))| {
        let term = product(unit, a, b);
        tell_product(unit, index, [a, b], term, o);
        term
    });
    let double = needs_double(&[unit.a, unit.b, c.format]);
    match exact_sum(double, products.chain(addend(c))) {
        Some(value) => {
            o.step(Step::ExactSum { value });
            finish(unit, value, o)
        }
        None => zero(unit.carry(), false),
    }
}
