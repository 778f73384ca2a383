//! Choices made of arbitrary bytes.

use std::ffi::CStr;
use std::sync::LazyLock;

use mfma::Model;
use mfma::capi::*;
use mfma::error::ERRORS;
use mfma::model::capabilities;

/// Bytes to choose by; zeros follow the last.
pub struct Bytes<'a>(&'a [u8]);

/// Sizes at which arithmetic could go wrong.
const EXTREMES: &[i64] = &[
    -1,
    i64::MIN,
    i64::MAX,
    1 << 62,
    (1 << 62) - 1,
    -(1 << 62),
    1 << 60,
    1 << 50,
    1 << 49,
    (1 << 32) + 1,
    1 << 32,
    1 << 31,
    -(1 << 31),
    i64::MAX / 8,
    i64::MAX / 8 + 1,
];

impl<'a> Bytes<'a> {
    pub fn new(data: &'a [u8]) -> Bytes<'a> {
        Bytes(data)
    }

    pub fn byte(&mut self) -> u8 {
        match self.0.split_first() {
            Some((&first, rest)) => {
                self.0 = rest;
                first
            }
            None => 0,
        }
    }

    pub fn word(&mut self) -> u64 {
        u64::from_le_bytes([(); 8].map(|()| self.byte()))
    }

    /// A number below `bound`, 256 at most.
    pub fn below(&mut self, bound: usize) -> usize {
        usize::from(self.byte()) % bound
    }

    /// True once in `n`.
    pub fn rarely(&mut self, n: usize) -> bool {
        self.below(n) == n - 1
    }

    pub fn pick<'t, T>(&mut self, choices: &'t [T]) -> &'t T {
        &choices[self.below(choices.len())]
    }

    /// A code of which `known` are known; now and then any number.
    pub fn code(&mut self, known: usize) -> i32 {
        match self.byte() {
            x @ 0..=250 => (usize::from(x) % known) as i32,
            251 => -1,
            252 => known as i32,
            _ => self.word() as i32,
        }
    }

    /// A size up to `most`; now and then one that is far away.
    pub fn size(&mut self, most: usize) -> i64 {
        match self.byte() {
            x @ 0..=246 => (usize::from(x) % (most + 1)) as i64,
            247 => self.word() as i64,
            _ => *self.pick(EXTREMES),
        }
    }

    /// A factor: `usual`, or another number.
    pub fn factor(&mut self, usual: f64) -> f64 {
        match self.byte() {
            0..=99 => usual,
            100..=139 => 1.0,
            140..=169 => 0.0,
            170..=179 => -0.0,
            180..=199 => -1.0,
            200..=219 => 0.3,
            220..=229 => f64::NAN,
            230..=239 => f64::INFINITY,
            _ => f64::from_bits(self.word()),
        }
    }
}

/// The message of this thread's last failure.
pub fn message() -> String {
    // SAFETY: never NULL, and ends with a NUL.
    let text = unsafe { CStr::from_ptr(mfma_last_error()) };
    text.to_str().expect("messages are UTF-8").to_string()
}

/// What holds for every failure: a status of the table other than "internal", and a message.
pub fn check_failure(status: mfma_status) {
    assert_ne!(status, MFMA_OK);
    assert_ne!(status, MFMA_ERR_INTERNAL, "{}", message());
    assert_ne!(status, MFMA_ERR_OUT_OF_MEMORY, "{}", message());
    assert!(ERRORS.iter().any(|row| row.status == status), "{status}");
    assert!(!message().is_empty());
}

/// A model as C has it, and as Rust.
pub struct Unit {
    pub handle: *mut mfma_model,
    pub model: Model,
}

// SAFETY: models are immutable and may be used by any thread.
unsafe impl Send for Unit {}
// SAFETY: as for Send.
unsafe impl Sync for Unit {}

/// Units of the catalogue, those that their formats reach; never released.
pub static UNITS: LazyLock<Vec<Unit>> = LazyLock::new(|| {
    let units: Vec<Unit> = capabilities()
        .filter_map(|unit| {
            let model = Model::new(unit.row.arch, unit.a, unit.b, unit.row.output).ok()?;
            let mut handle = std::ptr::null_mut();
            let code = |format: mfma::Format| format.info().code;
            let (arch, d) = (unit.row.arch.info().code, code(unit.row.output));
            // SAFETY: `handle` is a variable.
            let status =
                unsafe { mfma_model_new(arch, code(unit.a), code(unit.b), d, &mut handle) };
            assert_eq!(status, MFMA_OK);
            Some(Unit { handle, model })
        })
        .collect();
    assert!((1..=256).contains(&units.len()));
    units
});
