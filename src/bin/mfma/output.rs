//! What commands print, and how they fail.

use std::fmt::Display;
use std::io::Write;

use mfma::validate::dump::{Formats, line};
use mfma::{Format, Model};
use serde_json::Value;

/// What the exit status says of a command that did its work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Nothing differs.
    Agree,
    /// Something that was compared differs, or nothing fits.
    Differ,
}

impl Outcome {
    /// Of a comparison.
    pub fn of(agrees: bool) -> Outcome {
        if agrees {
            Outcome::Agree
        } else {
            Outcome::Differ
        }
    }
}

/// Why a command did not do its work.
#[derive(Debug)]
pub struct Failure(String);

impl Failure {
    /// With a message.
    pub fn new(message: impl Into<String>) -> Failure {
        Failure(message.into())
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<mfma::Error> for Failure {
    fn from(error: mfma::Error) -> Failure {
        Failure(error.message().to_string())
    }
}

/// How results are printed.
pub struct Output {
    /// As one JSON value?
    pub json: bool,
    /// Without progress bars?
    pub quiet: bool,
}

impl Output {
    /// Prints a result: its text, or its JSON value. Each is only made when it is needed. A closed pipe is no failure.
    pub fn print(
        &self,
        text: impl FnOnce() -> String,
        value: impl FnOnce() -> Value,
    ) -> Result<(), Failure> {
        let mut text = if self.json {
            format!("{:#}", value())
        } else {
            text()
        };
        if !text.ends_with('\n') {
            text.push('\n');
        }
        write(&text).map(drop)
    }
}

/// Writes to standard output; false where nobody reads it any more.
pub fn write(text: &str) -> Result<bool, Failure> {
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(Failure(format!("standard output: {error}"))),
    }
}

/// An encoding as its format's hexadecimal digits.
pub fn hex(format: Format, bits: u64) -> String {
    let digits = 2 * format.bytes();
    format!("{bits:0digits$x}")
}

/// A case in the text form of test vectors.
pub fn case_line(model: &Model, a: &[u64], b: &[u64], c: u64, d: Option<u64>) -> String {
    line(Formats::of(model), a, b, c, d)
}

/// Lines of cells as columns, all but the last padded to their widest cell.
pub fn columns(lines: &[Vec<String>]) -> String {
    let count = lines.iter().map(Vec::len).max().unwrap_or(0);
    let width = |i: usize| {
        let cells = lines.iter().filter_map(|line| line.get(i));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..count).map(width).collect();
    let mut text = String::new();
    for line in lines {
        let mut row = String::new();
        for (cell, &width) in line.iter().zip(&widths) {
            row += &format!("{cell:width$}  ");
        }
        text += row.trim_end();
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_line_up() {
        let lines = [["a", "bcd", "e"], ["fgh", "i", "j"]].map(|l| l.map(String::from).to_vec());
        assert_eq!(columns(&lines), "a    bcd  e\nfgh  i    j\n");
        assert_eq!(hex(Format::Fp16, 0xa), "000a");
    }
}
