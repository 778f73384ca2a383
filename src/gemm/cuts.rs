//! How the engine cuts a product up, and where in its workspace things lie.

use super::problem::Problem;
use crate::kernel::{Shape, Source};

/// Most rows of a region of D.
const MB: usize = 512;
/// Most columns of a region of D.
const NB: usize = 1024;
/// Most bytes of packed panels.
const PANEL_BYTES: usize = 3 << 20;
/// Bytes of packed panels for each thread, which its second cache holds.
const OWN_PANEL_BYTES: usize = 256 << 10;
/// Bytes of a panel of B over KC, half the first cache.
const CACHED_B_BYTES: usize = 16 << 10;
/// Bytes of a block's panels of A over KC, less than half the second cache.
const CACHED_A_BYTES: usize = 192 << 10;
/// Bytes of a block of D.
const BLOCK_BYTES: usize = 192 << 10;
/// Blocks of D that each thread should find, so that all end at about the same time.
const BLOCKS_A_THREAD: usize = 10;
/// Elements of K that a task packs.
pub const PACKED_K: usize = 128;

/// How a product is cut up.
#[derive(Clone, Copy)]
pub struct Cuts {
    /// Rows and columns of a region, multiples of MR and NR.
    pub mb: usize,
    pub nb: usize,
    /// Rows and columns of a block of D, multiples of MR and NR.
    pub mc: usize,
    pub nc: usize,
    /// Blocks of [`Shape::block`] in all of K, in one step of a region, and in KC. A step is a multiple of KC or all of K.
    pub blocks: usize,
    pub step: usize,
    pub kc: usize,
}

/// The size of about equal parts, multiples of `unit` of at most `most` (or one `unit`), that make up `all`.
pub fn part(all: usize, most: usize, unit: usize) -> usize {
    let parts = all.div_ceil((most / unit).max(1) * unit);
    all.div_ceil(parts).next_multiple_of(unit)
}

impl Cuts {
    pub fn new(problem: &Problem, shape: &Shape, workers: usize) -> Cuts {
        let Shape {
            mr,
            nr,
            a_block_bytes,
            b_block_bytes,
            ..
        } = *shape;
        let blocks = problem.k.div_ceil(shape.block);
        let kc = part(blocks, CACHED_B_BYTES / b_block_bytes, 1);
        let (mut mb, mut nb) = (part(problem.m, MB, mr), part(problem.n, NB, nr));
        let bytes = |mb: usize, nb: usize| mb / mr * a_block_bytes + nb / nr * b_block_bytes;
        while bytes(mb, nb) * kc > PANEL_BYTES && (mb > mr || nb > nr) {
            if (mb > nb && mb > mr) || nb == nr {
                mb = part(problem.m, mb / 2, mr);
            } else {
                nb = part(problem.n, nb / 2, nr);
            }
        }
        let panels = (OWN_PANEL_BYTES * workers).min(PANEL_BYTES);
        let step = (panels / (bytes(mb, nb) * kc)).max(1) * kc;
        let mc = part(mb, CACHED_A_BYTES / (a_block_bytes * kc) * mr, mr);
        let mut nc = part(nb, BLOCK_BYTES / (mc * shape.number_bytes()), nr);
        if workers > 1 {
            let rows = problem.m.min(mb).div_ceil(mc);
            let enough = (BLOCKS_A_THREAD * workers).div_ceil(rows);
            nc = nc.min((nb / enough).next_multiple_of(nr)).max(nr);
        }
        Cuts {
            mb,
            nb,
            mc,
            nc,
            blocks,
            step: step.min(blocks),
            kc,
        }
    }

    /// Is c carried from one step to the next?
    pub fn carries(&self) -> bool {
        self.step < self.blocks
    }
}

/// Where things lie in the workspace; offsets are multiples of 64.
#[derive(Clone, Copy)]
pub struct Places {
    pub panels_b: usize,
    /// Tiles of a region, if c is carried.
    pub carried: usize,
    /// Every thread's own: a block's tiles, a strip, and lines to make one of.
    pub own: usize,
    pub strip: usize,
    pub lines: usize,
    pub own_bytes: usize,
    pub bytes: usize,
}

impl Places {
    pub fn new(cuts: &Cuts, shape: &Shape, workers: usize) -> Places {
        let mut end = 0;
        let mut place = |bytes: usize| {
            let at = end;
            end += bytes.next_multiple_of(64);
            at
        };
        let number = shape.number_bytes();
        let (carried, block) = match cuts.carries() {
            true => (cuts.mb * cuts.nb * number, 0),
            false => (0, cuts.mc * cuts.nc * number),
        };
        place(cuts.mb / shape.mr * cuts.step * shape.a_block_bytes);
        let panels_b = place(cuts.nb / shape.nr * cuts.step * shape.b_block_bytes);
        let carried = place(carried);
        let own = place(block);
        let k = Source::MOST_STRIP_K.max(shape.block);
        let strip = place(shape.mr.max(shape.nr) * k * number) - own;
        let lines = place(Source::line_numbers(k) * 4) - own;
        let own_bytes = place(0) - own;
        Places {
            panels_b,
            carried,
            own,
            strip,
            lines,
            own_bytes,
            bytes: own + workers * own_bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_equal_and_make_up_all() {
        for all in 1..200 {
            for most in 1..50 {
                for unit in 1..9 {
                    let part = part(all, most, unit);
                    assert!(part.is_multiple_of(unit) && part <= most.max(unit));
                    // No smaller parts would do with as few of them.
                    let parts = all.div_ceil(part);
                    assert!(part == unit || parts * (part - unit) < all);
                }
            }
        }
    }
}
