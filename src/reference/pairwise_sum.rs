//! fl(c + fl(fl(p1 + p2) + fl(p3 + p4))) (paper, 4.2: CDNA 2).
//!
//! Products are rounded to the output format by RNE; the sums by the unit's final rounding. Each step is IEEE
//! arithmetic, then, in a unit without subnormal numbers, a flush of a subnormal result to a zero of its sign.

use super::ieee::add;
use super::special::special_result;
use super::term::{product, tell_product};
use super::trace::{Observer, Step};
use super::{Operand, Unit, fl, flush_factor};
use crate::format::{Decoded, Rounding, zero};

pub fn block(unit: Unit, a: &[Decoded], b: &[Decoded], c: Operand, o: &mut impl Observer) -> u64 {
    let mut sums: Vec<Operand> = a
        .iter()
        .zip(b)
        .enumerate()
        .map(|(index, (&a, &b))| rounded_product(unit, index, a, b, o))
        .collect();
    // The last block is filled with zero products.
    sums.resize(unit.params.fma as usize, Operand::zero(unit.output));
    while sums.len() > 1 {
        sums = sums
            .chunks(2)
            .map(|pair| {
                Operand::new(
                    unit.output,
                    add(unit, pair[0], pair[1], unit.params.rounding, o),
                )
            })
            .collect();
    }
    add(unit, c, sums[0], unit.params.rounding, o)
}

fn rounded_product(
    unit: Unit,
    index: usize,
    a: Decoded,
    b: Decoded,
    o: &mut impl Observer,
) -> Operand {
    let a = flush_factor(unit, unit.a, a);
    let b = flush_factor(unit, unit.b, b);
    let bits = if let Some(special) = special_result(unit, &[a], &[b], Operand::zero(unit.output)) {
        special
    } else if let Some(term) = product(unit, a, b) {
        tell_product(unit, index, [a, b], Some(term), o);
        let exact = crate::format::Exact {
            negative: term.negative,
            magnitude: term.significand,
            sticky: false,
            unit: term.unit(),
        };
        fl(unit, exact, Rounding::NearestEven)
    } else {
        zero(unit.output, a.negative != b.negative)
    };
    o.step(Step::RoundedProduct {
        index,
        result: bits,
    });
    Operand::new(unit.output, bits)
}
