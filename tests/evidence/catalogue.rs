//! Every row of the catalogue has evidence, or says that it is assumed.

use mfma::model::{
    Capability, Evidence, Instruction, Row, capabilities, catalogue, mismatch_bound,
};

use crate::common::evidence::{committed_folder, visit};
use crate::common::report::{self, row_of};
use crate::common::{evidence_folder, say_absent};
use crate::vectors::outcomes;

fn name(row: &Row) -> String {
    let inputs: Vec<String> = row
        .inputs
        .iter()
        .map(|[a, b]| format!("{a} x {b}"))
        .collect();
    format!(
        "{} {} -> {} ({})",
        row.arch,
        inputs.join(", "),
        row.output,
        row.source
    )
}

#[test]
fn every_unit_has_vectors_or_is_assumed() {
    for row in catalogue() {
        let bare = row
            .inputs
            .iter()
            .all(|&[a, b]| row.vectors(a, b).total() == 0);
        assert!(
            !bare || row.evidence == Evidence::Assumed,
            "{} has no vector and is not marked as assumed",
            name(row)
        );
    }
    for unit in capabilities() {
        assert!(
            unit.vectors.total() > 0
                || matches!(unit.evidence(), Evidence::Assumed | Evidence::NoHardware),
            "{}: {} x {} has no vector and is said to be {:?}",
            name(unit.row),
            unit.a,
            unit.b,
            unit.evidence()
        );
    }
}

#[test]
fn the_instruction_of_a_unit_computes_like_it() {
    let mut named = 0;
    for unit in capabilities() {
        let instruction = unit.instruction();
        if instruction.is_empty() {
            assert_eq!(unit.evidence(), Evidence::NoHardware, "{}", name(unit.row));
            continue;
        }
        let found = Instruction::find(&instruction, unit.row.arch)
            .unwrap_or_else(|e| panic!("{instruction}: {e}"));
        assert!(std::ptr::eq(found.row, unit.row), "{instruction}");
        assert_eq!((found.a, found.b), (unit.a, unit.b), "{instruction}");
        named += 1;
    }
    assert!(named > 60, "{named}");
}

#[test]
fn what_a_row_claims_it_has() {
    for row in catalogue() {
        let vectors: Vec<_> = row.inputs.iter().map(|&[a, b]| row.vectors(a, b)).collect();
        let measured = vectors.iter().any(|v| v.measured > 0);
        let paper = vectors.iter().any(|v| v.paper > 0);
        let golden = vectors.iter().any(|v| v.golden > 0);
        let (fits, claim) = match row.evidence {
            Evidence::Measured => (measured, "measured"),
            Evidence::Paper => ((paper || golden) && !measured, "known from the paper"),
            Evidence::Assumed => (!measured && !paper, "assumed only"),
            Evidence::NoHardware => (!measured && golden, "the toolbox's"),
        };
        assert!(
            fits,
            "{} is said to be {claim}, but has {vectors:?}",
            name(row)
        );
        assert!(vectors.iter().all(|v| v.mismatches == 0), "{}", name(row));
    }
}

/// A clone without the evidence folder still runs every row that has vectors, except those known only from
/// measurements, which are not committed.
#[test]
fn the_committed_vectors_run_every_row() {
    let mut run: Vec<&'static Row> = Vec::new();
    visit(&committed_folder(), &mut |set| run.push(row_of(&set)));
    for row in catalogue() {
        let total: u64 = row
            .inputs
            .iter()
            .map(|&[a, b]| {
                let vectors = row.vectors(a, b);
                vectors.total() - vectors.measured
            })
            .sum();
        assert!(
            total == 0 || run.iter().any(|other| std::ptr::eq(*other, row)),
            "no committed vector runs {}",
            name(row)
        );
    }
}

#[test]
fn the_evidence_table_is_current() {
    let (Some(folder), Some(outcomes)) = (evidence_folder(), outcomes()) else {
        return say_absent("the_evidence_table_is_current");
    };
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    for (file, text) in [
        (
            "src/model/evidence_counts.rs",
            report::counts_source(outcomes),
        ),
        ("docs/evidence.md", report::markdown(&folder, outcomes)),
    ] {
        let committed = std::fs::read_to_string(root.join(file)).unwrap();
        assert!(
            committed == text,
            "{file} is not current; run `cargo run --example evidence`"
        );
    }
}

/// The bounds of the paper's section 5.4 and Table 2.
#[test]
fn bounds_are_the_papers() {
    let printed = [
        (1e5, "1.38e-4"),
        (1e6, "1.38e-5"),
        (2e6, "6.91e-6"),
        (1e7, "1.38e-6"),
    ];
    for (vectors, bound) in printed {
        assert_eq!(
            format!("{:.2e}", mismatch_bound(vectors as u64, 1e-6)),
            bound
        );
    }
    for Capability { vectors, .. } in capabilities() {
        let bound = vectors.mismatch_bound(1e-6);
        assert_eq!(bound.is_some(), vectors.total() > 0);
        assert!(bound.is_none_or(|bound| bound > 0.0 && bound < 1.0));
    }
}
