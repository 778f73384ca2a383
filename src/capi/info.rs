//! Version, messages, threads.

use std::ffi::{CString, c_char};
use std::sync::LazyLock;

use super::codes::{MFMA_OK, mfma_arch, mfma_format, mfma_status};
use super::guard;
use crate::error::{ERRORS, Error, ErrorCode};
use crate::format::{FORMATS, Format};
use crate::kernel::{self, Level};
use crate::model::{ARCHS, Arch};
use crate::threads;

/// A table's texts as C reads them.
fn c_strings<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<CString> {
    texts
        .map(|text| CString::new(text).unwrap_or_default())
        .collect()
}

/// Version of the library, such as "1.0.0".
#[unsafe(no_mangle)]
pub extern "C" fn mfma_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}

/// What a status means, in one sentence. Never NULL, whatever the value.
#[unsafe(no_mangle)]
pub extern "C" fn mfma_status_string(status: mfma_status) -> *const c_char {
    static TEXTS: LazyLock<Vec<CString>> =
        LazyLock::new(|| c_strings(ERRORS.iter().map(|row| row.text)));
    match ERRORS.iter().position(|row| row.status == status) {
        Some(row) => TEXTS[row].as_ptr(),
        None if status == MFMA_OK => c"success".as_ptr(),
        None => c"unknown status".as_ptr(),
    }
}

/// Identifier of a status in MATLAB and Octave, such as "mfma:arg:size". Never NULL; "" for MFMA_OK and unknown values.
#[unsafe(no_mangle)]
pub extern "C" fn mfma_error_id(status: mfma_status) -> *const c_char {
    static IDS: LazyLock<Vec<CString>> =
        LazyLock::new(|| c_strings(ERRORS.iter().map(|row| row.matlab_id)));
    match ERRORS.iter().position(|row| row.status == status) {
        Some(row) => IDS[row].as_ptr(),
        None => c"".as_ptr(),
    }
}

/// Message of this thread's last failed call, naming the argument and what is allowed. Never NULL; "" before the first
/// failure. It stays until the next failed call of this thread.
#[unsafe(no_mangle)]
pub extern "C" fn mfma_last_error() -> *const c_char {
    guard::last_message()
}

/// Name of an architecture, such as "CDNA3"; NULL if there is none with this number. Numbers run from 0 without a gap.
#[unsafe(no_mangle)]
pub extern "C" fn mfma_arch_name(arch: mfma_arch) -> *const c_char {
    static NAMES: LazyLock<Vec<CString>> =
        LazyLock::new(|| c_strings(ARCHS.iter().map(|row| row.name)));
    match Arch::from_code(arch) {
        Some(arch) => NAMES[arch as usize].as_ptr(),
        None => std::ptr::null(),
    }
}

/// Name of a format, such as "fp16"; NULL if there is none with this number. Numbers run from 0 without a gap.
#[unsafe(no_mangle)]
pub extern "C" fn mfma_format_name(format: mfma_format) -> *const c_char {
    static NAMES: LazyLock<Vec<CString>> =
        LazyLock::new(|| c_strings(FORMATS.iter().map(|row| row.name)));
    match Format::from_code(format) {
        Some(format) => NAMES[format as usize].as_ptr(),
        None => std::ptr::null(),
    }
}

/// Bytes that one raw element of a format takes; 0 if there is no such format.
#[unsafe(no_mangle)]
pub extern "C" fn mfma_format_bytes(format: mfma_format) -> i32 {
    Format::from_code(format).map_or(0, |format| format.bytes() as i32)
}

/// Sets how many threads, the calling one included, work on one call: 1 to 1024, or 0 for the default (the environment
/// variable MFMA_NUM_THREADS, else all cores). Results never depend on it.
#[unsafe(no_mangle)]
pub extern "C" fn mfma_set_num_threads(threads: i32) -> mfma_status {
    guard!({
        let wanted = usize::try_from(threads).map_err(|_| {
            Error::new(
                ErrorCode::InvalidArgument,
                format!(
                    "threads is {threads}; allowed: 0 (default) to {}",
                    threads::MAX_THREADS
                ),
            )
        })?;
        threads::set_num_threads(wanted)?;
    })
}

/// How many threads, the calling one included, work on one call.
#[unsafe(no_mangle)]
pub extern "C" fn mfma_get_num_threads() -> i32 {
    threads::num_threads() as i32
}

/// Ends the threads that the library has started, and waits for them; the next call that needs threads starts new ones.
/// For programs that unload code that the static library is linked into, such as a MEX file. No other call may be in
/// progress.
#[unsafe(no_mangle)]
pub extern "C" fn mfma_shutdown() {
    // Nothing here can fail in a way that the caller could do anything about.
    let _ = guard!({
        threads::shut_down();
    });
}

/// Which kernel level is in use: "portable", "avx2", "avx512" or "neon". The environment variable MFMA_SIMD lowers it.
#[unsafe(no_mangle)]
pub extern "C" fn mfma_cpu_features() -> *const c_char {
    static NAMES: LazyLock<Vec<CString>> =
        LazyLock::new(|| c_strings(Level::ALL.iter().map(|level| level.name())));
    NAMES[kernel::level() as usize].as_ptr()
}
