//! The functions of the fuzz targets on the inputs that fuzzing once found, and on random ones: a short run of what
//! `fuzz/run.sh` does for as long as one likes. `MFMA_FUZZ_SECONDS` makes each run so long, on a stable compiler too.

#[path = "common/random.rs"]
#[allow(dead_code)]
mod random;
#[path = "../fuzz/src/lib.rs"]
mod targets;

use std::path::Path;
use std::time::{Duration, Instant};

use random::{Random, seed};

/// Random inputs for each target, unless it is to run for a time.
const CASES: u64 = 5000;

fn run(name: &str) {
    let (_, target) = targets::TARGETS.iter().find(|row| row.0 == name).unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fuzz/found")
        .join(name);
    let mut kept: Vec<_> = std::fs::read_dir(&folder)
        .map(|entries| entries.map(|entry| entry.unwrap().path()).collect())
        .unwrap_or_default();
    kept.sort();
    for path in &kept {
        println!("{}", path.display());
        target(&std::fs::read(path).unwrap());
    }
    let seconds = std::env::var("MFMA_FUZZ_SECONDS").ok();
    let limit = seconds.map(|text| Duration::from_secs(text.parse().unwrap()));
    let start = Instant::now();
    let mut random = Random::new(seed());
    let mut case = 0u64;
    while limit.map_or(case < CASES, |limit| start.elapsed() < limit) {
        case += 1;
        let length = random.below(400) as usize;
        // Bytes of which many are zero, so that not everything is unusual at once.
        let plain = random.below(5);
        let input: Vec<u8> = (0..length)
            .map(|_| {
                if random.below(5) < plain {
                    0
                } else {
                    random.next() as u8
                }
            })
            .collect();
        let outcome = std::panic::catch_unwind(|| target(&input));
        assert!(
            outcome.is_ok(),
            "{name}, case {case} of seed {}: {input:?}",
            seed()
        );
    }
    println!("{name}: {} kept inputs, {case} random ones", kept.len());
}

#[test]
fn gemm() {
    run("gemm");
}

#[test]
fn simple() {
    run("simple");
}

#[test]
fn dots() {
    run("dots");
}

#[test]
fn convert() {
    run("convert");
}

#[test]
fn params() {
    run("params");
}
