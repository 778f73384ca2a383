//! Short products of 8-bit numbers, all of them or a stated cover, against a second model written here from the paper's
//! words and sharing nothing with the library.
//!
//! Its numbers are dyadic rationals held in binary64. No significand here needs more than 40 bits and no exponent leaves
//! -300 to 300, so every operation of the model but the last rounding is exact (the sums are checked), and the model can
//! say what the paper says: "shift to the largest exponent, cut, add" is `(x / grid).trunc() * grid`.
//!
//! * One product: all 2^16 pairs of encodings of all format pairs, with every c of [`SINGLE`] or [`HALF`].
//! * Two products, neighbours (0, 1) or one apart (0, 2), which puts them into different or equal groups of CDNA 3 and
//!   into equal or different halves of mma.sync: all 2^16 pairs of a's, with b's and c from the short list [`FACTORS`].

mod common;

use mfma::reference::dot_raw;
use mfma::{Arch, Format, Model};

/// 2^`exponent`.
fn pow2(exponent: i32) -> f64 {
    assert!((-1022..=1023).contains(&exponent));
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// A number of a format: its value and the exponent that alignment sees. A subnormal number has its format's smallest.
#[derive(Clone, Copy)]
struct Number {
    value: f64,
    exponent: i32,
}

/// Exponent bits, fraction bits, bias of a format.
fn layout(format: Format) -> (i32, i32, i32) {
    match format {
        Format::E4m3 => (4, 3, 7),
        Format::E5m2 => (5, 2, 15),
        Format::E4m3Fnuz => (4, 3, 8),
        Format::E5m2Fnuz => (5, 2, 16),
        Format::Fp16 => (5, 10, 15),
        Format::Fp32 => (8, 23, 127),
        _ => unreachable!(),
    }
}

fn number(format: Format, bits: u64) -> Number {
    let (e, f, bias) = layout(format);
    let sign = if bits >> (e + f) & 1 == 1 { -1.0 } else { 1.0 };
    let field = (bits >> f & ((1 << e) - 1)) as i32;
    let fraction = (bits & ((1 << f) - 1)) as f64 * pow2(-f);
    let special = match format {
        Format::E4m3 if bits & 0x7f == 0x7f => Some(f64::NAN),
        Format::E4m3Fnuz | Format::E5m2Fnuz if bits == 0x80 => Some(f64::NAN),
        Format::E4m3 | Format::E4m3Fnuz | Format::E5m2Fnuz => None,
        _ if field == (1 << e) - 1 && fraction == 0.0 => Some(f64::INFINITY),
        _ if field == (1 << e) - 1 => Some(f64::NAN),
        _ => None,
    };
    let (value, exponent) = match (special, field) {
        (Some(special), _) => (special, 0),
        (None, 0) => (fraction * pow2(1 - bias), 1 - bias),
        (None, _) => ((1.0 + fraction) * pow2(field - bias), field - bias),
    };
    Number {
        value: sign * value,
        exponent,
    }
}

/// The same number after a conversion to binary16, which is how mma.sync multiplies 8-bit inputs.
fn in_binary16(x: Number) -> Number {
    if x.value == 0.0 || !x.value.is_finite() {
        return x;
    }
    Number {
        exponent: leading(x.value).max(-14),
        ..x
    }
}

/// Cut to a multiple of 2^`unit`, toward zero.
fn cut(x: f64, unit: i32) -> f64 {
    (x / pow2(unit)).trunc() * pow2(unit)
}

/// To a multiple of 2^`unit`, toward minus infinity.
fn down(x: f64, unit: i32) -> f64 {
    (x / pow2(unit)).floor() * pow2(unit)
}

fn sum(terms: impl IntoIterator<Item = f64>) -> f64 {
    terms.into_iter().fold(0.0, |x, y| {
        let sum = x + y;
        assert!(sum - x == y && sum - y == x, "{x:e} + {y:e} is not exact");
        sum
    })
}

/// Exponent of the leading bit.
fn leading(x: f64) -> i32 {
    (x.to_bits() >> 52 & 0x7ff) as i32 - 1023
}

/// How a unit adds.
#[derive(Clone, Copy, PartialEq)]
enum Unit {
    /// Products and c aligned together, cut to this many bits; the largest exponent is not below the limit.
    Together { bits: i32, limit: i32 },
    /// CDNA 3, Algorithm 2; and the toolbox's variant, which keeps 31 bits of a shifted sum and rounds once.
    OddEven { toolbox: bool },
    /// Elements with index mod 4 below 2, then the others, each `Together`; c last.
    Halves { bits: i32, limit: i32 },
}

#[derive(Clone, Copy, PartialEq)]
enum Last {
    Nearest,
    /// Toward zero, keeping this many fraction bits.
    Cut(i32),
}

struct Theirs {
    unit: Unit,
    last: Last,
    output: Format,
    /// Sign of NaN, and of nonzero results that round to zero.
    amd: bool,
}

impl Theirs {
    /// The result of one block as a number of the output format; NaN for NaN.
    fn dot(&self, products: &[Number], c: Number) -> f64 {
        if let Unit::Halves { bits, limit } = self.unit {
            let inner = Theirs {
                unit: Unit::Together { bits, limit },
                ..*self
            };
            let half = |first: usize| -> Vec<Number> {
                let chosen = products
                    .iter()
                    .enumerate()
                    .filter(|(i, _)| i % 4 / 2 == first);
                chosen.map(|(_, &product)| product).collect()
            };
            let mut d = 0.0;
            for first in [0, 1] {
                d = inner.dot(&half(first), self.as_number(d));
            }
            return self.add(c.value, d);
        }
        let special = products
            .iter()
            .map(|p| p.value)
            .chain([c.value])
            .filter(|x| !x.is_finite());
        if let Some(special) = special.reduce(|x, y| x + y) {
            return special;
        }
        let total = match self.unit {
            Unit::Together { bits, limit } => together(products, c, bits, limit),
            Unit::OddEven { toolbox } => odd_even(products, c, toolbox),
            Unit::Halves { .. } => unreachable!(),
        };
        self.round(total)
    }

    /// A result between blocks, with the exponent that it has in the output format.
    fn as_number(&self, value: f64) -> Number {
        let (_, _, bias) = layout(self.output);
        Number {
            value,
            exponent: leading(value).max(1 - bias),
        }
    }

    /// The final rounding.
    fn round(&self, total: f64) -> f64 {
        let result = match (self.output, self.last) {
            (Format::Fp32, Last::Nearest) => f64::from(total as f32),
            (Format::Fp32, Last::Cut(bits)) => {
                let cut = cut(total, leading(total).max(-126) - bits);
                if cut.abs() >= pow2(128) {
                    f64::INFINITY.copysign(cut)
                } else {
                    cut
                }
            }
            (Format::Fp16, Last::Nearest) => to_half(total),
            _ => unreachable!(),
        };
        if result == 0.0 && !(self.amd && total < 0.0) {
            0.0
        } else {
            result
        }
    }

    /// IEEE addition in the output format; binary64 holds the sums of binary16 numbers exactly.
    fn add(&self, x: f64, y: f64) -> f64 {
        match self.output {
            Format::Fp32 => f64::from(x as f32 + y as f32),
            _ => to_half(x + y),
        }
    }

    fn encode(&self, x: f64) -> u64 {
        let nan = |bits: u64, sign: u64| if self.amd { bits | sign } else { sign - 1 };
        match self.output {
            Format::Fp32 if x.is_nan() => nan(0x7fc0_0000, 1 << 31),
            Format::Fp32 => (x as f32).to_bits().into(),
            _ if x.is_nan() => nan(0x7e00, 1 << 15),
            _ => {
                let half = HALVES.with(|halves| halves.partition_point(|&h| h < x.abs()));
                half as u64 | if x.is_sign_negative() { 1 << 15 } else { 0 }
            }
        }
    }
}

thread_local! {
    /// All binary16 magnitudes by their encoding, infinity last.
    static HALVES: Vec<f64> = (0..=0x7c00).map(|bits| number(Format::Fp16, bits).value).collect();
}

/// To the nearest binary16 number, ties to even, by search.
fn to_half(x: f64) -> f64 {
    HALVES.with(|halves| {
        let above = halves.partition_point(|&h| h < x.abs());
        let magnitude = if above == 0 || halves.get(above) == Some(&x.abs()) {
            x.abs()
        } else {
            let below = halves[above - 1];
            // For rounding, infinity stands where the next number would be.
            let next = if halves[above].is_infinite() {
                65536.0
            } else {
                halves[above]
            };
            let middle = (below + next) / 2.0;
            if x.abs() > middle || x.abs() == middle && above % 2 == 0 {
                halves[above]
            } else {
                below
            }
        };
        magnitude.copysign(x)
    })
}

fn together(products: &[Number], c: Number, bits: i32, limit: i32) -> f64 {
    let terms = || products.iter().chain([&c]).filter(|term| term.value != 0.0);
    let Some(largest) = terms().map(|term| term.exponent).max() else {
        return 0.0;
    };
    let unit = largest.max(limit) - bits;
    sum(terms().map(|term| cut(term.value, unit)))
}

fn odd_even(products: &[Number], c: Number, toolbox: bool) -> f64 {
    let group = |first: usize| -> Option<(f64, i32)> {
        let terms = || {
            products
                .iter()
                .skip(first)
                .step_by(2)
                .filter(|term| term.value != 0.0)
        };
        let largest = terms().map(|term| term.exponent).max()?;
        Some((
            sum(terms().map(|term| cut(term.value, largest - 24))),
            largest,
        ))
    };
    let groups: Vec<(f64, i32)> = [group(0), group(1)].into_iter().flatten().collect();
    let c_exponent = if c.value == 0.0 { -126 } else { c.exponent };
    let Some(largest) = groups.iter().map(|group| group.1).max() else {
        return c.value;
    };
    let products = sum(groups.iter().map(|group| down(group.0, largest - 24)));
    if largest >= c_exponent {
        let c = if largest - c_exponent <= 25 {
            down(c.value, largest - 24)
        } else {
            0.0
        };
        return sum([products, c]);
    }
    let kept = if toolbox { 31 } else { 32 };
    let total = sum([down(products, c_exponent - kept), c.value]);
    if toolbox || total == 0.0 {
        return total;
    }
    down(total, leading(total).max(-126) - 31)
}

/// A unit of the library next to the model of it, and the numbers of the two input formats by their encodings.
struct Pair {
    ours: Model,
    theirs: Theirs,
    a: Vec<Number>,
    b: Vec<Number>,
}

fn pairs_of(formats: [Format; 2], unit: impl Fn(Format, Format) -> (Model, Theirs)) -> Vec<Pair> {
    let [x, y] = formats;
    [[x, x], [y, y], [x, y], [y, x]]
        .map(|[a, b]| {
            let (ours, theirs) = unit(a, b);
            let as_binary16 = matches!(theirs.unit, Unit::Halves { .. });
            let numbers = |format| {
                let numbers = (0..256).map(|bits| number(format, bits));
                numbers
                    .map(|x| if as_binary16 { in_binary16(x) } else { x })
                    .collect()
            };
            let (a, b) = (numbers(a), numbers(b));
            Pair { ours, theirs, a, b }
        })
        .into()
}

const FNUZ: [Format; 2] = [Format::E4m3Fnuz, Format::E5m2Fnuz];
const OCP: [Format; 2] = [Format::E4m3, Format::E5m2];

fn cdna3(toolbox: bool) -> Vec<Pair> {
    let arch = if toolbox {
        Arch::Cdna3Toolbox
    } else {
        Arch::Cdna3
    };
    pairs_of(FNUZ, |a, b| {
        let theirs = Theirs {
            unit: Unit::OddEven { toolbox },
            last: Last::Nearest,
            output: Format::Fp32,
            amd: true,
        };
        (Model::new(arch, a, b, Format::Fp32).unwrap(), theirs)
    })
}

/// The NVIDIA units of Table 3 with 8-bit inputs: alignment bits, final rounding and limit for both outputs.
fn nvidia(arch: Arch, output: Format) -> Vec<Pair> {
    let bits = if matches!(arch, Arch::Ada | Arch::Hopper) {
        13
    } else {
        25
    };
    let limit = match (arch, output) {
        (Arch::Ada, Format::Fp32) => -132,
        (Arch::Ada, _) => -20,
        (_, Format::Fp32) => -133,
        _ => -21,
    };
    let last = match (arch, output) {
        (Arch::BlackwellRn, _) | (_, Format::Fp16) => Last::Nearest,
        _ => Last::Cut(bits.min(23)),
    };
    pairs_of(OCP, |a, b| {
        let unit = Unit::Together { bits, limit };
        let theirs = Theirs {
            unit,
            last,
            output,
            amd: false,
        };
        (Model::new(arch, a, b, output).unwrap(), theirs)
    })
}

fn mma_sync(arch: Arch, output: Format) -> Vec<Pair> {
    let (d, limit, last) = match output {
        Format::Fp32 => ("f32", -133, Last::Cut(23)),
        _ => ("f16", -21, Last::Nearest),
    };
    pairs_of(OCP, |a, b| {
        let name = format!("mma.sync.aligned.m16n8k32.row.col.{d}.{a}.{b}.{d}");
        let unit = Unit::Halves { bits: 25, limit };
        let theirs = Theirs {
            unit,
            last,
            output,
            amd: false,
        };
        (Model::from_instruction(&name, arch).unwrap(), theirs)
    })
}

/// c with binary32 output: zeros, ends of the range, and numbers around, far below and far above the products.
#[rustfmt::skip]
const SINGLE: [u32; 15] = [
    0x0000_0000, 0x8000_0000, 0x8000_0001, 0x0080_0000, // +0, -0, -2^-149, 2^-126
    0x2f7f_ffff, 0xb340_0001, 0x3380_0000, 0xbfc0_0001, // about 2^-32, -2^-25, 2^-24, -1.5
    0x45aa_aaab, 0xcf7f_ffff, 0x4e80_0000, 0x5a12_3457, // about 5461, -2^32, 2^30, 10^16
    0xff7f_ffff, 0x7f80_0000, 0x7fc0_0000,
];

/// c with binary16 output.
#[rustfmt::skip]
const HALF: [u32; 13] = [
    0x0000, 0x8000, 0x8001, 0x03ff, 0x0c01, 0x97ff, 0xbc01, 0x3e55, 0x7800, 0xfbff, 0x7400, 0x7c00, 0x7e00,
];

/// Encodings of the b's of two products, and the index of c in its list. 40 is 1 in the FNUZ formats, 2 in the others.
#[rustfmt::skip]
const FACTORS: [[u64; 3]; 9] = [
    [0x38, 0x38, 0], [0x38, 0xb8, 4], // equal, opposite
    [0x79, 0x03, 5], [0x01, 0x81, 0], // far apart, tiny and opposite
    [0x39, 0xbb, 6], [0x40, 0x31, 7], // c of the products' size
    [0x3c, 0x3d, 9], [0x78, 0xf8, 8], // c larger; large and opposite
    [0x40, 0x40, 10], // c a power of two: the sum may fall into the binade below
];

fn addends(output: Format) -> &'static [u32] {
    match output {
        Format::Fp32 => &SINGLE,
        _ => &HALF,
    }
}

fn check(pair: &Pair, a: &[u64], b: &[u64], c: u64) {
    let Pair { ours, theirs, .. } = pair;
    let product = |(&a, &b): (&u64, &u64)| {
        let (a, b) = (pair.a[a as usize], pair.b[b as usize]);
        Number {
            value: a.value * b.value,
            exponent: a.exponent + b.exponent,
        }
    };
    let products: Vec<Number> = a.iter().zip(b).map(product).collect();
    let expected = theirs.encode(theirs.dot(&products, number(theirs.output, c)));
    let result = dot_raw(ours.unit(), a, b, c);
    assert!(
        result == expected,
        "{} x {} -> {} a={a:02x?} b={b:02x?} c={c:x}: {result:x}, not {expected:x}",
        ours.a(),
        ours.b(),
        theirs.output
    );
}

fn single_products(pairs: &[Pair]) {
    for pair in pairs {
        for a in 0..256 {
            for b in 0..256 {
                for &c in addends(pair.theirs.output) {
                    check(pair, &[a], &[b], c.into());
                }
            }
        }
    }
}

fn two_products(pairs: &[Pair]) {
    for pair in pairs {
        let addends = addends(pair.theirs.output);
        for (i, [b1, b2, c]) in FACTORS.into_iter().enumerate() {
            let c = addends[c as usize].into();
            for a1 in 0..256 {
                for a2 in 0..256 {
                    if i % 2 == 0 {
                        check(pair, &[a1, a2], &[b1, b2], c);
                    } else {
                        check(pair, &[a1, 0, a2], &[b1, 0x38, b2], c);
                    }
                }
            }
        }
    }
}

macro_rules! units {
    ($($name:ident: $pairs:expr;)*) => {$(
        mod $name {
            use super::*;

            #[test]
            fn one_product() {
                single_products(&$pairs);
            }

            #[test]
            fn pairs_of_products() {
                two_products(&$pairs);
            }
        }
    )*};
}

units! {
    cdna3_fp8: cdna3(false);
    cdna3_toolbox_fp8: cdna3(true);
    ada_to_fp32: nvidia(Arch::Ada, Format::Fp32);
    ada_to_fp16: nvidia(Arch::Ada, Format::Fp16);
    hopper_to_fp32: nvidia(Arch::Hopper, Format::Fp32);
    hopper_to_fp16: nvidia(Arch::Hopper, Format::Fp16);
    blackwell_to_fp32: nvidia(Arch::Blackwell, Format::Fp32);
    blackwell_to_fp16: nvidia(Arch::Blackwell, Format::Fp16);
    blackwell_rn_to_fp32: nvidia(Arch::BlackwellRn, Format::Fp32);
    mma_sync_to_fp32: mma_sync(Arch::Blackwell, Format::Fp32);
    mma_sync_to_fp16: mma_sync(Arch::Hopper, Format::Fp16);
}
