//! Running the engine on raw encodings, and what the reference makes of the same operands.
#![allow(dead_code)]

use std::sync::{Mutex, MutexGuard, PoisonError};

use mfma::Format;
use mfma::Model;
use mfma::gemm::{Problem, Progress, Storage, View, run_with};
use mfma::kernel::Level;
use mfma::reference::{Operand, dot};
use mfma::threads::Workers;

use crate::generators::Operands;

/// Encodings in the storage of their format, `offset` bytes off alignment.
pub struct Packed {
    bytes: Vec<u8>,
    offset: usize,
    format: Format,
}

impl Packed {
    pub fn new(format: Format, bits: &[u64], offset: usize) -> Packed {
        let size = format.bytes();
        let encodings = bits
            .iter()
            .flat_map(|x| x.to_le_bytes().into_iter().take(size));
        Packed {
            bytes: std::iter::repeat_n(0, offset).chain(encodings).collect(),
            offset,
            format,
        }
    }

    pub fn view(&mut self, row_stride: usize, col_stride: usize) -> View {
        // SAFETY: the matrix lies in `bytes`, which outlives the product.
        unsafe {
            View::new(
                self.bytes.as_mut_ptr().add(self.offset),
                Storage::Raw,
                self.format,
                row_stride as isize,
                col_stride as isize,
            )
        }
    }

    pub fn bits(&self) -> Vec<u64> {
        let size = self.format.bytes();
        let words = self.bytes[self.offset..].chunks(size);
        words
            .map(|chunk| {
                let mut word = [0; 8];
                word[..size].copy_from_slice(chunk);
                u64::from_le_bytes(word)
            })
            .collect()
    }
}

/// D by the engine, on the level that is in use; all matrices `offset` bytes off alignment.
pub fn compute_at(model: &Model, operands: &Operands, threads: usize, offset: usize) -> Vec<u64> {
    run(model, operands, threads, offset, None)
}

/// The same, aligned, while `progress` watches.
pub fn compute_watched<'a>(
    model: &Model,
    operands: &Operands,
    threads: usize,
    progress: &'a mut Progress<'a>,
) -> Vec<u64> {
    run(model, operands, threads, 0, Some(progress))
}

fn run<'a>(
    model: &Model,
    operands: &Operands,
    threads: usize,
    offset: usize,
    progress: Option<&'a mut Progress<'a>>,
) -> Vec<u64> {
    let Operands { m, n, k, .. } = *operands;
    let mut a = Packed::new(model.a(), &operands.a, offset);
    let mut b = Packed::new(model.b(), &operands.b, offset);
    let mut c = Packed::new(model.output(), &operands.c, offset);
    let mut d = Packed::new(model.output(), &vec![0; m * n], offset);
    let problem = Problem {
        model: *model,
        m,
        n,
        k,
        alpha: 1.0,
        a: a.view(1, m),
        b: b.view(1, k),
        beta: 1.0,
        c: Some(c.view(1, m)),
        d: d.view(1, m),
    };
    run_with(&problem, Workers::new(threads), progress).unwrap();
    d.bits()
}

/// D by the engine on one thread.
pub fn compute(model: &Model, operands: &Operands) -> Vec<u64> {
    compute_at(model, operands, 1, 0)
}

/// D by the reference.
pub fn expected(model: &Model, operands: &Operands) -> Vec<u64> {
    let Operands { m, n, .. } = *operands;
    let unit = model.unit();
    let decoded = |format: Format, bits: Vec<u64>| -> Vec<_> {
        bits.into_iter()
            .map(|bits| unit.factor(format, bits))
            .collect()
    };
    let rows: Vec<_> = (0..m)
        .map(|i| decoded(model.a(), operands.row_of_a(i)))
        .collect();
    let mut d = Vec::with_capacity(m * n);
    for j in 0..n {
        let column = decoded(model.b(), operands.column_of_b(j));
        for (i, row) in rows.iter().enumerate() {
            let c = Operand::new(model.output(), operands.c[i + j * m]);
            d.push(dot(unit, row, &column, c));
        }
    }
    d
}

/// The first wrong element, all in hexadecimal.
pub fn difference(operands: &Operands, want: &[u64], got: &[u64]) -> Option<String> {
    let at = (0..want.len()).find(|&at| got[at] != want[at])?;
    let (i, j) = (at % operands.m, at / operands.m);
    let hex = |x: &[u64]| -> String {
        let words: Vec<String> = x.iter().map(|x| format!("{x:x}")).collect();
        words.join(",")
    };
    let wrong = (0..want.len()).filter(|&at| got[at] != want[at]).count();
    Some(format!(
        "{wrong} of {} wrong; element ({i}, {j}) of {}x{}: {} a={} b={} c={:x} d={:x}, got {:x}",
        want.len(),
        operands.m,
        operands.n,
        operands.k,
        hex(&operands.row_of_a(i)),
        hex(&operands.column_of_b(j)),
        operands.c[at],
        want[at],
        got[at]
    ))
}

/// The levels of this machine.
pub fn levels() -> Vec<Level> {
    Level::ALL
        .into_iter()
        .filter(|level| level.available())
        .collect()
}

/// The level in use and the number of threads belong to the whole process: tests that set them take turns.
pub fn one_at_a_time() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The floating-point mode of this thread.
#[cfg(target_arch = "x86_64")]
pub mod mxcsr {
    use std::arch::asm;

    pub fn read() -> u32 {
        let mut word = 0u32;
        // SAFETY: writes four bytes to `word`.
        unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut word) };
        word
    }

    pub fn write(word: u32) {
        // SAFETY: the callers set defined bits only, and put the default back.
        unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const word) };
    }
}
