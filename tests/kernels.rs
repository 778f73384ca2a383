//! Every kernel on every level against the reference, bit for bit.
//!
//! MFMA_TEST_CASES sets how many dot products a row of the catalogue gets on each level (all generators together; 20,000
//! unless set, 1,400,000 in `make test`, which makes every row more than a million),
//! MFMA_TEST_SEED the seed; both are printed. MFMA_TEST_ROW limits the test to rows whose name contains a text.

#[path = "common/engine.rs"]
mod engine;
#[path = "common/generators.rs"]
mod generators;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use engine::{compute, difference, expected, levels};
use generators::{ALL, Generator, Operands, Rng, draw, number_from_env};
use mfma::Model;
use mfma::kernel::{Level, force_level};
use mfma::model::{Reach, catalogue};

/// A unit of the catalogue with a name to print.
#[derive(Clone)]
struct Named {
    name: String,
    model: Model,
    /// Pairs of formats that share this row's cases.
    pairs: u64,
}

fn all_units() -> Vec<Named> {
    let filter = std::env::var("MFMA_TEST_ROW").unwrap_or_default();
    let rows = catalogue().flat_map(|row| {
        row.inputs.iter().map(move |&[a, b]| {
            let reach = match row.reach {
                Reach::Formats => "",
                Reach::Instruction => " by instruction",
            };
            Named {
                name: format!("{} {a} x {b} -> {}{reach}", row.arch, row.output),
                model: Model::from_params(row.params, a, b, row.output).unwrap(),
                pairs: row.inputs.len() as u64,
            }
        })
    });
    rows.filter(|unit| unit.name.contains(&filter)).collect()
}

/// Compares one product.
fn check(
    unit: &Named,
    level: Level,
    what: &str,
    operands: &Operands,
    want: &[u64],
) -> Result<(), String> {
    let got = compute(&unit.model, operands);
    match difference(operands, want, &got) {
        Some(text) => Err(format!("{} on {}, {what}: {text}", unit.name, level.name())),
        None => Ok(()),
    }
}

/// Runs `task` for every number below `count` on all cores.
fn on_all_cores(count: usize, task: impl Fn(usize) + Sync) {
    let next = AtomicUsize::new(0);
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    if i >= count {
                        break;
                    }
                    task(i);
                }
            });
        }
    });
}

/// A generator, the operands that it drew, and what the reference makes of them.
type Drawn = (Generator, Operands, Vec<u64>);

/// The level is one for the whole process, so one test walks through everything.
#[test]
fn every_row_on_every_level_with_every_generator() {
    let cases = number_from_env("MFMA_TEST_CASES", 20_000);
    let seed = number_from_env("MFMA_TEST_SEED", 1);
    println!("MFMA_TEST_CASES={cases} MFMA_TEST_SEED={seed}");
    let units = all_units();
    let failures = std::sync::Mutex::new(Vec::new());
    // Drawn and computed by the reference once, then compared on each level; some 10^4 dot products at a time.
    for (number, unit) in units.iter().enumerate() {
        let started = std::time::Instant::now();
        let per_generator = cases / unit.pairs / ALL.len() as u64;
        let done = AtomicUsize::new(0);
        let (side, rounds) = (24, (per_generator / (24 * 24)).max(1) as usize);
        for part in 0..rounds.div_ceil(512) {
            let count = 512.min(rounds - part * 512) * ALL.len();
            let drawn: Vec<Mutex<Option<Drawn>>> = (0..count).map(|_| Mutex::new(None)).collect();
            on_all_cores(count, |i| {
                let generator = ALL[i % ALL.len()];
                let mut rng = Rng::new(
                    seed ^ ((number as u64) << 40 | (part as u64) << 20 | i as u64)
                        .wrapping_mul(0x2545_f491_4f6c_dd1d),
                );
                let block = unit.model.params().fma as usize;
                let k = if rng.one_in(3) { 2 * block } else { block };
                let k = if block == 1 { 4 } else { k };
                let (m, n) = (side - rng.below(5) as usize, side - rng.below(9) as usize);
                let operands = draw(&mut rng, generator, &unit.model, m, n, k);
                let want = expected(&unit.model, &operands);
                done.fetch_add(want.len(), Ordering::Relaxed);
                *drawn[i].lock().unwrap() = Some((generator, operands, want));
            });
            for level in levels() {
                assert!(force_level(Some(level)));
                on_all_cores(count, |i| {
                    let drawn = drawn[i].lock().unwrap();
                    let (generator, operands, want) = drawn.as_ref().unwrap();
                    let what = format!("{generator:?}");
                    if let Err(message) = check(unit, level, &what, operands, want) {
                        failures.lock().unwrap().push(message);
                    }
                });
            }
            force_level(None);
        }
        let done = done.into_inner();
        println!(
            "{}: {done} dot products, {:.1} s",
            unit.name,
            started.elapsed().as_secs_f64()
        );
    }
    let failures = failures.into_inner().unwrap();
    assert!(
        failures.is_empty(),
        "{} products differ:\n{}",
        failures.len(),
        failures
            .iter()
            .take(12)
            .cloned()
            .collect::<Vec<_>>()
            .join("\n")
    );
}
