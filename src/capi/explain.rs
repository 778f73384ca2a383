//! One dot product step by step.

use std::ffi::{c_char, c_void};

use super::codes::mfma_status;
use super::model::{self, mfma_model};
use super::raw;
use crate::error::{Error, ErrorCode};
use crate::explain::explain;
use crate::probe::Case;

/// Longest dot product that is explained.
const LONGEST: i64 = 65536;

/// Explains one dot product step by step, as text: products, alignments, sums and roundings, and what each of them lost. a
/// and b have `k` elements (0 to 65536) and c one, encodings as mfma_dot_batch takes them.
///
/// `buffer` has `size` bytes; it may be NULL if size is 0. A text that does not fit is cut; it always ends with NUL.
/// `*needed` is the size that the whole text takes, NUL included; `needed` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mfma_explain(
    model: *const mfma_model,
    k: i64,
    a: *const c_void,
    b: *const c_void,
    c: *const c_void,
    buffer: *mut c_char,
    size: usize,
    needed: *mut usize,
) -> mfma_status {
    guard!({
        // SAFETY: a living model or NULL.
        let model = unsafe { model::get(model) }?;
        if !(0..=LONGEST).contains(&k) {
            return Err(Error::new(
                ErrorCode::InvalidSize,
                format!("k is {k}; allowed: 0 to {LONGEST}"),
            ));
        }
        let k = k as usize;
        // SAFETY: the caller vouches for the elements that k names.
        let (a, b, c) = unsafe {
            (
                raw::load("a", a, model.a(), k)?,
                raw::load("b", b, model.b(), k)?,
                raw::load("c", c, model.output(), 1)?[0],
            )
        };
        raw::text_out("buffer", buffer, size)?;
        let text = explain(&model, &Case { a, b, c })?.to_string();
        // SAFETY: the buffer has been accepted, and has `size` bytes.
        let all = unsafe { raw::write_text(&text, buffer, size) };
        if !needed.is_null() {
            // SAFETY: the caller's variable.
            unsafe { needed.write_unaligned(all) };
        }
    })
}
