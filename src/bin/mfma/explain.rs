//! `mfma explain`, `attribute` and `separate`: why a result is what it is, and what makes two units differ.

use std::path::PathBuf;

use clap::Args;
use mfma::explain::{attribute, explain, separate, separate_catalogue};
use mfma::probe::{self, Case};
use mfma::validate::dump::{Formats, Reader, Record, parse_line};
use mfma::{Arch, Format, Model, validate};
use serde_json::{Value, json};

use crate::output::{Failure, Outcome, Output, case_line, hex};
use crate::unit::UnitArgs;

/// Explain one dot product step by step.
#[derive(Args)]
pub struct Explain {
    #[command(flatten)]
    unit: UnitArgs,
    /// The case, as in files of test vectors: a=1000,0c00 b=1000,1000 c=3f800000 (hexadecimal encodings).
    #[arg(required = true, num_args = 1.., value_name = "CASE")]
    case: Vec<String>,
}

impl Explain {
    pub fn run(self, output: &Output) -> Result<Outcome, Failure> {
        let model = self.unit.model()?;
        let explained = explain(&model, &parse(&self.case.join(" "), &model)?)?;
        output.print(
            || explained.to_string(),
            || {
                let steps = explained.records.iter().map(|record| {
                    json!({
                        "kind": record.kind.name(),
                        "block": record.block,
                        "item": record.item,
                        "exponent": record.exponent,
                        "unit": record.unit,
                        "before": record.before,
                        "after": record.after,
                        "lost": record.lost,
                        "bits": record.bits,
                        "text": record.text,
                    })
                });
                json!({
                    "d": hex(model.output(), explained.d),
                    "steps": steps.collect::<Vec<_>>(),
                })
            },
        )?;
        Ok(Outcome::Agree)
    }
}

/// Name the features that make two units differ on given cases.
#[derive(Args)]
pub struct Attribute {
    #[command(flatten)]
    unit: UnitArgs,
    /// The other unit: an architecture or GPU, with the same formats.
    #[arg(long, value_name = "NAME")]
    other: String,
    /// Test vectors (a text file), a binary dump, or a folder, with or without results. What it says of its formats holds
    /// unless --format or --out say something else.
    cases: PathBuf,
}

impl Attribute {
    pub fn run(self, output: &Output) -> Result<Outcome, Failure> {
        let kind = &self.unit.kind;
        let mut label = kind.label(&self.cases)?;
        if label.a.is_none() && label.instruction.is_none() {
            label.a = Some(Format::Fp16.name().to_string());
        }
        let model = kind.model_for(&self.unit.arch, &self.cases, &label)?;
        let other = unit_like(&model, &self.other)?;
        let mut reader = Reader::open(&self.cases, Formats::of(&model))?;
        let mut cases = Vec::new();
        while let Some(record) = reader.read()? {
            cases.push(in_probe(record));
        }
        let found = attribute(&model, &other, &cases)?;
        output.print(
            || found.to_string(),
            || {
                let causes = found.causes.iter().map(|cause| {
                    let names = cause.features.iter().map(|feature| feature.name());
                    json!({
                        "features": names.collect::<Vec<_>>(),
                        "cases": cause.cases,
                        "first": cause.first,
                    })
                });
                json!({"differing": found.differing, "causes": causes.collect::<Vec<_>>()})
            },
        )?;
        Ok(Outcome::of(found.differing == 0))
    }
}

/// Find a short case on which two units differ, or few that tell all units of the catalogue apart.
#[derive(Args)]
pub struct Separate {
    #[command(flatten)]
    unit: UnitArgs,
    /// The other unit [default: all units of the catalogue are told apart].
    #[arg(long, value_name = "NAME")]
    other: Option<String>,
    /// Seed of the search.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

impl Separate {
    pub fn run(self, output: &Output) -> Result<Outcome, Failure> {
        let model = self.unit.model()?;
        let Some(other) = &self.other else {
            let sets = separate_catalogue(self.seed)?;
            let here = probe::Formats {
                a: model.a(),
                b: model.b(),
                output: model.output(),
            };
            let sets: Vec<_> = sets.into_iter().filter(|set| set.formats == here).collect();
            output.print(
                || sets.iter().map(ToString::to_string).collect(),
                || {
                    let sets = sets.iter().map(|set| {
                        let cases = set.cases.iter().map(|(case, results)| {
                            let line = case_line(&model, &case.a, &case.b, case.c, None);
                            json!({"case": line, "results": results})
                        });
                        json!({"groups": set.groups, "cases": cases.collect::<Vec<_>>()})
                    });
                    Value::from(sets.collect::<Vec<_>>())
                },
            )?;
            return Ok(Outcome::Agree);
        };
        let other = unit_like(&model, other)?;
        let found = separate(&model, &other, self.seed)?;
        output.print(
            || match &found {
                None => "no case was found that tells them apart".into(),
                Some(found) => {
                    let case = &found.case;
                    let line = case_line(&model, &case.a, &case.b, case.c, Some(found.x));
                    format!("{line}\nother: d={}", hex(other.output(), found.y))
                }
            },
            || match &found {
                None => Value::Null,
                Some(found) => {
                    let case = &found.case;
                    json!({
                        "case": case_line(&model, &case.a, &case.b, case.c, None),
                        "d": hex(model.output(), found.x),
                        "other": hex(other.output(), found.y),
                    })
                }
            },
        )?;
        Ok(Outcome::of(found.is_none()))
    }
}

/// The unit of another architecture for the same formats.
fn unit_like(model: &Model, arch: &str) -> Result<Model, Failure> {
    let arch = Arch::from_name(arch)?;
    Ok(Model::new(arch, model.a(), model.b(), model.output())?)
}

/// Reads a case as test vectors have it; K and c (zero) may be left out.
fn parse(text: &str, model: &Model) -> Result<Case, Failure> {
    let mut line = text.trim().to_string();
    let words = || text.split_whitespace();
    if let Some(a) = words().next().and_then(|word| word.strip_prefix("a=")) {
        line = format!("{} {line}", a.split(',').count());
    } else if !line.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(Failure::new(format!(
            "'{text}' is no case; a case is a=<hex,...> b=<hex,...> c=<hex>"
        )));
    }
    if !words().any(|word| word.starts_with("c=")) {
        line += &format!(" c={}", hex(model.output(), 0));
    }
    let record = parse_line(&line, Formats::of(model)).map_err(Failure::new)?;
    Ok(in_probe(record))
}

/// A case of a dump, to be explained.
fn in_probe(record: Record) -> Case {
    let validate::Case { a, b, c } = record.case;
    Case { a, b, c }
}
