//! Products of binary32 and binary64 matrices.

use super::check;
use super::codes::{mfma_arch, mfma_format, mfma_status};
use crate::error::{Error, ErrorCode};
use crate::gemm::{self, Matrix, Problem, Storage, View};
use crate::{Format, Model};

/// A column-major matrix of the caller's.
struct Operand {
    name: &'static str,
    data: *mut u8,
    storage: Storage,
    matrix: Matrix,
}

impl Operand {
    fn new(
        name: &'static str,
        data: *mut u8,
        storage: Storage,
        sizes: [i64; 2],
        size_names: [&str; 2],
        ld: i64,
    ) -> Result<Operand, Error> {
        let bytes = if storage == Storage::F32 { 4 } else { 8 };
        Ok(Operand {
            name,
            data,
            storage,
            matrix: Matrix::new(name, data.addr(), sizes, size_names, ld, bytes)?,
        })
    }

    /// The view that the engine takes. A matrix with elements must not be NULL.
    fn view(&self) -> Result<View, Error> {
        if self.data.is_null() && self.matrix.rows > 0 && self.matrix.cols > 0 {
            return Err(check::null(self.name));
        }
        // SAFETY: the caller of the C function vouches for all elements that the sizes name. The format is not used
        // for binary32 and binary64 storage.
        Ok(unsafe {
            View::new(
                self.data,
                self.storage,
                Format::Fp64,
                1,
                self.matrix.ld as isize,
            )
        })
    }
}

/// What both functions have in common.
struct Call {
    model: Model,
    alpha: f64,
    beta: f64,
    a: Operand,
    b: Operand,
    /// `None`: not read.
    c: Option<Operand>,
    d: Operand,
}

impl Call {
    fn run(&self) -> Result<(), Error> {
        let d = &self.d;
        let problem = Problem {
            model: self.model,
            m: d.matrix.rows,
            n: d.matrix.cols,
            k: self.a.matrix.cols,
            alpha: self.alpha,
            a: self.a.view()?,
            b: self.b.view()?,
            beta: self.beta,
            c: self.c.as_ref().map(Operand::view).transpose()?,
            d: d.view()?,
        };
        for input in [&self.a, &self.b].into_iter().chain(&self.c) {
            let same = input.name == "C"
                && input.matrix.address == d.matrix.address
                && (input.matrix.ld == d.matrix.ld || d.matrix.cols <= 1);
            if !same && gemm::overlap(&input.matrix, &d.matrix) {
                return Err(Error::new(
                    ErrorCode::Overlap,
                    format!(
                        "D overlaps {}; allowed: D apart from A and B, and D apart from C or the same as C with ldd = ldc",
                        input.name
                    ),
                ));
            }
        }
        gemm::run(&problem)
    }
}

/// Checks the arguments in their order in the signature, and builds the call.
macro_rules! call {
    ($storage:ident, $model:expr, $m:ident, $n:ident, $k:ident, $alpha:ident, $a:ident, $lda:ident, $b:ident, $ldb:ident,
     $beta:ident, $c:ident, $ldc:ident, $d:ident, $ldd:ident) => {{
        let model = $model;
        let operand = |name, data: *mut u8, sizes, names, ld| {
            Operand::new(name, data, Storage::$storage, sizes, names, ld)
        };
        for (name, size) in [("m", $m), ("n", $n), ("k", $k)] {
            gemm::size(name, size)?;
        }
        let not_read = $beta == 0.0;
        Call {
            model,
            alpha: f64::from($alpha),
            beta: f64::from($beta),
            a: operand("A", $a.cast_mut().cast(), [$m, $k], ["m", "k"], $lda)?,
            b: operand("B", $b.cast_mut().cast(), [$k, $n], ["k", "n"], $ldb)?,
            c: if not_read && $c.is_null() {
                None
            } else {
                let c = operand("C", $c.cast_mut().cast(), [$m, $n], ["m", "n"], $ldc)?;
                Some(c).filter(|_| !not_read)
            },
            d: operand("D", $d.cast(), [$m, $n], ["m", "n"], $ldd)?,
        }
    }};
}

/// D = round(alpha*A) round(B) + round(beta*C) through the unit of `arch` whose inputs have `format` and whose results
/// are binary32. A is m x k, B k x n, C and D m x n, all column-major.
///
/// alpha*A and beta*C are formed in binary64 and rounded once to the unit's formats. With beta == 0, C is not read and
/// may be NULL (ldc is then not read either). Without elements, A, B, C or D may be NULL. k == 0 gives D = round(beta*C).
/// D may be C, with ldd == ldc; it must not overlap anything else. On failure D is untouched.
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
        call!(
            F32, model, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, d, ldd
        )
        .run()?;
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
        call!(
            F64, model, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, d, ldd
        )
        .run()?;
    })
}
