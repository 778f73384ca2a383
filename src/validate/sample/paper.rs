//! The two samplers of the paper's section 5, drawn from MT19937.

use super::mt19937::Mt19937;
use super::{Cases, Shape};
use crate::format::{Class, Format, FormatInfo, decode, zero};

/// What the paper's samplers draw.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Draw {
    /// Section 5.1, from the smallest to the largest normal exponent.
    Normal,
    /// Section 5.1, from the smallest subnormal to the smallest normal exponent.
    Subnormal,
    /// Section 5.2.
    Bits,
}

/// Exponents of the significands that Algorithm 3 draws, both included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ExponentRange {
    /// Smallest.
    pub low: i32,
    /// Largest.
    pub high: i32,
}

/// Exponents of a, b and c (paper, 5.1.1 to 5.1.4). For formats that the paper does not list, its rules are followed:
/// from the smallest to the largest normal exponent, but those of a and b below the square root of the result's largest
/// number (that is the 63 of bf16); or from the smallest subnormal to the smallest normal exponent.
pub fn exponent_ranges(shape: &Shape, subnormal: bool) -> [ExponentRange; 3] {
    let output = shape.output.info();
    let range = |info: &FormatInfo, most: i32| {
        let least = info.min_exponent();
        if subnormal {
            ExponentRange {
                low: least - info.fraction_bits as i32,
                high: least,
            }
        } else {
            ExponentRange {
                low: least,
                high: info.max_exponent().min(most),
            }
        }
    };
    let factor = |format: Format| range(format.info(), output.max_exponent() / 2);
    [factor(shape.a), factor(shape.b), range(output, i32::MAX)]
}

/// A stream of cases from one generator.
#[derive(Clone)]
pub(super) struct Stream {
    mt: Mt19937,
    draw: Draw,
    shape: Shape,
    ranges: [ExponentRange; 3],
}

impl Stream {
    pub(super) fn new(mt: Mt19937, draw: Draw, shape: Shape) -> Stream {
        let ranges = exponent_ranges(&shape, draw == Draw::Subnormal);
        Stream {
            mt,
            draw,
            shape,
            ranges,
        }
    }

    /// Appends the next case: a, then b, then c, each element's exponent before its significand.
    pub(super) fn next(&mut self, cases: &mut Cases) {
        let Shape { a, b, output, k } = self.shape;
        let [a_range, b_range, c_range] = self.ranges;
        cases.a.extend((0..k).map(|_| self.element(a, a_range)));
        cases.b.extend((0..k).map(|_| self.element(b, b_range)));
        let c = self.element(output, c_range);
        cases.c.push(c);
    }

    fn element(&mut self, format: Format, range: ExponentRange) -> u64 {
        match self.draw {
            Draw::Bits => self.finite_bits(format),
            _ => self.scaled(format, range),
        }
    }

    /// s 2^e with e and s uniform, |s| <= 2 - 2^(1 - f), rounded once to nearest; f is the precision of `format`.
    fn scaled(&mut self, format: Format, ExponentRange { low, high }: ExponentRange) -> u64 {
        let info = format.info();
        let exponent = self.mt.next_integer(low, high);
        let most =
            (2.0 * (1u64 << info.fraction_bits) as f64 - 1.0) / (1u64 << info.fraction_bits) as f64;
        let significand = -most + 2.0 * most * self.mt.next_f64();
        rounded(info, significand, exponent)
    }

    fn word(&mut self, format: Format) -> u64 {
        let low = u64::from(self.mt.next_u32());
        match format.info().storage_bits {
            64 => low | u64::from(self.mt.next_u32()) << 32,
            bits => low & ((1u64 << bits) - 1),
        }
    }

    /// Independent bits; the exponent's are drawn again while they make an infinity or a NaN.
    fn finite_bits(&mut self, format: Format) -> u64 {
        let info = format.info();
        let field = ((1u64 << info.exponent_bits) - 1) << (info.fraction_bits + info.ignored_bits);
        let mut bits = self.word(format);
        while matches!(decode(format, bits).class, Class::Infinite | Class::Nan) {
            bits = bits & !field | self.word(format) & field;
        }
        bits
    }
}

/// `x` 2^`exponent` in a format, rounded to nearest even. OCP E4M3's largest exponent has fewer significands than the
/// others; what lies beyond them becomes the largest number. (It is [`round_pack`](crate::format::round_pack) for what
/// is drawn here, in 64 bits: campaigns draw many.)
fn rounded(info: &FormatInfo, x: f64, exponent: i32) -> u64 {
    let bits = x.to_bits();
    let sign = if bits >> 63 != 0 { info.sign_bit() } else { 0 };
    let magnitude = bits & (u64::MAX >> 1);
    if magnitude >> 52 == 0 {
        // Zero, or far below what any format holds: significands are multiples of 2^-53.
        return zero(info.format, sign != 0);
    }
    let significand = magnitude & ((1 << 52) - 1) | 1 << 52;
    let own = (magnitude >> 52) as i32 - 1023 + exponent;
    let kept_exponent = own.max(info.min_exponent());
    let cut = (52 - info.fraction_bits as i32 + kept_exponent - own) as u32;
    let kept = if cut == 0 {
        significand
    } else if cut > 54 {
        0
    } else {
        let half = 1u64 << (cut - 1);
        let odd = significand >> cut & 1;
        (significand + half - 1 + odd) >> cut
    };
    let field = (kept_exponent - info.min_exponent()) as u64;
    let code = ((field << info.fraction_bits) + kept) << info.ignored_bits;
    if code == 0 {
        return zero(info.format, sign != 0);
    }
    sign | code.min(info.max_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{Exact, FORMATS, Overflow, Rounding, round_pack};

    #[test]
    fn rounding_is_the_formats() {
        let mut mt = Mt19937::matlab(1);
        for info in &FORMATS {
            for i in 0..20_000 {
                let x = match i % 4 {
                    // Ties and their neighbours.
                    0 => {
                        let last = f64::powi(2.0, -(info.fraction_bits as i32) - 1);
                        (1.0 + last * f64::from(mt.next_integer(0, 9)))
                            * (1.0 + f64::EPSILON * f64::from(mt.next_integer(-1, 1)))
                    }
                    _ => 2.0 * mt.next_f64() - 1.0,
                };
                let exponent = mt.next_integer(
                    info.min_exponent() - info.fraction_bits as i32 - 3,
                    info.max_exponent(),
                );
                let bits = x.to_bits();
                let exact = Exact {
                    negative: x < 0.0,
                    magnitude: (bits & ((1 << 52) - 1) | 1 << 52).into(),
                    sticky: false,
                    unit: (bits >> 52 & 0x7ff) as i32 - 1075 + exponent,
                };
                let wanted = round_pack(
                    info.format,
                    exact,
                    Rounding::NearestEven,
                    Overflow::Saturate,
                );
                assert_eq!(
                    rounded(info, x, exponent),
                    wanted,
                    "{} {x:e} {exponent}",
                    info.name
                );
            }
        }
    }
}
