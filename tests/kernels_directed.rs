//! Cases that random operands seldom meet: blocks along K that differ in what their rows need, and exponents at the ends of
//! what packing keeps. Each goes wrong if one step of the aligning kernels is left out.

#[path = "common/engine.rs"]
mod engine;
#[path = "common/generators.rs"]
mod generators;

use engine::{compute, difference, expected, levels, one_at_a_time};
use generators::{ALL, Operands, Rng, draw};
use mfma::format::from_f64;
use mfma::kernel::force_level;
use mfma::model::Params;
use mfma::{Arch, Format, Model, Rounding};

const INFINITY: u64 = 0x7f80_0000;

fn unit(arch: Arch, format: Format) -> Model {
    Model::new(arch, format, format, Format::Fp32).unwrap()
}

/// Units of different block sizes, with 8 bits of exponent.
fn wide_units() -> [Model; 3] {
    [
        unit(Arch::Cdna3, Format::Bf16),
        unit(Arch::Ampere, Format::Tf32),
        unit(Arch::Hopper, Format::Bf16),
    ]
}

fn two(exponent: i32) -> f64 {
    2f64.powi(exponent)
}

/// Zeros but for some places.
fn zeros_but(count: usize, places: &[(usize, f64)]) -> Vec<f64> {
    let mut numbers = vec![0.0; count];
    for &(at, x) in places {
        numbers[at] = x;
    }
    numbers
}

/// Every level against the reference, whose results come back.
fn check_operands(model: &Model, operands: &Operands) -> Vec<u64> {
    let want = expected(model, operands);
    for level in levels() {
        assert!(force_level(Some(level)));
        let text = difference(operands, &want, &compute(model, operands));
        assert_eq!(text, None, "{model:?} on {level:?}");
    }
    force_level(None);
    want
}

/// The same for numbers: A of m rows, B of n columns, C of binary32, all column-major.
fn check(model: &Model, (m, n): (usize, usize), a: &[f64], b: &[f64], c: &[f32]) -> Vec<u64> {
    let encode = |format, numbers: &[f64]| -> Vec<u64> {
        let encoding = |&x| from_f64(format, x, Rounding::NearestEven);
        numbers.iter().map(encoding).collect()
    };
    let operands = Operands {
        m,
        n,
        k: a.len() / m,
        a: encode(model.a(), a),
        b: encode(model.b(), b),
        c: c.iter().map(|x| x.to_bits().into()).collect(),
    };
    check_operands(model, &operands)
}

/// Sums that overflow though no product does, followed by a block of smaller products, or of zeros.
#[test]
fn an_infinity_stays_whatever_block_follows() {
    let _turn = one_at_a_time();
    for arch in [Arch::Cdna3, Arch::Ampere, Arch::Hopper] {
        for model in [Format::Bf16, Format::Tf32].map(|format| unit(arch, format)) {
            let block = model.params().fma as usize;
            let (m, n, k) = (35, 37, 3 * block);
            let exponents = [-60, 33, 34, 38, 39, 60];
            for second in exponents.map(two).into_iter().chain([0.0]) {
                // Rows by turns of both signs, and some that do not overflow.
                let number = |at: usize| match (at % m % 3, at / m / block) {
                    (row, 0) => [1.0, -1.0, 1e-9][row] * two(63),
                    _ => second,
                };
                let a: Vec<f64> = (0..m * k).map(number).collect();
                let want = check(&model, (m, n), &a, &vec![two(63); k * n], &vec![1.0; m * n]);
                let infinite = want.iter().filter(|&bits| bits & 0x7fff_ffff == INFINITY);
                assert!(infinite.count() >= 2 * (m / 3) * n);
            }
        }
    }
}

/// Infinities of c, and one that the first block makes beside them, before a block of small products.
#[test]
fn infinities_of_c_stay_where_others_come_up() {
    let _turn = one_at_a_time();
    for model in [Format::Bf16, Format::Tf32].map(|format| unit(Arch::Cdna3, format)) {
        let block = model.params().fma as usize;
        let large = |is_large| if is_large { two(63) } else { 1.0 };
        let a: Vec<f64> = (0..4 * block)
            .map(|at| large(at / 2 < block && at % 2 == 1))
            .collect();
        let b: Vec<f64> = (0..4 * block)
            .map(|at| large((2 * block..3 * block).contains(&at)))
            .collect();
        let want = check(
            &model,
            (2, 2),
            &a,
            &b,
            &[1.0, f32::INFINITY, f32::INFINITY, 1.0],
        );
        assert_eq!(want[1..], [INFINITY; 3]);
    }
}

#[test]
fn an_infinity_times_a_block_of_zeros() {
    let _turn = one_at_a_time();
    for model in wide_units() {
        let block = model.params().fma as usize;
        let mut zeros = vec![0.0; 6 * block];
        zeros[3 * block..].fill(1.0);
        let mut ones = vec![1.0; 6 * block];
        ones[1] = f64::INFINITY;
        let first = check(&model, (3, 3), &zeros, &ones, &[1.0; 9]);
        let second = check(&model, (3, 3), &ones, &vec![0.0; 6 * block], &[1.0; 9]);
        for want in [first, second] {
            let nans = want.iter().filter(|&bits| bits & 0x7fff_ffff > INFINITY);
            assert_eq!(nans.count(), 3);
        }
    }
}

/// Products that are infinities, or just not.
#[test]
fn products_at_the_limit() {
    let _turn = one_at_a_time();
    for model in [Format::Bf16, Format::Tf32].map(|format| unit(Arch::Cdna3, format)) {
        let k = model.params().fma as usize;
        let x = 1.5 * two(64);
        for (second, c) in [
            (-x, 1.0),
            (0.0, -f32::MAX),
            (1.25 * two(63), -f32::MAX),
            (-two(64), -f32::MAX),
        ] {
            let a = zeros_but(2 * k, &[(0, x), (1, x), (2, second), (3, second)]);
            check(&model, (2, 1), &a, &vec![1.5 * two(63); k], &[c; 2]);
        }
    }
}

/// A product whose exponent, counted down, is what stands for a zero.
#[test]
fn a_product_as_far_below_the_base_as_zeros_seem() {
    let _turn = one_at_a_time();
    for model in wide_units() {
        let k = model.params().fma as usize;
        for (low_a, low_b) in [-124, -100, -60]
            .iter()
            .flat_map(|&a| (-120..60).map(move |b| (a, b)))
        {
            let a = zeros_but(2 * k, &[(0, two(77)), (1, 1.5 * two(low_a))]);
            let b = zeros_but(2 * k, &[(0, two(63)), (k, two(low_b))]);
            check(&model, (2, 2), &a, &b, &[1.0, 0.0, 1.0, 0.0]);
        }
    }
}

/// c and a product make a tie, which a product breaks that lies too far below the base to be counted.
#[test]
fn a_tie_broken_from_far_below_the_base() {
    let _turn = one_at_a_time();
    for model in [Format::Bf16, Format::Tf32].map(|format| unit(Arch::Cdna3, format)) {
        let k = model.params().fma as usize;
        let a = zeros_but(2 * k, &[(0, two(77)), (1, two(-124)), (3, two(-124))]);
        for (exponent, sign) in (-90..-70).flat_map(|exponent| [(exponent, 1.0), (exponent, -1.0)])
        {
            let b = [
                (0, two(63)),
                (k, two(exponent + 100)),
                (k + 1, sign * two(exponent + 93)),
            ];
            let even = (two(exponent) as f32).to_bits();
            for c in [even, even + 1].map(f32::from_bits) {
                check(
                    &model,
                    (2, 2),
                    &a,
                    &zeros_but(2 * k, &b),
                    &[1.0, 1.0, 1.0, c],
                );
            }
        }
    }
}

#[test]
fn binary16_results_without_a_smallest_exponent() {
    let _turn = one_at_a_time();
    let near = Model::new(Arch::Hopper, Format::Fp16, Format::Fp16, Format::Fp16).unwrap();
    let mut rng = Rng::new(1);
    for (min_exponent, fma, alignment_bits) in [
        (None, 16, 25),
        (None, 4, 23),
        (None, 32, 13),
        (Some(-1000), 8, 24),
        (Some(-300), 8, 24),
    ] {
        let params = Params {
            min_exponent,
            fma,
            alignment_bits,
            ..*near.params()
        };
        let model = Model::from_params(params, Format::Fp16, Format::Fp16, Format::Fp16).unwrap();
        for generator in ALL {
            check_operands(
                &model,
                &draw(&mut rng, generator, &model, 33, 35, 2 * fma as usize),
            );
        }
    }
}
