//! The functions of the fuzz targets on the inputs that fuzzing once found, and on random ones: a short run of what
//! `fuzz/run.sh` does for as long as one likes.

#[path = "common/random.rs"]
#[allow(dead_code)]
mod random;
#[path = "../fuzz/src/lib.rs"]
mod targets;

use std::path::Path;

use random::{Random, seed};

/// Random inputs for each target.
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
    let mut random = Random::new(seed());
    for case in 0..CASES {
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
    println!("{name}: {} kept inputs, {CASES} random ones", kept.len());
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
