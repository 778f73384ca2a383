//! `mfma probe` and `mfma table3`: features of a built-in unit, found from its answers; the paper's Table 3.

use clap::Args;
use mfma::probe::{
    Column, Feature, Formats, Options, TABLE3_MISPRINTS, one_by_one, probe, summation_order,
    table3, table3_text,
};
use mfma::reference::dot_raw;
use serde_json::{Value, json};

use crate::output::{Failure, Outcome, Output};
use crate::params;
use crate::unit::UnitArgs;

/// Find a unit's features from its answers alone, as the probe does with a GPU.
#[derive(Args)]
pub struct Probe {
    #[command(flatten)]
    unit: UnitArgs,
    /// Longest vector.
    #[arg(long, default_value_t = 64)]
    k: usize,
    /// Vectors of each family in a round.
    #[arg(long, default_value_t = 150)]
    vectors: usize,
    /// Seed of the vectors.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Also show in which order so many products and c are added.
    #[arg(long, value_name = "N")]
    order: Option<usize>,
}

impl Probe {
    pub fn run(self, output: &Output) -> Result<Outcome, Failure> {
        let model = self.unit.model()?;
        let formats = Formats {
            a: model.a(),
            b: model.b(),
            output: model.output(),
        };
        let options = Options {
            k: self.k,
            vectors: self.vectors,
            seed: self.seed,
            ..Options::default()
        };
        let unit = || one_by_one(move |a, b, c| Ok(dot_raw(model.unit(), a, b, c)));
        let found = probe(formats, &options, unit())?;
        let order = match self.order {
            Some(n) => Some(summation_order(formats, n, unit())?.to_string()),
            None => None,
        };
        output.print(
            || match &order {
                Some(order) => format!("{found}\nOrder of addition\n  {order}\n"),
                None => found.to_string(),
            },
            || {
                let undecided = found.unidentified.iter().map(|entry| {
                    json!({
                        "feature": entry.feature.name(),
                        "values": entry.values(),
                        "reason": entry.reason,
                    })
                });
                let facts = found
                    .facts
                    .iter()
                    .map(|fact| json!([fact.question, fact.answer]));
                json!({
                    "params": params::to_map(&found.params),
                    "mismatches": found.mismatches,
                    "asked": found.asked,
                    "identified": Feature::ALL
                        .into_iter()
                        .filter(|&feature| found.identified(feature))
                        .map(Feature::name)
                        .collect::<Vec<_>>(),
                    "unidentified": undecided.collect::<Vec<_>>(),
                    "units": found.rows.iter().map(|row| row.arch.info().name).collect::<Vec<_>>(),
                    "observed": facts.collect::<Vec<_>>(),
                    "order": order,
                })
            },
        )?;
        Ok(Outcome::of(found.mismatches == 0))
    }
}

/// Print Table 3 of the paper from the catalogue, with what it prints misleadingly.
#[derive(Args)]
pub struct Table3;

impl Table3 {
    pub fn run(self, output: &Output) -> Result<Outcome, Failure> {
        let columns = table3()?;
        output.print(
            || {
                let mut text = table3_text(&columns);
                text.push_str("\nMisleading in the printed table and its note:\n");
                for misprint in TABLE3_MISPRINTS {
                    text.push_str(&format!(
                        "  {}: \"{}\"; instead: {} ({})\n",
                        misprint.place, misprint.printed, misprint.instead, misprint.reason
                    ));
                }
                text
            },
            || {
                let labels = Column::labels();
                let rows = labels.iter().enumerate().map(|(row, label)| {
                    let cells = columns.iter().map(|column| column.cells[row].clone());
                    json!([label, cells.collect::<Vec<_>>()])
                });
                Value::from(rows.collect::<Vec<_>>())
            },
        )?;
        Ok(Outcome::Agree)
    }
}
