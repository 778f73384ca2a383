//! What C hands in, turned into what Rust can rely on.

use std::borrow::Cow;
use std::ffi::{CStr, c_char};

use super::codes::{mfma_arch, mfma_format};
use crate::error::{Error, ErrorCode};
use crate::format::{FORMATS, Format};
use crate::model::{ARCHS, Arch};

pub(super) fn null(name: &str) -> Error {
    Error::new(
        ErrorCode::NullPointer,
        format!("{name} is NULL; it must point to memory"),
    )
}

/// An argument whose value is not allowed.
pub(super) fn refuse(field: &str, value: impl std::fmt::Display, allowed: &str) -> Error {
    Error::new(
        ErrorCode::InvalidArgument,
        format!("{field} is {value}; allowed: {allowed}"),
    )
}

/// The place of an out-parameter.
pub(super) fn out<T>(name: &str, pointer: *mut T) -> Result<*mut T, Error> {
    if pointer.is_null() {
        Err(null(name))
    } else {
        Ok(pointer)
    }
}

/// A string argument.
///
/// # Safety
/// `text` is NULL or ends with a NUL, and stays as it is while the result lives.
pub(super) unsafe fn text<'a>(name: &str, text: *const c_char) -> Result<Cow<'a, str>, Error> {
    if text.is_null() {
        return Err(null(name));
    }
    // SAFETY: promised by the caller.
    Ok(unsafe { CStr::from_ptr(text) }.to_string_lossy())
}

/// An architecture code.
pub(super) fn arch(code: mfma_arch) -> Result<Arch, Error> {
    Arch::from_code(code).ok_or_else(|| {
        let known: Vec<String> = ARCHS
            .iter()
            .map(|row| format!("{} ({})", row.code, row.name))
            .collect();
        Error::new(
            ErrorCode::UnknownArch,
            format!("arch is {code}; allowed: {}", known.join(", ")),
        )
    })
}

/// A format code.
pub(super) fn format(name: &str, code: mfma_format) -> Result<Format, Error> {
    Format::from_code(code).ok_or_else(|| {
        let known: Vec<String> = FORMATS
            .iter()
            .map(|row| format!("{} ({})", row.code, row.name))
            .collect();
        Error::new(
            ErrorCode::UnknownFormat,
            format!("{name} is {code}; allowed: {}", known.join(", ")),
        )
    })
}
