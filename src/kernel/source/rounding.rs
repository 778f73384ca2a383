//! Elements of A, B and C as numbers: what each format's encodings stand for, and how numbers are rounded to a format.

use std::sync::OnceLock;

use crate::format::{FORMATS, Format, Specials, to_f64};

/// binary64 to binary32 toward zero: to nearest, then one step back if that went too far.
#[inline(always)]
pub fn cut(x: f64) -> f32 {
    let nearest = x as f32;
    let too_far = f64::from(nearest).abs() > x.abs();
    f32::from_bits(nearest.to_bits() - u32::from(too_far))
}

/// A number; a NaN with its first fraction bit set.
#[inline(always)]
pub fn quiet(bits: u32) -> f32 {
    let nan = bits & 0x7fff_ffff > f32::INFINITY.to_bits();
    f32::from_bits(bits | if nan { 1 << 22 } else { 0 })
}

/// The same for binary64.
#[inline(always)]
pub fn quiet_double(bits: u64) -> f64 {
    let nan = bits & (u64::MAX >> 1) > f64::INFINITY.to_bits();
    f64::from_bits(bits | if nan { 1 << 51 } else { 0 })
}

/// Smallest normal number of a format that binary32 holds.
pub fn min_normal(format: Format) -> f32 {
    f32::from_bits(((127 + format.info().min_exponent()) as u32) << 23)
}

/// A number as it is, or +0 if it is not zero and closer to zero than `least`, which is positive. Zeros keep
/// their signs.
#[inline(always)]
pub fn flush(x: f32, least: f32) -> f32 {
    let magnitude = x.to_bits() & 0x7fff_ffff;
    let closer = magnitude.wrapping_sub(1) < least.to_bits() - 1;
    f32::from_bits(if closer { 0 } else { x.to_bits() })
}

/// A binary16 encoding as the binary32 number equal to it.
#[inline(always)]
pub fn from_fp16(bits: u16) -> f32 {
    let bits = u32::from(bits);
    let magnitude = (bits & 0x7fff) << 13;
    // The exponent field is 112 too small; a product with a power of two repairs it, for subnormal numbers as well.
    let finite = (f32::from_bits(magnitude) * f32::from_bits((127 + 112) << 23)).to_bits();
    let special = magnitude | 0x7f80_0000;
    let magnitude = if bits & 0x7c00 == 0x7c00 {
        special
    } else {
        finite
    };
    f32::from_bits(magnitude | (bits & 0x8000) << 16)
}

/// A tf32 word as the binary32 number that the unit reads. A NaN stays one even if only ignored bits tell.
#[inline(always)]
pub fn from_tf32(bits: u32) -> f32 {
    let nan = bits & 0x7fff_ffff > 0x7f80_0000;
    f32::from_bits((bits & !0x1fff) | if nan { 0x0040_0000 } else { 0 })
}

/// A binary32 number rounded to bfloat16, to nearest even; overflow carries into an infinity.
#[inline(always)]
pub fn to_bf16(bits: u32) -> f32 {
    let nan = bits & 0x7fff_ffff > 0x7f80_0000;
    let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1));
    f32::from_bits((if nan { bits | 0x0040_0000 } else { rounded }) & 0xffff_0000)
}

/// The numbers of an 8-bit format.
pub fn byte_table(format: Format) -> &'static [f32; 256] {
    static TABLES: [OnceLock<[f32; 256]>; FORMATS.len()] =
        [const { OnceLock::new() }; FORMATS.len()];
    TABLES[format as usize]
        .get_or_init(|| std::array::from_fn(|bits| to_f64(format, bits as u64) as f32))
}

/// A binary64 number cut to tf32; what is finite stays finite.
#[inline(always)]
pub fn cut_to_tf32(x: f64) -> f32 {
    const SIGN: u64 = 1 << 63;
    const MAX: f64 = f32::from_bits(0x7f7f_e000) as f64;
    let y = f64::from_bits(x.to_bits() & !SIGN);
    // Ten fraction bits stay, so binary32 holds the number, or would if it were not too small. Then the last thirteen bits
    // are of a subnormal number and go, and rounding to binary32 cannot have reached those before them.
    let kept = f64::from_bits(y.to_bits() & !((1 << 42) - 1));
    let finite = if kept > MAX { MAX } else { kept };
    let cut = if y < f64::INFINITY { finite } else { y };
    let sign = (x.to_bits() >> 32) as u32 & 1 << 31;
    f32::from_bits((cut as f32).to_bits() & !0x1fff | sign)
}

/// How numbers are rounded to a format of at most 8 exponent and 11 significant bits, to nearest even.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    fraction_bits: u32,
    /// Smallest normal number.
    least: f64,
    /// A power of two beyond the largest.
    beyond: f64,
    max_finite: f64,
    /// What a finite number past the largest becomes.
    overflow: f64,
    /// Does an infinity become something else?
    pub fnuz: bool,
    /// Can binary32 arithmetic round a binary32 number to the format? It can where exponents are few.
    pub narrow: bool,
}

impl Rules {
    /// Of a format, made once.
    pub fn of(format: Format) -> &'static Rules {
        static RULES: [OnceLock<Rules>; FORMATS.len()] = [const { OnceLock::new() }; FORMATS.len()];
        RULES[format as usize].get_or_init(|| Rules::new(format))
    }

    fn new(format: Format) -> Rules {
        let info = format.info();
        let max_finite = to_f64(format, info.max_finite());
        Rules {
            fraction_bits: info.fraction_bits,
            least: 2f64.powi(info.min_exponent()),
            beyond: 2f64.powi(info.max_exponent() + 1),
            max_finite,
            overflow: match info.specials {
                Specials::Ieee => f64::INFINITY,
                Specials::Fnuz => max_finite,
                Specials::OnlyNan => f64::NAN,
            },
            fnuz: info.specials == Specials::Fnuz,
            narrow: info.max_exponent() <= 16,
        }
    }

    pub fn single(&self) -> SingleRules {
        SingleRules {
            fraction_bits: self.fraction_bits,
            least: self.least as f32,
            beyond: self.beyond as f32,
            max_finite: self.max_finite as f32,
            overflow: self.overflow as f32,
            fnuz: self.fnuz,
        }
    }

    /// One rounding. With y = |x| and 2^e the larger of y's binade and the smallest normal number, `grid` is 2^(e + 52 -
    /// f): a sum with it has a last bit of 2^(e - f), so the addition rounds y to f fraction bits, ties to even, and the
    /// subtraction is exact. A NaN stays one.
    #[inline(always)]
    pub fn round<const FNUZ: bool>(&self, x: f64) -> f32 {
        const SIGN: u64 = 1 << 63;
        const EXPONENT: u64 = 0x7ff << 52;
        let y = f64::from_bits(x.to_bits() & !SIGN);
        let normal = if y > self.least { y } else { self.least };
        let bounded = if normal < self.beyond {
            normal
        } else {
            self.beyond
        };
        let up = u64::from(52 - self.fraction_bits) << 52;
        let grid = f64::from_bits((bounded.to_bits() & EXPONENT) + up);
        let rounded = (y + grid) - grid;
        let mut result = if rounded > self.max_finite {
            self.overflow
        } else {
            rounded
        };
        if FNUZ && y == f64::INFINITY {
            result = f64::NAN;
        }
        f64::from_bits(result.to_bits() | x.to_bits() & SIGN) as f32
    }
}

/// [`Rules`] for binary32 numbers and a format with few exponents.
#[derive(Clone, Copy, Debug)]
pub struct SingleRules {
    fraction_bits: u32,
    least: f32,
    beyond: f32,
    max_finite: f32,
    overflow: f32,
    pub fnuz: bool,
}

impl SingleRules {
    /// As [`Rules::round`], with 23 fraction bits to start from.
    #[inline(always)]
    pub fn round<const FNUZ: bool>(&self, x: f32) -> f32 {
        const SIGN: u32 = 1 << 31;
        const EXPONENT: u32 = 0xff << 23;
        let y = f32::from_bits(x.to_bits() & !SIGN);
        let normal = if y > self.least { y } else { self.least };
        let bounded = if normal < self.beyond {
            normal
        } else {
            self.beyond
        };
        let up = (23 - self.fraction_bits) << 23;
        let grid = f32::from_bits((bounded.to_bits() & EXPONENT) + up);
        let rounded = (y + grid) - grid;
        let mut result = if rounded > self.max_finite {
            self.overflow
        } else {
            rounded
        };
        if FNUZ && y == f32::INFINITY {
            result = f32::NAN;
        }
        f32::from_bits(result.to_bits() | x.to_bits() & SIGN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{Rounding, from_f64};

    #[test]
    fn cutting_is_rounding_toward_zero() {
        let mut state = 88172645463325252u64;
        let mut data = vec![
            f64::MAX,
            -f64::MAX,
            5e-324,
            f64::INFINITY,
            3.5e38,
            1e-45,
            -1e-46,
        ];
        for _ in 0..1_000_000 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let exponent = 1023 - 160 + (state >> 52) % 300;
            data.push(f64::from_bits(state & !(0x7ff << 52) | exponent << 52));
        }
        for x in data {
            let want = from_f64(Format::Fp32, x, Rounding::TowardZero);
            assert_eq!(u64::from(cut(x).to_bits()), want, "{x:e}");
        }
        assert!(cut(f64::NAN).is_nan());
    }
}
