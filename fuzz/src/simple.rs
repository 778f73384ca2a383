//! `mfma_gemm_f32` and `mfma_gemm_f64` give what `mfma_gemm` gives, and refuse what it refuses.

use std::ffi::c_void;

use mfma::capi::*;
use mfma::format::FORMATS;
use mfma::model::ARCHS;

use super::bytes::{Bytes, check_failure, message};
use super::memory::{Layout, Memory, fill};

/// One column-major matrix.
struct Operand {
    layout: Layout,
    null: bool,
    memory: Memory,
}

impl Operand {
    fn new(x: &mut Bytes, [rows, cols]: [i64; 2], element: usize) -> Option<Operand> {
        let ld = match x.byte() {
            0..=239 => rows.max(1).saturating_add(x.below(4) as i64),
            240..=247 => rows.saturating_sub(1),
            _ => x.size(40),
        };
        let layout = Layout {
            line: rows,
            lines: cols,
            ld,
            element,
            starts: vec![0],
        };
        if !layout.fits() && !layout.is_beyond() {
            return None;
        }
        let bytes = if layout.fits() {
            layout.span() as usize
        } else {
            8
        };
        let mut memory = Memory::new(bytes, x.below(9));
        fill(x, memory.bytes(), element);
        Some(Operand {
            layout,
            null: x.rarely(40),
            memory,
        })
    }

    fn start<T>(&mut self) -> *mut T {
        if self.null {
            std::ptr::null_mut()
        } else {
            self.memory.start().cast()
        }
    }
}

pub fn run(data: &[u8]) {
    let x = &mut Bytes::new(data);
    let double = x.rarely(2);
    let (arch, format) = (x.code(ARCHS.len()), x.code(FORMATS.len()));
    let output = if double {
        x.code(FORMATS.len())
    } else {
        MFMA_FMT_FP32
    };
    let sizes = [x.size(20), x.size(20), x.size(20)];
    let [m, n, k] = sizes;
    let element = if double { 8 } else { 4 };
    let alpha = x.factor(1.0);
    let beta = x.factor(0.0);
    // The float call has float factors.
    let (alpha, beta) = if double {
        (alpha, beta)
    } else {
        (f64::from(alpha as f32), f64::from(beta as f32))
    };
    let mut operand = |rows, cols| Operand::new(x, [rows, cols], element);
    let (Some(mut a), Some(mut b), Some(mut c), Some(mut d)) =
        (operand(m, k), operand(k, n), operand(m, n), operand(m, n))
    else {
        return;
    };
    let before = d.memory.bytes().to_vec();
    let ld = [&a, &b, &c, &d].map(|operand| operand.layout.ld);
    // SAFETY: the memory that the sizes name exists, or no memory could.
    let status = unsafe {
        if double {
            mfma_gemm_f64(
                arch,
                format,
                output,
                m,
                n,
                k,
                alpha,
                a.start(),
                ld[0],
                b.start(),
                ld[1],
                beta,
                c.start(),
                ld[2],
                d.start(),
                ld[3],
            )
        } else {
            mfma_gemm_f32(
                arch,
                format,
                m,
                n,
                k,
                alpha as f32,
                a.start(),
                ld[0],
                b.start(),
                ld[1],
                beta as f32,
                c.start(),
                ld[2],
                d.start(),
                ld[3],
            )
        }
    };
    let after = d.memory.bytes().to_vec();
    d.memory.bytes().copy_from_slice(&before);
    if status != MFMA_OK {
        check_failure(status);
        assert!(after == before, "D was touched: {}", message());
    }
    // The same by the general call.
    let mut model = std::ptr::null_mut();
    // SAFETY: `model` is a variable.
    let known = unsafe { mfma_model_new(arch, format, format, output, &mut model) };
    if known != MFMA_OK {
        assert_eq!(status, known, "{}", message());
        return;
    }
    let not_given = beta == 0.0 && c.null;
    let storage = if double {
        MFMA_STORAGE_F64
    } else {
        MFMA_STORAGE_F32
    };
    let mut args = defaults();
    args.model = model;
    (args.m, args.n, args.k) = (m, n, k);
    (args.alpha, args.beta) = (alpha, beta);
    (args.a, args.b, args.c) = (
        a.start::<c_void>(),
        b.start::<c_void>(),
        c.start::<c_void>(),
    );
    args.d = d.start();
    [args.lda, args.ldb, args.ldc, args.ldd] = ld;
    (
        args.storage_a,
        args.storage_b,
        args.storage_c,
        args.storage_d,
    ) = (storage, storage, storage, storage);
    // SAFETY: as above; the model lives until it is released.
    let general = unsafe {
        let general = mfma_gemm(&args);
        mfma_model_free(model);
        general
    };
    // With beta = 0 the general call does not look at ldc. Of several faults either may name another.
    let only_c = beta == 0.0 && !not_given && (ld[2] < m.max(1) || c.layout.is_beyond());
    if only_c {
        assert_ne!(status, MFMA_OK);
    } else {
        assert_eq!(status, general, "{}", message());
        assert!(d.memory.bytes() == after);
    }
}

fn defaults() -> mfma_gemm_args {
    let mut args = std::mem::MaybeUninit::<mfma_gemm_args>::zeroed();
    // SAFETY: zero bytes are a valid struct, and its size is set before it is filled.
    unsafe {
        (*args.as_mut_ptr()).size = size_of::<mfma_gemm_args>();
        assert_eq!(mfma_gemm_args_default(args.as_mut_ptr()), MFMA_OK);
        args.assume_init()
    }
}
