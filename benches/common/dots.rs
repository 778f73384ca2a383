//! Independent dot products: their data, and calls through the C functions and on numbers.

use mfma::capi::{MFMA_OK, mfma_dot_batch, mfma_model, mfma_model_free, mfma_model_new};
use mfma::format::from_f64;
use mfma::gemm::{Call, Operand, Starts, Storage};
use mfma::threads::Workers;
use mfma::{Format, Model};

use super::{Data, fill};

/// `count` cases of `k` numbers each for a and b of a unit, and their encodings.
pub struct Cases {
    pub model: Model,
    pub k: usize,
    pub numbers: [Vec<f64>; 2],
    pub encodings: [Vec<u8>; 2],
    pub c: Vec<u64>,
    pub d: Vec<u64>,
}

impl Cases {
    /// N(0, 1).
    pub fn new(model: &Model, count: usize, k: usize) -> Cases {
        let numbers = |format, seed| -> Vec<f64> {
            let numbers = fill(format, Data::Normal, count * k, seed);
            numbers.into_iter().map(f64::from).collect()
        };
        let encodings = |format: Format, numbers: &[f64]| -> Vec<u8> {
            let encoding = |&x: &f64| from_f64(format, x, Model::input_rounding(format));
            let bytes = |bits: u64| bits.to_le_bytes().into_iter().take(format.bytes());
            numbers.iter().map(encoding).flat_map(bytes).collect()
        };
        let (a, b) = (numbers(model.a(), 1), numbers(model.b(), 2));
        Cases {
            model: *model,
            k,
            encodings: [encodings(model.a(), &a), encodings(model.b(), &b)],
            numbers: [a, b],
            c: vec![0; count],
            d: vec![0; count],
        }
    }

    /// The first `count` cases on binary64 numbers, as a batch of 1 x 1 products, on `threads` threads.
    pub fn on_numbers(&mut self, count: usize, threads: usize) {
        let k = self.k;
        let operand = |name, first: *const f64, format, ld: usize, stride: usize| Operand {
            name,
            storage: Storage::F64,
            format,
            rows_contiguous: false,
            ld: ld as i64,
            starts: Starts::Strided {
                first: first.cast_mut().cast(),
                stride: stride as i64,
            },
        };
        assert!(count <= self.d.len());
        let [a, b] = &self.numbers;
        let call = Call {
            model: self.model,
            m: 1,
            n: 1,
            k: k as i64,
            batch: count as i64,
            alpha: 1.0,
            a: operand("A", a.as_ptr(), self.model.a(), 1, k),
            b: operand("B", b.as_ptr(), self.model.b(), k, k),
            beta: 0.0,
            c: None,
            d: operand("D", self.d.as_mut_ptr().cast(), self.model.output(), 1, 1),
            workers: Workers::new(threads),
            progress: None,
        };
        // SAFETY: every product has k numbers of a and b, and one result of its own.
        unsafe { call.run() }.expect("a sound call");
    }
}

/// A unit's handle in C.
pub struct Handle(*mut mfma_model);

impl Handle {
    /// Of a unit that its architecture has by its formats.
    pub fn new(model: &Model) -> Handle {
        let mut handle = std::ptr::null_mut();
        let code = |format: Format| format.info().code;
        let (a, b, d) = (code(model.a()), code(model.b()), code(model.output()));
        let arch = model.arch().expect("a unit of the catalogue").info().code;
        // SAFETY: a variable of ours.
        let status = unsafe { mfma_model_new(arch, a, b, d, &mut handle) };
        assert_eq!(status, MFMA_OK);
        Handle(handle)
    }

    /// The first `count` cases on encodings, by the C function.
    pub fn dots(&self, cases: &mut Cases, count: usize) {
        assert!(count <= cases.d.len());
        let [a, b] = &cases.encodings;
        let (a, b, c) = (a.as_ptr().cast(), b.as_ptr().cast(), cases.c.as_ptr());
        let (count, k, d) = (count as i64, cases.k as i64, cases.d.as_mut_ptr());
        // SAFETY: there are as many cases.
        let status = unsafe { mfma_dot_batch(self.0, count, k, a, b, c.cast(), d.cast()) };
        assert_eq!(status, MFMA_OK);
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: made by `new`, released once.
        unsafe { mfma_model_free(self.0) };
    }
}
