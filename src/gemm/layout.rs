//! Where the elements of a matrix lie, and whether two matrices touch.

use crate::error::{Error, ErrorCode};

/// More bytes than the address space of any machine holds: such a size is a mistake, not a matrix.
const MAX_BYTES: u64 = 1 << 48;

/// A column-major matrix in memory: element (i, j) is at `address + (i + j * ld) * bytes`. A row-major one is the
/// column-major one of its transpose.
#[derive(Clone, Copy, Debug)]
pub struct Matrix {
    /// Address of element (0, 0).
    pub address: usize,
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub cols: usize,
    /// Elements from one column to the next.
    pub ld: usize,
    /// Bytes of an element.
    pub bytes: usize,
}

impl Matrix {
    /// A matrix whose sizes and leading dimension have been checked. `name` and `size_names` (of rows and columns) are
    /// for messages.
    pub fn new(
        name: &str,
        address: usize,
        [rows, cols]: [i64; 2],
        size_names: [&str; 2],
        ld: i64,
        bytes: usize,
    ) -> Result<Matrix, Error> {
        let rows = size(size_names[0], rows)?;
        let cols = size(size_names[1], cols)?;
        let least = rows.max(1);
        let ld = match usize::try_from(ld) {
            Ok(ld) if ld >= least => ld,
            _ => {
                return Err(Error::new(
                    ErrorCode::InvalidLeadingDimension,
                    format!(
                        "ld{} is {ld}; allowed: at least max(1, {}) = {least}",
                        name.to_lowercase(),
                        size_names[0]
                    ),
                ));
            }
        };
        let matrix = Matrix {
            address,
            rows,
            cols,
            ld,
            bytes,
        };
        if !matrix.is_empty() {
            matrix.check_last(name, 1, 0)?;
        }
        Ok(matrix)
    }

    /// Refuses a batch of `count` such matrices, `stride` elements from one to the next, that no memory can hold.
    pub(super) fn check_last(&self, name: &str, count: usize, stride: usize) -> Result<(), Error> {
        let to = |lines: usize, step: usize| (lines as u128 - 1).saturating_mul(step as u128);
        let elements = to(count, stride) + to(self.cols, self.ld) + self.rows as u128;
        let end = elements
            .saturating_mul(self.bytes as u128)
            .saturating_add(self.address as u128);
        if end > u128::from(MAX_BYTES) || end > isize::MAX as u128 {
            return Err(Error::new(
                ErrorCode::InvalidSize,
                format!(
                    "{name} would end beyond the address space: {count} of {} x {} elements, leading dimension {}, \
                     stride {stride}, {} bytes each",
                    self.rows, self.cols, self.ld, self.bytes
                ),
            ));
        }
        Ok(())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows == 0 || self.cols == 0
    }

    /// Address behind the last element.
    pub(super) fn end(&self) -> usize {
        self.address + ((self.cols - 1) * self.ld + self.rows) * self.bytes
    }

    /// Does any column have a byte in `from..to`?
    fn touches(&self, from: usize, to: usize) -> bool {
        // Column j takes [j * step, j * step + height) from the address on.
        let step = self.ld * self.bytes;
        let height = self.rows * self.bytes;
        let Some(to) = to.checked_sub(self.address).filter(|&to| to > 0) else {
            return false;
        };
        let from = from.saturating_sub(self.address);
        // The last column that starts before `to` is the one whose end reaches furthest.
        let last = ((to - 1) / step).min(self.cols - 1);
        last * step + height > from
    }
}

/// Do two matrices have a byte in common? Exact: blocks of one array that lie side by side do not overlap, even though
/// their columns alternate in memory.
pub fn overlap(x: &Matrix, y: &Matrix) -> bool {
    if x.is_empty() || y.is_empty() || x.end() <= y.address || y.end() <= x.address {
        return false;
    }
    let (few, many) = if x.cols <= y.cols { (x, y) } else { (y, x) };
    (0..few.cols).any(|j| {
        let from = few.address + j * few.ld * few.bytes;
        many.touches(from, from + few.rows * few.bytes)
    })
}

/// A size that is not negative.
pub fn size(name: &str, value: i64) -> Result<usize, Error> {
    usize::try_from(value).map_err(|_| {
        Error::new(
            ErrorCode::InvalidSize,
            format!("{name} is {value}; allowed: 0 or more"),
        )
    })
}
