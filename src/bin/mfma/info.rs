//! `mfma info`: the catalogue.

use clap::Args;
use mfma::Arch;
use mfma::model::{Capability, Evidence, Reach, capabilities};
use serde_json::{Value, json};

use crate::output::{Failure, Outcome, Output, columns};
use crate::params;

/// List the units of the catalogue, and how well each is known.
#[derive(Args)]
pub struct Info {
    /// Only this architecture's or GPU's: CDNA3, MI300X, H100, ...
    arch: Option<String>,
}

/// The probability of the bounds that are printed is 1 minus this (paper, section 5.4).
const EPSILON: f64 = 1e-6;

impl Info {
    pub fn run(self, output: &Output) -> Result<Outcome, Failure> {
        let arch = self.arch.as_deref().map(Arch::from_name).transpose()?;
        let units: Vec<Capability> = capabilities()
            .filter(|unit| arch.is_none_or(|arch| unit.row.arch == arch))
            .collect();
        output.print(
            || table(&units),
            || {
                json!({
                    "version": env!("CARGO_PKG_VERSION"),
                    "kernel": mfma::kernel::cpu_features(),
                    "units": units.iter().map(description).collect::<Vec<Value>>(),
                })
            },
        )?;
        Ok(Outcome::Agree)
    }
}

fn evidence(unit: &Capability) -> &'static str {
    match unit.evidence() {
        Evidence::Measured => "measured",
        Evidence::Paper => "paper",
        Evidence::Assumed => "assumed",
        Evidence::NoHardware => "no hardware",
    }
}

fn table(units: &[Capability]) -> String {
    let titles = [
        "arch",
        "A",
        "B",
        "out",
        "N_FMA",
        "bits",
        "rounding",
        "evidence",
        "vectors",
        "bound",
        "instruction",
    ];
    let mut lines = vec![titles.map(String::from).to_vec()];
    for unit in units {
        let row = unit.row;
        let only = if row.reach == Reach::Instruction {
            "only "
        } else {
            ""
        };
        let or_none = |text: Option<String>| text.unwrap_or("-".to_string());
        lines.push(vec![
            row.arch.to_string(),
            unit.a.to_string(),
            unit.b.to_string(),
            row.output.to_string(),
            row.params.fma.to_string(),
            or_none(unit.alignment_bits().map(|bits| bits.to_string())),
            params::rounding_name(row.params.rounding).to_string(),
            evidence(unit).to_string(),
            unit.vectors.total().to_string(),
            or_none(
                unit.vectors
                    .mismatch_bound(EPSILON)
                    .map(|bound| format!("{bound:.1e}")),
            ),
            format!("{only}{}", unit.instruction()),
        ]);
    }
    columns(&lines)
}

fn description(unit: &Capability) -> Value {
    let row = unit.row;
    json!({
        "arch": row.arch.info().name,
        "a": unit.a.name(),
        "b": unit.b.name(),
        "out": row.output.name(),
        "params": params::to_map(&row.params),
        "instruction": unit.instruction(),
        "by_instruction": row.reach == Reach::Instruction,
        "evidence": evidence(unit),
        "source": row.source,
        "vectors": {
            "measured": unit.vectors.measured,
            "paper": unit.vectors.paper,
            "directed": unit.vectors.directed,
            "golden": unit.vectors.golden,
            "mismatches": unit.vectors.mismatches,
        },
        "mismatch_bound": unit.vectors.mismatch_bound(EPSILON),
    })
}
