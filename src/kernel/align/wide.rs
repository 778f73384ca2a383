//! Blocks whose exponents do not fit into bytes: bfloat16 and tf32 numbers from all over their range.
//!
//! Significands and exponents are taken apart once for the columns of a block. A product is then s_a * s_b, exact and below 4
//! in magnitude, times 2^(e_a + e_b); its share of the sum is s_a * s_b * 2^(e_a + e_b + F - E), cut. The power of two is
//! built lane by lane, and is zero where its exponent field would be negative: such a product is cut to nothing. The
//! rest of a row is computed as for other blocks, by exponents counted down from [`TOP_EXPONENT`].
//!
//! Zeros have significand 0 and exponent -160: with e_a at most 64 they lie below every exponent that vectors compute,
//! and no sum of exponent fields leaves 32 bits. Lanes with E above [`TOP_EXPONENT`] or below [`LOWEST`], or with a c
//! above [`TOP_EXPONENT`], take the scalar way.

use super::{Block, LOWEST, Products, SCALED, TOP, VECTORS};
use crate::kernel::lanes::Lanes;

/// Largest exponent of a block that vectors compute here.
pub const TOP_EXPONENT: i32 = 105;
/// The base that goes with it.
pub const BASE: i32 = TOP_EXPONENT - TOP;
/// Largest exponent of a row of A that is computed here.
pub const TOP_OF_A: i32 = 64;
const ZERO_EXPONENT: i32 = -160;

/// Significands and exponents (as exponent fields, without bias) of a block's columns.
#[repr(align(64))]
pub struct Columns<const N: usize> {
    significands: [[f32; 64]; N],
    exponents: [[i32; 64]; N],
}

/// Bit j is set where column j's dot product must be computed by the scalar way: `s` are the products' exponents, counted
/// down from the top.
#[inline(always)]
pub unsafe fn out_of_range<L: Lanes>(s: [L::I; VECTORS], c: *const f32) -> u64 {
    // SAFETY: the caller is compiled for the level; `c` is a row of the tile.
    unsafe {
        let lowest = L::splat_i((TOP_EXPONENT - LOWEST) << 23);
        let largest_c = L::splat_i((TOP_EXPONENT + 127) << 23);
        let mut out = [L::splat_i(0); VECTORS];
        let mut any = L::splat_i(0);
        for v in 0..VECTORS {
            let c = L::bits(L::load(c.add(v * L::COUNT)));
            let c_field = L::and(c, L::splat_i(0x7f80_0000));
            let by_products = L::or(s[v], L::sub_i(lowest, s[v]));
            out[v] = L::or(by_products, L::sub_i(largest_c, c_field));
            any = L::or(any, out[v]);
        }
        if !L::any_negative(any) {
            return 0;
        }
        let mut lanes = [0i32; 64];
        for (v, &out) in out.iter().enumerate() {
            L::store_i(lanes.as_mut_ptr().add(v * L::COUNT), out);
        }
        lanes
            .iter()
            .rev()
            .fold(0, |bits, &x| bits << 1 | u64::from(x < 0))
    }
}

/// One number taken apart.
#[inline(always)]
fn split(x: f32, offset: i32, min_field: u32) -> (f32, i32) {
    let magnitude = x.to_bits() & 0x7fff_ffff;
    // `offset` is what packing took off the exponent.
    let own = (magnitude >> 23) as i32;
    let field = (own + offset).max(min_field as i32);
    let significand = x
        .to_bits()
        .wrapping_sub(((field - offset - 127) << 23) as u32);
    let zero = magnitude == 0;
    (
        f32::from_bits(if zero { 0 } else { significand }),
        (if zero { ZERO_EXPONENT } else { field - 127 }) << 23,
    )
}

impl<const N: usize> Columns<N> {
    pub const fn new() -> Self {
        Columns {
            significands: [[0.0; 64]; N],
            exponents: [[0; 64]; N],
        }
    }

    /// Takes a block's columns apart.
    #[inline(always)]
    pub unsafe fn fill<L: Lanes>(&mut self, block: Block<N>, min_field: u32) {
        // SAFETY: the block is packed.
        unsafe {
            let head = block.columns_head::<L>();
            let offset = if head.kind == SCALED { head.base } else { 0 };
            let columns = VECTORS * L::COUNT;
            for p in 0..N {
                for j in 0..columns {
                    let x = *block.columns().add(p * columns + j);
                    (self.significands[p][j], self.exponents[p][j]) = split(x, offset, min_field);
                }
            }
        }
    }
}

/// A row of A taken apart.
pub struct Row<const N: usize> {
    significands: [f32; N],
    /// As numbers.
    exponents: [i32; N],
}

impl<const N: usize> Row<N> {
    /// Row i of a block; `bits` is F.
    #[inline(always)]
    pub unsafe fn new(block: Block<N>, i: usize, bits: i32, min_field: u32) -> Self {
        // SAFETY: the block has the row.
        unsafe {
            let head = block.row_head(i);
            let offset = if head.kind == SCALED {
                head.base + TOP - bits
            } else {
                0
            };
            let parts: [(f32, i32); N] =
                std::array::from_fn(|p| split(*block.row(i).add(p), offset, min_field));
            Row {
                significands: parts.map(|(s, _)| s),
                exponents: parts.map(|(_, e)| e >> 23),
            }
        }
    }

    /// Exponents of the block, counted down from the top, as fields.
    #[inline(always)]
    pub unsafe fn fields<L: Lanes>(&self, columns: &Columns<N>) -> [L::I; VECTORS] {
        // SAFETY: the caller is compiled for the level.
        unsafe {
            let mut largest = [L::splat_i(-255 << 23); VECTORS];
            for p in 0..N {
                if self.significands[p] == 0.0 {
                    continue;
                }
                let e = L::splat_i(self.exponents[p] << 23);
                for (v, largest) in largest.iter_mut().enumerate() {
                    let exponents = columns.exponents[p].as_ptr().add(v * L::COUNT);
                    *largest = L::max_i(*largest, L::add_i(L::load_i(exponents), e));
                }
            }
            // Nothing lies below -146 - 64, so no field leaves 32 bits.
            let bottom = L::splat_i((LOWEST - 1) << 23);
            largest.map(|e| L::sub_i(L::splat_i(TOP_EXPONENT << 23), L::max_i(e, bottom)))
        }
    }
}

/// A row against a block's columns.
pub struct Pair<'a, const N: usize> {
    pub row: &'a Row<N>,
    pub columns: &'a Columns<N>,
    /// F.
    pub bits: i32,
}

impl<L: Lanes, const N: usize> Products<L> for Pair<'_, N> {
    #[inline(always)]
    unsafe fn add(&self, first: usize, end: usize, s: [L::I; VECTORS], sums: &mut [L::I; VECTORS]) {
        let (row, columns) = (self.row, self.columns);
        // SAFETY: the caller is compiled for the level.
        unsafe {
            for p in first..end {
                if row.significands[p] == 0.0 {
                    continue;
                }
                let x = L::splat(row.significands[p]);
                let e = L::splat_i((row.exponents[p] + self.bits + 127 - TOP_EXPONENT) << 23);
                for v in 0..VECTORS {
                    let significands = columns.significands[p].as_ptr().add(v * L::COUNT);
                    let exponents = columns.exponents[p].as_ptr().add(v * L::COUNT);
                    let product = L::mul(x, L::load(significands));
                    let power = L::add_i(L::add_i(L::load_i(exponents), s[v]), e);
                    let power = L::from_bits(L::max_i(power, L::splat_i(0)));
                    sums[v] = L::add_i(sums[v], L::to_int_small(L::mul(product, power)));
                }
            }
        }
    }
}
