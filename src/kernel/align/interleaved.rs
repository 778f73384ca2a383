//! A block run as two half blocks of interleaved elements, c added last (8-bit inputs through mma.sync on Hopper and Blackwell).
//!
//! Elements 0, 1, 4, 5, 8, ... of a block and then 2, 3, 6, 7, ... are two blocks of a unit with an early c, which begins
//! with zero: packing moves them apart, and that unit's kernel computes tiles of two blocks. The results are added to c
//! in the usual mode, by the addition of binary32. Of two binary16 numbers that is rounded twice, which is the same as once:
//! binary32 has two bits more than twice binary16's.

use super::{Aligning, MR, early, in_usual_mode};
use crate::format::Format;
use crate::kernel::lanes::{Job, Lanes};
use crate::kernel::{
    DotKernel, FpMode, Kernel, PackStrips, Shape, Strip, Tile, Values, half_block_unit,
};
use crate::model::Model;

/// Kernel of an interleaved unit.
pub struct Interleaved<L> {
    /// The half blocks' kernel.
    half: Box<dyn Aligning>,
    output: Format,
    level: std::marker::PhantomData<L>,
}

/// The kernel of an interleaved unit.
pub fn kernel<L: Lanes>(model: &Model) -> Option<Box<dyn Aligning>> {
    Some(Box::new(Interleaved::<L> {
        half: early::kernel::<L>(&half_block_unit(model)?)?,
        output: model.output(),
        level: std::marker::PhantomData,
    }))
}

/// Most lanes of a strip, most elements of a block, and most numbers of a tile.
const MOST_LANES: usize = 64;
const MOST_ELEMENTS: usize = 32;
const MOST_NUMBERS: usize = MR * MOST_LANES;

impl<L: Lanes> Interleaved<L> {
    /// Elements of a block.
    fn elements(&self) -> usize {
        2 * DotKernel::block(&*self.half)
    }

    /// Block `kb` of a strip, its elements moved apart.
    fn moved_apart<'a>(&self, strip: &Strip, kb: usize, room: &'a mut Moved) -> Strip<'a> {
        let (block, lanes) = (self.elements(), strip.lanes);
        let moved = &mut room.0[..block * lanes];
        let from = &strip.single()[kb * moved.len()..][..moved.len()];
        for (p, row) in from.chunks_exact(lanes).enumerate() {
            let half = p % 4 / 2;
            let to = half * (block / 2) + p / 4 * 2 + p % 2;
            moved[to * lanes..][..lanes].copy_from_slice(row);
        }
        Strip {
            values: Values::Single(moved),
            lanes,
            k: block,
            filled: block,
        }
    }

    /// Packs a strip with `pack`, a block at a time.
    fn pack(&self, strip: &Strip, pack: impl Fn(&dyn PackStrips, &Strip, usize)) {
        let half = self.half.packing().expect("aligning kernels pack");
        let mut room = Moved([0.0; MOST_ELEMENTS * MOST_LANES]);
        for kb in 0..strip.k / self.elements() {
            pack(half, &self.moved_apart(strip, kb, &mut room), kb);
        }
    }

    /// Adds the sums of a block to c; both have whole vectors.
    fn add(&self, c: &mut [f32], sums: &[f32]) {
        let half = self.output == Format::Fp16;
        // SAFETY: the machine has the kernel's level.
        in_usual_mode(|| unsafe { L::dispatch(Add { c, sums, half }) });
    }
}

/// A block of a strip.
struct Moved([f32; MOST_ELEMENTS * MOST_LANES]);

// SAFETY: packing and tiles touch what the half blocks' kernel does, whose blocks lie two by two.
unsafe impl<L: Lanes> Kernel for Interleaved<L> {
    fn shape(&self) -> Shape {
        let half = self.half.shape();
        Shape {
            block: 2 * half.block,
            a_block_bytes: 2 * half.a_block_bytes,
            b_block_bytes: 2 * half.b_block_bytes,
            ..half
        }
    }

    fn packing(&self) -> Option<&dyn PackStrips> {
        Some(self)
    }

    unsafe fn tile(&self, tile: &Tile) {
        let Shape {
            nr,
            a_block_bytes,
            b_block_bytes,
            ..
        } = self.shape();
        let mut sums = Sums([0.0; MOST_NUMBERS]);
        let numbers = tile.rows * nr;
        for kb in 0..tile.blocks {
            sums.0[..numbers].fill(0.0);
            // SAFETY: the tile has the block; the sums have room for its numbers.
            unsafe {
                self.half.tile(&Tile {
                    c: sums.0.as_mut_ptr().cast(),
                    a: tile.a.add(kb * a_block_bytes),
                    b: tile.b.add(kb * b_block_bytes),
                    blocks: 2,
                    c_format: self.output,
                    last: true,
                    ..*tile
                });
                let c = std::slice::from_raw_parts_mut(tile.c.cast(), numbers);
                self.add(c, &sums.0[..numbers]);
            }
        }
    }
}

// SAFETY: the half blocks' kernel touches its blocks, two of which are one of this kernel.
unsafe impl<L: Lanes> PackStrips for Interleaved<L> {
    unsafe fn pack_a(&self, strip: &Strip, panel: *mut u8) {
        let bytes = self.shape().a_block_bytes;
        self.pack(strip, |half, block, kb| {
            // SAFETY: the panel has room for the block, as the caller says.
            unsafe { half.pack_a(block, panel.add(kb * bytes)) }
        });
    }

    unsafe fn pack_b(&self, strip: &Strip, panel: *mut u8) {
        let bytes = self.shape().b_block_bytes;
        self.pack(strip, |half, block, kb| {
            // SAFETY: as above.
            unsafe { half.pack_b(block, panel.add(kb * bytes)) }
        });
    }
}

// SAFETY: touches the strips and the c's.
unsafe impl<L: Lanes> DotKernel for Interleaved<L> {
    fn lanes(&self) -> usize {
        self.half.lanes()
    }

    fn block(&self) -> usize {
        self.elements()
    }

    fn mode(&self) -> FpMode {
        self.half.mode()
    }

    unsafe fn run(&self, a: &Strip, b: &Strip, c: *mut u8, cases: usize) {
        let numbers = a.lanes.max(self.lanes());
        let mut rooms = [const { Moved([0.0; MOST_ELEMENTS * MOST_LANES]) }; 2];
        let [room_a, room_b] = &mut rooms;
        let mut sums = Sums([0.0; MOST_NUMBERS]);
        let sums = &mut sums.0[..numbers];
        // SAFETY: there is a c for each lane, as the caller says.
        let c = unsafe { std::slice::from_raw_parts_mut(c.cast(), numbers) };
        for kb in 0..a.k / self.elements() {
            let a = self.moved_apart(a, kb, room_a);
            let b = self.moved_apart(b, kb, room_b);
            sums.fill(0.0);
            // SAFETY: the strips have the same lanes, and there is a sum for each.
            unsafe { self.half.run(&a, &b, sums.as_mut_ptr().cast(), cases) };
            self.add(c, sums);
        }
    }
}

/// Numbers of a tile, or of dot products side by side.
#[repr(align(64))]
struct Sums([f32; MOST_NUMBERS]);

/// Adds sums to a tile's c; both have whole vectors. `half`: the result is rounded to binary16.
struct Add<'a> {
    c: &'a mut [f32],
    sums: &'a [f32],
    half: bool,
}

impl Job for Add<'_> {
    #[inline(always)]
    unsafe fn run<L: Lanes>(self) {
        let vectors = (self.c.chunks_exact_mut(L::COUNT)).zip(self.sums.chunks_exact(L::COUNT));
        for (c, sum) in vectors {
            // SAFETY: compiled for the level; both are as long as a vector.
            unsafe {
                let total = L::add(L::load(c.as_ptr()), L::load(sum.as_ptr()));
                let total = if self.half {
                    L::through_half(total)
                } else {
                    total
                };
                L::store(c.as_mut_ptr(), total);
            }
        }
    }
}
