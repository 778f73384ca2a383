//! The two ends of a tile: c as the user gives it, d as the user gets it.

use super::problem::{Problem, Storage, View};
use crate::format::{Format, Overflow, Rounding, decode, recode};
use crate::kernel::{Source, Tile};
use crate::model::Model;
use crate::reference::{Operand, dot};

/// How the elements of C and D are read and written.
#[derive(Clone, Copy)]
pub struct Results {
    problem: Problem,
    /// The addend, unless beta is 0 or there is none.
    c: Option<View>,
    /// Format that C is rounded to, and how.
    c_format: Format,
    c_rounding: Rounding,
    /// Format of the numbers that travel with a tile.
    wide: Format,
    /// Reads C where the format of the numbers that travel holds it as it is.
    source: Option<Source>,
}

impl Results {
    /// Of a product that travels as binary64 numbers, or as binary32 ones.
    pub fn new(problem: &Problem, double: bool) -> Results {
        let model = &problem.model;
        let c = problem.c.filter(|_| problem.beta != 0.0);
        let (c_format, c_rounding) = match c.map(|view| view.storage()) {
            Some(Storage::F32 | Storage::F64) => model.addend_format(),
            Some(Storage::Raw) | None => (model.output(), Rounding::NearestEven),
        };
        let wide = if double { Format::Fp64 } else { Format::Fp32 };
        let source = c
            .filter(|_| !double || c_format == Format::Fp64)
            .map(|view| Source::new(view, problem.beta, c_format, model.params()));
        Results {
            problem: *problem,
            c,
            c_format,
            c_rounding,
            source: match c_rounding {
                Rounding::TowardZero => source.map(Source::cut_single),
                _ => source,
            },
            wide,
        }
    }

    /// The format that the numbers of [`Results::load`] count as: the user's c, or what the unit carries if that is wider.
    pub fn first_format(&self) -> Format {
        let carry = self.problem.model.unit().carry();
        if carry.info().fraction_bits > self.c_format.info().fraction_bits {
            carry
        } else {
            self.c_format
        }
    }

    /// Encoding of c(i, j) in `c_format`.
    fn addend(&self, i: usize, j: usize) -> u64 {
        let Some(view) = self.c else {
            return 0;
        };
        // SAFETY: (i, j) lies in C.
        unsafe { view.load(i, j, self.problem.beta, self.c_format, self.c_rounding) }
    }

    /// Fills a tile of `mr` rows, `nr` numbers apart, with the c's from (i, j) on, and zeros beyond.
    pub fn load(&self, tile: &Tile, (mr, nr): (usize, usize), i: usize, j: usize) {
        let Tile { rows, cols, .. } = *tile;
        let from = if self.c.is_none() || cols < nr {
            0
        } else {
            rows
        };
        // SAFETY: the numbers lie in the tile, the elements in C.
        unsafe {
            self.row(tile, nr, from)
                .write_bytes(0, (mr - from) * nr * self.wide.bytes());
            match (self.c, self.source) {
                (None, _) => {}
                (Some(_), Some(source)) if self.wide == Format::Fp64 => {
                    let to = tile.c.cast::<f64>();
                    source.tile_double((i, j), (rows, cols), to, nr);
                    quiet_all::<u64>(tile.c.cast(), rows * nr);
                }
                (Some(_), Some(source)) => {
                    let to = tile.c.cast::<f32>();
                    source.tile((i, j), (rows, cols), to, nr);
                    quiet_all::<u32>(tile.c.cast(), rows * nr);
                }
                (Some(_), None) => {
                    for (row, col) in (0..rows).flat_map(|row| (0..cols).map(move |col| (row, col)))
                    {
                        let bits = self.addend(i + row, j + col);
                        let bits = exactly(self.c_format, self.wide, bits).quiet();
                        self.row(tile, nr, row).cast::<u64>().add(col).write(bits);
                    }
                }
            }
        }
    }

    /// Stores a finished tile as D's elements from (i, j) on.
    pub fn store(&self, tile: &Tile, nr: usize, i: usize, j: usize) {
        let Tile { rows, cols, .. } = *tile;
        let model = &self.problem.model;
        let plain = model.unit().carry() == model.output();
        for row in 0..rows {
            // SAFETY: the numbers lie in the tile, the elements in D, and they are this task's alone.
            let stored = plain
                && unsafe {
                    let from = self.row(tile, nr, row);
                    match self.wide {
                        Format::Fp64 => self.store_doubles(from.cast(), cols, (i + row, j)),
                        _ => store_singles(
                            self.problem.d,
                            model.output(),
                            from.cast(),
                            cols,
                            (i + row, j),
                        ),
                    }
                };
            if !stored {
                for col in 0..cols {
                    self.store_one(tile, nr, (row, col), (i + row, j + col));
                }
            }
        }
    }

    /// [`store_singles`] for binary64. Returns false as well if the numbers have yet to be rounded.
    ///
    /// # Safety
    /// As for `store_singles`.
    unsafe fn store_doubles(&self, from: *const f64, count: usize, (i, j): (usize, usize)) -> bool {
        let view = self.problem.d;
        if self.problem.model.output() != Format::Fp64 || view.storage() == Storage::F32 {
            return false;
        }
        // SAFETY: promised by the caller.
        unsafe {
            if (0..count).fold(false, |nan, at| nan | (*from.add(at)).is_nan()) {
                return false;
            }
            let (to, stride) = (view.address(i, j), view.col_stride());
            write(from, count, to.cast::<f64>(), stride, |x| x);
        }
        true
    }

    /// Stores any number of the tile, also NaN or one that has yet to be rounded.
    fn store_one(&self, tile: &Tile, nr: usize, (row, col): (usize, usize), to: (usize, usize)) {
        let model = &self.problem.model;
        let (output, carry) = (model.output(), model.unit().carry());
        // SAFETY: the number lies in the tile.
        let (bits, nan) = unsafe {
            let from = self.row(tile, nr, row);
            match self.wide {
                Format::Fp64 => {
                    let bits = from.cast::<u64>().add(col).read();
                    (bits, f64::from_bits(bits).is_nan())
                }
                _ => {
                    let bits = from.cast::<u32>().add(col).read();
                    (bits.into(), f32::from_bits(bits).is_nan())
                }
            }
        };
        let bits = if nan && model.params().propagates_nans(output) {
            self.by_reference(to.0, to.1)
        } else if nan || carry != output {
            self.finished(carry, exactly(self.wide, carry, bits))
        } else {
            exactly(self.wide, output, bits)
        };
        // SAFETY: the element lies in D and is this task's alone.
        unsafe { self.problem.d.store(to.0, to.1, output, bits) };
    }

    /// The result of a dot product of length zero.
    pub fn store_without_products(&self, i: usize, j: usize) {
        let bits = self.finished(self.c_format, self.addend(i, j));
        // SAFETY: (i, j) lies in D.
        unsafe {
            self.problem
                .d
                .store(i, j, self.problem.model.output(), bits)
        };
    }

    /// What the unit returns of a c after its last block: another format, and NaN as the unit has it.
    fn finished(&self, format: Format, bits: u64) -> u64 {
        let unit = self.problem.model.unit();
        dot(unit, &[], &[], Operand::new(format, bits))
    }

    /// The whole dot product again: which NaN a unit passes on depends on where it came from, and kernels do not tell.
    fn by_reference(&self, i: usize, j: usize) -> u64 {
        let Problem {
            model,
            k,
            alpha,
            a,
            b,
            ..
        } = self.problem;
        // Such a unit's product is never transposed, so alpha belongs to A.
        let load = |view: View, i, j, factor, format| {
            let rounding = Model::input_rounding(format);
            // SAFETY: (i, j) lies in the view.
            decode(format, unsafe { view.load(i, j, factor, format, rounding) })
        };
        let row: Vec<_> = (0..k).map(|p| load(a, i, p, alpha, model.a())).collect();
        let column: Vec<_> = (0..k).map(|p| load(b, p, j, 1.0, model.b())).collect();
        let c = Operand::new(self.c_format, self.addend(i, j));
        dot(model.unit(), &row, &column, c)
    }

    /// Where a row of the tile begins.
    ///
    /// # Safety
    /// The row must lie in the tile.
    unsafe fn row(&self, tile: &Tile, nr: usize, row: usize) -> *mut u8 {
        // SAFETY: promised by the caller.
        unsafe { tile.c.add(row * nr * self.wide.bytes()) }
    }
}

/// Stores neighbours in a row of a matrix that holds results of format `output`, binary32 or binary16, numbers that have
/// encodings there. Returns whether none is a NaN: those have to be stored again as the unit has them.
///
/// # Safety
/// The numbers and the elements must exist, and the elements be this task's alone.
pub(super) unsafe fn store_singles(
    view: View,
    output: Format,
    from: *const f32,
    count: usize,
    (i, j): (usize, usize),
) -> bool {
    let (to, stride) = (view.address(i, j), view.col_stride());
    // SAFETY: promised by the caller.
    unsafe {
        match view.storage() {
            Storage::F64 => write(from, count, to.cast::<f64>(), stride, f64::from),
            Storage::Raw if output == Format::Fp16 => {
                write(from, count, to.cast::<u16>(), stride, exactly_half);
            }
            _ => write(from, count, to.cast::<f32>(), stride, |x| x),
        }
        (0..count).fold(true, |all, at| all & !(*from.add(at)).is_nan())
    }
}

/// Writes numbers as elements that lie `stride` apart.
///
/// # Safety
/// Both must exist.
unsafe fn write<T: Copy, U: Copy>(
    from: *const T,
    count: usize,
    to: *mut U,
    stride: isize,
    convert: impl Fn(T) -> U,
) {
    // SAFETY: promised by the caller; writes are unaligned.
    unsafe {
        if stride == 1 {
            for at in 0..count {
                to.add(at).write_unaligned(convert(*from.add(at)));
            }
        } else {
            for at in 0..count {
                let to = to.wrapping_offset(at as isize * stride);
                to.write_unaligned(convert(*from.add(at)));
            }
        }
    }
}

/// The binary16 encoding of a number that has one, not a NaN.
fn exactly_half(x: f32) -> u16 {
    let bits = x.to_bits();
    let sign = (bits >> 16 & 0x8000) as u16;
    let magnitude = f32::from_bits(bits & 0x7fff_ffff);
    // A power of two moves binary16's smallest exponents to binary32's, subnormal numbers included; an infinity stays.
    let moved = (magnitude * f32::from_bits((127 - 112) << 23)).to_bits();
    sign | (moved >> 13).min(0x7c00) as u16
}

/// Encodings of binary32 and binary64.
pub(super) trait Encoding: Copy {
    /// A NaN with its first fraction bit set, so that no kernel turns it into an infinity; other numbers as they are.
    fn quiet(self) -> Self;
}

macro_rules! encodings {
    ($($bits:ty: $infinity:expr, $first:expr);*) => {$(
        impl Encoding for $bits {
            #[inline(always)]
            fn quiet(self) -> Self {
                let nan = self & (Self::MAX >> 1) > $infinity;
                self | if nan { $first } else { 0 }
            }
        }
    )*};
}

encodings!(u32: 0x7f80_0000, 1 << 22; u64: 0x7ff << 52, 1 << 51);

/// Quiets NaNs, see [`Encoding::quiet`].
///
/// # Safety
/// The encodings must exist.
pub(super) unsafe fn quiet_all<T: Encoding>(bits: *mut T, count: usize) {
    // SAFETY: promised by the caller, and nobody else touches them.
    for bits in unsafe { std::slice::from_raw_parts_mut(bits, count) } {
        *bits = bits.quiet();
    }
}

/// A number in another format that holds it.
fn exactly(from: Format, to: Format, bits: u64) -> u64 {
    if from == to {
        return bits;
    }
    recode(from, to, bits, Rounding::NearestEven, Overflow::Ieee)
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
