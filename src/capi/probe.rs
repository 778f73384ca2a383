//! What is this unit?

use std::ffi::{c_char, c_void};
use std::ops::RangeInclusive;

use super::capability;
use super::check::{self, refuse};
use super::codes::*;
use super::general::{Callback, mfma_progress};
use super::params::mfma_params;
use super::raw::{self, Room};
use super::sized::{self, Sized, read};
use super::validate::mfma_black_box;
use crate::error::{Error, ErrorCode};
use crate::probe::{Case, Feature, Formats, Options, Probed, Tree, probe_watched, summation_order};

/// Arguments of mfma_probe. Set `size` to sizeof(mfma_probe_args), let mfma_probe_args_default fill the rest, then set the
/// formats and the black box.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mfma_probe_args {
    /// sizeof(mfma_probe_args).
    pub size: usize,
    /// The unit to ask. It is called some hundred times, with vectors of one length in each call; the encodings have the
    /// formats a, b and d. Anything but 0 ends the probe with MFMA_ERR_CANCELLED.
    pub black_box: mfma_black_box,
    /// Handed to `black_box`.
    pub black_box_user: *mut c_void,
    /// Format of a's elements; default MFMA_FMT_FP16.
    pub a: mfma_format,
    /// Format of b's elements; default MFMA_FMT_FP16.
    pub b: mfma_format,
    /// Format of c and of results; default MFMA_FMT_FP32.
    pub d: mfma_format,
    /// 1: all vectors have `k` elements, filled with zeros, for hardware whose instructions have one length; default 0.
    pub fixed: i32,
    /// Longest vector, 4 to 4096; default 64. Blocks of more than half as many products may not be found.
    pub k: i64,
    /// Vectors of a family in each round, 20 to 100000; default 150, which makes 4000 to 6000 questions.
    pub vectors: i64,
    /// Seed of the vectors that are drawn; default 1.
    pub seed: u64,
    /// NULL, or room for `text_size` bytes: the findings as text, which is cut if it does not fit and always ends with NUL.
    /// Some thousand bytes are usual.
    pub text: *mut c_char,
    /// Bytes of `text`; default 0.
    pub text_size: usize,
    /// NULL, or room for the numbers of `units_size` units of the catalogue, see mfma_capability_get.
    pub units: *mut i64,
    /// Numbers that fit into `units`; default 0.
    pub units_size: i64,
    /// NULL, or room for `findings_size` structs of `finding_size` bytes: what the text says, one by one.
    pub findings: *mut mfma_finding,
    /// sizeof(mfma_finding), where there are findings.
    pub finding_size: usize,
    /// Structs that fit into `findings`; default 0. 60 are enough.
    pub findings_size: i64,
    /// NULL, or told several times a second, between questions, how much of the longest search is done. Anything but 0
    /// ends the probe with MFMA_ERR_CANCELLED.
    pub progress: mfma_progress,
    /// Handed to `progress`.
    pub progress_user: *mut c_void,
}

/// One thing that a probe found.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mfma_finding {
    /// MFMA_FINDING_*.
    pub kind: i32,
    /// 0.
    pub reserved: i32,
    /// A feature as mfma_params names it, or what was asked, such as "Inf * 0".
    pub name: [c_char; 56],
    /// The feature's value in words, or what came out.
    pub value: [c_char; 64],
    /// Of an undecided feature: all values that remain.
    pub values: [c_char; 128],
    /// Of an undecided feature: why no vector tells them apart.
    pub reason: [c_char; 256],
}

impl mfma_finding {
    fn new(kind: i32, name: &str, value: &str) -> mfma_finding {
        mfma_finding {
            kind,
            reserved: 0,
            name: raw::fixed(name),
            value: raw::fixed(value),
            values: raw::fixed(""),
            reason: raw::fixed(""),
        }
    }

    /// The unit's features, then what was observed.
    fn all(found: &Probed) -> Vec<mfma_finding> {
        let Formats { output, .. } = found.formats;
        let applies = |feature: &Feature| {
            let inputs = found.formats.inputs();
            feature.applies(&found.params, inputs, output)
        };
        let features = Feature::ALL.into_iter().filter(applies).map(|feature| {
            let value = feature.text(feature.get(&found.params));
            let mut unidentified = found.unidentified.iter();
            match unidentified.find(|entry| entry.feature == feature) {
                None => mfma_finding::new(MFMA_FINDING_FEATURE, feature.name(), &value),
                Some(entry) => mfma_finding {
                    values: raw::fixed(&entry.values()),
                    reason: raw::fixed(&entry.reason),
                    ..mfma_finding::new(MFMA_FINDING_UNDECIDED, feature.name(), &value)
                },
            }
        });
        let facts = found
            .facts
            .iter()
            .map(|fact| mfma_finding::new(MFMA_FINDING_OBSERVED, fact.question, &fact.answer));
        features.chain(facts).collect()
    }
}

// SAFETY: repr(C), size first; integers and nullable pointers.
unsafe impl Sized for mfma_probe_args {
    const FIRST: usize = size_of::<mfma_probe_args>();
}

/// What a probe found. Set `size` to sizeof(mfma_probe_report).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mfma_probe_report {
    /// sizeof(mfma_probe_report).
    pub size: usize,
    /// Dot products that the unit was asked.
    pub asked: i64,
    /// On how many of them the parameters give another result: 0, unless no parameters describe the unit.
    pub mismatches: i64,
    /// Features that no vector decides; the text names them, with the values that remain.
    pub undecided: i64,
    /// Units of the catalogue that give every answer; the first `units_size` are put into `units`.
    pub units: i64,
    /// Bytes that the whole text takes, NUL included.
    pub text_size: usize,
    /// Findings; the first `findings_size` are put into `findings`.
    pub findings: i64,
}

// SAFETY: repr(C), size first; integers only.
unsafe impl Sized for mfma_probe_report {
    const FIRST: usize = size_of::<mfma_probe_report>();
}

const ZERO: mfma_probe_args = mfma_probe_args {
    size: 0,
    black_box: None,
    black_box_user: std::ptr::null_mut(),
    a: 0,
    b: 0,
    d: 0,
    fixed: 0,
    k: 0,
    vectors: 0,
    seed: 0,
    text: std::ptr::null_mut(),
    text_size: 0,
    units: std::ptr::null_mut(),
    units_size: 0,
    findings: std::ptr::null_mut(),
    finding_size: 0,
    findings_size: 0,
    progress: None,
    progress_user: std::ptr::null_mut(),
};

/// Fills `args` with the defaults that its fields name. `args->size` must be set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mfma_probe_args_default(args: *mut mfma_probe_args) -> mfma_status {
    guard!({
        sized::out("args", args)?;
        let options = Options::default();
        let default = mfma_probe_args {
            a: crate::Format::Fp16.info().code,
            b: crate::Format::Fp16.info().code,
            d: crate::Format::Fp32.info().code,
            fixed: options.fixed.into(),
            k: options.k as i64,
            vectors: options.vectors as i64,
            seed: options.seed,
            ..ZERO
        };
        // SAFETY: just accepted.
        unsafe { sized::write(args, default) };
    })
}

/// Cases of a batch by length: a C black box gets one length in each call.
fn by_length(cases: &[Case]) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..cases.len()).collect();
    order.sort_by_key(|&i| cases[i].a.len());
    order
        .chunk_by(|&i, &j| cases[i].a.len() == cases[j].a.len())
        .map(<[usize]>::to_vec)
        .collect()
}

impl mfma_probe_args {
    /// The caller's arguments, which must have a black box, and its formats.
    ///
    /// # Safety
    /// `args` is NULL or points to as many bytes as its size says.
    unsafe fn read(args: *const mfma_probe_args) -> Result<(mfma_probe_args, Formats), Error> {
        // SAFETY: promised by the caller.
        let args = unsafe { read("args", args, ZERO) }?;
        if args.black_box.is_none() {
            return Err(check::null("args->black_box"));
        }
        let formats = args.formats()?;
        Ok((args, formats))
    }

    fn formats(&self) -> Result<Formats, Error> {
        Ok(Formats {
            a: check::format("args->a", self.a)?,
            b: check::format("args->b", self.b)?,
            output: check::format("args->d", self.d)?,
        })
    }

    fn options(&self) -> Result<Options, Error> {
        let within = |field, value: i64, allowed: RangeInclusive<usize>| {
            let number = usize::try_from(value).ok();
            number
                .filter(|number| allowed.contains(number))
                .ok_or_else(|| {
                    let allowed = format!("{} to {}", allowed.start(), allowed.end());
                    refuse(field, value, &allowed)
                })
        };
        Ok(Options {
            k: within("args->k", self.k, Options::K)?,
            fixed: match self.fixed {
                0 => false,
                1 => true,
                _ => return Err(refuse("args->fixed", self.fixed, "0 or 1")),
            },
            vectors: within("args->vectors", self.vectors, Options::VECTORS)?,
            seed: self.seed,
        })
    }

    /// # Safety
    /// The caller of mfma_probe vouches for the black box.
    unsafe fn ask(&self, formats: &Formats, cases: &[Case]) -> Result<Vec<u64>, Error> {
        let Some(black_box) = self.black_box else {
            return Err(check::null("args->black_box"));
        };
        let mut answers = vec![0; cases.len()];
        for group in by_length(cases) {
            let k = cases[group[0]].a.len();
            let elements = |of: fn(&Case) -> &[u64], format| {
                let all: Vec<u64> = group.iter().flat_map(|&i| of(&cases[i])).copied().collect();
                raw::packed(format, all.into_iter())
            };
            let a = elements(|case| &case.a, formats.a);
            let b = elements(|case| &case.b, formats.b);
            let c = elements(|case| std::slice::from_ref(&case.c), formats.output);
            let mut d = vec![0u8; c.len()];
            // SAFETY: the caller vouches for the function; the arrays are as large as it is told.
            let answer = unsafe {
                black_box(
                    group.len() as i64,
                    k as i64,
                    a.as_ptr().cast(),
                    b.as_ptr().cast(),
                    c.as_ptr().cast(),
                    d.as_mut_ptr().cast(),
                    self.black_box_user,
                )
            };
            if answer != 0 {
                return Err(Error::new(
                    ErrorCode::Cancelled,
                    format!("the black box returned {answer}, which ends the probe"),
                ));
            }
            for (&i, bits) in group.iter().zip(raw::unpacked(formats.output, &d)) {
                answers[i] = bits;
            }
        }
        Ok(answers)
    }

    /// Hands the findings to the caller.
    ///
    /// # Safety
    /// The text and the units have the room that their sizes say, and the structs have been accepted.
    unsafe fn give(
        &self,
        found: &Probed,
        offered: &Room<mfma_finding>,
        params: *mut mfma_params,
        report: *mut mfma_probe_report,
    ) {
        let units = capability::numbers(&found.rows, found.formats.inputs());
        let room = self.units_size as usize;
        for (i, &number) in units.iter().take(room).enumerate() {
            // SAFETY: promised by the caller; below units_size.
            unsafe { self.units.add(i).write_unaligned(number) };
        }
        // SAFETY: promised by the caller.
        let text_size = unsafe { raw::write_text(&found.to_string(), self.text, self.text_size) };
        let findings = mfma_finding::all(found);
        let summary = mfma_probe_report {
            size: size_of::<mfma_probe_report>(),
            asked: found.asked as i64,
            mismatches: found.mismatches as i64,
            undecided: found.unidentified.len() as i64,
            units: units.len() as i64,
            text_size,
            findings: findings.len() as i64,
        };
        // SAFETY: all have been accepted; a finding has no padding.
        unsafe {
            offered.write(findings.into_iter());
            sized::write(params, mfma_params::from(&found.params));
            sized::write(report, summary);
        }
    }
}

/// Finds the features of a matrix unit from its answers alone: NaN's encoding and subnormals, the order of additions and
/// where bits are lost. `params` become parameters that give every answer (mfma_model_from_params makes a model of them),
/// or, where report->mismatches is not 0, the nearest that there are. `params->size` and `report->size` must be set.
///
/// It takes seconds on top of what the black box takes, and a stack of 256 KiB.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mfma_probe(
    args: *const mfma_probe_args,
    params: *mut mfma_params,
    report: *mut mfma_probe_report,
) -> mfma_status {
    guard!({
        // SAFETY: the caller's struct, as large as it says.
        let (args, formats) = unsafe { mfma_probe_args::read(args) }?;
        let options = args.options()?;
        raw::text_out("args->text", args.text, args.text_size)?;
        if args.units_size < 0 {
            return Err(refuse("args->units_size", args.units_size, "0 or more"));
        }
        if args.units_size > 0 && args.units.is_null() {
            return Err(check::null("args->units"));
        }
        let room = Room::new(
            [
                "args->findings",
                "args->finding_size",
                "args->findings_size",
            ],
            args.findings,
            args.finding_size,
            args.findings_size,
            size_of::<mfma_finding>(),
        )?;
        sized::out("params", params)?;
        sized::out("report", report)?;
        // Rounds, families and the memory of a vector, more or less; few vectors are long if they need not be.
        let elements = if options.fixed {
            options.k
        } else {
            options.k.min(64)
        };
        if !crate::threads::has_room(60 * options.vectors * (128 + 64 * elements)) {
            return Err(Error::new(
                ErrorCode::OutOfMemory,
                "not enough memory for the vectors; lower args->vectors or args->k",
            ));
        }
        // SAFETY: the caller vouches for the black box.
        let unit = |cases: &[Case]| unsafe { args.ask(&formats, cases) };
        let callback = args.progress.map(|function| Callback {
            function,
            user: args.progress_user,
        });
        let mut tell = move |done| {
            callback
                .as_ref()
                .is_none_or(|callback| callback.goes_on(done))
        };
        let found = probe_watched(formats, &options, unit, &mut tell)?;
        // SAFETY: the caller vouches for the arrays; the structs have been accepted.
        unsafe { args.give(&found, &room, params, report) };
    })
}

/// In which order does a unit add `n` products (2 to 64) and c? For any unit, also one that no parameters describe. Of `args`
/// only the black box and the formats are used; it is asked some n^3 times. The order is a text such as "((c + p1) + p2)": sums of
/// two are in parentheses, sums of several terms in brackets, or in braces where nothing is lost between the terms. It is written
/// as mfma_explain writes its text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mfma_summation_order(
    args: *const mfma_probe_args,
    n: i64,
    buffer: *mut c_char,
    size: usize,
    needed: *mut usize,
) -> mfma_status {
    guard!({
        // SAFETY: the caller's struct, as large as it says.
        let (args, formats) = unsafe { mfma_probe_args::read(args) }?;
        let Some(n) = usize::try_from(n)
            .ok()
            .filter(|n| Tree::PRODUCTS.contains(n))
        else {
            let allowed = format!("{} to {}", Tree::PRODUCTS.start(), Tree::PRODUCTS.end());
            return Err(refuse("n", n, &allowed));
        };
        raw::text_out("buffer", buffer, size)?;
        // SAFETY: the caller vouches for the black box.
        let unit = |cases: &[Case]| unsafe { args.ask(&formats, cases) };
        let text = summation_order(formats, n, unit)?.to_string();
        // SAFETY: the buffer has been accepted, and has `size` bytes; the caller's variable.
        unsafe { raw::give_text(&text, buffer, size, needed) };
    })
}
