//! `mfma validate`: random comparison of a model with its reference or with another unit.

use clap::Args;
use mfma::model::{Reach, capabilities};
use mfma::validate::{Campaign, Mismatch, Report, Subject};
use mfma::{Arch, Model};
use serde_json::{Value, json};

use crate::drawing::DrawingArgs;
use crate::output::{Failure, Outcome, Output, case_line, columns, hex};
use crate::progress::Progress;
use crate::sample::case_value;
use crate::unit::{self, KindArgs};

/// Compare the fast kernels of units with the reference, or with another unit, on random cases, and say how sure that
/// makes.
#[derive(Args)]
pub struct Validate {
    /// Architecture or GPU; with --all, several: CDNA1,CDNA2,CDNA3.
    #[arg(long, value_name = "NAME")]
    arch: String,
    #[command(flatten)]
    kind: KindArgs,
    /// Every unit of the architectures, one after the other.
    #[arg(long, conflicts_with_all = ["format", "out", "instruction", "set"])]
    all: bool,
    /// Compare with: reference (the paper's algorithms step by step), or another architecture, with the same formats.
    #[arg(long, value_name = "NAME", default_value = "reference")]
    against: String,
    /// Change a feature of the other side, as --set does: late_sum_bits=31, ...
    #[arg(long, value_name = "FIELD=VALUE")]
    against_set: Vec<String>,
    #[command(flatten)]
    drawing: DrawingArgs,
    /// Mismatches to show.
    #[arg(long, value_name = "N", default_value_t = 5)]
    keep: usize,
    /// Stop after that many mismatches.
    #[arg(long, value_name = "N")]
    stop_after: Option<u64>,
    /// Take any two NaNs as equal.
    #[arg(long)]
    any_nan: bool,
    /// The bound holds with probability 1 minus this.
    #[arg(long, default_value_t = 1e-6)]
    epsilon: f64,
}

impl Validate {
    pub fn run(self, output: &Output) -> Result<Outcome, Failure> {
        let models = self.models()?;
        let mut done = Vec::new();
        for model in &models {
            done.push((*model, self.one(model, output)?));
        }
        let outcome = Outcome::of(done.iter().all(|(_, report)| report.mismatches == 0));
        output.print(
            || self.text(&done),
            || {
                let reports: Vec<Value> = done
                    .iter()
                    .map(|(model, report)| self.value(model, report))
                    .collect();
                match &reports[..] {
                    [one] if !self.all => one.clone(),
                    _ => json!(reports),
                }
            },
        )?;
        Ok(outcome)
    }

    fn models(&self) -> Result<Vec<Model>, Failure> {
        if !self.all {
            return Ok(vec![self.kind.model(&self.arch)?]);
        }
        let mut models = Vec::new();
        for name in self.arch.split(',') {
            let arch = Arch::from_name(name)?;
            for unit in capabilities().filter(|unit| unit.row.arch == arch) {
                models.push(match unit.row.reach {
                    Reach::Formats => Model::new(arch, unit.a, unit.b, unit.row.output)?,
                    Reach::Instruction => Model::from_instruction(&unit.instruction(), arch)?,
                });
            }
        }
        Ok(models)
    }

    /// The other side's model; `None`: the model's own reference.
    fn other(&self, model: &Model) -> Result<Option<Model>, Failure> {
        let base = if self.against == "reference" {
            if self.against_set.is_empty() {
                return Ok(None);
            }
            *model
        } else {
            let arch = Arch::from_name(&self.against)?;
            Model::new(arch, model.a(), model.b(), model.output())?
        };
        unit::changed(base, "--against-set", &self.against_set).map(Some)
    }

    fn one(&self, model: &Model, output: &Output) -> Result<Report, Failure> {
        let other = self.other(model)?;
        let mut bar = Progress::new(output, "comparing");
        let mut tell = |done| bar.tell(done);
        let mut campaign = Campaign::new(model, self.drawing.count.unwrap_or(1_000_000))
            .sampling(self.drawing.sampling()?)
            .length(self.drawing.length(model))
            .first(self.drawing.first)
            .keep(self.keep)
            .any_nan(self.any_nan)
            .epsilon(self.epsilon)
            .progress(&mut tell);
        if let Some(stop) = self.stop_after {
            campaign = campaign.stop_after(stop);
        }
        let subject = match &other {
            Some(other) => Subject::Model(other),
            None => Subject::Reference(model),
        };
        Ok(campaign.run(subject)?)
    }

    fn text(&self, done: &[(Model, Report)]) -> String {
        let titles = ["unit", "k", "cases", "mismatches", "bound"];
        let mut lines = vec![titles.map(String::from).to_vec()];
        for (model, report) in done {
            let instruction = match &self.kind.instruction {
                Some(name) => format!(" by {name}"),
                None => String::new(),
            };
            lines.push(vec![
                format!("{}{instruction}", unit::title(model)),
                self.drawing.length(model).to_string(),
                report.cases.to_string(),
                report.mismatches.to_string(),
                report
                    .bound
                    .map_or("-".to_string(), |bound| format!("{bound:.2e}")),
            ]);
        }
        let mut text = columns(&lines);
        for (model, report) in done {
            for mismatch in &report.first {
                text += &mismatch_line(model, mismatch);
                text.push('\n');
            }
        }
        text
    }

    fn value(&self, model: &Model, report: &Report) -> Value {
        let mut value = report_value(model, report);
        value["k"] = self.drawing.length(model).into();
        value["against"] = self.against.clone().into();
        value["sampler"] = self.drawing.sampler.clone().into();
        value["seed"] = self.drawing.seed.into();
        value["first"] = self.drawing.first.into();
        value
    }
}

/// "case 17: 2 a=... b=... c=... expected ... got ...".
pub fn mismatch_line(model: &Model, mismatch: &Mismatch) -> String {
    let inputs = case_line(model, &mismatch.a, &mismatch.b, mismatch.c, None);
    let [expected, got] = [mismatch.expected, mismatch.got].map(|d| hex(model.output(), d));
    format!(
        "case {}: {inputs} expected={expected} got={got}",
        mismatch.index
    )
}

/// A report as JSON.
pub fn report_value(model: &Model, report: &Report) -> Value {
    let first: Vec<Value> = report
        .first
        .iter()
        .map(|mismatch| {
            let mut value = case_value(model, &mismatch.a, &mismatch.b, mismatch.c, None);
            value["case"] = mismatch.index.into();
            value["expected"] = hex(model.output(), mismatch.expected).into();
            value["got"] = hex(model.output(), mismatch.got).into();
            value
        })
        .collect();
    json!({
        "unit": unit::to_json(model),
        "cases": report.cases,
        "mismatches": report.mismatches,
        "bound": report.bound,
        "epsilon": report.epsilon,
        "next": report.next,
        "mismatching": first,
    })
}
