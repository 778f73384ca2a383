//! Packing for aligning kernels; the layout is explained in the module above.

use super::{ANY, LOWEST_BASE, Layout, MR, SCALED, SPAN, TOP_BYTE, UP_A, UP_B, VECTORS, ZERO_BYTE};
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

/// Bases, kinds and powers of two to scale by, for numbers whose largest is packed with exponent `up`.
#[inline(always)]
unsafe fn heads<L: Lanes>(extent: Extent<L>, up: i32) -> (L::I, L::I, L::F) {
    const { assert!(SCALED == 0 && ANY == 1) };
    // SAFETY: the caller is compiled for the level.
    unsafe {
        let base = L::sub_i(extent.top, L::splat_i(127));
        let base = L::max_i(base, L::splat_i(LOWEST_BASE));
        let span = L::sub_i(extent.top, extent.low);
        let finite = L::sub_i(L::splat_i(254), extent.top);
        let fits = L::or(finite, L::sub_i(L::splat_i(SPAN + up), span));
        let kind = L::shr::<31>(fits);
        let field = L::shl::<23>(L::sub_i(L::splat_i(127 + up), base));
        let one = L::splat_i(127 << 23);
        let field = L::select(L::equal(kind, L::splat_i(ANY)), one, field);
        (base, kind, L::from_bits(field))
    }
}

/// The bytes beside numbers. Where numbers are packed as they are it does not matter what they are.
#[inline(always)]
unsafe fn bytes<L: Lanes>(fields: L::I, base: L::I) -> L::I {
    // SAFETY: the caller is compiled for the level.
    unsafe {
        let byte = L::sub_i(L::add_i(base, L::splat_i(TOP_BYTE + 127)), fields);
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
                for i in (0..MR).step_by(L::COUNT) {
                    let from = block.as_ptr().add(i);
                    let mut extent = Extent::<L>::none();
                    for p in 0..N {
                        extent = extent.include(fields::<L>(L::load(from.add(p * MR)), min_field));
                    }
                    let (base, kind, scale) = heads::<L>(extent, UP_A);
                    L::store_i(to.add(Layout::<N>::A_BASES).cast::<i32>().add(i), base);
                    L::store_i(to.add(Layout::<N>::A_KINDS).cast::<i32>().add(i), kind);
                    for p in 0..N {
                        let x = L::load(from.add(p * MR));
                        L::store(to.cast::<f32>().add(p * MR + i), L::mul(x, scale));
                        let byte = bytes::<L>(fields::<L>(x, min_field), base);
                        let two = L::or(byte, L::shl::<8>(byte));
                        let four = L::or(two, L::shl::<16>(two));
                        L::store_i(exponents.add(p * MR + i), four);
                    }
                }
            }
        }
    }
}

/// Packs a strip of NR columns.
pub struct PackB<'a, const N: usize> {
    pub values: &'a [f32],
    pub k: usize,
    pub min_field: u32,
    /// F.
    pub bits: i32,
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
                let (mut tops, mut lows) = ([0; 16], [255; 16]);
                L::store_i(tops.as_mut_ptr(), extent.top);
                L::store_i(lows.as_mut_ptr(), extent.low);
                let extent = Extent::<L> {
                    top: L::splat_i(tops.into_iter().fold(0, i32::max)),
                    low: L::splat_i(lows.into_iter().fold(255, i32::min)),
                };
                let (base, kind, scale) = heads::<L>(extent, self.bits + UP_B);
                let to = self.panel.add(kb * Layout::<N>::b_block::<L>());
                // A vector has four lanes or more, and the heads' place room for sixteen.
                let head = to.add(Layout::<N>::b_head::<L>()).cast::<i32>();
                L::store_i(head, base);
                let mut kinds = [0; 16];
                L::store_i(kinds.as_mut_ptr(), kind);
                head.add(1).write(kinds[0]);
                let exponents = to.add(Layout::<N>::b_exponents::<L>()).cast::<i32>();
                for p in 0..N {
                    let at = |v: usize| p * columns + v * L::COUNT;
                    let mut byte = [L::splat_i(0); VECTORS];
                    for (v, byte) in byte.iter_mut().enumerate() {
                        let x = L::load(from.add(at(v)));
                        L::store(to.cast::<f32>().add(at(v)), L::mul(x, scale));
                        *byte = bytes::<L>(fields::<L>(x, min_field), base);
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
