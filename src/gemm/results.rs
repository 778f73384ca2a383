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
    /// Reads C where they are binary32 numbers.
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
        Results {
            problem: *problem,
            c,
            c_format,
            c_rounding,
            source: c
                .filter(|_| !double)
                .map(|view| Source::new(view, problem.beta, c_format, model.params())),
            wide: if double { Format::Fp64 } else { Format::Fp32 },
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

    /// Fills a tile, whose rows are `nr` numbers apart, with the c's from (i, j) on.
    pub fn load(&self, tile: &Tile, nr: usize, i: usize, j: usize) {
        let Tile { rows, cols, .. } = *tile;
        if self.c.is_none() || cols < nr {
            for row in 0..rows {
                // SAFETY: the row lies in the tile.
                unsafe {
                    self.row(tile, nr, row)
                        .write_bytes(0, nr * self.wide.bytes())
                };
            }
        }
        match (self.c, self.source) {
            (None, _) => {}
            (Some(view), Some(source)) => {
                let mut line = [0f32; LINE];
                for (first, col) in lines(rows, cols) {
                    let line = &mut line[..LINE.min(rows - first)];
                    // SAFETY: the elements lie in C, the numbers in the tile.
                    unsafe {
                        if self.c_rounding == Rounding::TowardZero && view.storage() != Storage::Raw
                        {
                            self.cut_column(view, i + first, j + col, line);
                        } else {
                            source.column(i + first, j + col, line);
                        }
                        for (row, x) in line.iter().enumerate() {
                            let to = self.row(tile, nr, first + row).cast::<u32>();
                            to.add(col)
                                .write(quiet(Format::Fp32, x.to_bits().into()) as u32);
                        }
                    }
                }
            }
            (Some(_), None) => {
                for (row, col) in (0..rows).flat_map(|row| (0..cols).map(move |col| (row, col))) {
                    let bits = self.addend(i + row, j + col);
                    let bits = quiet(self.wide, exactly(self.c_format, self.wide, bits));
                    // SAFETY: the number lies in the tile.
                    unsafe { self.row(tile, nr, row).cast::<u64>().add(col).write(bits) };
                }
            }
        }
    }

    /// A column of C times beta, cut to binary32.
    ///
    /// # Safety
    /// The elements must exist.
    unsafe fn cut_column(&self, view: View, i: usize, j: usize, line: &mut [f32]) {
        let beta = self.problem.beta;
        let (address, stride) = (view.address(i, j), view.row_stride());
        for (row, x) in line.iter_mut().enumerate() {
            let offset = row as isize * stride;
            // SAFETY: promised by the caller; reads are unaligned.
            let element = unsafe {
                match view.storage() {
                    Storage::F64 => address.cast::<f64>().offset(offset).read_unaligned(),
                    _ => address.cast::<f32>().offset(offset).read_unaligned().into(),
                }
            };
            *x = cut(beta * element);
        }
    }

    /// Stores a finished tile as D's elements from (i, j) on.
    pub fn store(&self, tile: &Tile, nr: usize, i: usize, j: usize) {
        let Tile { rows, cols, .. } = *tile;
        let model = &self.problem.model;
        let plain = self.wide == Format::Fp32 && model.unit().carry() == model.output();
        let mut line = [0f32; LINE];
        // Column by column: D is column-major as a rule.
        for (first, col) in lines(rows, cols) {
            let line = &mut line[..LINE.min(rows - first)];
            if plain {
                for (row, x) in line.iter_mut().enumerate() {
                    // SAFETY: the number lies in the tile.
                    *x = unsafe {
                        self.row(tile, nr, first + row)
                            .cast::<f32>()
                            .add(col)
                            .read()
                    };
                }
                if !line.iter().any(|x| x.is_nan()) {
                    self.store_column(i + first, j + col, line);
                    continue;
                }
            }
            for row in first..rows.min(first + LINE) {
                self.store_one(tile, nr, (row, col), (i + row, j + col));
            }
        }
    }

    /// Stores numbers that the output format, binary32 or binary16, holds.
    fn store_column(&self, i: usize, j: usize, line: &[f32]) {
        let view = self.problem.d;
        let half = self.problem.model.output() == Format::Fp16;
        let (address, stride) = (view.address(i, j), view.row_stride());
        for (row, &x) in line.iter().enumerate() {
            let offset = row as isize * stride;
            // SAFETY: the elements lie in D and are this task's alone; writes are unaligned.
            unsafe {
                match view.storage() {
                    Storage::F64 => address
                        .cast::<f64>()
                        .offset(offset)
                        .write_unaligned(x.into()),
                    Storage::Raw if half => {
                        let to = address.cast::<u16>().offset(offset);
                        to.write_unaligned(exactly_half(x));
                    }
                    _ => address.cast::<f32>().offset(offset).write_unaligned(x),
                }
            }
        }
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

/// Rows that are read or written together.
const LINE: usize = 64;

/// The columns of a tile, in pieces of up to [`LINE`] rows: first row and column of each.
fn lines(rows: usize, cols: usize) -> impl Iterator<Item = (usize, usize)> {
    let firsts = (0..rows).step_by(LINE);
    firsts.flat_map(move |first| (0..cols).map(move |col| (first, col)))
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

/// A NaN with its first fraction bit set, so that no kernel turns it into an infinity; other numbers as they are.
fn quiet(format: Format, bits: u64) -> u64 {
    match format {
        Format::Fp64 if f64::from_bits(bits).is_nan() => bits | 1 << 51,
        Format::Fp32 if f32::from_bits(bits as u32).is_nan() => bits | 1 << 22,
        _ => bits,
    }
}

/// A number in another format that holds it.
fn exactly(from: Format, to: Format, bits: u64) -> u64 {
    if from == to {
        return bits;
    }
    recode(from, to, bits, Rounding::NearestEven, Overflow::Ieee)
}

/// binary64 to binary32 toward zero: to nearest, then one step back if that went too far.
fn cut(x: f64) -> f32 {
    let nearest = x as f32;
    if f64::from(nearest).abs() > x.abs() {
        f32::from_bits(nearest.to_bits() - 1)
    } else {
        nearest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::from_f64;

    #[test]
    fn halves_are_encoded_exactly() {
        for bits in (0..=0x7c00).chain(0x8000..=0xfc00u64) {
            let x = crate::format::to_f64(Format::Fp16, bits) as f32;
            assert_eq!(u64::from(exactly_half(x)), bits);
        }
    }

    #[test]
    fn cutting_is_rounding_toward_zero() {
        let mut state = 88172645463325252u64;
        let mut data = vec![
            f64::MAX,
            -f64::MAX,
            5e-324,
            f64::INFINITY,
            3.5e38,
            1e-45,
            -1e-46,
        ];
        for _ in 0..1_000_000 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let exponent = 1023 - 160 + (state >> 52) % 300;
            data.push(f64::from_bits(state & !(0x7ff << 52) | exponent << 52));
        }
        for x in data {
            let want = from_f64(Format::Fp32, x, Rounding::TowardZero);
            assert_eq!(u64::from(cut(x).to_bits()), want, "{x:e}");
        }
        assert!(cut(f64::NAN).is_nan());
    }
}
