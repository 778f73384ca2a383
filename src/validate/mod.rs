//! Does this model compute what that unit computes? Random validation as in the paper's section 5, and dumps of inputs
//! and results.
//!
//! * [`Sampler`]: how inputs are drawn; every split of a campaign has the same cases ([`Sampling`]).
//! * [`Campaign`]: compares a model with a black box, with another model, or its fast kernels with the
//!   [`reference`](mod@crate::reference).
//! * [`mismatch_bound`]: how sure that makes.
//! * [`dump`]: files of inputs and results, read, written, and compared with models.
//!
//! This module sits on top of the public interface: it uses models, the reference and batches of dot products.

mod bound;
mod campaign;
pub mod dump;
pub mod sample;

pub(crate) use sample::splitmix64;

pub use bound::mismatch_bound;
pub use campaign::{BlackBox, Campaign, Mismatch, Report, Subject, compute};
pub use sample::{
    Case, Cases, Generator, MAX_LENGTH, SAMPLERS, Sampler, Sampling, Shape, default_length,
};
