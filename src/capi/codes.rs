//! Every number of the C ABI. A test proves that each equals its row in the tables of [`error`](crate::error),
//! [`model`](crate::model) and [`format`](mod@crate::format), and that no row is missing.

/// Outcome of a call: MFMA_OK, or what went wrong (MFMA_ERR_*). New values may be added.
pub type mfma_status = i32;

/// An architecture with matrix units (MFMA_ARCH_*).
pub type mfma_arch = i32;

/// A number format (MFMA_FMT_*).
pub type mfma_format = i32;

/// Success.
pub const MFMA_OK: mfma_status = 0;
/// A pointer that must not be NULL is NULL.
pub const MFMA_ERR_NULL_POINTER: mfma_status = 1;
/// A size is negative or too large.
pub const MFMA_ERR_INVALID_SIZE: mfma_status = 2;
/// A leading dimension or stride is too small.
pub const MFMA_ERR_INVALID_LD: mfma_status = 3;
/// No such architecture.
pub const MFMA_ERR_UNKNOWN_ARCH: mfma_status = 4;
/// No such format.
pub const MFMA_ERR_UNKNOWN_FORMAT: mfma_status = 5;
/// The unit does not have this combination of formats.
pub const MFMA_ERR_UNSUPPORTED: mfma_status = 6;
/// No such instruction on this architecture.
pub const MFMA_ERR_UNKNOWN_INSTRUCTION: mfma_status = 7;
/// The result overlaps an input.
pub const MFMA_ERR_OVERLAP: mfma_status = 8;
/// An argument has a value that is not allowed.
pub const MFMA_ERR_INVALID_ARGUMENT: mfma_status = 9;
/// The parameters of a custom unit contradict each other or are out of range.
pub const MFMA_ERR_INVALID_PARAMS: mfma_status = 10;
/// Not enough memory.
pub const MFMA_ERR_OUT_OF_MEMORY: mfma_status = 11;
/// The caller cancelled the computation.
pub const MFMA_ERR_CANCELLED: mfma_status = 12;
/// Internal error; please report it.
pub const MFMA_ERR_INTERNAL: mfma_status = 13;
/// A file cannot be read or written.
pub const MFMA_ERR_IO: mfma_status = 14;
/// A file does not have the form that it should have.
pub const MFMA_ERR_MALFORMED: mfma_status = 15;

/// NVIDIA Volta (V100).
pub const MFMA_ARCH_VOLTA: mfma_arch = 0;
/// NVIDIA Turing (T4).
pub const MFMA_ARCH_TURING: mfma_arch = 1;
/// NVIDIA Ampere (A100, A2, A30).
pub const MFMA_ARCH_AMPERE: mfma_arch = 2;
/// NVIDIA Ada Lovelace (L40S).
pub const MFMA_ARCH_ADA: mfma_arch = 3;
/// NVIDIA Hopper (H100, H200).
pub const MFMA_ARCH_HOPPER: mfma_arch = 4;
/// NVIDIA Blackwell, data centre (B200).
pub const MFMA_ARCH_BLACKWELL: mfma_arch = 5;
/// NVIDIA Blackwell, workstation and consumer (RTX PRO 6000).
pub const MFMA_ARCH_RTX_BLACKWELL: mfma_arch = 6;
/// AMD CDNA 1 (MI100).
pub const MFMA_ARCH_CDNA1: mfma_arch = 7;
/// AMD CDNA 2 (MI210, MI250).
pub const MFMA_ARCH_CDNA2: mfma_arch = 8;
/// AMD CDNA 3 (MI300A, MI300X).
pub const MFMA_ARCH_CDNA3: mfma_arch = 9;
/// CDNA 3 as MATLAB Tensor Core v0.6 computes it; no hardware does.
pub const MFMA_ARCH_CDNA3_TOOLBOX: mfma_arch = 10;
/// Blackwell with results rounded to nearest even, the toolbox's B200TCRN; no hardware does this.
pub const MFMA_ARCH_BLACKWELL_RN: mfma_arch = 11;

/// IEEE binary64.
pub const MFMA_FMT_FP64: mfma_format = 0;
/// IEEE binary32.
pub const MFMA_FMT_FP32: mfma_format = 1;
/// TensorFloat-32 (AMD: xf32): a binary32 word of which the unit reads the first 19 bits.
pub const MFMA_FMT_TF32: mfma_format = 2;
/// IEEE binary16.
pub const MFMA_FMT_FP16: mfma_format = 3;
/// bfloat16.
pub const MFMA_FMT_BF16: mfma_format = 4;
/// 8-bit E4M3 of the OCP standard (NVIDIA).
pub const MFMA_FMT_E4M3: mfma_format = 5;
/// 8-bit E5M2 of the OCP standard (NVIDIA).
pub const MFMA_FMT_E5M2: mfma_format = 6;
/// 8-bit E4M3 of AMD CDNA 3 ("fp8").
pub const MFMA_FMT_E4M3FNUZ: mfma_format = 7;
/// 8-bit E5M2 of AMD CDNA 3 ("bf8").
pub const MFMA_FMT_E5M2FNUZ: mfma_format = 8;

/// How a value between two neighbours of a format is rounded (MFMA_ROUND_*).
pub type mfma_rounding = i32;

/// To nearest, ties to even.
pub const MFMA_ROUND_NEAREST_EVEN: mfma_rounding = 0;
/// Toward zero: cut.
pub const MFMA_ROUND_TOWARD_ZERO: mfma_rounding = 1;
/// Toward minus infinity.
pub const MFMA_ROUND_DOWN: mfma_rounding = 2;
/// Toward plus infinity.
pub const MFMA_ROUND_UP: mfma_rounding = 3;

/// One fused multiply-add after the other.
pub const MFMA_SCHEME_SEQUENTIAL_FMA: i32 = 0;
/// Products of a block and c added without error, rounded once (CDNA 1).
pub const MFMA_SCHEME_CORRECT_ROUNDING: i32 = 1;
/// Products rounded and added two by two, c last, every step rounded (CDNA 2).
pub const MFMA_SCHEME_PAIRWISE_SUM: i32 = 2;
/// Products aligned to the largest exponent, cut, added, rounded once (NVIDIA, CDNA 3).
pub const MFMA_SCHEME_GLOBAL_ALIGNMENT: i32 = 3;
/// The same with odd and even products aligned apart (CDNA 3, 8-bit inputs).
pub const MFMA_SCHEME_ODD_EVEN_GROUPING: i32 = 4;

/// Elements of a block in their order.
pub const MFMA_INTERLEAVE_NONE: i32 = 0;
/// Two half blocks, k mod 4 in {0, 1} and {2, 3}; c added last (8-bit inputs of mma.sync on Hopper and Blackwell).
pub const MFMA_INTERLEAVE_MOD4: i32 = 1;

/// NaN has its sign bit set; a nonzero sum that becomes zero keeps its sign.
pub const MFMA_CONVENTIONS_AMD: i32 = 0;
/// NaN has all bits but the sign set; a zero result is +0.
pub const MFMA_CONVENTIONS_NVIDIA: i32 = 1;
/// As MATLAB Tensor Core computes format pairs that no hardware has: c is binary32 between blocks.
pub const MFMA_CONVENTIONS_TOOLBOX: i32 = 2;

/// "No such limit" or "no such step", in the fields of mfma_params that may have none.
pub const MFMA_NONE: i32 = -2147483648;

/// Vectors measured on the hardware.
pub const MFMA_EVIDENCE_MEASURED: i32 = 0;
/// The paper's algorithms and printed vectors.
pub const MFMA_EVIDENCE_PAPER: i32 = 1;
/// Vendor documentation or other public models only.
pub const MFMA_EVIDENCE_ASSUMED: i32 = 2;
/// No hardware has this unit: it is what MATLAB Tensor Core computes.
pub const MFMA_EVIDENCE_NO_HARDWARE: i32 = 3;

/// A feature that the answers decide.
pub const MFMA_FINDING_FEATURE: i32 = 0;
/// A feature of which several values give every answer.
pub const MFMA_FINDING_UNDECIDED: i32 = 1;
/// Something that was observed directly.
pub const MFMA_FINDING_OBSERVED: i32 = 2;

/// Columns one after the other: the convention of BLAS, MATLAB and Fortran.
pub const MFMA_ORDER_COL_MAJOR: i32 = 0;
/// Rows one after the other: the convention of C and NumPy.
pub const MFMA_ORDER_ROW_MAJOR: i32 = 1;

/// Encodings of the unit's format.
pub const MFMA_STORAGE_RAW: i32 = 0;
/// binary32 numbers, rounded to the unit's format inside the call.
pub const MFMA_STORAGE_F32: i32 = 1;
/// binary64 numbers, rounded to the unit's format inside the call.
pub const MFMA_STORAGE_F64: i32 = 2;

/// As the matrix functions round what they are given: FNUZ formats saturate, the others follow IEEE 754.
pub const MFMA_OVERFLOW_DEFAULT: i32 = 0;
/// As IEEE 754; NaN in the place of infinity in formats without infinities.
pub const MFMA_OVERFLOW_IEEE: i32 = 1;
/// The largest finite number.
pub const MFMA_OVERFLOW_SATURATE: i32 = 2;
/// Infinity whatever the rounding, as in the units themselves; NaN in formats without infinities.
pub const MFMA_OVERFLOW_INFINITY: i32 = 3;

/// Zero, of either sign.
pub const MFMA_CLASS_ZERO: i32 = 0;
/// Any other finite number.
pub const MFMA_CLASS_FINITE: i32 = 1;
/// An infinity.
pub const MFMA_CLASS_INFINITE: i32 = 2;
/// Not a number.
pub const MFMA_CLASS_NAN: i32 = 3;
