//! A block run as two half blocks of interleaved elements, c added last (8-bit inputs through mma.sync on Hopper and
//! Blackwell; numerics as measured on B200, H100 and H200).

use super::{Operand, Unit, ieee};
use crate::format::{Decoded, Rounding};
use crate::model::{Interleave, Params};

pub fn block(unit: Unit, a: &[Decoded], b: &[Decoded], c: Operand) -> u64 {
    let params = Params {
        interleave: Interleave::None,
        fma: unit.params.fma / 2,
        ..*unit.params
    };
    let inner = Unit {
        params: &params,
        ..unit
    };
    let half = |x: &[Decoded], first: usize| -> Vec<Decoded> {
        let chosen = x.iter().enumerate().filter(|(i, _)| i % 4 / 2 == first);
        chosen.map(|(_, &value)| value).collect()
    };
    let mut sum = Operand::zero(unit.output);
    for first in [0, 1] {
        let d = super::block(inner, &half(a, first), &half(b, first), sum);
        sum = Operand::new(unit.output, d);
    }
    ieee::add(unit, c, sum, Rounding::NearestEven)
}
