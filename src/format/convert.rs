//! What users pass, rounded once into a format; and back.

use super::decode::{Class, decode};
use super::encode::{Exact, Overflow, Rounding, infinity, nan, round_pack, zero};
use super::{Format, Specials};

/// Rounds the number that `bits` stands for in `from` into `to`, once.
///
/// NaN stays NaN with its sign. An infinity stays one, or becomes NaN in formats without infinities, unless `overflow`
/// is [`Overflow::Saturate`] and the format is not an FNUZ one: then it is the largest finite number.
pub fn recode(from: Format, to: Format, bits: u64, rounding: Rounding, overflow: Overflow) -> u64 {
    let value = decode(from, bits);
    match value.class {
        Class::Nan => nan(to, value.negative),
        Class::Infinite => {
            if overflow == Overflow::Saturate && to.info().specials != Specials::Fnuz {
                let info = to.info();
                let sign = if value.negative { info.sign_bit() } else { 0 };
                sign | info.max_finite()
            } else {
                infinity(to, value.negative)
            }
        }
        Class::Zero => zero(to, value.negative),
        Class::Finite => {
            let exact = Exact {
                negative: value.negative,
                magnitude: value.significand.into(),
                sticky: false,
                unit: value.exponent - from.info().fraction_bits as i32,
            };
            round_pack(to, exact, rounding, overflow)
        }
    }
}

/// What happens to a user's number past the range of `format`: FNUZ formats saturate, the others follow IEEE 754.
pub const fn default_overflow(format: Format) -> Overflow {
    match format.info().specials {
        Specials::Fnuz => Overflow::Saturate,
        Specials::Ieee | Specials::OnlyNan => Overflow::Ieee,
    }
}

/// Rounds a binary64 number into `format` as the matrix functions do with what they are given.
pub fn from_f64(format: Format, x: f64, rounding: Rounding) -> u64 {
    recode(
        Format::Fp64,
        format,
        x.to_bits(),
        rounding,
        default_overflow(format),
    )
}

/// Rounds a binary32 number into `format` as the matrix functions do with what they are given.
pub fn from_f32(format: Format, x: f32, rounding: Rounding) -> u64 {
    recode(
        Format::Fp32,
        format,
        x.to_bits().into(),
        rounding,
        default_overflow(format),
    )
}

/// The binary64 number equal to an encoding; exact for every format.
pub fn to_f64(format: Format, bits: u64) -> f64 {
    f64::from_bits(recode(
        format,
        Format::Fp64,
        bits,
        Rounding::NearestEven,
        Overflow::Ieee,
    ))
}
