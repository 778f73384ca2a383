//! The matrices of a call as the caller describes them, checked, and as views for the engine.

use std::ops::Range;

use super::layout::{self, Matrix, size};
use super::problem::{Storage, View};
use crate::error::{Error, ErrorCode};
use crate::format::Format;

/// Where the matrices of a batch begin.
#[derive(Clone, Debug)]
pub enum Starts {
    /// The first begins here, each next one `stride` elements after the one before.
    Strided {
        /// Element (0, 0) of the first.
        first: *mut u8,
        /// Elements from one matrix to the next; 0: they are all the same one.
        stride: i64,
    },
    /// Element (0, 0) of each.
    Listed(Vec<*mut u8>),
}

/// A matrix, or a batch of equal ones, as the caller describes it; not yet checked.
#[derive(Clone, Debug)]
pub struct Operand {
    /// "A", "B", "C" or "D", for messages.
    pub name: &'static str,
    /// How the elements lie in memory.
    pub storage: Storage,
    /// Format of raw elements.
    pub format: Format,
    /// Are rows, not columns, contiguous, seen from the product? True for a row-major matrix and for a transposed one,
    /// false for both.
    pub rows_contiguous: bool,
    /// Elements from one contiguous line to the next.
    pub ld: i64,
    /// Where they begin.
    pub starts: Starts,
}

/// An operand whose sizes and pointers have been checked.
#[derive(Clone, Debug)]
pub(super) struct Checked {
    pub(super) name: &'static str,
    /// The first matrix, as lines and what lies in them.
    matrix: Matrix,
    stride: usize,
    list: Vec<View>,
    view: View,
    count: usize,
}

impl Operand {
    fn bytes(&self) -> usize {
        match self.storage {
            Storage::Raw => self.format.bytes(),
            Storage::F32 => 4,
            Storage::F64 => 8,
        }
    }

    /// Checks a batch of `count` matrices of the given sizes; `names` are those of rows and columns. `used`: is any
    /// element read or written? Else the matrices may be NULL.
    ///
    /// # Safety
    /// Every element that the sizes name must be readable (writable for the result) while the views are in use.
    pub(super) unsafe fn check(
        &self,
        mut sizes: [i64; 2],
        mut names: [&str; 2],
        count: usize,
        used: bool,
    ) -> Result<Checked, Error> {
        if self.rows_contiguous {
            sizes.reverse();
            names.reverse();
        }
        let bytes = self.bytes();
        let matrix = |address| Matrix::new(self.name, address, sizes, names, self.ld, bytes);
        let (row_stride, col_stride) = if self.rows_contiguous {
            (self.ld as isize, 1)
        } else {
            (1, self.ld as isize)
        };
        let view = |start| {
            // SAFETY: promised by the caller.
            unsafe { View::new(start, self.storage, self.format, row_stride, col_stride) }
        };
        let null = || {
            Error::new(
                ErrorCode::NullPointer,
                format!(
                    "{} is NULL; it must point to memory, for its elements are read or written",
                    self.name
                ),
            )
        };
        match &self.starts {
            Starts::Strided { first, stride } => {
                let matrix = matrix(first.addr())?;
                let stride = match usize::try_from(*stride) {
                    Ok(stride) => stride,
                    Err(_) => size(&format!("stride_{}", self.name.to_lowercase()), *stride)?,
                };
                if matrix.is_empty() || count == 0 {
                    // Nothing is read, so nothing can be too far away.
                } else if first.is_null() && used {
                    return Err(null());
                } else {
                    matrix.check_last(self.name, count, stride)?;
                }
                Ok(Checked {
                    name: self.name,
                    matrix,
                    stride,
                    list: Vec::new(),
                    view: view(*first),
                    count,
                })
            }
            Starts::Listed(starts) => {
                let first = starts.first().copied().unwrap_or(std::ptr::null_mut());
                let mut list = Vec::new();
                list.try_reserve_exact(starts.len())
                    .map_err(|_| out_of_memory())?;
                for &start in starts {
                    if !matrix(start.addr())?.is_empty() && start.is_null() && used {
                        return Err(null());
                    }
                    list.push(view(start));
                }
                Ok(Checked {
                    name: self.name,
                    matrix: matrix(first.addr())?,
                    stride: 0,
                    list,
                    view: view(first),
                    count,
                })
            }
        }
    }
}

pub(super) fn out_of_memory() -> Error {
    Error::new(ErrorCode::OutOfMemory, "not enough memory for the batch")
}

impl Checked {
    /// Matrix `i` of the batch.
    pub(super) fn view(&self, i: usize) -> View {
        match self.list.get(i) {
            Some(view) => *view,
            None => self.view.moved(i * self.stride),
        }
    }

    fn matrix(&self, i: usize) -> Matrix {
        Matrix {
            address: self.view(i).address(0, 0).addr(),
            ..self.matrix
        }
    }

    /// Do the matrices have elements?
    fn is_empty(&self) -> bool {
        self.matrix.is_empty() || self.count == 0
    }

    /// Different matrices in the batch.
    fn different(&self) -> usize {
        if self.list.is_empty() && self.stride == 0 {
            self.count.min(1)
        } else {
            self.count
        }
    }

    /// The addresses from the first byte of all matrices to the last.
    fn range(&self) -> Range<usize> {
        let places = if self.list.is_empty() {
            [0, self.count - 1].map(|i| self.matrix(i).address)
        } else {
            let all = || (0..self.list.len()).map(|i| self.matrix(i).address);
            [all().min().unwrap_or(0), all().max().unwrap_or(0)]
        };
        let span = self.matrix(0).end() - self.matrix(0).address;
        places[0]..places[1] + span
    }

    /// Is each element of matrix `i` stored where the same element of the other's is?
    fn coincides(&self, other: &Checked, i: usize) -> bool {
        let (x, y) = (self.matrix(i), other.matrix(i));
        let one_line = x.cols == 1 && y.cols == 1;
        x.address == y.address
            && x.bytes == y.bytes
            && (x.rows, x.cols) == (y.rows, y.cols)
            && (x.ld == y.ld || one_line)
            && self.rows_contiguous() == other.rows_contiguous()
    }

    /// The rows or columns that the products' single row (column) is in each, as a matrix of one line a product; `None` for
    /// a list of matrices.
    pub(super) fn lines(&self, stride_within: impl Fn(&View) -> isize) -> Option<View> {
        if !self.list.is_empty() {
            return None;
        }
        let within = stride_within(&self.view);
        Some(self.view.with_strides(self.stride as isize, within))
    }

    fn rows_contiguous(&self) -> bool {
        self.view.row_stride() != 1
    }
}

/// Pairs that are compared at most, and results that are sorted; beyond, an overlap is not told.
const MOST_PAIRS: usize = 1 << 20;

/// Refuses a result that overlaps an input. `in_place`: the input may be the result.
pub(super) fn check_overlap(d: &Checked, input: &Checked, in_place: bool) -> Result<(), Error> {
    // An input that all products share is read by later ones, too.
    let in_place = in_place && input.different() == input.count;
    if d.is_empty() || input.is_empty() {
        return Ok(());
    }
    let (range, other) = (d.range(), input.range());
    if range.end <= other.start || other.end <= range.start {
        return Ok(());
    }
    // Where each C is its D, a C overlaps another product's D only if the D overlap each other.
    let strided = d.list.is_empty() && input.list.is_empty();
    if in_place && strided && d.coincides(input, 0) && d.stride == input.stride {
        return Ok(());
    }
    match near_pair(d, input, |i, j| in_place && i == j && d.coincides(input, i))? {
        true => Err(overlapping(format!("D overlaps {}", input.name))),
        false => Ok(()),
    }
}

/// Refuses results that overlap each other.
pub(super) fn check_apart(d: &Checked) -> Result<(), Error> {
    if d.is_empty() || d.count == 1 {
        return Ok(());
    }
    let overlap = if d.list.is_empty() {
        // Every pair lies as one with the first does, and those too far away to touch it need no look.
        let span = d.matrix(0).end() - d.matrix(0).address;
        let far = span.div_ceil((d.stride * d.matrix.bytes).max(1));
        let near = 1..d.count.min(far).min(MOST_PAIRS);
        d.stride == 0
            || near
                .into_iter()
                .any(|j| layout::overlap(&d.matrix(0), &d.matrix(j)))
    } else {
        near_pair(d, d, |i, j| i == j)?
    };
    match overlap {
        true => Err(overlapping(
            "the matrices D of the batch overlap each other".into(),
        )),
        false => Ok(()),
    }
}

fn overlapping(what: String) -> Error {
    Error::new(
        ErrorCode::Overlap,
        format!(
            "{what}; allowed: D apart from A and B, and D apart from C or the same as C with ldd = ldc"
        ),
    )
}

/// Does a matrix `i` of `d` overlap a matrix `j` of `other`, other than the pairs that are allowed?
fn near_pair(
    d: &Checked,
    other: &Checked,
    allowed: impl Fn(usize, usize) -> bool,
) -> Result<bool, Error> {
    // Matrices of one operand have equal spans, so those sorted by start are sorted by end, too.
    let mut starts = Vec::new();
    let results = d.different().min(MOST_PAIRS);
    starts
        .try_reserve_exact(results)
        .map_err(|_| out_of_memory())?;
    starts.extend((0..results).map(|i| (d.matrix(i).address, i)));
    starts.sort_unstable();
    let span = d.matrix(0).end() - d.matrix(0).address;
    let mut pairs = 0;
    for j in 0..other.different() {
        let x = other.matrix(j);
        let first = starts.partition_point(|&(start, _)| start + span <= x.address);
        let near = starts[first..]
            .iter()
            .take_while(|&&(start, _)| start < x.end());
        for &(_, i) in near {
            pairs += 1;
            if pairs > MOST_PAIRS {
                return Ok(false);
            }
            if !allowed(i, j) && layout::overlap(&d.matrix(i), &x) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}
