//! Validation campaigns: planted faults are found, splits add up, dumps name their units.

mod common;

use mfma::model::{Params, Scheme};
use mfma::validate::dump::{DumpCheck, Label, candidates, check_dump};
use mfma::validate::{Campaign, Cases, Report, Sampler, Sampling, Subject};
use mfma::{Arch, Format, Model};

use common::evidence::{Set, committed_folder, golden, measured};
use common::{evidence_folder, say_absent};

fn unit(arch: Arch, format: Format) -> Model {
    Model::new(arch, format, format, Format::Fp32).unwrap()
}

fn directed(seed: u64) -> Sampling {
    Sampling {
        sampler: Sampler::AllDirected,
        seed,
        one_stream: false,
    }
}

/// The number of the first case on which a unit with a changed feature differs, within 10^6 directed cases.
fn first_difference(model: &Model, change: &dyn Fn(&mut Params), seed: u64) -> Option<u64> {
    let mut params = *model.params();
    change(&mut params);
    assert_ne!(params, *model.params());
    let faulty = Model::from_params(params, model.a(), model.b(), model.output()).unwrap();
    let report = Campaign::new(model, 1_000_000)
        .sampling(directed(seed))
        .stop_after(1)
        .run(Subject::Model(&faulty))
        .unwrap();
    report.first.first().map(|mismatch| mismatch.index)
}

/// Faults that were made, or nearly made, in models of CDNA 3.
#[test]
fn planted_faults_on_cdna3_are_found() {
    let formats = [
        Format::Fp16,
        Format::Bf16,
        Format::Tf32,
        Format::E4m3Fnuz,
        Format::E5m2Fnuz,
    ];
    type Change = fn(&mut Params);
    // 33 bits instead of 32 would change nothing: a sum that loses bits lies far enough below c that the total keeps c's
    // exponent or the next, whose 31 bits end at the 32nd of c's or above.
    let faults: [(&str, Change); 7] = [
        ("31 instead of 32 bits", |p| p.late_sum_bits = 31),
        ("no second round-down", |p| p.late_total_bits = None),
        ("second round-down at 30", |p| p.late_total_bits = Some(30)),
        ("one step at 31 bits", |p| {
            p.late_sum_bits = 31;
            p.late_total_bits = None;
        }),
        ("23 alignment bits", |p| p.alignment_bits = 23),
        ("c cut, not rounded down", |p| {
            p.alignment_rounding = mfma::Rounding::TowardZero;
        }),
        ("subnormal c and results flushed", |p| {
            p.out_subnormals = false
        }),
    ];
    for format in formats {
        let model = unit(Arch::Cdna3, format);
        for (name, change) in faults {
            for seed in [0, 1] {
                let found = first_difference(&model, &change, seed);
                println!("{format} {name}: {found:?}");
                assert!(
                    found.is_some(),
                    "{format}: {name} was not found, seed {seed}"
                );
            }
        }
        // What the formats' exponents reach. An exponent of c = 0 of -125 or -127 would change nothing: the total is rounded
        // down at 2^-157 all the same.
        if matches!(format, Format::Bf16 | Format::Tf32) {
            let changes: [(&str, Change); 3] = [
                ("exponent of c = 0", |p| p.zero_c_exponent = Some(-120)),
                ("c = 0 takes no part", |p| p.zero_c_exponent = None),
                ("no product limit", |p| p.product_limit = false),
            ];
            for (name, change) in changes {
                let found = first_difference(&model, &change, 0);
                println!("{format} {name}: {found:?}");
                assert!(found.is_some(), "{format}: {name} was not found");
            }
        }
        if format.bytes() == 1 {
            for beyond in [24, 26] {
                let change = move |p: &mut Params| p.drop_c_beyond = Some(beyond);
                let found = first_difference(&model, &change, 0);
                println!("{format} c dropped beyond {beyond}: {found:?}");
                assert!(
                    found.is_some(),
                    "{format}: c dropped beyond {beyond} was not found"
                );
            }
        }
    }
}

/// Limits that are off by one, alignment bits, and block sizes everywhere they mean something.
#[test]
fn planted_faults_elsewhere_are_found() {
    let limit = |by: i32| move |p: &mut Params| p.min_exponent = p.min_exponent.map(|e| e + by);
    let bits =
        |by: i32| move |p: &mut Params| p.alignment_bits = p.alignment_bits.wrapping_add_signed(by);
    for arch in [Arch::Ampere, Arch::Hopper] {
        let model = unit(arch, Format::Bf16);
        for by in [1, -1] {
            for found in [
                first_difference(&model, &limit(by), 0),
                first_difference(&model, &bits(by), 0),
            ] {
                println!("{arch}: {found:?}");
                assert!(found.is_some(), "{arch} {by}");
            }
        }
    }
    for arch in [Arch::Cdna1, Arch::Cdna2, Arch::Cdna3, Arch::Ampere] {
        let model = unit(arch, Format::Fp16);
        let smaller = |p: &mut Params| p.fma /= 2;
        assert!(first_difference(&model, &smaller, 0).is_some(), "{arch}");
    }
    // Flush of c, and its absence.
    let flush = |p: &mut Params| p.out_subnormals = !p.out_subnormals;
    for arch in [Arch::Cdna1, Arch::Cdna2, Arch::Cdna3] {
        for format in [Format::Fp16, Format::Bf16] {
            let found = first_difference(&unit(arch, format), &flush, 0);
            println!("{arch} {format} flush: {found:?}");
            assert!(found.is_some(), "{arch} {format}");
        }
    }
}

/// The kernels of every unit against the reference, a small campaign of all samplers.
#[test]
fn kernels_agree_with_the_reference() {
    for unit in mfma::model::capabilities() {
        let model = Model::from_params(unit.row.params, unit.a, unit.b, unit.row.output).unwrap();
        let report = Campaign::new(&model, 26_000)
            .length(20)
            .run(Subject::Reference(&model))
            .unwrap();
        assert_eq!((report.cases, report.mismatches), (26_000, 0), "{model:?}");
    }
}

#[test]
fn parts_add_up_to_the_whole() {
    let (one, other) = (
        unit(Arch::Cdna3, Format::Fp16),
        unit(Arch::Cdna1, Format::Fp16),
    );
    let run = |first, count, threads| {
        Campaign::new(&one, count)
            .first(first)
            .threads(threads)
            .keep(1 << 20)
            .run(Subject::Model(&other))
            .unwrap()
    };
    let whole = run(0, 40_000, 0);
    assert!(whole.mismatches > 100);
    let mut parts: Option<Report> = None;
    for (first, count) in [(0, 1), (1, 9_999), (10_000, 17_000), (27_000, 13_000)] {
        let part = run(first, count, 1);
        assert_eq!(part.next, first + count);
        match &mut parts {
            Some(parts) => parts.join(part),
            None => parts = Some(part),
        }
    }
    assert_eq!(parts, Some(whole));
}

#[test]
fn a_campaign_stops_where_it_is_told() {
    let (one, other) = (
        unit(Arch::Cdna3, Format::Fp16),
        unit(Arch::Cdna1, Format::Fp16),
    );
    let run = |stop, threads| {
        Campaign::new(&one, 1 << 40)
            .sampling(directed(3))
            .stop_after(stop)
            .threads(threads)
            .run(Subject::Model(&other))
            .unwrap()
    };
    let report = run(4, 1);
    assert_eq!(report, run(4, 2));
    assert_eq!((report.mismatches, report.bound), (4, None));
    assert_eq!(report.next, report.first[3].index + 1);
    assert_eq!(report.cases, report.next);

    // The last question is answered no.
    let mut calls = 0;
    let mut progress = |_| {
        calls += 1;
        calls < 3
    };
    let report = Campaign::new(&one, 1 << 40)
        .progress(&mut progress)
        .run(Subject::Reference(&one))
        .unwrap();
    assert!(report.cancelled && report.mismatches == 0);
    assert!(report.cases > 0 && report.cases < 1 << 40);
    assert!(report.bound.unwrap() < 1.0);
}

#[test]
fn a_black_box_is_asked_in_order_and_may_fail() {
    let model = unit(Arch::Cdna1, Format::Fp16);
    let mut seen = 0;
    let mut wrong_at = |cases: &Cases, d: &mut [u64]| {
        for (i, d) in d.iter_mut().enumerate() {
            *d = mfma::reference::dot_raw(model.unit(), cases.a(i), cases.b(i), cases.c(i));
            if seen == 12_345 {
                *d ^= 1;
            }
            seen += 1;
        }
        Ok(())
    };
    let report = Campaign::new(&model, 20_000)
        .run(Subject::BlackBox(&mut wrong_at))
        .unwrap();
    assert_eq!((report.cases, report.mismatches), (20_000, 1));
    assert_eq!(report.first[0].index, 12_345);
    assert_eq!(report.first[0].got, report.first[0].expected ^ 1);

    let mut broken =
        |_: &Cases, _: &mut [u64]| Err(mfma::Error::new(mfma::ErrorCode::Internal, "no power"));
    let error = Campaign::new(&model, 10).run(Subject::BlackBox(&mut broken));
    assert_eq!(error.unwrap_err().message(), "no power");
}

#[test]
fn wrong_campaigns_are_refused() {
    let model = unit(Arch::Cdna1, Format::Fp16);
    let fails = |campaign: Campaign, subject: Subject, says: &str| {
        let error = campaign.run(subject).unwrap_err();
        assert!(error.message().contains(says), "{error}");
    };
    let same = || Subject::Reference(&model);
    fails(
        Campaign::new(&model, 1).epsilon(0.0),
        same(),
        "epsilon is 0",
    );
    fails(
        Campaign::new(&model, 1).length(1 << 17),
        same(),
        "k is 131072",
    );
    fails(Campaign::new(&model, u64::MAX).first(1), same(), "2^63");
    let other = unit(Arch::Cdna1, Format::Bf16);
    fails(
        Campaign::new(&model, 1),
        Subject::Model(&other),
        "bf16 x bf16 -> fp32",
    );
    let report = Campaign::new(&model, 0).run(same()).unwrap();
    assert_eq!((report.cases, report.bound), (0, Some(1.0)));
}

/// A NaN that differs in its sign.
#[test]
fn nans_may_be_taken_as_equal() {
    let model = unit(Arch::Cdna1, Format::Fp16);
    let mut params = *model.params();
    params.conventions = mfma::model::Conventions::Nvidia;
    assert_eq!(params.scheme, Scheme::CorrectRounding);
    let other = Model::from_params(params, model.a(), model.b(), model.output()).unwrap();
    let specials = Sampling {
        sampler: Sampler::from_name("specials").unwrap(),
        ..Sampling::default()
    };
    let run = |any_nan| {
        Campaign::new(&model, 5000)
            .sampling(specials)
            .any_nan(any_nan)
            .run(Subject::Model(&other))
            .unwrap()
            .mismatches
    };
    assert!(run(false) > 100 && run(true) < run(false) / 10);
}

/// The units that a file of vectors is consistent with; with c taken as 0 if nothing else fits.
fn auto(path: &std::path::Path) -> Vec<(Arch, Option<String>)> {
    let label = Label::of(path).unwrap();
    for ignore_c in [false, true] {
        let options = DumpCheck {
            ignore_c,
            ..DumpCheck::default()
        };
        let mut fit = Vec::new();
        for (_, group) in candidates(&label).unwrap() {
            let models: Vec<Model> = group.iter().map(|candidate| candidate.model).collect();
            let reports = check_dump(path, &models, options, None).unwrap();
            for (candidate, report) in group.iter().zip(reports) {
                if report.mismatches > 0 {
                    continue;
                }
                assert!(report.cases > 0);
                fit.extend(candidate.units.iter().map(|unit| {
                    let only = unit.row.reach == mfma::model::Reach::Instruction;
                    (
                        unit.row.arch,
                        only.then(|| unit.row.instruction.to_string()),
                    )
                }));
            }
        }
        if !fit.is_empty() {
            return fit;
        }
    }
    Vec::new()
}

/// Is the unit that a set belongs to among those that the dump is consistent with?
fn names_its_unit(path: &std::path::Path, set: &Set) -> bool {
    let fit = auto(path);
    fit.iter()
        .any(|(arch, by)| *arch == set.arch && by.is_some() == set.instruction.is_some())
}

#[test]
fn golden_files_name_their_units() {
    let folder = evidence_folder().unwrap_or_else(committed_folder);
    let mut files = 0;
    golden(&folder, &mut |set| {
        // The variants' sets are made from the same files with other answers.
        if set.name.contains(" as ") {
            return;
        }
        let path = folder.join(&set.name);
        assert!(
            names_its_unit(&path, &set),
            "{}: {:?}",
            set.name,
            auto(&path)
        );
        files += 1;
    });
    assert!(files >= 80, "{files}");
}

/// hardware.tar.xz: each measured file names the unit that was measured, by instruction where only that reaches it; 8-bit
/// inputs on Hopper were measured without c.
#[test]
fn measured_files_name_their_units() {
    let Some(folder) = evidence_folder() else {
        return say_absent("measured_files_name_their_units");
    };
    let scratch = std::env::temp_dir().join(format!("mfma-measured-{}", std::process::id()));
    std::fs::create_dir_all(&scratch).unwrap();
    let mut texts = std::collections::BTreeMap::new();
    let tarball = std::fs::File::open(folder.join("hardware.tar.xz")).unwrap();
    let mut tar = Vec::new();
    lzma_rs::xz_decompress(&mut std::io::BufReader::new(tarball), &mut tar).unwrap();
    for entry in tar::Archive::new(tar.as_slice()).entries().unwrap() {
        let mut entry = entry.unwrap();
        let name = entry
            .path()
            .unwrap()
            .file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .to_string();
        let mut text = Vec::new();
        std::io::Read::read_to_end(&mut entry, &mut text).unwrap();
        texts.insert(name, text);
    }
    let mut files = 0;
    measured(&folder, &mut |set| {
        let name = set.name.strip_prefix("hardware.tar.xz/").unwrap();
        let path = scratch.join(name);
        std::fs::write(&path, &texts[name]).unwrap();
        assert!(names_its_unit(&path, &set), "{name}: {:?}", auto(&path));
        files += 1;
    });
    assert_eq!(files, 48);
    std::fs::remove_dir_all(scratch).unwrap();
}
