//! Inputs directed at what a matrix unit does: ties, cancellation, gaps, limits, ... Every case follows from a seed, the
//! name of a stream and its number.

use super::random::Rng;
use super::{Case, Shape};
use crate::format::{
    Class, Format, FormatInfo, Rounding, decode, from_f64, infinity, nan, to_f64, zero,
};

/// A kind of directed cases.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Directed {
    /// Any bits at all; three times in four with infinities and NaNs made finite.
    AnyBits,
    /// Products in a window of exponents, c near it.
    Window,
    /// Pairs of products that cancel, some of them not quite; c far below, or zero.
    Pairs,
    /// c is about minus the sum of the products.
    CancelledByC,
    /// One or two large terms, the others a chosen gap below.
    Gap,
    /// Around and below the smallest normal number of the output format, and of the inputs.
    Subnormal,
    /// Around the largest number of the output format, or of the inputs.
    Limits,
    /// Few terms that are not zero.
    Sparse,
    /// Infinities, NaNs, zeros and extremes among ordinary numbers.
    Specials,
    /// Powers of two and other short significands: ties and exact sums.
    Ties,
    /// A large term, half a unit in its last place, and single bits a swept gap below: the result lies on a rounding
    /// boundary or a little beside it, and the little is what units keep or lose.
    NearTies,
    /// Products that are all zero, and any c.
    OnlyC,
}

impl Directed {
    /// Case `index` of the stream `name`.
    pub fn case(self, shape: &Shape, seed: u64, name: &str, index: u64) -> Case {
        let mut rng = Rng::new(seed, name, index);
        let significands = rng.pick(&SIGNIFICANDS);
        let mut draw = Draw {
            rng: &mut rng,
            a: shape.a.info(),
            b: shape.b.info(),
            out: shape.output.info(),
            length: shape.k,
            significands,
        };
        let mut case = match self {
            _ if shape.k == 0 => draw.only_c(),
            Directed::OnlyC => draw.only_c(),
            Directed::AnyBits => draw.bits(),
            Directed::Window => draw.window(),
            Directed::Pairs => draw.pairs(),
            Directed::CancelledByC => draw.cancelled_by_c(),
            Directed::Gap => draw.gap(),
            Directed::Subnormal => draw.subnormal(),
            Directed::Limits => draw.limits(),
            Directed::Sparse => draw.sparse(),
            Directed::Specials => draw.specials(),
            Directed::Ties => draw.ties(),
            Directed::NearTies => draw.near_ties(),
        };
        fill_ignored_bits(&mut rng, shape.a, &mut case.a);
        fill_ignored_bits(&mut rng, shape.b, &mut case.b);
        case
    }
}

/// How significands are drawn within one case.
#[derive(Clone, Copy)]
enum Significands {
    Random,
    Ones,
    One,
    LastBit,
    FewBits,
    Mixed,
}

const SIGNIFICANDS: [Significands; 8] = [
    Significands::Random,
    Significands::Random,
    Significands::Random,
    Significands::Ones,
    Significands::One,
    Significands::LastBit,
    Significands::FewBits,
    Significands::Mixed,
];

fn fraction(rng: &mut Rng, how: Significands, bits: u32) -> u64 {
    let mask = (1u64 << bits) - 1;
    match how {
        Significands::Random => rng.next() & mask,
        Significands::Ones => mask,
        Significands::One => 0,
        Significands::LastBit => 1,
        Significands::FewBits => (rng.next() & 3) << (bits - 2),
        Significands::Mixed => {
            let how = SIGNIFICANDS[rng.range(0, 6) as usize];
            fraction(rng, how, bits)
        }
    }
}

/// The number +-1.fraction * 2^exponent; below the normal range it loses its last bits, above the exponent is cut.
fn encode(info: &FormatInfo, negative: bool, exponent: i32, fraction: u64) -> u64 {
    let hidden = 1u64 << info.fraction_bits;
    let exponent = exponent.min(info.max_exponent());
    let below = info.min_exponent() - exponent;
    let code = if below > 0 {
        (hidden | fraction).checked_shr(below as u32).unwrap_or(0)
    } else {
        ((exponent + info.bias) as u64) << info.fraction_bits | fraction
    };
    if code == 0 {
        // A format without negative zero would make a NaN of it.
        return zero(info.format, negative);
    }
    let sign = if negative { info.sign_bit() } else { 0 };
    // The largest exponent of E4M3 has one encoding that is a NaN.
    sign | (code << info.ignored_bits).min(info.max_finite())
}

fn lowest(info: &FormatInfo) -> i32 {
    info.min_exponent() - info.fraction_bits as i32
}

/// What a sampler works with.
struct Draw<'a> {
    rng: &'a mut Rng,
    a: &'static FormatInfo,
    b: &'static FormatInfo,
    out: &'static FormatInfo,
    length: usize,
    significands: Significands,
}

impl Draw<'_> {
    fn zero_case(&mut self) -> Case {
        Case {
            a: vec![0; self.length],
            b: vec![0; self.length],
            c: 0,
        }
    }

    /// The range of exponents that products of normal and subnormal numbers can have.
    fn product_range(&self) -> (i32, i32) {
        (
            lowest(self.a) + lowest(self.b),
            self.a.max_exponent() + self.b.max_exponent(),
        )
    }

    /// Factors whose exponents add up to about `exponent`, as far as the formats allow.
    fn factors(&mut self, exponent: i32) -> (u64, u64) {
        let (a, b) = (self.a, self.b);
        let low = (exponent - b.max_exponent()).clamp(lowest(a), a.max_exponent());
        let high = (exponent - lowest(b)).clamp(low, a.max_exponent());
        let ea = self.rng.range(low, high);
        let eb = (exponent - ea).clamp(lowest(b), b.max_exponent());
        let fa = fraction(self.rng, self.significands, a.fraction_bits);
        let fb = fraction(self.rng, self.significands, b.fraction_bits);
        let signs = self.rng.next();
        (
            encode(a, signs & 1 != 0, ea, fa),
            encode(b, signs & 2 != 0, eb, fb),
        )
    }

    fn addend(&mut self, exponent: i32) -> u64 {
        let significands = self.significands;
        let fraction = fraction(self.rng, significands, self.out.fraction_bits);
        let negative = self.rng.once_in(2);
        let exponent = exponent.clamp(lowest(self.out), self.out.max_exponent());
        encode(self.out, negative, exponent, fraction)
    }

    fn signed_zero(&mut self, info: &FormatInfo) -> u64 {
        let negative = self.rng.once_in(2);
        zero(info.format, negative)
    }

    /// A random exponent at which products and the output format meet.
    fn center(&mut self) -> i32 {
        let (low, high) = self.product_range();
        let low = low.max(lowest(self.out) - 20);
        let high = high.min(self.out.max_exponent()).max(low);
        self.rng.range(low, high)
    }

    /// Any bits at all; three times in four with infinities and NaNs made finite.
    fn bits(&mut self) -> Case {
        let keep = self.rng.once_in(4);
        let one = |rng: &mut Rng, info: &FormatInfo| {
            let top = 1u64 << (info.exponent_bits - 1 + info.fraction_bits + info.ignored_bits);
            let bits = rng.next() & (info.sign_bit() | (info.sign_bit() - 1));
            let finite = matches!(decode(info.format, bits).class, Class::Zero | Class::Finite);
            if keep || finite { bits } else { bits & !top }
        };
        Case {
            a: (0..self.length).map(|_| one(self.rng, self.a)).collect(),
            b: (0..self.length).map(|_| one(self.rng, self.b)).collect(),
            c: one(self.rng, self.out),
        }
    }

    /// Products in a window of exponents, c near it.
    fn window(&mut self) -> Case {
        let center = self.center();
        self.window_at(center)
    }

    fn window_at(&mut self, center: i32) -> Case {
        let width = self.rng.pick(&[0, 1, 2, 4, 8, 16, 32]);
        let mut case = self.zero_case();
        for i in 0..self.length {
            let exponent = center - self.rng.range(0, width);
            (case.a[i], case.b[i]) = self.factors(exponent);
        }
        let offset = self.rng.range(-32, 8);
        case.c = match self.rng.range(0, 3) {
            0 => self.signed_zero(self.out),
            1 => self.addend(center),
            _ => self.addend(center + offset),
        };
        case
    }

    /// Pairs of products that cancel, some of them not quite; c far below, or zero.
    fn pairs(&mut self) -> Case {
        let mut case = self.window();
        let order = self.rng.order(self.length);
        for pair in order.chunks_exact(2) {
            let (from, to) = (pair[0], pair[1]);
            case.a[to] = case.a[from];
            case.b[to] = case.b[from] ^ self.b.sign_bit();
            if self.rng.once_in(4) {
                let last = 1u64 << self.a.ignored_bits;
                case.a[to] ^= last << self.rng.range(0, self.a.fraction_bits as i32);
            }
        }
        let center = self.center();
        if self.rng.once_in(2) {
            case.c = self.addend(center);
        }
        self.finite(case)
    }

    /// c is about minus the sum of the products.
    fn cancelled_by_c(&mut self) -> Case {
        let mut case = self.window();
        let alive = self.rng.range(1, self.length as i32) as usize;
        for i in alive..self.length {
            case.a[i] = self.signed_zero(self.a);
        }
        let sum: f64 = (0..alive)
            .map(|i| to_f64(self.a.format, case.a[i]) * to_f64(self.b.format, case.b[i]))
            .sum();
        let c = from_f64(self.out.format, -sum, Rounding::TowardZero);
        let offset = self.rng.range(-2, 2);
        let moved = c.wrapping_add_signed(offset.into());
        case.c = if c & (self.out.sign_bit() - 1) < 4 {
            c
        } else {
            moved
        };
        self.finite(case)
    }

    /// One or two large terms, the others a chosen gap below.
    fn gap(&mut self) -> Case {
        let center = self.center();
        let gap = self
            .rng
            .range(0, 44.max(2 * self.out.fraction_bits as i32 + 6));
        let mut case = self.zero_case();
        for i in 0..self.length {
            let exponent = center - gap - self.rng.range(0, 2);
            (case.a[i], case.b[i]) = self.factors(exponent);
        }
        case.c = self.addend(center - gap);
        let large = self.rng.range(1, 3);
        if large == 3 {
            case.c = self.addend(center);
        } else {
            let first = self.rng.range(0, self.length as i32 - 1) as usize;
            (case.a[first], case.b[first]) = self.factors(center);
            let second = self.rng.range(0, self.length as i32 - 1) as usize;
            if large == 2 && second != first {
                case.a[second] = case.a[first] ^ self.a.sign_bit();
                case.b[second] = case.b[first];
            }
        }
        if self.rng.once_in(3) {
            case.c = self.signed_zero(self.out);
        }
        self.finite(case)
    }

    /// Around and below the smallest normal number of the output format, and of the inputs.
    fn subnormal(&mut self) -> Case {
        let smallest = self.out.min_exponent();
        let center = smallest + self.rng.range(-(self.out.fraction_bits as i32) - 12, 4);
        let mut case = self.window_at(center);
        for i in 0..self.length {
            if self.rng.once_in(6) {
                case.a[i] = self.signed_zero(self.a);
            }
        }
        let exponent = smallest - self.rng.range(-2, self.out.fraction_bits as i32);
        case.c = match self.rng.range(0, 2) {
            0 => self.signed_zero(self.out),
            _ => self.addend(exponent),
        };
        case
    }

    /// Around the largest number of the output format, or of the inputs.
    fn limits(&mut self) -> Case {
        let (_, top) = self.product_range();
        let top = top.min(self.out.max_exponent() + 1);
        let below = self.rng.range(0, 6);
        let mut case = self.window_at(top - below);
        let near = self.out.max_exponent() - self.rng.pick(&[0, 0, 0, 1, 2, 8]);
        if self.rng.once_in(2) {
            case.c = self.addend(near);
        }
        if self.rng.once_in(2) {
            // All of one sign.
            for i in 0..self.length {
                case.a[i] &= !self.a.sign_bit();
                case.b[i] &= !self.b.sign_bit();
            }
            case.c &= !self.out.sign_bit();
        }
        case
    }

    /// Few terms that are not zero.
    fn sparse(&mut self) -> Case {
        let mut case = self.window();
        for i in 0..self.length {
            if !self.rng.once_in(8) {
                case.a[i] = self.signed_zero(self.a);
            }
            if self.rng.once_in(16) {
                case.b[i] = self.signed_zero(self.b);
            }
        }
        if self.rng.once_in(2) {
            case.c = self.signed_zero(self.out);
        }
        case
    }

    fn special(&mut self, info: &FormatInfo) -> u64 {
        let negative = self.rng.once_in(2);
        let sign = if negative { info.sign_bit() } else { 0 };
        match self.rng.range(0, 6) {
            0 | 1 => infinity(info.format, negative),
            2 => nan(info.format, negative),
            3 => {
                // A NaN with another payload, signalling or not.
                let bits = info.fraction_bits + info.ignored_bits;
                let payload = self.rng.next() & ((1 << bits) - 1);
                infinity(info.format, negative) | payload | 1
            }
            4 => sign,
            5 => sign | info.max_finite(),
            _ => sign | 1 << info.ignored_bits,
        }
    }

    /// Infinities, NaNs, zeros and extremes among ordinary numbers.
    fn specials(&mut self) -> Case {
        let mut case = self.window();
        for _ in 0..self.rng.range(1, 3) {
            let i = self.rng.range(0, self.length as i32 - 1) as usize;
            match self.rng.range(0, 2) {
                0 => case.a[i] = self.special(self.a),
                1 => case.b[i] = self.special(self.b),
                _ => case.c = self.special(self.out),
            }
        }
        case
    }

    /// Powers of two and other short significands: ties and exact sums.
    fn ties(&mut self) -> Case {
        self.significands = self.rng.pick(&[Significands::One, Significands::FewBits]);
        let center = self.center();
        let bits = self.out.fraction_bits as i32;
        let spread = self
            .rng
            .pick(&[2, 12, 14, 24, 26, 30, bits, bits + 1, bits + 2]);
        let mut case = self.zero_case();
        for i in 0..self.length {
            if self.rng.once_in(2) {
                let exponent = center - self.rng.range(0, spread);
                (case.a[i], case.b[i]) = self.factors(exponent);
            }
        }
        let exponent = center - self.rng.range(0, spread);
        case.c = match self.rng.range(0, 2) {
            0 => self.signed_zero(self.out),
            _ => self.addend(exponent),
        };
        case
    }

    /// Products whose sum is exactly +-2^exponent or close: factors without fraction bits.
    fn power(&mut self, negative: bool, exponent: i32) -> (u64, u64) {
        let (a, b) = (self.a, self.b);
        let low = (exponent - b.max_exponent()).clamp(lowest(a), a.max_exponent());
        let high = (exponent - lowest(b)).clamp(low, a.max_exponent());
        let ea = self.rng.range(low, high);
        let eb = (exponent - ea).clamp(lowest(b), b.max_exponent());
        let flip = self.rng.once_in(2);
        (encode(a, flip, ea, 0), encode(b, flip != negative, eb, 0))
    }

    fn near_ties(&mut self) -> Case {
        let mut case = self.zero_case();
        let order = self.rng.order(self.length);
        let mut free = order.into_iter();
        let bits = self.out.fraction_bits as i32;
        let center = self.center();
        let negative = self.rng.once_in(2);
        // The large term: c or a product, a power of two or not.
        let c_is_large = self.rng.once_in(2);
        if !self.rng.once_in(3) {
            self.significands = self.rng.pick(&[Significands::One, Significands::Ones]);
        }
        if c_is_large {
            let magnitude = self.addend(center) & (self.out.sign_bit() - 1);
            case.c = magnitude | if negative { self.out.sign_bit() } else { 0 };
        } else if let Some(i) = free.next() {
            (case.a[i], case.b[i]) = if self.rng.once_in(2) {
                self.factors(center)
            } else {
                self.power(negative, center)
            };
        }
        // Half a unit in the last place, of this binade or of the one below, then single bits below it.
        let half = center - bits - self.rng.range(0, 2);
        let against = self.rng.once_in(2);
        if let Some(i) = free.next() {
            (case.a[i], case.b[i]) = self.power(negative != against, half);
        }
        let gap = self.rng.range(1, 14);
        for _ in 0..self.rng.range(1, 3) {
            let Some(i) = free.next() else { break };
            let same = self.rng.once_in(2);
            let below = half - gap + self.rng.pick(&[0, 0, 0, 1, -1]);
            (case.a[i], case.b[i]) = self.power(negative != same, below);
        }
        // A run of ones that carries down to the gap, as in the paper's section 4.3.1.
        if self.rng.once_in(4) {
            for exponent in half - gap..half - 1 {
                let Some(i) = free.next() else { break };
                (case.a[i], case.b[i]) = self.power(negative != against, exponent);
            }
        }
        if !c_is_large {
            case.c = match self.rng.range(0, 3) {
                0 => self.signed_zero(self.out),
                1 => self.addend(half),
                _ => self.addend(half - gap),
            };
        }
        case
    }

    /// One factor of each product is a zero; c is as often subnormal as not.
    fn only_c(&mut self) -> Case {
        let mut case = self.zero_case();
        for i in 0..self.length {
            let center = self.center();
            let (a, b) = self.factors(center);
            (case.a[i], case.b[i]) = match self.rng.range(0, 2) {
                0 => (a, self.signed_zero(self.b)),
                1 => (self.signed_zero(self.a), b),
                _ => (self.signed_zero(self.a), self.signed_zero(self.b)),
            };
        }
        let least = self.out.min_exponent();
        let exponent = if self.rng.once_in(2) {
            self.rng.range(lowest(self.out), least)
        } else {
            self.rng.range(least, self.out.max_exponent())
        };
        case.c = self.addend(exponent);
        case
    }

    /// Replaces what became an infinity or a NaN by zero.
    fn finite(&self, mut case: Case) -> Case {
        let keep = |info: &FormatInfo, x: &mut u64| {
            if matches!(decode(info.format, *x).class, Class::Infinite | Class::Nan) {
                *x = 0;
            }
        };
        case.a.iter_mut().for_each(|x| keep(self.a, x));
        case.b.iter_mut().for_each(|x| keep(self.b, x));
        keep(self.out, &mut case.c);
        case
    }
}

/// In one case of four, the bits of a tf32 word that the unit does not read are random.
fn fill_ignored_bits(rng: &mut Rng, format: Format, x: &mut [u64]) {
    let ignored = format.info().ignored_bits;
    if ignored == 0 || !rng.once_in(4) {
        return;
    }
    for bits in x {
        // An infinity would become a NaN.
        if decode(format, *bits).class != Class::Infinite {
            *bits ^= rng.next() & ((1 << ignored) - 1);
        }
    }
}
