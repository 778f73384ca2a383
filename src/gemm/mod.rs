//! D = alpha*A*B + beta*C: validate, convert, compute tiles on threads, store.

mod engine;
mod problem;

pub use problem::{Problem, Storage, View};

use crate::error::Error;
use crate::threads;

/// Runs a checked product on the library's threads.
pub fn run(problem: &Problem) -> Result<(), Error> {
    threads::install(|| engine::run(problem))
}
