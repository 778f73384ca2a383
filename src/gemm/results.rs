//! The two ends of a tile: c as the user gives it, d as the user gets it.

use super::problem::{Problem, Storage, View};
use crate::format::{Format, Overflow, Rounding, decode, recode};
use crate::kernel::{Sink, Source, Tile, prefetch, quiet_double};
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
    sink: Sink,
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
            sink: Sink::new(problem.d, model.output()),
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
                }
                (Some(_), Some(source)) => {
                    let to = tile.c.cast::<f32>();
                    source.tile((i, j), (rows, cols), to, nr);
                }
                (Some(_), None) => {
                    for (row, col) in (0..rows).flat_map(|row| (0..cols).map(move |col| (row, col)))
                    {
                        let bits = self.addend(i + row, j + col);
                        let number = quiet_double(exactly(self.c_format, self.wide, bits));
                        self.row(tile, nr, row).cast::<f64>().add(col).write(number);
                    }
                }
            }
        }
    }

    /// Asks for the memory of C that a [`Results::load`] will read.
    pub fn prefetch_c(&self, size: (usize, usize), i: usize, j: usize) {
        if let Some(c) = self.c {
            prefetch_tile(&c, size, i, j);
        }
    }

    /// Asks for the memory of D that a [`Results::store`] will write.
    pub fn prefetch_d(&self, size: (usize, usize), i: usize, j: usize) {
        prefetch_tile(&self.problem.d, size, i, j);
    }

    /// Stores a finished tile as D's elements from (i, j) on.
    pub fn store(&self, tile: &Tile, nr: usize, i: usize, j: usize) {
        let Tile { rows, cols, .. } = *tile;
        let (output, carry) = (
            self.problem.model.output(),
            self.problem.model.unit().carry(),
        );
        let as_it_is = match (self.wide, output) {
            (Format::Fp64, Format::Fp64) => self.problem.d.storage() != Storage::F32,
            (Format::Fp64, _) => false,
            _ => carry == output,
        };
        let nan = |at| self.number(tile, nr, at).1;
        let places = || (0..rows).flat_map(move |row| (0..cols).map(move |col| (row, col)));
        // Where a NaN has to be computed again from its c, D may be C: then nothing is stored over it.
        let again = self.problem.model.params().propagates_nans(output) && places().any(nan);
        let sizes = (rows, cols);
        // SAFETY: the numbers lie in the tile, the elements in D, and they are this task's alone.
        let finished = as_it_is
            && !again
            && unsafe {
                match self.wide {
                    Format::Fp64 => self.sink.tile_double(tile.c.cast(), nr, sizes, (i, j)),
                    _ => self.sink.tile(tile.c.cast(), nr, sizes, (i, j)),
                }
            };
        if finished {
            return;
        }
        for (row, col) in places() {
            let (bits, nan) = self.number(tile, nr, (row, col));
            if nan || again || !as_it_is {
                self.store_one((bits, nan), (i + row, j + col));
            }
        }
    }

    /// A number of the tile, and whether it is a NaN.
    fn number(&self, tile: &Tile, nr: usize, (row, col): (usize, usize)) -> (u64, bool) {
        // SAFETY: the number lies in the tile.
        unsafe {
            let from = self.row(tile, nr, row);
            match self.wide {
                Format::Fp64 => {
                    let number = from.cast::<f64>().add(col).read();
                    (number.to_bits(), number.is_nan())
                }
                _ => {
                    let number = from.cast::<f32>().add(col).read();
                    (number.to_bits().into(), number.is_nan())
                }
            }
        }
    }

    /// Stores any number of a tile, also NaN or one that has yet to be rounded.
    fn store_one(&self, (bits, nan): (u64, bool), to: (usize, usize)) {
        let model = &self.problem.model;
        let (output, carry) = (model.output(), model.unit().carry());
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

/// Bytes that memory hands out together.
const CACHE_LINE: usize = 64;

/// Asks for a tile of a matrix whose rows or columns are contiguous.
fn prefetch_tile(view: &View, (rows, cols): (usize, usize), i: usize, j: usize) {
    let (along, across) = match (view.row_stride(), view.col_stride()) {
        (_, 1) => (cols, rows),
        (1, _) => (rows, cols),
        _ => return,
    };
    let by_rows = view.col_stride() == 1;
    for line in 0..across {
        let first = match by_rows {
            true => view.address(i + line, j),
            false => view.address(i, j + line),
        };
        let length = along * view.bytes();
        for at in (0..length).step_by(CACHE_LINE) {
            prefetch(first.wrapping_add(at));
        }
        // The end of a row of the tile is often in a cache line of its own.
        prefetch(first.wrapping_add(length - 1));
    }
}

/// A number in another format that holds it.
pub(super) fn exactly(from: Format, to: Format, bits: u64) -> u64 {
    if from == to {
        return bits;
    }
    recode(from, to, bits, Rounding::NearestEven, Overflow::Ieee)
}
