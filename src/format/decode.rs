//! From an encoding to sign, exponent and integer significand.

use super::{Format, Specials};

/// What kind of number an encoding stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// Zero, of either sign.
    Zero,
    /// Any other finite number, subnormal ones included.
    Finite,
    /// An infinity.
    Infinite,
    /// Not a number.
    Nan,
}

/// A decoded number: (-1)^`negative` * `significand` * 2^(`exponent` - fraction_bits of its format).
///
/// A subnormal number keeps its format's minimum exponent and a significand below the hidden bit.
/// Exponent and significand are 0 for zeros and infinities; a NaN has its payload, the whole fraction field, as
/// significand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Decoded {
    /// Sign bit.
    pub negative: bool,
    /// Kind of number.
    pub class: Class,
    /// Unbiased exponent.
    pub exponent: i32,
    /// Integer significand, hidden bit included.
    pub significand: u64,
}

impl Decoded {
    /// Positive zero.
    pub const ZERO: Decoded = Decoded {
        negative: false,
        class: Class::Zero,
        exponent: 0,
        significand: 0,
    };

    const fn special(negative: bool, class: Class) -> Decoded {
        Decoded {
            negative,
            class,
            exponent: 0,
            significand: 0,
        }
    }

    /// Is this a zero, of either sign?
    pub fn is_zero(&self) -> bool {
        self.class == Class::Zero
    }
}

/// Decodes `bits`, whose low [`storage_bits`](super::FormatInfo::storage_bits) are the encoding; higher bits are ignored.
pub fn decode(format: Format, bits: u64) -> Decoded {
    let info = format.info();
    let negative = bits & info.sign_bit() != 0;
    // A NaN is told from an infinity before the unit drops the bits it does not read.
    let whole_fraction_bits = info.fraction_bits + info.ignored_bits;
    let whole_fraction = bits & ((1 << whole_fraction_bits) - 1);
    let fraction = whole_fraction >> info.ignored_bits;
    let field_max = (1u64 << info.exponent_bits) - 1;
    let field = (bits >> whole_fraction_bits) & field_max;

    match info.specials {
        Specials::Ieee if field == field_max => {
            let class = if whole_fraction == 0 {
                Class::Infinite
            } else {
                Class::Nan
            };
            return Decoded {
                significand: whole_fraction,
                ..Decoded::special(negative, class)
            };
        }
        Specials::OnlyNan if field == field_max && fraction == (1 << info.fraction_bits) - 1 => {
            return Decoded {
                significand: whole_fraction,
                ..Decoded::special(negative, Class::Nan)
            };
        }
        Specials::Fnuz if negative && field == 0 && fraction == 0 => {
            return Decoded::special(negative, Class::Nan);
        }
        _ => {}
    }
    match (field, fraction) {
        (0, 0) => Decoded::special(negative, Class::Zero),
        (0, _) => Decoded {
            negative,
            class: Class::Finite,
            exponent: info.min_exponent(),
            significand: fraction,
        },
        _ => Decoded {
            negative,
            class: Class::Finite,
            exponent: field as i32 - info.bias,
            significand: (1 << info.fraction_bits) | fraction,
        },
    }
}
