//! The guard around every exported function, and the message that it keeps.

use std::any::Any;
use std::cell::{Cell, UnsafeCell};
use std::ffi::c_char;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use super::codes::{MFMA_OK, mfma_status};
use crate::error::{Error, ErrorCode};
use crate::kernel::{FpMode, FpModeGuard};

/// Longest message that is kept, with its final NUL.
const CAPACITY: usize = 2048;

// No allocation, so that running out of memory can be reported; no destructor, so that a thread may outlive the library.
thread_local! {
    static MESSAGE: UnsafeCell<[u8; CAPACITY]> = const { UnsafeCell::new([0; CAPACITY]) };
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// This thread's last message, as C reads it.
pub(super) fn last_message() -> *const c_char {
    MESSAGE.with(|message| message.get().cast_const().cast())
}

fn keep_message(text: &str) {
    let mut length = text.len().min(CAPACITY - 1);
    while !text.is_char_boundary(length) {
        length -= 1;
    }
    MESSAGE.with(|message| {
        // SAFETY: the buffer belongs to this thread, and no reference to it exists: C only has a pointer.
        let buffer = unsafe { &mut *message.get() };
        for (to, &from) in buffer.iter_mut().zip(&text.as_bytes()[..length]) {
            // A NUL from the caller's own text would end the message.
            *to = if from == 0 { b'?' } else { from };
        }
        buffer[length] = 0;
    });
}

/// Runs the body of an exported function: in the floating-point mode that compiled code expects, with errors and panics turned into
/// a status and a message.
pub(super) fn run(body: impl FnOnce() -> Result<(), Error>) -> mfma_status {
    if !crate::threads::has_room(HEADROOM) {
        keep_message("not enough memory to begin");
        return ErrorCode::OutOfMemory.info().status;
    }
    silence_panics();
    match run_caught(body) {
        Ok(Ok(())) => MFMA_OK,
        Ok(Err(error)) => {
            keep_message(error.message());
            error.code().info().status
        }
        Err(panic) => {
            keep_message(&format!("internal error: {}", panic_text(&*panic)));
            // What was thrown may itself panic when it is dropped.
            if let Err(another) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
                std::mem::forget(another);
            }
            ErrorCode::Internal.info().status
        }
    }
}

/// Runs work that allocates nothing and cannot fail, in the mode that compiled code expects; it says whether it was done. A panic,
/// which would be a mistake in the library, counts as not done.
pub(super) fn run_in_place(work: impl FnOnce() -> bool) -> bool {
    run_caught(work).unwrap_or(false)
}

/// Runs `work` in the mode that compiled code expects, and catches what it throws.
fn run_caught<T>(work: impl FnOnce() -> T) -> std::thread::Result<T> {
    let _mode = FpModeGuard::enter(FpMode::Nearest);
    let outermost = !INSIDE.replace(true);
    let outcome = catch_unwind(AssertUnwindSafe(work));
    if outermost {
        INSIDE.set(false);
    }
    outcome
}

/// Bytes that a call's small allocations take together, more or less; its workspace is allocated with a check of its own.
const HEADROOM: usize = 48 << 10;

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    if let Some(text) = panic.downcast_ref::<&str>() {
        text
    } else if let Some(text) = panic.downcast_ref::<String>() {
        text
    } else {
        "panic"
    }
}

/// Keeps panics inside the library from printing. Other panics of the process, if it is a Rust one, print as before.
fn silence_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !INSIDE.get() && !crate::threads::on_pool_thread() {
                before(info);
            }
        }));
    });
}

/// The body of an exported function that returns a status.
macro_rules! guard {
    ($body:block) => {
        $crate::capi::guard::run(|| -> Result<(), $crate::error::Error> {
            $body
            #[allow(unreachable_code)]
            Ok(())
        })
    };
}
