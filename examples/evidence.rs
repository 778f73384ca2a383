//! Runs all evidence through the library and writes what comes out: `docs/evidence.md`, and the counts that
//! [`mfma::model::capabilities`] returns. `MFMA_TEST_DATA` names the folder of the evidence.

use std::path::Path;
use std::process::ExitCode;

#[path = "../tests/common/mod.rs"]
mod common;

fn main() -> ExitCode {
    let Some(folder) = common::evidence_folder() else {
        eprintln!(
            "evidence: set MFMA_TEST_DATA to the folder of the evidence (golden/, hardware.tar.xz, ...)"
        );
        return ExitCode::FAILURE;
    };
    let outcomes = common::report::run(&folder);
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = [
        (
            "docs/evidence.md",
            common::report::markdown(&folder, &outcomes),
        ),
        (
            "src/model/evidence_counts.rs",
            common::report::counts_source(&outcomes),
        ),
    ];
    for (name, text) in files {
        if let Err(error) = std::fs::write(root.join(name), text) {
            eprintln!("evidence: {name}: {error}");
            return ExitCode::FAILURE;
        }
    }
    let mismatches: Vec<&String> = outcomes
        .iter()
        .flat_map(|outcome| &outcome.mismatches)
        .collect();
    for line in mismatches.iter().take(20) {
        eprintln!("mismatch: {line}");
    }
    println!(
        "{} sets, {} mismatches; docs/evidence.md written",
        outcomes.len(),
        mismatches.len()
    );
    ExitCode::from(u8::from(!mismatches.is_empty()))
}
