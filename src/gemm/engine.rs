//! From views to results: convert, compute tile by tile on the threads of the pool, store.

use rayon::prelude::*;

use super::problem::{Problem, Storage};
use crate::format::{Decoded, decode};
use crate::model::Model;
use crate::reference::{Operand, dot};

/// Columns of D that one task computes.
const COLUMNS_PER_TASK: usize = 8;

/// Computes the product. Must run inside the pool.
pub fn run(problem: &Problem) {
    let Problem { model, m, n, k, .. } = *problem;
    if m == 0 || n == 0 {
        return;
    }
    let rows: Vec<Vec<Decoded>> = (0..m)
        .into_par_iter()
        .map(|i| (0..k).map(|p| decode_a(problem, i, p)).collect())
        .collect();
    let tasks = 0..n.div_ceil(COLUMNS_PER_TASK);
    tasks.into_par_iter().for_each(|task| {
        let first = task * COLUMNS_PER_TASK;
        for j in first..n.min(first + COLUMNS_PER_TASK) {
            let column: Vec<Decoded> = (0..k).map(|p| decode_b(problem, p, j)).collect();
            for (i, row) in rows.iter().enumerate() {
                let d = dot(model.unit(), row, &column, addend(problem, i, j));
                // SAFETY: (i, j) lies in D, and this task alone writes column j.
                unsafe { problem.d.store(i, j, model.output(), d) };
            }
        }
    });
}

fn decode_a(problem: &Problem, i: usize, p: usize) -> Decoded {
    let format = problem.model.a();
    let rounding = Model::input_rounding(format);
    // SAFETY: (i, p) lies in A.
    let bits = unsafe { problem.a.load(i, p, problem.alpha, format, rounding) };
    decode(format, bits)
}

fn decode_b(problem: &Problem, p: usize, j: usize) -> Decoded {
    let format = problem.model.b();
    let rounding = Model::input_rounding(format);
    // SAFETY: (p, j) lies in B.
    let bits = unsafe { problem.b.load(p, j, 1.0, format, rounding) };
    decode(format, bits)
}

/// c of element (i, j): beta * C rounded as the unit takes it, a raw element in the output format, or zero.
fn addend(problem: &Problem, i: usize, j: usize) -> Operand {
    let output = problem.model.output();
    let Some(view) = problem.c.filter(|_| problem.beta != 0.0) else {
        return Operand::new(output, 0);
    };
    let (format, rounding) = match view.storage() {
        Storage::Raw => (output, crate::Rounding::NearestEven),
        Storage::F32 | Storage::F64 => problem.model.addend_format(),
    };
    // SAFETY: (i, j) lies in C.
    let bits = unsafe { view.load(i, j, problem.beta, format, rounding) };
    Operand::new(format, bits)
}
