//! The one routine that rounds and packs.

use super::{Format, FormatInfo, Specials};

/// How a value between two neighbours of a format is rounded.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Rounding {
    /// To the nearest, ties to the even significand (RNE).
    NearestEven,
    /// Toward zero (RTZ): cut.
    TowardZero,
    /// Toward minus infinity (RD).
    Down,
    /// Toward plus infinity (RU).
    Up,
}

impl Rounding {
    /// Does this rounding move a magnitude up? `odd`: is the kept part odd; `half`: the first bit cut; `rest`: any bit
    /// after that.
    pub fn rounds_away(self, negative: bool, odd: bool, half: bool, rest: bool) -> bool {
        match self {
            Rounding::NearestEven => half && (rest || odd),
            Rounding::TowardZero => false,
            Rounding::Down => negative && (half || rest),
            Rounding::Up => !negative && (half || rest),
        }
    }
}

/// What becomes of a rounded magnitude above the largest finite number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Overflow {
    /// As IEEE 754: infinity, or the largest finite number where the rounding points back at it. In a format without
    /// infinities, NaN in the place of infinity (OCP E4M3).
    Ieee,
    /// The largest finite number.
    Saturate,
    /// Infinity whatever the rounding: what matrix units do.
    Infinity,
}

/// Encoding of zero. A format without negative zero gives its one zero.
pub fn zero(format: Format, negative: bool) -> u64 {
    let info = format.info();
    match info.specials {
        Specials::Fnuz => 0,
        _ if negative => info.sign_bit(),
        _ => 0,
    }
}

/// Encoding of an infinity, or of a NaN in formats that have no infinities.
pub fn infinity(format: Format, negative: bool) -> u64 {
    let info = format.info();
    match info.specials {
        Specials::Ieee => {
            let field = (1u64 << info.exponent_bits) - 1;
            sign(info, negative) | field << (info.fraction_bits + info.ignored_bits)
        }
        Specials::OnlyNan | Specials::Fnuz => nan(format, negative),
    }
}

/// Encoding of the quiet NaN with only the first fraction bit set (IEEE formats), or of the format's one NaN.
pub fn nan(format: Format, negative: bool) -> u64 {
    let info = format.info();
    match info.specials {
        Specials::Ieee => {
            infinity(format, negative) | 1 << (info.fraction_bits + info.ignored_bits - 1)
        }
        Specials::OnlyNan => sign(info, negative) | (info.sign_bit() - 1),
        Specials::Fnuz => info.sign_bit(),
    }
}

fn sign(info: &FormatInfo, negative: bool) -> u64 {
    if negative { info.sign_bit() } else { 0 }
}

/// An exact real number: (-1)^`negative` * (`magnitude` + something in (0, 1) if `sticky`) * 2^`unit`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Exact {
    /// Sign.
    pub negative: bool,
    /// Integer part of the magnitude, in units of 2^`unit`.
    pub magnitude: u128,
    /// Is there something below the unit?
    pub sticky: bool,
    /// Weight of the last bit of `magnitude`.
    pub unit: i32,
}

/// Rounds `value` into `format`, keeping at most `fraction_bits` bits of its fraction, and returns the encoding.
///
/// Rounding is done once, at the last kept bit, the format's minimum exponent taken into account; the exponent range
/// is unbounded above while rounding, and `overflow` says what a magnitude past the largest finite number becomes. A
/// magnitude that rounds to zero keeps its sign.
pub fn round_pack_to(
    format: Format,
    fraction_bits: u32,
    value: Exact,
    rounding: Rounding,
    overflow: Overflow,
) -> u64 {
    let Exact {
        negative,
        magnitude,
        sticky,
        unit,
    } = value;
    let info = format.info();
    debug_assert!(fraction_bits <= info.fraction_bits);
    if magnitude == 0 && !sticky {
        return zero(format, negative);
    }
    // Exponent of the leading bit, not below that of the format's subnormal numbers.
    let bits = 128 - magnitude.leading_zeros() as i32;
    let exponent = (unit + bits - 1).max(info.min_exponent());
    // Cut at the last kept bit, which weighs 2^(exponent - fraction_bits).
    let cut = exponent - fraction_bits as i32 - unit;
    let (mut kept, half, rest) = if cut <= 0 {
        // Exact as it stands; a sticky part lies below the last kept bit.
        debug_assert!(!sticky || cut == 0 || magnitude == 0);
        if magnitude == 0 {
            (0, false, true)
        } else {
            ((magnitude as u64) << -cut, false, sticky)
        }
    } else if cut > 128 {
        (0, false, true)
    } else {
        let below = if cut == 128 {
            magnitude
        } else {
            magnitude & ((1 << cut) - 1)
        };
        let half_bit = 1u128 << (cut - 1);
        let kept = if cut == 128 {
            0
        } else {
            (magnitude >> cut) as u64
        };
        (
            kept,
            below & half_bit != 0,
            below & (half_bit - 1) != 0 || sticky,
        )
    };
    if rounding.rounds_away(negative, kept & 1 != 0, half, rest) {
        kept += 1;
    }
    // `kept` now counts units of 2^(exponent - fraction_bits): hidden bit and fraction.
    kept <<= info.fraction_bits - fraction_bits;
    if kept == 0 {
        return zero(format, negative);
    }
    // Adding the hidden bit to the exponent field makes a carry out of the significand, and a subnormal number that
    // became normal, come out right by itself.
    let field = (exponent - info.min_exponent()) as u64;
    let code = (field << info.fraction_bits) + kept;
    let code = code << info.ignored_bits;
    if code > info.max_finite() {
        let to_infinity = match overflow {
            Overflow::Infinity => true,
            Overflow::Saturate => false,
            Overflow::Ieee => match rounding {
                Rounding::NearestEven => true,
                Rounding::TowardZero => false,
                Rounding::Down => negative,
                Rounding::Up => !negative,
            },
        };
        return if to_infinity {
            infinity(format, negative)
        } else {
            sign(info, negative) | info.max_finite()
        };
    }
    sign(info, negative) | code
}

/// [`round_pack_to`] with all fraction bits of the format.
pub fn round_pack(format: Format, value: Exact, rounding: Rounding, overflow: Overflow) -> u64 {
    round_pack_to(
        format,
        format.info().fraction_bits,
        value,
        rounding,
        overflow,
    )
}
