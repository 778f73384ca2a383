//! `mfma compare`: a dump against units.

use std::path::PathBuf;

use clap::Args;
use mfma::Model;
use mfma::validate::Report;
use mfma::validate::dump::{Candidate, DumpCheck, Label, candidates, check_dump};
use serde_json::{Value, json};

use crate::output::{Failure, Outcome, Output, columns};
use crate::progress::Progress;
use crate::unit::{self, KindArgs};
use crate::validate::{mismatch_line, report_value};

/// Compare a dump of inputs and results with a unit, or find the units that give all its results.
#[derive(Args)]
pub struct Compare {
    /// Test vectors (a text file), a binary dump, or a folder as MATLAB Tensor Core has them.
    dump: PathBuf,
    /// Architecture or GPU, or auto: all units of the catalogue with the dump's formats.
    #[arg(long, value_name = "NAME", default_value = "auto")]
    arch: String,
    #[command(flatten)]
    kind: KindArgs,
    /// Take c as 0: the program that measured the dump did not use it. (auto tries this, too, where nothing else fits.)
    #[arg(long)]
    ignore_c: bool,
    /// Take any two NaNs as equal.
    #[arg(long)]
    any_nan: bool,
    /// Mismatches to show.
    #[arg(long, value_name = "N", default_value_t = 5)]
    keep: usize,
    /// The bound holds with probability 1 minus this.
    #[arg(long, default_value_t = 1e-6)]
    epsilon: f64,
}

impl Compare {
    pub fn run(self, output: &Output) -> Result<Outcome, Failure> {
        let label = self.kind.label(&self.dump)?;
        if self.arch.eq_ignore_ascii_case("auto") {
            if self.kind.instruction.is_some() || !self.kind.set.is_empty() {
                return Err(Failure::new(
                    "--instruction and --set need --arch with a name, not auto",
                ));
            }
            self.auto(&label, output)
        } else {
            self.one(&label, output)
        }
    }

    fn options(&self) -> DumpCheck {
        DumpCheck {
            ignore_c: self.ignore_c,
            any_nan: self.any_nan,
            keep: self.keep,
            epsilon: self.epsilon,
        }
    }

    fn one(&self, label: &Label, output: &Output) -> Result<Outcome, Failure> {
        let model = self.kind.model_for(&self.arch, &self.dump, label)?;
        let mut bar = Progress::new(output, "comparing");
        let mut tell = |done| bar.tell(done);
        let reports = check_dump(&self.dump, &[model], self.options(), Some(&mut tell))?;
        drop(bar);
        let Some(report) = reports.first() else {
            return Err(Failure::new("nothing was compared"));
        };
        not_empty(report.cases, &self.dump)?;
        output.print(
            || {
                let bound = report.bound.unwrap_or(1.0);
                let mut text = format!(
                    "{}: {} cases, {} mismatches, bound {bound:.2e}\n",
                    unit::title(&model),
                    report.cases,
                    report.mismatches
                );
                for mismatch in &report.first {
                    text += &mismatch_line(&model, mismatch);
                    text.push('\n');
                }
                text
            },
            || report_value(&model, report),
        )?;
        Ok(Outcome::of(report.mismatches == 0))
    }

    fn auto(&self, label: &Label, output: &Output) -> Result<Outcome, Failure> {
        let mut found = self.try_all(label, self.ignore_c, output)?;
        let fits = |found: &[(Candidate, Report)]| found.iter().any(|(_, r)| r.mismatches == 0);
        let mut ignored_c = self.ignore_c;
        if !fits(&found) && !self.ignore_c {
            let again = self.try_all(label, true, output)?;
            if fits(&again) {
                found = again;
                ignored_c = true;
            }
        }
        found.sort_by_key(|(_, report)| report.mismatches);
        let cases = found.iter().map(|(_, report)| report.cases).max();
        not_empty(cases.unwrap_or(0), &self.dump)?;
        let consistent = found
            .iter()
            .filter(|(_, report)| report.mismatches == 0)
            .count();
        output.print(
            || text(&found, consistent, ignored_c && !self.ignore_c),
            || {
                let value = |(candidate, report): &(Candidate, Report)| -> Value {
                    json!({
                        "units": candidate.names(),
                        "unit": unit::to_json(&candidate.model),
                        "cases": report.cases,
                        "mismatches": report.mismatches,
                        "bound": report.bound,
                    })
                };
                let (fit, others) = found.split_at(consistent);
                json!({
                    "cases": cases,
                    "c_ignored": ignored_c,
                    "consistent": fit.iter().map(value).collect::<Vec<_>>(),
                    "others": others.iter().map(value).collect::<Vec<_>>(),
                })
            },
        )?;
        Ok(Outcome::of(consistent > 0))
    }

    fn try_all(
        &self,
        label: &Label,
        ignore_c: bool,
        output: &Output,
    ) -> Result<Vec<(Candidate, Report)>, Failure> {
        let options = DumpCheck {
            ignore_c,
            ..self.options()
        };
        let groups =
            candidates(label).map_err(|error| self.kind.about_formats(error, &self.dump))?;
        let several = groups.len() > 1;
        let mut found = Vec::new();
        let mut unreadable = None;
        for (_, group) in groups {
            let models: Vec<Model> = group.iter().map(|candidate| candidate.model).collect();
            let mut bar = Progress::new(output, "comparing");
            let mut tell = |done| bar.tell(done);
            match check_dump(&self.dump, &models, options, Some(&mut tell)) {
                Ok(reports) => found.extend(group.into_iter().zip(reports)),
                // Values that one kind of 8-bit format has and the other has not.
                Err(error) if several => unreadable = Some(error),
                Err(error) => return Err(error.into()),
            }
        }
        match unreadable {
            Some(error) if found.is_empty() => Err(error.into()),
            _ => Ok(found),
        }
    }
}

fn not_empty(cases: u64, dump: &std::path::Path) -> Result<(), Failure> {
    if cases == 0 {
        return Err(Failure::new(format!("{}: no cases", dump.display())));
    }
    Ok(())
}

fn text(found: &[(Candidate, Report)], consistent: usize, c_taken_as_0: bool) -> String {
    let mut lines = vec![["mismatches", "cases", "units"].map(String::from).to_vec()];
    for (candidate, report) in found {
        lines.push(vec![
            report.mismatches.to_string(),
            report.cases.to_string(),
            candidate.names().join(", "),
        ]);
    }
    let says = match consistent {
        0 => "No unit of the catalogue gives all these results.",
        _ if c_taken_as_0 => {
            "Consistent with c taken as 0 (no unit gives these results with the dump's c):"
        }
        _ => "Consistent:",
    };
    let mut text = format!("{says}\n");
    for (candidate, _) in &found[..consistent] {
        text += &format!("  {}\n", candidate.names().join("\n  "));
    }
    text + "\n" + &columns(&lines)
}
