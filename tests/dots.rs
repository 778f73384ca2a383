//! Batches of independent dot products against the reference, bit for bit: every row, level and generator, all remainders
//! of K and of the count.
//!
//! A fiftieth of MFMA_TEST_CASES is how many dot products a row gets on each level (the kernels proper have a test of their
//! own), MFMA_TEST_SEED the seed; MFMA_TEST_ROW limits the
//! test to rows whose name contains a text.

#[path = "common/generators.rs"]
mod generators;

use generators::{ALL, Operands, Rng, draw, number_from_env};
use mfma::gemm::{Call, DotBatch, Operand, Starts, Storage, View, run_dots};
use mfma::kernel::{Level, force_level};
use mfma::model::catalogue;
use mfma::reference::dot_raw;
use mfma::threads::Workers;
use mfma::{Arch, Format, Model};

/// Encodings in the storage of their format.
fn packed(format: Format, bits: &[u64]) -> Vec<u8> {
    let size = format.bytes();
    bits.iter()
        .flat_map(|x| x.to_le_bytes()[..size].to_vec())
        .collect()
}

fn unpacked(format: Format, bytes: &[u8]) -> Vec<u64> {
    let word = |chunk: &[u8]| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(word)
    };
    bytes.chunks(format.bytes()).map(word).collect()
}

/// Case i is row i of A (m x k, column-major) with column i of B and element (i, i) of C.
struct Cases {
    count: usize,
    k: usize,
    a: Vec<u64>,
    b: Vec<u64>,
    c: Vec<u64>,
}

impl Cases {
    fn new(operands: &Operands) -> Cases {
        let Operands { m, n, k, .. } = *operands;
        let count = m.min(n);
        Cases {
            count,
            k,
            a: (0..count).flat_map(|i| operands.row_of_a(i)).collect(),
            b: (0..count).flat_map(|i| operands.column_of_b(i)).collect(),
            c: (0..count).map(|i| operands.c[i + i * m]).collect(),
        }
    }

    fn expected(&self, model: &Model) -> Vec<u64> {
        let case = |x: &[u64], i: usize| x[i * self.k..][..self.k].to_vec();
        (0..self.count)
            .map(|i| {
                dot_raw(
                    model.unit(),
                    &case(&self.a, i),
                    &case(&self.b, i),
                    self.c[i],
                )
            })
            .collect()
    }

    fn computed(&self, model: &Model) -> Vec<u64> {
        let k = self.k as isize;
        // SAFETY: the views cover the vectors that are their arguments.
        let view = |bytes: &mut Vec<u8>, format, row_stride| unsafe {
            View::new(bytes.as_mut_ptr(), Storage::Raw, format, row_stride, 1)
        };
        let mut a = packed(model.a(), &self.a);
        let mut b = packed(model.b(), &self.b);
        let mut c = packed(model.output(), &self.c);
        let mut d = vec![0xa5; c.len()];
        run_dots(&DotBatch {
            model: *model,
            count: self.count,
            k: self.k,
            a: view(&mut a, model.a(), k),
            b: view(&mut b, model.b(), k),
            c: view(&mut c, model.output(), 1),
            d: view(&mut d, model.output(), 1),
        })
        .unwrap();
        unpacked(model.output(), &d)
    }
}

#[test]
fn batches_equal_the_reference() {
    let cases = number_from_env("MFMA_TEST_CASES", 20_000).div_ceil(50) as usize;
    let seed = number_from_env("MFMA_TEST_SEED", 1);
    let filter = std::env::var("MFMA_TEST_ROW").unwrap_or_default();
    println!("MFMA_TEST_CASES={cases} MFMA_TEST_SEED={seed}");
    for level in Level::ALL {
        if !level.available() {
            println!(
                "{}: this machine has it not, so it is not tested",
                level.name()
            );
        }
    }
    for row in catalogue() {
        for &[a, b] in row.inputs {
            let name = format!("{} {a} x {b} -> {}", row.arch, row.output);
            if !name.contains(&filter) {
                continue;
            }
            let model = Model::from_params(row.params, a, b, row.output).unwrap();
            let block = row.params.fma as u64;
            let mut rng = Rng::new(seed ^ name.len() as u64);
            let mut done = 0;
            let mut turn = 0;
            while done < cases {
                let generator = ALL[turn % ALL.len()];
                turn += 1;
                let k = 1 + rng.below(3 * block.max(8)) as usize;
                let count = 1 + rng.below(70) as usize;
                let drawn = Cases::new(&draw(&mut rng, generator, &model, count, count, k));
                let want = drawn.expected(&model);
                done += count;
                for level in Level::ALL {
                    if !force_level(Some(level)) {
                        continue;
                    }
                    let got = drawn.computed(&model);
                    for i in 0..count {
                        assert_eq!(
                            got[i],
                            want[i],
                            "{name} on {}, {generator:?}, case {i} of {count}, k = {k}: a={:x?} b={:x?} c={:x}: {:x}, not {:x}",
                            level.name(),
                            &drawn.a[i * k..][..k],
                            &drawn.b[i * k..][..k],
                            drawn.c[i],
                            got[i],
                            want[i]
                        );
                    }
                }
                force_level(None);
            }
        }
    }
}

#[test]
fn long_products_and_none() {
    let model = Model::new(mfma::Arch::Cdna1, Format::Bf16, Format::Bf16, Format::Fp32).unwrap();
    let mut rng = Rng::new(7);
    for (count, k) in [(3, 1001), (33, 520), (1, 4096), (5, 0), (0, 9)] {
        let operands = draw(&mut rng, ALL[0], &model, count, count, k);
        let drawn = Cases::new(&operands);
        assert_eq!(drawn.computed(&model), drawn.expected(&model));
    }
}

/// A batch of 1 x 1 products of numbers, which are rounded on the way, against the same products one by one.
#[test]
fn batches_of_one_by_one_products_equal_single_products() {
    use Format::*;
    let unit = |arch, input, output| Model::new(arch, input, input, output).unwrap();
    let models = [
        unit(Arch::Cdna1, Fp16, Fp32),
        unit(Arch::Cdna2, Bf16, Fp32),
        unit(Arch::Cdna2, Fp32, Fp32),
        unit(Arch::Cdna2, Fp64, Fp64),
        unit(Arch::Cdna3, E4m3Fnuz, Fp32),
        unit(Arch::Volta, Fp16, Fp16),
        unit(Arch::Ampere, Tf32, Fp32),
        unit(Arch::Ampere, Bf16, Fp16),
        unit(Arch::Hopper, Fp64, Fp64),
    ];
    let mut rng = Rng::new(number_from_env("MFMA_TEST_SEED", 1));
    // Room between neighbours in every operand.
    let (count, k, gap) = (77, 19, 3);
    for model in models {
        let mut numbers = |count: usize| -> Vec<f64> {
            (0..count)
                .map(|_| match rng.below(40) {
                    0 => f64::INFINITY,
                    1 => f64::NAN,
                    _ => rng.normal() * 2f64.powi(rng.range(-20, 12)),
                })
                .collect()
        };
        let (a, b) = (numbers(count * (k + gap)), numbers(count * (k + gap)));
        let c = numbers(count * gap);
        for beta in [0.0, 0.7] {
            let call = |first: usize, batch: usize, d: &mut [f64]| {
                let operand = |name, data: *const f64, format, stride: usize, ld: usize| Operand {
                    name,
                    storage: Storage::F64,
                    format,
                    rows_contiguous: false,
                    ld: ld as i64,
                    starts: Starts::Strided {
                        first: data.wrapping_add(first * stride).cast_mut().cast(),
                        stride: stride as i64,
                    },
                };
                let call = Call {
                    model,
                    m: 1,
                    n: 1,
                    k: k as i64,
                    batch: batch as i64,
                    alpha: -1.3,
                    a: operand("A", a.as_ptr(), model.a(), k + gap, 1),
                    b: operand("B", b.as_ptr(), model.b(), k + gap, k),
                    beta,
                    c: Some(operand("C", c.as_ptr(), model.output(), gap, 1)),
                    d: operand("D", d.as_mut_ptr(), model.output(), gap, 1),
                    workers: Workers::new(0),
                    progress: None,
                };
                // SAFETY: the operands lie in the vectors.
                unsafe { call.run() }.unwrap();
            };
            let (mut together, mut alone) = (vec![0.0; count * gap], vec![0.0; count * gap]);
            for level in Level::ALL.into_iter().filter(|level| level.available()) {
                assert!(force_level(Some(level)));
                call(0, count, &mut together);
                for i in 0..count {
                    call(i, 1, &mut alone);
                }
                let bits = |x: &[f64]| -> Vec<u64> { x.iter().map(|x| x.to_bits()).collect() };
                assert_eq!(
                    bits(&together),
                    bits(&alone),
                    "{model:?} on {}",
                    level.name()
                );
            }
        }
    }
    force_level(None);
}
