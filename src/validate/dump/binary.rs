//! The binary form: a header of 48 bytes, then records of equal size. All numbers are little-endian.
//!
//! ```text
//!  0  8 bytes  "MFMADUMP"
//!  8  u32      version, 1
//! 12  u32      1 if records have results, else 0
//! 16  i32      format of a's elements, as MFMA_FMT_* numbers them
//! 20  i32      of b's
//! 24  i32      of c and d
//! 28  u32      0
//! 32  u64      k
//! 40  u64      number of records; all ones: as many as follow
//! 48  records  k elements of a, k of b, c, and d if there are results; 1, 2, 4 or 8 bytes each, nothing between them
//! ```

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::{Formats, Plan, Record, Recorded, Sink, failed, malformed};
use crate::error::Error;
use crate::format::Format;
use crate::validate::sample::Case;

const MAGIC: &[u8; 8] = b"MFMADUMP";
const VERSION: u32 = 1;
const HEADER: usize = 48;
const UNKNOWN: u64 = u64::MAX;
/// Longest vectors that are believed.
const MOST_ELEMENTS: u64 = 1 << 24;

/// Does the file begin as a binary dump?
pub(super) fn has_magic(path: &Path) -> Result<bool, Error> {
    let mut start = Vec::new();
    let file = File::open(path).map_err(|error| failed(path, &error))?;
    file.take(MAGIC.len() as u64)
        .read_to_end(&mut start)
        .map_err(|error| failed(path, &error))?;
    Ok(start == MAGIC)
}

struct Header {
    formats: Formats,
    k: usize,
    count: u64,
    results: bool,
}

impl Header {
    fn read(path: &Path, file: &mut impl Read) -> Result<Header, Error> {
        let wrong = |what: String| malformed(path, "header", what);
        let mut bytes = [0u8; HEADER];
        file.read_exact(&mut bytes).map_err(|_| {
            wrong(format!(
                "the file is shorter than its header of {HEADER} bytes"
            ))
        })?;
        let word = |at: usize| u32::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        let long = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        if word(8) != VERSION {
            return Err(wrong(format!("version is {}; known: {VERSION}", word(8))));
        }
        if word(12) > 1 || word(28) != 0 {
            return Err(wrong("a field that must be 0 or 1 is neither".to_string()));
        }
        let format = |name: &str, at| {
            let code = word(at) as i32;
            Format::from_code(code)
                .ok_or_else(|| wrong(format!("{name} has format {code}, which is none")))
        };
        let formats = Formats {
            a: format("a", 16)?,
            b: format("b", 20)?,
            output: format("c", 24)?,
        };
        if long(32) > MOST_ELEMENTS {
            return Err(wrong(format!(
                "k is {}; allowed: 0 to {MOST_ELEMENTS}",
                long(32)
            )));
        }
        Ok(Header {
            formats,
            k: long(32) as usize,
            count: long(40),
            results: word(12) == 1,
        })
    }

    fn bytes(&self) -> [u8; HEADER] {
        let mut bytes = [0u8; HEADER];
        let code = |format: Format| format.info().code as u32;
        bytes[..8].copy_from_slice(MAGIC);
        for (at, value) in [
            (8, VERSION),
            (12, self.results.into()),
            (16, code(self.formats.a)),
            (20, code(self.formats.b)),
            (24, code(self.formats.output)),
        ] {
            bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
        }
        bytes[32..40].copy_from_slice(&(self.k as u64).to_le_bytes());
        bytes[40..48].copy_from_slice(&self.count.to_le_bytes());
        bytes
    }

    fn record_bytes(&self) -> usize {
        let Formats { a, b, output } = self.formats;
        self.k * (a.bytes() + b.bytes()) + output.bytes() * (1 + usize::from(self.results))
    }
}

/// The formats in a binary dump's header.
pub(super) fn formats(path: &Path) -> Result<Formats, Error> {
    let mut file = File::open(path).map_err(|error| failed(path, &error))?;
    Header::read(path, &mut file).map(|header| header.formats)
}

pub(super) struct Reader {
    path: PathBuf,
    file: BufReader<File>,
    header: Header,
    size: u64,
    read: u64,
    record: Vec<u8>,
}

impl Reader {
    pub(super) fn open(path: &Path, formats: Formats) -> Result<Reader, Error> {
        let file = File::open(path).map_err(|error| failed(path, &error))?;
        let size = file.metadata().map_err(|error| failed(path, &error))?.len();
        let mut file = BufReader::new(file);
        let header = Header::read(path, &mut file)?;
        if header.formats != formats {
            let Formats { a, b, output } = header.formats;
            return Err(malformed(
                path,
                "header",
                format!("the formats are {a} x {b} -> {output}, not those asked for"),
            ));
        }
        Ok(Reader {
            path: path.to_path_buf(),
            file,
            record: vec![0; header.record_bytes()],
            header,
            size,
            read: 0,
        })
    }

    pub(super) fn done(&self) -> f64 {
        let bytes = HEADER as u64 + self.read * self.record.len() as u64;
        bytes as f64 / self.size.max(1) as f64
    }

    pub(super) fn read(&mut self) -> Result<Option<Record>, Error> {
        if self.read == self.header.count {
            return Ok(None);
        }
        let mut filled = 0;
        while filled < self.record.len() {
            match self.file.read(&mut self.record[filled..]) {
                Ok(0) => break,
                Ok(bytes) => filled += bytes,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(failed(&self.path, &error)),
            }
        }
        if filled == 0 && self.header.count == UNKNOWN {
            return Ok(None);
        }
        if filled < self.record.len() {
            return Err(malformed(
                &self.path,
                format!("record {}", self.read),
                format!(
                    "the file ends after {filled} of the record's {} bytes",
                    self.record.len()
                ),
            ));
        }
        self.read += 1;
        let mut rest = self.record.as_slice();
        let mut take = |format: Format| {
            let (now, later) = rest.split_at(format.bytes());
            rest = later;
            let mut word = [0u8; 8];
            word[..now.len()].copy_from_slice(now);
            u64::from_le_bytes(word)
        };
        let Formats { a, b, output } = self.header.formats;
        let a = (0..self.header.k).map(|_| take(a)).collect();
        let b = (0..self.header.k).map(|_| take(b)).collect();
        let c = take(output);
        Ok(Some(Record {
            case: Case { a, b, c },
            d: self.header.results.then(|| Recorded::Bits(take(output))),
        }))
    }
}

pub(super) struct Writer {
    sink: Sink,
    header: Header,
    record: Vec<u8>,
    written: u64,
}

impl Writer {
    pub(super) fn create(path: &Path, plan: &Plan) -> Result<Writer, Error> {
        let header = Header {
            formats: plan.formats,
            k: plan.k,
            count: UNKNOWN,
            results: plan.results,
        };
        let mut sink = Sink::create(path.to_path_buf())?;
        sink.put(&header.bytes())?;
        Ok(Writer {
            sink,
            header,
            record: Vec::new(),
            written: 0,
        })
    }

    pub(super) fn write(
        &mut self,
        a: &[u64],
        b: &[u64],
        c: u64,
        d: Option<u64>,
    ) -> Result<(), Error> {
        let k = self.header.k;
        let wrong =
            |what: String| malformed(&self.sink.path, format!("record {}", self.written), what);
        if a.len() != k || b.len() != k {
            return Err(wrong(format!("{} elements, but k is {k}", a.len())));
        }
        if d.is_some() != self.header.results {
            return Err(wrong("all records have results, or none".to_string()));
        }
        self.record.clear();
        let Formats {
            a: fa,
            b: fb,
            output,
        } = self.header.formats;
        let record = &mut self.record;
        let mut put = |format: Format, bits: u64| {
            record.extend_from_slice(&bits.to_le_bytes()[..format.bytes()]);
        };
        a.iter().for_each(|&bits| put(fa, bits));
        b.iter().for_each(|&bits| put(fb, bits));
        put(output, c);
        if let Some(d) = d {
            put(output, d);
        }
        self.written += 1;
        self.sink.put(&self.record)
    }

    /// Puts the number of records into the header, where the file can be gone back in.
    pub(super) fn finish(mut self) -> Result<(), Error> {
        self.header.count = self.written;
        let path = self.sink.path.clone();
        let header = self.header.bytes();
        let mut file = self.sink.finish()?;
        if file.seek(SeekFrom::Start(0)).is_err() {
            return Ok(());
        }
        file.write_all(&header)
            .map_err(|error| failed(&path, &error))
    }
}
