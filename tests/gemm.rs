//! The products of the C ABI against the reference: random shapes, layouts, storages, batches and threads. The whole
//! of the caller's arrays is compared, so padding that is written shows.

#[path = "common/random.rs"]
#[allow(dead_code)]
mod random;

use std::ffi::{CStr, c_void};

use mfma::capi::*;
use mfma::format::{FORMATS, decode, from_f32, from_f64, to_f64};
use mfma::model::{Reach, catalogue};
use mfma::reference::{Operand, dot};
use mfma::{Format, Model, Rounding};
use random::{Random, seed};

fn message() -> String {
    // SAFETY: never NULL, ends with a NUL.
    unsafe { CStr::from_ptr(mfma_last_error()) }
        .to_string_lossy()
        .into_owned()
}

/// One operand: where its elements lie, in an array of numbers that are all different from what a product gives.
#[derive(Clone, Debug)]
struct Array {
    storage: i32,
    format: Format,
    rows_contiguous: bool,
    ld: usize,
    stride: usize,
    bytes: Vec<u8>,
}

impl Array {
    fn size(storage: i32, format: Format) -> usize {
        match storage {
            MFMA_STORAGE_F32 => 4,
            MFMA_STORAGE_F64 => 8,
            _ => format.bytes(),
        }
    }

    fn at(&self, i: usize, j: usize, batch: usize) -> std::ops::Range<usize> {
        let (line, place) = if self.rows_contiguous { (i, j) } else { (j, i) };
        let size = Array::size(self.storage, self.format);
        let start = (batch * self.stride + line * self.ld + place) * size;
        start..start + size
    }

    fn get(&self, i: usize, j: usize, batch: usize) -> u64 {
        let mut word = [0; 8];
        let range = self.at(i, j, batch);
        word[..range.len()].copy_from_slice(&self.bytes[range]);
        u64::from_le_bytes(word)
    }

    fn set(&mut self, i: usize, j: usize, batch: usize, bits: u64) {
        let range = self.at(i, j, batch);
        let word = bits.to_le_bytes();
        let length = range.len();
        self.bytes[range].copy_from_slice(&word[..length]);
    }

    /// Element times factor, rounded as the unit takes it.
    fn rounded(
        &self,
        i: usize,
        j: usize,
        batch: usize,
        factor: f64,
        to: (Format, Rounding),
    ) -> u64 {
        let bits = self.get(i, j, batch);
        match self.storage {
            MFMA_STORAGE_F32 if factor == 1.0 => from_f32(to.0, f32::from_bits(bits as u32), to.1),
            MFMA_STORAGE_F32 => {
                from_f64(to.0, factor * f64::from(f32::from_bits(bits as u32)), to.1)
            }
            MFMA_STORAGE_F64 => from_f64(to.0, factor * f64::from_bits(bits), to.1),
            _ => bits,
        }
    }
}

struct Case {
    model: Model,
    sizes: [usize; 3],
    batch: usize,
    alpha: f64,
    beta: f64,
    a: Array,
    b: Array,
    c: Array,
    d: Array,
}

/// D by the reference.
fn expected(case: &Case) -> Array {
    let Case {
        model,
        sizes: [m, n, k],
        ..
    } = *case;
    let mut d = case.d.clone();
    let unit = model.unit();
    for batch in 0..case.batch {
        for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
            let input = |format| (format, Model::input_rounding(format));
            let a: Vec<_> = (0..k)
                .map(|p| case.a.rounded(i, p, batch, case.alpha, input(model.a())))
                .map(|bits| decode(model.a(), bits))
                .collect();
            let b: Vec<_> = (0..k)
                .map(|p| case.b.rounded(p, j, batch, 1.0, input(model.b())))
                .map(|bits| decode(model.b(), bits))
                .collect();
            let c = if case.beta == 0.0 {
                Operand::new(model.output(), 0)
            } else if case.c.storage == MFMA_STORAGE_RAW {
                Operand::new(model.output(), case.c.get(i, j, batch))
            } else {
                let to = model.addend_format();
                Operand::new(to.0, case.c.rounded(i, j, batch, case.beta, to))
            };
            let bits = dot(unit, &a, &b, c);
            let value = to_f64(model.output(), bits);
            let stored = match case.d.storage {
                MFMA_STORAGE_F32 if model.output() == Format::Fp32 => bits,
                MFMA_STORAGE_F32 => from_f64(Format::Fp32, value, Rounding::NearestEven),
                MFMA_STORAGE_F64 if model.output() == Format::Fp64 => bits,
                MFMA_STORAGE_F64 => value.to_bits(),
                _ => bits,
            };
            d.set(i, j, batch, stored);
        }
    }
    d
}

/// A number that is likely to matter: of ordinary or extreme size, sometimes special.
fn number(random: &mut Random) -> f64 {
    match random.below(40) {
        0 => 0.0,
        1 => *random.pick(&[f64::INFINITY, f64::NEG_INFINITY, f64::NAN, -0.0]),
        2 => f64::from_bits(random.next()),
        3 => f64::from(f32::from_bits(random.next() as u32)),
        _ => {
            let scale = random.between(-14, 8);
            (random.next() as i64 as f64) * f64::from(scale - 63).exp2()
        }
    }
}

fn array(
    random: &mut Random,
    storage: i32,
    format: Format,
    rows_contiguous: bool,
    [rows, cols]: [usize; 2],
    batch: usize,
    tight: bool,
) -> Array {
    let (line, lines) = if rows_contiguous {
        (cols, rows)
    } else {
        (rows, cols)
    };
    let slack = if tight { 0 } else { random.below(4) as usize };
    let ld = line.max(1) + slack;
    let stride = ld * lines + random.below(3) as usize;
    let size = Array::size(storage, format);
    let elements = stride * batch + ld;
    let mut array = Array {
        storage,
        format,
        rows_contiguous,
        ld,
        stride,
        bytes: vec![0; elements * size],
    };
    for element in array.bytes.chunks_mut(size) {
        let word = match storage {
            MFMA_STORAGE_F32 => u64::from((number(random) as f32).to_bits()),
            MFMA_STORAGE_F64 => number(random).to_bits(),
            _ if random.below(8) == 0 => random.next(),
            _ => from_f64(format, number(random), Rounding::NearestEven),
        };
        element.copy_from_slice(&word.to_le_bytes()[..size]);
    }
    array
}

/// Every unit that formats reach.
fn models() -> Vec<Model> {
    catalogue()
        .filter(|row| row.reach == Reach::Formats)
        .flat_map(|row| row.inputs.iter().map(move |[a, b]| (row, *a, *b)))
        .map(|(row, a, b)| Model::new(row.arch, a, b, row.output).unwrap())
        .collect()
}

fn handle(model: &Model) -> *mut mfma_model {
    let code = |format: Format| format.info().code;
    let mut handle = std::ptr::null_mut();
    // SAFETY: a valid place.
    let status = unsafe {
        mfma_model_new(
            model.arch().unwrap().info().code,
            code(model.a()),
            code(model.b()),
            code(model.output()),
            &mut handle,
        )
    };
    assert_eq!(status, MFMA_OK, "{}", message());
    handle
}

fn report(what: &str, case: &Case, got: &Array, want: &Array) {
    if got.bytes != want.bytes {
        let size = Array::size(want.storage, want.format);
        let at = (0..want.bytes.len())
            .find(|&i| got.bytes[i] != want.bytes[i])
            .unwrap()
            / size;
        let element = |array: &Array| array.bytes[at * size..(at + 1) * size].to_vec();
        panic!(
            "{what}: {:?} {} x {} -> {}, m n k = {:?}, alpha {} beta {}: element {at} of the array is {:x?}, not {:x?}",
            case.model.arch(),
            case.model.a(),
            case.model.b(),
            case.model.output(),
            case.sizes,
            case.alpha,
            case.beta,
            element(got),
            element(want)
        );
    }
}

#[test]
fn gemm_f64_gives_the_reference_for_random_shapes_and_threads() {
    let mut random = Random::new(seed());
    let models: Vec<Model> = models().into_iter().filter(|m| m.a() == m.b()).collect();
    for round in 0..1000 {
        let model = *random.pick(&models);
        let sizes = [0; 3].map(|_: usize| random.below(41) as usize);
        let [m, n, k] = sizes;
        let f64s = MFMA_STORAGE_F64;
        let (fa, fb, fd) = (model.a(), model.b(), model.output());
        let case = Case {
            model,
            sizes,
            batch: 1,
            alpha: *random.pick(&[1.0, 1.0, -1.0, 0.0, 0.3, 1e-4]),
            beta: *random.pick(&[1.0, 1.0, 0.0, -2.0, 0.7, 1e4]),
            a: array(&mut random, f64s, fa, false, [m, k], 1, false),
            b: array(&mut random, f64s, fb, false, [k, n], 1, false),
            c: array(&mut random, f64s, fd, false, [m, n], 1, false),
            d: array(&mut random, f64s, fd, false, [m, n], 1, false),
        };
        let want = expected(&case);
        assert_eq!(
            mfma_set_num_threads(*random.pick(&[1, 2, 3, 7, 16])),
            MFMA_OK
        );
        let mut got = case.d.clone();
        let c = if case.beta == 0.0 && round % 2 == 0 {
            std::ptr::null()
        } else {
            case.c.bytes.as_ptr()
        };
        let code = |format: Format| format.info().code;
        // SAFETY: the arrays hold what the sizes name.
        let status = unsafe {
            mfma_gemm_f64(
                model.arch().unwrap().info().code,
                code(fa),
                code(fd),
                m as i64,
                n as i64,
                k as i64,
                case.alpha,
                case.a.bytes.as_ptr().cast(),
                case.a.ld as i64,
                case.b.bytes.as_ptr().cast(),
                case.b.ld as i64,
                case.beta,
                c.cast(),
                case.c.ld as i64,
                got.bytes.as_mut_ptr().cast(),
                got.ld as i64,
            )
        };
        assert_eq!(status, MFMA_OK, "{}", message());
        report("mfma_gemm_f64", &case, &got, &want);
    }
    mfma_set_num_threads(0);
}

#[test]
fn general_product_gives_the_reference() {
    let mut random = Random::new(seed() ^ 1);
    let models = models();
    let storages = [MFMA_STORAGE_RAW, MFMA_STORAGE_F32, MFMA_STORAGE_F64];
    for round in 0..1500 {
        let model = *random.pick(&models);
        let row_major = random.below(2) == 1;
        let trans = [random.below(2) == 1, random.below(2) == 1];
        let storage = [0; 4].map(|_| *random.pick(&storages));
        let fd = model.output();
        let large = round % 100 == 0;
        let sizes = if large {
            [130, 70, 150]
        } else {
            [0; 3].map(|_: usize| random.below(20) as usize)
        };
        let [m, n, k] = sizes;
        let batch = if large { 2 } else { random.below(5) as usize };
        let in_place = random.below(3) == 0;
        let storage_d = match storage[3] {
            MFMA_STORAGE_F32 if fd == Format::Fp64 => MFMA_STORAGE_F64,
            other => other,
        };
        let storage_c = if in_place { storage_d } else { storage[2] };
        let raw = |storage| storage == MFMA_STORAGE_RAW;
        let alpha = if raw(storage[0]) {
            1.0
        } else {
            *random.pick(&[1.0, -0.5, 3.0])
        };
        let beta = match raw(storage_c) {
            true => *random.pick(&[0.0, 1.0]),
            false => *random.pick(&[0.0, 1.0, 0.1]),
        };
        let mut case = Case {
            model,
            sizes,
            batch,
            alpha,
            beta,
            a: array(
                &mut random,
                storage[0],
                model.a(),
                row_major != trans[0],
                [m, k],
                batch,
                false,
            ),
            b: array(
                &mut random,
                storage[1],
                model.b(),
                row_major != trans[1],
                [k, n],
                batch,
                false,
            ),
            c: array(&mut random, storage_c, fd, row_major, [m, n], batch, false),
            d: array(&mut random, storage_d, fd, row_major, [m, n], batch, false),
        };
        if in_place {
            case.d = case.c.clone();
        }
        // A shared operand.
        if random.below(3) == 0 {
            case.b.stride = 0;
        }
        let want = expected(&case);
        let mut got = case.d.clone();
        let model_handle = handle(&model);
        let d_pointer = got.bytes.as_mut_ptr();
        let c_pointer = if in_place {
            d_pointer.cast_const()
        } else {
            case.c.bytes.as_ptr()
        };
        let mut args = defaults();
        args.model = model_handle;
        (args.m, args.n, args.k) = (m as i64, n as i64, k as i64);
        args.batch_count = batch as i64;
        (args.alpha, args.beta) = (alpha, beta);
        args.order = row_major.into();
        (args.trans_a, args.trans_b) = (trans[0].into(), trans[1].into());
        (args.storage_a, args.storage_b) = (storage[0], storage[1]);
        (args.storage_c, args.storage_d) = (storage_c, storage_d);
        (args.lda, args.ldb) = (case.a.ld as i64, case.b.ld as i64);
        (args.ldc, args.ldd) = (case.c.ld as i64, got.ld as i64);
        args.threads = random.below(4) as i32;
        let list = |array: &Array, start: *const u8| -> Vec<*const c_void> {
            let size = Array::size(array.storage, array.format);
            (0..batch)
                .map(|i| start.wrapping_add(i * array.stride * size).cast())
                .collect()
        };
        let lists = [
            list(&case.a, case.a.bytes.as_ptr()),
            list(&case.b, case.b.bytes.as_ptr()),
            list(&case.c, c_pointer),
            list(&case.d, d_pointer),
        ];
        if random.below(2) == 0 {
            args.a_list = lists[0].as_ptr();
            args.b_list = lists[1].as_ptr();
            args.c_list = lists[2].as_ptr();
            args.d_list = lists[3].as_ptr().cast();
        } else {
            args.a = case.a.bytes.as_ptr().cast();
            args.b = case.b.bytes.as_ptr().cast();
            args.c = c_pointer.cast();
            args.d = d_pointer.cast();
            (args.stride_a, args.stride_b) = (case.a.stride as i64, case.b.stride as i64);
            (args.stride_c, args.stride_d) = (case.c.stride as i64, got.stride as i64);
        }
        // SAFETY: the arrays hold what the arguments name.
        let status = unsafe { mfma_gemm(&args) };
        assert_eq!(status, MFMA_OK, "{}", message());
        report("mfma_gemm", &case, &got, &want);
        // SAFETY: handed out above.
        unsafe { mfma_model_free(model_handle) };
    }
}

fn defaults() -> mfma_gemm_args {
    let mut args = std::mem::MaybeUninit::<mfma_gemm_args>::zeroed();
    // SAFETY: integers, numbers and nullable pointers may all be zero; size comes first.
    unsafe {
        args.as_mut_ptr()
            .cast::<usize>()
            .write(size_of::<mfma_gemm_args>());
        assert_eq!(mfma_gemm_args_default(args.as_mut_ptr()), MFMA_OK);
        args.assume_init()
    }
}

#[test]
fn dot_batch_gives_the_reference_at_any_alignment() {
    let mut random = Random::new(seed() ^ 2);
    for model in models() {
        let (fa, fb, fd) = (model.a(), model.b(), model.output());
        let handle = handle(&model);
        for _ in 0..6 {
            let k = random.below(50) as usize;
            let count = random.below(90) as usize;
            let shift = random.below(8) as usize;
            let in_place = random.below(2) == 0;
            let mut fill = |format: Format, elements: usize| {
                let mut bytes = vec![0; shift];
                for _ in 0..elements {
                    let word = match random.below(6) {
                        0 => random.next(),
                        _ => from_f64(format, number(&mut random), Rounding::NearestEven),
                    };
                    bytes.extend_from_slice(&word.to_le_bytes()[..format.bytes()]);
                }
                bytes
            };
            let (a, b) = (fill(fa, count * k), fill(fb, count * k));
            let c = fill(fd, count);
            let mut d = if in_place { c.clone() } else { fill(fd, count) };
            let get = |bytes: &[u8], format: Format, i: usize| {
                let size = format.bytes();
                let mut word = [0; 8];
                word[..size].copy_from_slice(&bytes[shift + i * size..][..size]);
                u64::from_le_bytes(word)
            };
            // SAFETY: the arrays hold `count` cases.
            let status = unsafe {
                mfma_dot_batch(
                    handle,
                    count as i64,
                    k as i64,
                    a.as_ptr().add(shift).cast(),
                    b.as_ptr().add(shift).cast(),
                    if in_place {
                        d.as_ptr().add(shift).cast()
                    } else {
                        c.as_ptr().add(shift).cast()
                    },
                    d.as_mut_ptr().add(shift).cast(),
                )
            };
            assert_eq!(status, MFMA_OK, "{}", message());
            for i in 0..count {
                let row = |bytes: &[u8], format| -> Vec<u64> {
                    (0..k).map(|p| get(bytes, format, i * k + p)).collect()
                };
                let (a, b) = (row(&a, fa), row(&b, fb));
                let want = mfma::reference::dot_raw(model.unit(), &a, &b, get(&c, fd, i));
                let got = get(&d, fd, i);
                assert_eq!(
                    got,
                    want,
                    "{:?} {fa} x {fb} -> {fd} k {k} case {i}: a {a:x?} b {b:x?} c {:x}",
                    model.arch(),
                    get(&c, fd, i)
                );
            }
        }
        // SAFETY: handed out above.
        unsafe { mfma_model_free(handle) };
    }
    assert_eq!(
        FORMATS.len(),
        9,
        "a new format: is its storage tested here?"
    );
}
