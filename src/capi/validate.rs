//! Random validation: cases, campaigns, dumps.

use std::ffi::{CStr, c_char, c_void};
use std::path::Path;
use std::sync::LazyLock;

use super::check::{self, refuse};
use super::codes::mfma_status;
use super::general::{Callback, mfma_progress};
use super::model::{self, mfma_model};
use super::raw::{self, packed, store};
use super::sized::{self, Sized, read};
use crate::Model;
use crate::error::{Error, ErrorCode};
use crate::format::Format;
use crate::threads::MAX_THREADS;
use crate::validate::dump::{DumpCheck, check_dump};
use crate::validate::{
    Campaign, Cases, Generator, MAX_LENGTH, Report, SAMPLERS, Sampler, Sampling, Shape, Subject,
    default_length,
};

/// A unit to ask or to compare with: hardware, another program. It computes `count` dot products of length `k` as
/// mfma_dot_batch does, case i from a[i*k], b[i*k] and c[i] to d[i], on encodings of the formats that were named. It is
/// called on the thread that called the library, in the default floating-point environment (rounding to nearest, nothing
/// flushed or trapped); it may call the library. Anything but 0 ends the campaign or probe. It must return: no longjmp, no
/// exception.
pub type mfma_black_box = Option<
    unsafe extern "C" fn(
        count: i64,
        k: i64,
        a: *const c_void,
        b: *const c_void,
        c: *const c_void,
        d: *mut c_void,
        user: *mut c_void,
    ) -> i32,
>;

/// Arguments of mfma_validate. Set `size` to sizeof(mfma_validate_args), let mfma_validate_args_default fill the rest, then
/// set the model, `count`, and what it is compared with.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mfma_validate_args {
    /// sizeof(mfma_validate_args).
    pub size: usize,
    /// The unit that is expected.
    pub model: *const mfma_model,
    /// Not NULL: a model of the same formats to compare with.
    pub other: *const mfma_model,
    /// Not NULL: a unit to compare with. Where neither is given, the model's fast kernels are compared with the paper's
    /// algorithms step by step.
    pub black_box: mfma_black_box,
    /// Handed to `black_box`.
    pub black_box_user: *mut c_void,
    /// How inputs are drawn, see mfma_sampler_name; NULL (default): "all".
    pub sampler: *const c_char,
    /// Seed; default 0, which is MATLAB's rng(0) in the paper's samplers.
    pub seed: u64,
    /// Number of the first case; default 0. Any split of a campaign has the same cases.
    pub first: i64,
    /// Number of cases.
    pub count: i64,
    /// Length of the dot products, 0 to 65536; -1 (default): as mfma_sample_length says.
    pub k: i64,
    /// End after so many mismatches; 0 (default): never.
    pub stop_after: i64,
    /// Mismatches that fit into the three arrays that follow; default 0.
    pub keep: i64,
    /// NULL, or room for `keep` numbers of cases; mfma_sample gives a case's inputs.
    pub indices: *mut i64,
    /// NULL, or room for `keep` results of the model, in its output format.
    pub expected: *mut c_void,
    /// NULL, or room for `keep` results of the other side.
    pub got: *mut c_void,
    /// The bound holds with probability 1 - epsilon; default 1e-6.
    pub epsilon: f64,
    /// 1: draw all cases of the paper's samplers from one generator, exactly its Algorithm 3; default 0.
    pub one_stream: i32,
    /// 1: any two NaNs are equal; default 0: results are equal when their bits are.
    pub any_nan: i32,
    /// 1: take c as 0 whatever a dump has (mfma_compare_dump); default 0.
    pub ignore_c: i32,
    /// Most threads to use; 0 (default): as mfma_set_num_threads says.
    pub threads: i32,
    /// Not NULL: watches the campaign, and may cancel it; the report then covers what was done.
    pub progress: mfma_progress,
    /// Handed to `progress`.
    pub progress_user: *mut c_void,
}

// SAFETY: repr(C), size first; integers, floating-point numbers and nullable pointers.
unsafe impl Sized for mfma_validate_args {
    const FIRST: usize = size_of::<mfma_validate_args>();
}

/// What a campaign found. Set `size` to sizeof(mfma_validate_report).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mfma_validate_report {
    /// sizeof(mfma_validate_report).
    pub size: usize,
    /// Cases that were compared.
    pub cases: i64,
    /// Cases on which the sides differ.
    pub mismatches: i64,
    /// Mismatches that were put into the arrays, in order of their numbers.
    pub kept: i64,
    /// Number of the case after the last: where to go on.
    pub next: i64,
    /// A random case is a mismatch with at most this probability, with probability 1 - epsilon (paper, section 5.4). It is
    /// 1 where the campaign ended at a certain number of mismatches.
    pub bound: f64,
}

// SAFETY: repr(C), size first; numbers only.
unsafe impl Sized for mfma_validate_report {
    const FIRST: usize = size_of::<mfma_validate_report>();
}

const ZERO: mfma_validate_args = mfma_validate_args {
    size: 0,
    model: std::ptr::null(),
    other: std::ptr::null(),
    black_box: None,
    black_box_user: std::ptr::null_mut(),
    sampler: std::ptr::null(),
    seed: 0,
    first: 0,
    count: 0,
    k: 0,
    stop_after: 0,
    keep: 0,
    indices: std::ptr::null_mut(),
    expected: std::ptr::null_mut(),
    got: std::ptr::null_mut(),
    epsilon: 0.0,
    one_stream: 0,
    any_nan: 0,
    ignore_c: 0,
    threads: 0,
    progress: None,
    progress_user: std::ptr::null_mut(),
};

const DEFAULT: mfma_validate_args = mfma_validate_args {
    k: -1,
    epsilon: 1e-6,
    ..ZERO
};

/// Fills `args` with the defaults that its fields name. `args->size` must be set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mfma_validate_args_default(args: *mut mfma_validate_args) -> mfma_status {
    guard!({
        sized::out("args", args)?;
        // SAFETY: just accepted.
        unsafe { sized::write(args, DEFAULT) };
    })
}

fn natural(field: &str, value: i64) -> Result<u64, Error> {
    u64::try_from(value).map_err(|_| refuse(field, value, "0 or more"))
}

fn flag(field: &str, value: i32) -> Result<bool, Error> {
    match value {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(refuse(field, value, "0 or 1")),
    }
}

/// # Safety
/// `name` is NULL or a C string.
unsafe fn sampler(name: *const c_char) -> Result<Sampler, Error> {
    if name.is_null() {
        return Ok(Sampler::All);
    }
    // SAFETY: promised by the caller.
    Sampler::from_name(&unsafe { check::text("sampler", name) }?)
}

fn length(field: &str, k: i64, model: &Model) -> Result<usize, Error> {
    match k {
        -1 => Ok(default_length(model)),
        _ => usize::try_from(k)
            .ok()
            .filter(|&k| k <= MAX_LENGTH)
            .ok_or_else(|| refuse(field, k, &format!("0 to {MAX_LENGTH}, or -1"))),
    }
}

impl mfma_validate_args {
    /// # Safety
    /// The caller of mfma_validate vouches for the black box.
    unsafe fn call_black_box(
        &self,
        model: &Model,
        cases: &Cases,
        d: &mut [u64],
    ) -> Result<(), Error> {
        let Some(black_box) = self.black_box else {
            return Ok(());
        };
        let all = |of: fn(&Cases, usize) -> &[u64], format: Format| {
            let elements: Vec<u64> = (0..cases.len())
                .flat_map(|i| of(cases, i))
                .copied()
                .collect();
            packed(format, elements.into_iter())
        };
        let a = all(Cases::a, model.a());
        let b = all(Cases::b, model.b());
        let c: Vec<u64> = (0..cases.len()).map(|i| cases.c(i)).collect();
        let c = packed(model.output(), c.into_iter());
        let bytes = model.output().bytes();
        let mut results = vec![0u8; bytes * cases.len()];
        // SAFETY: the caller vouches for the function; the arrays are as large as it is told.
        let answer = unsafe {
            black_box(
                cases.len() as i64,
                cases.k() as i64,
                a.as_ptr().cast(),
                b.as_ptr().cast(),
                c.as_ptr().cast(),
                results.as_mut_ptr().cast(),
                self.black_box_user,
            )
        };
        if answer != 0 {
            return Err(Error::new(
                ErrorCode::Cancelled,
                format!("the black box returned {answer}, which ends the campaign"),
            ));
        }
        for (d, bits) in d.iter_mut().zip(raw::unpacked(model.output(), &results)) {
            *d = bits;
        }
        Ok(())
    }

    fn threads(&self) -> Result<usize, Error> {
        usize::try_from(self.threads)
            .ok()
            .filter(|&threads| threads <= MAX_THREADS)
            .ok_or_else(|| {
                refuse(
                    "args->threads",
                    self.threads,
                    &format!("0 to {MAX_THREADS}"),
                )
            })
    }

    /// Hands a report to the caller.
    ///
    /// # Safety
    /// The arrays have room for `keep` elements, and `place` has been accepted.
    unsafe fn give(&self, model: &Model, report: &Report, place: *mut mfma_validate_report) {
        let first = &report.first;
        if !self.indices.is_null() {
            for (i, mismatch) in first.iter().enumerate() {
                // SAFETY: promised by the caller; no more than `keep` are in the report.
                unsafe { self.indices.add(i).write_unaligned(mismatch.index as i64) };
            }
        }
        for (array, expected) in [(self.expected, true), (self.got, false)] {
            if !array.is_null() {
                let results = first
                    .iter()
                    .map(|m| if expected { m.expected } else { m.got });
                // SAFETY: as above.
                unsafe { store(array, model.output(), results) };
            }
        }
        let report = mfma_validate_report {
            size: size_of::<mfma_validate_report>(),
            cases: report.cases as i64,
            mismatches: report.mismatches as i64,
            kept: first.len() as i64,
            next: report.next as i64,
            bound: report.bound.unwrap_or(1.0),
        };
        // SAFETY: promised by the caller.
        unsafe { sized::write(place, report) };
    }
}

fn cancelled(report: &Report) -> Result<(), Error> {
    if report.cancelled {
        return Err(Error::new(
            ErrorCode::Cancelled,
            format!("the campaign was cancelled after {} cases", report.cases),
        ));
    }
    Ok(())
}

/// Compares a unit with another one, with a black box, or its fast kernels with the paper's algorithms, on random cases.
/// `report->size` must be set. After MFMA_ERR_CANCELLED by `progress`, the report covers the cases up to then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mfma_validate(
    args: *const mfma_validate_args,
    report: *mut mfma_validate_report,
) -> mfma_status {
    guard!({
        // SAFETY: the caller's struct, as large as it says.
        let args = unsafe { read("args", args, ZERO) }?;
        // SAFETY: living models or NULL, a C string or NULL.
        let (model, sampler) = unsafe { (model::get(args.model)?, sampler(args.sampler)?) };
        // SAFETY: as above.
        let other = match args.other.is_null() {
            true => None,
            false => Some(unsafe { model::get(args.other) }?),
        };
        if other.is_some() && args.black_box.is_some() {
            return Err(refuse(
                "args->black_box",
                "set, and so is other",
                "one of them",
            ));
        }
        sized::out("report", report)?;
        let keep = natural("args->keep", args.keep)?;
        let stop_after = natural("args->stop_after", args.stop_after)?;
        let mut campaign = Campaign::new(&model, natural("args->count", args.count)?)
            .sampling(Sampling {
                sampler,
                seed: args.seed,
                one_stream: flag("args->one_stream", args.one_stream)?,
            })
            .first(natural("args->first", args.first)?)
            .length(length("args->k", args.k, &model)?)
            .keep(keep as usize)
            .any_nan(flag("args->any_nan", args.any_nan)?)
            .epsilon(args.epsilon)
            .threads(args.threads()?);
        if stop_after > 0 {
            campaign = campaign.stop_after(stop_after);
        }
        let callback = args.progress.map(|function| Callback {
            function,
            user: args.progress_user,
        });
        let mut tell = move |done| {
            callback
                .as_ref()
                .is_none_or(|callback| callback.goes_on(done))
        };
        if args.progress.is_some() {
            campaign = campaign.progress(&mut tell);
        }
        // SAFETY: the caller vouches for the black box.
        let mut call =
            |cases: &Cases, d: &mut [u64]| unsafe { args.call_black_box(&model, cases, d) };
        let subject = match &other {
            Some(other) => Subject::Model(other),
            None if args.black_box.is_some() => Subject::BlackBox(&mut call),
            None => Subject::Reference(&model),
        };
        let found = campaign.run(subject)?;
        // SAFETY: the caller vouches for the arrays; the report has been accepted.
        unsafe { args.give(&model, &found, report) };
        cancelled(&found)?;
    })
}

/// Compares a dump of inputs and results (a file of test vectors, a binary dump, or a folder as MATLAB Tensor Core has them;
/// `path` is UTF-8) with `args->model`. Of `args` it also uses keep and the three arrays (cases count from 0), any_nan,
/// ignore_c, epsilon and progress.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mfma_compare_dump(
    args: *const mfma_validate_args,
    path: *const c_char,
    report: *mut mfma_validate_report,
) -> mfma_status {
    guard!({
        // SAFETY: the caller's struct, as large as it says.
        let args = unsafe { read("args", args, ZERO) }?;
        // SAFETY: a living model or NULL, a C string or NULL.
        let (model, path) = unsafe { (model::get(args.model)?, check::text("path", path)?) };
        sized::out("report", report)?;
        let options = DumpCheck {
            ignore_c: flag("args->ignore_c", args.ignore_c)?,
            any_nan: flag("args->any_nan", args.any_nan)?,
            keep: natural("args->keep", args.keep)? as usize,
            epsilon: args.epsilon,
        };
        let callback = args.progress.map(|function| Callback {
            function,
            user: args.progress_user,
        });
        let mut tell = move |done| {
            callback
                .as_ref()
                .is_none_or(|callback| callback.goes_on(done))
        };
        let found = check_dump(Path::new(path.as_ref()), &[model], options, Some(&mut tell))?;
        if let Some(found) = found.first() {
            // SAFETY: the caller vouches for the arrays; the report has been accepted.
            unsafe { args.give(&model, found, report) };
            cancelled(found)?;
        }
    })
}

/// Elements that are made at a time, more or less.
const AT_ONCE: u64 = 1 << 17;

/// Inputs of cases `first` to `first + count - 1` of a campaign, laid out as mfma_dot_batch takes them. `sampler` may be NULL,
/// which means "all"; `k`, at most 65536, may be -1, which means what mfma_sample_length says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mfma_sample(
    model: *const mfma_model,
    sampler: *const c_char,
    seed: u64,
    first: i64,
    count: i64,
    k: i64,
    a: *mut c_void,
    b: *mut c_void,
    c: *mut c_void,
) -> mfma_status {
    guard!({
        // SAFETY: a living model or NULL, a C string or NULL.
        let (model, sampler) = unsafe { (model::get(model)?, self::sampler(sampler)?) };
        let k = length("k", k, &model)?;
        let first = natural("first", first)?;
        let count = natural("count", count)?;
        if first
            .checked_add(count)
            .is_none_or(|end| end > i64::MAX as u64)
        {
            return Err(refuse("first + count", "too large", "below 2^63"));
        }
        for (name, pointer, elements, format) in [
            ("a", a, k, model.a()),
            ("b", b, k, model.b()),
            ("c", c, 1, model.output()),
        ] {
            if count > 0 && elements > 0 && pointer.is_null() {
                return Err(check::null(name));
            }
            raw::place(name, pointer, format, elements as i64, count as i64)?;
        }
        let sampling = Sampling {
            sampler,
            seed,
            one_stream: false,
        };
        let mut generator = Generator::new(sampling, Shape::of(&model, k));
        let mut cases = Cases::new(k);
        let mut done = 0;
        while done < count {
            let now = (count - done).min(AT_ONCE / (k as u64 + 1) + 1);
            generator.fill(first + done, now as usize, &mut cases);
            let at = done as usize;
            for i in 0..cases.len() {
                let place = |start: *mut c_void, format: Format, elements: usize| {
                    start.wrapping_byte_add((at + i) * elements * format.bytes())
                };
                // SAFETY: the caller vouches for count * k elements of a and b and count of c.
                unsafe {
                    store(
                        place(a, model.a(), k),
                        model.a(),
                        cases.a(i).iter().copied(),
                    );
                    store(
                        place(b, model.b(), k),
                        model.b(),
                        cases.b(i).iter().copied(),
                    );
                    let output = model.output();
                    store(place(c, output, 1), output, std::iter::once(cases.c(i)));
                }
            }
            done += now;
        }
    })
}

/// The length at which the paper tests a unit: the longest of its instructions' (16 for CDNA 3's 8-bit inputs).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mfma_sample_length(model: *const mfma_model, k: *mut i64) -> mfma_status {
    guard!({
        // SAFETY: a living model or NULL.
        let model = unsafe { model::get(model) }?;
        let place = check::out("k", k)?;
        // SAFETY: not NULL, so the caller's variable.
        unsafe { place.write_unaligned(default_length(&model) as i64) };
    })
}

/// Name of sampler `index`, 0, 1, ...; NULL behind the last. Static text.
#[unsafe(no_mangle)]
pub extern "C" fn mfma_sampler_name(index: i32) -> *const c_char {
    static NAMES: LazyLock<Vec<std::ffi::CString>> = LazyLock::new(|| {
        let text = |row: &(&str, Sampler)| std::ffi::CString::new(row.0).unwrap_or_default();
        SAMPLERS.iter().map(text).collect()
    });
    let name = usize::try_from(index).ok().and_then(|i| NAMES.get(i));
    name.map_or(std::ptr::null(), |name| CStr::as_ptr(name))
}

/// The bound of the paper's section 5.4: after `cases` random cases with `mismatches` mismatches among them, the probability
/// of a mismatch is at most `bound` with probability 1 - epsilon. 1 without cases.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mfma_mismatch_bound(
    cases: i64,
    mismatches: i64,
    epsilon: f64,
    bound: *mut f64,
) -> mfma_status {
    guard!({
        let all = natural("cases", cases)?;
        let wrong = natural("mismatches", mismatches)?;
        if wrong > all {
            return Err(refuse("mismatches", mismatches, "0 to cases"));
        }
        if !(epsilon > 0.0 && epsilon < 1.0) {
            return Err(refuse("epsilon", epsilon, "between 0 and 1"));
        }
        let place = check::out("bound", bound)?;
        let found = crate::validate::mismatch_bound(all, wrong, epsilon);
        // SAFETY: not NULL, so the caller's variable.
        unsafe { place.write_unaligned(found) };
    })
}
