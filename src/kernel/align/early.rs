//! c is one more term: it is aligned, cut and added with the products (NVIDIA).
//!
//! With c's exponent the block is aligned to E = max(products, c, limit), so s, which says how far E lies below base + F + 2, is
//! the least of u, base + F + 2 - e_c and base + F + 2 - limit. It may be negative ([`PLAIN`]): then all products
//! are below 2^(E - F) and cut to nothing. So they are if s is zero, and as zero they are multiplied; otherwise s is the
//! exponent field of the power of two that they are multiplied with. c * 2^(F - E) has no more than 25 bits before the point
//! and is cut by the conversion.
//!
//! Computed carefully, s is an unsigned number and ends at zero: there the result is c itself, cut to the bits that the unit
//! returns, and so it is where c is infinite or NaN. Results of 16 bits are often infinite, so there every version looks for
//! those.
//!
//! A result that is too large becomes an infinity where the last multiplication rounds to nearest, else the largest number.
//! Lanes that end there are computed again.
//!
//! Low products do not matter when c's exponent is [`LOWEST`] or more: E is c's, and s is small enough.
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
use super::tile::{Exponents, Row, Rows, TileJob};
use super::{
    Aligning, CAREFUL, Common, LOWEST, Layout, Live, MR, PLAIN, Products, Scaled, VECTORS, field,
};
use crate::format::{Format, Rounding};
use crate::kernel::lanes::Lanes;
use crate::kernel::{FpMode, Kernel, PackStrips, Shape, Strip, Tile};
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

    fn packing(&self) -> Option<&dyn PackStrips> {
        Some(self)
    }

    unsafe fn tile(&self, tile: &Tile) {
        // SAFETY: promised by the caller.
        unsafe { L::dispatch(TileJob { kernel: self, tile }) }
    }
}

// SAFETY: packing touches the blocks of the strip, as the shape describes them.
unsafe impl<L: Lanes, const N: usize, const OUT: u8, const WIDE: bool> PackStrips
    for Early<L, N, OUT, WIDE>
{
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
            top: self.common.top,
            panel,
        };
        // SAFETY: promised by the caller.
        unsafe { L::dispatch(job) }
    }
}

/// Numbers that depend on a base, as exponent fields.
#[derive(Clone, Copy)]
pub struct Constants<L: Lanes> {
    /// Less c's field: s for c.
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

impl<L: Lanes, const N: usize, const OUT: u8, const WIDE: bool> Early<L, N, OUT, WIDE> {
    /// s for c. Where c lies further above the products, PLAIN: less than zero; else zero.
    #[inline(always)]
    unsafe fn s_of_c<const CARE: u8>(constants: &Constants<L>, c: L::F) -> L::I {
        // SAFETY: compiled for the level.
        unsafe {
            let down = |field: L::I| match CARE {
                CAREFUL => L::sub_fields(constants.for_c, field),
                _ => L::sub_i(constants.for_c, field),
            };
            let field = L::and(L::bits(c), L::splat_i(0x7f80_0000));
            if OUT != HALF {
                return down(field);
            }
            // A subnormal c has the smallest exponent of binary16, a zero none at all.
            let field = L::max_i(field, L::splat_i((127 - 14) << 23));
            let zero = L::equal(L::shl::<1>(L::bits(c)), L::splat_i(0));
            let none = L::splat_i(255 << 23);
            L::select(zero, none, down(field))
        }
    }

    /// V vectors of results over one block: `d` becomes the results, which may lie where `c` does; `s` are the products'
    /// exponents, counted down. Returns whether any lane has to be looked at again: if CAREFUL, after the results have been
    /// stored; else nothing has been stored.
    #[inline(always)]
    pub(super) unsafe fn vectors<const V: usize, const CARE: u8>(
        &self,
        constants: Constants<L>,
        mut s: [L::I; V],
        products: &impl Products<L, V>,
        c: *const f32,
        d: *mut f32,
        live: &Live<L, V>,
    ) -> bool {
        // SAFETY: the products and the row of c are there, as the caller says.
        unsafe {
            let mut sums = [L::splat_i(0); V];
            let mut again = L::splat_i(0);
            for v in 0..V {
                let c = L::load(c.add(v * L::COUNT));
                let of_c = Self::s_of_c::<CARE>(&constants, c);
                s[v] = match CARE {
                    PLAIN => L::min_signed_fields(s[v], of_c),
                    _ => L::min_fields(s[v], of_c),
                };
                if OUT == HALF {
                    // Of small products both may be negative.
                    s[v] = match CARE {
                        PLAIN => L::min_i(s[v], constants.for_limit),
                        _ => L::min_fields(s[v], constants.for_limit),
                    };
                }
                if CARE == CAREFUL {
                    let low = L::sub_i(constants.largest, s[v]);
                    again = L::or(again, L::and(low, live.0[v]));
                }
                let scale = L::from_bits(L::add_i(s[v], constants.scale));
                sums[v] = L::to_int(L::mul(c, scale));
            }
            if CARE != CAREFUL {
                let mut most = s[0];
                for &s in &s[1..] {
                    most = L::max_signed_fields(most, s);
                }
                if L::any_greater(most, constants.largest) {
                    return true;
                }
            }
            // What products are multiplied with.
            let mut aligned = s;
            if CARE == PLAIN {
                for aligned in &mut aligned {
                    *aligned = L::max_signed_fields(*aligned, L::splat_i(0));
                }
            }
            if WIDE {
                let mut second = [L::splat_i(0); V];
                products.add(0, N / 2, aligned, &mut sums);
                products.add(N / 2, N, aligned, &mut second);
                add_wide::<L, V>(&mut sums, &second, &mut s);
            } else {
                products.add(0, N, aligned, &mut sums);
            }
            let mut results = [L::splat(0.0); V];
            let mut largest = L::splat_i(0);
            for v in 0..V {
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
                results[v] = result;
                if CARE == CAREFUL && Self::ENDS_AT_MAX {
                    let magnitude = L::and(L::bits(result), L::splat_i(i32::MAX));
                    largest = L::max_i(largest, magnitude);
                }
                if CARE == CAREFUL || OUT == HALF {
                    // Negative where c is the result.
                    let c = L::load(c.add(v * L::COUNT));
                    let field = L::and(L::bits(c), L::splat_i(0x7f80_0000));
                    let mut by_c = L::sub_i(L::splat_i(254 << 23), field);
                    if CARE == CAREFUL {
                        // s may be zero because of the limit.
                        let of_c = match OUT {
                            HALF => Self::s_of_c::<CARE>(&constants, c),
                            _ => s[v],
                        };
                        by_c = L::or(by_c, L::sub_i(of_c, L::splat_i(1 << 23)));
                    }
                    results[v] = L::select_by_sign(by_c, c, result);
                }
                if OUT == CUT13 {
                    // An infinity stays one, a NaN stays a NaN.
                    results[v] = L::from_bits(L::and(L::bits(results[v]), L::splat_i(!0x3ff)));
                }
            }
            if CARE == CAREFUL && Self::ENDS_AT_MAX {
                let below = L::splat_i(f32::MAX.to_bits() as i32 - 1);
                again = L::or(again, L::sub_i(below, largest));
            }
            for (v, result) in results.into_iter().enumerate() {
                L::store(d.add(v * L::COUNT), result);
            }
            CARE == CAREFUL && L::any_negative(again)
        }
    }

    /// Does a result that is too large become the largest number?
    const ENDS_AT_MAX: bool = L::CUT_BY_MODE && (OUT == CUT || OUT == CUT13);
}

impl<L: Lanes, const N: usize, const OUT: u8, const WIDE: bool> Rows<N, 1>
    for Early<L, N, OUT, WIDE>
{
    type Level = L;
    type Constants = Constants<L>;

    /// Below it the products of a block add up to less than what takes the largest number further: 2^104, its last bit, or
    /// half of that if the result is rounded to nearest.
    const PLAIN_BELOW: i32 = if N <= 8 && OUT != NEAREST { 100 } else { 97 };

    fn common(&self) -> &Common {
        &self.common
    }

    #[inline(always)]
    unsafe fn constants<const CARE: u8>(&self, base: i32) -> Constants<L> {
        let Common { bits, top, .. } = self.common;
        let (above, limit) = match CARE {
            // A limit below all that vectors compute may as well lie just below.
            PLAIN => (top + base, self.limit.max(LOWEST - 1)),
            // Where the limit lies above all products, only it and c matter.
            _ if OUT == HALF => (top + base.max(self.limit - top), self.limit),
            _ => (top + base, self.limit),
        };
        let for_limit = match CARE {
            PLAIN => above - limit,
            _ => (above - limit).clamp(0, 255),
        };
        // SAFETY: the caller is compiled for the level.
        let all = |x: i32| unsafe { L::splat_i(field(x)) };
        Constants {
            for_c: all(above + 127),
            for_limit: all(for_limit),
            scale: all(127 + bits - above),
            result: all(127 + above - bits),
            largest: all(self.common.largest_u(above - top)),
        }
    }

    #[inline(always)]
    unsafe fn row<const CARE: u8>(
        &self,
        row: Row<N>,
        constants: Constants<L>,
        u: &[Exponents; 1],
        live: &Live<L, VECTORS>,
    ) -> bool {
        let Row { block, i, c, d } = row;
        // SAFETY: the block and the row of c are there, as the caller says.
        unsafe {
            let s = u[0].of_row::<L>(i);
            self.vectors::<VECTORS, CARE>(constants, s, &Scaled { block, i }, c, d, live)
        }
    }

    const PARKS: bool = OUT != HALF;

    const LOOKS_AFTER: bool = OUT != HALF;

    const FAR: i32 = 0;

    const KEPT: i32 = if OUT == CUT13 { !0x3ff } else { !0 };
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
