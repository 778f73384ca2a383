//! Every kernel on every level against the reference, bit for bit.
//!
//! MFMA_TEST_CASES sets how many dot products a row of the catalogue gets on each level (all generators together; 20,000
//! unless set, 1,000,000 in `make test`),
//! MFMA_TEST_SEED the seed; both are printed. MFMA_TEST_ROW limits the test to rows whose name contains a text.

#[path = "common/generators.rs"]
mod generators;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use generators::{ALL, Generator, Operands, Rng, draw, number_from_env};
use mfma::gemm::{Problem, Storage, View, run_with};
use mfma::kernel::{Level, force_level};
use mfma::model::{Reach, catalogue};
use mfma::reference::dot_raw;
use mfma::threads::Workers;
use mfma::{Format, Model};

/// A unit of the catalogue with a name to print.
#[derive(Clone)]
struct Named {
    name: String,
    model: Model,
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
            }
        })
    });
    rows.filter(|unit| unit.name.contains(&filter)).collect()
}

/// Encodings in the storage of their format.
struct Packed {
    bytes: Vec<u8>,
    format: Format,
}

impl Packed {
    fn new(format: Format, bits: &[u64]) -> Packed {
        let size = format.bytes();
        let bytes = bits
            .iter()
            .flat_map(|x| x.to_le_bytes()[..size].to_vec())
            .collect();
        Packed { bytes, format }
    }

    fn view(&mut self, col_stride: usize) -> View {
        // SAFETY: the matrix is column-major in `bytes`, which outlives the product.
        unsafe {
            View::new(
                self.bytes.as_mut_ptr(),
                Storage::Raw,
                self.format,
                1,
                col_stride as isize,
            )
        }
    }

    fn bits(&self) -> Vec<u64> {
        let size = self.format.bytes();
        self.bytes
            .chunks(size)
            .map(|chunk| {
                let mut word = [0; 8];
                word[..size].copy_from_slice(chunk);
                u64::from_le_bytes(word)
            })
            .collect()
    }
}

/// D by the engine on the level that is forced.
fn compute(model: &Model, operands: &Operands, parallel: bool) -> Vec<u64> {
    let Operands { m, n, k, .. } = *operands;
    let mut a = Packed::new(model.a(), &operands.a);
    let mut b = Packed::new(model.b(), &operands.b);
    let mut c = Packed::new(model.output(), &operands.c);
    let mut d = Packed::new(model.output(), &vec![0; m * n]);
    let problem = Problem {
        model: *model,
        m,
        n,
        k,
        alpha: 1.0,
        a: a.view(m),
        b: b.view(k),
        beta: 1.0,
        c: Some(c.view(m)),
        d: d.view(m),
    };
    let workers = Workers::new(if parallel { 0 } else { 1 });
    run_with(&problem, workers, None).unwrap();
    d.bits()
}

fn expected(model: &Model, operands: &Operands) -> Vec<u64> {
    let Operands { m, n, .. } = *operands;
    let rows: Vec<Vec<u64>> = (0..m).map(|i| operands.row_of_a(i)).collect();
    (0..n)
        .flat_map(|j| {
            let column = operands.column_of_b(j);
            let rows = &rows;
            (0..m).map(move |i| dot_raw(model.unit(), &rows[i], &column, operands.c[i + j * m]))
        })
        .collect()
}

/// Compares one product; describes the first wrong element, all in hexadecimal.
fn check(
    unit: &Named,
    level: Level,
    what: &str,
    operands: &Operands,
    want: &[u64],
) -> Result<(), String> {
    let got = compute(&unit.model, operands, false);
    let Some(at) = (0..want.len()).find(|&at| got[at] != want[at]) else {
        return Ok(());
    };
    let (i, j) = (at % operands.m, at / operands.m);
    let hex = |x: &[u64]| -> String {
        let words: Vec<String> = x.iter().map(|x| format!("{x:x}")).collect();
        words.join(",")
    };
    let wrong = (0..want.len()).filter(|&at| got[at] != want[at]).count();
    Err(format!(
        "{} on {}, {what}: {wrong} of {} wrong; element ({i}, {j}) of {}x{}: {} a={} b={} c={:x} d={:x}, got {:x}",
        unit.name,
        level.name(),
        want.len(),
        operands.m,
        operands.n,
        operands.k,
        hex(&operands.row_of_a(i)),
        hex(&operands.column_of_b(j)),
        operands.c[at],
        want[at],
        got[at]
    ))
}

fn levels() -> Vec<Level> {
    Level::ALL
        .into_iter()
        .filter(|level| level.available())
        .collect()
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

/// The level is one for the whole process, so one test walks through everything.
/// A generator, the operands that it drew, and what the reference makes of them.
type Drawn = (Generator, Operands, Vec<u64>);

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
        let per_generator = cases / ALL.len() as u64;
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
