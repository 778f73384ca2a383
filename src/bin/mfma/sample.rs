//! `mfma sample`: random cases, to a file or to standard output.

use std::path::PathBuf;

use clap::Args;
use mfma::Model;
use mfma::validate::dump::{Form, Formats, Plan, Writer};
use mfma::validate::{Cases, Generator, MAX_LENGTH, Shape};
use serde_json::{Value, json};

use crate::drawing::DrawingArgs;
use crate::output::{Failure, Outcome, Output, case_line, hex, write};
use crate::progress::Progress;
use crate::unit::{self, UnitArgs};

/// Write random inputs for a unit, with the results that its model gives or without, for a program that runs them
/// elsewhere.
#[derive(Args)]
pub struct Sample {
    /// File or folder to write [default: standard output, as test vectors; so does -].
    #[arg(value_name = "OUT")]
    path: Option<PathBuf>,
    #[command(flatten)]
    unit: UnitArgs,
    #[command(flatten)]
    drawing: DrawingArgs,
    /// Form of the dump: vectors (.txt), binary (.bin), folder (a path without extension) [default: as the path says].
    #[arg(long, value_name = "FORM", requires = "path")]
    form: Option<String>,
    /// Write inputs only.
    #[arg(long)]
    inputs_only: bool,
}

/// What becomes of cases and their results; false ends the work.
type Take<'a> = dyn FnMut(&Cases, Option<&[u64]>) -> Result<bool, Failure> + 'a;

/// Elements that are made at a time, more or less.
const AT_ONCE: u64 = 1 << 17;

impl Sample {
    pub fn run(self, output: &Output) -> Result<Outcome, Failure> {
        let model = self.unit.model()?;
        let k = self.drawing.length(&model);
        if k > MAX_LENGTH {
            return Err(Failure::new(format!(
                "k is {k}; allowed: 0 to {MAX_LENGTH}"
            )));
        }
        let Some(path) = self.path.as_ref().filter(|path| !is_standard_output(path)) else {
            return self.show(output, &model, k);
        };
        let plan = Plan {
            form: match &self.form {
                Some(name) => Form::from_name(name)?,
                None => Form::of_path(path),
            },
            formats: Formats::of(&model),
            k,
            unit: self.unit.arch.clone(),
            instruction: self.unit.kind.instruction.clone(),
            results: !self.inputs_only,
        };
        let mut writer = Writer::create(path, &plan)?;
        let count = self.drawing.count.unwrap_or(1000);
        let mut bar = Progress::new(output, "writing");
        self.each(
            &model,
            k,
            count,
            &mut |cases, results| {
                for i in 0..cases.len() {
                    let d = results.map(|d| d[i]);
                    writer.write(cases.a(i), cases.b(i), cases.c(i), d)?;
                }
                Ok(true)
            },
            &mut bar,
        )?;
        drop(bar);
        writer.finish()?;
        output.print(
            || {
                format!(
                    "{count} cases for {} in {}",
                    unit::title(&model),
                    path.display()
                )
            },
            || {
                json!({
                    "unit": unit::to_json(&model),
                    "cases": count,
                    "k": k,
                    "sampler": self.drawing.sampler,
                    "seed": self.drawing.seed,
                    "first": self.drawing.first,
                    "path": path.display().to_string(),
                })
            },
        )?;
        Ok(Outcome::Agree)
    }

    /// Standard output.
    fn show(&self, output: &Output, model: &Model, k: usize) -> Result<Outcome, Failure> {
        if let Some(form) = &self.form
            && Form::from_name(form)? != Form::Vectors
        {
            return Err(Failure::new(format!(
                "--form {form} does not go to standard output; allowed there: vectors"
            )));
        }
        let count = self.drawing.count.unwrap_or(10);
        let mut values = Vec::new();
        let mut bar = Progress::new(output, "sampling");
        self.each(
            model,
            k,
            count,
            &mut |cases, results| {
                let mut text = String::new();
                for i in 0..cases.len() {
                    let (a, b, c) = (cases.a(i), cases.b(i), cases.c(i));
                    let d = results.map(|d| d[i]);
                    if output.json {
                        values.push(case_value(model, a, b, c, d));
                    } else {
                        text += &case_line(model, a, b, c, d);
                        text.push('\n');
                    }
                }
                write(&text)
            },
            &mut bar,
        )?;
        drop(bar);
        if output.json {
            let value = || json!({"unit": unit::to_json(model), "cases": values});
            output.print(String::new, value)?;
        }
        Ok(Outcome::Agree)
    }

    fn each(
        &self,
        model: &Model,
        k: usize,
        count: u64,
        take: &mut Take,
        bar: &mut Progress,
    ) -> Result<(), Failure> {
        let mut generator = Generator::new(self.drawing.sampling()?, Shape::of(model, k));
        let mut cases = Cases::new(k);
        let mut results = Vec::new();
        let mut made = 0;
        while made < count {
            let now = (count - made).min(AT_ONCE / (k as u64 + 1) + 1);
            generator.fill(self.drawing.first + made, now as usize, &mut cases);
            if !self.inputs_only {
                mfma::validate::compute(model, &cases, &mut results)?;
            }
            if !take(&cases, (!self.inputs_only).then_some(&results[..]))? {
                break;
            }
            made += now;
            bar.tell(made as f64 / count as f64);
        }
        Ok(())
    }
}

/// Do cases that go there share it with what else is printed?
fn is_standard_output(path: &std::path::Path) -> bool {
    [Some("-"), Some("/dev/stdout")].contains(&path.to_str())
}

/// A case as JSON, encodings in hexadecimal.
pub fn case_value(model: &Model, a: &[u64], b: &[u64], c: u64, d: Option<u64>) -> Value {
    let list =
        |format, x: &[u64]| -> Vec<String> { x.iter().map(|&bits| hex(format, bits)).collect() };
    let mut value = json!({
        "a": list(model.a(), a),
        "b": list(model.b(), b),
        "c": hex(model.output(), c),
    });
    if let Some(d) = d {
        value["d"] = hex(model.output(), d).into();
    }
    value
}
