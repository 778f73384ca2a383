//! The C skin: `include/mfma.h` is generated from this module.
//!
//! Each function checks its arguments, calls the Rust library and stores the result; there is no arithmetic here.
//! Everything runs inside one guard (`guard.rs`), which turns panics and errors into status codes and keeps the message
//! for `mfma_last_error`. Codes come and go as plain integers, never as Rust enums, so that any value is safe.
#![allow(
    non_camel_case_types,
    clippy::missing_safety_doc,
    clippy::too_many_arguments,
    // Doc comments here are the header's: a[i] is an element of an array.
    rustdoc::broken_intra_doc_links
)]

#[macro_use]
mod guard;
mod capability;
mod check;
pub mod codes;
mod convert;
mod debug;
mod explain;
mod gemm;
mod general;
mod info;
mod model;
mod names;
mod params;
mod probe;
mod raw;
mod sized;
mod validate;

pub use capability::*;
pub use codes::*;
pub use convert::*;
pub use debug::*;
pub use explain::*;
pub use gemm::*;
pub use general::*;
pub use info::*;
pub use model::*;
pub use names::*;
pub use params::*;
pub use probe::*;
pub use validate::*;
