//! `cargo bench --bench rows`: the rows of docs/performance.md's table under criterion, which keeps the last run's times
//! and tells what has changed since. `make bench` prints the table itself, next to sgemm.
//!
//!   cargo bench --bench rows -- [TEXT]       only benchmarks whose name contains TEXT

mod common;

use std::hint::black_box;
use std::time::Duration;

use common::{Data, Sgemm, fill, product, representatives, units};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use mfma::capi::{MFMA_OK, mfma_dot_batch, mfma_model_free, mfma_model_new};
use mfma::gemm::{Call, Operand, Starts, Storage};
use mfma::threads::{Workers, set_num_threads};
use mfma::{Arch, Format, Model, dot_batch};

const SIZE: usize = 512;

/// Every unit on one thread, binary32 in, on both kinds of data; and sgemm.
fn speed(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("one thread");
    group.throughput(Throughput::Elements((SIZE * SIZE * SIZE) as u64));
    let mut sgemm = Sgemm::load();
    group.bench_function("sgemm", |bencher| bencher.iter(|| sgemm.time(SIZE)));
    for unit in units() {
        for data in [Data::Normal, Data::Wide] {
            let operand = |format, seed| fill(format, data, SIZE * SIZE, seed);
            let (a, b) = (operand(unit.model.a(), 1), operand(unit.model.b(), 2));
            let c = operand(unit.model.output(), 3);
            let mut d = vec![0f32; SIZE * SIZE];
            group.bench_function(BenchmarkId::new(&unit.name, data.name()), |bencher| {
                let sizes = (SIZE, SIZE, SIZE);
                bencher.iter(|| product(&unit.model, sizes, &a, &b, &c, &mut d, 1));
            });
        }
    }
}

/// One and two threads.
fn threads(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("threads");
    set_num_threads(2).expect("two threads are allowed");
    for unit in representatives() {
        let operand = |format, seed| fill(format, Data::Normal, SIZE * SIZE, seed);
        let (a, b) = (operand(unit.model.a(), 1), operand(unit.model.b(), 2));
        let c = operand(unit.model.output(), 3);
        let mut d = vec![0f32; SIZE * SIZE];
        for threads in [1, 2] {
            group.bench_function(BenchmarkId::new(&unit.name, threads), |bencher| {
                let sizes = (SIZE, SIZE, SIZE);
                bencher.iter(|| product(&unit.model, sizes, &a, &b, &c, &mut d, threads));
            });
        }
    }
    group.finish();
    set_num_threads(0).expect("the default is allowed");
}

/// The paper's own experiment: few rows and columns, long K.
fn long_products(criterion: &mut Criterion) {
    const K: usize = 1_000_000;
    let mut group = criterion.benchmark_group("10 x 10 x 10^6");
    group.throughput(Throughput::Elements(100 * K as u64));
    for unit in representatives() {
        let (a, b) = (
            fill(unit.model.a(), Data::Normal, 10 * K, 1),
            fill(unit.model.b(), Data::Normal, 10 * K, 2),
        );
        let c = vec![0f32; 100];
        let mut d = c.clone();
        group.bench_function(&unit.name, |bencher| {
            bencher.iter(|| product(&unit.model, (10, 10, K), &a, &b, &c, &mut d, 1));
        });
    }
}

/// Calls that are over before they have begun.
fn tiny(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("tiny");
    for unit in representatives() {
        for side in [1, 16, 64] {
            let (a, b) = (
                fill(unit.model.a(), Data::Normal, side * side, 1),
                fill(unit.model.b(), Data::Normal, side * side, 2),
            );
            let c = vec![0f32; side * side];
            let mut d = c.clone();
            group.bench_function(BenchmarkId::new(&unit.name, side), |bencher| {
                bencher.iter(|| product(&unit.model, (side, side, side), &a, &b, &c, &mut d, 1));
            });
        }
    }
}

/// 10^6 independent dot products of length 16, on encodings and on binary64 numbers, and one through the C ABI.
fn dots(criterion: &mut Criterion) {
    const COUNT: usize = 1_000_000;
    const K: usize = 16;
    let mut group = criterion.benchmark_group("dots");
    let (fp16, fp32) = (Format::Fp16, Format::Fp32);
    // Numbers from -1 to 1 with exponents that differ.
    let encodings: Vec<u16> = (0..COUNT * K)
        .map(|i| (i.wrapping_mul(40503) >> 3) as u16 & 0xbbff)
        .collect();
    let numbers = fill(fp16, Data::Normal, COUNT * K, 1);
    let numbers: Vec<f64> = numbers.into_iter().map(f64::from).collect();
    for arch in [Arch::Cdna1, Arch::Cdna2, Arch::Cdna3, Arch::Hopper] {
        let model = Model::new(arch, fp16, fp16, fp32).expect("a unit of the catalogue");
        let c = vec![0u32; COUNT];
        let mut d = c.clone();
        group.throughput(Throughput::Elements(COUNT as u64));
        group.bench_function(BenchmarkId::new("raw", arch), |bencher| {
            bencher.iter(|| {
                dot_batch(&model, K, &encodings, &encodings, &c, &mut d).expect("sizes fit");
            });
        });
        let mut results = vec![0f64; COUNT];
        group.bench_function(BenchmarkId::new("binary64", arch), |bencher| {
            bencher.iter(|| binary64_dots(&model, K, &numbers, &mut results));
        });
        group.throughput(Throughput::Elements(1));
        group.bench_function(BenchmarkId::new("one through the C ABI", arch), |bencher| {
            let mut handle = std::ptr::null_mut();
            let code = |format: Format| format.info().code;
            let (input, output) = (code(fp16), code(fp32));
            // SAFETY: a variable of ours.
            let status =
                unsafe { mfma_model_new(arch.info().code, input, input, output, &mut handle) };
            assert_eq!(status, MFMA_OK);
            let (a, c) = (encodings.as_ptr().cast(), c.as_ptr().cast());
            let d = d.as_mut_ptr().cast();
            // SAFETY: one case of K elements.
            bencher.iter(|| unsafe { mfma_dot_batch(handle, 1, K as i64, black_box(a), a, c, d) });
            // SAFETY: made above, released once.
            unsafe { mfma_model_free(handle) };
        });
    }
}

/// Dot products of binary64 numbers with themselves: a batch of 1 x 1 products.
fn binary64_dots(model: &Model, k: usize, numbers: &[f64], results: &mut [f64]) {
    let operand = |name, first: *const f64, format, ld: usize, stride: usize| Operand {
        name,
        storage: Storage::F64,
        format,
        rows_contiguous: false,
        ld: ld as i64,
        starts: Starts::Strided {
            first: first.cast_mut().cast(),
            stride: stride as i64,
        },
    };
    let call = Call {
        model: *model,
        m: 1,
        n: 1,
        k: k as i64,
        batch: results.len() as i64,
        alpha: 1.0,
        a: operand("A", numbers.as_ptr(), model.a(), 1, k),
        b: operand("B", numbers.as_ptr(), model.b(), k, k),
        beta: 0.0,
        c: None,
        d: operand("D", results.as_mut_ptr(), model.output(), 1, 1),
        workers: Workers::new(0),
        progress: None,
    };
    // SAFETY: every product has k numbers and one result of its own.
    unsafe { call.run() }.expect("a sound call");
}

criterion_group! {
    name = rows;
    config = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1));
    targets = speed, threads, long_products, tiny, dots
}
criterion_main!(rows);
