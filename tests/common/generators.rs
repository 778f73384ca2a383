//! Named generators of operands for comparing kernels with the reference. Everything is reproducible from a seed.
#![allow(dead_code)]

use mfma::format::{Class, Specials, decode, infinity, nan};
use mfma::{Format, Model, Rounding};

/// The number that an environment variable gives (1000, 1e6, 0x1f), or the default.
pub fn number_from_env(name: &str, default: u64) -> u64 {
    let Ok(text) = std::env::var(name) else {
        return default;
    };
    let text = text.trim();
    let parsed = match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse::<f64>().ok().map(|x| x as u64),
    };
    parsed.unwrap_or_else(|| panic!("{name} is not a number: {text:?}"))
}

/// The library's random generator, and more distributions.
#[derive(Clone)]
pub struct Rng(mfma::probe::Random);

impl Rng {
    pub fn new(seed: u64) -> Rng {
        Rng(mfma::probe::Random::new(seed))
    }

    pub fn bits(&mut self) -> u64 {
        self.0.bits()
    }

    /// 0 to `n` - 1.
    pub fn below(&mut self, n: u64) -> u64 {
        self.0.below(n)
    }

    pub fn range(&mut self, low: i32, high: i32) -> i32 {
        self.0.range(low, high)
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: u64) -> bool {
        self.0.one_in(n)
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        self.0.pick(from)
    }

    fn unit(&mut self) -> f64 {
        ((self.bits() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    pub fn normal(&mut self) -> f64 {
        (-2.0 * self.unit().ln()).sqrt() * (std::f64::consts::TAU * self.unit()).cos()
    }
}

/// A product to compute, all raw encodings: A m x k and B k x n and C m x n, column-major.
#[derive(Clone, Debug)]
pub struct Operands {
    pub m: usize,
    pub n: usize,
    pub k: usize,
    pub a: Vec<u64>,
    pub b: Vec<u64>,
    pub c: Vec<u64>,
}

impl Operands {
    pub fn row_of_a(&self, i: usize) -> Vec<u64> {
        (0..self.k).map(|p| self.a[i + p * self.m]).collect()
    }

    pub fn column_of_b(&self, j: usize) -> Vec<u64> {
        self.b[j * self.k..][..self.k].to_vec()
    }
}

/// How operands are drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Generator {
    /// The paper's sampling: significand and exponent uniform, over all exponents (section 5.1).
    ExponentMantissa,
    /// The same between the smallest subnormal and the smallest normal exponent.
    SubnormalBand,
    /// Every bit by the toss of a coin; infinities and NaNs redrawn.
    RandomBits,
    /// N(0, 1).
    Normal,
    /// Products that cancel, or nearly.
    Cancellation,
    /// Few significand bits and exponents close to where results are cut and rounded.
    Ties,
    /// c at every distance from the products.
    GapSweep,
    /// Largest, smallest and neighbouring numbers.
    Limits,
    /// N(0, 1) or wide, with infinities and NaNs sprinkled in.
    Specials,
    /// Many zeros: single ones, whole rows and columns.
    Zeros,
    /// All factors positive and as large as their binade allows: the largest sums.
    Heavy,
    /// Rows and columns at different scales, with products and c where results overflow; from somewhere on in K
    /// there may be zeros or small factors only.
    Scales,
}

pub const ALL: [Generator; 12] = [
    Generator::ExponentMantissa,
    Generator::SubnormalBand,
    Generator::RandomBits,
    Generator::Normal,
    Generator::Cancellation,
    Generator::Ties,
    Generator::GapSweep,
    Generator::Limits,
    Generator::Specials,
    Generator::Zeros,
    Generator::Heavy,
    Generator::Scales,
];

/// `significand` (with the hidden bit at `fraction_bits`) times 2^(`exponent` - fraction_bits), as an encoding; clamped
/// into the format's range of exponents, subnormal ones included.
fn encode(format: Format, negative: bool, exponent: i32, fraction: u64) -> u64 {
    let info = format.info();
    let fraction = fraction & ((1 << info.fraction_bits) - 1);
    let lowest = info.min_exponent() - info.fraction_bits as i32;
    let exponent = exponent.clamp(lowest, info.max_exponent());
    let code = if exponent >= info.min_exponent() {
        ((exponent + info.bias) as u64) << info.fraction_bits | fraction
    } else {
        (1 << info.fraction_bits | fraction) >> (info.min_exponent() - exponent)
    };
    let code = (code << info.ignored_bits).min(info.max_finite());
    with_sign(format, code, negative)
}

fn with_sign(format: Format, code: u64, negative: bool) -> u64 {
    if !negative || code == 0 && format.info().specials == Specials::Fnuz {
        code
    } else {
        code | format.info().sign_bit()
    }
}

fn finite_bits(rng: &mut Rng, format: Format) -> u64 {
    loop {
        let bits = rng.bits() >> (64 - format.info().storage_bits);
        if matches!(decode(format, bits).class, Class::Zero | Class::Finite) {
            return bits;
        }
    }
}

fn exponents(format: Format) -> (i32, i32) {
    (format.info().min_exponent(), format.info().max_exponent())
}

/// Uniform significand, exponent from a range.
fn sample(rng: &mut Rng, format: Format, low: i32, high: i32) -> u64 {
    let bits = rng.bits();
    let exponent = rng.range(low, high);
    encode(format, bits >> 63 != 0, exponent, bits)
}

/// Between exponents whose products neither overflow nor vanish.
fn sample_middle(rng: &mut Rng, format: Format) -> u64 {
    let (low, high) = exponents(format);
    let (low, high) = (low.max(-20), high.min(20));
    sample(rng, format, low, high)
}

fn special(rng: &mut Rng, format: Format) -> u64 {
    match rng.below(3) {
        0 => infinity(format, false),
        1 => infinity(format, true),
        // A NaN only by the bits that some units do not look at.
        _ if format == Format::Tf32 && rng.one_in(2) => {
            infinity(format, false) | 1 << rng.below(13)
        }
        _ => nan(format, rng.one_in(2)),
    }
}

fn limit(rng: &mut Rng, format: Format) -> u64 {
    let info = format.info();
    let one = encode(format, false, 0, 0);
    let smallest_normal = encode(format, false, info.min_exponent(), 0);
    let step = 1 << info.ignored_bits;
    let code = rng.pick(&[
        0,
        step,
        2 * step,
        smallest_normal - step,
        smallest_normal,
        smallest_normal + step,
        one - step,
        one,
        one + step,
        info.max_finite(),
        info.max_finite() - step,
        (info.max_finite() / 2) & !(step - 1),
    ]);
    let negative = rng.one_in(2);
    with_sign(format, code, negative)
}

/// Significands with few or many ones.
fn plain_fraction(rng: &mut Rng, format: Format) -> u64 {
    let bits = format.info().fraction_bits;
    match rng.below(6) {
        0..=2 => 0,
        3 => 1 << rng.below(bits.into()),
        4 => (1 << bits) - 1,
        _ => 1 << (bits - 1) | 1 << rng.below(bits.into()),
    }
}

fn normal(rng: &mut Rng, format: Format) -> u64 {
    mfma::format::from_f64(format, rng.normal(), Rounding::NearestEven)
        & !((1 << format.info().ignored_bits) - 1)
}

fn factor(rng: &mut Rng, generator: Generator, format: Format, spread: i32) -> u64 {
    let info = format.info();
    let (low, high) = exponents(format);
    match generator {
        Generator::ExponentMantissa => sample(rng, format, low, high),
        Generator::SubnormalBand => sample(rng, format, low - info.fraction_bits as i32, low),
        Generator::RandomBits => finite_bits(rng, format),
        Generator::Normal => normal(rng, format),
        Generator::Cancellation => match spread {
            0 => sample_middle(rng, format),
            _ => sample(rng, format, (-spread).max(low), spread.min(high)),
        },
        Generator::Ties => {
            let exponent = match rng.below(3) {
                0 => 0,
                1 => rng.range(-spread, spread),
                _ => rng.pick(&[-14, -13, -12, -11, -10, -8, -7, -6, 6, 7]),
            };
            let fraction = plain_fraction(rng, format);
            encode(format, rng.one_in(2), exponent, fraction)
        }
        Generator::GapSweep => sample(rng, format, (-spread).max(low), spread.min(high)),
        Generator::Limits => limit(rng, format),
        Generator::Specials => {
            if rng.one_in(60) {
                special(rng, format)
            } else if spread == 0 {
                sample(rng, format, low, high)
            } else {
                normal(rng, format)
            }
        }
        Generator::Zeros => match rng.below(4) {
            0 => with_sign(format, 0, rng.one_in(2)),
            1 => sample_middle(rng, format),
            _ => {
                if spread == 0 {
                    sample(rng, format, low, high)
                } else {
                    with_sign(format, 0, false)
                }
            }
        },
        Generator::Heavy => {
            let fraction = u64::MAX << rng.below(3);
            encode(format, false, spread, fraction)
        }
        Generator::Scales => 0,
    }
}

/// c for a unit: an encoding of its output format.
fn addend(rng: &mut Rng, generator: Generator, format: Format, spread: i32) -> u64 {
    let info = format.info();
    let (low, high) = exponents(format);
    if rng.one_in(8) {
        return match rng.below(4) {
            0 => 0,
            1 => with_sign(format, 0, true),
            2 => limit(rng, format),
            _ => finite_bits(rng, format),
        };
    }
    match generator {
        Generator::ExponentMantissa | Generator::Heavy => {
            sample(rng, format, low.max(-40), high.min(40))
        }
        Generator::SubnormalBand => {
            let low = low - info.fraction_bits as i32;
            sample(rng, format, low, info.min_exponent() + 3)
        }
        Generator::RandomBits => finite_bits(rng, format),
        Generator::Normal => normal(rng, format),
        Generator::Cancellation | Generator::Ties | Generator::GapSweep => {
            let reach = 40 + spread;
            let exponent = rng.range(-reach, reach);
            let fraction = match rng.below(3) {
                0 => rng.bits(),
                _ => plain_fraction(rng, format),
            };
            encode(format, rng.one_in(2), exponent, fraction)
        }
        Generator::Limits => limit(rng, format),
        Generator::Specials => match rng.below(5) {
            0 => special(rng, format),
            1 => finite_bits(rng, format),
            _ => normal(rng, format),
        },
        Generator::Zeros => rng.pick(&[0, 0, info.sign_bit(), encode(format, false, 0, 1)]),
        Generator::Scales if rng.one_in(2) => sample(rng, format, low, high),
        Generator::Scales => sample(rng, format, spread.min(high) - 8, spread.min(high)),
    }
}

/// Draws the operands of an m x n x k product for `model`.
pub fn draw(
    rng: &mut Rng,
    generator: Generator,
    model: &Model,
    m: usize,
    n: usize,
    k: usize,
) -> Operands {
    let spread = match generator {
        Generator::Specials | Generator::Zeros => rng.range(0, 1),
        Generator::Heavy => rng.range(-3, 7),
        Generator::Scales => rng.range(90, 127),
        _ => rng.range(0, 14),
    };
    let mut operands = Operands {
        m,
        n,
        k,
        a: (0..m * k)
            .map(|_| factor(rng, generator, model.a(), spread))
            .collect(),
        b: (0..k * n)
            .map(|_| factor(rng, generator, model.b(), spread))
            .collect(),
        c: (0..m * n)
            .map(|_| addend(rng, generator, model.output(), spread))
            .collect(),
    };
    match generator {
        Generator::Cancellation => cancel(rng, model, &mut operands),
        Generator::Zeros => clear_lines(rng, &mut operands),
        Generator::Scales => draw_scales(rng, model, spread, &mut operands),
        _ => {}
    }
    operands
}

/// Makes the second factor pair of every two (or those `stride` apart) the negative of the first, up to a last bit.
fn cancel(rng: &mut Rng, model: &Model, operands: &mut Operands) {
    let Operands { m, n, k, .. } = *operands;
    let stride = rng.pick(&[1, 1, 2]);
    let nudge = |rng: &mut Rng, format: Format, bits: u64| {
        let step = 1 << format.info().ignored_bits;
        let moved = match rng.below(6) {
            0 => bits.wrapping_add(step),
            1 => bits.wrapping_sub(step),
            _ => bits,
        };
        match decode(format, moved).class {
            Class::Finite => moved,
            _ => bits,
        }
    };
    for p in (0..k.saturating_sub(stride)).step_by(2 * stride) {
        for p in p..(p + stride).min(k - stride) {
            for i in 0..m {
                let bits = operands.a[i + p * m];
                let negative = if decode(model.a(), bits).class == Class::Finite {
                    bits ^ model.a().info().sign_bit()
                } else {
                    bits
                };
                operands.a[i + (p + stride) * m] = nudge(rng, model.a(), negative);
            }
            for j in 0..n {
                let bits = operands.b[p + j * k];
                operands.b[p + stride + j * k] = nudge(rng, model.b(), bits);
            }
        }
    }
}

/// Factors whose largest products have the exponent `top`, where the formats reach so far.
fn draw_scales(rng: &mut Rng, model: &Model, top: i32, operands: &mut Operands) {
    let Operands { m, n, k, .. } = *operands;
    let scale = |rng: &mut Rng, format: Format, top: i32| {
        let (low, high) = exponents(format);
        match rng.below(6) {
            0 => rng.range(low, high.min(top)),
            1 => low,
            _ => high.min(top),
        }
    };
    let number = |rng: &mut Rng, format: Format, scale: i32| {
        let below = rng.pick(&[0, 0, 1, 3, 30, 190]);
        let bits = rng.bits();
        let exponent = scale - rng.range(0, below);
        encode(format, bits >> 63 != 0, exponent, bits)
    };
    for i in 0..m {
        let scale = scale(rng, model.a(), top / 2);
        (0..k).for_each(|p| operands.a[i + p * m] = number(rng, model.a(), scale));
    }
    for j in 0..n {
        let scale = scale(rng, model.b(), top - top / 2);
        (0..k).for_each(|p| operands.b[p + j * k] = number(rng, model.b(), scale));
    }
    let first = rng.below(k.max(1) as u64) as usize;
    let rest = &mut operands.a[first * m..];
    match rng.below(3) {
        0 => rest.fill(0),
        1 => {
            let (low, high) = exponents(model.a());
            let small = (-40).clamp(low, high);
            rest.fill_with(|| number(rng, model.a(), small));
        }
        _ => {}
    }
}

fn clear_lines(rng: &mut Rng, operands: &mut Operands) {
    let Operands { m, n, k, .. } = *operands;
    for i in 0..m {
        if rng.one_in(3) {
            (0..k).for_each(|p| operands.a[i + p * m] = 0);
        }
    }
    for j in 0..n {
        if rng.one_in(3) {
            (0..k).for_each(|p| operands.b[p + j * k] = 0);
        }
    }
}
