//! Independent dot products, on raw encodings or on numbers that are rounded.
//!
//! Cases are the lanes of two strips ([`Source::load_to`]) and of a vector kernel ([`DotKernel`]), [`LANES`] at a time; units
//! without one go to the reference, case by case. With a kernel nothing is allocated: a task has its strips on its stack
//! ([`Room`]), whatever `count` and `k`.

use std::mem::MaybeUninit;

use super::control::{Control, Progress};
use super::problem::{Storage, View};
use super::results::exactly;
use crate::error::Error;
use crate::format::{Format, Rounding};
use crate::kernel::{DotKernel, FpMode, FpModeGuard, Level, Part, Sink, Source, dots_for, level};
use crate::model::Model;
use crate::reference::{Operand, dot, dot_of};
use crate::threads::Workers;

/// `count` dot products of length k: case i reads a(i, 0..k), b(i, 0..k) and c(i, 0) and writes d(i, 0). d may be c.
#[derive(Clone, Copy, Debug)]
pub struct DotBatch {
    /// The unit.
    pub model: Model,
    /// Number of dot products.
    pub count: usize,
    /// Length of each.
    pub k: usize,
    /// count x k.
    pub a: View,
    /// count x k.
    pub b: View,
    /// count x 1.
    pub c: View,
    /// count x 1.
    pub d: View,
}

/// Cases computed side by side; a multiple of every kernel's lanes.
const LANES: usize = 64;
/// Bytes of a strip: [`LANES`] cases, and a block of any kernel, fit.
const STRIP_BYTES: usize = 4 * LANES * 32;
/// Most elements of K that are loaded at a time.
const STRIP_K: usize = STRIP_BYTES / 4 / LANES;
/// Most products of a batch that is short.
const SHORT: usize = 4096;
/// Products that one task computes, more or less.
const PRODUCTS_PER_TASK: usize = 1 << 16;
/// Rough cost of one product, in nanoseconds, by a kernel and through the reference.
const FAST_PRODUCT: f64 = 1.5;
const REFERENCE_PRODUCT: f64 = 50.0;

/// What multiplies the numbers of a and c before they are rounded; raw ones need 1. With `beta` 0, c is not read.
#[derive(Clone, Copy)]
pub(super) struct Factors {
    pub alpha: f64,
    pub beta: f64,
}

/// Computes all cases of raw views on the library's threads.
pub fn run_dots(batch: &DotBatch) -> Result<(), Error> {
    debug_assert_eq!(batch.a.storage(), Storage::Raw);
    run_scaled(batch, Factors::NONE, Workers::new(0), None)
}

/// A unit with its kernel for dot products, kept for calls that are over before one could be made.
pub struct Dots {
    model: Model,
    level: Level,
    kernel: Option<Box<dyn DotKernel>>,
}

impl Dots {
    /// For any number of calls, on any threads.
    pub fn new(model: &Model) -> Dots {
        let level = level();
        Dots {
            model: *model,
            level,
            kernel: dots_for(model, level),
        }
    }

    /// The unit.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Computes a short batch of raw views on this thread, which must be in [`FpMode::Nearest`], without allocating
    /// anything. False if this is none: then nothing is done.
    pub fn run_short(&self, batch: &DotBatch) -> bool {
        let products = batch.count.saturating_mul(batch.k);
        match &self.kernel {
            Some(kernel) if (1..=SHORT).contains(&products) && self.level == level() => {
                Fast::new(batch, Factors::NONE, &**kernel).run(0, batch.count);
                true
            }
            _ => false,
        }
    }
}

/// Can [`run_scaled`] compute a unit's dot products of numbers? c must be rounded to the output format, and NaNs must not
/// tell where they came from.
pub(super) fn takes(model: &Model, c: Option<Storage>) -> bool {
    let rounded = match c {
        None | Some(Storage::Raw) => true,
        Some(_) => model.addend_format().0 == model.output(),
    };
    rounded && !model.params().propagates_nans(model.output())
}

impl Factors {
    const NONE: Factors = Factors {
        alpha: 1.0,
        beta: 1.0,
    };
}

/// Computes all cases on `workers`, telling `progress` how far it is.
pub(super) fn run_scaled<'a>(
    batch: &DotBatch,
    factors: Factors,
    workers: Workers,
    progress: Option<&'a mut Progress<'a>>,
) -> Result<(), Error> {
    let _mode = FpModeGuard::enter(FpMode::Nearest);
    let DotBatch {
        model, count, k, ..
    } = *batch;
    if count == 0 {
        return Ok(());
    }
    let kernel = if k == 0 {
        None
    } else {
        dots_for(&model, level())
    };
    let cost = match kernel {
        Some(_) => FAST_PRODUCT,
        None => REFERENCE_PRODUCT,
    };
    let cases = (PRODUCTS_PER_TASK / (k + 1)).clamp(1, count);
    let cases = cases.next_multiple_of(LANES);
    let mut control = Control::new(
        workers.for_work(count as f64 * (k as f64 + 1.0) * cost),
        count as u64,
    );
    if let Some(progress) = progress {
        control = control.watched(progress);
    }
    let fast = kernel
        .as_deref()
        .map(|kernel| Fast::new(batch, factors, kernel));
    control.for_each(count.div_ceil(cases), |task| {
        let first = task * cases;
        let last = count.min(first + cases);
        match &fast {
            Some(fast) => fast.run(first, last),
            None => {
                for i in first..last {
                    by_reference(batch, factors, i);
                }
            }
        }
        control.add((last - first) as u64);
    });
    control.check()
}

/// One case by the reference.
fn by_reference(batch: &DotBatch, factors: Factors, i: usize) {
    let model = &batch.model;
    let unit = model.unit();
    let element = |view: View, p, factor, format| {
        let rounding = Model::input_rounding(format);
        // SAFETY: (i, p) lies in the view.
        unit.factor(format, unsafe { view.load(i, p, factor, format, rounding) })
    };
    let pair = |p| {
        (
            element(batch.a, p, factors.alpha, model.a()),
            element(batch.b, p, 1.0, model.b()),
        )
    };
    let c = Operand::new(model.output(), addend(batch, factors.beta, i));
    let d = dot_of(unit, batch.k, pair, c);
    // SAFETY: (i, 0) lies in d, and only this task writes it.
    unsafe { batch.d.store(i, 0, model.output(), d) };
}

/// Encoding of c(i, 0) times beta.
fn addend(batch: &DotBatch, beta: f64, i: usize) -> u64 {
    if beta == 0.0 {
        return 0;
    }
    let (format, rounding) = addend_format(batch);
    // SAFETY: (i, 0) lies in c.
    unsafe { batch.c.load(i, 0, beta, format, rounding) }
}

/// What c is rounded to, and how; see [`takes`].
fn addend_format(batch: &DotBatch) -> (Format, Rounding) {
    match batch.c.storage() {
        Storage::Raw => (batch.model.output(), Rounding::NearestEven),
        _ => batch.model.addend_format(),
    }
}

/// A batch that a kernel computes.
struct Fast<'a> {
    batch: &'a DotBatch,
    kernel: &'a dyn DotKernel,
    beta: f64,
    a: Source,
    b: Source,
    /// c as a row.
    c: Source,
    /// d as a row.
    d: Sink,
    /// Format of c in a kernel: what the unit carries, or the output format.
    wide: Format,
    carry: Format,
}

/// Where a task's strips lie.
struct Room {
    a: Bytes<STRIP_BYTES>,
    b: Bytes<STRIP_BYTES>,
    lines: Bytes<{ 4 * Source::line_numbers(STRIP_K) }>,
}

impl Room {
    fn new() -> Room {
        Room {
            a: Bytes::NEW,
            b: Bytes::NEW,
            lines: Bytes::NEW,
        }
    }
}

/// Memory with anything in it.
#[repr(align(64))]
struct Bytes<const N: usize>(MaybeUninit<[u8; N]>);

impl<const N: usize> Bytes<N> {
    const NEW: Self = Bytes(MaybeUninit::uninit());

    fn at(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast()
    }
}

/// The c's of [`LANES`] cases, binary32 or binary64 numbers.
#[repr(align(64))]
struct Sums([u64; LANES]);

impl<'a> Fast<'a> {
    fn new(batch: &'a DotBatch, factors: Factors, kernel: &'a dyn DotKernel) -> Fast<'a> {
        let model = &batch.model;
        let (format, rounding) = addend_format(batch);
        let c = Source::new(batch.c.transposed(), factors.beta, format, model.params());
        Fast {
            batch,
            kernel,
            beta: factors.beta,
            c: match rounding {
                Rounding::TowardZero => c.cut_single(),
                _ => c,
            },
            a: Source::new(batch.a, factors.alpha, model.a(), model.params()),
            d: Sink::new(batch.d.transposed(), model.output()),
            b: Source::new(batch.b, 1.0, model.b(), model.params()),
            wide: if kernel.double() {
                Format::Fp64
            } else {
                Format::Fp32
            },
            carry: model.unit().carry(),
        }
    }

    /// Computes cases `first` to `last` - 1.
    fn run(&self, first: usize, last: usize) {
        let mut room = Room::new();
        let mut sums = Sums([0; LANES]);
        let (k, block) = (self.batch.k, self.kernel.block());
        let most = STRIP_BYTES / self.wide.bytes() / LANES;
        let step = if k <= most {
            most
        } else {
            most / block * block
        };
        for group in (first..last).step_by(LANES) {
            let cases = LANES.min(last - group);
            let lanes = match cases {
                1 => 1,
                _ => cases.next_multiple_of(self.kernel.lanes()),
            };
            self.load(group, cases, &mut sums);
            if lanes == 1 {
                sums.repeat_first(self.wide);
            }
            for k_first in (0..k).step_by(step) {
                let filled = step.min(k - k_first);
                let part = Part {
                    first: group,
                    rows: cases,
                    lanes,
                    k_first,
                    k: filled,
                    k_padded: filled.next_multiple_of(block),
                };
                let Room { a, b, lines } = &mut room;
                // SAFETY: the part lies in the operands, for which the caller vouches; the room is large enough for it; there
                // is a sum for each lane; the kernel is one for this machine, and the modes are those asked for.
                unsafe {
                    let a = self.a.load_to(part, a.at(), lines.at().cast());
                    let b = self.b.load_to(part, b.at(), lines.at().cast());
                    let mode = self.kernel.mode();
                    let _mode = (mode != FpMode::Nearest).then(|| FpModeGuard::enter(mode));
                    let sums = sums.0.as_mut_ptr().cast();
                    self.kernel.run(&a, &b, sums, cases);
                }
            }
            self.store(group, cases, &mut sums);
        }
    }

    fn load(&self, first: usize, cases: usize, sums: &mut Sums) {
        let output = self.batch.model.output();
        match self.wide {
            Format::Fp64 => {
                for (lane, sum) in sums.0[..cases].iter_mut().enumerate() {
                    let bits = addend(self.batch, self.beta, first + lane);
                    *sum = exactly(output, Format::Fp64, bits);
                }
            }
            _ if self.beta == 0.0 => sums.singles()[..cases].fill(0),
            _ => {
                let to = sums.singles().as_mut_ptr();
                // SAFETY: the elements lie in c, and there is a sum for each.
                unsafe {
                    self.c.tile((0, first), (1, cases), to.cast(), cases);
                }
            }
        }
    }

    fn store(&self, first: usize, cases: usize, sums: &mut Sums) {
        let model = &self.batch.model;
        let output = model.output();
        let plain = self.carry == output;
        if plain && self.wide == Format::Fp32 {
            let from = sums.singles().as_ptr().cast();
            // SAFETY: there is a sum for each case; the elements lie in d, and only this task writes them.
            if unsafe { self.d.tile(from, cases, (1, cases), (0, first)) } {
                return;
            }
        }
        for lane in 0..cases {
            let (bits, nan) = match self.wide {
                Format::Fp64 => (sums.0[lane], f64::from_bits(sums.0[lane]).is_nan()),
                _ => {
                    let bits = sums.singles()[lane];
                    (bits.into(), f32::from_bits(bits).is_nan())
                }
            };
            let bits = if nan || !plain {
                // The unit's NaN, or its last rounding.
                let c = Operand::new(self.carry, exactly(self.wide, self.carry, bits));
                dot(model.unit(), &[], &[], c)
            } else if self.wide == Format::Fp32 {
                continue;
            } else {
                exactly(self.wide, output, bits)
            };
            // SAFETY: (first + lane, 0) lies in d, and only this task writes it.
            unsafe { self.batch.d.store(first + lane, 0, output, bits) };
        }
    }
}

impl Sums {
    /// The first c for all lanes of a vector.
    fn repeat_first(&mut self, format: Format) {
        match format {
            Format::Fp64 => {
                let first = self.0[0];
                self.0[..8].fill(first);
            }
            _ => {
                let first = self.singles()[0];
                self.singles()[..16].fill(first);
            }
        }
    }

    fn singles(&mut self) -> &mut [u32; 2 * LANES] {
        // SAFETY: the same bytes, aligned to more than four.
        unsafe { &mut *(&raw mut self.0).cast() }
    }
}
