//! Every vector of the evidence, through every way into the library.
//!
//! The committed vectors (`tests/data`) are always run. The full golden set and the measured vectors are run where
//! `MFMA_TEST_DATA` names the folder that holds them.

#[path = "../common/mod.rs"]
mod common;

mod catalogue;
mod paper;
mod products;
mod vectors;
