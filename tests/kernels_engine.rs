//! What must not matter to a result: sizes and tile edges, threads, alignment, the caller's floating-point mode, how K is
//! cut; and custom units, which must never run on a kernel that does not fit them.

#[path = "common/engine.rs"]
mod engine;
#[path = "common/generators.rs"]
mod generators;

use engine::{Packed, compute, compute_at, difference, expected, levels, one_at_a_time};
#[cfg(target_arch = "x86_64")]
use engine::{compute_watched, mxcsr};
use generators::{ALL, Generator, Operands, Rng, draw, number_from_env};
use mfma::format::{from_f64, to_f64};
use mfma::gemm::{Problem, Storage, View, run_with};
use mfma::kernel::{Family, family_of, force_level};
use mfma::model::{Conventions, Interleave, Params, Scheme, catalogue};
use mfma::threads::{Workers, set_num_threads};
use mfma::{Arch, Format, Model, Rounding};

/// A unit of each family, and each block size of the aligning ones.
fn units() -> Vec<Model> {
    use Format::*;
    let unit = |arch, input, output| Model::new(arch, input, input, output).unwrap();
    vec![
        unit(Arch::Cdna1, Fp16, Fp32),
        unit(Arch::Cdna1, Bf16, Fp32),
        unit(Arch::Cdna2, Fp64, Fp64),
        unit(Arch::Cdna2, Fp32, Fp32),
        unit(Arch::Cdna2, Fp16, Fp32),
        unit(Arch::Cdna2, Bf16, Fp32),
        Model::from_instruction("v_mfma_f32_32x32x4bf16", Arch::Cdna2).unwrap(),
        unit(Arch::Cdna3, Fp16, Fp32),
        unit(Arch::Cdna3, Tf32, Fp32),
        Model::new(Arch::Cdna3, E4m3Fnuz, E5m2Fnuz, Fp32).unwrap(),
        unit(Arch::Volta, Fp16, Fp16),
        unit(Arch::Ampere, Bf16, Fp32),
        unit(Arch::Hopper, Fp16, Fp32),
        unit(Arch::Hopper, E4m3, Fp32),
        unit(Arch::Blackwell, E5m2, Fp16),
        mma_sync("f32.e4m3.e5m2.f32", Arch::Hopper),
        mma_sync("f16.e5m2.e4m3.f16", Arch::Blackwell),
        unit(Arch::Ampere, Bf16, Fp16),
    ]
}

/// An interleaved unit.
fn mma_sync(types: &str, arch: Arch) -> Model {
    let name = format!("mma.sync.aligned.m16n8k32.row.col.{types}");
    Model::from_instruction(&name, arch).unwrap()
}

fn seed() -> u64 {
    let seed = number_from_env("MFMA_TEST_SEED", 1);
    println!("MFMA_TEST_SEED={seed}");
    seed
}

/// What is left to the reference is what only the toolbox computes.
#[test]
fn every_unit_of_hardware_has_a_fast_kernel() {
    for row in catalogue().filter(|row| !row.instruction.is_empty()) {
        for &[a, b] in row.inputs {
            let model = Model::from_params(row.params, a, b, row.output).unwrap();
            let family = family_of(&model);
            assert_ne!(family, Family::Reference, "{} {a} {b}", row.arch);
        }
    }
}

#[test]
fn every_edge_of_a_tile() {
    let _turn = one_at_a_time();
    let mut rng = Rng::new(seed());
    for model in units() {
        for side in 1..=70 {
            let other = |rng: &mut Rng| rng.range(1, 24) as usize;
            let (x, y) = (other(&mut rng), other(&mut rng));
            for (m, n, k) in [(side, x, y), (x, side, y), (x, y, side)] {
                let generator = rng.pick(&[Generator::Normal, Generator::Ties, Generator::Zeros]);
                let operands = draw(&mut rng, generator, &model, m, n, k);
                let want = expected(&model, &operands);
                for level in levels() {
                    assert!(force_level(Some(level)));
                    let got = compute(&model, &operands);
                    let text = difference(&operands, &want, &got);
                    assert_eq!(text, None, "{model:?} on {}", level.name());
                }
            }
        }
    }
    force_level(None);
}

#[test]
fn threads_and_alignment() {
    let _turn = one_at_a_time();
    let mut rng = Rng::new(seed());
    for model in units() {
        let operands = draw(&mut rng, Generator::Specials, &model, 150, 170, 70);
        for level in levels() {
            assert!(force_level(Some(level)));
            let want = compute(&model, &operands);
            for threads in [1, 2, 3, 7, 16] {
                set_num_threads(threads).unwrap();
                for offset in [0, 1, 7] {
                    let got = compute_at(&model, &operands, threads, offset);
                    let text = difference(&operands, &want, &got);
                    assert_eq!(text, None, "{threads} threads, {offset} bytes off");
                }
            }
        }
    }
    force_level(None);
    set_num_threads(0).unwrap();
}

#[cfg(target_arch = "x86_64")]
#[test]
fn the_callers_floating_point_mode() {
    let _turn = one_at_a_time();
    let mut rng = Rng::new(seed());
    let usual = mxcsr::read();
    // Rounding modes, flush-to-zero, denormals-are-zero, all at once.
    let modes = [0x2000, 0x4000, 0x6000, 0x8000, 0x0040, 0xe040].map(|bits| usual | bits);
    for model in units() {
        for generator in [
            Generator::SubnormalBand,
            Generator::Ties,
            Generator::GapSweep,
        ] {
            let operands = draw(&mut rng, generator, &model, 40, 70, 64);
            for level in levels() {
                assert!(force_level(Some(level)));
                let want = compute(&model, &operands);
                for threads in [1, 3] {
                    set_num_threads(threads).unwrap();
                    for mode in modes {
                        mxcsr::write(mode);
                        let got = compute_at(&model, &operands, threads, 0);
                        let after = mxcsr::read();
                        mxcsr::write(usual);
                        // Not the sticky flags: the test's own arithmetic may raise them.
                        assert_eq!(after & !0x3f, mode & !0x3f, "the mode is changed");
                        let text = difference(&operands, &want, &got);
                        assert_eq!(text, None, "{model:?} in mode {mode:x}");
                    }
                }
            }
        }
    }
    force_level(None);
    set_num_threads(0).unwrap();
}

/// Slow enough for a callback to be called.
#[cfg(target_arch = "x86_64")]
#[test]
fn the_mode_that_a_callback_leaves_behind() {
    let _turn = one_at_a_time();
    let mut rng = Rng::new(seed());
    let usual = mxcsr::read();
    assert!(force_level(Some(levels()[0])));
    for arch in [Arch::Volta, Arch::Hopper] {
        let model = Model::new(arch, Format::Fp16, Format::Fp16, Format::Fp16).unwrap();
        // Many regions, so that subnormal c's are left when the callback is called.
        let operands = draw(&mut rng, Generator::SubnormalBand, &model, 2000, 1100, 40);
        let want = compute(&model, &operands);
        for threads in [1, 3] {
            set_num_threads(threads).unwrap();
            let mut calls = 0;
            let mut callback = |_| {
                calls += 1;
                // Upward, all that is subnormal flushed.
                mxcsr::write(usual | 0xc040);
                true
            };
            let got = compute_watched(&model, &operands, threads, &mut callback);
            assert_eq!(mxcsr::read() & !0x3f, usual & !0x3f, "the mode is changed");
            assert!(calls > 0, "the callback was never called");
            let text = difference(&operands, &want, &got);
            assert_eq!(text, None, "{model:?}, {threads} threads");
        }
    }
    force_level(None);
    set_num_threads(0).unwrap();
}

/// D may be C, also where a NaN is looked for again in the operands.
#[test]
fn d_in_place_of_c() {
    let _turn = one_at_a_time();
    let mut rng = Rng::new(seed());
    let doubles = |arch| Model::new(arch, Format::Fp64, Format::Fp64, Format::Fp64).unwrap();
    let mut models = units();
    models.extend([Arch::Ampere, Arch::Hopper].map(doubles));
    for model in models {
        let (m, n, k) = (19, 37, 5);
        let mut operands = draw(&mut rng, Generator::Specials, &model, m, n, k);
        if model.a() == Format::Fp64 {
            // A NaN that is changed on its way through C.
            operands.a[3] = 0x7ff5_adac_7090_fc0c;
        }
        let storages: &[Storage] = match model.output() {
            Format::Fp64 => &[Storage::Raw, Storage::F64],
            Format::Fp32 => &[Storage::Raw, Storage::F32, Storage::F64],
            _ => &[Storage::Raw],
        };
        for &storage in storages {
            let numbers = |bits: &u64| match (storage, model.output()) {
                (Storage::F64, format) => to_f64(format, *bits).to_bits(),
                _ => *bits,
            };
            let c: Vec<u64> = operands.c.iter().map(numbers).collect();
            // The format says how many bytes an element has.
            let format = match storage {
                Storage::F64 => Format::Fp64,
                _ => model.output(),
            };
            let results = [false, true].map(|in_place| {
                let mut a = Packed::new(model.a(), &operands.a, 0);
                let mut b = Packed::new(model.b(), &operands.b, 0);
                let mut c = Packed::new(format, &c, 0);
                let mut d = Packed::new(format, &vec![0; m * n], 0);
                let stored = |packed: &mut Packed| {
                    let data = packed.view(1, m).address(0, 0);
                    // SAFETY: the elements lie in `packed`, which outlives the product.
                    unsafe { View::new(data, storage, model.output(), 1, m as isize) }
                };
                let (from, other) = (stored(&mut c), stored(&mut d));
                let problem = Problem {
                    model,
                    m,
                    n,
                    k,
                    alpha: 1.0,
                    a: a.view(1, m),
                    b: b.view(1, k),
                    beta: 1.0,
                    c: Some(from),
                    d: if in_place { from } else { other },
                };
                run_with(&problem, Workers::new(1), None).unwrap();
                if in_place { c.bits() } else { d.bits() }
            });
            let [apart, in_place] = results;
            let text = difference(&operands, &apart, &in_place);
            assert_eq!(text, None, "{model:?}, {storage:?}");
        }
    }
}

/// What the operands become on the way in, and D on the way out: rounded by the format code, one by one.
#[test]
fn doubles_and_singles_are_rounded_once() {
    let _turn = one_at_a_time();
    let mut rng = Rng::new(seed());
    let (alpha, beta) = (-1.7, 0.3);
    for model in units() {
        let (m, n, k) = (37, 45, 41);
        let mut numbers = |count: usize| -> Vec<f64> {
            (0..count)
                .map(|_| rng.normal() * 2f64.powi(rng.range(-12, 12)))
                .collect()
        };
        let (mut a, mut b, mut c) = (numbers(m * k), numbers(k * n), numbers(m * n));
        let (c_format, c_rounding) = model.addend_format();
        let input = |format, x| from_f64(format, x, Model::input_rounding(format));
        let operands = Operands {
            m,
            n,
            k,
            a: a.iter().map(|x| input(model.a(), alpha * x)).collect(),
            b: b.iter().map(|&x| input(model.b(), x)).collect(),
            c: c.iter()
                .map(|x| from_f64(c_format, beta * x, c_rounding))
                .collect(),
        };
        if c_format != model.output() {
            // The reference's operands have c in the output format; this unit takes a wider one.
            continue;
        }
        let want = expected(&model, &operands);
        for level in levels() {
            assert!(force_level(Some(level)));
            // Row-major and column-major, with room between rows.
            for transposed in [false, true] {
                let stride = if transposed { n + 3 } else { m + 3 };
                let mut d = vec![0f64; stride * if transposed { m } else { n }];
                let turn = |data: &[f64], rows: usize, cols: usize| -> Vec<f64> {
                    (0..rows * cols)
                        .map(|i| data[i / cols + i % cols * rows])
                        .collect()
                };
                let (mut at, mut bt, mut ct) = (turn(&a, m, k), turn(&b, k, n), turn(&c, m, n));
                let view = |data: &mut [f64], format, rows: usize, cols: usize| {
                    let (row, col) = if transposed { (cols, 1) } else { (1, rows) };
                    let data = data.as_mut_ptr().cast();
                    // SAFETY: the matrix has rows x cols elements.
                    unsafe { View::new(data, Storage::F64, format, row as isize, col as isize) }
                };
                let (row, col) = if transposed { (stride, 1) } else { (1, stride) };
                let pointer = d.as_mut_ptr().cast();
                // SAFETY: `d` has room for the padded matrix.
                let to = unsafe {
                    View::new(
                        pointer,
                        Storage::F64,
                        model.output(),
                        row as isize,
                        col as isize,
                    )
                };
                let (a, b, c) = if transposed {
                    (&mut at, &mut bt, &mut ct)
                } else {
                    (&mut a, &mut b, &mut c)
                };
                let problem = Problem {
                    model,
                    m,
                    n,
                    k,
                    alpha,
                    a: view(a, model.a(), m, k),
                    b: view(b, model.b(), k, n),
                    beta,
                    c: Some(view(c, model.output(), m, n)),
                    d: to,
                };
                run_with(&problem, Workers::new(1), None).unwrap();
                for (at, &bits) in want.iter().enumerate() {
                    let got = d[at % m * row + at / m * col];
                    let want = to_f64(model.output(), bits);
                    assert_eq!(got.to_bits(), want.to_bits(), "{model:?} element {at}");
                }
            }
        }
    }
    force_level(None);
}

/// Peak memory of this process in KiB, where the system tells.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

#[test]
fn a_million_products_in_bounded_memory() {
    let _turn = one_at_a_time();
    let (side, k) = (10, 1_000_000);
    for model in [
        Model::new(Arch::Cdna3, Format::Fp16, Format::Fp16, Format::Fp32).unwrap(),
        Model::new(Arch::Hopper, Format::Fp16, Format::Fp16, Format::Fp32).unwrap(),
    ] {
        let mut rng = Rng::new(seed());
        let mut data =
            |count: usize| -> Vec<f32> { (0..count).map(|_| rng.normal() as f32).collect() };
        let (mut a, mut b) = (data(side * k), data(k * side));
        let mut run = |first: usize, length: usize, d: &mut [f32]| {
            let (a, b) = (a[first * side..].as_mut_ptr(), b[first..].as_mut_ptr());
            let view = |data: *mut f32, format, stride: usize| {
                // SAFETY: side rows (columns) of `length` elements lie there.
                unsafe { View::new(data.cast(), Storage::F32, format, 1, stride as isize) }
            };
            let d = view(d.as_mut_ptr(), model.output(), side);
            let problem = Problem {
                model,
                m: side,
                n: side,
                k: length,
                alpha: 1.0,
                a: view(a, model.a(), side),
                b: view(b, model.b(), k),
                beta: 1.0,
                c: Some(d),
                d,
            };
            run_with(&problem, Workers::new(1), None).unwrap();
        };
        let mut whole = vec![0f32; side * side];
        let before = peak_memory();
        run(0, k, &mut whole);
        if let (Some(before), Some(after)) = (before, peak_memory()) {
            println!("K = 10^6 took {} KiB more", after - before);
            assert!(after - before < 12 << 10, "{} KiB", after - before);
        }
        // Cut anywhere between two blocks, c carried by the caller.
        let mut pieces = vec![0f32; side * side];
        let mut first = 0;
        for length in [16, 4096, 16 * 12345, usize::MAX] {
            let length = length.min(k - first);
            run(first, length, &mut pieces);
            first += length;
        }
        let bits = |x: &[f32]| -> Vec<u32> { x.iter().map(|x| x.to_bits()).collect() };
        assert_eq!(bits(&whole), bits(&pieces));
    }
}

/// A unit near those of the catalogue, or far from them.
fn custom(rng: &mut Rng) -> Option<Model> {
    use Format::*;
    let inputs = [Fp16, Bf16, Tf32, Fp32, E4m3, E5m2, E4m3Fnuz, E5m2Fnuz];
    let a = rng.pick(&inputs);
    let b = if rng.one_in(3) { rng.pick(&inputs) } else { a };
    let output = rng.pick(&[Fp32, Fp32, Fp16]);
    let near = match rng.below(8) {
        0 => Model::new(Arch::Cdna3, Fp16, Fp16, Fp32),
        1 => Model::new(Arch::Cdna3, E4m3Fnuz, E4m3Fnuz, Fp32),
        2 => Model::new(Arch::Cdna2, Fp16, Fp16, Fp32),
        3 => Model::new(Arch::Cdna1, Fp16, Fp16, Fp32),
        4 => Model::new(Arch::Hopper, Fp16, Fp16, Fp16),
        5 => Model::new(Arch::Hopper, E4m3, E4m3, Fp32),
        6 => Ok(mma_sync("f32.e4m3.e4m3.f32", Arch::Hopper)),
        _ => Model::new(Arch::Ampere, Fp16, Fp16, Fp32),
    };
    let mut params: Params = *near.unwrap().params();
    let roundings = [
        Rounding::NearestEven,
        Rounding::TowardZero,
        Rounding::Down,
        Rounding::Up,
    ];
    for _ in 0..rng.below(4) {
        match rng.below(17) {
            0 => params.fma = rng.pick(&[1, 2, 4, 8, 12, 16, 32, 64]),
            1 => params.alignment_bits = rng.pick(&[7, 13, 22, 23, 24, 25, 26, 35]),
            2 => params.sticky = !params.sticky,
            3 => params.late_c = !params.late_c,
            4 => params.denormal_products = !params.denormal_products,
            5 => params.alignment_rounding = rng.pick(&roundings),
            6 => params.late_sum_bits = rng.pick(&[24, 31, 32, 33, 40]),
            7 => params.late_total_bits = rng.pick(&[None, Some(30), Some(31), Some(32)]),
            8 => params.drop_c_beyond = rng.pick(&[None, Some(24), Some(25), Some(26)]),
            9 => params.min_exponent = rng.pick(&[None, Some(-133), Some(-50), Some(-15), Some(3)]),
            10 => params.zero_c_exponent = rng.pick(&[None, Some(-126), Some(-10), Some(0)]),
            11 => params.product_limit = !params.product_limit,
            12 => params.rounding = rng.pick(&roundings),
            13 => params.in_subnormals = !params.in_subnormals,
            14 => params.out_subnormals = !params.out_subnormals,
            15 => {
                params.conventions =
                    rng.pick(&[Conventions::Amd, Conventions::Nvidia, Conventions::Toolbox]);
            }
            _ => {
                params.scheme = rng.pick(&[
                    Scheme::SequentialFma,
                    Scheme::CorrectRounding,
                    Scheme::PairwiseSum,
                    Scheme::GlobalAlignment,
                    Scheme::OddEvenGrouping,
                ]);
                params.interleave =
                    rng.pick(&[Interleave::None, Interleave::None, Interleave::Mod4]);
            }
        }
    }
    Model::from_params(params, a, b, output).ok()
}

#[test]
fn custom_units_are_never_wrong() {
    let _turn = one_at_a_time();
    let mut rng = Rng::new(seed());
    let wanted = number_from_env("MFMA_TEST_CUSTOM", 600);
    let (mut done, mut fast) = (0, 0);
    while done < wanted {
        let Some(model) = custom(&mut rng) else {
            continue;
        };
        done += 1;
        fast += u64::from(family_of(&model) != Family::Reference);
        let k = (2 * model.params().fma as usize).clamp(3, 40);
        let generator = rng.pick(&ALL);
        let operands = draw(&mut rng, generator, &model, 7, 11, k);
        let want = expected(&model, &operands);
        for level in levels() {
            assert!(force_level(Some(level)));
            let got = compute(&model, &operands);
            let text = difference(&operands, &want, &got);
            assert_eq!(text, None, "{model:?} on {}, {generator:?}", level.name());
        }
    }
    force_level(None);
    println!("{done} custom units, {fast} of them on fast kernels");
    assert!(fast > wanted / 10 && fast < wanted, "{fast} of {wanted}");
}

/// A result of 13 fraction bits that overflows toward zero, and an addend far below the products, which only odd-even
/// grouping drops.
#[test]
fn custom_units_in_rare_cases() {
    use Format::*;
    let _turn = one_at_a_time();
    let near = |arch, format| *Model::new(arch, format, format, Fp32).unwrap().params();
    let thirteen_bits = Params {
        fma: 16,
        min_exponent: Some(-126),
        ..near(Arch::Hopper, E4m3)
    };
    let late = Params {
        fma: 4,
        drop_c_beyond: Some(25),
        ..near(Arch::Cdna3, Bf16)
    };
    let mut a = vec![0; 16];
    (a[3], a[7], a[11]) = (0xf880, 0xf880, 0xf853);
    let mut b = vec![0; 16];
    b[11] = 0xf8;
    let cases = [
        (thirteen_bits, [Bf16, E4m3], a, b, 0x7f7f_fc00, 0x7f80_0000),
        (
            late,
            [Bf16, Bf16],
            vec![0, 0x8280, 0x6780, 0xe780],
            vec![0, 0, 0xc9ff, 0xc9ff],
            0xe480_0000,
            0xe580_0000,
        ),
    ];
    for (params, [format_a, format_b], a, b, c, want) in cases {
        let model = Model::from_params(params, format_a, format_b, Fp32).unwrap();
        assert!(matches!(
            family_of(&model),
            Family::EarlyAddend | Family::LateAddend
        ));
        // Two rows, which makes it a tile's work and not a single dot product's.
        let operands = Operands {
            m: 2,
            n: 1,
            k: a.len(),
            a: a.iter().flat_map(|&x| [x, x]).collect(),
            b,
            c: vec![c; 2],
        };
        assert_eq!(expected(&model, &operands), [want; 2]);
        for level in levels() {
            assert!(force_level(Some(level)));
            let text = difference(&operands, &[want; 2], &compute(&model, &operands));
            assert_eq!(text, None, "{model:?} on {level:?}");
        }
    }
    force_level(None);
}
