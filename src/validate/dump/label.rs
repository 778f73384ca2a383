//! What a dump says of itself: by its name, its header, or the names of its files.

use std::path::Path;

use super::lines::Lines;
use super::{Form, Formats, binary, folder, form_of};
use crate::error::{Error, ErrorCode};
use crate::format::Format;
use crate::model::Arch;

/// Names that a dump gives. What they mean depends on the architecture: E4M3 is the OCP format on a H100 and the FNUZ one
/// on a MI300X.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Label {
    /// GPU, architecture or function.
    pub unit: Option<String>,
    /// Format of a's elements.
    pub a: Option<String>,
    /// Format of b's elements.
    pub b: Option<String>,
    /// Format of c and d.
    pub output: Option<String>,
    /// Instruction.
    pub instruction: Option<String>,
}

impl Label {
    /// Reads what a dump says. Fails where there is no dump.
    pub fn of(path: &Path) -> Result<Label, Error> {
        match form_of(path)? {
            Form::Binary => {
                let Formats { a, b, output } = binary::formats(path)?;
                let name = |format: Format| Some(format.name().to_string());
                Ok(Label {
                    a: name(a),
                    b: name(b),
                    output: name(output),
                    ..Label::default()
                })
            }
            Form::Folder => {
                let names = folder::Names::of(path)?;
                let output = match &names.outputs[..] {
                    [] => None,
                    [one] => Some(one.clone()),
                    // The usual one, where there are several.
                    several => several.iter().find(|name| *name == "fp32").cloned(),
                };
                Ok(Label {
                    unit: Some(names.gpu),
                    a: Some(names.a),
                    b: Some(names.b),
                    output,
                    instruction: None,
                })
            }
            Form::Vectors => vectors(path),
        }
    }

    /// The formats as `arch` means their names; without an output format, binary32 (binary64 for binary64 inputs).
    pub fn formats(&self, arch: Arch) -> Result<Formats, Error> {
        let needed = |name: &Option<String>| {
            name.as_deref()
                .ok_or_else(|| {
                    Error::new(
                        ErrorCode::InvalidArgument,
                        "which formats the inputs have is said neither by the name (<unit>_<informat>_<outformat>.txt) nor \
                         by a header line '# formats: a b d'",
                    )
                })
                .and_then(|name| arch.format_from_name(name))
        };
        let a = needed(&self.a)?;
        let b = match &self.b {
            Some(name) => arch.format_from_name(name)?,
            None => a,
        };
        let output = match &self.output {
            Some(name) => arch.format_from_name(name)?,
            None if a == Format::Fp64 => Format::Fp64,
            None => Format::Fp32,
        };
        Ok(Formats { a, b, output })
    }
}

/// `<unit>_<informat>_<outformat>.txt`, and header lines `# unit: `, `# formats: a b d` and `# instruction: `, which come
/// first.
fn vectors(path: &Path) -> Result<Label, Error> {
    let mut label = Label::default();
    if let Some(stem) = path.file_stem().and_then(|stem| stem.to_str()) {
        let parts: Vec<&str> = stem.split('_').collect();
        if let [unit, input, output, ..] = parts[..]
            && Arch::from_name(unit).is_ok()
        {
            label.unit = Some(unit.to_string());
            label.a = Some(input.to_string());
            label.output = Some(output.to_string());
        }
    }
    let mut lines = Lines::open(path)?;
    while let Some(line) = lines.next()? {
        let line = line.trim();
        let Some(comment) = line.strip_prefix('#') else {
            if line.is_empty() {
                continue;
            }
            break;
        };
        let Some((key, value)) = comment.split_once(':') else {
            continue;
        };
        let value = value.trim().to_string();
        match key.trim() {
            "unit" => label.unit = Some(value),
            "instruction" => label.instruction = Some(value),
            "formats" => {
                if let [a, b, output] = value.split_whitespace().collect::<Vec<_>>()[..] {
                    label.a = Some(a.to_string());
                    label.b = Some(b.to_string());
                    label.output = Some(output.to_string());
                }
            }
            _ => {}
        }
    }
    Ok(label)
}
