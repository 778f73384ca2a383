//! What GPU matrix units compute, bit for bit.
#![warn(missing_docs)]

pub mod capi;
pub mod error;
pub mod format;
pub mod gemm;
pub mod kernel;
pub mod model;
pub mod reference;
pub mod threads;

pub use error::{Error, ErrorCode};
pub use format::{Format, Overflow, Rounding};
pub use model::{Arch, Model, Params};
