//! What `cargo run --example evidence` writes: the count of vectors of every unit, as a table of the library, and
//! `docs/evidence.md`.

use std::fmt::Write;
use std::path::Path;

use mfma::Format;
use mfma::format::Rounding;
use mfma::model::{
    Capability, Evidence, Instruction, Interleave, Reach, Row, Scheme, Vectors, capabilities,
    catalogue,
};
use mfma::reference::dot_raw;

use super::evidence::{Set, Source, paper_rows, visit};
use super::passes::PASSES;
use super::readings::READINGS;

/// The result of running one set.
pub struct Outcome {
    pub name: String,
    pub source: Source,
    row: &'static Row,
    a: Format,
    b: Format,
    pub vectors: u64,
    pub mismatches: Vec<String>,
}

/// Runs the whole evidence of a folder.
pub fn run(folder: &Path) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    visit(folder, &mut |set| outcomes.push(run_set(&set)));
    outcomes.sort_by(|x, y| x.name.cmp(&y.name));
    outcomes
}

fn run_set(set: &Set) -> Outcome {
    let mut mismatches: Vec<String> = Vec::new();
    for pass in PASSES {
        let results = (pass.run)(set);
        let wrong = set.mismatches(&results);
        mismatches.extend(
            wrong
                .into_iter()
                .filter(|line| !mismatches.contains(line))
                .collect::<Vec<_>>(),
        );
    }
    Outcome {
        name: set.name.clone(),
        source: set.source,
        row: row_of(set),
        a: set.model.a(),
        b: set.model.b(),
        vectors: set.cases.len() as u64,
        mismatches,
    }
}

/// The row of the catalogue that a set's unit is.
pub fn row_of(set: &Set) -> &'static Row {
    if let Some(name) = &set.instruction {
        return Instruction::find(name, set.arch).unwrap().row;
    }
    let model = &set.model;
    catalogue()
        .find(|row| {
            row.arch == set.arch
                && row.output == model.output()
                && row.inputs.contains(&[model.a(), model.b()])
                && row.params == *model.params()
        })
        .unwrap_or_else(|| panic!("{} runs on no row of the catalogue", set.name))
}

/// The counts of one unit.
fn count(outcomes: &[Outcome], row: &Row, a: Format, b: Format) -> Vectors {
    let mut vectors = Vectors::default();
    for outcome in outcomes
        .iter()
        .filter(|o| std::ptr::eq(o.row, row) && (o.a, o.b) == (a, b))
    {
        let by_source = match outcome.source {
            Source::Measured => &mut vectors.measured,
            Source::Paper => &mut vectors.paper,
            Source::Directed => &mut vectors.directed,
            Source::Golden => &mut vectors.golden,
        };
        *by_source += outcome.vectors;
        vectors.mismatches += outcome.mismatches.len() as u64;
    }
    vectors
}

/// `src/model/evidence_counts.rs`.
pub fn counts_source(outcomes: &[Outcome]) -> String {
    let mut text = String::from(
        "// Written by `cargo run --example evidence`; do not edit.\n\n\
         use super::Arch::*;\nuse super::Reach::*;\nuse super::evidence::{Unit, Vectors};\nuse crate::format::Format::*;\n\n\
         /// Vectors that each unit has been checked against; units without vectors are left out.\n\
         #[rustfmt::skip]\npub(super) const COUNTS: &[(Unit, Vectors)] = &[\n",
    );
    for Capability { row, a, b, .. } in capabilities() {
        let Vectors {
            measured,
            paper,
            directed,
            golden,
            mismatches,
        } = count(outcomes, row, a, b);
        if measured + paper + directed + golden > 0 {
            writeln!(
                text,
                "    (({:?}, {:?}, {a:?}, {b:?}, {:?}), Vectors {{ measured: {measured}, paper: {paper}, directed: {directed}, \
                 golden: {golden}, mismatches: {mismatches} }}),",
                row.arch, row.reach, row.output
            )
            .unwrap();
        }
    }
    text + "];\n"
}

const HEAD: &str = "\
# Evidence

Written by `cargo run --example evidence` (with `MFMA_TEST_DATA` naming the folder of the evidence); do not edit.

Every vector below has been run through the library in each of the ways named under the total, and the table says how many
results differ in any of them. *Measured*: random inputs run on GPUs by the authors of MATLAB Tensor Core (repository
MATLAB-tensor-core, commit b12b5a7), and a selection of what this project ran on an H200 (`measured.md` counts all of it,
which is hundreds of times more, so that the bounds of Hopper's rows are cautious). *Paper*: the vectors printed in section 4 of the paper or following from its
algorithms. *Directed*: cases from problems that people met with other libraries. *Golden*: the toolbox's own answers,
corrected where it is known to differ from the hardware (`differences.md`). *Bound*: with probability 1 - 10^-6, the unit
and its model differ on fewer than this share of random inputs: 1 - (10^-6)^(1/(N+1)) for N vectors without a mismatch
(paper, section 5.4). N counts the measured vectors where there are any; else all, which are not all random and were not
all run on hardware, so that the bound says how well the library agrees with its sources, and is put in brackets. (For
CDNA 1, 2 and 3 the paper's authors report campaigns of 10^6 to 2 * 10^7 random vectors a format on the GPUs without a
mismatch; their data is not published.)

\"Assumed\": vendor documentation or other models say so, nobody has published measurements. \"No hardware\": only the toolbox
has this unit. A pair without vectors of its own shares the row of its neighbours, and is assumed.

";

const COLUMNS: &str = "\
| inputs -> output | N_FMA | sum | alignment bits | rounding | limits | subnormals | reached by | known from | measured | paper | directed | golden | mismatches | bound |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
";

/// `docs/evidence.md`.
pub fn markdown(folder: &Path, outcomes: &[Outcome]) -> String {
    let mut text = String::from(HEAD);
    let total: u64 = outcomes.iter().map(|o| o.vectors).sum();
    let wrong: usize = outcomes.iter().map(|o| o.mismatches.len()).sum();
    writeln!(
        text,
        "In all {total} vectors in {} sets, {wrong} mismatches. Ways: {}. Whole products of the toolbox are compared besides \
         (`tests/evidence/products.rs`).\n",
        outcomes.len(),
        PASSES.iter().map(|pass| pass.name).collect::<Vec<_>>().join("; ")
    )
    .unwrap();
    let mut arch = None;
    for Capability { row, a, b, .. } in capabilities() {
        if arch != Some(row.arch) {
            arch = Some(row.arch);
            write!(text, "\n## {}\n\n{COLUMNS}", row.arch).unwrap();
        }
        let vectors = count(outcomes, row, a, b);
        writeln!(text, "{}", unit_line(row, a, b, vectors)).unwrap();
    }
    text += "\n## Files\n\n| set | unit | vectors | mismatches |\n| --- | --- | --- | --- |\n";
    for outcome in outcomes.iter().filter(|o| o.source != Source::Directed) {
        let Outcome {
            name,
            row,
            a,
            b,
            vectors,
            ..
        } = outcome;
        let unit = format!("{} {}", row.arch, formats(row, *a, *b));
        writeln!(
            text,
            "| {name} | {unit} | {vectors} | {} |",
            outcome.mismatches.len()
        )
        .unwrap();
    }
    let directed: Vec<&Outcome> = outcomes
        .iter()
        .filter(|o| o.source == Source::Directed)
        .collect();
    let wrong: usize = directed.iter().map(|o| o.mismatches.len()).sum();
    writeln!(
        text,
        "| directed_cases.txt | several | {} | {wrong} |",
        directed.len()
    )
    .unwrap();
    text + &ambiguous(folder)
}

fn formats(row: &Row, a: Format, b: Format) -> String {
    format!("{a} x {b} -> {}", row.output)
}

fn unit_line(row: &'static Row, a: Format, b: Format, vectors: Vectors) -> String {
    let unit = Capability { row, a, b, vectors };
    let p = &row.params;
    let sum = match p.scheme {
        Scheme::SequentialFma => "FMA chain",
        Scheme::CorrectRounding => "exact",
        Scheme::PairwiseSum => "pairwise",
        Scheme::GlobalAlignment if p.interleave == Interleave::Mod4 => {
            "aligned, two interleaved halves, c last"
        }
        Scheme::GlobalAlignment if p.late_c => "aligned, c late",
        Scheme::GlobalAlignment => "aligned with c",
        Scheme::OddEvenGrouping => "odd and even aligned apart, c late",
    };
    let dash = || "-".to_string();
    let kept = p.result_bits(row.output);
    let rounding = match p.rounding {
        Rounding::NearestEven => "RNE",
        Rounding::TowardZero => "RTZ",
        Rounding::Down => "RD",
        Rounding::Up => "RU",
    };
    let rounding = if kept < row.output.info().fraction_bits {
        format!("{rounding} to {kept} bits")
    } else {
        rounding.to_string()
    };
    let mut limits = Vec::new();
    if let Some(exponent) = p.min_exponent {
        limits.push(format!("e >= {exponent}"));
    }
    if let Some(exponent) = p.zero_c_exponent {
        limits.push(format!("c = 0 at {exponent}"));
    }
    if p.product_limit {
        limits.push("products < 2^128".to_string());
    }
    let subnormals = match (p.in_subnormals, p.out_subnormals) {
        (true, true) => "kept",
        (false, false) => "flushed",
        (true, false) => "kept in, flushed out",
        (false, true) => "flushed in, kept out",
    };
    let reached = match (unit.instruction().as_str(), row.reach) {
        ("", _) => dash(),
        (name, Reach::Formats) => format!("formats; `{name}`"),
        (name, Reach::Instruction) => format!("only `{name}`"),
    };
    let evidence = match unit.evidence() {
        Evidence::Measured => "measured",
        Evidence::Paper => "paper",
        Evidence::Assumed => "assumed",
        Evidence::NoHardware => "no hardware",
    };
    let bound = match vectors.mismatch_bound(1e-6) {
        None => dash(),
        Some(bound) if vectors.measured > 0 => format!("{bound:.2e}"),
        Some(bound) => format!("({bound:.2e})"),
    };
    let cells = [
        formats(row, a, b),
        p.fma.to_string(),
        sum.to_string(),
        unit.alignment_bits()
            .map_or_else(dash, |bits| bits.to_string()),
        rounding,
        if limits.is_empty() {
            dash()
        } else {
            limits.join(", ")
        },
        subnormals.to_string(),
        reached,
        if row.source.starts_with(evidence) {
            row.source.to_string()
        } else {
            format!("{evidence}: {}", row.source)
        },
        vectors.measured.to_string(),
        vectors.paper.to_string(),
        vectors.directed.to_string(),
        vectors.golden.to_string(),
        vectors.mismatches.to_string(),
        bound,
    ];
    format!("| {} |", cells.join(" | "))
}

fn ambiguous(folder: &Path) -> String {
    let rows = paper_rows(folder);
    let ambiguous: Vec<_> = rows.iter().filter(|row| row.ambiguous).collect();
    let mut text = format!(
        "\n## Rows of the paper that can be read in several ways\n\n\
         {} of the {} rows of paper_vectors.tsv; they are not counted above.\n",
        ambiguous.len(),
        rows.len()
    );
    for reading in &READINGS {
        write!(
            text,
            "\n* The paper: {}. Our reading: {}\n  ",
            reading.words, reading.reading
        )
        .unwrap();
        let of_reading = ambiguous
            .iter()
            .filter(|row| std::ptr::eq(super::readings::Reading::of(row), reading));
        let results: Vec<String> = of_reading
            .map(|row| {
                let d = dot_raw(row.model.unit(), &row.case.a, &row.case.b, row.case.c);
                format!("{} {d:08x}", row.id)
            })
            .collect();
        writeln!(text, "{}.", results.join(", ")).unwrap();
    }
    text
}
