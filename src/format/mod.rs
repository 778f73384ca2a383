//! What the bits mean: the table of formats, decoding, and the one routine that rounds and packs.
//!
//! * [`Format`] names a format; [`FORMATS`] holds its row: widths, bias, what its special encodings are.
//! * [`decode`] turns an encoding into sign, exponent and integer significand.
//! * [`round_pack`] turns an exact integer magnitude into an encoding. Everything the crate computes ends there.
//! * [`recode`], [`from_f64`] and [`from_f32`] round what users pass (binary64, binary32) once into a format.

mod convert;
mod decode;
mod encode;
mod table;

pub use convert::{default_overflow, from_f32, from_f64, recode, to_f64};
pub use decode::{Class, Decoded, decode};
pub use encode::{Exact, Overflow, Rounding, infinity, nan, round_pack, round_pack_to, zero};
pub use table::{FORMATS, Format, FormatInfo, Specials};

#[cfg(test)]
mod tests;
