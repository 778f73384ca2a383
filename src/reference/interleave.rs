//! A block run as two half blocks of interleaved elements, c added last: 8-bit inputs through mma.sync on Hopper and
//! Blackwell, as measured on B200, H100 and H200. These architectures have no such unit: the compiler converts the
//! inputs to binary16, four in a register, two by two, runs two binary16 instructions, and adds c.

use super::trace::{Observer, Step};
use super::{Operand, Unit, ieee};
use crate::format::{Class, Decoded, Format, Rounding};
use crate::model::{Interleave, Params};

pub fn block(unit: Unit, a: &[Decoded], b: &[Decoded], c: Operand, o: &mut impl Observer) -> u64 {
    let params = Params {
        interleave: Interleave::None,
        fma: unit.params.fma / 2,
        ..*unit.params
    };
    let inner = Unit {
        params: &params,
        a: factor_format(unit.a),
        b: factor_format(unit.b),
        ..unit
    };
    let half = |format: Format, x: &[Decoded], first: usize| -> Vec<Decoded> {
        let chosen = x.iter().enumerate().filter(|(i, _)| i % 4 / 2 == first);
        chosen.map(|(_, &value)| widened(format, value)).collect()
    };
    let mut sum = Operand::zero(unit.output);
    for first in [0, 1] {
        o.step(Step::Half { first: 2 * first });
        let (a, b) = (half(unit.a, a, first), half(unit.b, b, first));
        let d = super::observed_block(inner, &a, &b, sum, o);
        sum = Operand::new(unit.output, d);
    }
    ieee::add(unit, c, sum, Rounding::NearestEven, o)
}

/// Format in which a factor of the given format is multiplied.
fn factor_format(format: Format) -> Format {
    match format.info().storage_bits {
        8 => Format::Fp16,
        _ => format,
    }
}

/// A factor as a number of [`factor_format`]: the same value, but normalised down to binary16's minimum exponent.
fn widened(format: Format, value: Decoded) -> Decoded {
    let (from, to) = (format.info(), factor_format(format).info());
    if from.format == to.format || value.class != Class::Finite {
        return value;
    }
    let significand = value.significand << (to.fraction_bits - from.fraction_bits);
    let leading = significand.ilog2() as i32;
    let up = to.fraction_bits as i32 - leading;
    let up = up.min(value.exponent - to.min_exponent());
    // Down in the one format that reaches below binary16's normal numbers (E5M2FNUZ); the bits cut are zeros.
    let significand = if up < 0 {
        significand >> -up
    } else {
        significand << up
    };
    Decoded {
        exponent: value.exponent - up,
        significand,
        ..value
    }
}

#[cfg(test)]
mod tests {
    use crate::model::Arch;
    use crate::reference::dot_raw;
    use crate::{Format, Model};

    /// Measured on an H200: a subnormal E4M3 factor has its true exponent, not -6.
    #[test]
    fn subnormal_e4m3_factors_are_normalised() {
        let mut a = vec![0u64; 32];
        let mut b = vec![0u64; 32];
        // Elements 17 and 24: 2^-8 times E5M2 numbers; with the exponent -6 the last bit of the sum would be lost.
        for (i, x, y) in [
            (16, 0xa9, 0x01),
            (17, 0x82, 0x09),
            (24, 0x02, 0x65),
            (27, 0xd1, 0xa1),
        ] {
            (a[i], b[i]) = (x, y);
        }
        let name = "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32";
        let model = Model::from_instruction(name, Arch::Hopper).unwrap();
        assert_eq!((model.a(), model.b()), (Format::E4m3, Format::E5m2));
        assert_eq!(dot_raw(model.unit(), &a, &b, 0), 0x40a2_cff5);
    }
}
