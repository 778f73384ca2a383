//! D = alpha*A*B + beta*C: validate, convert, compute tiles on threads, store.

mod batch;
mod call;
mod control;
mod convert;
mod cuts;
mod engine;
mod layout;
mod operand;
mod problem;
mod product;
mod results;
mod workspace;

pub use batch::{DotBatch, Dots, run_dots};
pub use call::Call;
pub use control::{Control, Progress};
pub use convert::convert;
pub use layout::{Matrix, overlap, size};
pub use operand::{Operand, Starts};
pub use problem::{Problem, Storage, View};
pub use product::{
    Element, MatMut, MatRef, Product, convert as convert_slice, dot_batch, dot_batch_bytes,
};
pub(crate) use workspace::free_kept;

use crate::error::Error;
use crate::threads::Workers;

/// Runs a checked product on the library's threads, or on the caller's alone if it is small.
pub fn run(problem: &Problem) -> Result<(), Error> {
    run_with(problem, Workers::new(0), None)
}

/// [`run`] on the given threads, telling `progress`, if there is one, how far it is.
pub fn run_with<'a>(
    problem: &Problem,
    workers: Workers,
    progress: Option<&'a mut Progress<'a>>,
) -> Result<(), Error> {
    let workers = if engine::is_small(problem) {
        Workers::new(1)
    } else {
        workers
    };
    let mut control = Control::new(workers, engine::total_work(problem));
    if let Some(progress) = progress {
        control = control.watched(progress);
    }
    engine::run(problem, &control)
}
