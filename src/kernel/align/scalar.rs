//! One dot product of a block in integers: for lanes that vectors do not handle.

use crate::format::{
    Class, Decoded, Exact, Format, Overflow, Rounding, decode, round_pack_to, to_f64, zero,
};
use crate::model::{Model, Params, Scheme};
use crate::reference::{self, Operand};

/// Most products of a block.
pub const MOST: usize = 32;

/// Computes blocks of one unit.
pub struct Scalar {
    model: Model,
    a: Factor,
    b: Factor,
    /// Format of c between blocks; binary32 or binary16.
    carry: Format,
    result_bits: u32,
}

/// How numbers of a format are taken apart.
#[derive(Clone, Copy)]
struct Factor {
    fraction_bits: u32,
    min_exponent: i32,
}

impl Factor {
    fn new(format: Format) -> Factor {
        let info = format.info();
        Factor {
            fraction_bits: info.fraction_bits,
            min_exponent: info.min_exponent(),
        }
    }

    /// Signed significand with `fraction_bits` fraction bits, and exponent, of a finite number of the format.
    fn split(self, x: f32) -> (i64, i32) {
        let bits = x.to_bits();
        let field = (bits >> 23 & 0xff) as i32;
        let significand = bits & 0x7f_ffff | u32::from(field != 0) << 23;
        let own = field.max(1) - 127;
        let exponent = own.max(self.min_exponent);
        let dropped = 23 - self.fraction_bits as i32 + exponent - own;
        let magnitude = i64::from(significand) >> dropped.min(63);
        (if x < 0.0 { -magnitude } else { magnitude }, exponent)
    }
}

/// The products of a block, aligned and added; in units of 2^(`exponent` - F).
struct Sum {
    sum: i64,
    exponent: i32,
}

impl Scalar {
    pub fn new(model: &Model) -> Scalar {
        let carry = model.unit().carry();
        Scalar {
            model: *model,
            a: Factor::new(model.a()),
            b: Factor::new(model.b()),
            carry,
            result_bits: model.params().result_bits(model.output()),
        }
    }

    /// One block. All numbers are equal to encodings of the unit's formats; so is the result.
    pub fn block(&self, a: &[f32], b: &[f32], c: f32) -> f32 {
        let finite = a.iter().chain(b).chain([&c]).all(|x| x.is_finite());
        if !finite || self.reaches_limit(a, b) {
            return self.by_reference(a, b, c);
        }
        let late = self.model.params().adds_c_late();
        if late {
            self.late(a, b, c)
        } else {
            self.early(a, b, c)
        }
    }

    /// Could a product be one that the unit takes for an infinity?
    fn reaches_limit(&self, a: &[f32], b: &[f32]) -> bool {
        let mut products = a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b));
        self.model.params().product_limit && products.any(|p| p.abs() >= 2f64.powi(128))
    }

    /// Products from `first` on, every `step`-th, aligned to the largest exponent, `floor` if that is larger.
    fn sum(
        &self,
        a: &[f32],
        b: &[f32],
        (first, step): (usize, usize),
        floor: Option<i32>,
    ) -> Option<Sum> {
        let terms = || {
            let pairs = a.iter().zip(b).skip(first).step_by(step);
            pairs.filter_map(|(&a, &b)| {
                let ((a, ea), (b, eb)) = (self.a.split(a), self.b.split(b));
                (a != 0 && b != 0).then_some((a * b, ea + eb))
            })
        };
        let exponent = terms().map(|(_, e)| e).chain(floor).max()?;
        let fraction_bits = (self.a.fraction_bits + self.b.fraction_bits) as i32;
        let unit = self.unit(exponent);
        let sum = terms().map(|(x, e)| cut(x, e - fraction_bits - unit)).sum();
        Some(Sum { sum, exponent })
    }

    fn unit(&self, exponent: i32) -> i32 {
        exponent - self.model.params().alignment_bits as i32
    }

    fn early(&self, a: &[f32], b: &[f32], c: f32) -> f32 {
        let carry = Factor::new(self.carry);
        let (c, c_exponent) = carry.split(c);
        let limit = self.model.params().min_exponent;
        let from_c = (c != 0).then_some(c_exponent);
        let anything = c != 0 || a.iter().zip(b).any(|(&a, &b)| a != 0.0 && b != 0.0);
        if !anything {
            return 0.0;
        }
        let floor = from_c.max(limit);
        let Some(Sum { sum, exponent }) = self.sum(a, b, (0, 1), floor) else {
            return 0.0;
        };
        let unit = self.unit(exponent);
        let shift = c_exponent - carry.fraction_bits as i32 - unit;
        self.round(sum + cut(c, shift), unit)
    }

    fn late(&self, a: &[f32], b: &[f32], c: f32) -> f32 {
        let Params {
            late_sum_bits,
            late_total_bits,
            drop_c_beyond,
            ..
        } = *self.model.params();
        let odd_even = self.model.params().scheme == Scheme::OddEvenGrouping;
        let products = match odd_even {
            true => {
                let groups = [self.sum(a, b, (0, 2), None), self.sum(a, b, (1, 2), None)];
                match groups {
                    [Some(odd), Some(even)] => {
                        let exponent = odd.exponent.max(even.exponent);
                        let down = |x: &Sum| shift_down(x.sum, x.exponent - exponent);
                        let sum = down(&odd) + down(&even);
                        Some(Sum { sum, exponent })
                    }
                    [one, other] => one.or(other),
                }
            }
            false => self.sum(a, b, (0, 1), None),
        };
        let (mut c_sum, mut c_exponent) = Factor::new(Format::Fp32).split(c);
        let Some(products) = products else {
            // c as it is; a zero without a sign.
            return c + 0.0;
        };
        let gap = drop_c_beyond.filter(|_| odd_even);
        if gap.is_some_and(|gap| products.exponent - c_exponent > gap as i32) {
            (c_sum, c_exponent) = (0, -126);
        }
        if products.exponent >= c_exponent {
            let unit = self.unit(products.exponent);
            let c = shift_down(c_sum, c_exponent - 23 - unit);
            return self.round(products.sum + c, unit);
        }
        let mut unit = c_exponent - late_sum_bits as i32;
        let shifted = shift_down(products.sum, self.unit(products.exponent) - unit);
        let mut total = shifted + (c_sum << (late_sum_bits - 23));
        if let (Some(bits), true) = (late_total_bits, total != 0) {
            let leading = unit + total.unsigned_abs().ilog2() as i32;
            let last = leading.max(-126) - bits as i32;
            if last > unit {
                total = shift_down(total, unit - last);
                unit = last;
            }
        }
        self.round(total, unit)
    }

    /// The final rounding of `sum` * 2^`unit`.
    fn round(&self, sum: i64, unit: i32) -> f32 {
        if sum == 0 {
            return 0.0;
        }
        let exact = Exact {
            negative: sum < 0,
            magnitude: sum.unsigned_abs().into(),
            sticky: false,
            unit,
        };
        let rounding: Rounding = self.model.params().rounding;
        let bits = round_pack_to(
            self.carry,
            self.result_bits,
            exact,
            rounding,
            Overflow::Infinity,
        );
        let is_zero = bits & (self.carry.info().sign_bit() - 1) == 0;
        let signed_zero = self.model.params().conventions != crate::model::Conventions::Nvidia;
        let bits = if is_zero {
            zero(self.carry, sum < 0 && signed_zero)
        } else {
            bits
        };
        self.number(bits)
    }

    fn number(&self, bits: u64) -> f32 {
        match self.carry {
            Format::Fp32 => f32::from_bits(bits as u32),
            _ => to_f64(self.carry, bits) as f32,
        }
    }

    /// Infinities and NaNs.
    fn by_reference(&self, a: &[f32], b: &[f32], c: f32) -> f32 {
        let unit = self.model.unit();
        let decoded = |factor: Factor, x: &f32| {
            let class = decode(Format::Fp32, x.to_bits().into());
            match class.class {
                Class::Finite => {
                    let (significand, exponent) = factor.split(*x);
                    Decoded {
                        negative: class.negative,
                        class: Class::Finite,
                        exponent,
                        significand: significand.unsigned_abs(),
                    }
                }
                _ => class,
            }
        };
        // Nothing is allocated: short batches must not need memory.
        let all = |factor: Factor, x: &[f32]| -> [Decoded; MOST] {
            std::array::from_fn(|p| x.get(p).map_or(Decoded::ZERO, |x| decoded(factor, x)))
        };
        let n = a.len();
        let (a, b) = (all(self.a, a), all(self.b, b));
        let c = Operand {
            format: self.carry,
            value: decoded(Factor::new(self.carry), &c),
        };
        self.number(reference::block(unit, &a[..n], &b[..n], c))
    }
}

/// x * 2^`shift` cut toward zero. Left shifts are small, unless x is zero: F is at most 25 and significands are short.
fn cut(x: i64, shift: i32) -> i64 {
    if x == 0 {
        return 0;
    }
    if shift >= 0 {
        return x << shift;
    }
    let magnitude = x.abs() >> (-shift).min(63);
    if x < 0 { -magnitude } else { magnitude }
}

/// x * 2^`shift` rounded down.
fn shift_down(x: i64, shift: i32) -> i64 {
    if shift >= 0 {
        x << shift
    } else {
        x >> (-shift).min(63)
    }
}

/// x * 2^`power`, in two steps that are exact when the result is a binary32 number of no more significant bits.
pub fn times_power_of_two(x: f32, power: i32) -> f32 {
    let first = power / 2;
    let scale = |power: i32| f32::from_bits(((127 + power) as u32) << 23);
    x * scale(first) * scale(power - first)
}
