//! The ways through the library that every vector takes.

use std::ffi::{CString, c_void};
use std::ptr::null_mut;

use mfma::capi::{
    MFMA_OK, mfma_dot_batch, mfma_last_error, mfma_model, mfma_model_free,
    mfma_model_from_instruction, mfma_model_new,
};
use mfma::reference::dot_raw;
use mfma::{Format, MatMut, MatRef, Product};

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
        name: "Rust, Product",
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

/// A type of elements that can hold encodings.
trait Raw: mfma::Element + Default {
    fn from_bits(bits: u64) -> Self;
    fn bits(self) -> u64;
}

macro_rules! raw {
    ($($int:ty),*) => {$(
        impl Raw for $int {
            fn from_bits(bits: u64) -> Self {
                Self::try_from(bits).expect("an encoding wider than its format")
            }

            fn bits(self) -> u64 {
                self.into()
            }
        }
    )*};
}

raw!(u8, u16, u32, u64);

/// Up to 16 cases as the rows of A and the columns of B: their results are on the diagonal of a 16 x 16 product, which is
/// wide enough for the fast kernels.
fn products(set: &Set) -> Vec<u64> {
    match (set.model.a().bytes(), set.model.output().bytes()) {
        (1, 2) => typed_products::<u8, u16>(set),
        (1, 4) => typed_products::<u8, u32>(set),
        (2, 2) => typed_products::<u16, u16>(set),
        (2, 4) => typed_products::<u16, u32>(set),
        (4, 2) => typed_products::<u32, u16>(set),
        (4, 4) => typed_products::<u32, u32>(set),
        (8, 8) => typed_products::<u64, u64>(set),
        sizes => panic!("{}: no element types for {sizes:?} bytes", set.name),
    }
}

fn typed_products<In: Raw, Out: Raw>(set: &Set) -> Vec<u64> {
    in_groups(set, 16, |k, cases| {
        let n = cases.len();
        let input = |x: &[u64]| -> Vec<In> { x.iter().map(|&bits| In::from_bits(bits)).collect() };
        let a: Vec<In> = cases.iter().flat_map(|case| input(&case.a)).collect();
        let b: Vec<In> = cases.iter().flat_map(|case| input(&case.b)).collect();
        let c: Vec<Out> = cases
            .iter()
            .flat_map(|case| std::iter::repeat_n(Out::from_bits(case.c), n))
            .collect();
        let mut d = vec![Out::default(); n * n];
        let mut compute = || -> Result<(), mfma::Error> {
            Product::new(
                &set.model,
                MatRef::row_major(&a, n, k)?,
                MatRef::col_major(&b, k, n)?,
            )
            .add(1.0, MatRef::row_major(&c, n, n)?)
            .store(MatMut::row_major(&mut d, n, n)?)
        };
        compute().unwrap_or_else(|error| panic!("{}: {error}", set.name));
        d.iter().step_by(n + 1).map(|d| d.bits()).collect()
    })
}
