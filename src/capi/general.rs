//! The general product.

use std::ffi::c_void;

use super::codes::*;
use super::model::{self, mfma_model};
use super::sized::{self, Sized};
use crate::error::{Error, ErrorCode};
use crate::gemm::{Call, Operand, Progress, Starts, Storage};
use crate::threads::{MAX_THREADS, Workers};
use crate::{Format, Model};

/// Told every now and then, at least ten times a second and always on the thread that called the library, which part of
/// the work is done, 0 to 1. Anything but 0 cancels the computation. It must return: no longjmp, no exception.
pub type mfma_progress = Option<unsafe extern "C" fn(done: f64, user: *mut c_void) -> i32>;

/// Arguments of mfma_gemm. Set `size` to sizeof(mfma_gemm_args), let mfma_gemm_args_default fill the rest, then set the
/// model, the sizes and the matrices.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mfma_gemm_args {
    /// sizeof(mfma_gemm_args).
    pub size: usize,
    /// The unit.
    pub model: *const mfma_model,
    /// Rows of op(A), C and D.
    pub m: i64,
    /// Columns of op(B), C and D.
    pub n: i64,
    /// Columns of op(A), rows of op(B).
    pub k: i64,
    /// Number of products; default 1.
    pub batch_count: i64,
    /// Factor of A, applied in binary64 before rounding; default 1. Raw elements must have 1.
    pub alpha: f64,
    /// Factor of C, applied in binary64 before rounding; default 0: C is not read. Raw elements must have 0 or 1.
    pub beta: f64,
    /// A, m x k; k x m if transposed.
    pub a: *const c_void,
    /// B, k x n; n x k if transposed.
    pub b: *const c_void,
    /// C, m x n; may be NULL if beta is 0.
    pub c: *const c_void,
    /// D, m x n; may be C, with the same storage and leading dimension.
    pub d: *mut c_void,
    /// Elements from one column to the next (row-major: from one row to the next), of A as it is stored.
    pub lda: i64,
    /// The same of B.
    pub ldb: i64,
    /// The same of C.
    pub ldc: i64,
    /// The same of D.
    pub ldd: i64,
    /// Elements from one A of a batch to the next; 0: all products share it.
    pub stride_a: i64,
    /// The same of B.
    pub stride_b: i64,
    /// The same of C.
    pub stride_c: i64,
    /// The same of D; the results must not overlap.
    pub stride_d: i64,
    /// Not NULL: batch_count pointers, instead of a and stride_a.
    pub a_list: *const *const c_void,
    /// Not NULL: batch_count pointers, instead of b and stride_b.
    pub b_list: *const *const c_void,
    /// Not NULL: batch_count pointers, instead of c and stride_c.
    pub c_list: *const *const c_void,
    /// Not NULL: batch_count pointers, instead of d and stride_d.
    pub d_list: *const *mut c_void,
    /// MFMA_ORDER_COL_MAJOR (default) or MFMA_ORDER_ROW_MAJOR, for all matrices.
    pub order: i32,
    /// 1 to use the transpose of A; default 0.
    pub trans_a: i32,
    /// 1 to use the transpose of B; default 0.
    pub trans_b: i32,
    /// How A's elements are stored: MFMA_STORAGE_*; default MFMA_STORAGE_F64.
    pub storage_a: i32,
    /// The same of B.
    pub storage_b: i32,
    /// The same of C; raw elements have the unit's output format.
    pub storage_c: i32,
    /// The same of D; binary32 and binary64 hold the results without error.
    pub storage_d: i32,
    /// Most threads to use, the calling one included; 0 (default): as mfma_set_num_threads says. Never more than that.
    pub threads: i32,
    /// Not NULL: watches the computation, and may cancel it; D's contents are then unspecified.
    pub progress: mfma_progress,
    /// Handed to `progress`.
    pub progress_user: *mut c_void,
}

// SAFETY: repr(C), size first; integers, floating-point numbers and nullable pointers.
unsafe impl Sized for mfma_gemm_args {
    const FIRST: usize = size_of::<mfma_gemm_args>();
}

const DEFAULT: mfma_gemm_args = mfma_gemm_args {
    alpha: 1.0,
    batch_count: 1,
    storage_a: MFMA_STORAGE_F64,
    storage_b: MFMA_STORAGE_F64,
    storage_c: MFMA_STORAGE_F64,
    storage_d: MFMA_STORAGE_F64,
    ..ZERO
};

const ZERO: mfma_gemm_args = mfma_gemm_args {
    size: 0,
    model: std::ptr::null(),
    m: 0,
    n: 0,
    k: 0,
    batch_count: 0,
    alpha: 0.0,
    beta: 0.0,
    a: std::ptr::null(),
    b: std::ptr::null(),
    c: std::ptr::null(),
    d: std::ptr::null_mut(),
    lda: 0,
    ldb: 0,
    ldc: 0,
    ldd: 0,
    stride_a: 0,
    stride_b: 0,
    stride_c: 0,
    stride_d: 0,
    a_list: std::ptr::null(),
    b_list: std::ptr::null(),
    c_list: std::ptr::null(),
    d_list: std::ptr::null(),
    order: 0,
    trans_a: 0,
    trans_b: 0,
    storage_a: 0,
    storage_b: 0,
    storage_c: 0,
    storage_d: 0,
    threads: 0,
    progress: None,
    progress_user: std::ptr::null_mut(),
};

fn refuse(field: &str, value: i32, allowed: &str) -> Error {
    Error::new(
        ErrorCode::InvalidArgument,
        format!("args->{field} is {value}; allowed: {allowed}"),
    )
}

fn flag(field: &str, value: i32) -> Result<bool, Error> {
    match value {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(refuse(field, value, "0 or 1")),
    }
}

fn storage(field: &str, value: i32) -> Result<Storage, Error> {
    match value {
        MFMA_STORAGE_RAW => Ok(Storage::Raw),
        MFMA_STORAGE_F32 => Ok(Storage::F32),
        MFMA_STORAGE_F64 => Ok(Storage::F64),
        _ => Err(refuse(
            field,
            value,
            "MFMA_STORAGE_RAW, MFMA_STORAGE_F32, MFMA_STORAGE_F64",
        )),
    }
}

/// A user's callback and what it is handed.
pub(super) struct Callback {
    pub(super) function: unsafe extern "C" fn(f64, *mut c_void) -> i32,
    pub(super) user: *mut c_void,
}

// SAFETY: it is only called on the thread that it came from.
unsafe impl Send for Callback {}

impl Callback {
    pub(super) fn goes_on(&self, done: f64) -> bool {
        // SAFETY: the caller vouches for the function.
        unsafe { (self.function)(done, self.user) == 0 }
    }
}

/// Where the matrices of an operand begin.
///
/// # Safety
/// `list` is NULL or holds `count` pointers.
unsafe fn starts(
    first: *const c_void,
    stride: i64,
    list: *const *const c_void,
    count: i64,
) -> Result<Starts, Error> {
    if list.is_null() {
        return Ok(Starts::Strided {
            first: first.cast_mut().cast(),
            stride,
        });
    }
    let count = crate::gemm::size("batch_count", count)?;
    let mut pointers = Vec::new();
    pointers
        .try_reserve_exact(count)
        .map_err(|_| Error::new(ErrorCode::OutOfMemory, "not enough memory for the batch"))?;
    // SAFETY: promised by the caller.
    pointers.extend((0..count).map(|i| unsafe { list.add(i).read_unaligned() }.cast_mut().cast()));
    Ok(Starts::Listed(pointers))
}

impl mfma_gemm_args {
    /// # Safety
    /// The caller of `mfma_gemm` vouches for the model, the lists and all elements.
    unsafe fn run(&self) -> Result<(), Error> {
        // SAFETY: a living model or NULL.
        let model: Model = unsafe { model::get(self.model) }?;
        let row_major = flag("order", self.order)?;
        let trans_a = flag("trans_a", self.trans_a)?;
        let trans_b = flag("trans_b", self.trans_b)?;
        let threads = usize::try_from(self.threads)
            .ok()
            .filter(|&threads| threads <= MAX_THREADS)
            .ok_or_else(|| refuse("threads", self.threads, &format!("0 to {MAX_THREADS}")))?;
        let operand = |name, field, code, format: Format, transposed, ld, first, stride, list| {
            Ok(Operand {
                name,
                storage: storage(field, code)?,
                format,
                rows_contiguous: row_major != transposed,
                ld,
                // SAFETY: promised by the caller.
                starts: unsafe { starts(first, stride, list, self.batch_count) }?,
            })
        };
        let output = model.output();
        let a = operand(
            "A",
            "storage_a",
            self.storage_a,
            model.a(),
            trans_a,
            self.lda,
            self.a,
            self.stride_a,
            self.a_list,
        )?;
        let b = operand(
            "B",
            "storage_b",
            self.storage_b,
            model.b(),
            trans_b,
            self.ldb,
            self.b,
            self.stride_b,
            self.b_list,
        )?;
        let c = if self.beta == 0.0 {
            // Not read, but a code without meaning is a mistake all the same.
            storage("storage_c", self.storage_c)?;
            None
        } else {
            Some(operand(
                "C",
                "storage_c",
                self.storage_c,
                output,
                false,
                self.ldc,
                self.c,
                self.stride_c,
                self.c_list,
            )?)
        };
        let d = operand(
            "D",
            "storage_d",
            self.storage_d,
            output,
            false,
            self.ldd,
            self.d,
            self.stride_d,
            self.d_list.cast(),
        )?;
        let callback = self.progress.map(|function| Callback {
            function,
            user: self.progress_user,
        });
        let mut progress = callback.map(|callback| move |done: f64| callback.goes_on(done));
        let call = Call {
            model,
            m: self.m,
            n: self.n,
            k: self.k,
            batch: self.batch_count,
            alpha: self.alpha,
            a,
            b,
            beta: self.beta,
            c,
            d,
            workers: Workers::new(threads),
            progress: progress.as_mut().map(|progress| progress as &mut Progress),
        };
        // SAFETY: promised by the caller.
        unsafe { call.run() }
    }
}

/// Fills `args` with the defaults. `args->size` must be set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mfma_gemm_args_default(args: *mut mfma_gemm_args) -> mfma_status {
    guard!({
        sized::out("args", args)?;
        // SAFETY: just accepted.
        unsafe { sized::write(args, DEFAULT) };
    })
}

/// D = round(alpha*op(A)) round(op(B)) + round(beta*C) through the unit `args->model`, or a batch of such products: raw,
/// binary32 or binary64 storage for each matrix, transposes, row- or column-major order, progress and cancelling.
///
/// Matrices of which nothing is read or written (m, n or k is 0) may be NULL. k == 0 gives D = round(beta*C). D may be C
/// with the same storage and leading dimension; it must not overlap anything else. On failure D is untouched, but
/// unspecified after MFMA_ERR_CANCELLED.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mfma_gemm(args: *const mfma_gemm_args) -> mfma_status {
    guard!({
        // SAFETY: the caller's struct, as large as it says; the caller vouches for what it points to.
        unsafe { sized::read("args", args, ZERO)?.run() }?;
    })
}
