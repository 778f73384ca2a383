//! Explanations end in the unit's result and add up; causes are the features that were changed; short inputs tell units
//! apart.

mod common;

use mfma::explain::{RecordKind, attribute, explain, separate, separate_catalogue};
use mfma::model::capabilities;
use mfma::probe::{Case, Family, Feature, Formats, Hints, Random, Source, same_result};
use mfma::reference::dot_raw;
use mfma::{Arch, Format, Model, Params};

fn cases(model: &Model, count: usize, seed: u64) -> Vec<Case> {
    let hints = Hints {
        fma: model.params().fma as usize,
        gaps: vec![model.params().alignment_bits as i32],
        ..Hints::default()
    };
    let source = Source {
        formats: Formats {
            a: model.a(),
            b: model.b(),
            output: model.output(),
        },
        k: 40,
        least: 1,
        hints: &hints,
    };
    let mut rng = Random::new(seed);
    let all = Family::ALL.into_iter();
    all.flat_map(|family| source.many(family, count, &mut rng))
        .collect()
}

#[test]
fn explanations_end_in_the_result_and_add_up() {
    for capability in capabilities() {
        let row = capability.row;
        let model = Model::from_params(row.params, capability.a, capability.b, row.output).unwrap();
        for case in cases(&model, 12, 3) {
            let explained = explain(&model, &case).unwrap();
            let d = dot_raw(model.unit(), &case.a, &case.b, case.c);
            assert_eq!(explained.d, d, "{} {case:x?}", row.arch);
            let last = explained.records.last().unwrap();
            assert_eq!((last.kind, last.bits), (RecordKind::Result, Some(d)));
            for record in &explained.records {
                if record.kind == RecordKind::Aligned && record.before.abs() < 1e300 {
                    assert_eq!(
                        record.before - record.after,
                        record.lost,
                        "{record:?} of {case:x?}"
                    );
                }
            }
            let blocks = explained
                .records
                .iter()
                .filter(|r| r.kind == RecordKind::Block)
                .count();
            assert_eq!(blocks, case.a.len().div_ceil(row.params.fma as usize));
            // Every element appears as a product once, where nothing is infinite.
            if !explained
                .records
                .iter()
                .any(|r| r.kind == RecordKind::Special)
                && row.params.fma > 1
            {
                let mut names: Vec<&str> = explained
                    .records
                    .iter()
                    .filter(|r| r.kind == RecordKind::Product)
                    .map(|r| r.item.as_str())
                    .collect();
                names.sort_unstable();
                names.dedup();
                assert!(names.len() <= case.a.len());
            }
        }
    }
}

/// Section 4.3.1 of the paper: the sum of the products is rounded down to 32 bits, then the total to 31.
#[test]
fn the_papers_two_roundings_show() {
    let model = Model::new(Arch::Cdna3, Format::Fp16, Format::Fp16, Format::Fp32).unwrap();
    let case = Case {
        a: vec![0x1000, 0x1000, 0x0400],
        b: vec![0x1000, 0x0c00, 0x0100],
        c: 0x3fff_fffe,
    };
    let explained = explain(&model, &case).unwrap();
    assert_eq!(explained.d, 0x4000_0001);
    let text = explained.to_string();
    for line in [
        "CDNA3, fp16 x fp16 -> fp32: 8 products aligned to 24 fraction bits, c late; result RNE",
        "block 1: elements 1 to 3, c = 1.999999761581421",
        "largest exponent: -22",
        "d = 40000001 (2.000000238418579)",
    ] {
        assert!(text.contains(line), "no {line:?} in\n{text}");
    }
}

#[test]
fn what_was_changed_is_what_is_blamed() {
    let base = Params {
        fma: 8,
        ..*Model::new(Arch::Cdna3, Format::Bf16, Format::Bf16, Format::Fp32)
            .unwrap()
            .params()
    };
    let make =
        |params| Model::from_params(params, Format::Bf16, Format::Bf16, Format::Fp32).unwrap();
    let x = make(base);
    for (feature, value) in [
        (Feature::AlignmentBits, 23),
        (Feature::LateSumBits, 31),
        (
            Feature::LateTotalBits,
            Feature::LateTotalBits.none().unwrap(),
        ),
        (Feature::Rounding, 1),
        (Feature::AlignmentRounding, 1),
        (Feature::OutSubnormals, 0),
        (Feature::InSubnormals, 0),
        (Feature::ProductLimit, 0),
        (Feature::ZeroCExponent, -120),
        (Feature::Fma, 4),
        (Feature::DenormalProducts, 0),
    ] {
        let y = make(feature.with(&base, value));
        let found = separate(&x, &y, 1)
            .unwrap()
            .unwrap_or_else(|| panic!("{feature} does nothing"));
        let blame = attribute(&x, &y, &[found.case]).unwrap();
        assert_eq!(blame.differing, 1);
        assert_eq!(blame.causes[0].features, [feature]);
    }
    // Two at once: either alone, or both together, and nothing else.
    let y = make(Feature::Rounding.with(&Feature::ProductLimit.with(&base, 0), 1));
    let all = cases(&x, 40, 9);
    let blame = attribute(&x, &y, &all).unwrap();
    assert!(blame.differing > 0);
    for cause in &blame.causes {
        assert!(
            cause
                .features
                .iter()
                .all(|f| [Feature::Rounding, Feature::ProductLimit].contains(f))
        );
    }
}

#[test]
fn the_catalogue_is_told_apart() {
    let sets = separate_catalogue(1).unwrap();
    for set in &sets {
        eprint!("{set}");
        let Formats { output, .. } = set.formats;
        for i in 0..set.groups.len() {
            for j in 0..i {
                let told = set
                    .cases
                    .iter()
                    .any(|(_, d)| !same_result(output, d[i], d[j]));
                assert!(told, "{:?} and {:?}", set.groups[i], set.groups[j]);
            }
        }
        // None can be left out.
        for left_out in 0..set.cases.len() {
            let rest = || set.cases.iter().enumerate().filter(|(n, _)| *n != left_out);
            let complete = (0..set.groups.len()).all(|i| {
                (0..i).all(|j| rest().any(|(_, (_, d))| !same_result(output, d[i], d[j])))
            });
            assert!(!complete, "case {left_out} is not needed in\n{set}");
        }
    }
    // CDNA 3 and the toolbox's model of it differ for every format.
    for format in [Format::Fp16, Format::Bf16, Format::Tf32] {
        let set = sets
            .iter()
            .find(|set| set.formats.a == format && set.formats.output == Format::Fp32);
        let together = |name: &str, other: &str| {
            set.unwrap()
                .groups
                .iter()
                .any(|group| group.iter().any(|n| n == name) && group.iter().any(|n| n == other))
        };
        assert!(!together("CDNA3", "CDNA3-toolbox"), "{format}");
    }
}
