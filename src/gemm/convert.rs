//! Arrays from one format to another.

use super::control::Control;
use super::problem::{Storage, View};
use crate::error::Error;
use crate::format::{Format, Overflow, Rounding, recode};
use crate::kernel::{FpMode, FpModeGuard};
use crate::threads::Workers;

/// Elements that one task converts.
const PER_TASK: usize = 1 << 14;
/// Rough cost of one element.
const NANOSECONDS: f64 = 10.0;

/// Rounds `count` encodings from one format to another, each once. The arrays may be unaligned, and the same if their
/// elements are equally large.
///
/// # Safety
/// Both arrays have `count` elements.
pub unsafe fn convert(
    (from, input): (Format, *const u8),
    (to, output): (Format, *mut u8),
    rounding: Rounding,
    overflow: Overflow,
    count: usize,
) -> Result<(), Error> {
    let _mode = FpModeGuard::enter(FpMode::Nearest);
    // SAFETY: promised by the caller.
    let (input, output) = unsafe {
        (
            View::new(input.cast_mut(), Storage::Raw, from, 1, 1),
            View::new(output, Storage::Raw, to, 1, 1),
        )
    };
    let workers = Workers::new(0).for_work(count as f64 * NANOSECONDS);
    let control = Control::new(workers, count as u64);
    control.for_each(count.div_ceil(PER_TASK), |task| {
        for i in task * PER_TASK..count.min((task + 1) * PER_TASK) {
            // SAFETY: i is below `count`; only this task touches element i of the output.
            unsafe {
                let bits = input.load(i, 0, 1.0, from, rounding);
                output.store(i, 0, to, recode(from, to, bits, rounding, overflow));
            }
        }
    });
    Ok(())
}
