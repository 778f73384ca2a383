//! Folders as MATLAB Tensor Core has them, `model_validation/<GPU>/<format>/`: one text file each for a, b, c and d.
//!
//! All values are binary32 words that hold the encodings' values (binary64 words where the format is binary64, which the
//! toolbox does not have): in a and b a case a line, hexadecimal, in c and d one value a line, as binary digits.

use std::path::{Path, PathBuf};

use super::lines::Lines;
use super::{Formats, Plan, Record, Recorded, Sink, failed};
use crate::error::{Error, ErrorCode};
use crate::format::{Class, Format, Overflow, Rounding, decode, recode};
use crate::validate::sample::Case;

/// The word that holds a format's values in these files.
fn word(format: Format) -> Format {
    match format {
        Format::Fp64 => Format::Fp64,
        _ => Format::Fp32,
    }
}

/// What the file names of a folder say.
pub(super) struct Names {
    pub(super) gpu: String,
    pub(super) a: String,
    pub(super) b: String,
    /// Output formats for which there are results.
    pub(super) outputs: Vec<String>,
    c: PathBuf,
    folder: PathBuf,
}

/// The files of a folder have names that do not go together.
fn misnamed(folder: &Path, what: String) -> Error {
    Error::new(
        ErrorCode::Malformed,
        format!("{}: {what}", folder.display()),
    )
}

impl Names {
    pub(super) fn of(folder: &Path) -> Result<Names, Error> {
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .map_err(|error| failed(folder, &error))?
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .collect();
        files.sort();
        // `<letter>_<GPU>_<format>.txt`
        let parts = |letter: &str| -> Vec<(String, String)> {
            let stems = files.iter().filter_map(|name| {
                name.strip_suffix(".txt")?
                    .strip_prefix(letter)?
                    .strip_prefix('_')
            });
            stems
                .filter_map(|stem| stem.rsplit_once('_'))
                .map(|(gpu, format)| (gpu.to_string(), format.to_string()))
                .collect()
        };
        let one = |letter: &str| match &parts(letter)[..] {
            [(gpu, format)] => Ok((gpu.clone(), format.clone())),
            found => Err(misnamed(
                folder,
                format!(
                    "{} files are named {letter}_<GPU>_<format>.txt; allowed: one",
                    found.len()
                ),
            )),
        };
        let (gpu, a) = one("a")?;
        let (_, b) = one("b")?;
        let (c_gpu, c) = one("c")?;
        Ok(Names {
            gpu,
            a,
            b,
            outputs: parts("d").into_iter().map(|(_, format)| format).collect(),
            c: folder.join(format!("c_{c_gpu}_{c}.txt")),
            folder: folder.to_path_buf(),
        })
    }

    fn file(&self, letter: &str, format: &str) -> PathBuf {
        self.folder
            .join(format!("{letter}_{}_{format}.txt", self.gpu))
    }
}

pub(super) struct Reader {
    formats: Formats,
    a: Lines,
    b: Lines,
    c: Lines,
    d: Option<Lines>,
}

impl Reader {
    pub(super) fn open(folder: &Path, formats: Formats) -> Result<Reader, Error> {
        let names = Names::of(folder)?;
        let output = formats.output.name();
        let d = names
            .outputs
            .iter()
            .find(|name| name.to_lowercase() == output)
            .map(|name| names.file("d", name));
        if d.is_none() && !names.outputs.is_empty() {
            return Err(misnamed(
                folder,
                format!(
                    "results d_{}_<format>.txt are there for {}, not for {output}",
                    names.gpu,
                    names.outputs.join(", ")
                ),
            ));
        }
        Ok(Reader {
            formats,
            a: Lines::open(&names.file("a", &names.a))?,
            b: Lines::open(&names.file("b", &names.b))?,
            c: Lines::open(&names.c)?,
            d: d.map(|path| Lines::open(&path)).transpose()?,
        })
    }

    pub(super) fn done(&self) -> f64 {
        self.a.done()
    }

    pub(super) fn read(&mut self) -> Result<Option<Record>, Error> {
        let Formats { a, b, output } = self.formats;
        let Some(a) = vector(&mut self.a, a)? else {
            return self.ends();
        };
        let Some(b) = vector(&mut self.b, b)? else {
            return Err(self.b.malformed("the file ends before that of a does"));
        };
        if a.len() != b.len() {
            return Err(self
                .b
                .malformed(format!("{} values, but a has {}", b.len(), a.len())));
        }
        let Some(c) = value(&mut self.c, output, true)? else {
            return Err(self.c.malformed("the file ends before that of a does"));
        };
        let d = match &mut self.d {
            None => None,
            Some(lines) => match value(lines, output, false)? {
                Some(bits) => Some(Recorded::Bits(bits)),
                None => return Err(lines.malformed("the file ends before that of a does")),
            },
        };
        Ok(Some(Record {
            case: Case { a, b, c },
            d,
        }))
    }

    /// All files end together.
    fn ends(&mut self) -> Result<Option<Record>, Error> {
        for lines in [&mut self.b, &mut self.c].into_iter().chain(&mut self.d) {
            if text(lines)?.is_some() {
                return Err(lines.malformed("the file has more lines than that of a"));
            }
        }
        Ok(None)
    }
}

/// The next line that is not empty.
fn text(lines: &mut Lines) -> Result<Option<String>, Error> {
    while let Some(line) = lines.next()? {
        let line = line.trim();
        if !line.is_empty() {
            return Ok(Some(line.to_string()));
        }
    }
    Ok(None)
}

fn vector(lines: &mut Lines, format: Format) -> Result<Option<Vec<u64>>, Error> {
    let Some(line) = text(lines)? else {
        return Ok(None);
    };
    let digits = 2 * word(format).bytes();
    let elements = line.split_whitespace().map(|hex| {
        let bits = u64::from_str_radix(hex, 16).ok();
        match bits.filter(|_| hex.len() == digits && hex.bytes().all(|c| c.is_ascii_hexdigit())) {
            Some(bits) => exactly(bits, format).map_err(|what| lines.malformed(what)),
            None => Err(lines.malformed(format!("'{hex}'; allowed: {digits} hexadecimal digits"))),
        }
    });
    elements.collect::<Result<Vec<u64>, Error>>().map(Some)
}

/// One value; `rounded`: to the format, as the measuring programs do with c, else it must be one of the format's.
fn value(lines: &mut Lines, format: Format, rounded: bool) -> Result<Option<u64>, Error> {
    let Some(line) = text(lines)? else {
        return Ok(None);
    };
    let word = word(format);
    let digits = 8 * word.bytes();
    let binary = line.len() == digits && line.bytes().all(|c| c == b'0' || c == b'1');
    let Some(bits) = u64::from_str_radix(&line, 2).ok().filter(|_| binary) else {
        return Err(lines.malformed(format!("'{line}'; allowed: {digits} binary digits")));
    };
    if rounded {
        return Ok(Some(recode(
            word,
            format,
            bits,
            Rounding::NearestEven,
            Overflow::Ieee,
        )));
    }
    exactly(bits, format)
        .map(Some)
        .map_err(|what| lines.malformed(what))
}

/// The encoding of the value that a word holds.
fn exactly(bits: u64, format: Format) -> Result<u64, String> {
    let word = word(format);
    if format == Format::Tf32 {
        // The unit cuts it itself.
        return Ok(bits);
    }
    let encoding = recode(word, format, bits, Rounding::NearestEven, Overflow::Ieee);
    let nan = |format, bits| decode(format, bits).class == Class::Nan;
    if widened(encoding, format) == bits || nan(word, bits) && nan(format, encoding) {
        return Ok(encoding);
    }
    let digits = 2 * word.bytes();
    Err(format!("{bits:0digits$x} is no value of {format}"))
}

fn widened(bits: u64, format: Format) -> u64 {
    if format == Format::Tf32 {
        return bits;
    }
    recode(
        format,
        word(format),
        bits,
        Rounding::NearestEven,
        Overflow::Ieee,
    )
}

pub(super) struct Writer {
    formats: Formats,
    a: Sink,
    b: Sink,
    c: Sink,
    d: Option<Sink>,
}

impl Writer {
    pub(super) fn create(folder: &Path, plan: &Plan) -> Result<Writer, Error> {
        std::fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
        let unit: String = plan
            .unit
            .chars()
            .map(|c| {
                if c.is_alphanumeric() || c == '-' {
                    c
                } else {
                    '-'
                }
            })
            .collect();
        let file = |letter: &str, format: &str| {
            Sink::create(folder.join(format!("{letter}_{unit}_{format}.txt")))
        };
        // The toolbox's names of 8-bit formats are upper case.
        let name = |format: Format| match format.bytes() {
            1 => format.name().to_uppercase(),
            _ => format.name().to_string(),
        };
        let Formats { a, b, output } = plan.formats;
        let d = plan.results.then(|| file("d", output.name()));
        Ok(Writer {
            formats: plan.formats,
            a: file("a", &name(a))?,
            b: file("b", &name(b))?,
            c: file("c", word(output).name())?,
            d: d.transpose()?,
        })
    }

    pub(super) fn write(
        &mut self,
        a: &[u64],
        b: &[u64],
        c: u64,
        d: Option<u64>,
    ) -> Result<(), Error> {
        let formats = self.formats;
        let hex = |format: Format, x: &[u64]| {
            let digits = 2 * word(format).bytes();
            let words: Vec<String> = x
                .iter()
                .map(|&bits| format!("{:0digits$x}", widened(bits, format)))
                .collect();
            words.join(" ") + "\n"
        };
        let digits = 8 * word(formats.output).bytes();
        let binary = |bits| format!("{:0digits$b}\n", widened(bits, formats.output));
        self.a.put(hex(formats.a, a).as_bytes())?;
        self.b.put(hex(formats.b, b).as_bytes())?;
        self.c.put(binary(c).as_bytes())?;
        if let (Some(sink), Some(d)) = (&mut self.d, d) {
            sink.put(binary(d).as_bytes())?;
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Result<(), Error> {
        for sink in [self.a, self.b, self.c].into_iter().chain(self.d) {
            sink.finish()?;
        }
        Ok(())
    }
}
