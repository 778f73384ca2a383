//! Packing for aligning kernels; the layout is explained in the module above.

use super::{
    ANY, Head, LOWEST_BASE, Layout, MR, SCALED, SPAN, TOP_BYTE, UP_A, UP_B, VECTORS, ZERO_BYTE,
    in_every_byte,
};
use crate::kernel::lanes::{Job, Lanes};

/// What packing must know about the numbers of a block's row (or columns).
#[derive(Clone, Copy)]
struct Extent {
    /// Largest and smallest exponent field of the numbers that are not zero; 0 and 255 if all are.
    top: u32,
    low: u32,
}

impl Extent {
    const NONE: Extent = Extent { top: 0, low: 255 };

    /// Takes in a number. Fields of 255, infinities and NaNs, stay the top and are found later.
    #[inline(always)]
    fn include(&mut self, x: f32, min_field: u32) {
        let magnitude = x.to_bits() & 0x7fff_ffff;
        let field = (magnitude >> 23).max(min_field);
        let zero = magnitude == 0;
        self.top = self.top.max(if zero { 0 } else { field });
        self.low = self.low.min(if zero { 255 } else { field });
    }

    /// `up` is the exponent of the largest packed number.
    #[inline(always)]
    fn head(self, up: i32) -> Head {
        let top = self.top as i32;
        let fits = top < 255 && top - self.low as i32 <= SPAN + up;
        Head {
            base: (top - 127).max(LOWEST_BASE),
            kind: if fits { SCALED } else { ANY },
        }
    }
}

impl Head {
    /// The power of two that scales by 2^(`up` - base); 1 if nothing is scaled.
    #[inline(always)]
    fn scale(self, up: i32) -> f32 {
        let power = if self.kind == SCALED {
            up - self.base
        } else {
            0
        };
        f32::from_bits(((127 + power) as u32) << 23)
    }

    /// The byte beside a number. Where numbers are packed as they are it does not matter, as long as it is one.
    #[inline(always)]
    fn byte(self, x: f32, min_field: u32) -> i32 {
        let magnitude = x.to_bits() & 0x7fff_ffff;
        let field = (magnitude >> 23).max(min_field) as i32;
        let byte = TOP_BYTE + self.base + 127 - field;
        (if magnitude == 0 { ZERO_BYTE } else { byte }) & 0xff
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
        for (kb, block) in self
            .values
            .chunks_exact(N * MR)
            .take(self.k / N)
            .enumerate()
        {
            let mut extents = [Extent::NONE; MR];
            for row in block.chunks_exact(MR) {
                for (extent, &x) in extents.iter_mut().zip(row) {
                    extent.include(x, self.min_field);
                }
            }
            let heads = extents.map(|extent| extent.head(UP_A));
            // SAFETY: the panel has room for the strip's blocks.
            unsafe {
                let to = self.panel.add(kb * Layout::<N>::A_BLOCK);
                for (i, &head) in heads.iter().enumerate() {
                    let scale = head.scale(UP_A);
                    let row = to.add(i * Layout::<N>::A_ROW).cast::<f32>();
                    let exponents = row.add(N).cast::<i32>();
                    for p in 0..N {
                        let x = block[p * MR + i];
                        row.add(p).write(x * scale);
                        let byte = head.byte(x, self.min_field);
                        exponents.add(p).write(in_every_byte(byte));
                    }
                }
                let to = to.add(Layout::<N>::A_HEADS).cast::<[Head; MR]>();
                to.write(heads);
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
        for (kb, block) in self
            .values
            .chunks_exact(N * columns)
            .take(self.k / N)
            .enumerate()
        {
            let mut extent = Extent::NONE;
            for &x in block {
                extent.include(x, self.min_field);
            }
            let head = extent.head(self.bits + UP_B);
            let scale = head.scale(self.bits + UP_B);
            // SAFETY: the panel has room for the strip's blocks.
            unsafe {
                let to = self.panel.add(kb * Layout::<N>::b_block::<L>());
                let values = to.cast::<f32>();
                for (i, &x) in block.iter().enumerate() {
                    values.add(i).write(x * scale);
                }
                let exponents = to.add(Layout::<N>::b_exponents::<L>()).cast::<i32>();
                for (p, row) in block.chunks_exact(columns).enumerate() {
                    for lane in 0..L::COUNT {
                        let byte = |v: usize| head.byte(row[v * L::COUNT + lane], self.min_field);
                        let word = byte(0) | byte(1) << 8 | byte(2) << 16 | byte(3) << 24;
                        exponents.add(p * L::COUNT + lane).write(word);
                    }
                }
                to.add(Layout::<N>::b_head::<L>())
                    .cast::<Head>()
                    .write(head);
            }
        }
    }
}
