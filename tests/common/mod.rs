//! Reading the evidence: test vectors in their text form (see `MFMA_TEST_DATA` in CONTRIBUTING.md).
#![allow(dead_code, unused_imports)]

pub mod evidence;
pub mod passes;
mod random;
pub mod readings;
pub mod report;

use std::path::{Path, PathBuf};

use mfma::format::{Class, decode};
use mfma::model::Conventions;
use mfma::{Arch, Format, Model};

pub use random::{Random, seed};

/// The folder of measured and published evidence, if this machine has it.
pub fn evidence_folder() -> Option<PathBuf> {
    let path = std::env::var_os("MFMA_TEST_DATA")?;
    let path = PathBuf::from(path);
    path.join("golden").is_dir().then_some(path)
}

/// Says that a test did nothing because the evidence is absent.
pub fn say_absent(test: &str) {
    eprintln!("{test}: NOT RUN, the evidence folder is absent (set MFMA_TEST_DATA)");
}

/// One dot product with its expected result.
#[derive(Clone, Debug)]
pub struct Case {
    pub a: Vec<u64>,
    pub b: Vec<u64>,
    pub c: u64,
    pub d: Expected,
    pub line: usize,
    pub text: String,
}

impl Case {
    /// An optional field such as `why=` of the case's line.
    pub fn field(&self, key: &str) -> Option<&str> {
        self.text
            .split_whitespace()
            .find_map(|word| word.strip_prefix(key))
    }
}

/// An expected encoding, or a NaN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Expected {
    Bits(u64),
    Nan,
}

impl Expected {
    pub fn parse(text: &str) -> Expected {
        match text {
            "nan" => Expected::Nan,
            hex => Expected::Bits(parse_hex(hex)),
        }
    }

    /// A NaN must be the vendor's: on AMD any with the sign bit set, since its payload has not been measured; on NVIDIA
    /// the one with all bits but the sign.
    pub fn accepts(self, model: &Model, d: u64) -> bool {
        match self {
            Expected::Bits(bits) => bits == d,
            Expected::Nan => {
                let format = model.output();
                let sign = format.info().sign_bit();
                decode(format, d).class == Class::Nan
                    && match model.params().conventions {
                        Conventions::Amd => d & sign != 0,
                        _ => d == sign - 1,
                    }
            }
        }
    }
}

pub fn parse_hex(text: &str) -> u64 {
    u64::from_str_radix(text, 16).unwrap_or_else(|_| panic!("not hex: {text:?}"))
}

pub fn parse_hex_list(text: &str) -> Vec<u64> {
    text.split(',').map(parse_hex).collect()
}

/// Parses `K a=<hex,...> b=<hex,...> c=<hex> d=<hex|nan> ...`.
pub fn parse_case(text: &str, line: usize) -> Case {
    let field = |key: &str| {
        text.split_whitespace()
            .find_map(|word| word.strip_prefix(key))
            .unwrap_or_else(|| panic!("line {line}: no {key} in {text:?}"))
    };
    let k: usize = text.split_whitespace().next().unwrap().parse().unwrap();
    let case = Case {
        a: parse_hex_list(field("a=")),
        b: parse_hex_list(field("b=")),
        c: parse_hex(field("c=")),
        d: Expected::parse(field("d=")),
        line,
        text: text.to_string(),
    };
    assert_eq!((case.a.len(), case.b.len()), (k, k), "line {line}");
    case
}

/// All cases of a file.
pub fn read_cases(path: &Path) -> Vec<Case> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    text.lines()
        .enumerate()
        .filter(|(_, line)| !line.starts_with('#') && !line.trim().is_empty())
        .map(|(i, line)| parse_case(line, i + 1))
        .collect()
}

/// The files of a folder of the evidence whose name ends in .txt, sorted.
pub fn text_files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap_or_else(|e| panic!("{}: {e}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "txt"))
        .collect();
    files.sort();
    files
}

/// Function or GPU, input format and output format from `<function or GPU>_<informat>_<outformat>.txt`.
pub fn parse_file_name(path: &Path) -> (Arch, Format, Format) {
    let stem = path.file_stem().unwrap().to_str().unwrap();
    let mut parts = stem.split('_');
    let (unit, input, output) = (
        parts.next().unwrap(),
        parts.next().unwrap(),
        parts.next().unwrap(),
    );
    let arch = Arch::from_name(unit).unwrap();
    let format = |name| arch.format_from_name(name).unwrap();
    (arch, format(input), format(output))
}
