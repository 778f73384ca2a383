//! The two ends of a tile: c as the user gives it, d as the user gets it.

use super::problem::{Problem, Storage, View};
use crate::format::{Format, Overflow, Rounding, recode};
use crate::kernel::Tile;
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
        let single = self.wide == Format::Fp32 && self.c_format == Format::Fp32;
        match self.c {
            None => {
                for row in 0..rows {
                    // SAFETY: the row lies in the tile.
                    unsafe {
                        self.row(tile, nr, row)
                            .write_bytes(0, cols * self.wide.bytes())
                    };
                }
            }
            Some(view) if single && view.storage() != Storage::Raw => {
                let beta = self.problem.beta;
                for row in 0..rows {
                    // SAFETY: the row lies in the tile, the elements in C; reads of C are unaligned.
                    unsafe {
                        let to = self.row(tile, nr, row).cast::<f32>();
                        for col in 0..cols {
                            let from = view.address(i + row, j + col);
                            let x = if view.storage() == Storage::F32 {
                                f64::from(from.cast::<f32>().read_unaligned())
                            } else {
                                from.cast::<f64>().read_unaligned()
                            };
                            to.add(col).write(cut(beta * x));
                        }
                    }
                }
            }
            Some(_) => {
                for row in 0..rows {
                    for col in 0..cols {
                        let bits = self.addend(i + row, j + col);
                        let bits = quiet(self.wide, exactly(self.c_format, self.wide, bits));
                        // SAFETY: the number lies in the tile.
                        unsafe {
                            let to = self.row(tile, nr, row);
                            match self.wide {
                                Format::Fp64 => to.cast::<u64>().add(col).write(bits),
                                _ => to.cast::<u32>().add(col).write(bits as u32),
                            }
                        }
                    }
                }
            }
        }
    }

    /// Stores a finished tile as D's elements from (i, j) on.
    pub fn store(&self, tile: &Tile, nr: usize, i: usize, j: usize) {
        let view = self.problem.d;
        let output = self.problem.model.output();
        let carry = self.problem.model.unit().carry();
        // Columns outside: D is column-major as a rule.
        for col in 0..tile.cols {
            for row in 0..tile.rows {
                // SAFETY: the number lies in the tile.
                let bits = unsafe {
                    let from = self.row(tile, nr, row);
                    match self.wide {
                        Format::Fp64 => from.cast::<u64>().add(col).read(),
                        _ => from.cast::<u32>().add(col).read().into(),
                    }
                };
                let nan = match self.wide {
                    Format::Fp64 => f64::from_bits(bits).is_nan(),
                    _ => f32::from_bits(bits as u32).is_nan(),
                };
                let address = view.address(i + row, j + col);
                if output == Format::Fp32 && self.wide == Format::Fp32 && !nan {
                    let x = f32::from_bits(bits as u32);
                    // SAFETY: (i + row, j + col) lies in D and is this task's alone; writes are unaligned.
                    unsafe {
                        match view.storage() {
                            Storage::F64 => address.cast::<f64>().write_unaligned(x.into()),
                            Storage::F32 | Storage::Raw => address.cast::<f32>().write_unaligned(x),
                        }
                    }
                    continue;
                }
                let bits = if nan || carry != output {
                    self.finished(carry, exactly(self.wide, carry, bits))
                } else {
                    exactly(self.wide, output, bits)
                };
                // SAFETY: as above.
                unsafe { view.store(i + row, j + col, output, bits) };
            }
        }
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

    /// Where a row of the tile begins.
    ///
    /// # Safety
    /// The row must lie in the tile.
    unsafe fn row(&self, tile: &Tile, nr: usize, row: usize) -> *mut u8 {
        // SAFETY: promised by the caller.
        unsafe { tile.c.add(row * nr * self.wide.bytes()) }
    }
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
