//! A door for tests. Not in the header, and not part of the stable ABI.

use super::codes::mfma_status;
use crate::gemm::Control;
use crate::threads::Workers;

/// Panics inside the library: on the calling thread (0), or in a loop that all threads share (anything else). Proves
/// that a panic ends as MFMA_ERR_INTERNAL.
///
/// cbindgen:ignore
#[unsafe(no_mangle)]
pub extern "C" fn mfma_debug_panic(place: i32) -> mfma_status {
    guard!({
        if place == 0 {
            panic!("forced by mfma_debug_panic");
        }
        let task = |task| assert!(task != 40, "forced by mfma_debug_panic in task {task}");
        Control::new(Workers::new(0), 0).for_each(64, task);
    })
}
