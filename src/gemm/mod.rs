//! D = alpha*A*B + beta*C: validate, convert, compute tiles on threads, store.

mod engine;
mod problem;
mod results;

pub use engine::{Control, total_work};
pub use problem::{Problem, Storage, View};

use crate::error::Error;
use crate::threads;

/// Runs a checked product on the library's threads, or on the caller's alone if it is small.
pub fn run(problem: &Problem) -> Result<(), Error> {
    let control = Control {
        parallel: true,
        ..Control::default()
    };
    run_with(problem, &control)
}

/// [`run`], watched or stopped by others; without `control.parallel` on the caller's thread alone.
pub fn run_with(problem: &Problem, control: &Control) -> Result<(), Error> {
    if !control.parallel || engine::is_small(problem) {
        let control = Control {
            parallel: false,
            ..*control
        };
        return engine::run(problem, &control);
    }
    threads::install(|| engine::run(problem, control))?
}
