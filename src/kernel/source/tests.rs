//! Packing rounds as the formats do, and reads every encoding.

use super::*;
use crate::format::{FORMATS, from_f64, to_f64};
use crate::model::{Conventions, Model};

fn same(x: f32, y: f32) -> bool {
    x.to_bits() == y.to_bits() || x.is_nan() && y.is_nan()
}

fn xorshift(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

/// What a strip of one lane makes of some elements.
fn load<T: Copy>(storage: Storage, format: Format, factor: f64, data: &[T]) -> Vec<f32> {
    load_as(&Params::default(), storage, format, factor, data)
}

/// The same for a unit with certain features.
fn load_as<T: Copy>(
    params: &Params,
    storage: Storage,
    format: Format,
    factor: f64,
    data: &[T],
) -> Vec<f32> {
    let pointer = data.as_ptr().cast_mut().cast::<u8>();
    // SAFETY: the view covers `data`.
    let view = unsafe { View::new(pointer, storage, format, data.len() as isize, 1) };
    let source = Source::new(view, factor, format, params).flushed(params);
    let part = Part {
        first: 0,
        rows: 1,
        lanes: 1,
        k_first: 0,
        k: data.len(),
        k_padded: data.len(),
    };
    let mut buffer = StripBuffer::default();
    // SAFETY: the elements exist.
    unsafe { source.load(part, &mut buffer) }.single().to_vec()
}

#[test]
fn rounding_is_the_formats() {
    let mut state = 0x1234_5678_9abc_def1;
    for row in FORMATS.iter().filter(|row| row.format != Format::Fp64) {
        let format = row.format;
        let rounding = Model::input_rounding(format);
        let mut data = vec![
            0.0,
            -0.0,
            f64::INFINITY,
            -f64::INFINITY,
            f64::NAN,
            1e300,
            -1e300,
            5e-324,
        ];
        let span = (row.max_exponent() - row.min_exponent() + 40) as u64;
        for i in 0..200_000u64 {
            let bits = xorshift(&mut state);
            // Few significand bits now and then, so that ties and exact numbers come up.
            let kept = [52, 52, 12, 9, 5][(i % 5) as usize];
            let significand = bits & ((1 << 52) - 1) & !((1 << (52 - kept)) - 1);
            let exponent = (1023 + row.min_exponent() - 25) as u64 + (bits >> 53) % span;
            data.push(f64::from_bits(
                bits & 1 << 63 | exponent << 52 | significand,
            ));
        }
        for factor in [1.0, -0.3] {
            let got = load(Storage::F64, format, factor, &data);
            for (&x, &y) in data.iter().zip(&got) {
                let want = to_f64(format, from_f64(format, factor * x, rounding)) as f32;
                assert!(
                    same(y, want) || y == 0.0 && want == 0.0,
                    "{format} {x:e} {y:e} {want:e}"
                );
            }
            let singles: Vec<f32> = data.iter().map(|&x| x as f32).collect();
            let got = load(Storage::F32, format, factor, &singles);
            for (&x, &y) in singles.iter().zip(&got) {
                let exact = factor * f64::from(x);
                let want = to_f64(format, from_f64(format, exact, rounding)) as f32;
                assert!(
                    same(y, want) || y == 0.0 && want == 0.0,
                    "{format} {x:e} {y:e} {want:e}"
                );
            }
        }
    }
}

#[test]
fn raw_elements_are_the_formats_numbers() {
    for row in FORMATS.iter().filter(|row| row.format != Format::Fp64) {
        let format = row.format;
        let want = |bits: u64| to_f64(format, bits) as f32;
        match row.storage_bits {
            8 => {
                let data: Vec<u8> = (0..=255).collect();
                let got = load(Storage::Raw, format, 1.0, &data);
                assert!((0..256).all(|i| same(got[i], want(i as u64))), "{format}");
            }
            16 => {
                let data: Vec<u16> = (0..=u16::MAX).collect();
                let got = load(Storage::Raw, format, 1.0, &data);
                assert!((0..65536).all(|i| same(got[i], want(i as u64))), "{format}");
            }
            _ => {
                let data: Vec<u32> = (0..=u32::MAX)
                    .step_by(4093)
                    .chain([0x7f80_0001, 0xff80_0000])
                    .collect();
                for conventions in [Conventions::Nvidia, Conventions::Amd] {
                    let params = Params {
                        conventions,
                        ..Params::default()
                    };
                    let got = load_as(&params, Storage::Raw, format, 1.0, &data);
                    for (&bits, &x) in data.iter().zip(&got) {
                        let want = want(params.visible(format, bits.into()));
                        assert!(same(x, want), "{format} {bits:x} {conventions:?}");
                    }
                }
            }
        }
    }
}

/// Raw rows along K, with and without a gap between them, on every level.
#[test]
fn rows_of_raw_elements_are_turned() {
    for row in FORMATS.iter().filter(|row| row.storage_bits <= 16) {
        let format = row.format;
        let bytes = format.bytes();
        for (k, gap) in [
            (1, 0),
            (4, 0),
            (5, 0),
            (8, 3),
            (13, 0),
            (16, 0),
            (31, 1),
            (40, 0),
        ] {
            let pitch = k + gap;
            let rows = 70000usize.div_ceil(pitch).min(5000) | 1;
            let encoding = |row: usize, p: usize| ((row * pitch + p) as u64 * 40503) >> 3;
            let data: Vec<u8> = (0..rows * pitch)
                .flat_map(|i| encoding(0, i).to_le_bytes()[..bytes].to_vec())
                .collect();
            let pointer = data.as_ptr().cast_mut();
            // SAFETY: the view covers `data`.
            let view = unsafe { View::new(pointer, Storage::Raw, format, pitch as isize, 1) };
            let mut source = Source::new(view, 1.0, format, &Params::default());
            let part = Part {
                first: 0,
                rows,
                lanes: rows + 1,
                k_first: 0,
                k,
                k_padded: k + 1,
            };
            for level in Level::ALL.into_iter().filter(|level| level.available()) {
                source.level = level;
                let mut buffer = StripBuffer::default();
                // SAFETY: the elements exist.
                let strip = unsafe { source.load(part, &mut buffer) }.single();
                for (at, &x) in strip.iter().enumerate() {
                    let (p, lane) = (at / (rows + 1), at % (rows + 1));
                    let want = match p < k && lane < rows {
                        true => {
                            let mask = (1 << row.storage_bits) - 1;
                            to_f64(format, encoding(lane, p) & mask) as f32
                        }
                        false => 0.0,
                    };
                    assert!(same(x, want), "{format} {k} {} {at}: {x}", level.name());
                }
            }
        }
    }
}

/// One row, and rows along K that are turned, of encodings and of numbers, on every level.
#[test]
fn subnormal_inputs_of_units_that_flush_them_become_zero() {
    let params = Params {
        in_subnormals: false,
        ..Params::default()
    };
    let flushed = |x: f32, least: f32| match x != 0.0 && x.abs() < least {
        true => 0.0,
        false => x,
    };
    for row in FORMATS.iter().filter(|row| row.storage_bits <= 16) {
        let format = row.format;
        let least = min_normal(format);
        let count = 1usize << row.storage_bits;
        let words: Vec<u16> = (0..count).map(|i| i as u16).collect();
        let bytes: Vec<u8> = words.iter().map(|&i| i as u8).collect();
        let numbers: Vec<f64> = words
            .iter()
            .map(|&bits| to_f64(format, bits.into()))
            .collect();
        let singles: Vec<f32> = numbers.iter().map(|&x| x as f32).collect();
        let raw = match format.bytes() {
            1 => bytes.as_ptr(),
            _ => words.as_ptr().cast(),
        };
        for (storage, first) in [
            (Storage::Raw, raw),
            (Storage::F32, singles.as_ptr().cast()),
            (Storage::F64, numbers.as_ptr().cast()),
        ] {
            for (rows, k) in [(1, count), (count / 16, 16)] {
                // SAFETY: the view covers the encodings, or the numbers.
                let view = unsafe { View::new(first.cast_mut(), storage, format, k as isize, 1) };
                let mut source = Source::new(view, 1.0, format, &params).flushed(&params);
                let part = Part {
                    first: 0,
                    rows,
                    lanes: rows,
                    k_first: 0,
                    k,
                    k_padded: k,
                };
                for level in Level::ALL.into_iter().filter(|level| level.available()) {
                    source.level = level;
                    let mut buffer = StripBuffer::default();
                    // SAFETY: the elements exist.
                    let strip = unsafe { source.load(part, &mut buffer) }.single();
                    for (at, &x) in strip.iter().enumerate() {
                        let number = singles[at % rows * k + at / rows];
                        // Numbers that the format lacks are rounded when they are loaded.
                        let want = match storage == Storage::Raw || number.is_finite() {
                            true => flushed(number, least),
                            false => continue,
                        };
                        assert!(
                            same(x, want) && (x != 0.0 || x.to_bits() == want.to_bits()),
                            "{format} {storage:?} {rows} x {k} on {}: {at}: {x:e}, not {want:e}",
                            level.name()
                        );
                    }
                }
            }
        }
    }
}
