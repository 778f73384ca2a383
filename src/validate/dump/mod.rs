//! Dumps: inputs of many dot products with the results that some unit gave, in files.
//!
//! Three forms ([`Form`]), read and written case by case, whatever their size; docs/validate.md describes them.

mod binary;
mod check;
mod folder;
mod label;
mod lines;
mod vectors;

use std::path::{Path, PathBuf};

pub use check::{Candidate, DumpCheck, candidates, check_dump};
pub use label::Label;
pub use vectors::{line, parse as parse_line};

use super::sample::Case;
use crate::error::{Error, ErrorCode};
use crate::format::Format;
use crate::model::Model;

/// How a dump lies on disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// A text file of test vectors, a case a line: `K a=<hex,...> b=<hex,...> c=<hex> d=<hex|nan>`.
    Vectors,
    /// A folder as MATLAB Tensor Core has them: `a_<GPU>_<format>.txt` and `b_...` with a case a line, as hexadecimal
    /// binary32 words; `c_<GPU>_fp32.txt` and `d_<GPU>_<output>.txt` with binary32 words of 32 binary digits.
    Folder,
    /// A binary file: a header of 48 bytes, then records.
    Binary,
}

/// Names of the forms.
pub const FORMS: &[(&str, Form)] = &[
    ("vectors", Form::Vectors),
    ("folder", Form::Folder),
    ("binary", Form::Binary),
];

impl Form {
    /// The form of that name.
    pub fn from_name(name: &str) -> Result<Form, Error> {
        let found = FORMS.iter().find(|row| row.0 == name.to_lowercase());
        found.map(|row| row.1).ok_or_else(|| {
            Error::new(
                ErrorCode::InvalidArgument,
                format!("unknown form of dumps '{name}'; allowed: vectors, folder, binary"),
            )
        })
    }

    /// The form that a path suggests: a folder for one that is there or has no extension, test vectors for `.txt`, binary
    /// for anything else.
    pub fn of_path(path: &Path) -> Form {
        match path.extension() {
            _ if path.is_dir() => Form::Folder,
            None => Form::Folder,
            Some(extension) if extension == "txt" => Form::Vectors,
            Some(_) => Form::Binary,
        }
    }
}

/// Formats of a dump's elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Formats {
    /// Of a's.
    pub a: Format,
    /// Of b's.
    pub b: Format,
    /// Of c and d.
    pub output: Format,
}

impl Formats {
    /// A unit's.
    pub fn of(model: &Model) -> Formats {
        Formats {
            a: model.a(),
            b: model.b(),
            output: model.output(),
        }
    }
}

/// A result in a dump.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Recorded {
    /// This encoding.
    Bits(u64),
    /// Any NaN.
    Nan,
}

/// A case of a dump, with the result if the dump has results.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Record {
    /// Inputs.
    pub case: Case,
    /// Result.
    pub d: Option<Recorded>,
}

/// Reads a dump, case by case.
pub struct Reader {
    inner: Inner,
}

enum Inner {
    Vectors(vectors::Reader),
    Folder(Box<folder::Reader>),
    Binary(binary::Reader),
}

impl Reader {
    /// Opens a dump whose elements have these formats. A binary dump knows its own, which must be the same.
    pub fn open(path: &Path, formats: Formats) -> Result<Reader, Error> {
        let inner = match form_of(path)? {
            Form::Vectors => Inner::Vectors(vectors::Reader::open(path, formats)?),
            Form::Folder => Inner::Folder(Box::new(folder::Reader::open(path, formats)?)),
            Form::Binary => Inner::Binary(binary::Reader::open(path, formats)?),
        };
        Ok(Reader { inner })
    }

    /// The next case; `None` at the end. What is malformed is an error that names the file and the line or record.
    pub fn read(&mut self) -> Result<Option<Record>, Error> {
        match &mut self.inner {
            Inner::Vectors(reader) => reader.read(),
            Inner::Folder(reader) => reader.read(),
            Inner::Binary(reader) => reader.read(),
        }
    }

    /// The part that has been read, 0 to 1.
    pub fn done(&self) -> f64 {
        match &self.inner {
            Inner::Vectors(reader) => reader.done(),
            Inner::Folder(reader) => reader.done(),
            Inner::Binary(reader) => reader.done(),
        }
    }
}

/// The form of a dump that is there.
fn form_of(path: &Path) -> Result<Form, Error> {
    if path.is_dir() {
        return Ok(Form::Folder);
    }
    Ok(if binary::has_magic(path)? {
        Form::Binary
    } else {
        Form::Vectors
    })
}

/// Writes a dump, case by case. [`Writer::finish`] must be called at the end.
pub struct Writer {
    inner: Output,
}

enum Output {
    Vectors(vectors::Writer),
    Folder(folder::Writer),
    Binary(binary::Writer),
}

/// What is written.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Form.
    pub form: Form,
    /// Formats of the elements.
    pub formats: Formats,
    /// Length of the dot products; that of test vectors may vary.
    pub k: usize,
    /// The GPU or unit, for names of files and comments.
    pub unit: String,
    /// The instruction, if the unit is one's own; only test vectors say it.
    pub instruction: Option<String>,
    /// Are there results?
    pub results: bool,
}

impl Writer {
    /// Creates the file or folder. Files that are there already are overwritten.
    pub fn create(path: &Path, plan: &Plan) -> Result<Writer, Error> {
        let inner = match plan.form {
            Form::Vectors => Output::Vectors(vectors::Writer::create(path, plan)?),
            Form::Folder => Output::Folder(folder::Writer::create(path, plan)?),
            Form::Binary => Output::Binary(binary::Writer::create(path, plan)?),
        };
        Ok(Writer { inner })
    }

    /// Appends a case; `d` where the plan has results.
    pub fn write(&mut self, a: &[u64], b: &[u64], c: u64, d: Option<u64>) -> Result<(), Error> {
        match &mut self.inner {
            Output::Vectors(writer) => writer.write(a, b, c, d),
            Output::Folder(writer) => writer.write(a, b, c, d),
            Output::Binary(writer) => writer.write(a, b, c, d),
        }
    }

    /// Writes what is left. Without it the dump is not complete.
    pub fn finish(self) -> Result<(), Error> {
        match self.inner {
            Output::Vectors(writer) => writer.finish(),
            Output::Folder(writer) => writer.finish(),
            Output::Binary(writer) => writer.finish(),
        }
    }
}

/// A file cannot be read or written.
fn failed(path: &Path, error: &std::io::Error) -> Error {
    Error::new(ErrorCode::Io, format!("{}: {error}", path.display()))
}

/// Something in a file is not as it should be; `place` is a line, record, ...
fn malformed(path: &Path, place: impl std::fmt::Display, what: impl std::fmt::Display) -> Error {
    Error::new(
        ErrorCode::Malformed,
        format!("{}:{place}: {what}", path.display()),
    )
}

/// A file that is being written.
struct Sink {
    path: PathBuf,
    file: std::io::BufWriter<std::fs::File>,
}

impl Sink {
    fn create(path: PathBuf) -> Result<Sink, Error> {
        match std::fs::File::create(&path) {
            Ok(file) => Ok(Sink {
                path,
                file: std::io::BufWriter::new(file),
            }),
            Err(error) => Err(failed(&path, &error)),
        }
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), Error> {
        use std::io::Write;
        self.file
            .write_all(bytes)
            .map_err(|error| failed(&self.path, &error))
    }

    fn finish(mut self) -> Result<std::fs::File, Error> {
        use std::io::Write;
        self.file
            .flush()
            .map_err(|error| failed(&self.path, &error))?;
        let path = self.path;
        self.file
            .into_inner()
            .map_err(|error| failed(&path, error.error()))
    }
}

#[cfg(test)]
mod tests;
