use super::*;
use crate::format::{Class, decode, to_f64};
use crate::model::capabilities;

const FP16: Shape = Shape {
    a: Format::Fp16,
    b: Format::Fp16,
    output: Format::Fp32,
    k: 16,
};

fn cases(sampling: Sampling, shape: Shape, first: u64, count: usize) -> Cases {
    let mut cases = Cases::new(shape.k);
    Generator::new(sampling, shape).fill(first, count, &mut cases);
    cases
}

#[test]
fn every_split_has_the_same_cases() {
    for &(name, sampler) in SAMPLERS {
        for one_stream in [false, true] {
            let sampling = Sampling {
                sampler,
                seed: 7,
                one_stream,
            };
            let shape = Shape { k: 3, ..FP16 };
            let count = 2 * BLOCK as usize + 100;
            let whole = cases(sampling, shape, 0, count);
            let mut generator = Generator::new(sampling, shape);
            let mut part = Cases::new(shape.k);
            // Backwards, in uneven parts that cross the ends of blocks.
            let mut end = count;
            for size in [100, 1, 4095, 97, 3000, 4096].into_iter().cycle() {
                let first = end.saturating_sub(size);
                generator.fill(first as u64, end - first, &mut part);
                for i in 0..part.len() {
                    assert_eq!(part.case(i), whole.case(first + i), "{name} {}", first + i);
                }
                end = first;
                if end == 0 {
                    break;
                }
            }
        }
    }
}

#[test]
fn seeds_blocks_and_samplers_differ() {
    let first = |sampler, seed, index| {
        let sampling = Sampling {
            sampler,
            seed,
            one_stream: false,
        };
        cases(sampling, FP16, index, 1).case(0)
    };
    for &(name, sampler) in SAMPLERS {
        let one = first(sampler, 0, 0);
        assert_ne!(one, first(sampler, 1, 0), "{name}");
        assert_ne!(one, first(sampler, 1 << 32, 0), "{name}");
        assert_ne!(one, first(sampler, 0, 6 * BLOCK), "{name}");
    }
}

/// Algorithm 3 by hand: the first draws of rng(0) are 0.8147 and 0.9058.
#[test]
fn first_element_is_algorithm_3s() {
    let sampling = Sampling {
        sampler: Sampler::ExponentMantissa,
        ..Sampling::default()
    };
    let first = cases(sampling, FP16, 0, 1).a(0)[0];
    let (e, u) = (0.814723686393179, 0.905791937075619);
    let exponent = -14 + (e * 30.0) as i32;
    let most = 2.0 - f64::powi(2.0, -10);
    let value = (-most + 2.0 * most * u) * f64::powi(2.0, exponent);
    let ulp = f64::powi(2.0, exponent - 10);
    assert!((to_f64(Format::Fp16, first) - value).abs() <= ulp / 2.0);
    assert_eq!(exponent, 10);
}

/// The exponent limits that the paper prints (5.1.1 to 5.1.4).
#[test]
fn exponent_ranges_are_the_papers() {
    let printed = [
        (Format::Fp16, [-14, 15, -24, -14]),
        (Format::Bf16, [-126, 63, -133, -126]),
        (Format::Tf32, [-126, 63, -136, -126]),
        (Format::E4m3Fnuz, [-7, 7, -10, -7]),
        (Format::E5m2Fnuz, [-15, 15, -17, -15]),
    ];
    for (format, [low, high, least, most]) in printed {
        let shape = Shape {
            a: format,
            b: format,
            ..FP16
        };
        let range = |low, high| ExponentRange { low, high };
        let factor = range(low, high);
        assert_eq!(
            exponent_ranges(&shape, false),
            [factor, factor, range(-126, 127)]
        );
        let factor = range(least, most);
        assert_eq!(
            exponent_ranges(&shape, true),
            [factor, factor, range(-149, -126)]
        );
    }
}

#[test]
fn papers_samplers_are_finite_and_reach_their_limits() {
    for format in crate::format::FORMATS.map(|row| row.format) {
        let output = if format == Format::Fp64 {
            Format::Fp64
        } else {
            Format::Fp32
        };
        let shape = Shape {
            a: format,
            b: format,
            output,
            k: 16,
        };
        for sampler in [
            Sampler::ExponentMantissa,
            Sampler::SubnormalExponents,
            Sampler::IndependentBits,
        ] {
            let sampling = Sampling {
                sampler,
                ..Sampling::default()
            };
            let cases = cases(sampling, shape, 0, 2000);
            let decoded = |format, bits: &u64| decode(format, *bits);
            let a: Vec<_> = cases.a.iter().map(|bits| decoded(format, bits)).collect();
            let finite = |class| matches!(class, Class::Zero | Class::Finite);
            assert!(a.iter().all(|x| finite(x.class)), "{format} {sampler:?}");
            assert!(cases.c.iter().all(|c| finite(decoded(output, c).class)));
            let exponents = || a.iter().filter(|x| !x.is_zero()).map(|x| x.exponent);
            let (low, high) = (exponents().min().unwrap(), exponents().max().unwrap());
            let [range, ..] = exponent_ranges(&shape, sampler == Sampler::SubnormalExponents);
            if sampler != Sampler::IndependentBits {
                assert!(
                    high <= range.high && high >= range.high - 1,
                    "{format} {high}"
                );
            }
            assert!(low <= range.low.max(format.info().min_exponent()) + 8);
        }
    }
}

/// No directed sampler but "specials" and "any-bits" makes infinities or NaNs of finite formats, and all make what the
/// storage holds.
#[test]
fn directed_cases_fit_their_formats() {
    for unit in capabilities() {
        let shape = Shape {
            a: unit.a,
            b: unit.b,
            output: unit.row.output,
            k: 7,
        };
        for &(name, sampler) in SAMPLERS {
            let sampling = Sampling {
                sampler,
                ..Sampling::default()
            };
            let cases = cases(sampling, shape, 0, 300);
            let fits = |format: Format, bits: u64| {
                let width = format.info().storage_bits;
                width == 64 || bits >> width == 0
            };
            assert!(
                cases.a.iter().all(|&x| fits(shape.a, x)),
                "{name} {shape:?}"
            );
            assert!(
                cases.b.iter().all(|&x| fits(shape.b, x)),
                "{name} {shape:?}"
            );
            assert!(cases.c.iter().all(|&x| fits(shape.output, x)), "{name}");
            let special = ["specials", "any-bits", "directed", "all"].contains(&name);
            let nan = |format, bits: &u64| decode(format, *bits).class == Class::Nan;
            if !special {
                assert!(!cases.a.iter().any(|x| nan(shape.a, x)), "{name} {shape:?}");
                assert!(!cases.b.iter().any(|x| nan(shape.b, x)), "{name} {shape:?}");
            }
        }
    }
}

#[test]
fn no_elements_at_all() {
    for &(_, sampler) in SAMPLERS {
        let sampling = Sampling {
            sampler,
            ..Sampling::default()
        };
        assert_eq!(cases(sampling, Shape { k: 0, ..FP16 }, 5, 3).len(), 3);
    }
}

#[test]
fn lengths_are_the_papers() {
    use Format::{Bf16, E4m3Fnuz, Fp16, Fp32, Tf32};
    let length = |arch, format| default_length(&Model::new(arch, format, format, Fp32).unwrap());
    assert_eq!(length(Arch::Cdna1, Fp16), 16);
    assert_eq!(length(Arch::Cdna1, Bf16), 8);
    assert_eq!(length(Arch::Cdna2, Bf16), 16);
    assert_eq!(length(Arch::Cdna3, Fp16), 16);
    assert_eq!(length(Arch::Cdna3, Tf32), 8);
    assert_eq!(length(Arch::Cdna3, E4m3Fnuz), 16);
}

#[test]
fn names_come_back() {
    for &(name, sampler) in SAMPLERS {
        assert_eq!(Sampler::from_name(&name.to_uppercase()), Ok(sampler));
        assert_eq!(sampler.name(), name);
    }
    assert!(Sampler::from_name("all at once").is_err());
}
