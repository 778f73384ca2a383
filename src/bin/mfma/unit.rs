//! Which unit a command works with.

use std::path::Path;

use clap::Args;
use mfma::validate::dump::Label;
use mfma::{Arch, Format, Model};
use serde_json::{Value, json};

use crate::output::Failure;
use crate::params;

/// Options that name a unit.
#[derive(Args, Clone, Debug)]
pub struct UnitArgs {
    /// Architecture or GPU: CDNA3, MI300X, hopper, H100, T4, ...
    #[arg(long, value_name = "NAME")]
    pub arch: String,
    #[command(flatten)]
    pub kind: KindArgs,
}

/// Which of an architecture's units.
#[derive(Args, Clone, Debug, Default)]
pub struct KindArgs {
    /// Format of A and B, or of each: fp16, bf16, tf32, e4m3,e5m2, ... [default: fp16].
    #[arg(long, value_name = "A[,B]")]
    pub format: Option<String>,
    /// Format of C and D: fp32, fp16 or fp64 [default: fp32; fp64 where the inputs are].
    #[arg(long, value_name = "FORMAT")]
    pub out: Option<String>,
    /// An instruction of the architecture; it decides the formats.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["format", "out"])]
    pub instruction: Option<String>,
    /// Change a feature: late_sum_bits=31, rounding=rz, late_total_bits=none, ... (`mfma info --json` names them).
    #[arg(long, value_name = "FIELD=VALUE")]
    pub set: Vec<String>,
}

impl UnitArgs {
    /// The unit.
    pub fn model(&self) -> Result<Model, Failure> {
        self.kind.model(&self.arch)
    }
}

impl KindArgs {
    /// The unit of the architecture of this name.
    pub fn model(&self, arch: &str) -> Result<Model, Failure> {
        let arch = Arch::from_name(arch)?;
        let model = match &self.instruction {
            Some(instruction) => Model::from_instruction(instruction, arch)?,
            None => {
                let (a, b, out) = self.formats(arch)?;
                Model::new(arch, a, b, out)?
            }
        };
        changed(model, "--set", &self.set)
    }

    /// What a dump says of itself, and what the options say instead.
    pub fn label(&self, dump: &Path) -> Result<Label, Failure> {
        let mut label = Label::of(dump)?;
        if let Some(names) = &self.format {
            let (a, b) = both(names);
            label.a = Some(a.to_string());
            label.b = Some(b.to_string());
        }
        if let Some(name) = &self.out {
            label.output = Some(name.clone());
        }
        if self.format.is_some() || self.out.is_some() || self.instruction.is_some() {
            label.instruction.clone_from(&self.instruction);
        }
        Ok(label)
    }

    /// The unit of the architecture of this name that computes a dump: of the instruction that the dump names, if the
    /// architecture has it, else of the dump's formats.
    pub fn model_for(&self, arch: &str, dump: &Path, label: &Label) -> Result<Model, Failure> {
        let arch = Arch::from_name(arch)?;
        let by_instruction = label
            .instruction
            .as_ref()
            .map(|name| Model::from_instruction(name, arch));
        let model = match by_instruction {
            Some(Ok(model)) => model,
            Some(Err(error)) if self.instruction.is_some() => return Err(error.into()),
            _ => {
                let formats = label
                    .formats(arch)
                    .map_err(|error| self.about_formats(error, dump))?;
                Model::new(arch, formats.a, formats.b, formats.output)?
            }
        };
        changed(model, "--set", &self.set)
    }

    /// An error about formats, with the dump that names them, if it does.
    pub fn about_formats(&self, error: mfma::Error, dump: &Path) -> Failure {
        match self.format {
            None => Failure::new(format!("{}: {error}; see --format", dump.display())),
            Some(_) => error.into(),
        }
    }

    /// Formats of a, b and the result as `arch` names them.
    pub fn formats(&self, arch: Arch) -> Result<(Format, Format, Format), Failure> {
        let (a, b) = both(self.format.as_deref().unwrap_or("fp16"));
        let a = arch.format_from_name(a)?;
        let b = arch.format_from_name(b)?;
        let out = match &self.out {
            Some(name) => arch.format_from_name(name)?,
            None if a == Format::Fp64 => Format::Fp64,
            None => Format::Fp32,
        };
        Ok((a, b, out))
    }
}

/// The names in "A,B", or twice the one in "A".
fn both(names: &str) -> (&str, &str) {
    let (a, b) = names.split_once(',').unwrap_or((names, names));
    (a.trim(), b.trim())
}

/// A unit with the features changed that an option names.
pub fn changed(model: Model, option: &str, changes: &[String]) -> Result<Model, Failure> {
    if changes.is_empty() {
        return Ok(model);
    }
    let mut features = *model.params();
    for change in changes {
        params::set(&mut features, option, change)?;
    }
    Ok(Model::from_params(
        features,
        model.a(),
        model.b(),
        model.output(),
    )?)
}

/// "CDNA3 fp16 x fp16 -> fp32".
pub fn title(model: &Model) -> String {
    let arch = model.arch().map_or("custom", |arch| arch.info().name);
    format!("{arch} {} x {} -> {}", model.a(), model.b(), model.output())
}

/// A unit as JSON: its architecture (null for a custom one), formats and features.
pub fn to_json(model: &Model) -> Value {
    json!({
        "arch": model.arch().map(|arch| arch.info().name),
        "a": model.a().name(),
        "b": model.b().name(),
        "out": model.output().name(),
        "params": params::to_map(model.params()),
    })
}
