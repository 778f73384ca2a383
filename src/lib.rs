//! What GPU matrix units compute, bit for bit: AMD matrix cores (CDNA 1, 2, 3) and NVIDIA tensor cores (Volta to
//! Blackwell).
//!
//! A [`Model`] is one such unit: an architecture with formats for the inputs and the result, or [`Params`] of your own.
//! A [`Product`] multiplies matrices through it, [`dot_batch`] computes many short dot products on encodings, and
//! [`convert`] rounds between formats.
//!
//! ```
//! use mfma::{Arch, Format, MatMut, MatRef, Model, Product};
//!
//! // 2^24 + 1 + 1: binary64 has room for it; the GPUs align all products to the largest and cut.
//! let a = [4096.0, 1.0, 1.0];
//! let b = [4096.0, 1.0, 1.0];
//! let dot = |gpu: &str| {
//!     let arch = Arch::from_name(gpu)?;
//!     let model = Model::new(arch, Format::Fp16, Format::Fp16, Format::Fp32)?;
//!     let mut d = [0.0];
//!     Product::new(&model, MatRef::row_major(&a, 1, 3)?, MatRef::row_major(&b, 3, 1)?)
//!         .store(MatMut::row_major(&mut d, 1, 1)?)?;
//!     Ok::<f64, mfma::Error>(d[0])
//! };
//! assert_eq!(dot("MI300X")?, 16777218.0);
//! assert_eq!(dot("V100")?, 16777216.0);
//! # Ok::<(), mfma::Error>(())
//! ```
//!
//! # Who may use whom
//!
//! Data flows one way: caller, [`capi`] (or this interface), [`gemm`], [`format`](mod@format) for conversion,
//! [`kernel`] for packing and tiles, [`format`](mod@format) for encoding, out. [`model`] is read by all and reads only
//! [`format`](mod@format). [`reference`](mod@reference) is the paper's algorithms step by step: the judge of the kernels, which share nothing
//! with it, and what they fall back on in rare cases.
//!
//! [`probe`] finds the features of a black-box unit, and [`explain`] says why a result is what it is: both sit on top, on the
//! reference and the catalogue.
//!
//! Results never depend on the number of [`threads`], the CPU, alignment, or the floating-point environment.
#![warn(missing_docs)]

pub mod capi;
pub mod error;
pub mod explain;
pub mod format;
pub mod gemm;
pub mod kernel;
pub mod model;
pub mod probe;
pub mod reference;
pub mod threads;
pub mod validate;

pub use error::{Error, ErrorCode};
pub use format::{Format, Overflow, Rounding};
pub use gemm::{Element, MatMut, MatRef, Product, convert_slice as convert, dot_batch};
pub use model::{Arch, Model, Params};
