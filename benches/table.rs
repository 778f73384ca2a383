//! `make bench`: speed of every unit next to OpenBLAS's sgemm, in one process, as the table of docs/performance.md.
//!
//!   cargo bench --bench table -- [TEXT [PART]]   only units whose name contains TEXT; only one part: speed, range, threads, k, tiny,
//!                                                  dots, one
//!   MFMA_SIMD=portable|avx2|avx512|neon      a lower level
//!   MFMA_BENCH_SIZE=512                      m = n = k of the main table
//!
//! Times on one thread are CPU times of several runs, taken alternately with sgemm's, so that both see the same machine.
//! "% of sgemm" compares the shortest of both; the median of the runs' ratios beside it tells how much others disturbed.

mod common;

use std::hint::black_box;
use std::time::Instant;

use common::dots::{Cases, Handle};
use common::{Data, Sgemm, Unit, cpu_seconds, fill, product, units};
use mfma::kernel::cpu_features;
use mfma::threads::set_num_threads;

fn main() {
    // `cargo bench` passes --bench.
    let mut arguments = std::env::args()
        .skip(1)
        .filter(|arg| !arg.starts_with("--"));
    let filter = arguments.next().unwrap_or_default();
    let only = arguments.next();
    let wanted = |part: &str| only.as_deref().is_none_or(|only| only == part);
    let size = std::env::var("MFMA_BENCH_SIZE").ok();
    let size: usize = size.and_then(|text| text.parse().ok()).unwrap_or(512);
    let mut sgemm = Sgemm::load();
    println!("kernel level {}; {}", cpu_features(), sgemm.name());
    if wanted("speed") {
        println!(
            "\n## One thread, {size} x {size} x {size}, binary32 in, rounding and packing included\n"
        );
        table(&filter, size, &mut sgemm);
    }
    if wanted("range") {
        println!("\n## Time of full-range data over that of N(0, 1), one thread, {size}^3\n");
        ranges(&filter, size);
    }
    if wanted("threads") {
        println!("\n## Two threads over one, {size}^3\n");
        threads(&filter, size);
    }
    if wanted("k") {
        println!("\n## Cost of a product against K (64 x 64 x K, one thread, ns)\n");
        long_products(&filter);
    }
    if wanted("tiny") {
        println!("\n## Tiny products (one thread, microseconds a call)\n");
        tiny(&filter);
    }
    if wanted("dots") {
        println!("\n## 10^6 dot products of 16 products (one thread, ms)\n");
        million_dots(&filter);
    }
    if wanted("one") {
        println!("\n## Few dot products through the C function (one thread, ns a call)\n");
        few_dots(&filter);
    }
}

/// Shortest CPU time of `work`, which stays on this thread, in seconds.
fn shortest(runs: usize, mut work: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..runs {
        let start = cpu_seconds();
        work();
        best = best.min(cpu_seconds() - start);
    }
    best
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn table(filter: &str, size: usize, sgemm: &mut Sgemm) {
    println!(
        "| unit | data | products/s | ns a product | % of sgemm | median % |\n| --- | --- | --- | --- | --- | --- |"
    );
    let products = (size * size * size) as f64;
    for unit in units().iter().filter(|unit| unit.name.contains(filter)) {
        for data in [Data::Normal, Data::Wide] {
            let (a, b, c) = (
                fill(unit.model.a(), data, size * size, 1),
                fill(unit.model.b(), data, size * size, 2),
                fill(unit.model.output(), data, size * size, 3),
            );
            let mut d = vec![0f32; size * size];
            let (mut best, mut best_sgemm, mut ratios) = (f64::INFINITY, f64::INFINITY, Vec::new());
            let started = Instant::now();
            while ratios.len() < 4 || ratios.len() < 100 && started.elapsed().as_secs_f64() < 1.0 {
                let theirs = sgemm.time(size);
                let ours = shortest(1, || {
                    product(&unit.model, (size, size, size), &a, &b, &c, &mut d, 1)
                });
                best = best.min(ours);
                best_sgemm = best_sgemm.min(theirs);
                ratios.push(theirs / ours);
                if ours > 2.0 {
                    break;
                }
            }
            println!(
                "| {} | {} | {:.2} G | {:.3} | {:.1} | {:.1} |",
                unit.name,
                data.name(),
                products / best * 1e-9,
                best / products * 1e9,
                100.0 * best_sgemm / best,
                100.0 * median(&mut ratios)
            );
            black_box(&d);
        }
    }
}

/// Both kinds of data by turns, so that whatever else the machine does hits both.
fn ranges(filter: &str, size: usize) {
    println!(
        "| unit | shortest | median of ratios | ns a product, N(0, 1) |\n| --- | --- | --- | --- |"
    );
    for unit in units().iter().filter(|unit| unit.name.contains(filter)) {
        let operand = |format, data, seed| fill(format, data, size * size, seed);
        let operands = [Data::Normal, Data::Wide].map(|data| {
            [
                operand(unit.model.a(), data, 1),
                operand(unit.model.b(), data, 2),
                operand(unit.model.output(), data, 3),
            ]
        });
        let mut d = vec![0f32; size * size];
        let (mut best, mut ratios) = ([f64::INFINITY; 2], Vec::new());
        let started = Instant::now();
        while ratios.len() < 5 || ratios.len() < 200 && started.elapsed().as_secs_f64() < 1.5 {
            let mut times = [0.0; 2];
            for (time, [a, b, c]) in times.iter_mut().zip(&operands) {
                let sizes = (size, size, size);
                *time = shortest(1, || product(&unit.model, sizes, a, b, c, &mut d, 1));
            }
            best = [best[0].min(times[0]), best[1].min(times[1])];
            ratios.push(times[1] / times[0]);
        }
        println!(
            "| {} | {:.3} | {:.3} | {:.3} |",
            unit.name,
            best[1] / best[0],
            median(&mut ratios),
            best[0] * 1e9 / (size * size * size) as f64
        );
    }
}

fn threads(filter: &str, size: usize) {
    println!(
        "| unit | two threads | median | two products at once | median |\n| --- | --- | --- | --- | --- |"
    );
    for unit in common::representatives()
        .iter()
        .filter(|unit| unit.name.contains(filter))
    {
        let data = Data::Normal;
        let (a, b, c) = (
            fill(unit.model.a(), data, size * size, 1),
            fill(unit.model.b(), data, size * size, 2),
            fill(unit.model.output(), data, size * size, 3),
        );
        let (mut d, mut other) = (vec![0f32; size * size], vec![0f32; size * size]);
        set_num_threads(2).expect("two threads are allowed");
        let run = |d: &mut [f32], threads| {
            product(&unit.model, (size, size, size), &a, &b, &c, d, threads);
        };
        run(&mut d, 2);
        let (mut shared, mut apart) = (Speedups::default(), Speedups::default());
        for _ in 0..20 {
            let one = seconds(|| run(&mut d, 1));
            shared.add(one, seconds(|| run(&mut d, 2)));
            let both = seconds(|| {
                std::thread::scope(|scope| {
                    scope.spawn(|| run(&mut other, 1));
                    run(&mut d, 1);
                });
            });
            apart.add(2.0 * one, both);
        }
        println!("| {} | {shared} | {apart} |", unit.name);
    }
    set_num_threads(0).expect("the default is allowed");
}

/// Wall-clock time of `body`.
fn seconds(body: impl FnOnce()) -> f64 {
    let start = Instant::now();
    body();
    start.elapsed().as_secs_f64()
}

/// Times of the same work on one thread and on two.
#[derive(Default)]
struct Speedups {
    pairs: Vec<(f64, f64)>,
}

impl Speedups {
    fn add(&mut self, one: f64, two: f64) {
        self.pairs.push((one, two));
    }
}

/// The shortest times' ratio and the median of the runs' ratios.
impl std::fmt::Display for Speedups {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        let shortest = |time: fn(&(f64, f64)) -> f64| {
            self.pairs.iter().map(time).fold(f64::INFINITY, f64::min)
        };
        let mut ratios: Vec<f64> = self.pairs.iter().map(|(one, two)| one / two).collect();
        ratios.sort_by(f64::total_cmp);
        let (best, median) = (
            shortest(|t| t.0) / shortest(|t| t.1),
            ratios[ratios.len() / 2],
        );
        write!(out, "{best:.2} | {median:.2}")
    }
}

fn long_products(filter: &str) {
    let lengths = [16, 64, 256, 1024, 4096, 16384, 65536];
    println!(
        "| unit | {} | 10 x 10 x 10^6 |",
        lengths.map(|k| k.to_string()).join(" | ")
    );
    println!("| --- |{}", " --- |".repeat(lengths.len() + 1));
    for unit in common::representatives()
        .iter()
        .filter(|unit| unit.name.contains(filter))
    {
        let mut line = format!("| {} |", unit.name);
        for (side, k) in lengths
            .map(|k| (64, k))
            .into_iter()
            .chain([(10, 1_000_000)])
        {
            let (a, b) = (
                fill(unit.model.a(), Data::Normal, side * k, 1),
                fill(unit.model.b(), Data::Normal, side * k, 2),
            );
            let c = vec![0f32; side * side];
            let mut d = c.clone();
            let time = shortest(3, || {
                product(&unit.model, (side, side, k), &a, &b, &c, &mut d, 1)
            });
            line += &format!(" {:.3} |", time * 1e9 / (side * side * k) as f64);
        }
        println!("{line}");
    }
}

fn tiny(filter: &str) {
    let sizes = [
        (1, 1, 1),
        (1, 1, 16),
        (4, 4, 4),
        (8, 8, 8),
        (16, 16, 16),
        (32, 32, 32),
        (64, 64, 64),
    ];
    let names = sizes.map(|(m, n, k)| format!("{m}x{n}x{k}"));
    println!(
        "| unit | {} |\n| --- |{}",
        names.join(" | "),
        " --- |".repeat(sizes.len())
    );
    for unit in common::representatives()
        .iter()
        .filter(|unit: &&Unit| unit.name.contains(filter))
    {
        let mut line = format!("| {} |", unit.name);
        for (m, n, k) in sizes {
            let (a, b) = (
                fill(unit.model.a(), Data::Normal, m * k, 1),
                fill(unit.model.b(), Data::Normal, k * n, 2),
            );
            let c = vec![0f32; m * n];
            let mut d = c.clone();
            let calls = 200;
            let time = shortest(5, || {
                for _ in 0..calls {
                    product(&unit.model, (m, n, k), &a, &b, &c, &mut d, 1);
                }
            });
            line += &format!(" {:.2} |", time * 1e6 / calls as f64);
        }
        println!("{line}");
    }
}

fn million_dots(filter: &str) {
    const COUNT: usize = 1_000_000;
    println!("| unit | from encodings | from binary64 |\n| --- | --- | --- |");
    set_num_threads(1).expect("one thread is allowed");
    for unit in units().iter().filter(|unit| unit.name.contains(filter)) {
        let (mut cases, handle) = (Cases::new(&unit.model, COUNT, 16), Handle::new(&unit.model));
        let raw = shortest(10, || handle.dots(&mut cases, COUNT));
        let binary64 = shortest(10, || cases.on_numbers(COUNT, 1));
        println!(
            "| {} | {:.1} | {:.1} |",
            unit.name,
            raw * 1e3,
            binary64 * 1e3
        );
    }
    set_num_threads(0).expect("the default is allowed");
}

fn few_dots(filter: &str) {
    let sizes = [(1, 4), (1, 16), (1, 64), (4, 16), (64, 16)];
    let names = sizes.map(|(count, k)| format!("{count}, K = {k}"));
    println!(
        "| unit | {} |\n| --- |{}",
        names.join(" | "),
        " --- |".repeat(sizes.len())
    );
    for unit in units().iter().filter(|unit| unit.name.contains(filter)) {
        let handle = Handle::new(&unit.model);
        let mut line = format!("| {} |", unit.name);
        for (count, k) in sizes {
            let mut cases = Cases::new(&unit.model, count, k);
            let calls = 2000;
            let time = shortest(50, || {
                for _ in 0..calls {
                    handle.dots(black_box(&mut cases), count);
                }
            });
            line += &format!(" {:.0} |", time * 1e9 / f64::from(calls));
        }
        println!("{line}");
    }
}
