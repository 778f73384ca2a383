//! Results as elements of D: numbers that have encodings in its format.

use super::lanes::{Job, Lanes};
use super::level::{Level, level, on_level};
use super::portable::Portable;
use crate::format::Format;
use crate::gemm::{Storage, View};

/// A matrix of results that is written, the other end of a [`Source`](super::Source).
#[derive(Clone, Copy)]
pub struct Sink {
    view: View,
    output: Format,
    level: Level,
}

impl Sink {
    /// A matrix that holds results of format `output`.
    pub fn new(view: View, output: Format) -> Sink {
        Sink {
            view,
            output,
            level: level(),
        }
    }

    /// Stores a tile of results of a unit whose output is not binary64 as `rows` x `cols` elements from (`row`, `col`) on. The
    /// tile's rows lie `pitch` numbers apart. Returns whether none is a NaN: those have to be stored again as the unit has
    /// them.
    ///
    /// # Safety
    /// The numbers and the elements must exist, and the elements be this task's alone.
    pub unsafe fn tile(
        &self,
        from: *const f32,
        pitch: usize,
        (rows, cols): (usize, usize),
        (row, col): (usize, usize),
    ) -> bool {
        let mut any_nan = false;
        let job = Store {
            sink: self,
            tile: self.at((from, pitch), (rows, cols), (row, col)),
            any_nan: &mut any_nan,
        };
        // SAFETY: the machine has the level; the rest is promised by the caller.
        unsafe {
            if cols == 1 && rows == 1 {
                job.run::<Portable>();
            } else {
                on_level(self.level, job);
            }
        }
        !any_nan
    }

    /// The same of a unit whose results are binary64 and stored as such.
    ///
    /// # Safety
    /// As for `tile`.
    pub unsafe fn tile_double(
        &self,
        from: *const f64,
        pitch: usize,
        (rows, cols): (usize, usize),
        (row, col): (usize, usize),
    ) -> bool {
        let tile = self.at((from, pitch), (rows, cols), (row, col));
        // SAFETY: promised by the caller.
        unsafe {
            tile.write(0, |x| x);
            !tile.any(0, f64::is_nan)
        }
    }

    fn at<T>(
        &self,
        (from, pitch): (*const T, usize),
        (rows, cols): (usize, usize),
        (row, col): (usize, usize),
    ) -> Tile<T> {
        Tile {
            from,
            pitch,
            rows,
            cols,
            to: self.view.address(row, col),
            row_stride: self.view.row_stride(),
            col_stride: self.view.col_stride(),
        }
    }
}

/// Numbers, and where they go; strides are in elements.
#[derive(Clone, Copy)]
struct Tile<T> {
    from: *const T,
    pitch: usize,
    rows: usize,
    cols: usize,
    to: *mut u8,
    row_stride: isize,
    col_stride: isize,
}

impl<T: Copy> Tile<T> {
    /// Is this true of any number from column `first` on?
    ///
    /// # Safety
    /// The numbers must exist.
    #[inline(always)]
    unsafe fn any(&self, first: usize, what: impl Fn(T) -> bool) -> bool {
        let mut any = false;
        for row in 0..self.rows {
            for col in first..self.cols {
                // SAFETY: promised by the caller.
                any |= what(unsafe { *self.from.add(row * self.pitch + col) });
            }
        }
        any
    }

    /// Writes the numbers from column `first` on, converted.
    ///
    /// # Safety
    /// The numbers and the elements must exist.
    #[inline(always)]
    unsafe fn write<U>(&self, first: usize, convert: impl Fn(T) -> U) {
        for row in 0..self.rows {
            let from = self.from.wrapping_add(row * self.pitch);
            let to = self.to.cast::<U>();
            let to = to.wrapping_offset(row as isize * self.row_stride);
            // SAFETY: promised by the caller; writes are unaligned.
            unsafe {
                if self.col_stride == 1 {
                    for col in first..self.cols {
                        to.add(col).write_unaligned(convert(*from.add(col)));
                    }
                } else {
                    for col in first..self.cols {
                        let to = to.wrapping_offset(col as isize * self.col_stride);
                        to.write_unaligned(convert(*from.add(col)));
                    }
                }
            }
        }
    }
}

struct Store<'a> {
    sink: &'a Sink,
    tile: Tile<f32>,
    any_nan: &'a mut bool,
}

impl Job for Store<'_> {
    #[inline(always)]
    unsafe fn run<L: Lanes>(self) {
        let Store {
            sink,
            tile,
            any_nan,
        } = self;
        let in_vectors = tile.cols / L::COUNT * L::COUNT;
        // SAFETY: promised by the caller.
        unsafe {
            let mut largest = L::splat_i(0);
            for row in 0..tile.rows {
                for col in (0..in_vectors).step_by(L::COUNT) {
                    let x = L::load_i(tile.from.add(row * tile.pitch + col).cast());
                    largest = L::max_i(largest, L::and(x, L::splat_i(i32::MAX)));
                }
            }
            let infinity = L::splat_i(f32::INFINITY.to_bits() as i32);
            *any_nan = L::any_negative(L::sub_i(infinity, largest))
                || (in_vectors < tile.cols && tile.any(in_vectors, f32::is_nan));
            match sink.view.storage() {
                Storage::F64 => tile.write(0, f64::from),
                Storage::Raw if sink.output == Format::Fp16 => tile.write(0, exactly_half),
                _ if tile.col_stride != 1 => tile.write(0, |x| x),
                _ => {
                    let to = tile.to.cast::<f32>();
                    for row in 0..tile.rows {
                        let to = to.wrapping_offset(row as isize * tile.row_stride);
                        for col in (0..in_vectors).step_by(L::COUNT) {
                            let x = L::load(tile.from.add(row * tile.pitch + col));
                            L::store(to.add(col), x);
                        }
                    }
                    if in_vectors < tile.cols {
                        tile.write(in_vectors, |x| x);
                    }
                }
            }
        }
    }
}

/// The binary16 encoding of a number that has one, not a NaN.
#[inline(always)]
fn exactly_half(x: f32) -> u16 {
    let bits = x.to_bits();
    let sign = (bits >> 16 & 0x8000) as u16;
    let magnitude = f32::from_bits(bits & 0x7fff_ffff);
    // A power of two moves binary16's smallest exponents to binary32's, subnormal numbers included; an infinity stays.
    let moved = (magnitude * f32::from_bits((127 - 112) << 23)).to_bits();
    sign | (moved >> 13).min(0x7c00) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_encoded_exactly() {
        for bits in (0..=0x7c00).chain(0x8000..=0xfc00u64) {
            let x = crate::format::to_f64(Format::Fp16, bits) as f32;
            assert_eq!(u64::from(exactly_half(x)), bits);
        }
    }
}
