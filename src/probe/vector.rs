//! Test vectors: products and addends of chosen values, as encodings of the unit's formats.

use crate::format::{
    Class, Exact, Format, Overflow, Rounding, Specials, decode, infinity, nan, round_pack,
};

/// One dot product on raw encodings: d = a\[0\]*b\[0\] + a\[1\]*b\[1\] + ... + c.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Case {
    /// Elements of a.
    pub a: Vec<u64>,
    /// Elements of b, as many.
    pub b: Vec<u64>,
    /// The addend, in the output format.
    pub c: u64,
}

/// The formats around a unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Formats {
    /// Of a's elements.
    pub a: Format,
    /// Of b's elements.
    pub b: Format,
    /// Of c and of the result.
    pub output: Format,
}

impl Formats {
    /// Of a and of b.
    pub fn inputs(&self) -> [Format; 2] {
        [self.a, self.b]
    }

    /// Exponents of the smallest and largest product of two normal powers of two.
    pub fn product_exponents(&self) -> (i32, i32) {
        let (a, b) = (self.a.info(), self.b.info());
        (
            a.min_exponent() + b.min_exponent(),
            a.max_exponent() + b.max_exponent(),
        )
    }

    /// Exponents of the smallest subnormal and largest number of the output format.
    pub fn addend_exponents(&self) -> (i32, i32) {
        let d = self.output.info();
        (d.min_exponent() - d.fraction_bits as i32, d.max_exponent())
    }

    /// Fraction bits of the result.
    pub fn result_bits(&self) -> i32 {
        self.output.info().fraction_bits as i32
    }

    /// One, in the format of b.
    fn power(format: Format, exponent: i32) -> Option<u64> {
        let info = format.info();
        (info.min_exponent()..=info.max_exponent())
            .contains(&exponent)
            .then(|| ((exponent + info.bias) as u64) << (info.fraction_bits + info.ignored_bits))
    }
}

/// A real number with few bits: (-1)^`negative` * `significand` * 2^`unit`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Number {
    /// Sign.
    pub negative: bool,
    /// Integer significand; 0 for zero.
    pub significand: u64,
    /// Weight of its last bit.
    pub unit: i32,
}

impl Number {
    /// 2^`exponent`.
    pub const fn power(exponent: i32) -> Number {
        Number {
            negative: false,
            significand: 1,
            unit: exponent,
        }
    }

    /// Zero.
    pub const ZERO: Number = Number {
        negative: false,
        significand: 0,
        unit: 0,
    };

    /// The number with the sign given.
    pub const fn signed(self, negative: bool) -> Number {
        Number { negative, ..self }
    }

    /// Exponent of the leading bit.
    pub fn exponent(&self) -> i32 {
        self.unit + self.significand.checked_ilog2().unwrap_or(0) as i32
    }

    /// The encoding that is exactly this number, if the format has one.
    pub fn encode(&self, format: Format) -> Option<u64> {
        let info = format.info();
        if self.significand == 0 {
            return Some(0);
        }
        let exact = Exact {
            negative: self.negative,
            magnitude: self.significand.into(),
            sticky: false,
            unit: self.unit,
        };
        let bits = round_pack(format, exact, Rounding::TowardZero, Overflow::Saturate);
        let back = decode(format, bits);
        if back.class != Class::Finite {
            return None;
        }
        // The same number: both significands without their trailing zeros.
        let odd = |significand: u64, unit: i32| {
            let zeros = significand.trailing_zeros();
            (significand >> zeros, unit + zeros as i32)
        };
        let unit = back.exponent - info.fraction_bits as i32;
        (odd(back.significand, unit) == odd(self.significand, self.unit)).then_some(bits)
    }
}

/// The sign bit of a format's encodings, where it may be set: FNUZ formats have no negative zero.
pub fn negated(format: Format, bits: u64) -> u64 {
    if bits == 0 && format.info().specials == Specials::Fnuz {
        bits
    } else {
        bits ^ format.info().sign_bit()
    }
}

/// How a product is split into its factors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Split {
    /// b is a power of two.
    Plain,
    /// Both factors have the significand 1.5 and the product 2.25 or 4.5, ..., which only some products can be.
    Square,
    /// As `Plain`, but a may be subnormal.
    Subnormal,
}

/// Factors whose product is exactly `number`; `None` if the formats have none of this kind.
pub fn factors(formats: &Formats, number: Number, split: Split) -> Option<(u64, u64)> {
    if number.significand == 0 {
        return Some((0, 0));
    }
    if split == Split::Square {
        let zeros = number.significand.trailing_zeros();
        if number.significand >> zeros != 9 {
            return None;
        }
        let unit = number.unit + zeros as i32;
        let (low, high) = exponent_split(formats, unit + 2)?;
        let a = Number {
            negative: number.negative,
            significand: 3,
            unit: low - 1,
        };
        let b = Number {
            negative: false,
            significand: 3,
            unit: high - 1,
        };
        return Some((a.encode(formats.a)?, b.encode(formats.b)?));
    }
    let lead = number.exponent();
    if split == Split::Plain
        && let Some((x, y)) = exponent_split(formats, lead)
    {
        let a = Number {
            unit: number.unit - y,
            ..number
        };
        debug_assert_eq!(a.exponent(), x);
        if let (Some(a), Some(b)) = (a.encode(formats.a), Formats::power(formats.b, y)) {
            return Some((a, b));
        }
        return None;
    }
    if split == Split::Subnormal {
        // The subnormal factor is a, with the smallest b that makes it so.
        let info = formats.a.info();
        let b = formats.b.info();
        let lowest = info.min_exponent() - info.fraction_bits as i32;
        for x in (lowest..info.min_exponent()).rev() {
            let y = lead - x;
            if (b.min_exponent()..=b.max_exponent()).contains(&y) {
                let a = Number {
                    unit: number.unit - y,
                    ..number
                };
                if let (Some(a), Some(b)) = (a.encode(formats.a), Formats::power(formats.b, y)) {
                    return Some((a, b));
                }
            }
        }
    }
    None
}

/// Exponents of normal factors whose sum is `exponent`, both near its half.
fn exponent_split(formats: &Formats, exponent: i32) -> Option<(i32, i32)> {
    let (a, b) = (formats.a.info(), formats.b.info());
    // One short of the top, where some formats' largest exponent has few significands.
    let (a_low, a_high) = (a.min_exponent(), a.max_exponent());
    let (b_low, b_high) = (b.min_exponent(), b.max_exponent());
    let x = exponent.div_euclid(2).clamp(a_low, a_high);
    let y = (exponent - x).clamp(b_low, b_high);
    let x = exponent - y;
    (a_low..=a_high).contains(&x).then_some((x, y))
}

/// Collects terms at chosen positions and makes a case of them.
#[derive(Clone, Debug)]
pub struct Draft {
    formats: Formats,
    elements: Vec<(usize, u64, u64)>,
    c: u64,
}

impl Draft {
    /// No term yet.
    pub fn new(formats: Formats) -> Draft {
        Draft {
            formats,
            elements: Vec::new(),
            c: 0,
        }
    }

    /// Puts a product at a position.
    pub fn product(&mut self, position: usize, number: Number, split: Split) -> Option<()> {
        let (a, b) = factors(&self.formats, number, split)?;
        self.elements.push((position, a, b));
        Some(())
    }

    /// Puts factors, given as encodings, at a position.
    pub fn factors(&mut self, position: usize, a: u64, b: u64) {
        self.elements.push((position, a, b));
    }

    /// Sets c.
    pub fn addend(&mut self, number: Number) -> Option<()> {
        self.c = number.encode(self.formats.output)?;
        Some(())
    }

    /// Sets c to an encoding.
    pub fn addend_bits(&mut self, bits: u64) {
        self.c = bits;
    }

    /// The case; vectors have at least `least` elements.
    pub fn case(&self, least: usize) -> Case {
        let last = self.elements.iter().map(|element| element.0 + 1).max();
        let k = last.unwrap_or(1).max(least);
        let mut case = Case {
            a: vec![0; k],
            b: vec![0; k],
            c: self.c,
        };
        for &(position, a, b) in &self.elements {
            case.a[position] = a;
            case.b[position] = b;
        }
        case
    }
}

/// Encodings of a format that are not finite: infinities where it has them, and NaNs.
pub fn specials(format: Format) -> Vec<u64> {
    let info = format.info();
    let mut found = vec![nan(format, false)];
    if info.specials == Specials::Ieee {
        found.extend([
            nan(format, true),
            infinity(format, false),
            infinity(format, true),
        ]);
        // A NaN whose payload lies where some units do not look.
        found.push(infinity(format, false) | 1);
        found.push(infinity(format, false) | 1 << (info.fraction_bits + info.ignored_bits - 2));
    } else if info.specials == Specials::OnlyNan {
        found.push(nan(format, true));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::FORMATS;

    #[test]
    fn factors_multiply_to_the_number() {
        for row in &FORMATS {
            let formats = Formats {
                a: row.format,
                b: row.format,
                output: Format::Fp32,
            };
            let (low, high) = formats.product_exponents();
            for exponent in [low, low + 1, -1, 0, 1, high - 1] {
                for (significand, split) in
                    [(1, Split::Plain), (3, Split::Plain), (9, Split::Square)]
                {
                    let number = Number {
                        negative: true,
                        significand,
                        unit: exponent,
                    };
                    let Some((a, b)) = factors(&formats, number, split) else {
                        continue;
                    };
                    let (a, b) = (decode(row.format, a), decode(row.format, b));
                    assert_ne!(a.negative, b.negative);
                    let unit = a.exponent + b.exponent - 2 * row.fraction_bits as i32;
                    let product = u128::from(a.significand) * u128::from(b.significand);
                    let zeros = product.trailing_zeros();
                    assert_eq!((product >> zeros) as u64, significand, "{}", row.name);
                    assert_eq!(unit + zeros as i32, exponent, "{}", row.name);
                }
            }
        }
    }
}
