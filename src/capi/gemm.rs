//! Products of binary32 and binary64 matrices.

use super::check;
use super::codes::{mfma_arch, mfma_format, mfma_status};
use crate::error::Error;
use crate::gemm::{Call, Operand, Starts, Storage};
use crate::threads::Workers;
use crate::{Format, Model};

/// One column-major matrix.
fn operand<T>(name: &'static str, storage: Storage, first: *const T, ld: i64) -> Operand {
    Operand {
        name,
        storage,
        // Without meaning for binary32 and binary64 storage.
        format: Format::Fp64,
        rows_contiguous: false,
        ld,
        starts: Starts::Strided {
            first: first.cast_mut().cast(),
            stride: 0,
        },
    }
}

/// # Safety
/// The caller vouches for all elements that the sizes name.
unsafe fn run<T: Copy + Into<f64>>(
    model: Model,
    storage: Storage,
    [m, n, k]: [i64; 3],
    alpha: T,
    (a, lda): (*const T, i64),
    (b, ldb): (*const T, i64),
    beta: T,
    (c, ldc): (*const T, i64),
    (d, ldd): (*mut T, i64),
) -> Result<(), Error> {
    let beta = beta.into();
    let not_given = beta == 0.0 && c.is_null();
    let call = Call {
        model,
        m,
        n,
        k,
        batch: 1,
        alpha: alpha.into(),
        a: operand("A", storage, a, lda),
        b: operand("B", storage, b, ldb),
        beta,
        c: (!not_given).then(|| operand("C", storage, c, ldc)),
        d: operand("D", storage, d.cast_const(), ldd),
        workers: Workers::new(0),
        progress: None,
    };
    // SAFETY: promised by the caller.
    unsafe { call.run() }
}

/// D = round(alpha*A) round(B) + round(beta*C) through the unit of `arch` whose inputs have `format` and whose results
/// are binary32. A is m x k, B k x n, C and D m x n, all column-major.
///
/// alpha*A and beta*C are formed in binary64 and rounded once to the unit's formats: A and B to nearest, ties to even
/// (tf32 toward zero); C toward zero, or to nearest where it is binary16 and the inputs are binary16 or 8-bit, as MATLAB
/// Tensor Core rounds it. With beta == 0, C is not read and may be NULL (then ldc may be anything). Matrices of which nothing is read or written (m, n or k is 0) may be NULL.
/// k == 0 gives D = round(beta*C). D may be C, with ldd == ldc; it must not overlap anything else. On failure D is
/// untouched.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mfma_gemm_f32(
    arch: mfma_arch,
    format: mfma_format,
    m: i64,
    n: i64,
    k: i64,
    alpha: f32,
    a: *const f32,
    lda: i64,
    b: *const f32,
    ldb: i64,
    beta: f32,
    c: *const f32,
    ldc: i64,
    d: *mut f32,
    ldd: i64,
) -> mfma_status {
    guard!({
        let arch = check::arch(arch)?;
        let format = check::format("format", format)?;
        let model = Model::new(arch, format, format, Format::Fp32)?;
        let (sizes, storage) = ([m, n, k], Storage::F32);
        // SAFETY: the caller vouches for the elements.
        unsafe {
            run(
                model,
                storage,
                sizes,
                alpha,
                (a, lda),
                (b, ldb),
                beta,
                (c, ldc),
                (d, ldd),
            )
        }?;
    })
}

/// As mfma_gemm_f32, but for binary64 matrices, and with the unit's output format of the caller's choice: MFMA_FMT_FP32,
/// MFMA_FMT_FP16 or MFMA_FMT_FP64, as the unit has it. The results are stored as binary64 numbers without error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mfma_gemm_f64(
    arch: mfma_arch,
    format: mfma_format,
    out_format: mfma_format,
    m: i64,
    n: i64,
    k: i64,
    alpha: f64,
    a: *const f64,
    lda: i64,
    b: *const f64,
    ldb: i64,
    beta: f64,
    c: *const f64,
    ldc: i64,
    d: *mut f64,
    ldd: i64,
) -> mfma_status {
    guard!({
        let arch = check::arch(arch)?;
        let format = check::format("format", format)?;
        let out_format = check::format("out_format", out_format)?;
        let model = Model::new(arch, format, format, out_format)?;
        let (sizes, storage) = ([m, n, k], Storage::F64);
        // SAFETY: the caller vouches for the elements.
        unsafe {
            run(
                model,
                storage,
                sizes,
                alpha,
                (a, lda),
                (b, ldb),
                beta,
                (c, ldc),
                (d, ldd),
            )
        }?;
    })
}
