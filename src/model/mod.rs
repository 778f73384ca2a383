//! What the hardware does: architectures, the features of their units, and the catalogue of rows.
//!
//! A [`Row`] of the [`catalogue`] says which [`Params`] an architecture uses for which formats, and who says so. A
//! [`Model`] is a unit ready to compute: one row, or parameters of the caller's.

mod amd;
mod arch;
mod evidence;
mod evidence_counts;
mod instructions;
mod nvidia;
mod params;

pub use arch::{ARCHS, Arch, ArchInfo};
pub use evidence::{Capability, Vectors, capabilities, mismatch_bound};
pub use instructions::{Instruction, instructions};
pub use params::{Conventions, Interleave, Params, Scheme};

use crate::error::{Error, ErrorCode};
use crate::format::{Format, Rounding};
use crate::reference::Unit;

/// Who says that a row is right, by the order of authority.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Evidence {
    /// Vectors measured on the hardware.
    Measured,
    /// The paper's algorithms and printed vectors.
    Paper,
    /// Vendor documentation or other public models only.
    Assumed,
    /// No hardware has this unit: it is what the toolbox computes.
    NoHardware,
}

/// How a row is reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reach {
    /// The default of its architecture for these formats.
    Formats,
    /// Only by one of its instructions' names.
    Instruction,
}

/// One row of the catalogue: a unit of an architecture for some formats.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Architecture.
    pub arch: Arch,
    /// Pairs of input formats, for a and for b, that share this row.
    pub inputs: &'static [[Format; 2]],
    /// Format of the result, and of c between blocks.
    pub output: Format,
    /// Features.
    pub params: Params,
    /// How it is reached.
    pub reach: Reach,
    /// An instruction of this row.
    pub instruction: &'static str,
    /// Who says so.
    pub evidence: Evidence,
    /// Where: paper section, table, measured file, ...
    pub source: &'static str,
}

/// All rows, AMD first, oldest architecture first.
pub fn catalogue() -> impl Iterator<Item = &'static Row> {
    amd::ROWS.iter().chain(nvidia::ROWS)
}

/// A matrix unit, ready to compute dot products. Immutable; cheap to copy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Model {
    arch: Option<Arch>,
    a: Format,
    b: Format,
    output: Format,
    params: Params,
}

impl Model {
    /// The unit of `arch` for inputs `a` and `b` and output `d`. Fails when the architecture has no such unit; the
    /// message lists the combinations that it has.
    pub fn new(arch: Arch, a: Format, b: Format, d: Format) -> Result<Model, Error> {
        let row = catalogue().find(|row| {
            row.reach == Reach::Formats
                && row.arch == arch
                && row.output == d
                && row.inputs.contains(&[a, b])
        });
        match row {
            Some(row) => Ok(Model::from_row(row, a, b)),
            None => Err(unsupported(arch, a, b, d)),
        }
    }

    /// The unit that an instruction of `arch` runs on, by its name in the vendor's instruction set; see
    /// [`Instruction`] for the names and the shapes.
    pub fn from_instruction(mnemonic: &str, arch: Arch) -> Result<Model, Error> {
        Instruction::find(mnemonic, arch).map(|instruction| instruction.model())
    }

    /// A custom unit.
    pub fn from_params(params: Params, a: Format, b: Format, d: Format) -> Result<Model, Error> {
        params.check([a, b], d)?;
        Ok(Model {
            arch: None,
            a,
            b,
            output: d,
            params,
        })
    }

    fn from_row(row: &Row, a: Format, b: Format) -> Model {
        Model {
            arch: Some(row.arch),
            a,
            b,
            output: row.output,
            params: row.params,
        }
    }

    /// The architecture, if the unit is one of the catalogue.
    pub fn arch(&self) -> Option<Arch> {
        self.arch
    }

    /// Format of a's elements.
    pub fn a(&self) -> Format {
        self.a
    }

    /// Format of b's elements.
    pub fn b(&self) -> Format {
        self.b
    }

    /// Format of the result.
    pub fn output(&self) -> Format {
        self.output
    }

    /// Are the results the same with a and b exchanged? Not where NaNs are passed on: b's goes before a's.
    pub(crate) fn commutes(&self) -> bool {
        !self.params.propagates_nans(self.output)
    }

    /// The unit with a and b exchanged, for units that [commute](Self::commutes).
    pub(crate) fn transposed(&self) -> Model {
        Model {
            a: self.b,
            b: self.a,
            ..*self
        }
    }

    /// Features.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// How a user's A and B are rounded: to nearest even, except tf32 toward zero, as the hardware reads it.
    pub fn input_rounding(format: Format) -> Rounding {
        match format {
            Format::Tf32 => Rounding::TowardZero,
            _ => Rounding::NearestEven,
        }
    }

    /// Format that a user's C is rounded to, and how: binary32 toward zero, or binary16 to nearest even when the
    /// output is binary16 and the inputs are binary16 or 8-bit. binary64 units take it as it is.
    pub fn addend_format(&self) -> (Format, Rounding) {
        let narrow =
            |format: Format| matches!(format.info().storage_bits, 8) || format == Format::Fp16;
        match self.output {
            Format::Fp64 => (Format::Fp64, Rounding::NearestEven),
            Format::Fp16 if narrow(self.a) && narrow(self.b) => {
                (Format::Fp16, Rounding::NearestEven)
            }
            _ => (Format::Fp32, Rounding::TowardZero),
        }
    }

    /// The unit as the reference wants it.
    pub fn unit(&self) -> Unit<'_> {
        Unit {
            params: &self.params,
            a: self.a,
            b: self.b,
            output: self.output,
        }
    }
}

fn unsupported(arch: Arch, a: Format, b: Format, d: Format) -> Error {
    let rows: Vec<String> = catalogue()
        .filter(|row| row.arch == arch && row.reach == Reach::Formats)
        .flat_map(|row| {
            row.inputs
                .iter()
                .map(|[a, b]| format!("{a} x {b} -> {}", row.output))
        })
        .collect();
    Error::new(
        ErrorCode::Unsupported,
        format!(
            "{arch} has no unit for {a} x {b} -> {d}; it has {}",
            rows.join(", ")
        ),
    )
}

#[cfg(test)]
mod tests;
