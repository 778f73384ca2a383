//! Models, and dot products on raw encodings.

use std::ffi::{c_char, c_void};

use super::check;
use super::codes::{MFMA_OK, mfma_arch, mfma_format, mfma_status};
use super::guard;
use super::raw;
use crate::error::{Error, ErrorCode};
use crate::gemm::{self, DotBatch, Dots, Storage, View};
use crate::{Format, Model};

/// A matrix unit, ready to compute. Immutable: any number of threads may use one at a time.
pub struct mfma_model(Dots);

/// Hands a new model to the caller.
pub(super) fn give(model: Model, place: *mut *mut mfma_model) {
    let handle = Box::into_raw(Box::new(mfma_model(Dots::new(&model))));
    // SAFETY: checked to be not NULL, so the caller's variable.
    unsafe { place.write_unaligned(handle) };
}

/// The model behind a handle.
///
/// # Safety
/// `model` is NULL or was handed out and not yet released.
pub(super) unsafe fn get(model: *const mfma_model) -> Result<Model, Error> {
    // SAFETY: promised by the caller.
    match unsafe { model.as_ref() } {
        Some(model) => Ok(*model.0.model()),
        None => Err(check::null("model")),
    }
}

/// The unit of `arch` that multiplies elements of formats `a` and `b` and gives results of format `d`. Release it with
/// mfma_model_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mfma_model_new(
    arch: mfma_arch,
    a: mfma_format,
    b: mfma_format,
    d: mfma_format,
    model: *mut *mut mfma_model,
) -> mfma_status {
    guard!({
        let arch = check::arch(arch)?;
        let a = check::format("a", a)?;
        let b = check::format("b", b)?;
        let d = check::format("d", d)?;
        let place = check::out("model", model)?;
        give(Model::new(arch, a, b, d)?, place);
    })
}

/// The unit that an instruction runs on, by its name in the instruction set of `arch`: "v_mfma_f32_32x32x8_f16",
/// "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", ... Release it with mfma_model_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mfma_model_from_instruction(
    mnemonic: *const c_char,
    arch: mfma_arch,
    model: *mut *mut mfma_model,
) -> mfma_status {
    guard!({
        // SAFETY: the caller passes a C string or NULL.
        let mnemonic = unsafe { check::text("mnemonic", mnemonic) }?;
        let arch = check::arch(arch)?;
        let place = check::out("model", model)?;
        give(Model::from_instruction(&mnemonic, arch)?, place);
    })
}

/// Formats of a model: of a's elements, of b's, and of c and d.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mfma_model_formats(
    model: *const mfma_model,
    a: *mut mfma_format,
    b: *mut mfma_format,
    d: *mut mfma_format,
) -> mfma_status {
    guard!({
        // SAFETY: a living model or NULL.
        let model = unsafe { get(model) }?;
        let places = [
            check::out("a", a)?,
            check::out("b", b)?,
            check::out("d", d)?,
        ];
        for (place, format) in places
            .into_iter()
            .zip([model.a(), model.b(), model.output()])
        {
            // SAFETY: not NULL, so the caller's variable.
            unsafe { place.write_unaligned(format.info().code) };
        }
    })
}

/// Releases a model. NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mfma_model_free(model: *mut mfma_model) {
    if !model.is_null() {
        // SAFETY: the caller gives back what a function above handed out, once.
        drop(unsafe { Box::from_raw(model) });
    }
}

/// `count` independent dot products of length `k` on raw encodings: case i reads a[i*k] to a[i*k + k-1], b likewise,
/// and c[i], and writes d[i]. c and d have the model's output format.
///
/// One element takes 8 bytes for FP64, 4 for FP32 and TF32 (a binary32 word, truncated inside), 2 for FP16 and BF16, and
/// 1 for 8-bit formats. Nothing is scaled or rounded on the way in. Pointers need not be aligned. d may be c; it must
/// not overlap anything else.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mfma_dot_batch(
    model: *const mfma_model,
    count: i64,
    k: i64,
    a: *const c_void,
    b: *const c_void,
    c: *const c_void,
    d: *mut c_void,
) -> mfma_status {
    // SAFETY: the caller vouches for the model, and for the elements that k and count name.
    if guard::run_in_place(|| unsafe { short_batch(model, count, k, [a, b, c], d) }) {
        return MFMA_OK;
    }
    guard!({
        // SAFETY: a living model or NULL.
        let model = unsafe { get(model) }?;
        let operand = |name, pointer: *const c_void, rows: i64, format: Format| {
            let ld = rows.max(1);
            let matrix = raw::place(name, pointer, format, rows, count)?;
            if matrix.rows > 0 && matrix.cols > 0 && pointer.is_null() {
                return Err(check::null(name));
            }
            // SAFETY: the caller vouches for the elements that k and count name.
            let view = unsafe {
                View::new(
                    pointer.cast_mut().cast(),
                    Storage::Raw,
                    format,
                    ld as isize,
                    1,
                )
            };
            Ok((matrix, view))
        };
        let (a_matrix, a) = operand("a", a, k, model.a())?;
        let (b_matrix, b) = operand("b", b, k, model.b())?;
        let (c_matrix, c) = operand("c", c, 1, model.output())?;
        let (d_matrix, d) = operand("d", d.cast_const(), 1, model.output())?;
        for (name, input) in [("a", a_matrix), ("b", b_matrix), ("c", c_matrix)] {
            let same = name == "c" && input.address == d_matrix.address;
            if !same && gemm::overlap(&input, &d_matrix) {
                return Err(Error::new(
                    ErrorCode::Overlap,
                    format!(
                        "d overlaps {name}; allowed: d apart from a and b, and d apart from c or the same as c"
                    ),
                ));
            }
        }
        gemm::run_dots(&DotBatch {
            model,
            count: a_matrix.cols,
            k: a_matrix.rows,
            a,
            b,
            c,
            d,
        })?;
    })
}

/// Computes a batch that needs neither memory nor threads, if all its arguments are sound. Else it does nothing and says so:
/// the long way will find what is wrong.
///
/// # Safety
/// `model` is NULL or a living one; the caller vouches for the elements.
unsafe fn short_batch(
    model: *const mfma_model,
    count: i64,
    k: i64,
    inputs: [*const c_void; 3],
    d: *mut c_void,
) -> bool {
    // SAFETY: promised by the caller.
    let Some(mfma_model(dots)) = (unsafe { model.as_ref() }) else {
        return false;
    };
    const MOST: i64 = 1 << 16;
    if !(1..MOST).contains(&count) || !(1..MOST).contains(&k) || d.is_null() {
        return false;
    }
    let (count, k, model) = (count as usize, k as usize, dots.model());
    let output = model.output();
    let end = d.addr().saturating_add(count * output.bytes());
    let operand = |pointer: *const c_void, k: usize, format: Format, in_place: bool| {
        let last = pointer.addr().saturating_add(count * k * format.bytes());
        let apart = last <= d.addr() || end <= pointer.addr();
        let sound = !pointer.is_null() && (apart || in_place && pointer.addr() == d.addr());
        // SAFETY: the caller vouches for the elements.
        let view = unsafe {
            let data = pointer.cast_mut().cast();
            View::new(data, Storage::Raw, format, k as isize, 1)
        };
        sound.then_some(view)
    };
    let [a, b, c] = inputs;
    let (Some(a), Some(b), Some(c), Some(d)) = (
        operand(a, k, model.a(), false),
        operand(b, k, model.b(), false),
        operand(c, 1, output, true),
        operand(d.cast_const(), 1, output, true),
    ) else {
        return false;
    };
    dots.run_short(&DotBatch {
        model: *model,
        count,
        k,
        a,
        b,
        c,
        d,
    })
}
