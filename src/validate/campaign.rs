//! Campaigns: many random cases through a model and through something else, compared bit for bit.

use std::sync::Mutex;

use super::bound::mismatch_bound;
use super::sample::{BLOCK, Cases, Generator, MAX_LENGTH, Sampling, Shape, default_length};
use crate::error::{Error, ErrorCode};
use crate::format::{Class, Decoded, Format, decode};
use crate::gemm::{Control, Progress, dot_batch_bytes};
use crate::model::Model;
use crate::reference::{Operand, dot};
use crate::threads::Workers;

/// Computes the results of all cases into the slice, as encodings of the output format. What it returns as an error
/// ends the campaign.
pub type BlackBox<'a> = dyn FnMut(&Cases, &mut [u64]) -> Result<(), Error> + 'a;

/// What a model is compared with.
pub enum Subject<'a> {
    /// A model, by the fast kernels.
    Model(&'a Model),
    /// A model, by the reference: the paper's algorithms step by step.
    Reference(&'a Model),
    /// Anything else: hardware, another program. It is called on the thread that runs the campaign, with some thousand
    /// cases at a time.
    BlackBox(&'a mut BlackBox<'a>),
}

/// Blocks of cases between two looks at the results.
const BLOCKS_A_ROUND: u64 = 32;
/// The same where a black box takes them all at once.
const BLOCKS_A_CALL: u64 = 4;

/// A random comparison of a model with something else. [`Campaign::run`] starts it.
///
/// ```
/// use mfma::validate::{Campaign, Cases, Subject};
/// use mfma::{Arch, Format, Model};
///
/// let unit = |arch| Model::new(arch, Format::Fp16, Format::Fp16, Format::Fp32);
/// let (mi300x, mi100) = (unit(Arch::Cdna3)?, unit(Arch::Cdna1)?);
/// let report = Campaign::new(&mi300x, 20_000).run(Subject::Model(&mi100))?;
/// assert!(report.mismatches > 0 && report.first[0].expected != report.first[0].got);
///
/// // Anything that computes dot products: here one that forgets c.
/// let mut box_ = |cases: &Cases, d: &mut [u64]| {
///     for (i, d) in d.iter_mut().enumerate() {
///         *d = mfma::reference::dot_raw(mi100.unit(), cases.a(i), cases.b(i), 0);
///     }
///     Ok(())
/// };
/// let report = Campaign::new(&mi100, 1000).run(Subject::BlackBox(&mut box_))?;
/// assert!(report.mismatches > 500);
/// # Ok::<(), mfma::Error>(())
/// ```
pub struct Campaign<'a> {
    model: Model,
    sampling: Sampling,
    k: usize,
    first: u64,
    count: u64,
    keep: usize,
    stop_after: Option<u64>,
    any_nan: bool,
    epsilon: f64,
    threads: usize,
    progress: Option<&'a mut Progress<'a>>,
}

/// A case on which the two sides differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Number of the case.
    pub index: u64,
    /// First vector.
    pub a: Vec<u64>,
    /// Second vector.
    pub b: Vec<u64>,
    /// Addend.
    pub c: u64,
    /// What the campaign's model gives.
    pub expected: u64,
    /// What the other side gives.
    pub got: u64,
}

/// What a campaign found.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Cases that were compared.
    pub cases: u64,
    /// Cases on which the sides differ.
    pub mismatches: u64,
    /// The first of them, in order of their numbers.
    pub first: Vec<Mismatch>,
    /// With probability 1 - epsilon, a case of this sampler is a mismatch with at most this probability (paper, 5.4);
    /// `None` where the campaign ended at a certain number of mismatches, for then it is no sample.
    pub bound: Option<f64>,
    /// What the bound may fail by.
    pub epsilon: f64,
    /// Number of the case after the last: where to go on.
    pub next: u64,
    /// Was it cancelled by the progress callback?
    pub cancelled: bool,
}

impl<'a> Campaign<'a> {
    /// `count` cases of all samplers, of the length at which the paper tests the unit.
    pub fn new(model: &Model, count: u64) -> Campaign<'a> {
        Campaign {
            model: *model,
            sampling: Sampling::default(),
            k: default_length(model),
            first: 0,
            count,
            keep: 10,
            stop_after: None,
            any_nan: false,
            epsilon: 1e-6,
            threads: 0,
            progress: None,
        }
    }

    /// How inputs are drawn.
    pub fn sampling(self, sampling: Sampling) -> Self {
        Campaign { sampling, ..self }
    }

    /// Length of the dot products.
    pub fn length(self, k: usize) -> Self {
        Campaign { k, ..self }
    }

    /// Number of the first case; default 0.
    pub fn first(self, first: u64) -> Self {
        Campaign { first, ..self }
    }

    /// Most mismatches that the report shows; default 10.
    pub fn keep(self, keep: usize) -> Self {
        Campaign { keep, ..self }
    }

    /// Ends after that many mismatches.
    pub fn stop_after(self, mismatches: u64) -> Self {
        Campaign {
            stop_after: Some(mismatches.max(1)),
            ..self
        }
    }

    /// Does any NaN equal any other? Default: results are equal when their bits are.
    pub fn any_nan(self, any_nan: bool) -> Self {
        Campaign { any_nan, ..self }
    }

    /// For the bound: it holds with probability 1 - `epsilon`; default 10^-6.
    pub fn epsilon(self, epsilon: f64) -> Self {
        Campaign { epsilon, ..self }
    }

    /// At most so many threads; 0, the default: as many as the library uses.
    pub fn threads(self, threads: usize) -> Self {
        Campaign { threads, ..self }
    }

    /// Calls `progress` now and then, on this thread, with the part of the cases that is done; false cancels the rest.
    pub fn progress(self, progress: &'a mut Progress<'a>) -> Self {
        Campaign {
            progress: Some(progress),
            ..self
        }
    }

    /// Compares. Fails when the other side's formats are not the model's, when a number is out of range, or as the
    /// black box fails.
    pub fn run(self, mut subject: Subject) -> Result<Report, Error> {
        self.check(&subject)?;
        let shape = Shape::of(&self.model, self.k);
        let generator = Generator::new(self.sampling, shape);
        let mut control = Control::new(Workers::new(self.threads), self.count);
        if let Some(progress) = self.progress {
            control = control.watched(progress);
        }
        let round = Round {
            model: self.model,
            any_nan: self.any_nan,
            show: self.keep.max(self.stop_after.unwrap_or(0) as usize),
        };
        let blocks = match subject {
            Subject::BlackBox(_) => BLOCKS_A_CALL,
            _ => BLOCKS_A_ROUND,
        };
        let end = self.first + self.count;
        let mut report = Report {
            cases: 0,
            mismatches: 0,
            first: Vec::new(),
            bound: None,
            epsilon: self.epsilon,
            next: self.first,
            cancelled: false,
        };
        // A single stream is drawn here, in order.
        let mut serial = generator.clone();
        while report.next < end && !control.cancelled() {
            let first = report.next;
            // Rounds end where blocks do, so that no generator's beginning is drawn twice.
            let last = end.min((first / BLOCK + blocks) * BLOCK);
            let mut parts: Vec<Part> = Part::split(first, last);
            if generator.is_serial() {
                for part in &mut parts {
                    serial.fill(part.first, part.count, &mut part.cases);
                }
            }
            let found = round.run(&mut parts, &mut subject, &generator, &control)?;
            report.add(found, last, round.show);
            if self
                .stop_after
                .is_some_and(|stop| report.mismatches >= stop)
            {
                break;
            }
        }
        report.cancelled = control.cancelled();
        let stopped = match self.stop_after {
            Some(stop) if report.mismatches >= stop => {
                // What follows the last mismatch that was asked for does not count.
                report.first.truncate(stop as usize);
                report.mismatches = stop;
                report.next = report
                    .first
                    .last()
                    .map_or(report.next, |last| last.index + 1);
                true
            }
            _ => false,
        };
        report.first.truncate(self.keep);
        report.cases = report.next - self.first;
        if !stopped {
            report.bound = Some(mismatch_bound(
                report.cases,
                report.mismatches,
                self.epsilon,
            ));
        }
        Ok(report)
    }

    fn check(&self, subject: &Subject) -> Result<(), Error> {
        let refuse = |message| Err(Error::new(ErrorCode::InvalidArgument, message));
        if !(self.epsilon > 0.0 && self.epsilon < 1.0) {
            return refuse(format!(
                "epsilon is {}; allowed: between 0 and 1",
                self.epsilon
            ));
        }
        if self
            .first
            .checked_add(self.count)
            .is_none_or(|end| end > i64::MAX as u64)
        {
            return refuse(format!(
                "first is {} and count {}; allowed: together below 2^63",
                self.first, self.count
            ));
        }
        if self.k > MAX_LENGTH {
            return refuse(format!("k is {}; allowed: 0 to {MAX_LENGTH}", self.k));
        }
        if self.stop_after.is_some_and(|stop| stop > MOST_SHOWN) || self.keep as u64 > MOST_SHOWN {
            return refuse(format!(
                "more than {MOST_SHOWN} mismatches to keep or to stop after"
            ));
        }
        if let Subject::Model(other) | Subject::Reference(other) = subject {
            let formats = |model: &Model| [model.a(), model.b(), model.output()];
            if formats(other) != formats(&self.model) {
                let [a, b, d] = formats(other);
                let [x, y, z] = formats(&self.model);
                return refuse(format!(
                    "the other model has formats {a} x {b} -> {d}; allowed: the model's, {x} x {y} -> {z}"
                ));
            }
        }
        Ok(())
    }
}

/// Most mismatches that are kept.
const MOST_SHOWN: u64 = 1 << 20;

impl Report {
    /// Joins the report of another part of the same campaign, the bound included.
    pub fn join(&mut self, other: Report) {
        self.cases += other.cases;
        self.mismatches += other.mismatches;
        self.first.extend(other.first);
        self.first.sort_by_key(|mismatch| mismatch.index);
        self.next = self.next.max(other.next);
        self.cancelled |= other.cancelled;
        let both = self.bound.is_some() && other.bound.is_some();
        self.bound = both.then(|| mismatch_bound(self.cases, self.mismatches, self.epsilon));
    }

    fn add(&mut self, found: Found, next: u64, show: usize) {
        self.next = next;
        self.mismatches += found.count;
        let room = show.saturating_sub(self.first.len());
        self.first.extend(found.shown.into_iter().take(room));
    }
}

/// Cases of one block, and what the sides make of them.
struct Part {
    first: u64,
    count: usize,
    cases: Cases,
    expected: Vec<u64>,
    got: Vec<u64>,
    found: Found,
}

#[derive(Default)]
struct Found {
    count: u64,
    shown: Vec<Mismatch>,
}

impl Part {
    fn split(first: u64, last: u64) -> Vec<Part> {
        let mut parts = Vec::new();
        let mut next = first;
        while next < last {
            let end = last.min((next / BLOCK + 1) * BLOCK);
            parts.push(Part {
                first: next,
                count: (end - next) as usize,
                cases: Cases::default(),
                expected: Vec::new(),
                got: Vec::new(),
                found: Found::default(),
            });
            next = end;
        }
        parts
    }
}

struct Round {
    model: Model,
    any_nan: bool,
    show: usize,
}

impl Round {
    fn run(
        &self,
        parts: &mut [Part],
        subject: &mut Subject,
        generator: &Generator,
        control: &Control,
    ) -> Result<Found, Error> {
        let failure: Mutex<Option<Error>> = Mutex::new(None);
        let slots: Vec<Mutex<&mut Part>> = parts.iter_mut().map(Mutex::new).collect();
        {
            let other: Option<(&Model, bool)> = match subject {
                Subject::Model(model) => Some((model, false)),
                Subject::Reference(model) => Some((model, true)),
                Subject::BlackBox(_) => None,
            };
            control.for_each(slots.len(), |i| {
                let mut guard = slots[i]
                    .lock()
                    .unwrap_or_else(|poisoned| poisoned.into_inner());
                let part = &mut **guard;
                if !generator.is_serial() {
                    let mut generator = generator.clone();
                    generator.fill(part.first, part.count, &mut part.cases);
                }
                let computed = compute(&self.model, &part.cases, &mut part.expected).and_then(
                    |()| match other {
                        Some((model, true)) => {
                            by_reference(model, &part.cases, &mut part.got);
                            Ok(())
                        }
                        Some((model, false)) => compute(model, &part.cases, &mut part.got),
                        None => Ok(()),
                    },
                );
                match computed {
                    Ok(()) if other.is_some() => self.compare(part),
                    Ok(()) => {}
                    Err(error) => {
                        let mut failure = failure.lock().unwrap_or_else(|p| p.into_inner());
                        failure.get_or_insert(error);
                    }
                }
                control.add(part.count as u64);
            });
        }
        drop(slots);
        if let Some(error) = failure.into_inner().unwrap_or_else(|p| p.into_inner()) {
            return Err(error);
        }
        if let Subject::BlackBox(call) = subject {
            for part in parts.iter_mut() {
                part.got.clear();
                part.got.resize(part.count, 0);
                call(&part.cases, &mut part.got)?;
                self.compare(part);
            }
        }
        let mut found = Found::default();
        for part in parts {
            found.count += part.found.count;
            found.shown.append(&mut part.found.shown);
        }
        Ok(found)
    }

    fn compare(&self, part: &mut Part) {
        let output = self.model.output();
        for (i, (&expected, &got)) in part.expected.iter().zip(&part.got).enumerate() {
            if expected == got || self.any_nan && both_nan(output, expected, got) {
                continue;
            }
            part.found.count += 1;
            if part.found.shown.len() < self.show {
                part.found.shown.push(Mismatch {
                    index: part.first + i as u64,
                    a: part.cases.a(i).to_vec(),
                    b: part.cases.b(i).to_vec(),
                    c: part.cases.c(i),
                    expected,
                    got,
                });
            }
        }
    }
}

fn both_nan(format: Format, x: u64, y: u64) -> bool {
    let nan = |bits| decode(format, bits).class == Class::Nan;
    nan(x) && nan(y)
}

/// All cases by the reference.
pub(super) fn by_reference(model: &Model, cases: &Cases, d: &mut Vec<u64>) {
    let unit = model.unit();
    let (mut a, mut b): (Vec<Decoded>, Vec<Decoded>) = (Vec::new(), Vec::new());
    d.clear();
    d.extend((0..cases.len()).map(|i| {
        a.clear();
        b.clear();
        a.extend(cases.a(i).iter().map(|&bits| unit.factor(model.a(), bits)));
        b.extend(cases.b(i).iter().map(|&bits| unit.factor(model.b(), bits)));
        dot(unit, &a, &b, Operand::new(model.output(), cases.c(i)))
    }));
}

/// The results of all cases, as encodings, by the fast kernels; they replace what is in `d`.
pub fn compute(model: &Model, cases: &Cases, d: &mut Vec<u64>) -> Result<(), Error> {
    let a = packed(model.a(), &cases.a);
    let b = packed(model.b(), &cases.b);
    let c = packed(model.output(), &cases.c);
    let bytes = model.output().bytes();
    let mut results = vec![0u8; bytes * cases.len()];
    dot_batch_bytes(model, cases.k(), &a, &b, &c, &mut results)?;
    d.clear();
    d.extend(results.chunks_exact(bytes).map(|chunk| {
        let mut word = [0u8; 8];
        if cfg!(target_endian = "little") {
            word[..bytes].copy_from_slice(chunk);
        } else {
            word[8 - bytes..].copy_from_slice(chunk);
        }
        u64::from_ne_bytes(word)
    }));
    Ok(())
}

/// Encodings as they lie in memory.
fn packed(format: Format, encodings: &[u64]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(format.bytes() * encodings.len());
    match format.bytes() {
        1 => bytes.extend(encodings.iter().map(|&x| x as u8)),
        2 => encodings
            .iter()
            .for_each(|&x| bytes.extend((x as u16).to_ne_bytes())),
        4 => encodings
            .iter()
            .for_each(|&x| bytes.extend((x as u32).to_ne_bytes())),
        _ => encodings
            .iter()
            .for_each(|&x| bytes.extend(x.to_ne_bytes())),
    }
    bytes
}
