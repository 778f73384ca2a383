//! Units that fit no family: the reference, element by element.

use super::{FpMode, Kernel, PackStrips, Shape, Strip, Tile, Values};
use crate::format::{Decoded, Format, Overflow, Rounding, decode, recode};
use crate::model::{Model, Scheme};
use crate::reference::{Operand, block};

/// Panels hold [`Decoded`] numbers: MR (NR) lanes of one block after the other.
pub struct ByReference {
    model: Model,
    shape: Shape,
}

/// Rows and columns of a tile.
const SIDE: usize = 4;

impl ByReference {
    /// The kernel of any unit.
    pub fn new(model: &Model) -> ByReference {
        // A chain must not be filled up: fma(0, 0, -0) is +0. Where it is cut makes no difference to it.
        let block = match model.params().scheme {
            Scheme::SequentialFma => 1,
            _ => model.params().fma as usize,
        };
        let bytes = (SIDE * block * size_of::<Decoded>()).next_multiple_of(64);
        let double = [model.a(), model.b(), model.output()].contains(&Format::Fp64);
        ByReference {
            model: *model,
            shape: Shape {
                mr: SIDE,
                nr: SIDE,
                block,
                double,
                a_block_bytes: bytes,
                b_block_bytes: bytes,
                mode: FpMode::Nearest,
            },
        }
    }

    /// Decodes a strip, lane by lane within a block.
    ///
    /// # Safety
    /// `panel` must have room for the strip's blocks.
    unsafe fn pack(&self, format: Format, strip: &Strip, panel: *mut u8) {
        let block = self.shape.block;
        for kb in 0..strip.k / block {
            // SAFETY: the caller gives room for the strip's blocks.
            let to = unsafe { panel.add(kb * self.shape.a_block_bytes) }.cast::<Decoded>();
            for p in 0..block {
                for lane in 0..SIDE {
                    let at = (kb * block + p) * strip.lanes + lane;
                    let bits = match strip.values {
                        Values::Single(x) => encoding(Format::Fp32, format, x[at].to_bits().into()),
                        Values::Double(x) => encoding(Format::Fp64, format, x[at].to_bits()),
                    };
                    // SAFETY: lane * block + p lies below SIDE * block.
                    unsafe { to.add(lane * block + p).write(decode(format, bits)) };
                }
            }
        }
    }

    fn load_c(&self, tile: &Tile, at: usize, format: Format) -> Operand {
        // SAFETY: `at` lies in the tile.
        let (wide, bits) = unsafe {
            match self.shape.double {
                true => (Format::Fp64, tile.c.cast::<u64>().add(at).read()),
                false => (Format::Fp32, tile.c.cast::<u32>().add(at).read().into()),
            }
        };
        Operand::new(format, encoding(wide, format, bits))
    }

    fn store_c(&self, tile: &Tile, at: usize, format: Format, bits: u64) {
        // SAFETY: `at` lies in the tile.
        unsafe {
            match self.shape.double {
                true => {
                    let bits = encoding(format, Format::Fp64, bits);
                    tile.c.cast::<u64>().add(at).write(bits);
                }
                false => {
                    let bits = encoding(format, Format::Fp32, bits);
                    tile.c.cast::<u32>().add(at).write(bits as u32);
                }
            }
        }
    }
}

/// From a number to the same number in another format that holds it.
fn encoding(from: Format, to: Format, bits: u64) -> u64 {
    if from == to {
        return bits;
    }
    recode(from, to, bits, Rounding::NearestEven, Overflow::Ieee)
}

// SAFETY: only the panels and tiles described by the shape are touched.
unsafe impl Kernel for ByReference {
    fn shape(&self) -> Shape {
        self.shape
    }

    fn packing(&self) -> Option<&dyn PackStrips> {
        Some(self)
    }

    unsafe fn tile(&self, tile: &Tile) {
        let unit = self.model.unit();
        let size = self.shape.block;
        let lane = |panel: *const u8, kb: usize, lane: usize| {
            // SAFETY: packing filled SIDE lanes of each block.
            unsafe {
                let start = panel.add(kb * self.shape.a_block_bytes).cast::<Decoded>();
                std::slice::from_raw_parts(start.add(lane * size), size)
            }
        };
        for i in 0..tile.rows {
            for j in 0..tile.cols {
                let at = i * SIDE + j;
                let mut c = self.load_c(tile, at, tile.c_format);
                let mut bits = 0;
                for kb in 0..tile.blocks {
                    bits = block(unit, lane(tile.a, kb, i), lane(tile.b, kb, j), c);
                    c = Operand::new(unit.carry(), bits);
                }
                self.store_c(tile, at, unit.carry(), bits);
            }
        }
    }
}

// SAFETY: packing touches the blocks of the strip, as the shape describes them.
unsafe impl PackStrips for ByReference {
    unsafe fn pack_a(&self, strip: &Strip, panel: *mut u8) {
        // SAFETY: promised by the caller.
        unsafe { self.pack(self.model.a(), strip, panel) }
    }

    unsafe fn pack_b(&self, strip: &Strip, panel: *mut u8) {
        // SAFETY: promised by the caller.
        unsafe { self.pack(self.model.b(), strip, panel) }
    }
}
