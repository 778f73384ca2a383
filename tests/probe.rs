//! The probe finds the features of units from their answers alone: every row of the catalogue, and custom units drawn at
//! random; and Table 3 of the paper comes out of the catalogue.

mod common;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::Random;
use mfma::format::Rounding;
use mfma::model::{Conventions, Interleave, Scheme, capabilities};
use mfma::probe::{
    Case, Family, Feature, Formats, Hints, Options, Probed, Source, one_by_one, probe, same_result,
};
use mfma::reference::dot_raw;
use mfma::{Format, Model, Params};

fn ask(model: &Model) -> impl FnMut(&[Case]) -> Result<Vec<u64>, mfma::Error> {
    let model = *model;
    one_by_one(move |a, b, c| Ok(dot_raw(model.unit(), a, b, c)))
}

fn formats_of(model: &Model) -> Formats {
    Formats {
        a: model.a(),
        b: model.b(),
        output: model.output(),
    }
}

/// Vectors other than the probe's own: every family with another seed, around both sets of parameters.
fn disagreement(found: &Params, model: &Model, count: usize, seed: u64) -> Option<String> {
    let formats = formats_of(model);
    let other = Model::from_params(*found, formats.a, formats.b, formats.output).unwrap();
    let truth = model.params();
    let mut hints = Hints::default();
    for params in [found, truth] {
        hints
            .gaps
            .extend([params.alignment_bits as i32, params.late_sum_bits as i32]);
        hints
            .gaps
            .extend(params.late_total_bits.map(|bits| bits as i32));
        hints
            .gaps
            .extend(params.drop_c_beyond.map(|bits| bits as i32));
        let exponents = [params.min_exponent, params.zero_c_exponent];
        hints.exponents.extend(exponents.into_iter().flatten());
        hints.fma = hints.fma.max(params.fma as usize);
    }
    let source = Source {
        formats,
        k: 64,
        least: 1,
        hints: &hints,
    };
    let mut rng = mfma::probe::Random::new(seed ^ 0x5eed);
    for family in Family::ALL {
        for case in source.many(family, count, &mut rng) {
            let d = dot_raw(model.unit(), &case.a, &case.b, case.c);
            let ours = dot_raw(other.unit(), &case.a, &case.b, case.c);
            if !same_result(formats.output, d, ours) {
                return Some(format!(
                    "{family:?}: {} but found {ours:x}",
                    case.text(&formats, d)
                ));
            }
        }
    }
    None
}

/// Every feature that the unit uses is found, or reported as one that no vector of these formats decides.
fn check(
    name: &str,
    model: &Model,
    found: &Probed,
    vectors: usize,
    seed: u64,
) -> Result<(), String> {
    let formats = formats_of(model);
    let truth = model.params();
    let fail = |why: String| {
        Err(format!(
            "{name}: {why}\ntruth: {truth:?}\nfound: {:?}\n{found}",
            found.params
        ))
    };
    if found.mismatches > 0 {
        return fail(format!("{} answers not explained", found.mismatches));
    }
    if let Some(case) = disagreement(&found.params, model, vectors, seed) {
        return fail(format!("differs on {case}"));
    }
    let excused = |feature: Feature| {
        found
            .unidentified
            .iter()
            .any(|entry| entry.feature == feature && !entry.reason.is_empty())
    };
    if truth.scheme != found.params.scheme && excused(Feature::Scheme) {
        return Ok(());
    }
    for feature in Feature::ALL {
        let (want, got) = (feature.get(truth), feature.get(&found.params));
        if want == got || !feature.applies(truth, formats.inputs(), formats.output) {
            continue;
        }
        let entry = found
            .unidentified
            .iter()
            .find(|entry| entry.feature == feature);
        match entry {
            None => {
                return fail(format!(
                    "{feature} is {} and was said to be {} for certain",
                    feature.text(want),
                    feature.text(got)
                ));
            }
            Some(entry) if entry.reason.is_empty() => {
                return fail(format!("no reason for {feature}"));
            }
            Some(_) => {}
        }
    }
    Ok(())
}

/// Calls `work` with 0 to `count` - 1, on all processors.
fn on_all_processors(count: usize, work: impl Fn(usize) + Sync) {
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get());
    std::thread::scope(|scope| {
        for _ in 0..threads.min(count) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= count {
                        break;
                    }
                    work(index);
                }
            });
        }
    });
}

#[test]
fn every_row_of_the_catalogue_is_rediscovered() {
    let failures = Mutex::new(Vec::new());
    let fail = |why: String| failures.lock().unwrap().push(why);
    let capabilities: Vec<_> = capabilities().collect();
    on_all_processors(capabilities.len(), |index| {
        let capability = &capabilities[index];
        let row = capability.row;
        let (a, b) = (capability.a, capability.b);
        let model = Model::from_params(row.params, a, b, row.output).unwrap();
        let started = std::time::Instant::now();
        let found = probe(formats_of(&model), &Options::default(), ask(&model)).unwrap();
        let name = format!("{} {a} x {b} -> {}", row.arch, row.output);
        eprintln!(
            "{name}: {} vectors, {:?}, undecided {:?}",
            found.asked,
            started.elapsed(),
            found
                .unidentified
                .iter()
                .map(|entry| entry.feature.name())
                .collect::<Vec<_>>()
        );
        if let Err(why) = check(&name, &model, &found, 100, 1) {
            fail(why);
        }
        if !found
            .rows
            .iter()
            .any(|consistent| std::ptr::eq(*consistent, row))
        {
            fail(format!(
                "{name}: its own row is not among the consistent ones"
            ));
        }
    });
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

/// A unit that somebody might build: any scheme, formats and flags; 10 to 36 alignment bits, of a late sum up to 13 more;
/// exponent limits from below everything to 2^0.
fn random_unit(rng: &mut Random) -> Model {
    let one_in = |rng: &mut Random, count: u64| rng.below(count) == 0;
    let pairs = [
        (Format::Fp16, Format::Fp16),
        (Format::Bf16, Format::Bf16),
        (Format::Tf32, Format::Tf32),
        (Format::Fp32, Format::Fp32),
        (Format::E4m3, Format::E4m3),
        (Format::E5m2, Format::E5m2),
        (Format::E4m3, Format::E5m2),
        (Format::E4m3Fnuz, Format::E4m3Fnuz),
        (Format::E5m2Fnuz, Format::E4m3Fnuz),
        (Format::Fp64, Format::Fp64),
    ];
    loop {
        let (a, b) = pairs[rng.below(pairs.len() as u64) as usize];
        let output = if a == Format::Fp64 {
            Format::Fp64
        } else if one_in(rng, 4) {
            Format::Fp16
        } else {
            Format::Fp32
        };
        let rounding = |rng: &mut Random| {
            [
                Rounding::NearestEven,
                Rounding::TowardZero,
                Rounding::Down,
                Rounding::Up,
            ][rng.below(4) as usize]
        };
        let alignment_bits = 10 + rng.below(27) as u32;
        let params = Params {
            scheme: [
                Scheme::SequentialFma,
                Scheme::CorrectRounding,
                Scheme::PairwiseSum,
                Scheme::GlobalAlignment,
                Scheme::GlobalAlignment,
                Scheme::GlobalAlignment,
                Scheme::OddEvenGrouping,
                Scheme::OddEvenGrouping,
            ][rng.below(8) as usize],
            fma: match rng.below(2) {
                0 => 1 << rng.below(6),
                _ => 1 + rng.below(32) as u32,
            },
            interleave: if one_in(rng, 5) {
                Interleave::Mod4
            } else {
                Interleave::None
            },
            alignment_bits,
            sticky: one_in(rng, 3),
            late_c: one_in(rng, 2),
            denormal_products: one_in(rng, 2),
            alignment_rounding: rounding(rng),
            late_sum_bits: (alignment_bits + rng.below(14) as u32).min(48),
            late_total_bits: (!one_in(rng, 3)).then(|| alignment_bits + rng.below(12) as u32),
            drop_c_beyond: (!one_in(rng, 3)).then(|| alignment_bits - 3 + rng.below(16) as u32),
            min_exponent: (!one_in(rng, 3)).then(|| match output {
                Format::Fp16 => -40 + rng.below(40) as i32,
                _ => -160 + rng.below(160) as i32,
            }),
            zero_c_exponent: (!one_in(rng, 3)).then(|| -160 + rng.below(160) as i32),
            product_limit: one_in(rng, 2),
            rounding: rounding(rng),
            in_subnormals: one_in(rng, 2),
            out_subnormals: one_in(rng, 2),
            nan_after_cut: one_in(rng, 2),
            conventions: [Conventions::Amd, Conventions::Nvidia, Conventions::Toolbox]
                [rng.below(3) as usize],
        };
        // Interleaved halves with a late c of their own: nobody has built such a thing.
        if params.interleave == Interleave::Mod4 && params.late_c {
            continue;
        }
        if let Ok(model) = Model::from_params(params, a, b, output) {
            return model;
        }
    }
}

/// Custom units: nothing that the probe says for certain may be wrong, and what it says must reproduce the unit. A unit
/// that it cannot fit it must report as such, and of those there may be few.
fn check_custom_units(first: u64, count: u64) {
    let seed = common::seed();
    let failures = Mutex::new(Vec::new());
    let unexplained = Mutex::new(Vec::new());
    on_all_processors(count as usize, |index| {
        let unit = first + index as u64;
        let mut rng = Random::new(seed.wrapping_add(unit));
        let model = random_unit(&mut rng);
        let found = probe(formats_of(&model), &Options::default(), ask(&model)).unwrap();
        let name = format!(
            "seed {seed}, unit {unit}: {} x {} -> {}",
            model.a(),
            model.b(),
            model.output()
        );
        if found.mismatches > 0 {
            eprintln!(
                "{name}: {} answers not explained, {:?}\nnearest: {:?}",
                found.mismatches,
                model.params(),
                found.params
            );
            unexplained.lock().unwrap().push(name);
        } else if let Err(why) = check(&name, &model, &found, 100, unit) {
            eprintln!("FAILED {why}");
            failures.lock().unwrap().push(why);
        }
    });
    let (failures, unexplained) = (
        failures.into_inner().unwrap(),
        unexplained.into_inner().unwrap(),
    );
    eprintln!("{} of {count} units not explained", unexplained.len());
    assert!(
        failures.is_empty(),
        "{} of {count} failed\n{}",
        failures.len(),
        failures.join("\n\n")
    );
    assert!(
        unexplained.len() as u64 <= count.div_ceil(20),
        "not explained: {unexplained:?}"
    );
}

/// Both were once taken for other units, for certain: only rare vectors tell them apart.
#[test]
fn custom_units_are_not_mistaken_for_their_neighbours() {
    check_custom_units(152, 2);
}

#[test]
#[ignore = "takes minutes; run with --ignored, MFMA_PROBE_UNITS units from MFMA_PROBE_FIRST on"]
fn custom_units_are_found_or_said_not_to_be_identifiable() {
    let number =
        |name: &str, usual: u64| std::env::var(name).map_or(usual, |text| text.parse().unwrap());
    let count = number("MFMA_PROBE_UNITS", 200);
    check_custom_units(number("MFMA_PROBE_FIRST", 0), count);
}

/// What [`Feature::applies`] says of a unit is true: its other features change no result.
#[test]
fn features_that_do_not_apply_change_nothing() {
    let seed = common::seed();
    for unit in 0..400 {
        let mut rng = Random::new(seed.wrapping_add(unit));
        let model = random_unit(&mut rng);
        let donor = random_unit(&mut rng);
        let formats = formats_of(&model);
        let mut other = *model.params();
        for feature in Feature::ALL {
            if !feature.applies(model.params(), formats.inputs(), formats.output) {
                let changed = feature.with(&other, feature.get(donor.params()));
                if changed.check(formats.inputs(), formats.output).is_ok() {
                    other = changed;
                }
            }
        }
        if let Some(case) = disagreement(&other, &model, 20, unit) {
            panic!(
                "seed {seed}, unit {unit}: {:?}\nand {other:?}\ndiffer on {case}",
                model.params()
            );
        }
    }
}

/// Table 3 as the paper prints it, its TeX written plainly.
const TABLE3: &str = "\
|B200|H100|MI300A/X|H100, B200|A100|MI100|MI300A/X|H100, B200|A100|MI300A/X
In|fp8|fp8|fp8|fp16/bf16|fp16/bf16|fp16/bf16|fp16/bf16|tf19|tf19|tf19
Prd. Align.|(2,25)|(2,13)|(2,24)|(2,25)|(2,24)|(1,∞)|(2,24)|(2,25)|(2,24)|(2,24)
N_FMA|32|32|8_odd-even|16/16|8/8|4/2|8/8|8|4|4
e_{c=0}|-∞|-∞|-126|-∞|-∞|-∞|-126|-∞|-∞|-126
c late/early|early|early|late|early|early|early|late|early|early|late
align|-|-|(24,32,RD)|-|-|-|(24,32,RD)|-|-|(24,32,RD)
out. round.|RTZ|RTZ|RNE|RTZ|RTZ|RNE|RNE|RTZ|RTZ|RNE
e_lim|-|-|-|-133|-132|-|-126|-133|-132|-126
overflow|No|No|2^128|No|No|No|2^128|No|No|2^128
";

#[test]
fn table_3_comes_out_of_the_catalogue() {
    let columns = mfma::probe::table3().unwrap();
    for (row, line) in TABLE3.lines().enumerate() {
        let printed: Vec<&str> = line.split('|').skip(1).collect();
        let ours: Vec<&str> = columns
            .iter()
            .map(|column| column.cells[row].as_str())
            .collect();
        assert_eq!(ours, printed, "row {row}");
    }
}

/// The same against the paper's own text, where it is at hand.
#[test]
fn table_3_equals_the_papers_text() {
    let Some(folder) = common::evidence_folder() else {
        return common::say_absent("table_3_equals_the_papers_text");
    };
    let text = std::fs::read_to_string(folder.join("paper.txt")).unwrap();
    let mut lines = text
        .lines()
        .skip_while(|line| !line.starts_with("Table 3. Comparison"));
    lines.next();
    let rows: Vec<&str> = lines.skip_while(|line| line.is_empty()).take(10).collect();
    let plain = |cell: &str| {
        let mut cell = cell.trim().replace("$", "");
        for (tex, text) in [
            ("8_{\\mathrm{odd-even}}", "8_odd-even"),
            ("\\infty", "∞"),
            ("2^{128}", "2^128"),
        ] {
            cell = cell.replace(tex, text);
        }
        cell
    };
    let columns = mfma::probe::table3().unwrap();
    for (row, line) in rows.iter().enumerate() {
        let printed: Vec<String> = line.split('\t').skip(1).map(plain).collect();
        let ours: Vec<String> = columns
            .iter()
            .map(|column| column.cells[row].clone())
            .collect();
        assert_eq!(ours, printed, "{line}");
    }
}

#[test]
fn orders_of_addition_are_discovered() {
    let order = |arch: mfma::Arch, format: Format, n: usize| {
        let model = Model::new(arch, format, format, Format::Fp32).unwrap();
        mfma::probe::summation_order(formats_of(&model), n, ask(&model))
            .unwrap()
            .to_string()
    };
    use mfma::Arch::*;
    assert_eq!(
        order(Cdna1, Format::Fp32, 4),
        "((((c + p1) + p2) + p3) + p4)"
    );
    assert_eq!(order(Cdna1, Format::Bf16, 4), "{{c + p1 + p2} + p3 + p4}");
    assert_eq!(
        order(Cdna2, Format::Bf16, 8),
        "((c + ((p1 + p2) + (p3 + p4))) + ((p5 + p6) + (p7 + p8)))"
    );
    assert_eq!(
        order(Ampere, Format::Tf32, 8),
        "[[c + p1 + p2 + p3 + p4] + p5 + p6 + p7 + p8]"
    );
}

/// A unit outside the space of parameters is reported, with vectors.
#[test]
fn an_unknown_unit_is_not_explained_away() {
    let formats = Formats {
        a: Format::Bf16,
        b: Format::Bf16,
        output: Format::Fp32,
    };
    let model = Model::new(mfma::Arch::Cdna3, formats.a, formats.b, formats.output).unwrap();
    // CDNA 3, but with the last bit of every result forced to 1 where the second product is negative.
    let odd = one_by_one(move |a, b, c| {
        let d = dot_raw(model.unit(), a, b, c);
        let negative = a.len() > 1 && (a[1] ^ b[1]) & 0x8000 != 0;
        Ok(if negative && d & 0x7f80_0000 != 0x7f80_0000 {
            d | 1
        } else {
            d
        })
    });
    let options = Options {
        vectors: 40,
        ..Options::default()
    };
    let found = probe(formats, &options, odd).unwrap();
    assert!(found.mismatches > 0 && !found.differences.is_empty());
    assert!(found.rows.is_empty());
    assert!(found.to_string().contains("NO parameters give all answers"));
}
