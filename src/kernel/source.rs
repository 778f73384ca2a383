//! Strips of A and B: read from the user's memory, rounded once to the unit's format, laid out for packing.
//!
//! A strip is `k` rows of `lanes` numbers: lane l is one row of A, or one column of B. Numbers are binary32 numbers equal
//! to the encodings (all formats but binary64 fit into binary32), NaNs and infinities included, or +0 in place of subnormal
//! ones where the unit takes them so; for binary64 units they are binary64. What a strip does not cover (past the last row of A, past the end of K) is +0.

mod lines;
mod rounding;
mod strip;
mod words;

use super::factor_format;
use super::lanes::{Job, Lanes};
use super::level::{Level, level, on_level};
use crate::format::Format;
use crate::gemm::{Storage, View};
use crate::model::Params;
pub use lines::prefetch;
use lines::{Lines, fill, turn};
use rounding::{Rules, byte_table, cut, cut_to_tf32, flush, from_fp16, from_tf32, quiet, to_bf16};
pub use rounding::{min_normal, quiet_double};
pub use strip::{Strip, StripBuffer, Values};
use words::{Rows, Turn};

/// A matrix to pack: lanes are the view's rows, K runs along its columns.
#[derive(Clone, Copy)]
pub struct Source {
    view: View,
    factor: f64,
    format: Format,
    /// Are binary32 numbers cut? Else they are rounded to nearest even.
    cut_single: bool,
    rules: &'static Rules,
    /// The bits of a raw tf32 word that the unit reads.
    visible: u32,
    /// Numbers closer to zero become +0; 0 if none do.
    least: f32,
    level: Level,
}

/// Which part of a matrix a strip covers.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// First row of the view.
    pub first: usize,
    /// Rows that exist.
    pub rows: usize,
    /// Lanes of the strip, at least `rows`.
    pub lanes: usize,
    /// First column of the view.
    pub k_first: usize,
    /// Columns that exist.
    pub k: usize,
    /// Rows of the strip, at least `k`.
    pub k_padded: usize,
}

/// Lanes that are turned together.
const GROUP: usize = 8;

impl Source {
    /// The rows of `view` times `factor` (binary64), to be rounded to `format`. Raw elements are taken as a unit with
    /// these `params` reads them.
    pub fn new(view: View, factor: f64, format: Format, params: &Params) -> Source {
        Source {
            view,
            factor,
            format,
            cut_single: false,
            rules: Rules::of(format),
            visible: params.visible(Format::Tf32, u32::MAX.into()) as u32,
            least: 0.0,
            level: level(),
        }
    }

    /// The same with numbers rounded to binary32 toward zero.
    pub fn cut_single(self) -> Source {
        Source {
            cut_single: true,
            ..self
        }
    }

    /// The same with subnormal numbers as +0, if that is how a unit with these `params` takes inputs. Strips of binary64
    /// numbers keep them.
    pub fn flushed(self, params: &Params) -> Source {
        let least = match params.in_subnormals {
            true => 0.0,
            false => min_normal(factor_format(params, self.format)),
        };
        Source { least, ..self }
    }

    /// Most that [`Source::strip_k`] returns.
    pub const MOST_STRIP_K: usize = 64;

    /// Elements of K that are best loaded at a time. Memory answers soonest where it is read as it lies: along K, or along
    /// the lanes of many strips before the next elements of K come.
    pub fn strip_k(&self) -> usize {
        match self.runs_along_k() {
            true => Self::MOST_STRIP_K,
            false => 8,
        }
    }

    /// Are the elements of a lane neighbours in memory, and not those of a column?
    fn runs_along_k(&self) -> bool {
        self.view.col_stride() == 1 && self.view.row_stride() != 1
    }

    /// Loads one strip into `buffer`.
    ///
    /// # Safety
    /// The elements that `part` says exist must be among those promised to `View::new`. The thread must be in
    /// [`FpMode::Nearest`](super::FpMode::Nearest).
    pub unsafe fn load<'a>(&self, part: Part, buffer: &'a mut StripBuffer) -> Strip<'a> {
        let size = part.lanes * part.k_padded;
        let to = if self.format == Format::Fp64 {
            buffer.double.resize(size, 0.0);
            buffer.double.as_mut_ptr().cast()
        } else {
            buffer.lines.resize(Self::line_numbers(part.k), 0.0);
            buffer.single.resize(size, 0.0);
            buffer.single.as_mut_ptr().cast()
        };
        // SAFETY: the buffers have just been made large enough; the rest is promised by the caller.
        unsafe { self.load_to(part, to, buffer.lines.as_mut_ptr()) }
    }

    /// Numbers that [`Source::load_to`] needs beside the strip for `k` columns.
    pub const fn line_numbers(k: usize) -> usize {
        GROUP * k
    }

    /// Loads one strip to `to`, with [`Source::line_numbers`] numbers at `lines` to work in.
    ///
    /// # Safety
    /// As for [`Source::load`]; `to` has room for the strip, is aligned for its numbers, and nobody else touches it while
    /// the strip lives.
    pub unsafe fn load_to<'a>(&self, part: Part, to: *mut u8, lines: *mut f32) -> Strip<'a> {
        let size = part.lanes * part.k_padded;
        // SAFETY: promised by the caller; every number of the strip is written.
        let values = unsafe {
            if self.format == Format::Fp64 {
                let to = to.cast::<f64>();
                self.load_double(part, to);
                Values::Double(std::slice::from_raw_parts(to, size))
            } else {
                let to = to.cast::<f32>();
                self.load_single(part, to, lines);
                Values::Single(std::slice::from_raw_parts(to, size))
            }
        };
        Strip {
            values,
            lanes: part.lanes,
            k: part.k_padded,
            filled: part.k,
        }
    }

    /// # Safety
    /// As for `load_to`.
    unsafe fn load_double(&self, part: Part, to: *mut f64) {
        let lines = match part.lanes {
            1 => self.one_line(part.k),
            _ => self.columns(part),
        };
        // SAFETY: promised by the caller.
        unsafe {
            zero_rest(part, to);
            self.doubles(self.view.address(part.first, part.k_first), lines, to);
        }
    }

    /// The only row of a strip of one lane.
    fn one_line(&self, k: usize) -> Lines {
        Lines {
            lines: 1,
            count: k,
            stride: self.view.col_stride(),
            pitch: 0,
            to_pitch: 0,
        }
    }

    /// A part, one k at a time.
    fn columns(&self, part: Part) -> Lines {
        Lines {
            lines: part.k,
            count: part.rows,
            stride: self.view.row_stride(),
            pitch: self.view.col_stride(),
            to_pitch: part.lanes,
        }
    }

    /// # Safety
    /// As for `load_to`.
    unsafe fn load_single(&self, part: Part, to: *mut f32, lines: *mut f32) {
        let Part { rows, lanes, k, .. } = part;
        let view = &self.view;
        // SAFETY: promised by the caller.
        unsafe {
            zero_rest(part, to);
            let address = view.address(part.first, part.k_first);
            if lanes == 1 {
                return self.convert(address, self.one_line(k), to);
            }
            if !self.runs_along_k() {
                // The lanes are neighbours in memory (or nothing is).
                return self.convert(address, self.columns(part), to);
            }
            let mut turned = 0;
            if view.storage() == Storage::Raw && self.format.bytes() <= 2 {
                let bytes = self.format.bytes() as isize;
                let rows = Rows {
                    address,
                    pitch: view.row_stride() * bytes,
                    rows,
                    k,
                    to,
                    lanes,
                };
                let job = Turn {
                    rows,
                    format: self.format,
                    turned: &mut turned,
                };
                on_level(self.level, job);
                if self.least > 0.0 {
                    let numbers = std::slice::from_raw_parts_mut(to, k * lanes);
                    let least = self.least;
                    on_level(self.level, Flush { numbers, least });
                }
            }
            // One lane at a time, some of them, then turned.
            for group in (turned..rows).step_by(GROUP) {
                let count = GROUP.min(rows - group);
                let shape = Lines {
                    lines: count,
                    count: k,
                    stride: 1,
                    pitch: view.row_stride(),
                    to_pitch: k,
                };
                let address = view.address(part.first + group, part.k_first);
                self.convert(address, shape, lines);
                turn(self.level, lines, k, count, to.add(group), lanes);
            }
        }
    }

    /// Loads a tile of a matrix that is not for a binary64 unit: `rows` x `cols` elements from (`row`, `col`) on, as rows
    /// that lie `pitch` numbers apart. NaNs get their first fraction bit set, so that no kernel turns them into infinities.
    ///
    /// # Safety
    /// As for `load`; `to` has room for the tile.
    pub unsafe fn tile(
        &self,
        (row, col): (usize, usize),
        (rows, cols): (usize, usize),
        to: *mut f32,
        pitch: usize,
    ) {
        // SAFETY: promised by the caller.
        unsafe {
            self.convert(
                self.view.address(row, col),
                self.rows(rows, cols, pitch),
                to,
            );
            // Numbers are quiet when they are rounded, and `convert` quiets binary32 encodings.
            if self.view.storage() == Storage::Raw && self.format != Format::Fp32 {
                for line in 0..rows {
                    for number in std::slice::from_raw_parts_mut(to.add(line * pitch), cols) {
                        *number = quiet(number.to_bits());
                    }
                }
            }
        }
    }

    /// The same of a matrix for a binary64 unit, NaNs as there.
    ///
    /// # Safety
    /// As for `tile`.
    pub unsafe fn tile_double(
        &self,
        (row, col): (usize, usize),
        (rows, cols): (usize, usize),
        to: *mut f64,
        pitch: usize,
    ) {
        // SAFETY: promised by the caller.
        unsafe {
            self.doubles(
                self.view.address(row, col),
                self.rows(rows, cols, pitch),
                to,
            )
        }
    }

    fn rows(&self, rows: usize, cols: usize, to_pitch: usize) -> Lines {
        Lines {
            lines: rows,
            count: cols,
            stride: self.view.col_stride(),
            pitch: self.view.row_stride(),
            to_pitch,
        }
    }

    /// Loads elements for a binary64 unit.
    ///
    /// # Safety
    /// They must exist, and `to` have room for their numbers.
    unsafe fn doubles(&self, address: *const u8, lines: Lines, to: *mut f64) {
        let factor = self.factor;
        // SAFETY: promised by the caller.
        unsafe {
            match self.view.storage() {
                Storage::Raw => fill(lines, address.cast::<u64>(), to, quiet_double),
                Storage::F32 => {
                    fill(lines, address.cast::<f32>(), to, |x| factor * f64::from(x));
                }
                Storage::F64 => fill(lines, address.cast::<f64>(), to, |x| factor * x),
            }
        }
    }

    /// Loads elements, and rounds those that are numbers.
    ///
    /// # Safety
    /// They must exist, and `to` have room for their numbers.
    unsafe fn convert(&self, address: *const u8, lines: Lines, to: *mut f32) {
        let kind = (self.view.storage() == Storage::Raw, self.least > 0.0);
        #[cfg(target_arch = "x86_64")]
        if self.level >= Level::Avx2 {
            // SAFETY: the machine has the level; the rest is promised by the caller.
            return unsafe {
                match kind {
                    (true, false) => self.decode_avx2::<false>(address, lines, to),
                    (true, true) => self.decode_avx2::<true>(address, lines, to),
                    (false, false) => self.round_avx2::<false>(address, lines, to),
                    (false, true) => self.round_avx2::<true>(address, lines, to),
                }
            };
        }
        // SAFETY: promised by the caller.
        unsafe {
            match kind {
                (true, false) => self.decode::<false>(address, lines, to),
                (true, true) => self.decode::<true>(address, lines, to),
                (false, false) => self.round::<false>(address, lines, to),
                (false, true) => self.round::<true>(address, lines, to),
            }
        }
    }

    /// The same code, compiled for wider vectors.
    ///
    /// # Safety
    /// As for `convert`, and the machine must have AVX2.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,f16c")]
    unsafe fn round_avx2<const FLUSH: bool>(&self, address: *const u8, lines: Lines, to: *mut f32) {
        // SAFETY: promised by the caller.
        unsafe { self.round::<FLUSH>(address, lines, to) }
    }

    /// As `round_avx2`.
    ///
    /// # Safety
    /// As there.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,f16c")]
    unsafe fn decode_avx2<const FLUSH: bool>(
        &self,
        address: *const u8,
        lines: Lines,
        to: *mut f32,
    ) {
        // SAFETY: promised by the caller.
        unsafe { self.decode::<FLUSH>(address, lines, to) }
    }

    /// [`Source::convert`] for encodings; FLUSH says whether some numbers may have to become +0.
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    unsafe fn decode<const FLUSH: bool>(&self, address: *const u8, lines: Lines, to: *mut f32) {
        let least = self.least;
        let kept = |x: f32| if FLUSH { flush(x, least) } else { x };
        // SAFETY: promised by the caller.
        unsafe {
            match self.format {
                Format::Fp32 => {
                    fill(lines, address.cast::<u32>(), to, |x| kept(quiet(x)));
                }
                Format::Tf32 => {
                    fill(lines, address.cast::<u32>(), to, |x| {
                        kept(from_tf32(x & self.visible))
                    });
                }
                Format::Bf16 => {
                    fill(lines, address.cast::<u16>(), to, |x| {
                        kept(f32::from_bits(u32::from(x) << 16))
                    });
                }
                Format::Fp16 => {
                    fill(lines, address.cast::<u16>(), to, |x| kept(from_fp16(x)));
                }
                _ => {
                    let table = byte_table(self.format);
                    fill(lines, address, to, |x: u8| kept(table[usize::from(x)]));
                }
            }
        }
    }

    /// [`Source::convert`] for numbers, FLUSH as for `decode`.
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    unsafe fn round<const FLUSH: bool>(&self, address: *const u8, lines: Lines, to: *mut f32) {
        // A copy, which the numbers written cannot change: else the compiler would read it again and again.
        let (factor, rules, least) = (self.factor, *self.rules, self.least);
        let kept = |x: f32| if FLUSH { flush(x, least) } else { x };
        // SAFETY: promised by the caller.
        unsafe {
            match (self.view.storage(), self.format) {
                (Storage::Raw, _) => unreachable!("encodings are decoded"),
                (Storage::F64, Format::Fp32) if self.cut_single => {
                    fill(lines, address.cast::<f64>(), to, |x| kept(cut(factor * x)));
                }
                (Storage::F64, Format::Fp32) => {
                    fill(lines, address.cast::<f64>(), to, |x| {
                        kept((factor * x) as f32)
                    });
                }
                (Storage::F64, Format::Tf32) => {
                    fill(lines, address.cast::<f64>(), to, |x| {
                        kept(cut_to_tf32(factor * x))
                    });
                }
                (Storage::F64, _) if rules.fnuz => {
                    fill(lines, address.cast::<f64>(), to, |x| {
                        kept(rules.round::<true>(factor * x))
                    });
                }
                (Storage::F64, _) => {
                    fill(lines, address.cast::<f64>(), to, |x| {
                        kept(rules.round::<false>(factor * x))
                    });
                }
                (Storage::F32, Format::Fp32) if factor == 1.0 => {
                    fill(lines, address.cast::<u32>(), to, |x| kept(quiet(x)));
                }
                (Storage::F32, Format::Fp32) if self.cut_single => {
                    fill(lines, address.cast::<f32>(), to, |x| {
                        kept(cut(factor * f64::from(x)))
                    });
                }
                (Storage::F32, Format::Fp32) => {
                    fill(lines, address.cast::<f32>(), to, |x| {
                        kept((factor * f64::from(x)) as f32)
                    });
                }
                (Storage::F32, Format::Tf32) if factor == 1.0 => {
                    fill(lines, address.cast::<u32>(), to, |x| kept(from_tf32(x)));
                }
                (Storage::F32, Format::Bf16) if factor == 1.0 => {
                    fill(lines, address.cast::<u32>(), to, |x| kept(to_bf16(x)));
                }
                (Storage::F32, Format::Tf32) => {
                    fill(lines, address.cast::<f32>(), to, |x| {
                        kept(cut_to_tf32(factor * f64::from(x)))
                    });
                }
                (Storage::F32, _) if factor == 1.0 && rules.narrow => {
                    let rules = rules.single();
                    match rules.fnuz {
                        true => fill(lines, address.cast::<f32>(), to, |x| {
                            kept(rules.round::<true>(x))
                        }),
                        false => fill(lines, address.cast::<f32>(), to, |x| {
                            kept(rules.round::<false>(x))
                        }),
                    }
                }
                (Storage::F32, _) if rules.fnuz => {
                    fill(lines, address.cast::<f32>(), to, |x| {
                        kept(rules.round::<true>(factor * f64::from(x)))
                    });
                }
                (Storage::F32, _) => {
                    fill(lines, address.cast::<f32>(), to, |x| {
                        kept(rules.round::<false>(factor * f64::from(x)))
                    });
                }
            }
        }
    }
}

/// [`flush`] of all numbers.
struct Flush<'a> {
    numbers: &'a mut [f32],
    least: f32,
}

impl Job for Flush<'_> {
    #[inline(always)]
    unsafe fn run<L: Lanes>(self) {
        for number in self.numbers {
            *number = flush(*number, self.least);
        }
    }
}

/// Writes zeros where a strip covers nothing, and perhaps where it does.
///
/// # Safety
/// `to` must have room for the strip.
unsafe fn zero_rest<T>(part: Part, to: *mut T) {
    let Part { rows, lanes, k, .. } = part;
    let first = if rows < lanes { 0 } else { k };
    if first == part.k_padded {
        return;
    }
    // SAFETY: promised by the caller; all zero bits are +0.
    unsafe {
        to.add(first * lanes)
            .write_bytes(0, (part.k_padded - first) * lanes);
    }
}

#[cfg(test)]
mod tests;
