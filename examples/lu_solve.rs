//! A linear system solved by a low-precision LU factorisation and iterative refinement, in Rust: see lu_solve.c, whose
//! steps these are.

use mfma::{Arch, Error, Format, MatMut, MatRef, Model, Product};

const N: usize = 200;
const BLOCK: usize = 32;
const STEPS: usize = 12;
const DIAGONAL: f64 = 12.0;

/// A matrix in columns.
#[derive(Clone)]
struct Matrix {
    rows: usize,
    data: Vec<f64>,
}

impl Matrix {
    fn new(rows: usize, cols: usize, element: impl Fn(usize, usize) -> f64) -> Matrix {
        let places = (0..cols).flat_map(|j| (0..rows).map(move |i| (i, j)));
        let data = places.map(|(i, j)| element(i, j)).collect();
        Matrix { rows, data }
    }

    fn at(&self, i: usize, j: usize) -> f64 {
        self.data[i + j * self.rows]
    }

    fn at_mut(&mut self, i: usize, j: usize) -> &mut f64 {
        &mut self.data[i + j * self.rows]
    }

    /// A power of two that brings the largest element to 64 or more, but below 128.
    fn scale(&self) -> f64 {
        let (largest, mut scale) = (largest_of(&self.data), 1.0);
        while largest > 0.0 && largest * scale < 64.0 {
            scale *= 2.0;
        }
        while largest * scale >= 128.0 {
            scale /= 2.0;
        }
        scale
    }
}

fn largest_of(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |largest, x| f64::max(largest, x.abs()))
}

/// The trailing block, from (end, end) on, less the product of the blocks on its left and above it; on a unit, or in
/// binary64.
fn update(unit: Option<&Model>, a: &mut Matrix, first: usize, end: usize) -> Result<(), Error> {
    let Some(unit) = unit else {
        for j in end..N {
            for p in first..end {
                for i in end..N {
                    *a.at_mut(i, j) -= a.at(i, p) * a.at(p, j);
                }
            }
        }
        return Ok(());
    };
    let (rest, k) = (N - end, end - first);
    let l = Matrix::new(rest, k, |i, p| a.at(end + i, first + p));
    let mut u = Matrix::new(k, rest, |p, j| a.at(first + p, end + j));
    let mut c = Matrix::new(rest, rest, |i, j| a.at(end + i, end + j));
    let (scale_l, scale_u) = (l.scale(), u.scale());
    u.data.iter_mut().for_each(|x| *x *= scale_u);
    let product = Product::new(
        unit,
        MatRef::col_major(&l.data, rest, k)?,
        MatRef::col_major(&u.data, k, rest)?,
    );
    product.alpha(-scale_l).update(
        scale_l * scale_u,
        MatMut::col_major(&mut c.data, rest, rest)?,
    )?;
    for j in 0..rest {
        for i in 0..rest {
            *a.at_mut(end + i, end + j) = c.at(i, j) / (scale_l * scale_u);
        }
    }
    Ok(())
}

/// A becomes its factors L and U; returns how its rows were exchanged.
fn factor(unit: Option<&Model>, a: &mut Matrix) -> Result<Vec<usize>, Error> {
    let mut pivot = Vec::new();
    for first in (0..N).step_by(BLOCK) {
        let end = N.min(first + BLOCK);
        for j in first..end {
            let larger = |best: usize, i: usize| {
                if a.at(i, j).abs() > a.at(best, j).abs() {
                    i
                } else {
                    best
                }
            };
            let largest = (j..N).fold(j, larger);
            pivot.push(largest);
            for c in 0..N {
                a.data.swap(j + c * N, largest + c * N);
            }
            for i in j + 1..N {
                *a.at_mut(i, j) /= a.at(j, j);
            }
            for c in j + 1..end {
                for i in j + 1..N {
                    *a.at_mut(i, c) -= a.at(i, j) * a.at(j, c);
                }
            }
        }
        for c in end..N {
            for j in first..end {
                for i in j + 1..end {
                    *a.at_mut(i, c) -= a.at(i, j) * a.at(j, c);
                }
            }
        }
        update(unit, a, first, end)?;
    }
    Ok(pivot)
}

fn solve(lu: &Matrix, pivot: &[usize], x: &mut [f64]) {
    for (j, &other) in pivot.iter().enumerate() {
        x.swap(j, other);
    }
    for j in 0..N {
        for i in j + 1..N {
            x[i] -= lu.at(i, j) * x[j];
        }
    }
    for j in (0..N).rev() {
        x[j] /= lu.at(j, j);
        for i in 0..j {
            x[i] -= lu.at(i, j) * x[j];
        }
    }
}

/// The solution of A x = b, and the normwise backward error after each step.
fn refine(unit: Option<&Model>, a: &Matrix, b: &[f64]) -> Result<(Vec<f64>, Vec<f64>), Error> {
    let mut lu = a.clone();
    let pivot = factor(unit, &mut lu)?;
    let sums: Vec<f64> = (0..N)
        .map(|i| (0..N).fold(0.0, |sum, j| sum + a.at(i, j).abs()))
        .collect();
    let (mut x, mut r, mut errors) = (vec![0.0; N], b.to_vec(), Vec::new());
    for _ in 0..STEPS {
        let mut correction = r;
        solve(&lu, &pivot, &mut correction);
        for (x, correction) in x.iter_mut().zip(correction) {
            *x += correction;
        }
        r = b.to_vec();
        for (j, x) in x.iter().enumerate() {
            for (i, r) in r.iter_mut().enumerate() {
                *r -= a.at(i, j) * x;
            }
        }
        errors.push(largest_of(&r) / (largest_of(&sums) * largest_of(&x) + largest_of(b)));
    }
    Ok((x, errors))
}

/// A number as C's "%14.3E" prints it.
fn scientific(x: f64) -> String {
    let text = format!("{x:.3E}");
    let (digits, exponent) = text.split_once('E').unwrap_or((&text, "0"));
    let (sign, exponent) = match exponent.strip_prefix('-') {
        Some(exponent) => ('-', exponent),
        None => ('+', exponent),
    };
    format!("{:>14}", format!("{digits}E{sign}{exponent:0>2}"))
}

/// What the program prints.
pub fn report() -> Result<String, Error> {
    let mut state = 1i64;
    let mut next = || {
        state = (state * 1103515245 + 12345) % 2147483648;
        state as f64 / 1073741824.0 - 1.0
    };
    let mut a = Matrix::new(N, N, |_, _| 0.0);
    a.data.iter_mut().for_each(|x| *x = next());
    for i in 0..N {
        *a.at_mut(i, i) += DIAGONAL;
    }
    let b: Vec<f64> = (0..N).map(|_| next()).collect();
    let unit = |gpu, format| {
        let arch = Arch::from_name(gpu)?;
        let format = arch.format_from_name(format)?;
        Model::new(arch, format, format, Format::Fp32)
    };
    let places = [
        None,
        Some(unit("MI300X", "fp16")?),
        Some(unit("H100", "fp8-e4m3")?),
    ];
    let (mut sum, mut errors) = (0u64, Vec::new());
    for place in &places {
        let (x, history) = refine(place.as_ref(), &a, &b)?;
        for number in history.iter().chain(&x) {
            sum = sum.rotate_left(5) ^ number.to_bits();
        }
        errors.push(history);
    }
    let mut text = String::from(" step      binary64   MI300X fp16      H100 fp8\n");
    for step in 0..STEPS {
        let row: String = errors
            .iter()
            .map(|history| scientific(history[step]))
            .collect();
        text += &format!("{:5}{row}\n", step + 1);
    }
    Ok(text + &format!("checksum {sum:016x}\n"))
}

#[allow(dead_code)] // The tests call `report`.
fn main() -> Result<(), Error> {
    print!("{}", report()?);
    Ok(())
}
