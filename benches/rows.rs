//! `cargo bench --bench rows`: the rows of docs/performance.md's table under criterion, which keeps the last run's times
//! and tells what has changed since. `make bench` prints the table itself, next to sgemm.
//!
//!   cargo bench --bench rows -- [TEXT]       only benchmarks whose name contains TEXT

mod common;

use std::hint::black_box;
use std::time::Duration;

use common::dots::{Cases, Handle};
use common::{Data, Sgemm, fill, product, representatives, units};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use mfma::threads::set_num_threads;

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

/// 10^6 independent dot products of length 16, on encodings and on binary64 numbers, and one, all through the C functions.
fn dots(criterion: &mut Criterion) {
    const COUNT: usize = 1_000_000;
    const K: usize = 16;
    let mut group = criterion.benchmark_group("dots");
    for unit in representatives() {
        let (mut cases, handle) = (Cases::new(&unit.model, COUNT, K), Handle::new(&unit.model));
        group.throughput(Throughput::Elements(COUNT as u64));
        group.bench_function(BenchmarkId::new("raw", &unit.name), |bencher| {
            bencher.iter(|| handle.dots(&mut cases, COUNT));
        });
        group.bench_function(BenchmarkId::new("binary64", &unit.name), |bencher| {
            bencher.iter(|| cases.on_numbers(COUNT, 0));
        });
        group.throughput(Throughput::Elements(1));
        group.bench_function(BenchmarkId::new("one", &unit.name), |bencher| {
            bencher.iter(|| handle.dots(black_box(&mut cases), 1));
        });
    }
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
