//! Conversions between formats, and what an encoding stands for.

use std::ffi::c_void;

use super::check;
use super::codes::*;
use super::params::ROUNDINGS;
use super::sized::{self, Sized};
use crate::error::{Error, ErrorCode};
use crate::format::{Class, Overflow, decode, default_overflow, to_f64};
use crate::gemm::{self, Matrix};

/// What an encoding stands for. Set `size` to sizeof(mfma_decoded).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mfma_decoded {
    /// sizeof(mfma_decoded).
    pub size: usize,
    /// Kind of number: MFMA_CLASS_*.
    pub kind: i32,
    /// Sign bit.
    pub negative: i32,
    /// Of a finite number: value = (-1)^negative * significand * 2^exponent; else 0.
    pub exponent: i32,
    /// Is a finite number below the format's normal range?
    pub subnormal: i32,
    /// Integer significand, hidden bit included.
    pub significand: u64,
    /// The number as binary64; exact.
    pub value: f64,
}

// SAFETY: repr(C), size first, numbers only.
unsafe impl Sized for mfma_decoded {
    const FIRST: usize = size_of::<mfma_decoded>();
}

fn invalid(name: &str, value: i32, allowed: &str) -> Error {
    Error::new(
        ErrorCode::InvalidArgument,
        format!("{name} is {value}; allowed: {allowed}"),
    )
}

/// Rounds `count` raw elements of format `from` to format `to`, each once: `rounding` is MFMA_ROUND_*, `overflow` is
/// MFMA_OVERFLOW_*. Elements are stored as in mfma_dot_batch; arrays of floats and doubles are MFMA_FMT_FP32 and
/// MFMA_FMT_FP64. NaN stays NaN; an infinity becomes NaN in formats that have none, or the largest number if saturating
/// (in the FNUZ formats always NaN). `out` may be `in` if the elements are equally large.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mfma_convert(
    from: mfma_format,
    to: mfma_format,
    rounding: mfma_rounding,
    overflow: i32,
    count: i64,
    r#in: *const c_void,
    out: *mut c_void,
) -> mfma_status {
    guard!({
        let from = check::format("from", from)?;
        let to = check::format("to", to)?;
        let rounding = ROUNDINGS.iter().find(|row| row.0 == rounding).map_or_else(
            || Err(invalid("rounding", rounding, "MFMA_ROUND_* (0 to 3)")),
            |row| Ok(row.1),
        )?;
        let overflow = match overflow {
            MFMA_OVERFLOW_DEFAULT => default_overflow(to),
            MFMA_OVERFLOW_IEEE => Overflow::Ieee,
            MFMA_OVERFLOW_SATURATE => Overflow::Saturate,
            MFMA_OVERFLOW_INFINITY => Overflow::Infinity,
            _ => return Err(invalid("overflow", overflow, "MFMA_OVERFLOW_* (0 to 3)")),
        };
        let array = |name, address: usize, bytes| {
            let matrix = Matrix::new(name, address, [1, count], ["1", "count"], 1, bytes)?;
            if address == 0 && count > 0 {
                return Err(check::null(name));
            }
            Ok(matrix)
        };
        let source = array("in", r#in.addr(), from.bytes())?;
        let target = array("out", out.addr(), to.bytes())?;
        let same = source.address == target.address && source.bytes == target.bytes;
        if !same && gemm::overlap(&source, &target) {
            return Err(Error::new(
                ErrorCode::Overlap,
                "out overlaps in; allowed: out apart from in, or the same with elements of equal size",
            ));
        }
        let (source, target) = ((from, r#in.cast()), (to, out.cast()));
        // SAFETY: the caller vouches for `count` elements.
        unsafe { gemm::convert(source, target, rounding, overflow, count as usize) }?;
    })
}

/// Describes the number that an encoding of `format` stands for. `decoded->size` must be set. Bits above the format's
/// own are ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mfma_decode(
    format: mfma_format,
    bits: u64,
    decoded: *mut mfma_decoded,
) -> mfma_status {
    guard!({
        let format = check::format("format", format)?;
        sized::out("decoded", decoded)?;
        let number = decode(format, bits);
        let info = format.info();
        let finite = number.class == Class::Finite;
        let description = mfma_decoded {
            size: size_of::<mfma_decoded>(),
            kind: match number.class {
                Class::Zero => MFMA_CLASS_ZERO,
                Class::Finite => MFMA_CLASS_FINITE,
                Class::Infinite => MFMA_CLASS_INFINITE,
                Class::Nan => MFMA_CLASS_NAN,
            },
            negative: number.negative.into(),
            exponent: if finite {
                number.exponent - info.fraction_bits as i32
            } else {
                0
            },
            subnormal: (finite && number.significand >> info.fraction_bits == 0).into(),
            significand: number.significand,
            value: to_f64(format, bits),
        };
        // SAFETY: accepted above.
        unsafe { sized::write(decoded, description) };
    })
}
