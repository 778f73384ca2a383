//! One dot product step by step; why two units differ, and where.

use std::ffi::{c_char, c_void};

use super::check;
use super::codes::{MFMA_NONE, mfma_status};
use super::model::{self, mfma_model};
use super::raw::{self, Room};
use crate::Model;
use crate::error::{Error, ErrorCode};
use crate::explain::{Cause, Record, attribute, explain, separate};
use crate::probe::Case;

/// Longest dot product that is explained.
const LONGEST: usize = crate::validate::MAX_LENGTH;

/// A step of mfma_explain_steps.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mfma_step {
    /// What it is about: "block" (one begins, its value is c), "half" (one of an interleaved block begins), "dropped" (c
    /// is), "product", "special" (something is not finite), "max_exponent" (what terms are aligned to), "aligned", "sum",
    /// "rounded", "block_result", "result".
    pub kind: [c_char; 16],
    /// The quantity: "p3" (the third product), "c", "sum", "odd sum", "even sum", "total", "d".
    pub item: [c_char; 16],
    /// Block, counted from 0.
    pub block: i64,
    /// The exponent involved, of a product or of an alignment; MFMA_NONE if there is none.
    pub exponent: i32,
    /// Weight of the last bit that is kept, as a power of two, where something is aligned or rounded; else MFMA_NONE.
    pub unit: i32,
    /// Value before the step.
    pub before: f64,
    /// Value after it.
    pub after: f64,
    /// What the step lost, before - after.
    pub lost: f64,
    /// Encoding of the result, where there is one.
    pub bits: u64,
    /// Is there one?
    pub has_bits: i32,
    /// 0.
    pub reserved: i32,
    /// The step in words.
    pub text: [c_char; 200],
}

impl From<&Record> for mfma_step {
    fn from(record: &Record) -> mfma_step {
        mfma_step {
            kind: raw::fixed(record.kind.name()),
            item: raw::fixed(&record.item),
            block: record.block as i64,
            exponent: record.exponent.unwrap_or(MFMA_NONE),
            unit: record.unit.unwrap_or(MFMA_NONE),
            before: record.before,
            after: record.after,
            lost: record.lost,
            bits: record.bits.unwrap_or(0),
            has_bits: record.bits.is_some().into(),
            reserved: 0,
            text: raw::fixed(&record.text),
        }
    }
}

/// Features that, given to one unit from the other, give it the other's result: see mfma_attribute.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mfma_cause {
    /// Names of the features as mfma_params has them, with a space between; one where a single one is to blame.
    pub features: [c_char; 400],
    /// On how many cases.
    pub cases: i64,
    /// Number of the first of these, from 0.
    pub first: i64,
}

impl From<&Cause> for mfma_cause {
    fn from(cause: &Cause) -> mfma_cause {
        let names: Vec<&str> = cause
            .features
            .iter()
            .map(|feature| feature.name())
            .collect();
        mfma_cause {
            features: raw::fixed(&names.join(" ")),
            cases: cause.cases as i64,
            first: cause.first as i64,
        }
    }
}

/// The model behind a handle that is called `name`.
///
/// # Safety
/// As for [`model::get`].
unsafe fn named(name: &str, model: *const mfma_model) -> Result<Model, Error> {
    if model.is_null() {
        return Err(check::null(name));
    }
    // SAFETY: promised by the caller.
    unsafe { model::get(model) }
}

/// The length of a dot product that is explained, and memory for so many cases of it.
fn length(count: usize, k: i64) -> Result<usize, Error> {
    let Some(k) = usize::try_from(k).ok().filter(|&k| k <= LONGEST) else {
        return Err(Error::new(
            ErrorCode::InvalidSize,
            format!("k is {k}; allowed: 0 to {LONGEST}"),
        ));
    };
    let bytes = ((k + 2) * 48).checked_mul(count);
    match bytes.and_then(|bytes| bytes.checked_add((k + 1) * BYTES_EACH)) {
        Some(bytes) if crate::threads::has_room(bytes) => Ok(k),
        _ => Err(Error::new(
            ErrorCode::OutOfMemory,
            format!("not enough memory for {count} cases of {k} elements"),
        )),
    }
}

/// Memory that the steps of an element take, more or less.
const BYTES_EACH: usize = 1536;

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
        let k = length(1, k)?;
        raw::text_out("buffer", buffer, size)?;
        // SAFETY: the caller vouches for the elements that k names.
        let case = unsafe { case(&model, k, a, b, c) }?;
        let text = explain(&model, &case)?.to_string();
        // SAFETY: the buffer has been accepted, and has `size` bytes; the caller's variable.
        unsafe { raw::give_text(&text, buffer, size, needed) };
    })
}

/// The same as numbers: `*count` steps, of which the first `room` are put into `steps`, an array of structs of `step_size` =
/// sizeof(mfma_step) bytes. `steps` may be NULL if room is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mfma_explain_steps(
    model: *const mfma_model,
    k: i64,
    a: *const c_void,
    b: *const c_void,
    c: *const c_void,
    room: i64,
    step_size: usize,
    steps: *mut mfma_step,
    count: *mut i64,
) -> mfma_status {
    guard!({
        // SAFETY: a living model or NULL.
        let model = unsafe { model::get(model) }?;
        let k = length(1, k)?;
        let first = size_of::<mfma_step>();
        let room = Room::new(
            ["steps", "step_size", "room"],
            steps,
            step_size,
            room,
            first,
        )?;
        let count = check::out("count", count)?;
        // SAFETY: the caller vouches for the elements that k names.
        let case = unsafe { case(&model, k, a, b, c) }?;
        let explained = explain(&model, &case)?;
        // SAFETY: the caller vouches for the array; a step has no padding.
        unsafe {
            room.write(explained.records.iter().map(mfma_step::from));
            count.write_unaligned(explained.records.len() as i64);
        }
    })
}

/// # Safety
/// The arrays are NULL or have `k` elements of the model's formats, and one.
unsafe fn case(
    model: &Model,
    k: usize,
    a: *const c_void,
    b: *const c_void,
    c: *const c_void,
) -> Result<Case, Error> {
    // SAFETY: promised by the caller.
    unsafe {
        Ok(Case {
            a: raw::load("a", a, model.a(), k)?,
            b: raw::load("b", b, model.b(), k)?,
            c: raw::load("c", c, model.output(), 1)?[0],
        })
    }
}

/// Names the features that make two units of the same formats differ on `count` cases, laid out as mfma_dot_batch takes
/// them: features of `x` are switched to what `y` has, one at a time, then two, then three, until the result of `y` comes out.
///
/// `*differing` is the number of cases on which the units differ, `*found` that of the causes, the most frequent first; a
/// case may have several, each of which suffices alone. The first `room` are put into `causes`, an array of structs of
/// `cause_size` = sizeof(mfma_cause) bytes; it may be NULL if room is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mfma_attribute(
    x: *const mfma_model,
    y: *const mfma_model,
    count: i64,
    k: i64,
    a: *const c_void,
    b: *const c_void,
    c: *const c_void,
    room: i64,
    cause_size: usize,
    causes: *mut mfma_cause,
    found: *mut i64,
    differing: *mut i64,
) -> mfma_status {
    guard!({
        // SAFETY: living models or NULL.
        let (x, y) = unsafe { (named("x", x)?, named("y", y)?) };
        let Ok(cases) = usize::try_from(count) else {
            return Err(Error::new(
                ErrorCode::InvalidSize,
                format!("count is {count}; allowed: 0 or more"),
            ));
        };
        let k = length(cases, k)?;
        let first = size_of::<mfma_cause>();
        let room = Room::new(
            ["causes", "cause_size", "room"],
            causes,
            cause_size,
            room,
            first,
        )?;
        let found = check::out("found", found)?;
        let differing = check::out("differing", differing)?;
        // SAFETY: the caller vouches for the elements that count and k name.
        let (a, b, c) = unsafe {
            (
                raw::load("a", a, x.a(), cases * k)?,
                raw::load("b", b, x.b(), cases * k)?,
                raw::load("c", c, x.output(), cases)?,
            )
        };
        let cases: Vec<Case> = c
            .iter()
            .enumerate()
            .map(|(i, &c)| Case {
                a: a[i * k..][..k].to_vec(),
                b: b[i * k..][..k].to_vec(),
                c,
            })
            .collect();
        let attribution = attribute(&x, &y, &cases)?;
        // SAFETY: the caller vouches for the array, the variables are not NULL; a cause has no padding.
        unsafe {
            room.write(attribution.causes.iter().map(mfma_cause::from));
            found.write_unaligned(attribution.causes.len() as i64);
            differing.write_unaligned(attribution.differing as i64);
        }
    })
}

/// Searches for a short dot product on which two units of the same formats differ: several ten thousand vectors that are
/// directed at what their features do. `*k` becomes its length, or -1 if none was found, as when the units are the same.
/// Where that is no more than `room`, a, b (room for `room` elements each) and c (one) become its encodings; mfma_dot_batch
/// gives the results. With room = 0 they may be NULL. One seed always gives the same answer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mfma_separate(
    x: *const mfma_model,
    y: *const mfma_model,
    seed: u64,
    room: i64,
    a: *mut c_void,
    b: *mut c_void,
    c: *mut c_void,
    k: *mut i64,
) -> mfma_status {
    guard!({
        // SAFETY: living models or NULL.
        let (x, y) = unsafe { (named("x", x)?, named("y", y)?) };
        let Ok(room) = usize::try_from(room) else {
            return Err(Error::new(
                ErrorCode::InvalidArgument,
                format!("room is {room}; allowed: 0 or more"),
            ));
        };
        for (name, array) in [("a", a), ("b", b), ("c", c)] {
            if room > 0 && array.is_null() {
                return Err(check::null(name));
            }
        }
        let place = check::out("k", k)?;
        length(1, SEARCHED)?;
        let mut length = -1;
        if let Some(found) = separate(&x, &y, seed)? {
            let case = found.case;
            length = case.a.len() as i64;
            if room > 0 && case.a.len() <= room {
                // SAFETY: the caller vouches for `room` elements.
                unsafe {
                    raw::store(a, x.a(), case.a.into_iter());
                    raw::store(b, x.b(), case.b.into_iter());
                    raw::store(c, x.output(), std::iter::once(case.c));
                }
            }
        }
        // SAFETY: not NULL, so the caller's variable.
        unsafe { place.write_unaligned(length) };
    })
}

/// Stands for the memory that a search takes: vectors of a family, all at once.
const SEARCHED: i64 = 16384;
