//! Test vectors, a case a line.

use std::path::Path;

use super::lines::Lines;
use super::{Formats, Plan, Record, Recorded, Sink};
use crate::error::Error;
use crate::format::{Format, Overflow, Rounding, recode};
use crate::validate::sample::Case;

pub(super) struct Reader {
    lines: Lines,
    formats: Formats,
}

impl Reader {
    pub(super) fn open(path: &Path, formats: Formats) -> Result<Reader, Error> {
        Ok(Reader {
            lines: Lines::open(path)?,
            formats,
        })
    }

    pub(super) fn done(&self) -> f64 {
        self.lines.done()
    }

    pub(super) fn read(&mut self) -> Result<Option<Record>, Error> {
        loop {
            let parsed = match self.lines.next()? {
                None => return Ok(None),
                Some(line) if line.trim_start().starts_with('#') => continue,
                Some(line) if line.trim().is_empty() => continue,
                Some(line) => parse(line, self.formats),
            };
            return match parsed {
                Ok(record) => Ok(Some(record)),
                Err(what) => Err(self.lines.malformed(what)),
            };
        }
    }
}

/// Reads a case in the text form of test vectors, `K a=<hex,...> b=<hex,...> c=<hex> [d=<hex|nan>] [other words]`. The error
/// says what is wrong.
pub fn parse(line: &str, formats: Formats) -> Result<Record, String> {
    let mut words = line.split_whitespace();
    let first = words.next().unwrap_or("");
    let k: usize = first
        .parse()
        .map_err(|_| format!("a line begins with K, the number of elements, not '{first}'"))?;
    let (mut a, mut b, mut c, mut d) = (None, None, None, None);
    for word in words {
        let Some((key, value)) = word.split_once('=') else {
            return Err(format!("'{word}' is no key=value"));
        };
        let place = match key {
            "a" => &mut a,
            "b" => &mut b,
            "c" => &mut c,
            "d" => &mut d,
            // toolbox=, why=, cat=, ...: notes.
            _ => continue,
        };
        if place.replace(value).is_some() {
            return Err(format!("{key}= is there twice"));
        }
    }
    let needed = |key: &str, value: Option<&str>| -> Result<String, String> {
        value
            .map(str::to_string)
            .ok_or_else(|| format!("no {key}="))
    };
    let vector = |key, value: Option<&str>, format| -> Result<Vec<u64>, String> {
        let text = needed(key, value)?;
        let parts: Vec<&str> = text
            .split(',')
            .filter(|part| k > 0 || !part.is_empty())
            .collect();
        if parts.len() != k {
            return Err(format!("{key} has {} elements, but K is {k}", parts.len()));
        }
        let elements = parts.iter().enumerate();
        elements
            .map(|(i, part)| encoding(&format!("{key}[{i}]"), part, format))
            .collect()
    };
    Ok(Record {
        case: Case {
            a: vector("a", a, formats.a)?,
            b: vector("b", b, formats.b)?,
            c: addend(&needed("c", c)?, formats.output)?,
        },
        d: match d {
            None => None,
            Some(text) if text.eq_ignore_ascii_case("nan") => Some(Recorded::Nan),
            Some(text) => Some(Recorded::Bits(encoding("d", text, formats.output)?)),
        },
    })
}

fn encoding(name: &str, text: &str, format: Format) -> Result<u64, String> {
    let digits = 2 * format.bytes();
    let hex = |c: u8| c.is_ascii_hexdigit();
    if text.len() != digits || !text.bytes().all(hex) {
        return Err(format!(
            "{name} is '{text}'; allowed: {digits} hexadecimal digits, an encoding of {format}"
        ));
    }
    u64::from_str_radix(text, 16).map_err(|error| format!("{name} is '{text}': {error}"))
}

/// A binary32 word where the output is binary16 is rounded to nearest even, as the programs that measured it do.
fn addend(text: &str, output: Format) -> Result<u64, String> {
    if output == Format::Fp16 && text.len() == 8 {
        let wide = encoding("c", text, Format::Fp32)?;
        return Ok(recode(
            Format::Fp32,
            output,
            wide,
            Rounding::NearestEven,
            Overflow::Ieee,
        ));
    }
    encoding("c", text, output)
}

pub(super) struct Writer {
    sink: Sink,
    formats: Formats,
}

impl Writer {
    pub(super) fn create(path: &Path, plan: &Plan) -> Result<Writer, Error> {
        let mut sink = Sink::create(path.to_path_buf())?;
        let Formats { a, b, output } = plan.formats;
        let mut header = format!("# unit: {}\n# formats: {a} {b} {output}\n", plan.unit);
        if let Some(instruction) = &plan.instruction {
            header += &format!("# instruction: {instruction}\n");
        }
        sink.put(header.as_bytes())?;
        Ok(Writer {
            sink,
            formats: plan.formats,
        })
    }

    pub(super) fn write(
        &mut self,
        a: &[u64],
        b: &[u64],
        c: u64,
        d: Option<u64>,
    ) -> Result<(), Error> {
        let mut line = line(self.formats, a, b, c, d);
        line.push('\n');
        self.sink.put(line.as_bytes())
    }

    pub(super) fn finish(self) -> Result<(), Error> {
        self.sink.finish().map(drop)
    }
}

/// A case in the text form of test vectors.
pub fn line(formats: Formats, a: &[u64], b: &[u64], c: u64, d: Option<u64>) -> String {
    let hex = |format: Format, bits: u64| {
        let digits = 2 * format.bytes();
        format!("{bits:0digits$x}")
    };
    let list = |format, x: &[u64]| {
        let words: Vec<String> = x.iter().map(|&bits| hex(format, bits)).collect();
        words.join(",")
    };
    let mut text = format!(
        "{} a={} b={} c={}",
        a.len(),
        list(formats.a, a),
        list(formats.b, b),
        hex(formats.output, c)
    );
    if let Some(d) = d {
        text += &format!(" d={}", hex(formats.output, d));
    }
    text
}
