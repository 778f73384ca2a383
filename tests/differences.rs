//! Every vector of `docs/differences.md`: the results here, and that the toolbox's are others.

mod common;

use std::collections::BTreeMap;

use common::passes::last_error;
use common::{Expected, parse_case};
use mfma::capi::{MFMA_OK, mfma_gemm_f64};
use mfma::format::{Class, decode, from_f64, to_f64};
use mfma::model::{Params, Scheme};
use mfma::reference::dot_raw;
use mfma::{Arch, ErrorCode, Format, Model, Rounding};

const TEXT: &str = include_str!("../docs/differences.md");

/// Sections whose rules a vector cannot show; they name a test in Octave, or are tested below.
const WITHOUT_VECTORS: [&str; 3] = ["size-of-c", "side-effects", "custom-units"];

/// The vectors of each section.
fn sections() -> BTreeMap<&'static str, Vec<&'static str>> {
    let mut sections = BTreeMap::new();
    for section in TEXT.split("\n## ").skip(1) {
        let (tag, text) = section.split_once('\n').unwrap();
        let blocks = text.split("```").skip(1).step_by(2);
        let vectors = blocks.flat_map(str::lines).filter(|line| !line.is_empty());
        assert!(
            sections.insert(tag, vectors.collect()).is_none(),
            "{tag} is there twice"
        );
    }
    sections
}

/// `x`, `2^e` or `x*2^e`.
fn number(text: &str) -> f64 {
    let (factor, power) = match text.split_once("2^") {
        None => (text, "0"),
        Some((factor, power)) => (factor.strip_suffix('*').unwrap_or(factor), power),
    };
    let factor: f64 = match factor {
        "" => 1.0,
        "-" => -1.0,
        factor => factor
            .parse()
            .unwrap_or_else(|_| panic!("not a number: {text}")),
    };
    factor * 2f64.powi(power.parse().unwrap())
}

fn numbers(text: &str) -> Vec<f64> {
    text.split(',')
        .filter(|x| !x.is_empty())
        .map(number)
        .collect()
}

fn model_of(unit: &str) -> (Arch, Model) {
    let [function, input, output] = unit.split(' ').collect::<Vec<_>>()[..] else {
        panic!("not a unit: {unit}");
    };
    let arch = Arch::from_name(function).unwrap();
    let [input, output] = [input, output].map(|name| arch.format_from_name(name).unwrap());
    (arch, Model::new(arch, input, input, output).unwrap())
}

/// A dot product on raw encodings. Returns whether the toolbox's answer is there.
fn run_dot(line: &str, unit: &str, case: &str) -> bool {
    let (arch, model) = model_of(unit);
    let case = parse_case(case, 0);
    let d = dot_raw(model.unit(), &case.a, &case.b, case.c);
    assert!(case.d.accepts(&model, d), "{line}: got {d:x}");
    let Some(toolbox) = case.field("toolbox=") else {
        return false;
    };
    if !matches!(toolbox, "error" | "range") {
        let toolbox = Expected::parse(toolbox);
        assert!(!toolbox.accepts(&model, d), "{line}: the toolbox agrees");
        if arch == Arch::Cdna3 {
            let variant =
                Model::new(Arch::Cdna3Toolbox, model.a(), model.b(), model.output()).unwrap();
            let theirs = dot_raw(variant.unit(), &case.a, &case.b, case.c);
            // The variant follows the toolbox in its rounding, not in what it does to infinities.
            let finite = decode(Format::Fp32, d).class == Class::Finite;
            assert!(
                !finite || toolbox.accepts(&variant, theirs),
                "{line}: the variant gives {theirs:x}"
            );
        }
    }
    true
}

/// A row times a column, as a user passes them.
fn run_product(line: &str, unit: &str, case: &str) -> bool {
    let (arch, model) = model_of(unit);
    let field = |key: &str| {
        let word = case.split(' ').find_map(|word| word.strip_prefix(key));
        word.unwrap_or_else(|| panic!("{line}: no {key}"))
    };
    let (a, b) = (numbers(field("A=")), numbers(field("B=")));
    let (c, wanted) = (number(field("C=")), number(field("D=")));
    assert_eq!(a.len(), b.len(), "{line}");
    let k = a.len() as i64;
    let mut d = f64::NAN;
    // SAFETY: a row of k elements with leading dimension 1, a column of k, one c and one d.
    let status = unsafe {
        mfma_gemm_f64(
            arch.info().code,
            model.a().info().code,
            model.output().info().code,
            1,
            1,
            k,
            number(field("alpha=")),
            a.as_ptr(),
            1,
            b.as_ptr(),
            k.max(1),
            number(field("beta=")),
            &c,
            1,
            &mut d,
            1,
        )
    };
    assert_eq!(status, MFMA_OK, "{line}: {}", last_error());
    let same = |x: f64, y: f64| x.to_bits() == y.to_bits() || x.is_nan() && y.is_nan();
    assert!(same(d, wanted), "{line}: got {d:e}");
    match case
        .split(' ')
        .find_map(|word| word.strip_prefix("toolbox="))
    {
        None => false,
        Some("error") => true,
        Some(toolbox) => {
            assert!(!same(number(toolbox), d), "{line}: the toolbox agrees");
            true
        }
    }
}

fn run_names(line: &str) -> bool {
    let words: Vec<&str> = line.split(' ').collect();
    let arch = Arch::from_name(words[0]).unwrap();
    for name in &words[2..] {
        let format = arch.format_from_name(name);
        match words[1] {
            "accepts" => {
                let format = format.unwrap_or_else(|error| panic!("{line}: {error}"));
                Model::new(arch, format, format, Format::Fp32).unwrap();
            }
            "refuses" => assert_eq!(
                format.unwrap_err().code(),
                ErrorCode::UnknownFormat,
                "{line}"
            ),
            _ => panic!("{line}"),
        }
    }
    false
}

#[test]
fn every_vector() {
    let mut count = 0;
    for (tag, vectors) in sections() {
        let mut differences = 0;
        for line in &vectors {
            let differs = match line.split_once(" | ") {
                None => run_names(line),
                Some((unit, case)) if case.contains("A=") => run_product(line, unit, case),
                Some((unit, case)) => run_dot(line, unit, case),
            };
            differences += u32::from(differs);
            count += 1;
        }
        assert_eq!(
            differences == 0,
            WITHOUT_VECTORS.contains(&tag),
            "{tag} has {differences} vectors that differ"
        );
    }
    assert!(count >= 40, "only {count} vectors found");
}

/// The page names every rule by which `tests/evidence/products.rs` and the golden vectors explain a difference.
#[test]
fn every_rule_has_its_section() {
    let sections = sections();
    let mut rules = vec![
        "rounding-steps",
        "fp8-fp16-width",
        "e4m3-overflow",
        "overflow",
        "product-overflow",
        "inf-between-blocks",
        "zero-sign",
        "no-products",
        "names",
    ];
    // The golden set's own tags.
    common::evidence::golden(&common::evidence::committed_folder(), &mut |set| {
        for why in set.cases.iter().filter_map(|case| case.field("why=")) {
            let tag = match why {
                "zero-products" => "no-products",
                "inf-nan" => "inf-between-blocks",
                "overflow" | "zero-sign" | "rounding-steps" | "fp8-fp16-width" | "beta-c-swap" => {
                    continue;
                }
                _ => panic!("{}: no section for why={why}", set.name),
            };
            if !rules.contains(&tag) {
                rules.push(tag);
            }
        }
    });
    for rule in rules {
        assert!(
            sections.contains_key(rule),
            "docs/differences.md has no section {rule}"
        );
    }
    for name in ["t_arguments.m", "t_quiet.m"] {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("octave/tests")
            .join(name);
        assert!(path.exists(), "docs/differences.md names {name}");
    }
}

/// custom-units: a late c that is not rounded down. -2^-24 - 2^-26 beside a product of 1, to 24 fractional bits.
#[test]
fn a_late_c_is_rounded_as_armode_says() {
    let d = |rounding| {
        let params = Params {
            scheme: Scheme::GlobalAlignment,
            late_c: true,
            late_total_bits: None,
            alignment_rounding: rounding,
            rounding: Rounding::TowardZero,
            ..Params::default()
        };
        let model = Model::from_params(params, Format::Fp16, Format::Fp16, Format::Fp32).unwrap();
        let c = from_f64(
            Format::Fp32,
            -(2f64.powi(-24) + 2f64.powi(-26)),
            Rounding::NearestEven,
        );
        to_f64(Format::Fp32, dot_raw(model.unit(), &[0x3c00], &[0x3c00], c))
    };
    // Toward zero: c = -2^-24; down: c = -2^-23.
    assert_eq!(d(Rounding::TowardZero), 1.0 - 2f64.powi(-24));
    assert_eq!(d(Rounding::NearestEven), 1.0 - 2f64.powi(-24));
    assert_eq!(d(Rounding::Up), 1.0 - 2f64.powi(-24));
    assert_eq!(d(Rounding::Down), 1.0 - 2f64.powi(-23));
}
