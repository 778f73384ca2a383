//! An oracle that somebody else wrote: the software floats of the Rust compiler (after LLVM's APFloat).
//!
//! It knows the IEEE-like formats and OCP's E4M3, so it can judge conversions, chains of fused multiply-adds, and the
//! additions of the pairwise scheme. What it cannot judge (FNUZ formats, aligned sums) is in `src/format/tests.rs` and
//! `tests/brute_force.rs`.

mod common;

use common::{Random, seed};
use mfma::format::{Class, decode, recode};
use mfma::model::Scheme;
use mfma::reference::dot_raw;
use mfma::{Arch, Format, Model, Overflow, Params, Rounding};
use rustc_apfloat::ieee::{
    BFloat, Double, Float8E4M3FN, Float8E5M2, Half, IeeeFloat, Quad, Semantics, Single,
};
use rustc_apfloat::{Float, FloatConvert, Round, Status, StatusAnd};

/// The 19 bits of a tf32 number.
struct Tf32S;

impl Semantics for Tf32S {
    const BITS: usize = 19;
    const EXP_BITS: usize = 8;
}

type Tf32 = IeeeFloat<Tf32S>;

const ROUNDINGS: [(Rounding, Round); 4] = [
    (Rounding::NearestEven, Round::NearestTiesToEven),
    (Rounding::TowardZero, Round::TowardZero),
    (Rounding::Down, Round::TowardNegative),
    (Rounding::Up, Round::TowardPositive),
];

/// Do two encodings stand for the same number, all NaNs taken as one?
fn same(format: Format, ours: u64, theirs: u64) -> bool {
    let nan = |bits| decode(format, bits).class == Class::Nan;
    ours == theirs || nan(ours) && nan(theirs)
}

/// Encodings of `from` whose values lie near the interesting places of `to`: ties, limits, subnormal numbers.
fn inputs(random: &mut Random, from: Format, to: Format) -> u64 {
    let bits = random.bits(from.info().storage_bits);
    let target = to.info();
    match random.below(4) {
        // Any bits.
        0 => bits,
        // A number of the target, a midpoint, or one ulp of the source beside either.
        1 | 2 => {
            let exponent = random.between(
                target.min_exponent() - target.fraction_bits as i32 - 2,
                target.max_exponent() + 1,
            );
            let field = exponent + from.info().bias;
            let top = (1 << from.info().exponent_bits) - 2;
            let whole = from.info().fraction_bits;
            let kept = (target.fraction_bits + 1).min(whole);
            let fraction = random.bits(kept) << (whole - kept);
            let code = (field.clamp(0, top) as u64) << whole | fraction;
            let code = code.saturating_add_signed(random.between(-1, 1).into());
            code | if bits & 1 == 1 {
                from.info().sign_bit()
            } else {
                0
            }
        }
        // Any significand, an exponent inside the target's range and a little beyond.
        _ => {
            let exponent = random.between(
                target.min_exponent() - target.fraction_bits as i32 - 3,
                target.max_exponent() + 3,
            );
            let top = (1 << from.info().exponent_bits) - 2;
            let field = (exponent + from.info().bias).clamp(0, top) as u64;
            let (whole, sign) = (from.info().fraction_bits, from.info().sign_bit());
            bits & (sign | ((1 << whole) - 1)) | field << whole
        }
    }
}

fn check_conversion<S: Float + FloatConvert<T>, T: Float>(from: Format, to: Format, cases: u32) {
    let mut random = Random::new(seed());
    for _ in 0..cases {
        let bits = inputs(&mut random, from, to);
        for (rounding, round) in ROUNDINGS {
            let theirs = S::from_bits(bits.into()).convert_r(round, &mut false).value;
            let theirs = theirs.to_bits() as u64;
            let theirs = theirs << to.info().ignored_bits;
            let ours = recode(from, to, bits, rounding, Overflow::Ieee);
            assert!(
                same(to, ours, theirs),
                "{from} {bits:x} to {to}, {rounding:?}: {ours:x}, not {theirs:x}"
            );
        }
    }
}

#[test]
fn conversions_from_binary64() {
    const CASES: u32 = 200_000;
    check_conversion::<Double, Single>(Format::Fp64, Format::Fp32, CASES);
    check_conversion::<Double, Tf32>(Format::Fp64, Format::Tf32, CASES);
    check_conversion::<Double, Half>(Format::Fp64, Format::Fp16, CASES);
    check_conversion::<Double, BFloat>(Format::Fp64, Format::Bf16, CASES);
    check_conversion::<Double, Float8E5M2>(Format::Fp64, Format::E5m2, CASES);
    check_conversion_to_e4m3::<Double>(Format::Fp64, CASES);
}

#[test]
fn conversions_from_binary32() {
    const CASES: u32 = 100_000;
    check_conversion::<Single, Double>(Format::Fp32, Format::Fp64, CASES);
    check_conversion::<Single, Tf32>(Format::Fp32, Format::Tf32, CASES);
    check_conversion::<Single, Half>(Format::Fp32, Format::Fp16, CASES);
    check_conversion::<Single, BFloat>(Format::Fp32, Format::Bf16, CASES);
    check_conversion::<Single, Float8E5M2>(Format::Fp32, Format::E5m2, CASES);
    check_conversion_to_e4m3::<Single>(Format::Fp32, CASES);
}

/// E4M3 rounds to nearest only here: on overflow in the other directions LLVM gives NaN where we keep 448.
fn check_conversion_to_e4m3<S: Float + FloatConvert<Float8E4M3FN>>(from: Format, cases: u32) {
    let mut random = Random::new(seed());
    for _ in 0..cases {
        let bits = inputs(&mut random, from, Format::E4m3);
        let theirs: Float8E4M3FN = S::from_bits(bits.into()).convert(&mut false).value;
        let theirs = theirs.to_bits() as u64;
        let ours = recode(
            from,
            Format::E4m3,
            bits,
            Rounding::NearestEven,
            Overflow::Ieee,
        );
        assert!(
            same(Format::E4m3, ours, theirs),
            "{from} {bits:x} to e4m3: {ours:x}, not {theirs:x}"
        );
    }
}

/// Numbers for a chain or a tree: exponents close enough together that the sums are interesting.
fn operand(random: &mut Random, format: Format, centre: i32) -> u64 {
    let info = format.info();
    let bits = random.bits(info.storage_bits);
    if random.below(8) == 0 {
        return bits;
    }
    let top = (1 << info.exponent_bits) - 1;
    let field = (centre + random.between(-14, 14) + info.bias).clamp(0, top) as u64;
    let fraction = match random.below(3) {
        0 => 0,
        1 => bits & ((1 << info.fraction_bits) - 1) & random.bits(info.fraction_bits),
        _ => bits & ((1 << info.fraction_bits) - 1),
    };
    bits & info.sign_bit() | field << info.fraction_bits | fraction
}

fn check_chain<F: Float>(model: &Model, cases: u32) {
    let format = model.output();
    let mut random = Random::new(seed());
    for _ in 0..cases {
        let emax = format.info().max_exponent();
        // Products around a centre; at times at the ends of the range.
        let centre = *random.pick(&[0, 0, emax / 2, -emax / 2, -emax / 2 - 12, emax - 3]);
        let k = 1 + random.below(4) as usize;
        let a: Vec<u64> = (0..k)
            .map(|_| operand(&mut random, format, centre))
            .collect();
        let b: Vec<u64> = (0..k)
            .map(|_| operand(&mut random, format, centre))
            .collect();
        let c = operand(&mut random, format, 2 * centre);
        'rounding: for (rounding, round) in ROUNDINGS {
            let params = Params {
                rounding,
                ..*model.params()
            };
            let custom = Model::from_params(params, format, format, format).unwrap();
            let ours = dot_raw(custom.unit(), &a, &b, c);
            let mut sum = F::from_bits(c.into());
            for (&a, &b) in a.iter().zip(&b) {
                let (a, b) = (F::from_bits(a.into()), F::from_bits(b.into()));
                let Some(next) = step(a.mul_add_r(b, sum, round)) else {
                    continue 'rounding;
                };
                sum = next;
            }
            let theirs = sum.to_bits() as u64;
            assert!(
                same(format, ours, theirs),
                "{format} {rounding:?} a={a:x?} b={b:x?} c={c:x}: {ours:x}, not {theirs:x}"
            );
        }
    }
}

/// A step's result; `None` where the oracle cannot say whether the unit overflows: matrix units overflow to infinity
/// from 2^(emax + 1) on, whatever the rounding, where IEEE arithmetic may return the largest number.
fn step<F: Float>(result: StatusAnd<F>) -> Option<F> {
    let unclear = result.value.is_largest() && result.status != Status::OK;
    (!unclear).then_some(result.value)
}

#[test]
fn chains_of_fused_multiply_adds() {
    for arch in [Arch::Cdna1, Arch::Cdna2, Arch::Cdna3] {
        let fp32 = Model::new(arch, Format::Fp32, Format::Fp32, Format::Fp32).unwrap();
        assert_eq!(fp32.params().scheme, Scheme::SequentialFma);
        check_chain::<Single>(&fp32, 20_000);
    }
    for arch in [Arch::Cdna2, Arch::Cdna3, Arch::Ampere, Arch::Hopper] {
        let fp64 = Model::new(arch, Format::Fp64, Format::Fp64, Format::Fp64).unwrap();
        assert_eq!(fp64.params().scheme, Scheme::SequentialFma);
        check_chain::<Double>(&fp64, 5_000);
    }
}

/// The pairwise scheme of CDNA 2 with the oracle's arithmetic: products formed exactly in binary128, rounded to
/// binary32, added two by two. `flush`: subnormal numbers become zeros, of a and b and c without their sign.
fn pairwise<F: Float + FloatConvert<Quad>>(
    [a, b]: [&[u64]; 2],
    c: u64,
    fma: usize,
    flush: bool,
    round: Round,
) -> Option<u64>
where
    Quad: FloatConvert<Single>,
{
    let flush_result = |x: Single| {
        if flush && x.is_denormal() {
            Single::ZERO.copy_sign(x)
        } else {
            x
        }
    };
    let input = |bits: u64| -> Quad {
        let x = F::from_bits(bits.into());
        if flush && x.is_denormal() {
            Quad::ZERO
        } else {
            x.convert(&mut false).value
        }
    };
    let add = |x: Single, y: Single| step(x.add_r(y, round)).map(flush_result);
    let product = |(&a, &b): (&u64, &u64)| -> Single {
        let exact = input(a) * input(b);
        assert!(exact.status == Status::OK || exact.value.is_nan());
        flush_result(exact.value.convert(&mut false).value)
    };
    let mut sum = Single::from_bits(c.into());
    for (a, b) in a.chunks(fma).zip(b.chunks(fma)) {
        let mut terms: Vec<Single> = a.iter().zip(b).map(product).collect();
        terms.resize(fma, Single::ZERO);
        while terms.len() > 1 {
            terms = terms
                .chunks(2)
                .map(|pair| add(pair[0], pair[1]))
                .collect::<Option<_>>()?;
        }
        if flush && sum.is_denormal() {
            sum = Single::ZERO;
        }
        sum = add(sum, terms[0])?;
    }
    Some(sum.to_bits() as u64)
}

fn check_pairwise<F: Float + FloatConvert<Quad>>(input: Format, cases: u32) {
    let cdna2 = Model::new(Arch::Cdna2, input, input, Format::Fp32).unwrap();
    let mut random = Random::new(seed());
    for case in 0..cases {
        let centre = match input {
            Format::Bf16 => *random.pick(&[0, 0, 62, -63, -70]),
            _ => *random.pick(&[0, 0, -10, 10]),
        };
        let k = 1 + random.below(9) as usize;
        let mut draw = || -> Vec<u64> {
            (0..k)
                .map(|_| operand(&mut random, input, centre))
                .collect()
        };
        let (a, b) = (draw(), draw());
        let c = operand(&mut random, Format::Fp32, 2 * centre);
        for (rounding, round) in ROUNDINGS {
            let flush = case % 2 == 0;
            let params = Params {
                rounding,
                fma: 1 << random.below(4),
                in_subnormals: !flush,
                out_subnormals: !flush,
                ..*cdna2.params()
            };
            let model = if (rounding, case % 4) == (Rounding::NearestEven, 0) {
                cdna2
            } else {
                Model::from_params(params, input, input, Format::Fp32).unwrap()
            };
            let fma = model.params().fma as usize;
            let ours = dot_raw(model.unit(), &a, &b, c);
            let Some(theirs) = pairwise::<F>([&a, &b], c, fma, flush, round) else {
                continue;
            };
            assert!(
                same(Format::Fp32, ours, theirs),
                "{input} N_FMA={fma} flush={flush} {rounding:?} a={a:x?} b={b:x?} c={c:x}: {ours:x}, not {theirs:x}"
            );
        }
    }
}

#[test]
fn pairwise_sums() {
    check_pairwise::<Half>(Format::Fp16, 20_000);
    check_pairwise::<BFloat>(Format::Bf16, 20_000);
}
