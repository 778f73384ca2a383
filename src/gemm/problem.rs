//! A product as the engine takes it: checked sizes, and operands as strided views of memory.

use crate::format::{Format, Overflow, Rounding, from_f32, from_f64, recode};
use crate::model::Model;

/// How the elements of a matrix lie in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Storage {
    /// Encodings of the unit's format, in its storage size (tf32: a binary32 word).
    Raw,
    /// binary32 numbers, rounded to the unit's format inside the call.
    F32,
    /// binary64 numbers, rounded to the unit's format inside the call.
    F64,
}

/// A strided view of a matrix in the caller's memory; element (i, j) is at `i * row_stride + j * col_stride` elements
/// from `data`. The memory may be unaligned, and the result's may be the addend's, so it is only touched through raw
/// pointers.
#[derive(Clone, Copy, Debug)]
pub struct View {
    data: *mut u8,
    storage: Storage,
    bytes: usize,
    row_stride: isize,
    col_stride: isize,
}

// SAFETY: a view is a pointer and numbers; the engine splits work so that no two threads write one element, and the
// caller of `View::new` promises that the memory stays valid while the product runs.
unsafe impl Send for View {}
// SAFETY: as for Send.
unsafe impl Sync for View {}

impl View {
    /// A view of a matrix whose raw elements would be in `format`.
    ///
    /// # Safety
    /// Every element that the product's sizes name must be readable (writable for the result) while the product runs.
    pub unsafe fn new(
        data: *mut u8,
        storage: Storage,
        format: Format,
        row_stride: isize,
        col_stride: isize,
    ) -> View {
        let bytes = match storage {
            Storage::Raw => format.bytes(),
            Storage::F32 => 4,
            Storage::F64 => 8,
        };
        View {
            data,
            storage,
            bytes,
            row_stride,
            col_stride,
        }
    }

    /// The transposed matrix.
    pub fn transposed(self) -> View {
        View {
            row_stride: self.col_stride,
            col_stride: self.row_stride,
            ..self
        }
    }

    /// The same elements as another matrix; they must be among those promised to `new`.
    pub(super) fn with_strides(self, row_stride: isize, col_stride: isize) -> View {
        View {
            row_stride,
            col_stride,
            ..self
        }
    }

    /// The matrix whose element (0, 0) is this one's (i, j).
    pub fn at(self, i: usize, j: usize) -> View {
        View {
            data: self.address(i, j),
            ..self
        }
    }

    /// The matrix that begins this many elements further on.
    pub fn moved(self, elements: usize) -> View {
        View {
            data: self.data.wrapping_add(elements * self.bytes),
            ..self
        }
    }

    /// How the elements lie in memory.
    pub fn storage(&self) -> Storage {
        self.storage
    }

    /// Bytes of an element.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Elements between two rows.
    pub fn row_stride(&self) -> isize {
        self.row_stride
    }

    /// Elements between two columns.
    pub fn col_stride(&self) -> isize {
        self.col_stride
    }

    /// Where element (i, j) lies.
    pub fn address(&self, i: usize, j: usize) -> *mut u8 {
        let offset = i as isize * self.row_stride + j as isize * self.col_stride;
        self.data.wrapping_offset(offset * self.bytes as isize)
    }

    /// Element (i, j) times `factor`, rounded to `format`; a raw element is taken as it is.
    ///
    /// # Safety
    /// The element must be one of those promised to `new`.
    pub unsafe fn load(
        &self,
        i: usize,
        j: usize,
        factor: f64,
        format: Format,
        rounding: Rounding,
    ) -> u64 {
        let address = self.address(i, j);
        // SAFETY: promised by the caller; reads are unaligned.
        unsafe {
            match self.storage {
                Storage::Raw => self.load_raw(address),
                Storage::F32 => {
                    let x = address.cast::<f32>().read_unaligned();
                    if factor == 1.0 {
                        from_f32(format, x, rounding)
                    } else {
                        from_f64(format, factor * f64::from(x), rounding)
                    }
                }
                Storage::F64 => {
                    let x = address.cast::<f64>().read_unaligned();
                    from_f64(format, factor * x, rounding)
                }
            }
        }
    }

    /// # Safety
    /// As for `load`.
    unsafe fn load_raw(&self, address: *const u8) -> u64 {
        // SAFETY: promised by the caller of `load`.
        unsafe {
            match self.bytes {
                1 => address.read().into(),
                2 => address.cast::<u16>().read_unaligned().into(),
                4 => address.cast::<u32>().read_unaligned().into(),
                _ => address.cast::<u64>().read_unaligned(),
            }
        }
    }

    /// Stores an encoding of `format` as element (i, j): as it is, or as the binary32 or binary64 number that it
    /// stands for (a binary64 result stored as binary32 is rounded to nearest even).
    ///
    /// # Safety
    /// The element must be one of those promised to `new`, and no other thread may touch it.
    pub unsafe fn store(&self, i: usize, j: usize, format: Format, bits: u64) {
        let address = self.address(i, j);
        let as_format = |to: Format| {
            if format == to {
                bits
            } else {
                recode(format, to, bits, Rounding::NearestEven, Overflow::Ieee)
            }
        };
        // SAFETY: promised by the caller; writes are unaligned.
        unsafe {
            match (self.storage, self.bytes) {
                (Storage::F32, _) => address
                    .cast::<u32>()
                    .write_unaligned(as_format(Format::Fp32) as u32),
                (Storage::F64, _) => address
                    .cast::<u64>()
                    .write_unaligned(as_format(Format::Fp64)),
                (Storage::Raw, 1) => address.write(bits as u8),
                (Storage::Raw, 2) => address.cast::<u16>().write_unaligned(bits as u16),
                (Storage::Raw, 4) => address.cast::<u32>().write_unaligned(bits as u32),
                (Storage::Raw, _) => address.cast::<u64>().write_unaligned(bits),
            }
        }
    }
}

/// D = round(alpha A) round(B) + round(beta C): A is m x k, B k x n, C and D m x n. Sizes and views have been checked.
#[derive(Clone, Copy, Debug)]
pub struct Problem {
    /// The unit.
    pub model: Model,
    /// Rows of A, C and D.
    pub m: usize,
    /// Columns of B, C and D.
    pub n: usize,
    /// Columns of A, rows of B.
    pub k: usize,
    /// Factor of A, applied in binary64 before rounding; raw elements must have 1.
    pub alpha: f64,
    /// A.
    pub a: View,
    /// B.
    pub b: View,
    /// Factor of C, applied in binary64 before rounding; raw elements must have 1 or 0. With 0, C is not read.
    pub beta: f64,
    /// C; `None` stands for zeros.
    pub c: Option<View>,
    /// D; may be C.
    pub d: View,
}
