//! c is one more term: it is aligned, cut and added with the products (NVIDIA).
//!
//! With c's exponent the block is aligned to E = max(products, c, limit), so s, the exponent field of the power of two
//! that products are multiplied with, is the least of u, 28 + base - e_c and 28 + base - limit, but not below zero. Zero
//! stands for c 28 binades above the base or more: all products are cut to nothing then (a product is below 2^(base + 2),
//! and F is at most 25) and the result is c itself, cut to the bits that the unit returns; that includes a c that is infinite
//! or NaN, whose exponent field is larger still. c * 2^(F - E) has no more than 25 bits before the point and is cut by the
//! conversion.
//!
//! Rows with a base of [`HIGH_BASE`](super::HIGH_BASE) or more differ in two ways: an infinity or a NaN need not lie 28
//! binades above, so those lanes are told by their exponent field; and results may overflow, which becomes an infinity where
//! the last multiplication rounds to nearest. Where the mode is toward zero it becomes the largest number, and lanes that
//! end there are computed again.
//!
//! Low products do not matter when c's exponent is [`LOWEST`](super::LOWEST) or more: E is c's, and s is small enough.
//!
//! The sum of up to 32 products and c may pass 31 bits where F = 25 (|product| < 4, so 16 products reach 2^31): then two
//! accumulators are added at the end; should that overflow, the half sum is kept instead, its last bit set if a bit was
//! lost, which no rounding to 24 bits or fewer can tell from the sum.
//!
//! The result is sum * 2^(E - F), rounded once: the conversion to binary32 rounds (toward zero or to nearest), and the
//! product with a power of two is exact because E lies between -95 and 127. Toward zero to fewer bits, a mask cuts the rest
//! of what toward zero already cut. To binary16, the conversion to binary32 rounds to odd (toward zero, last bit set
//! if anything was lost), after which rounding to nearest in 11 bits or fewer is the one rounding of the sum.

use super::pack::{PackA, PackB};
use super::{
    Aligning, Block, Common, Exponents, Layout, Live, MR, Products, Scaled, TOP, VECTORS, fields,
    first_pass, largest_u,
};
use crate::format::{Format, Rounding};
use crate::kernel::lanes::{Job, Lanes};
use crate::kernel::{FpMode, Kernel, Shape, Strip, Tile};
use crate::model::Model;

/// What the unit returns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Output {
    /// binary32 toward zero.
    Cut,
    /// binary32 toward zero with 13 fraction bits.
    Cut13,
    /// binary32 to nearest even.
    Nearest,
    /// binary16 to nearest even.
    Half,
}

const CUT: u8 = Output::Cut as u8;
const CUT13: u8 = Output::Cut13 as u8;
const NEAREST: u8 = Output::Nearest as u8;
const HALF: u8 = Output::Half as u8;

/// Kernel for blocks of N products; OUT is an [`Output`]; WIDE says that sums may pass 31 bits.
pub struct Early<L, const N: usize, const OUT: u8, const WIDE: bool> {
    pub(super) common: Common,
    /// The smallest exponent to align to; far below all others if there is none.
    limit: i32,
    level: std::marker::PhantomData<L>,
}

/// The kernel of a unit with an early c.
pub fn kernel<L: Lanes>(model: &Model) -> Option<Box<dyn Aligning>> {
    let params = model.params();
    let output = match (model.output(), params.rounding) {
        (Format::Fp16, Rounding::NearestEven) => Output::Half,
        (Format::Fp32, Rounding::NearestEven) if params.alignment_bits >= 23 => Output::Nearest,
        (Format::Fp32, Rounding::TowardZero) if params.alignment_bits >= 23 => Output::Cut,
        (Format::Fp32, Rounding::TowardZero) if params.alignment_bits == 13 => Output::Cut13,
        _ => return None,
    };
    let byte = |format: Format| format.info().storage_bits == 8;
    let bytes = byte(model.a()) && byte(model.b());
    let wide = params.alignment_bits == 25;
    match params.fma {
        4 if output != Output::Cut13 => by_output::<L, 4, false>(model, output),
        8 if output != Output::Cut13 => by_output::<L, 8, false>(model, output),
        16 if wide => by_output::<L, 16, true>(model, output),
        // Products of 8-bit numbers lie below 3.6: 16 of them and c fit into 31 bits.
        32 if wide && bytes => by_output::<L, 32, true>(model, output),
        16 => by_13_bits::<L, 16>(model, output),
        32 => by_13_bits::<L, 32>(model, output),
        _ => None,
    }
}

fn by_output<L: Lanes, const N: usize, const WIDE: bool>(
    model: &Model,
    output: Output,
) -> Option<Box<dyn Aligning>> {
    match output {
        Output::Cut => Some(Box::new(Early::<L, N, CUT, WIDE>::new(model))),
        Output::Nearest => Some(Box::new(Early::<L, N, NEAREST, WIDE>::new(model))),
        Output::Half => Some(Box::new(Early::<L, N, HALF, WIDE>::new(model))),
        Output::Cut13 => None,
    }
}

fn by_13_bits<L: Lanes, const N: usize>(
    model: &Model,
    output: Output,
) -> Option<Box<dyn Aligning>> {
    match output {
        _ if model.params().alignment_bits != 13 => None,
        Output::Cut13 => Some(Box::new(Early::<L, N, CUT13, false>::new(model))),
        Output::Half => Some(Box::new(Early::<L, N, HALF, false>::new(model))),
        Output::Cut | Output::Nearest => None,
    }
}

impl<L: Lanes, const N: usize, const OUT: u8, const WIDE: bool> Early<L, N, OUT, WIDE> {
    /// The mode in which blocks are computed.
    pub(super) const TILE_MODE: FpMode = if OUT != NEAREST && L::CUT_BY_MODE {
        FpMode::TowardZeroLoose
    } else {
        FpMode::NearestLoose
    };

    fn new(model: &Model) -> Self {
        Early {
            common: Common::new(model),
            limit: model.params().min_exponent.unwrap_or(-1000),
            level: std::marker::PhantomData,
        }
    }
}

// SAFETY: packing and tiles touch what the layout describes.
unsafe impl<L: Lanes, const N: usize, const OUT: u8, const WIDE: bool> Kernel
    for Early<L, N, OUT, WIDE>
{
    fn shape(&self) -> Shape {
        Shape {
            mr: MR,
            nr: Layout::<N>::columns::<L>(),
            block: N,
            double: false,
            a_block_bytes: Layout::<N>::A_BLOCK,
            b_block_bytes: Layout::<N>::b_block::<L>(),
            mode: Self::TILE_MODE,
        }
    }

    unsafe fn pack_a(&self, strip: &Strip, panel: *mut u8) {
        let job = PackA::<N> {
            values: strip.single(),
            k: strip.k,
            min_field: self.common.min_field_a,
            panel,
        };
        // SAFETY: promised by the caller.
        unsafe { L::dispatch(job) }
    }

    unsafe fn pack_b(&self, strip: &Strip, panel: *mut u8) {
        let job = PackB::<N> {
            values: strip.single(),
            k: strip.k,
            min_field: self.common.min_field_b,
            bits: self.common.bits,
            panel,
        };
        // SAFETY: promised by the caller.
        unsafe { L::dispatch(job) }
    }

    unsafe fn tile(&self, tile: &Tile) {
        // SAFETY: promised by the caller.
        unsafe { L::dispatch(TileJob { kernel: self, tile }) }
    }
}

struct TileJob<'a, L, const N: usize, const OUT: u8, const WIDE: bool> {
    kernel: &'a Early<L, N, OUT, WIDE>,
    tile: &'a Tile,
}

/// Numbers of one row that depend on its base.
struct RowConstants<L: Lanes> {
    /// 28 + base + 127 as an exponent field: less c's field it is s for c.
    for_c: L::I,
    /// s of the smallest exponent allowed.
    for_limit: L::I,
    /// Added to s: the field of 2^(F - E).
    scale: L::I,
    /// Less s: the field of 2^(E - F).
    result: L::I,
    /// The largest s that vectors compute.
    largest: L::I,
}

impl<L: Lanes, const N: usize, const OUT: u8, const WIDE: bool> Job
    for TileJob<'_, L, N, OUT, WIDE>
{
    #[inline(always)]
    unsafe fn run<M: Lanes>(self) {
        let TileJob { kernel, tile } = self;
        // SAFETY: compiled for the level, which is L; the tile is as the engine describes it.
        unsafe {
            let columns = Layout::<N>::columns::<L>();
            let live = Live::new(tile.cols);
            let mut u = [Exponents::new()];
            let mut before = [0.0; 64];
            for kb in 0..tile.blocks {
                let block = Block::<N>::new::<L>(tile, kb);
                let ways = first_pass::<L, N, 1>(block, tile.rows, &live, &mut u);
                for i in 0..tile.rows {
                    if ways.is_slow(i) {
                        kernel.common.scalar_row::<L, N>(tile, kb, i);
                        continue;
                    }
                    let c = tile.c.cast::<f32>().add(i * columns);
                    let s = fields::<L>(L::load_i(u[0].0.as_ptr().add(i * L::COUNT)));
                    let row = Scaled { block, i };
                    let base = block.base::<L>(i);
                    if ways.plain {
                        kernel.row::<VECTORS, false>(base, s, &row, c, &live);
                        continue;
                    }
                    std::ptr::copy_nonoverlapping(c, before.as_mut_ptr(), columns);
                    let again = kernel.row::<VECTORS, true>(base, s, &row, c, &live);
                    if again || ways.is_over(i) {
                        let (at, u) = ((kb, i), [&u[0]; 2]);
                        let common = &kernel.common;
                        common.repair::<L, N>(tile, at, u, &before, 0, keep::<OUT>);
                    }
                }
            }
        }
    }
}

/// What becomes of c when all products are zero.
pub(super) fn keep<const OUT: u8>(c: f32) -> f32 {
    if OUT == CUT13 && c.is_finite() {
        f32::from_bits(c.to_bits() & !0x3ff) + 0.0
    } else {
        c + 0.0
    }
}

impl<L: Lanes, const N: usize, const OUT: u8, const WIDE: bool> Early<L, N, OUT, WIDE> {
    #[inline(always)]
    unsafe fn constants(&self, base: i32) -> RowConstants<L> {
        let field = |e: i32| unsafe { L::splat_i(e << 23) };
        RowConstants {
            for_c: field(TOP + base + 127),
            for_limit: field((TOP + base - self.limit).clamp(0, 255)),
            scale: field(127 + self.common.bits - TOP - base),
            result: field(127 + TOP + base - self.common.bits),
            largest: field(largest_u(base)),
        }
    }

    /// s for c; zero where c lies so far above the products that it is the result.
    #[inline(always)]
    unsafe fn s_of_c(constants: &RowConstants<L>, c: L::F) -> L::I {
        // SAFETY: compiled for the level.
        unsafe {
            let field = L::and(L::bits(c), L::splat_i(0x7f80_0000));
            if OUT == HALF {
                // A subnormal c has the smallest exponent of binary16, a zero none at all.
                let field = L::max_i(field, L::splat_i((127 - 14) << 23));
                let zero = L::equal(L::shl::<1>(L::bits(c)), L::splat_i(0));
                let none = L::splat_i(255 << 23);
                L::select(zero, none, L::sub_fields(constants.for_c, field))
            } else {
                L::sub_fields(constants.for_c, field)
            }
        }
    }

    /// V vectors of results over one block; `s` are the products' exponents counted down from 28 + `base`. CHECKED: results
    /// may overflow, exponents may be too low or be those of zeros. Returns whether any lane has to be looked at again.
    #[inline(always)]
    pub(super) unsafe fn row<const V: usize, const CHECKED: bool>(
        &self,
        base: i32,
        mut s: [L::I; V],
        products: &impl Products<L, V>,
        c: *mut f32,
        live: &Live<L, V>,
    ) -> bool {
        // SAFETY: the products and the row of c are there, as the caller says.
        unsafe {
            // Where the limit lies above all products, only it and c matter.
            let base = match OUT {
                HALF => base.max(self.limit - TOP),
                _ => base,
            };
            let constants = self.constants(base);
            let mut sums = [L::splat_i(0); V];
            let mut again = L::splat_i(0);
            for v in 0..V {
                let c = L::load(c.add(v * L::COUNT));
                let of_c = Self::s_of_c(&constants, c);
                s[v] = L::min_fields(s[v], of_c);
                if OUT == HALF {
                    s[v] = L::min_fields(s[v], constants.for_limit);
                }
                if CHECKED {
                    let low = L::sub_i(constants.largest, s[v]);
                    again = L::or(again, L::and(low, live.0[v]));
                }
                let scale = L::from_bits(L::add_i(s[v], constants.scale));
                sums[v] = L::to_int(L::mul(c, scale));
            }
            if WIDE {
                let mut second = [L::splat_i(0); V];
                products.add(0, N / 2, s, &mut sums);
                products.add(N / 2, N, s, &mut second);
                add_wide::<L, V>(&mut sums, &second, &mut s);
            } else {
                products.add(0, N, s, &mut sums);
            }
            for v in 0..V {
                let at = c.add(v * L::COUNT);
                let c = L::load(at);
                let scale = L::from_bits(L::sub_i(constants.result, s[v]));
                let result = match OUT {
                    NEAREST => L::mul(L::to_float(sums[v]), scale),
                    HALF => {
                        let cut = L::to_float_cut(sums[v]);
                        let lost = L::any_bit(L::xor(L::to_int(cut), sums[v]));
                        let odd = L::from_bits(L::or(L::bits(cut), lost));
                        // A negative sum may have become -0.
                        L::add(L::through_half(L::mul(odd, scale)), L::splat(0.0))
                    }
                    _ => L::mul(L::to_float_cut(sums[v]), scale),
                };
                // Negative where c is the result; s may be zero because of the limit.
                let of_c = if OUT == HALF {
                    Self::s_of_c(&constants, c)
                } else {
                    s[v]
                };
                let mut by_c = L::sub_i(of_c, L::splat_i(1 << 23));
                if CHECKED {
                    let field = L::and(L::bits(c), L::splat_i(0x7f80_0000));
                    by_c = L::or(by_c, L::sub_i(L::splat_i(254 << 23), field));
                    if L::CUT_BY_MODE && (OUT == CUT || OUT == CUT13) {
                        let magnitude = L::and(L::bits(result), L::splat_i(i32::MAX));
                        let from_max = L::xor(magnitude, L::splat_i(f32::MAX.to_bits() as i32));
                        again = L::or(again, L::sub_i(from_max, L::splat_i(1)));
                    }
                }
                let mut result = L::select_by_sign(by_c, c, result);
                if OUT == CUT13 {
                    // An infinity stays one, a NaN stays a NaN.
                    result = L::from_bits(L::and(L::bits(result), L::splat_i(!0x3ff)));
                }
                L::store(at, result);
            }
            CHECKED && L::any_negative(again)
        }
    }
}

/// Adds `second` to `sums`; where that overflows, keeps half the sum and takes one off `s`.
#[inline(always)]
unsafe fn add_wide<L: Lanes, const V: usize>(
    sums: &mut [L::I; V],
    second: &[L::I; V],
    s: &mut [L::I; V],
) {
    // SAFETY: compiled for the level.
    unsafe {
        let first = *sums;
        let mut any = L::splat_i(0);
        for v in 0..V {
            sums[v] = L::add_i(first[v], second[v]);
            any = L::or(any, overflow::<L>(first[v], second[v], sums[v]));
        }
        if L::any_negative(any) {
            halve::<L, V>(&first, second, sums, s);
        }
    }
}

/// Negative where a sum overflowed.
#[inline(always)]
unsafe fn overflow<L: Lanes>(x: L::I, y: L::I, sum: L::I) -> L::I {
    // SAFETY: compiled for the level.
    unsafe { L::and(L::xor(x, sum), L::xor(y, sum)) }
}

#[inline(always)]
unsafe fn halve<L: Lanes, const V: usize>(
    first: &[L::I; V],
    second: &[L::I; V],
    sums: &mut [L::I; V],
    s: &mut [L::I; V],
) {
    // SAFETY: compiled for the level.
    unsafe {
        let one = L::splat_i(1);
        for v in 0..V {
            let (x, y) = (first[v], second[v]);
            let both = L::and(L::and(x, y), one);
            let half = L::add_i(L::add_i(L::sar_by(x, one), L::sar_by(y, one)), both);
            let lost = L::and(L::xor(x, y), one);
            let half = L::or(half, lost);
            let overflowed = L::greater(L::splat_i(0), overflow::<L>(x, y, sums[v]));
            sums[v] = L::select(overflowed, half, sums[v]);
            s[v] = L::select(overflowed, L::sub_i(s[v], L::splat_i(1 << 23)), s[v]);
        }
    }
}
