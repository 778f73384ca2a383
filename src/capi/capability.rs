//! What the catalogue holds: every unit, and how well it is known.

use std::ffi::{CString, c_char};
use std::sync::LazyLock;

use super::codes::*;
use super::params::mfma_params;
use super::sized::{self, Sized};
use crate::Format;
use crate::error::{Error, ErrorCode};
use crate::model::{Capability, Evidence, Reach, Row, capabilities};

/// A unit of the catalogue for one pair of input formats. Set `size` to sizeof(mfma_capability).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mfma_capability {
    /// sizeof(mfma_capability).
    pub size: usize,
    /// Architecture.
    pub arch: mfma_arch,
    /// Format of a's elements.
    pub a: mfma_format,
    /// Format of b's elements.
    pub b: mfma_format,
    /// Format of c and d.
    pub d: mfma_format,
    /// 1 if only mfma_model_from_instruction reaches the unit, 0 if mfma_model_new gives it for these formats.
    pub by_instruction: i32,
    /// Who says that it computes like this: MFMA_EVIDENCE_*. A pair without vectors of its own is assumed.
    pub evidence: i32,
    /// An instruction of the unit for this pair; "" if there is none. Static text.
    pub instruction: *const c_char,
    /// Where the features are from. Static text.
    pub source: *const c_char,
    /// Vectors measured on GPUs that the unit has been checked against.
    pub measured: i64,
    /// Vectors printed in the paper or following from its algorithms.
    pub paper: i64,
    /// Vectors drawn from problems that people met.
    pub directed: i64,
    /// Vectors computed by MATLAB Tensor Core.
    pub golden: i64,
    /// Vectors that the unit does not reproduce.
    pub mismatches: i64,
    /// The probability of a mismatch is below this with probability 1 - 1e-6 (paper, section 5.4); 1 if nothing is known.
    pub mismatch_bound: f64,
}

// SAFETY: repr(C), size first; pointers are only written, never read.
unsafe impl Sized for mfma_capability {
    const FIRST: usize = size_of::<mfma_capability>();
}

struct Texts {
    instruction: CString,
    source: CString,
}

static UNITS: LazyLock<Vec<(Capability, Texts)>> = LazyLock::new(|| {
    let text = |text: &str| CString::new(text).unwrap_or_default();
    capabilities()
        .map(|capability| {
            let texts = Texts {
                instruction: text(&capability.instruction()),
                source: text(capability.row.source),
            };
            (capability, texts)
        })
        .collect()
});

fn unit(index: i64) -> Result<&'static (Capability, Texts), Error> {
    let unit = usize::try_from(index).ok().and_then(|i| UNITS.get(i));
    unit.ok_or_else(|| {
        Error::new(
            ErrorCode::InvalidArgument,
            format!("index is {index}; allowed: 0 to {}", UNITS.len() - 1),
        )
    })
}

/// Numbers of the units that rows of the catalogue are with these input formats.
pub(super) fn numbers(rows: &[&Row], inputs: [Format; 2]) -> Vec<i64> {
    (0..)
        .zip(UNITS.iter())
        .filter(|(_, (unit, _))| {
            [unit.a, unit.b] == inputs
                && rows.iter().any(|row| {
                    let key = |row: &Row| (row.arch, row.reach, row.output, row.params);
                    key(row) == key(unit.row)
                })
        })
        .map(|(number, _)| number)
        .collect()
}

/// Number of units in the catalogue, counting each pair of input formats.
#[unsafe(no_mangle)]
pub extern "C" fn mfma_capability_count() -> i64 {
    UNITS.len() as i64
}

/// Describes unit `index`, 0 to mfma_capability_count() - 1. `capability->size` must be set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mfma_capability_get(
    index: i64,
    capability: *mut mfma_capability,
) -> mfma_status {
    guard!({
        let (unit, texts) = unit(index)?;
        sized::out("capability", capability)?;
        let description = mfma_capability {
            size: size_of::<mfma_capability>(),
            arch: unit.row.arch.info().code,
            a: unit.a.info().code,
            b: unit.b.info().code,
            d: unit.row.output.info().code,
            by_instruction: (unit.row.reach == Reach::Instruction).into(),
            evidence: match unit.evidence() {
                Evidence::Measured => MFMA_EVIDENCE_MEASURED,
                Evidence::Paper => MFMA_EVIDENCE_PAPER,
                Evidence::Assumed => MFMA_EVIDENCE_ASSUMED,
                Evidence::NoHardware => MFMA_EVIDENCE_NO_HARDWARE,
            },
            instruction: texts.instruction.as_ptr(),
            source: texts.source.as_ptr(),
            measured: unit.vectors.measured as i64,
            paper: unit.vectors.paper as i64,
            directed: unit.vectors.directed as i64,
            golden: unit.vectors.golden as i64,
            mismatches: unit.vectors.mismatches as i64,
            mismatch_bound: unit.vectors.mismatch_bound(1e-6).unwrap_or(1.0),
        };
        // SAFETY: accepted above.
        unsafe { sized::write(capability, description) };
    })
}

/// Fills `params` with the features of unit `index`. `params->size` must be set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mfma_capability_params(
    index: i64,
    params: *mut mfma_params,
) -> mfma_status {
    guard!({
        let (unit, _) = unit(index)?;
        sized::out("params", params)?;
        // SAFETY: just accepted.
        unsafe { sized::write(params, mfma_params::from(&unit.row.params)) };
    })
}
