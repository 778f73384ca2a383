//! Zero mismatches in every set.

use std::path::Path;
use std::sync::OnceLock;

use crate::common::evidence::{Set, Source, committed_folder, directed, golden, h200, paper};
use crate::common::passes::PASSES;
use crate::common::report::{self, Outcome};
use crate::common::{evidence_folder, say_absent};

type Visit = fn(&Path, &mut dyn FnMut(Set));

/// Runs all sets that `visit` finds; returns how many sets and vectors there were.
fn check(folder: &Path, visit: Visit) -> (usize, usize) {
    let (mut sets, mut vectors) = (0, 0);
    let mut wrong = Vec::new();
    visit(folder, &mut |set| {
        assert!(!set.cases.is_empty(), "{} is empty", set.name);
        sets += 1;
        vectors += set.cases.len();
        for pass in PASSES {
            let results = (pass.run)(&set);
            let lines = set.mismatches(&results);
            wrong.extend(
                lines
                    .into_iter()
                    .map(|line| format!("{}: {line}", pass.name)),
            );
        }
    });
    assert!(
        wrong.is_empty(),
        "{} of {vectors} vectors differ:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(5)].join("\n")
    );
    println!("{vectors} vectors of {sets} sets");
    (sets, vectors)
}

/// What running the full evidence gave; it is run once for all tests.
pub fn outcomes() -> Option<&'static [Outcome]> {
    static OUTCOMES: OnceLock<Option<Vec<Outcome>>> = OnceLock::new();
    OUTCOMES
        .get_or_init(|| evidence_folder().map(|folder| report::run(&folder)))
        .as_deref()
}

/// Looks at the sets of the full evidence from one source.
fn check_evidence(test: &str, source: Source, at_least: (usize, u64)) {
    let Some(outcomes) = outcomes() else {
        return say_absent(test);
    };
    let chosen = || outcomes.iter().filter(|outcome| outcome.source == source);
    let wrong: Vec<&String> = chosen().flat_map(|outcome| &outcome.mismatches).collect();
    let (sets, vectors) = (
        chosen().count(),
        chosen().map(|outcome| outcome.vectors).sum(),
    );
    assert!(
        wrong.is_empty(),
        "{} of {vectors} vectors differ: {:#?}",
        wrong.len(),
        &wrong[..wrong.len().min(5)]
    );
    assert!(
        (sets, vectors) >= at_least && vectors >= at_least.1,
        "only {vectors} vectors of {sets} sets found"
    );
    println!("{vectors} vectors of {sets} sets");
}

#[test]
fn committed_golden_vectors() {
    let (sets, vectors) = check(&committed_folder(), golden);
    assert!(sets >= 84 && vectors >= 11_000);
}

#[test]
fn committed_directed_cases() {
    assert!(check(&committed_folder(), directed).1 >= 51);
}

#[test]
fn committed_paper_vectors() {
    assert!(check(&committed_folder(), paper).1 >= 2562);
}

/// What this project measured on an H200, every instruction with 8-bit, binary16, bfloat16, tf32 and binary64 inputs.
#[test]
fn committed_h200_vectors() {
    let (sets, vectors) = check(&committed_folder(), |_, visitor| h200(visitor));
    assert!(sets >= 39 && vectors >= 5_000);
}

#[test]
fn all_golden_vectors() {
    check_evidence("all_golden_vectors", Source::Golden, (84, 96_349));
}

#[test]
fn all_measured_vectors() {
    check_evidence("all_measured_vectors", Source::Measured, (48, 240_000));
}

/// The committed copies are those of the evidence.
#[test]
fn committed_vectors_are_part_of_the_evidence() {
    let Some(folder) = evidence_folder() else {
        return say_absent("committed_vectors_are_part_of_the_evidence");
    };
    for name in ["paper_vectors.tsv", "directed_cases.txt"] {
        let read = |folder: &Path| std::fs::read_to_string(folder.join(name)).unwrap();
        assert_eq!(read(&committed_folder()), read(&folder), "{name}");
    }
    let lines = |folder: &Path| {
        let mut lines = std::collections::HashSet::new();
        golden(folder, &mut |set| {
            lines.extend(
                set.cases
                    .iter()
                    .map(|case| format!("{} {}", set.name, case.text)),
            );
        });
        lines
    };
    let all = lines(&folder);
    let committed = lines(&committed_folder());
    let strange: Vec<&String> = committed.difference(&all).collect();
    assert!(strange.is_empty(), "{strange:?}");
    for kind in ["cat=dir", "cat=rd"] {
        let count = |lines: &std::collections::HashSet<String>| {
            lines
                .iter()
                .filter(|line| {
                    line.contains(kind)
                        && !line.contains("why=overflow")
                        && !line.contains("why=fp8-fp16-width")
                })
                .count()
        };
        assert_eq!(count(&committed), count(&all), "{kind}");
    }
}
