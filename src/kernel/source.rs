//! Strips of A and B: read from the user's memory, rounded once to the unit's format, laid out for packing.
//!
//! A strip is `k` rows of `lanes` numbers: lane l is one row of A, or one column of B. Numbers are binary32 numbers equal
//! to the encodings (all formats but binary64 fit into binary32), NaNs and infinities included; for binary64 units they
//! are binary64. What a strip does not cover (past the last row of A, past the end of K) is +0.

use super::level::{Level, level};
use crate::format::{Format, Rounding, Specials, to_f64};
use crate::gemm::{Storage, View};
use crate::model::{Model, Params};

/// Where a strip's numbers are.
#[derive(Clone, Copy, Debug)]
pub enum Values<'a> {
    /// Equal to the encodings of any format but binary64.
    Single(&'a [f32]),
    /// binary64 units.
    Double(&'a [f64]),
}

/// `k` rows of `lanes` numbers; number (p, l) is at `p * lanes + l`.
#[derive(Clone, Copy, Debug)]
pub struct Strip<'a> {
    /// The numbers.
    pub values: Values<'a>,
    /// Numbers in a row: MR or NR.
    pub lanes: usize,
    /// Rows; a multiple of the kernel's block.
    pub k: usize,
    /// Rows before the end of K; what follows is +0.
    pub filled: usize,
}

impl<'a> Strip<'a> {
    /// The numbers of a unit that is not a binary64 one.
    pub fn single(&self) -> &'a [f32] {
        match self.values {
            Values::Single(values) => values,
            Values::Double(_) => unreachable!("a strip of binary64 numbers for a binary32 kernel"),
        }
    }

    /// The numbers of a binary64 unit.
    pub fn double(&self) -> &'a [f64] {
        match self.values {
            Values::Double(values) => values,
            Values::Single(_) => unreachable!("a strip of binary32 numbers for a binary64 kernel"),
        }
    }
}

/// Room for one strip.
#[derive(Default)]
pub struct StripBuffer {
    single: Vec<f32>,
    double: Vec<f64>,
    line: Vec<f32>,
}

/// A matrix to pack: lanes are the view's rows, K runs along its columns.
#[derive(Clone, Copy)]
pub struct Source {
    view: View,
    factor: f64,
    format: Format,
    rules: Rules,
    /// The bits of a raw tf32 word that the unit reads.
    visible: u32,
    /// Only x86-64 has more than one that matters here.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
    level: Level,
}

/// Which part of a matrix a strip covers.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// First row of the view.
    pub first: usize,
    /// Rows that exist.
    pub rows: usize,
    /// Lanes of the strip, at least `rows`.
    pub lanes: usize,
    /// First column of the view.
    pub k_first: usize,
    /// Columns that exist.
    pub k: usize,
    /// Rows of the strip, at least `k`.
    pub k_padded: usize,
}

impl Source {
    /// The rows of `view` times `factor` (binary64), to be rounded to `format`. Raw elements are taken as a unit with
    /// these `params` reads them.
    pub fn new(view: View, factor: f64, format: Format, params: &Params) -> Source {
        Source {
            view,
            factor,
            format,
            rules: Rules::new(format),
            visible: params.visible(Format::Tf32, u32::MAX.into()) as u32,
            level: level(),
        }
    }

    /// Loads one strip into `buffer`.
    ///
    /// # Safety
    /// The elements that `part` says exist must be among those promised to `View::new`. The thread must be in
    /// [`FpMode::Nearest`](super::FpMode::Nearest).
    pub unsafe fn load<'a>(&self, part: Part, buffer: &'a mut StripBuffer) -> Strip<'a> {
        let size = part.lanes * part.k_padded;
        let values = if self.format == Format::Fp64 {
            buffer.double.clear();
            buffer.double.resize(size, 0.0);
            for p in 0..part.k {
                let row = &mut buffer.double[p * part.lanes..][..part.rows];
                for (i, x) in row.iter_mut().enumerate() {
                    // SAFETY: promised by the caller.
                    *x = unsafe { self.double(part.first + i, part.k_first + p) };
                }
            }
            Values::Double(&buffer.double)
        } else {
            if part.rows < part.lanes || part.k < part.k_padded {
                buffer.single.clear();
            }
            buffer.single.resize(size, 0.0);
            // SAFETY: promised by the caller.
            unsafe { self.load_single(part, buffer) };
            Values::Single(&buffer.single)
        };
        Strip {
            values,
            lanes: part.lanes,
            k: part.k_padded,
            filled: part.k,
        }
    }

    /// # Safety
    /// As for `load`.
    unsafe fn load_single(&self, part: Part, buffer: &mut StripBuffer) {
        let Part { rows, lanes, k, .. } = part;
        let by_row = self.view.row_stride() == 1 || self.view.col_stride() != 1;
        if by_row {
            // One k at a time: the lanes are neighbours in memory (or nothing is).
            for p in 0..k {
                let line = &mut buffer.single[p * lanes..][..rows];
                let address = self.view.address(part.first, part.k_first + p);
                // SAFETY: promised by the caller.
                unsafe { self.convert(address, self.view.row_stride(), line) };
            }
            return;
        }
        // One lane at a time, eight of them, then turned.
        const GROUP: usize = 8;
        buffer.line.resize(GROUP * k, 0.0);
        for group in (0..rows).step_by(GROUP) {
            let count = GROUP.min(rows - group);
            for i in 0..count {
                let address = self.view.address(part.first + group + i, part.k_first);
                // SAFETY: promised by the caller.
                unsafe { self.convert(address, 1, &mut buffer.line[i * k..][..k]) };
            }
            turn(&buffer.line, k, count, &mut buffer.single[group..], lanes);
        }
    }

    /// Loads elements (`row`, `col`), (`row` + 1, `col`), ... of a matrix that is not for a binary64 unit.
    ///
    /// # Safety
    /// As for `load`.
    pub unsafe fn column(&self, row: usize, col: usize, line: &mut [f32]) {
        let address = self.view.address(row, col);
        // SAFETY: promised by the caller.
        unsafe { self.convert(address, self.view.row_stride(), line) }
    }

    /// # Safety
    /// The element must exist.
    unsafe fn double(&self, i: usize, p: usize) -> f64 {
        let address = self.view.address(i, p);
        // SAFETY: promised by the caller; reads are unaligned.
        unsafe {
            match self.view.storage() {
                Storage::Raw => address.cast::<f64>().read_unaligned(),
                Storage::F32 => self.factor * f64::from(address.cast::<f32>().read_unaligned()),
                Storage::F64 => self.factor * address.cast::<f64>().read_unaligned(),
            }
        }
    }

    /// Converts `line.len()` elements, `stride` elements apart from `address` on.
    ///
    /// # Safety
    /// They must exist.
    unsafe fn convert(&self, address: *const u8, stride: isize, line: &mut [f32]) {
        #[cfg(target_arch = "x86_64")]
        if self.level >= Level::Avx2 {
            // SAFETY: the machine has the level; the rest is promised by the caller.
            return unsafe { self.convert_avx2(address, stride, line) };
        }
        // SAFETY: promised by the caller.
        unsafe { self.convert_any(address, stride, line) }
    }

    /// The same code, compiled for wider vectors.
    ///
    /// # Safety
    /// As for `convert`, and the machine must have AVX2.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,f16c")]
    unsafe fn convert_avx2(&self, address: *const u8, stride: isize, line: &mut [f32]) {
        // SAFETY: promised by the caller.
        unsafe { self.convert_any(address, stride, line) }
    }

    /// # Safety
    /// As for `convert`.
    #[inline(always)]
    unsafe fn convert_any(&self, address: *const u8, stride: isize, line: &mut [f32]) {
        let (factor, rules) = (self.factor, &self.rules);
        // SAFETY: promised by the caller.
        unsafe {
            match (self.view.storage(), self.format) {
                (Storage::F64, Format::Fp32) => {
                    fill(line, address.cast::<f64>(), stride, |x| (factor * x) as f32);
                }
                (Storage::F64, _) if rules.cut => {
                    fill(line, address.cast::<f64>(), stride, |x| {
                        rules.round::<true>(factor * x)
                    });
                }
                (Storage::F64, _) => {
                    fill(line, address.cast::<f64>(), stride, |x| {
                        rules.round::<false>(factor * x)
                    });
                }
                (Storage::F32, Format::Fp32) if factor == 1.0 => {
                    fill(line, address.cast::<f32>(), stride, |x| x);
                }
                (Storage::F32, Format::Fp32) => {
                    fill(line, address.cast::<f32>(), stride, |x| {
                        (factor * f64::from(x)) as f32
                    });
                }
                (Storage::F32, Format::Tf32) if factor == 1.0 => {
                    fill(line, address.cast::<u32>(), stride, from_tf32);
                }
                (Storage::F32, Format::Bf16) if factor == 1.0 => {
                    fill(line, address.cast::<u32>(), stride, to_bf16);
                }
                (Storage::F32, _) if factor == 1.0 && rules.narrow => {
                    let rules = rules.single();
                    fill(line, address.cast::<f32>(), stride, |x| rules.round(x));
                }
                (Storage::F32, _) if rules.cut => {
                    fill(line, address.cast::<f32>(), stride, |x| {
                        rules.round::<true>(factor * f64::from(x))
                    });
                }
                (Storage::F32, _) => {
                    fill(line, address.cast::<f32>(), stride, |x| {
                        rules.round::<false>(factor * f64::from(x))
                    });
                }
                (Storage::Raw, Format::Fp32) => {
                    fill(line, address.cast::<f32>(), stride, |x| x);
                }
                (Storage::Raw, Format::Tf32) => {
                    fill(line, address.cast::<u32>(), stride, |x| {
                        from_tf32(x & self.visible)
                    });
                }
                (Storage::Raw, Format::Bf16) => {
                    fill(line, address.cast::<u16>(), stride, |x| {
                        f32::from_bits(u32::from(x) << 16)
                    });
                }
                (Storage::Raw, Format::Fp16) => {
                    fill(line, address.cast::<u16>(), stride, from_fp16);
                }
                (Storage::Raw, _) => {
                    let table = byte_table(self.format);
                    fill(line, address, stride, |x: u8| table[usize::from(x)]);
                }
            }
        }
    }
}

/// Writes `count` lines of `k` numbers as columns of `to`, whose rows are `lanes` numbers apart.
fn turn(lines: &[f32], k: usize, count: usize, to: &mut [f32], lanes: usize) {
    for (p, row) in to.chunks_mut(lanes).take(k).enumerate() {
        for (i, x) in row[..count].iter_mut().enumerate() {
            *x = lines[i * k + p];
        }
    }
}

/// # Safety
/// `line.len()` elements must be readable.
#[inline(always)]
unsafe fn fill<T: Copy>(
    line: &mut [f32],
    address: *const T,
    stride: isize,
    convert: impl Fn(T) -> f32,
) {
    if stride == 1 {
        for (i, x) in line.iter_mut().enumerate() {
            // SAFETY: promised by the caller; reads are unaligned.
            *x = convert(unsafe { address.add(i).read_unaligned() });
        }
    } else {
        for (i, x) in line.iter_mut().enumerate() {
            // SAFETY: promised by the caller; reads are unaligned.
            *x = convert(unsafe {
                address
                    .wrapping_offset(i as isize * stride)
                    .read_unaligned()
            });
        }
    }
}

/// A binary16 encoding as the binary32 number equal to it.
#[inline(always)]
fn from_fp16(bits: u16) -> f32 {
    let bits = u32::from(bits);
    let magnitude = (bits & 0x7fff) << 13;
    // The exponent field is 112 too small; a product with a power of two repairs it, for subnormal numbers as well.
    let finite = (f32::from_bits(magnitude) * f32::from_bits((127 + 112) << 23)).to_bits();
    let special = magnitude | 0x7f80_0000;
    let magnitude = if bits & 0x7c00 == 0x7c00 {
        special
    } else {
        finite
    };
    f32::from_bits(magnitude | (bits & 0x8000) << 16)
}

/// A tf32 word as the binary32 number that the unit reads. A NaN stays one even if only ignored bits tell.
#[inline(always)]
fn from_tf32(bits: u32) -> f32 {
    let nan = bits & 0x7fff_ffff > 0x7f80_0000;
    f32::from_bits((bits & !0x1fff) | if nan { 0x0040_0000 } else { 0 })
}

/// A binary32 number rounded to bfloat16, to nearest even; overflow carries into an infinity.
#[inline(always)]
fn to_bf16(bits: u32) -> f32 {
    let nan = bits & 0x7fff_ffff > 0x7f80_0000;
    let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1));
    f32::from_bits((if nan { bits | 0x0040_0000 } else { rounded }) & 0xffff_0000)
}

/// The numbers of an 8-bit format.
fn byte_table(format: Format) -> &'static [f32; 256] {
    use std::sync::OnceLock;
    static TABLES: [OnceLock<[f32; 256]>; crate::format::FORMATS.len()] =
        [const { OnceLock::new() }; crate::format::FORMATS.len()];
    TABLES[format as usize]
        .get_or_init(|| std::array::from_fn(|bits| to_f64(format, bits as u64) as f32))
}

/// How binary64 numbers are rounded to a format of at most 11 significant bits, in numbers.
#[derive(Clone, Copy, Debug)]
struct Rules {
    /// Toward zero? Else to nearest even.
    cut: bool,
    fraction_bits: u32,
    /// Biased binary64 exponents of the smallest and of the largest normal number.
    min_exponent: u64,
    max_exponent: u64,
    max_finite: f64,
    /// What a finite number past the largest becomes.
    overflow: f64,
    /// What an infinity becomes.
    infinity: f64,
    /// Can binary32 arithmetic round a binary32 number to the format? It can where exponents are few.
    narrow: bool,
}

impl Rules {
    fn single(&self) -> SingleRules {
        let field = |biased: u64| (biased as i32 - 1023 + 127) as u32;
        SingleRules {
            fraction_bits: self.fraction_bits,
            min_exponent: field(self.min_exponent),
            max_exponent: field(self.max_exponent),
            max_finite: self.max_finite as f32,
            overflow: self.overflow as f32,
            infinity: self.infinity as f32,
        }
    }

    fn new(format: Format) -> Rules {
        let info = format.info();
        let cut = Model::input_rounding(format) == Rounding::TowardZero;
        let max_finite = to_f64(format, info.max_finite());
        Rules {
            cut,
            fraction_bits: info.fraction_bits,
            min_exponent: (1023 + info.min_exponent()) as u64,
            max_exponent: (1023 + info.max_exponent()) as u64,
            max_finite,
            overflow: match info.specials {
                Specials::Ieee if !cut => f64::INFINITY,
                Specials::Ieee | Specials::Fnuz => max_finite,
                Specials::OnlyNan => f64::NAN,
            },
            infinity: match info.specials {
                Specials::Ieee => f64::INFINITY,
                Specials::OnlyNan | Specials::Fnuz => f64::NAN,
            },
            narrow: info.max_exponent() <= 16 && !cut,
        }
    }

    /// One rounding. With y = |x| and 2^e the larger of y's binade and the smallest normal number, `grid` is 2^(e + 52 -
    /// f): a sum with it has a last bit of 2^(e - f), so the addition rounds y to f fraction bits, ties to even, and the
    /// subtraction is exact.
    #[inline(always)]
    fn round<const CUT: bool>(&self, x: f64) -> f32 {
        const SIGN: u64 = 1 << 63;
        let magnitude = x.to_bits() & !SIGN;
        let exponent = (magnitude >> 52)
            .max(self.min_exponent)
            .min(self.max_exponent + 1);
        let grid = f64::from_bits((exponent + 52 - u64::from(self.fraction_bits)) << 52);
        let y = f64::from_bits(magnitude);
        let mut rounded = (y + grid) - grid;
        if CUT {
            let last_bit = f64::from_bits((exponent - u64::from(self.fraction_bits)) << 52);
            rounded = if rounded > y {
                rounded - last_bit
            } else {
                rounded
            };
        }
        let finite = if rounded > self.max_finite {
            self.overflow
        } else {
            rounded
        };
        let special = if y == f64::INFINITY {
            self.infinity
        } else {
            f64::NAN
        };
        let result = if y < f64::INFINITY { finite } else { special };
        (f64::from_bits(result.to_bits() & !SIGN | x.to_bits() & SIGN)) as f32
    }
}

/// [`Rules`] for binary32 numbers and a format with few exponents, to nearest even.
#[derive(Clone, Copy, Debug)]
struct SingleRules {
    fraction_bits: u32,
    min_exponent: u32,
    max_exponent: u32,
    max_finite: f32,
    overflow: f32,
    infinity: f32,
}

impl SingleRules {
    /// As [`Rules::round`], with 23 fraction bits to start from.
    #[inline(always)]
    fn round(&self, x: f32) -> f32 {
        const SIGN: u32 = 1 << 31;
        let magnitude = x.to_bits() & !SIGN;
        let exponent = (magnitude >> 23).max(self.min_exponent);
        let exponent = exponent.min(self.max_exponent + 1);
        let grid = f32::from_bits((exponent + 23 - self.fraction_bits) << 23);
        let y = f32::from_bits(magnitude);
        let rounded = (y + grid) - grid;
        let finite = if rounded > self.max_finite {
            self.overflow
        } else {
            rounded
        };
        let special = if y == f32::INFINITY {
            self.infinity
        } else {
            f32::NAN
        };
        let result = if y < f32::INFINITY { finite } else { special };
        f32::from_bits(result.to_bits() & !SIGN | x.to_bits() & SIGN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{FORMATS, from_f64};
    use crate::model::Conventions;

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
        let source = Source::new(view, factor, format, params);
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
}
