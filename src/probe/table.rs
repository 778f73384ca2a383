//! The features of units in the form of the paper's Table 3, and that table from the catalogue.

use super::feature::rounding_name;
use crate::error::Error;
use crate::format::Format;
use crate::model::{Arch, Interleave, Model, Params, Scheme};

/// Labels of the table's rows, the paper's.
pub const LABELS: [&str; 10] = [
    "GPU",
    "In",
    "Prd. Align.",
    "N_FMA",
    "e_{c=0}",
    "c late/early",
    "align(c,S_{p_i-sum})",
    "out. round.",
    "e^lim_min",
    "|p_i|-overflow",
];

/// A column of the table: one unit, or several that agree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Column {
    /// The cells, in the order of [`LABELS`](Column::labels).
    pub cells: [String; 10],
}

impl Column {
    /// Labels of the cells.
    pub const fn labels() -> [&'static str; 10] {
        LABELS
    }

    /// The column of a unit.
    pub fn of(
        gpu: &str,
        input: &str,
        params: &Params,
        inputs: [Format; 2],
        output: Format,
    ) -> Column {
        let aligned = matches!(
            params.scheme,
            Scheme::GlobalAlignment | Scheme::OddEvenGrouping
        );
        let products = match params.scheme {
            Scheme::GlobalAlignment | Scheme::OddEvenGrouping => {
                let whole = if params.denormal_products { 2 } else { 1 };
                format!("({whole},{})", params.alignment_bits)
            }
            Scheme::PairwiseSum => format!("(1,{})", output.info().fraction_bits),
            // Nothing is aligned: every bit counts.
            Scheme::SequentialFma | Scheme::CorrectRounding => "(1,∞)".into(),
        };
        let fma = match params.scheme {
            Scheme::SequentialFma => "1".into(),
            Scheme::OddEvenGrouping => format!("{}_odd-even", params.fma / 2),
            _ if params.interleave == Interleave::Mod4 => format!("{0}+{0}", params.fma / 2),
            _ => params.fma.to_string(),
        };
        let late = params.adds_c_late();
        let zero_c = params.zero_c_exponent.filter(|_| late);
        let last =
            late || params.scheme == Scheme::PairwiseSum || params.interleave == Interleave::Mod4;
        let alignment = if late {
            format!(
                "({},{},{})",
                params.alignment_bits,
                params.late_sum_bits,
                rounding_name(params.alignment_rounding)
            )
        } else {
            "-".into()
        };
        // A limit that some product of these formats lies below; that of c = 0 acts as one.
        let lowest = inputs
            .iter()
            .map(|format| format.info().min_exponent())
            .sum::<i32>();
        let limit = params
            .min_exponent
            .max(zero_c)
            .filter(|&limit| aligned && limit > lowest);
        let overflow = if params.product_limit {
            format!("2^{}", output.info().max_exponent() + 1)
        } else {
            "No".into()
        };
        Column {
            cells: [
                gpu.into(),
                input.into(),
                products,
                fma,
                zero_c.map_or("-∞".into(), |exponent| exponent.to_string()),
                if last { "late" } else { "early" }.into(),
                alignment,
                rounding_name(params.rounding).into(),
                limit.map_or("-".into(), |limit| limit.to_string()),
                overflow,
            ],
        }
    }

    /// One column for units that share it: cells that differ are joined, in N_FMA always.
    fn join(gpu: &str, input: &str, columns: &[Vec<Column>]) -> Column {
        let mut cells: [String; 10] = std::array::from_fn(|_| String::new());
        for (row, cell) in cells.iter_mut().enumerate() {
            let mut texts: Vec<String> = Vec::new();
            for formats in columns {
                let mut text = formats[0].cells[row].clone();
                for other in &formats[1..] {
                    if other.cells[row] != text {
                        text = format!("{text} | {}", other.cells[row]);
                    }
                }
                texts.push(text);
            }
            *cell = match row {
                0 => gpu.into(),
                1 => input.into(),
                3 => texts.join("/"),
                // A limit holds where some format of the column can show it.
                8 => texts
                    .iter()
                    .find(|text| *text != "-")
                    .unwrap_or(&texts[0])
                    .clone(),
                _ if texts.iter().all(|text| *text == texts[0]) => texts[0].clone(),
                _ => texts.join("/"),
            };
        }
        Column { cells }
    }
}

/// A column of Table 3: heading, the architectures and the groups of input formats that it stands for.
struct Heading {
    gpu: &'static str,
    input: &'static str,
    archs: &'static [Arch],
    formats: &'static [&'static str],
}

const fn heading(
    gpu: &'static str,
    input: &'static str,
    archs: &'static [Arch],
    formats: &'static [&'static str],
) -> Heading {
    Heading {
        gpu,
        input,
        archs,
        formats,
    }
}

const NEW: &[Arch] = &[Arch::Hopper, Arch::Blackwell];
const HALVES: &[&str] = &["fp16", "bf16"];

/// As printed, from left to right.
const HEADINGS: [Heading; 10] = [
    heading("B200", "fp8", &[Arch::Blackwell], &["e4m3"]),
    heading("H100", "fp8", &[Arch::Hopper], &["e4m3"]),
    heading("MI300A/X", "fp8", &[Arch::Cdna3], &["fp8"]),
    heading("H100, B200", "fp16/bf16", NEW, HALVES),
    heading("A100", "fp16/bf16", &[Arch::Ampere], HALVES),
    heading("MI100", "fp16/bf16", &[Arch::Cdna1], HALVES),
    heading("MI300A/X", "fp16/bf16", &[Arch::Cdna3], HALVES),
    heading("H100, B200", "tf19", NEW, &["tf32"]),
    heading("A100", "tf19", &[Arch::Ampere], &["tf32"]),
    heading("MI300A/X", "tf19", &[Arch::Cdna3], &["xf32"]),
];

/// Table 3 of the paper from the catalogue's units.
pub fn table3() -> Result<Vec<Column>, Error> {
    HEADINGS
        .iter()
        .map(|heading| {
            let mut columns = Vec::new();
            for name in heading.formats {
                let of_archs: Result<Vec<Column>, Error> = heading
                    .archs
                    .iter()
                    .map(|&arch| {
                        let format = arch.format_from_name(name)?;
                        let model = Model::new(arch, format, format, Format::Fp32)?;
                        Ok(Column::of(
                            "",
                            "",
                            model.params(),
                            [format; 2],
                            Format::Fp32,
                        ))
                    })
                    .collect();
                columns.push(of_archs?);
            }
            Ok(Column::join(heading.gpu, heading.input, &columns))
        })
        .collect()
}

/// Table 3 as text, its cells under each other.
pub fn table3_text(columns: &[Column]) -> String {
    let mut widths = vec![
        LABELS
            .iter()
            .map(|label| label.chars().count())
            .max()
            .unwrap_or(0),
    ];
    for column in columns {
        widths.push(
            column
                .cells
                .iter()
                .map(|cell| cell.chars().count())
                .max()
                .unwrap_or(0),
        );
    }
    let mut text = String::new();
    for (row, label) in LABELS.iter().enumerate() {
        let cells = std::iter::once(*label).chain(columns.iter().map(|c| c.cells[row].as_str()));
        let line: Vec<String> = cells
            .zip(&widths)
            .map(|(cell, width)| format!("{cell:<width$}"))
            .collect();
        text.push_str(line.join("  ").trim_end());
        text.push('\n');
    }
    text
}

/// Something printed in or under Table 3 that the rest of the paper, or a measurement, contradicts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Misprint {
    /// Where.
    pub place: &'static str,
    /// What is printed there, and regenerated.
    pub printed: &'static str,
    /// What it should say.
    pub instead: &'static str,
    /// Why.
    pub reason: &'static str,
}

/// What Table 3 prints misleadingly. None of it is a wrong number: the regenerated cells equal the printed ones.
pub const TABLE3_MISPRINTS: &[Misprint] = &[
    Misprint {
        place: "N_FMA, MI300A/X fp8",
        printed: "8_odd-even",
        instead: "16, as two groups of 8",
        reason: "section 4.3.4: \"The detected FMA size is 16\"; all other cells of the row count the whole block",
    },
    Misprint {
        place: "Prd. Align., MI100",
        printed: "(1,∞)",
        instead: "(∞): no integer bits to count",
        reason: "section 4.1.2: nothing is aligned, and whether products are normalised is \"not relevant here\"; the \
                 product of two significands may have two integer bits",
    },
    Misprint {
        place: "align(c,S), MI300A/X",
        printed: "(24,32,RD)",
        instead: "(24,32,RD), then RD to 31 bits of the normalised total",
        reason: "Algorithm 1, line 13, and the vectors of section 4.3.1: without it 1 + 2^-24 + 2^-32 comes out wrong",
    },
    Misprint {
        place: "e^lim_min, MI300A/X",
        printed: "-126",
        instead: "-, since it repeats e_{c=0}",
        reason: "section 4.3.2, item 3: the limit is \"only restricted to c=0\"; with another c there is none",
    },
    Misprint {
        place: "note: MI210 and MI250",
        printed: "implement SFMA with the grouping shown in Fig. 2",
        instead: "add products in pairs, then c, each step rounded",
        reason: "section 4.2.1, item 4: fl(c + fl(fl(p1+p2) + fl(p3+p4))) is no sequence of fused multiply-adds",
    },
    Misprint {
        place: "note: fp16 output",
        printed: "fp16-format output for both fp8- and fp16-format inputs ... {-20,-21} for A100 and H100/B200",
        instead: "fp8 inputs only from Ada and Hopper on; V100 has -19",
        reason: "the A100 has no 8-bit inputs; the vectors measured on a V100 with fp16 output need -19",
    },
];
