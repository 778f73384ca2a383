//! The ways through the library that every vector takes.

use std::ffi::{CString, c_void};
use std::ptr::null_mut;

use mfma::Format;
use mfma::capi::{
    MFMA_OK, mfma_dot_batch, mfma_last_error, mfma_model, mfma_model_free,
    mfma_model_from_instruction, mfma_model_new,
};
use mfma::gemm::{self, Problem, Storage, View};
use mfma::reference::dot_raw;

use super::Case;
use super::evidence::Set;

/// A way from a set's vectors to its results.
pub struct Pass {
    pub name: &'static str,
    pub run: fn(&Set) -> Vec<u64>,
}

pub const PASSES: &[Pass] = &[
    Pass {
        name: "reference",
        run: reference,
    },
    Pass {
        name: "C ABI, mfma_dot_batch",
        run: dot_batch,
    },
    Pass {
        name: "products of matrices",
        run: products,
    },
];

fn reference(set: &Set) -> Vec<u64> {
    let unit = set.model.unit();
    set.cases
        .iter()
        .map(|case| dot_raw(unit, &case.a, &case.b, case.c))
        .collect()
}

/// Encodings one after the other, each in its format's storage size.
pub struct Packed {
    bytes: Vec<u8>,
    format: Format,
}

impl Packed {
    pub fn new(format: Format, elements: impl IntoIterator<Item = u64>) -> Packed {
        let size = format.bytes();
        let bytes = elements
            .into_iter()
            .flat_map(|bits| bits.to_le_bytes().into_iter().take(size));
        Packed {
            bytes: bytes.collect(),
            format,
        }
    }

    pub fn zeros(format: Format, count: usize) -> Packed {
        Packed::new(format, std::iter::repeat_n(0, count))
    }

    pub fn elements(&self) -> impl Iterator<Item = u64> {
        let chunks = self.bytes.chunks(self.format.bytes());
        chunks.map(|chunk| {
            chunk
                .iter()
                .rev()
                .fold(0, |bits, &byte| bits << 8 | u64::from(byte))
        })
    }

    pub fn pointer(&mut self) -> *mut u8 {
        self.bytes.as_mut_ptr()
    }

    /// A raw view of these elements as a matrix.
    fn view(&mut self, row_stride: usize, col_stride: usize) -> View {
        let format = self.format;
        // SAFETY: callers choose strides that stay within the elements, and keep them while the product runs.
        unsafe {
            View::new(
                self.pointer(),
                Storage::Raw,
                format,
                row_stride as isize,
                col_stride as isize,
            )
        }
    }
}

/// Runs `compute` on groups of at most `limit` cases of equal length, and puts the results back in order.
fn in_groups(
    set: &Set,
    limit: usize,
    mut compute: impl FnMut(usize, &[&Case]) -> Vec<u64>,
) -> Vec<u64> {
    let mut order: Vec<usize> = (0..set.cases.len()).collect();
    order.sort_by_key(|&i| set.cases[i].a.len());
    let mut results = vec![0; order.len()];
    for same_length in order.chunk_by(|&i, &j| set.cases[i].a.len() == set.cases[j].a.len()) {
        for group in same_length.chunks(limit) {
            let cases: Vec<&Case> = group.iter().map(|&i| &set.cases[i]).collect();
            let d = compute(cases[0].a.len(), &cases);
            assert_eq!(d.len(), cases.len());
            for (&i, d) in group.iter().zip(d) {
                results[i] = d;
            }
        }
    }
    results
}

/// A model made through the C ABI.
struct Handle(*mut mfma_model);

impl Handle {
    fn new(set: &Set) -> Handle {
        let mut handle = null_mut();
        let arch = set.arch.info().code;
        let code = |format: Format| format.info().code;
        let status = match &set.instruction {
            Some(name) => {
                let name = CString::new(name.as_str()).unwrap();
                // SAFETY: a C string and a variable of ours.
                unsafe { mfma_model_from_instruction(name.as_ptr(), arch, &mut handle) }
            }
            None => {
                let [a, b, d] = [set.model.a(), set.model.b(), set.model.output()].map(code);
                // SAFETY: a variable of ours.
                unsafe { mfma_model_new(arch, a, b, d, &mut handle) }
            }
        };
        assert_eq!(status, MFMA_OK, "{}: {}", set.name, last_error());
        Handle(handle)
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: made by the library, released once.
        unsafe { mfma_model_free(self.0) };
    }
}

pub fn last_error() -> String {
    // SAFETY: never NULL, valid until the thread's next call.
    let text = unsafe { std::ffi::CStr::from_ptr(mfma_last_error()) };
    text.to_string_lossy().into_owned()
}

fn dot_batch(set: &Set) -> Vec<u64> {
    let handle = Handle::new(set);
    let output = set.model.output();
    in_groups(set, usize::MAX, |k, cases| {
        let a = Packed::new(
            set.model.a(),
            cases.iter().flat_map(|case| case.a.iter().copied()),
        );
        let b = Packed::new(
            set.model.b(),
            cases.iter().flat_map(|case| case.b.iter().copied()),
        );
        let c = Packed::new(output, cases.iter().map(|case| case.c));
        let mut d = Packed::zeros(output, cases.len());
        let address = |packed: &Packed| -> *const c_void { packed.bytes.as_ptr().cast() };
        let (count, k) = (cases.len() as i64, k as i64);
        let (a, b, c) = (address(&a), address(&b), address(&c));
        // SAFETY: a and b hold count * k elements, c and d count.
        let status = unsafe { mfma_dot_batch(handle.0, count, k, a, b, c, d.pointer().cast()) };
        assert_eq!(status, MFMA_OK, "{}: {}", set.name, last_error());
        d.elements().collect()
    })
}

/// Up to 16 cases as the rows of A and the columns of B: their results are on the diagonal of a 16 x 16 product, which is
/// wide enough for the fast kernels.
fn products(set: &Set) -> Vec<u64> {
    let output = set.model.output();
    in_groups(set, 16, |k, cases| {
        let n = cases.len();
        let mut a = Packed::new(
            set.model.a(),
            cases.iter().flat_map(|case| case.a.iter().copied()),
        );
        let mut b = Packed::new(
            set.model.b(),
            cases.iter().flat_map(|case| case.b.iter().copied()),
        );
        let mut c = Packed::new(
            output,
            cases.iter().flat_map(|case| std::iter::repeat_n(case.c, n)),
        );
        let mut d = Packed::zeros(output, n * n);
        let problem = Problem {
            model: set.model,
            m: n,
            n,
            k,
            alpha: 1.0,
            a: a.view(k, 1),
            b: b.view(1, k),
            beta: 1.0,
            c: Some(c.view(n, 1)),
            d: d.view(n, 1),
        };
        gemm::run(&problem).unwrap();
        d.elements().step_by(n + 1).collect()
    })
}
