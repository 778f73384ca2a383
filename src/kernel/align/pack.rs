//! Packing for aligning kernels; the layout is explained in the module above.

use super::{
    ALONE, ANY, BlockHead, LOWEST_BASE, Layout, MR, SCALED, SPAN, TOP_BYTE_A, UP_A, UP_B, VECTORS,
    ZERO_BYTE,
};
use crate::kernel::lanes::{Job, Lanes};

/// Exponent fields of the numbers in a vector, as the unit sees them; 0 for a zero. Those of infinities and NaNs are 255.
#[inline(always)]
unsafe fn fields<L: Lanes>(x: L::F, min_field: L::I) -> L::I {
    // SAFETY: the caller is compiled for the level.
    unsafe {
        let magnitude = L::and(L::bits(x), L::splat_i(i32::MAX));
        let field = L::max_i(L::shr::<23>(magnitude), min_field);
        let zero = L::splat_i(0);
        L::select(L::equal(magnitude, zero), zero, field)
    }
}

/// Largest and smallest exponent fields of the numbers that are not zero, lane by lane; 0 and 255 if all are.
#[derive(Clone, Copy)]
struct Extent<L: Lanes> {
    top: L::I,
    low: L::I,
}

impl<L: Lanes> Extent<L> {
    #[inline(always)]
    unsafe fn none() -> Self {
        // SAFETY: the caller is compiled for the level.
        unsafe {
            Extent {
                top: L::splat_i(0),
                low: L::splat_i(255),
            }
        }
    }

    /// Takes in fields.
    #[inline(always)]
    unsafe fn include(self, fields: L::I) -> Self {
        // SAFETY: the caller is compiled for the level.
        unsafe {
            let none = L::equal(fields, L::splat_i(0));
            Extent {
                top: L::max_i(self.top, fields),
                low: L::min_i(self.low, L::select(none, L::splat_i(255), fields)),
            }
        }
    }
}

/// How numbers are packed, lane by lane.
#[derive(Clone, Copy)]
struct Packing<L: Lanes> {
    base: L::I,
    kind: L::I,
    /// How far the smallest number that is not zero lies below the base; far below zero if all are.
    spread: L::I,
    /// What they are multiplied with.
    scale: L::F,
}

/// The base of numbers with this largest exponent field.
#[inline(always)]
unsafe fn base<L: Lanes>(top: L::I) -> L::I {
    // SAFETY: the caller is compiled for the level.
    unsafe { L::max_i(L::sub_i(top, L::splat_i(127)), L::splat_i(LOWEST_BASE)) }
}

impl<L: Lanes> Packing<L> {
    /// With the base `common` where that is exact, else with their own, for numbers whose largest is packed with exponent
    /// `up`.
    #[inline(always)]
    unsafe fn new(extent: Extent<L>, common: L::I, up: i32) -> Self {
        const { assert!(SCALED == 0 && ALONE == 1 && ANY == 2) };
        // SAFETY: the caller is compiled for the level.
        unsafe {
            let own = base::<L>(extent.top);
            // Ones where numbers are not finite or some would lose bits.
            let special = L::shr::<31>(L::sub_i(L::splat_i(254), extent.top));
            let low = L::sub_i(extent.low, L::splat_i(127 - (SPAN + up)));
            let lost = L::or(special, L::shr::<31>(L::sub_i(low, own)));
            let lost_in_common = L::or(special, L::shr::<31>(L::sub_i(low, common)));
            let kind = L::add_i(lost, lost_in_common);
            let zero = L::splat_i(0);
            let base = L::select(L::equal(kind, zero), common, own);
            let field = L::shl::<23>(L::sub_i(L::splat_i(127 + up), base));
            let one = L::splat_i(127 << 23);
            let field = L::select(L::equal(lost, zero), field, one);
            let all_zero = L::equal(extent.top, zero);
            let spread = L::sub_i(L::add_i(base, L::splat_i(127)), extent.low);
            Packing {
                base,
                kind,
                spread: L::select(all_zero, L::splat_i(-1000), spread),
                scale: L::from_bits(field),
            }
        }
    }
}

/// The largest lane.
#[inline(always)]
unsafe fn largest<L: Lanes>(x: L::I) -> i32 {
    let mut lanes = [i32::MIN; 16];
    // SAFETY: the caller is compiled for the level, whose vectors have at most 16 lanes.
    unsafe { L::store_i(lanes.as_mut_ptr(), x) };
    lanes.into_iter().fold(i32::MIN, i32::max)
}

/// The bytes beside numbers, `top` for a number with the exponent `base`. Where numbers are packed as they are it does not matter what they are.
#[inline(always)]
unsafe fn bytes<L: Lanes>(fields: L::I, base: L::I, top: i32) -> L::I {
    // SAFETY: the caller is compiled for the level.
    unsafe {
        let byte = L::sub_i(L::add_i(base, L::splat_i(top + 127)), fields);
        let zero = L::equal(fields, L::splat_i(0));
        let byte = L::and(byte, L::splat_i(0xff));
        L::select(zero, L::splat_i(ZERO_BYTE), byte)
    }
}

/// Packs a strip of MR rows.
pub struct PackA<'a, const N: usize> {
    pub values: &'a [f32],
    pub k: usize,
    pub min_field: u32,
    pub panel: *mut u8,
}

impl<const N: usize> Job for PackA<'_, N> {
    #[inline(always)]
    unsafe fn run<L: Lanes>(self) {
        let blocks = self.values.chunks_exact(N * MR).take(self.k / N);
        // SAFETY: compiled for the level; the panel has room for the strip's blocks.
        unsafe {
            let min_field = L::splat_i(self.min_field as i32);
            for (kb, block) in blocks.enumerate() {
                let to = self.panel.add(kb * Layout::<N>::A_BLOCK);
                let exponents = to.add(Layout::<N>::A_EXPONENTS).cast::<i32>();
                // Rows have a common base where they can: the largest of the finite ones.
                let mut extents = [Extent::<L>::none(); MR / 4];
                let mut top = L::splat_i(0);
                for (group, extent) in extents.iter_mut().enumerate().take(MR / L::COUNT) {
                    let from = block.as_ptr().add(group * L::COUNT);
                    for p in 0..N {
                        *extent = extent.include(fields::<L>(L::load(from.add(p * MR)), min_field));
                    }
                    let special = L::equal(extent.top, L::splat_i(255));
                    top = L::max_i(top, L::select(special, L::splat_i(0), extent.top));
                }
                let common = largest::<L>(base::<L>(top));
                let (mut kinds, mut spreads) = (L::splat_i(SCALED), L::splat_i(-1000));
                for (group, extent) in extents.iter().enumerate().take(MR / L::COUNT) {
                    let i = group * L::COUNT;
                    let from = block.as_ptr().add(i);
                    let packing = Packing::<L>::new(*extent, L::splat_i(common), UP_A);
                    let Packing {
                        base, kind, scale, ..
                    } = packing;
                    kinds = L::max_i(kinds, kind);
                    spreads = L::max_i(spreads, packing.spread);
                    L::store_i(to.add(Layout::<N>::A_BASES).cast::<i32>().add(i), base);
                    L::store_i(to.add(Layout::<N>::A_KINDS).cast::<i32>().add(i), kind);
                    for p in 0..N {
                        let x = L::load(from.add(p * MR));
                        L::store(to.cast::<f32>().add(p * MR + i), L::mul(x, scale));
                        let field = fields::<L>(x, min_field);
                        let byte = bytes::<L>(field, base, TOP_BYTE_A);
                        let two = L::or(byte, L::shl::<8>(byte));
                        let four = L::or(two, L::shl::<16>(two));
                        L::store_i(exponents.add(p * MR + i), four);
                    }
                }
                let head = BlockHead {
                    base: common,
                    kind: largest::<L>(kinds),
                    reach: (largest::<L>(spreads) + TOP_BYTE_A).max(-1),
                };
                head.write(to.add(Layout::<N>::A_HEAD));
            }
        }
    }
}

/// Packs a strip of NR columns.
pub struct PackB<'a, const N: usize> {
    pub values: &'a [f32],
    pub k: usize,
    pub min_field: u32,
    /// u of a product with the bases as its exponents.
    pub top: i32,
    pub panel: *mut u8,
}

impl<const N: usize> Job for PackB<'_, N> {
    #[inline(always)]
    unsafe fn run<L: Lanes>(self) {
        let columns = VECTORS * L::COUNT;
        let blocks = self.values.chunks_exact(N * columns).take(self.k / N);
        // SAFETY: compiled for the level; the panel has room for the strip's blocks.
        unsafe {
            let min_field = L::splat_i(self.min_field as i32);
            for (kb, block) in blocks.enumerate() {
                let from = block.as_ptr();
                let mut extent = Extent::<L>::none();
                for at in (0..N * columns).step_by(L::COUNT) {
                    extent = extent.include(fields::<L>(L::load(from.add(at)), min_field));
                }
                let smallest = 255 - largest::<L>(L::sub_i(L::splat_i(255), extent.low));
                let extent = Extent::<L> {
                    top: L::splat_i(largest::<L>(extent.top)),
                    low: L::splat_i(smallest),
                };
                let own = base::<L>(extent.top);
                let packing = Packing::<L>::new(extent, own, UP_B);
                let Packing {
                    base, kind, scale, ..
                } = packing;
                let to = self.panel.add(kb * Layout::<N>::b_block::<L>());
                let top = self.top - TOP_BYTE_A;
                let head = BlockHead {
                    base: largest::<L>(base),
                    kind: largest::<L>(kind),
                    reach: (largest::<L>(packing.spread) + top).max(-1),
                };
                head.write(to.add(Layout::<N>::b_head::<L>()));
                let exponents = to.add(Layout::<N>::b_exponents::<L>()).cast::<i32>();
                for p in 0..N {
                    let at = |v: usize| p * columns + v * L::COUNT;
                    let mut byte = [L::splat_i(0); VECTORS];
                    for (v, byte) in byte.iter_mut().enumerate() {
                        let x = L::load(from.add(at(v)));
                        L::store(to.cast::<f32>().add(at(v)), L::mul(x, scale));
                        *byte = bytes::<L>(fields::<L>(x, min_field), base, top);
                    }
                    let low = L::or(byte[0], L::shl::<8>(byte[1]));
                    let high = L::or(byte[2], L::shl::<8>(byte[3]));
                    let word = L::or(low, L::shl::<16>(high));
                    L::store_i(exponents.add(p * L::COUNT), word);
                }
            }
        }
    }
}
