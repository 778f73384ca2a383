//! Matrices in files: text (a row a line, numbers separated by spaces, tabs, commas or semicolons, `#` for comments) and
//! NumPy's `.npy` (binary32 or binary64, little-endian, one or two dimensions).

use std::io::Write;
use std::path::Path;

use crate::output::Failure;

/// A column-major matrix.
#[derive(Clone, PartialEq, Debug)]
pub struct Matrix {
    pub rows: usize,
    pub cols: usize,
    pub data: Vec<f64>,
}

fn failure(path: &Path, what: impl std::fmt::Display) -> Failure {
    Failure::new(format!("{}: {what}", path.display()))
}

fn is_npy(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "npy")
}

impl Matrix {
    /// Reads a file; NumPy's form if its name ends in .npy.
    pub fn read(path: &Path) -> Result<Matrix, Failure> {
        let bytes = std::fs::read(path).map_err(|error| failure(path, error))?;
        let matrix = if is_npy(path) {
            from_npy(&bytes)
        } else {
            match std::str::from_utf8(&bytes) {
                Ok(text) => from_text(text),
                Err(_) => Err("not text; a NumPy file must be called .npy".to_string()),
            }
        };
        matrix.map_err(|what| failure(path, what))
    }

    /// Writes a file; NumPy's form, binary64, if its name ends in .npy.
    pub fn write(&self, path: &Path) -> Result<(), Failure> {
        let bytes = if is_npy(path) {
            self.to_npy()
        } else {
            self.to_text().into_bytes()
        };
        std::fs::write(path, bytes).map_err(|error| failure(path, error))
    }

    /// One row a line, the shortest digits that give the numbers back.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for i in 0..self.rows {
            let row: Vec<String> = (0..self.cols)
                .map(|j| self.data[i + j * self.rows].to_string())
                .collect();
            text += &row.join(" ");
            text.push('\n');
        }
        text
    }

    fn to_npy(&self) -> Vec<u8> {
        let mut header = format!(
            "{{'descr': '<f8', 'fortran_order': True, 'shape': ({}, {}), }}",
            self.rows, self.cols
        );
        // Magic, version, length and header take a multiple of 64 bytes.
        while !(10 + header.len() + 1).is_multiple_of(64) {
            header.push(' ');
        }
        header.push('\n');
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        for x in &self.data {
            let _ = bytes.write_all(&x.to_le_bytes());
        }
        bytes
    }
}

fn from_rows(rows: usize, cols: usize, row_major: &[f64]) -> Matrix {
    let data = (0..cols)
        .flat_map(|j| (0..rows).map(move |i| row_major[i * cols + j]))
        .collect();
    Matrix { rows, cols, data }
}

fn from_text(text: &str) -> Result<Matrix, String> {
    let mut numbers = Vec::new();
    let (mut rows, mut cols) = (0, 0);
    for (i, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or("").trim();
        if line.is_empty() {
            continue;
        }
        let words = line
            .split(|c: char| c.is_whitespace() || c == ',' || c == ';')
            .filter(|word| !word.is_empty());
        let before = numbers.len();
        for word in words {
            let number = word
                .parse::<f64>()
                .map_err(|_| format!("line {}: '{word}' is no number", i + 1))?;
            numbers.push(number);
        }
        let now = numbers.len() - before;
        if rows > 0 && now != cols {
            return Err(format!(
                "line {}: {now} numbers, but the rows before have {cols}",
                i + 1
            ));
        }
        cols = now;
        rows += 1;
    }
    Ok(from_rows(rows, cols, &numbers))
}

fn from_npy(bytes: &[u8]) -> Result<Matrix, String> {
    let cut = || "the file is shorter than its header says".to_string();
    if !bytes.starts_with(b"\x93NUMPY") {
        return Err("not a NumPy file".to_string());
    }
    let version = *bytes.get(6).ok_or_else(cut)?;
    let wide = version >= 2;
    let start = if wide { 12 } else { 10 };
    let lengths = bytes.get(8..start).ok_or_else(cut)?;
    let length = lengths
        .iter()
        .rev()
        .fold(0usize, |sum, &byte| sum << 8 | usize::from(byte));
    let header = bytes.get(start..start + length).ok_or_else(cut)?;
    let header = String::from_utf8_lossy(header);
    let field = |name: &str| -> Result<&str, String> {
        let at = header
            .find(&format!("'{name}':"))
            .ok_or_else(|| format!("the header has no {name}"))?;
        Ok(header[at + name.len() + 3..].trim_start())
    };
    let descr = field("descr")?;
    let single = descr.starts_with("'<f4'");
    if !single && !descr.starts_with("'<f8'") {
        let kind = descr.split(',').next().unwrap_or(descr);
        return Err(format!("elements of type {kind}; allowed: '<f4', '<f8'"));
    }
    let fortran = field("fortran_order")?.starts_with("True");
    let shape = field("shape")?;
    let inside = shape
        .strip_prefix('(')
        .and_then(|rest| rest.split(')').next())
        .ok_or("the header's shape is no tuple")?;
    let sizes: Vec<usize> = inside
        .split(',')
        .map(str::trim)
        .filter(|size| !size.is_empty())
        .map(|size| size.parse().map_err(|_| format!("a size of '{size}'")))
        .collect::<Result<_, String>>()?;
    let (rows, cols) = match sizes[..] {
        [rows, cols] => (rows, cols),
        [length] => (1, length),
        _ => return Err(format!("{} dimensions; allowed: 1 or 2", sizes.len())),
    };
    let data = &bytes[start + length..];
    let size = if single { 4 } else { 8 };
    if rows
        .checked_mul(cols)
        .and_then(|count| count.checked_mul(size))
        != Some(data.len())
    {
        return Err(format!(
            "{} bytes of data, but the header says {rows} x {cols} elements of {size}",
            data.len()
        ));
    }
    let numbers: Vec<f64> = data
        .chunks_exact(size)
        .map(|chunk| match single {
            true => f64::from(f32::from_le_bytes(std::array::from_fn(|i| chunk[i]))),
            false => f64::from_le_bytes(std::array::from_fn(|i| chunk[i])),
        })
        .collect();
    Ok(if fortran {
        Matrix {
            rows,
            cols,
            data: numbers,
        }
    } else {
        from_rows(rows, cols, &numbers)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_comes_back() {
        let matrix = from_text("# a\n1, 2.5;\t-3e-2\n\nnan inf 0x # no\n").unwrap_err();
        assert!(matrix.contains("line 4: '0x'"), "{matrix}");
        assert!(
            from_text("1 2\n3\n")
                .unwrap_err()
                .contains("line 2: 1 numbers")
        );
        let matrix = from_text("1,2,3\n4 5 0.1\n").unwrap();
        assert_eq!((matrix.rows, matrix.cols), (2, 3));
        assert_eq!(matrix.data, [1.0, 4.0, 2.0, 5.0, 3.0, 0.1]);
        assert_eq!(from_text(&matrix.to_text()).unwrap(), matrix);
        assert_eq!(from_text("").unwrap().rows, 0);
    }

    #[test]
    fn npy_comes_back() {
        let matrix = from_text("1,2,3\n4 5 0.1\n").unwrap();
        let bytes = matrix.to_npy();
        assert_eq!(from_npy(&bytes).unwrap(), matrix);
        assert!(
            from_npy(&bytes[..bytes.len() - 1])
                .unwrap_err()
                .contains("47 bytes")
        );
        assert!(from_npy(&bytes[..20]).is_err() && from_npy(b"x").is_err());
        // As NumPy writes it: C order, binary32.
        let mut c_order = b"\x93NUMPY\x01\x00".to_vec();
        let header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }\n";
        c_order.extend((header.len() as u16).to_le_bytes());
        c_order.extend(header);
        for x in [1f32, 2.0, 3.0, 4.0] {
            c_order.extend(x.to_le_bytes());
        }
        assert_eq!(from_npy(&c_order).unwrap().data, [1.0, 3.0, 2.0, 4.0]);
    }
}
