//! Lines of a text file, with their numbers.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use super::{failed, malformed};
use crate::error::Error;

/// Longer lines are a mistake, not a case.
const LONGEST: usize = 1 << 24;

pub(super) struct Lines {
    path: PathBuf,
    file: BufReader<File>,
    size: u64,
    read: u64,
    number: u64,
    line: Vec<u8>,
}

impl Lines {
    pub(super) fn open(path: &Path) -> Result<Lines, Error> {
        let file = File::open(path).map_err(|error| failed(path, &error))?;
        let size = file.metadata().map_err(|error| failed(path, &error))?.len();
        Ok(Lines {
            path: path.to_path_buf(),
            file: BufReader::new(file),
            size,
            read: 0,
            number: 0,
            line: Vec::new(),
        })
    }

    /// The next line, without its end.
    pub(super) fn next(&mut self) -> Result<Option<&str>, Error> {
        self.line.clear();
        self.number += 1;
        loop {
            let bytes = self
                .file
                .fill_buf()
                .map_err(|error| failed(&self.path, &error))?;
            if bytes.is_empty() {
                break;
            }
            let end = bytes.iter().position(|&byte| byte == b'\n');
            let taken = end.map_or(bytes.len(), |end| end + 1);
            self.line.extend_from_slice(&bytes[..end.unwrap_or(taken)]);
            self.file.consume(taken);
            self.read += taken as u64;
            if end.is_some() {
                return self.text().map(Some);
            }
            if self.line.len() > LONGEST {
                return Err(self.malformed(format!("a line of more than {LONGEST} bytes")));
            }
        }
        if self.line.is_empty() {
            return Ok(None);
        }
        self.text().map(Some)
    }

    fn text(&self) -> Result<&str, Error> {
        match std::str::from_utf8(&self.line) {
            Ok(text) => Ok(text.trim_end_matches('\r')),
            Err(_) => Err(self.malformed("the line is not text")),
        }
    }

    /// An error in the last line that was read.
    pub(super) fn malformed(&self, what: impl std::fmt::Display) -> Error {
        malformed(&self.path, self.number, what)
    }

    /// The part that has been read, 0 to 1.
    pub(super) fn done(&self) -> f64 {
        self.read as f64 / self.size.max(1) as f64
    }
}
