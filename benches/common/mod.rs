//! What the benches share: units, data, one call of the engine, and OpenBLAS.
#![allow(dead_code)]

pub mod dots;

use std::ffi::{CStr, c_char, c_int, c_void};

use mfma::gemm::{Problem, Storage, View, run_with};
use mfma::model::{Reach, catalogue};
use mfma::threads::Workers;
use mfma::{Arch, Format, Model};

/// A unit with a name to print.
pub struct Unit {
    pub name: String,
    pub model: Model,
}

fn unit(arch: Arch, input: Format, output: Format) -> Unit {
    Unit {
        name: format!("{arch} {input} -> {output}"),
        model: Model::new(arch, input, input, output).expect("a unit of the catalogue"),
    }
}

/// Every unit that hardware has, one pair of inputs a row; those that only an instruction names have it in theirs.
pub fn units() -> Vec<Unit> {
    catalogue()
        .filter(|row| !row.instruction.is_empty() && row.inputs[0][0] != Format::Fp64)
        .map(|row| {
            let [a, b] = row.inputs[0];
            let family = match row.reach {
                Reach::Formats => "",
                Reach::Instruction => row.instruction.split(".aligned").next().unwrap_or_default(),
            };
            let name = format!("{} {a} {family} -> {}", row.arch, row.output).replace("  ", " ");
            let model = Model::from_params(row.params, a, b, row.output);
            let model = model.expect("a unit of the catalogue");
            Unit { name, model }
        })
        .collect()
}

/// One unit of each family.
pub fn representatives() -> Vec<Unit> {
    vec![
        unit(Arch::Cdna1, Format::Fp16, Format::Fp32),
        unit(Arch::Cdna2, Format::Fp32, Format::Fp32),
        unit(Arch::Cdna2, Format::Fp16, Format::Fp32),
        unit(Arch::Cdna3, Format::Fp16, Format::Fp32),
        unit(Arch::Cdna3, Format::E4m3Fnuz, Format::Fp32),
        unit(Arch::Ampere, Format::Fp16, Format::Fp32),
        unit(Arch::Hopper, Format::Fp16, Format::Fp32),
        unit(Arch::Hopper, Format::Fp16, Format::Fp16),
    ]
}

/// What is multiplied.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Data {
    /// N(0, 1).
    Normal,
    /// Exponents all over the format's range (for 8-bit exponents, as the paper draws them: products do not overflow).
    Wide,
}

impl Data {
    pub fn name(self) -> &'static str {
        match self {
            Data::Normal => "N(0, 1)",
            Data::Wide => "full range",
        }
    }
}

/// Numbers for operands of `format`.
pub fn fill(format: Format, data: Data, count: usize, seed: u64) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut bits = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.wrapping_mul(0x2545_f491_4f6c_dd1d)
    };
    let info = format.info();
    let largest = mfma::format::to_f64(format, info.max_finite());
    (0..count)
        .map(|_| match data {
            Data::Normal => {
                // The sum of twelve uniform numbers is close enough.
                let sum: f64 = (0..12)
                    .map(|_| (bits() >> 11) as f64 / (1u64 << 53) as f64)
                    .sum();
                (sum - 6.0) as f32
            }
            Data::Wide => {
                let (low, high) = (info.min_exponent(), info.max_exponent().min(63));
                let exponent = low + (bits() >> 33) as i32 % (high - low + 1);
                let significand = 1.0 + (bits() >> 11) as f64 / (1u64 << 53) as f64;
                let sign = if bits() >> 63 == 0 { 1.0 } else { -1.0 };
                (sign * significand * 2f64.powi(exponent)).clamp(-largest, largest) as f32
            }
        })
        .collect()
}

/// D = A B + C, column-major binary32, on `threads` threads.
pub fn product(
    model: &Model,
    (m, n, k): (usize, usize, usize),
    a: &[f32],
    b: &[f32],
    c: &[f32],
    d: &mut [f32],
    threads: usize,
) {
    assert!(a.len() == m * k && b.len() == k * n && c.len() == m * n && d.len() == m * n);
    // SAFETY: the slices have the sizes that the product names, and only `d` is written.
    let view = |data: *const f32, format, rows: usize| unsafe {
        View::new(
            data.cast_mut().cast(),
            Storage::F32,
            format,
            1,
            rows as isize,
        )
    };
    let problem = Problem {
        model: *model,
        m,
        n,
        k,
        alpha: 1.0,
        a: view(a.as_ptr(), model.a(), m),
        b: view(b.as_ptr(), model.b(), k),
        beta: 1.0,
        c: Some(view(c.as_ptr(), model.output(), m)),
        d: view(d.as_mut_ptr().cast_const(), model.output(), m),
    };
    run_with(&problem, Workers::new(threads), None).expect("a checked product");
}

/// CPU time of this thread in seconds: what a computation on one thread takes, whatever else the machine does.
pub fn cpu_seconds() -> f64 {
    #[repr(C)]
    struct Time {
        seconds: i64,
        nanoseconds: i64,
    }
    unsafe extern "C" {
        fn clock_gettime(clock: c_int, time: *mut Time) -> c_int;
    }
    const THREAD_CPU_TIME: c_int = 3;
    let mut time = Time {
        seconds: 0,
        nanoseconds: 0,
    };
    // SAFETY: the C library's own function (64-bit Linux) writes one `timespec`.
    unsafe { clock_gettime(THREAD_CPU_TIME, &mut time) };
    time.seconds as f64 + time.nanoseconds as f64 * 1e-9
}

unsafe extern "C" {
    fn dlopen(name: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

type SgemmFunction = unsafe extern "C" fn(
    c_int,
    c_int,
    c_int,
    c_int,
    c_int,
    c_int,
    f32,
    *const f32,
    c_int,
    *const f32,
    c_int,
    f32,
    *mut f32,
    c_int,
);

/// OpenBLAS's sgemm on one thread, if this machine has the library.
pub struct Sgemm {
    function: Option<SgemmFunction>,
    name: String,
    a: Vec<f32>,
    b: Vec<f32>,
    result: Vec<f32>,
}

impl Sgemm {
    pub fn load() -> Sgemm {
        // A preset core type halves sgemm's speed; it must be unset before the library is loaded, not here.
        for name in ["OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"] {
            if std::env::var_os(name).is_some() {
                eprintln!("warning: {name} is set: sgemm will be slower than it can be");
            }
        }
        let mut sgemm = Sgemm {
            function: None,
            name: "no OpenBLAS here (Debian: libopenblas0-pthread)".into(),
            a: Vec::new(),
            b: Vec::new(),
            result: Vec::new(),
        };
        // SAFETY: the library is trusted to be OpenBLAS; names and types are those of its headers.
        unsafe {
            const NOW: c_int = 2;
            let library = dlopen(c"libopenblas.so.0".as_ptr(), NOW);
            if library.is_null() {
                return sgemm;
            }
            let set_threads = dlsym(library, c"openblas_set_num_threads".as_ptr());
            let config = dlsym(library, c"openblas_get_config".as_ptr());
            let function = dlsym(library, c"cblas_sgemm".as_ptr());
            if set_threads.is_null() || config.is_null() || function.is_null() {
                return sgemm;
            }
            std::mem::transmute::<*mut c_void, unsafe extern "C" fn(c_int)>(set_threads)(1);
            let config = std::mem::transmute::<*mut c_void, unsafe extern "C" fn() -> *const c_char>(
                config,
            )();
            sgemm.name = CStr::from_ptr(config).to_string_lossy().into_owned();
            sgemm.function = Some(std::mem::transmute::<*mut c_void, SgemmFunction>(function));
        }
        sgemm
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Seconds for one size^3 product; NaN without the library.
    pub fn time(&mut self, size: usize) -> f64 {
        let Some(function) = self.function else {
            return f64::NAN;
        };
        if self.a.len() < size * size {
            self.a = fill(Format::Fp16, Data::Normal, size * size, 4);
            self.b = fill(Format::Fp16, Data::Normal, size * size, 5);
            self.result = vec![0.0; size * size];
        }
        let n = size as c_int;
        let start = cpu_seconds();
        // SAFETY: three size x size matrices; 102 is column-major, 111 not transposed.
        unsafe {
            let (a, b, result) = (self.a.as_ptr(), self.b.as_ptr(), self.result.as_mut_ptr());
            function(102, 111, 111, n, n, n, 1.0, a, n, b, n, 0.0, result, n);
        }
        cpu_seconds() - start
    }
}
