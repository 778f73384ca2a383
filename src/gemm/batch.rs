//! Independent dot products on raw encodings.

use super::control::Control;
use super::problem::{Storage, View};
use crate::error::Error;
use crate::format::{Rounding, decode};
use crate::kernel::{FpMode, FpModeGuard};
use crate::model::Model;
use crate::reference::{Operand, dot};
use crate::threads::Workers;

/// `count` dot products of length k: case i reads a(i, 0..k), b(i, 0..k) and c(i, 0) and writes d(i, 0). All views are
/// raw, and d may be c.
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

/// Cases that one task computes.
const CASES_PER_TASK: usize = 64;
/// Rough cost of one product through the reference.
const NANOSECONDS_PER_PRODUCT: f64 = 50.0;

/// Computes all cases on the library's threads.
pub fn run_dots(batch: &DotBatch) -> Result<(), Error> {
    let _mode = FpModeGuard::enter(FpMode::Nearest);
    let DotBatch {
        model, count, k, ..
    } = *batch;
    debug_assert_eq!(batch.a.storage(), Storage::Raw);
    let nanoseconds = count as f64 * (k as f64 + 1.0) * NANOSECONDS_PER_PRODUCT;
    let tasks = count.div_ceil(CASES_PER_TASK);
    let control = Control::new(Workers::new(0).for_work(nanoseconds), count as u64);
    control.for_each(tasks, |task| {
        let first = task * CASES_PER_TASK;
        for i in first..count.min(first + CASES_PER_TASK) {
            let raw = |view: View, j, format| {
                // SAFETY: (i, j) lies in the view.
                unsafe { view.load(i, j, 1.0, format, Rounding::NearestEven) }
            };
            let a: Vec<_> = (0..k)
                .map(|p| decode(model.a(), raw(batch.a, p, model.a())))
                .collect();
            let b: Vec<_> = (0..k)
                .map(|p| decode(model.b(), raw(batch.b, p, model.b())))
                .collect();
            let c = Operand::new(model.output(), raw(batch.c, 0, model.output()));
            let d = dot(model.unit(), &a, &b, c);
            // SAFETY: (i, 0) lies in d, and only this task writes it.
            unsafe { batch.d.store(i, 0, model.output(), d) };
        }
    });
    Ok(())
}
