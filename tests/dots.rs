//! Batches of independent dot products against the reference, bit for bit: every row, level and generator, all remainders
//! of K and of the count.
//!
//! A fiftieth of MFMA_TEST_CASES is how many dot products a row gets on each level (the kernels proper have a test of their
//! own), MFMA_TEST_SEED the seed; MFMA_TEST_ROW limits the
//! test to rows whose name contains a text.

#[path = "common/engine.rs"]
mod engine;
#[path = "common/generators.rs"]
mod generators;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

#[cfg(target_arch = "x86_64")]
use engine::mxcsr;
use engine::{Packed, levels, one_at_a_time};
use generators::{ALL, Generator, Operands, Rng, draw, number_from_env};
use mfma::gemm::{Call, DotBatch, Dots, Operand, Starts, Storage, run_dots};
use mfma::kernel::{FpMode, FpModeGuard, Level, force_level};
use mfma::model::{Params, catalogue};
use mfma::reference::dot_raw;
use mfma::threads::Workers;
use mfma::{Arch, Format, Model};

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
        self.with_batch(model, |batch| run_dots(batch).unwrap())
    }

    /// What `run` makes of the cases.
    fn with_batch(&self, model: &Model, run: impl FnOnce(&DotBatch)) -> Vec<u64> {
        let mut a = Packed::new(model.a(), &self.a, 0);
        let mut b = Packed::new(model.b(), &self.b, 0);
        let mut c = Packed::new(model.output(), &self.c, 0);
        let mut d = Packed::new(model.output(), &vec![0xa5; self.count], 0);
        run(&DotBatch {
            model: *model,
            count: self.count,
            k: self.k,
            a: a.view(self.k, 1),
            b: b.view(self.k, 1),
            c: c.view(1, 1),
            d: d.view(1, 1),
        });
        d.bits()
    }
}

/// Counts what each thread allocates.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: the system's allocator does the work.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // A thread that ends may have no counter any more.
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: promised by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        // SAFETY: promised by the caller.
        unsafe { System.dealloc(start, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Short batches are computed in place: whatever is in them, nothing is allocated, and the caller's floating-point mode, which the
/// C functions replace by the usual one, is what it was.
#[test]
fn short_batches_need_no_memory() {
    let _turn = one_at_a_time();
    let mut rng = Rng::new(number_from_env("MFMA_TEST_SEED", 1));
    for row in catalogue() {
        let [a, b] = row.inputs[0];
        let model = Model::from_params(row.params, a, b, row.output).unwrap();
        for level in levels() {
            assert!(force_level(Some(level)));
            let dots = Dots::new(&model);
            for generator in ALL {
                let (count, k) = (1 + rng.below(3) as usize, 1 + rng.below(40) as usize);
                let drawn = Cases::new(&draw(&mut rng, generator, &model, count, count, k));
                let (mut done, mut allocated) = (false, 0);
                let got = drawn.with_batch(&model, |batch| {
                    // The first call may make tables that are kept.
                    let _mode = FpModeGuard::enter(FpMode::Nearest);
                    dots.run_short(batch);
                    let before = ALLOCATIONS.get();
                    done = dots.run_short(batch);
                    allocated = ALLOCATIONS.get() - before;
                });
                if done {
                    assert_eq!(allocated, 0, "{model:?} on {}, {generator:?}", level.name());
                    assert_eq!(got, drawn.expected(&model), "{model:?} on {}", level.name());
                }
            }
        }
        force_level(None);
        let drawn = Cases::new(&draw(&mut rng, ALL[0], &model, 1, 1, 16));
        let mut done = false;
        drawn.with_batch(&model, |batch| done = Dots::new(&model).run_short(batch));
        let by_reference = mfma::kernel::dots_for(&model, mfma::kernel::level()).is_none();
        assert!(done != by_reference, "{model:?}");
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn one_dot_product_in_any_floating_point_mode() {
    use mfma::capi::{MFMA_OK, mfma_dot_batch, mfma_model_free, mfma_model_new};
    let _turn = one_at_a_time();
    let mut rng = Rng::new(number_from_env("MFMA_TEST_SEED", 1));
    let usual = mxcsr::read();
    for row in catalogue().filter(|row| row.reach == mfma::model::Reach::Formats) {
        let [a, b] = row.inputs[0];
        let model = Model::new(row.arch, a, b, row.output).unwrap();
        let mut handle = std::ptr::null_mut();
        let code = |format: Format| format.info().code;
        // SAFETY: a variable of ours.
        let status = unsafe {
            mfma_model_new(
                row.arch.info().code,
                code(a),
                code(b),
                code(row.output),
                &mut handle,
            )
        };
        assert_eq!(status, MFMA_OK);
        for generator in [
            Generator::SubnormalBand,
            Generator::Ties,
            Generator::Specials,
        ] {
            for bits in [0, 0x2000, 0x4000, 0x6000, 0x8000, 0x0040, 0xe040] {
                let k = 1 + rng.below(40) as usize;
                let drawn = Cases::new(&draw(&mut rng, generator, &model, 1, 1, k));
                let got = drawn.with_batch(&model, |batch| {
                    let at = |view: mfma::gemm::View| view.address(0, 0).cast();
                    let (a, b, c, d) = (at(batch.a), at(batch.b), at(batch.c), at(batch.d));
                    mxcsr::write(usual & !0x3f | bits);
                    // SAFETY: one case of k elements.
                    let status = unsafe { mfma_dot_batch(handle, 1, k as i64, a, b, c, d) };
                    let after = mxcsr::read();
                    mxcsr::write(usual);
                    assert_eq!(status, MFMA_OK);
                    assert_eq!(after, usual & !0x3f | bits, "the mode is changed");
                });
                assert_eq!(got, drawn.expected(&model), "{model:?} in mode {bits:x}");
            }
        }
        // SAFETY: made above, released once.
        unsafe { mfma_model_free(handle) };
    }
}

#[test]
fn batches_equal_the_reference() {
    let _turn = one_at_a_time();
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
                // Single ones go a way of their own.
                let most = if rng.one_in(3) { 2 } else { 70 };
                let count = 1 + rng.below(most) as usize;
                let drawn = Cases::new(&draw(&mut rng, generator, &model, count, count, k));
                let want = drawn.expected(&model);
                done += count;
                for level in levels() {
                    assert!(force_level(Some(level)));
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
    let _turn = one_at_a_time();
    let model = Model::new(mfma::Arch::Cdna1, Format::Bf16, Format::Bf16, Format::Fp32).unwrap();
    let mut rng = Rng::new(7);
    for (count, k) in [(3, 1001), (33, 520), (1, 4096), (5, 0), (0, 9)] {
        let operands = draw(&mut rng, ALL[0], &model, count, count, k);
        let drawn = Cases::new(&operands);
        assert_eq!(drawn.computed(&model), drawn.expected(&model));
    }
}

/// Results of 13 fraction bits that overflow toward zero: infinities, and not the largest number of those bits.
#[test]
fn overflows_of_13_bits() {
    let _turn = one_at_a_time();
    let near = Model::new(Arch::Hopper, Format::E4m3, Format::E4m3, Format::Fp32).unwrap();
    let params = Params {
        fma: 16,
        min_exponent: Some(-126),
        ..*near.params()
    };
    let model = Model::from_params(params, Format::Bf16, Format::E4m3, Format::Fp32).unwrap();
    let (mut a, mut b) = ([0; 16], [0; 16]);
    (a[3], a[7], a[11]) = (0xf880, 0xf880, 0xf853);
    b[11] = 0xf8;
    for count in [1, 3, 70] {
        let cases = Cases {
            count,
            k: 16,
            a: a.repeat(count),
            b: b.repeat(count),
            c: vec![0x7f7f_fc00; count],
        };
        assert_eq!(cases.expected(&model), vec![0x7f80_0000; count]);
        for level in levels() {
            assert!(force_level(Some(level)));
            assert_eq!(cases.computed(&model), cases.expected(&model), "{level:?}");
        }
    }
    force_level(None);
}

/// A batch of 1 x 1 products of numbers, which are rounded on the way, against the same products one by one.
#[test]
fn batches_of_one_by_one_products_equal_single_products() {
    let _turn = one_at_a_time();
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
            for level in levels() {
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
