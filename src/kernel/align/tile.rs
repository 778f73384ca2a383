//! Tiles: the rows of every block, one after the other, each in the quickest way that is exact.
//!
//! The loops over the rows hold nothing but what nearly all rows need. What few rows need lies behind one branch, in a function
//! of its own ([`BlockRows::compute_carefully`]), and c is kept free of what would send a row there again and again
//! ([`parked`](super::parked)).

use std::mem::{self, MaybeUninit};

use super::parked::Parked;
use super::{
    ALONE, ANY, Block, CAREFUL, Common, HIGH, HIGHEST, Live, MR, PLAIN, SCALED, SingleRow, VECTORS,
    ZERO_BLOCK, field, fields, in_every_byte, without_sign,
};
use crate::kernel::Tile;
use crate::kernel::lanes::{Job, Lanes};

/// How a kernel computes rows.
pub trait Rows<const N: usize, const GROUPS: usize>: Sized {
    type Level: Lanes;
    /// What depends on a base.
    type Constants: Copy;

    /// Bases below this are computed with [`PLAIN`].
    const PLAIN_BELOW: i32;

    fn common(&self) -> &Common;

    /// Constants for a base.
    unsafe fn constants<const CARE: u8>(&self, base: i32) -> Self::Constants;

    /// One row over one block. Returns whether any lane has to be looked at again: if CAREFUL, after the results have been
    /// stored; else nothing has been stored.
    unsafe fn row<const CARE: u8>(
        &self,
        row: Row<N>,
        constants: Self::Constants,
        u: &[Exponents; GROUPS],
        live: &Live<Self::Level, VECTORS>,
    ) -> bool;

    /// Must infinities and NaNs be kept out of c? Those that come up in [`HIGH`] rows are taken out before [`PLAIN`] ones.
    const PARKS: bool;

    /// Must the results of [`HIGH`] rows be looked at before they become the next block's c? If not, such a row finds itself
    /// that c became infinite.
    const LOOKS_AFTER: bool;

    /// How far c's exponent must lie above that of low products for them not to matter.
    const FAR: i32;

    /// Bits of c that are left when all products are zero.
    const KEPT: i32;
}

/// Row `i` over a block.
#[derive(Clone, Copy)]
pub struct Row<const N: usize> {
    pub block: Block<N>,
    pub i: usize,
    /// Before the block.
    pub c: *const f32,
    /// The results, which may lie where `c` does.
    pub d: *mut f32,
}

/// u of the rows of a tile in one block.
#[repr(align(64))]
pub struct Exponents(pub [i32; 16 * MR]);

impl Exponents {
    const fn new() -> Self {
        Exponents([0; 16 * MR])
    }

    /// Those of row `i`, as exponent fields.
    #[inline(always)]
    pub unsafe fn of_row<L: Lanes>(&self, i: usize) -> [L::I; VECTORS] {
        // SAFETY: the caller is compiled for the level; i < MR.
        unsafe { fields::<L>(L::load_i(self.0.as_ptr().add(i * L::COUNT))) }
    }
}

/// Is any u of row `i` smaller?
#[inline(always)]
unsafe fn any_below<L: Lanes, const GROUPS: usize>(
    u: &[Exponents; GROUPS],
    i: usize,
    smallest: i32,
) -> bool {
    // SAFETY: the caller is compiled for the level; i < MR.
    unsafe {
        let smallest = L::splat_i(in_every_byte(smallest));
        let mut least = smallest;
        for u in u {
            least = L::min_bytes(least, L::load_i(u.0.as_ptr().add(i * L::COUNT)));
        }
        let differs = L::any_bit(L::xor(least, smallest));
        L::any_negative(L::sub_i(L::splat_i(0), differs))
    }
}

impl<L: Lanes> Live<L, VECTORS> {
    /// Lanes of row `i` whose u is that of zero products.
    #[inline(always)]
    unsafe fn without_products<const GROUPS: usize>(u: &[Exponents; GROUPS], i: usize) -> Self {
        // SAFETY: the caller is compiled for the level; i < MR.
        unsafe {
            let mut least = u[0].of_row::<L>(i);
            for (v, least) in least.iter_mut().enumerate() {
                *least = L::min_i(*least, u[GROUPS - 1].of_row::<L>(i)[v]);
                let is_zero = L::equal(*least, L::splat_i(field(ZERO_BLOCK)));
                *least = L::select(is_zero, L::splat_i(-1), L::splat_i(0));
            }
            Live(least)
        }
    }

    /// Those that are not among `others`.
    #[inline(always)]
    unsafe fn remove(&mut self, others: &Self) {
        for (live, others) in self.0.iter_mut().zip(others.0) {
            // SAFETY: the caller is compiled for the level.
            *live = unsafe { L::and(*live, L::xor(others, L::splat_i(-1))) };
        }
    }

    /// Makes these lanes of `d` what they were before, of which `kept` are left.
    #[inline(always)]
    unsafe fn keep(&self, before: &[f32; 64], d: *mut f32, kept: i32) {
        // SAFETY: the caller is compiled for the level; the row is there.
        unsafe {
            for (v, lanes) in self.0.into_iter().enumerate() {
                let at = d.add(v * L::COUNT);
                let before = only::<L>(L::load(before.as_ptr().add(v * L::COUNT)), kept);
                L::store(at, L::select_by_sign(lanes, before, L::load(at)));
            }
        }
    }
}

/// Are all products of a block zero?
#[inline(always)]
unsafe fn is_zero<L: Lanes, const N: usize>(block: Block<N>) -> bool {
    // SAFETY: the block is packed.
    unsafe {
        let (rows, columns) = (block.rows_head(), block.columns_head::<L>());
        rows.kind.max(columns.kind) == SCALED && rows.reach.min(columns.reach) < 0
    }
}

/// What is left of a number with these bits; zeros have no signs, and a NaN must be quiet to stay one.
#[inline(always)]
unsafe fn only<L: Lanes>(x: L::F, kept: i32) -> L::F {
    // SAFETY: the caller is compiled for the level.
    unsafe { without_sign::<L>(L::from_bits(L::and(L::bits(x), L::splat_i(kept)))) }
}

/// What becomes of a row of c when all products are zero.
#[inline(always)]
unsafe fn keep<L: Lanes>(c: *mut f32, kept: i32) {
    // SAFETY: the caller is compiled for the level; the row is there.
    unsafe {
        for v in 0..VECTORS {
            let at = c.add(v * L::COUNT);
            L::store(at, only::<L>(L::load(at), kept));
        }
    }
}

/// Rows that do not go the usual way. A bit stands for a row.
#[derive(Clone, Copy)]
struct Ways {
    /// Only the scalar code can compute them.
    slow: u32,
    /// They have bases of their own, or some of their products may be too large.
    careful: u32,
}

/// First pass over a block: all rows' u (those of rows that fill up four are there as well), and their ways.
#[inline(always)]
unsafe fn first_pass<L: Lanes, const N: usize, const GROUPS: usize>(
    block: Block<N>,
    rows: usize,
    common: &Common,
    u: &mut [Exponents; GROUPS],
) -> Ways {
    // SAFETY: rows <= MR; the block is packed.
    unsafe {
        for i in (0..rows).step_by(4) {
            for (group, u) in u.iter_mut().enumerate() {
                let least = block.exponents::<L>(i, group, GROUPS);
                for (r, least) in least.into_iter().enumerate() {
                    L::store_i(u.0.as_mut_ptr().add((i + r) * L::COUNT), least);
                }
            }
        }
        let mut ways = Ways {
            slow: 0,
            careful: 0,
        };
        let columns = block.columns_head::<L>().kind;
        if block.rows_head().kind.max(columns) != SCALED {
            for i in 0..rows {
                let kind = block.row_head(i).kind.max(columns);
                ways.slow |= u32::from(kind == ANY) << i;
                ways.careful |= u32::from(kind == ALONE) << i;
            }
        }
        let base = block.common_base::<L>();
        if base > HIGHEST {
            for i in 0..rows {
                let over = any_below::<L, GROUPS>(u, i, common.smallest_u(base));
                ways.careful |= u32::from(over) << i;
            }
        }
        ways
    }
}

/// Makes a row of c ready: zeros lose their signs, and lanes without a column hold 1.
#[inline(always)]
unsafe fn prepare<L: Lanes>(c: *mut f32, live_columns: usize) {
    let columns = VECTORS * L::COUNT;
    // SAFETY: the caller is compiled for the level; the row is there.
    unsafe {
        for v in 0..VECTORS {
            let at = c.add(v * L::COUNT);
            L::store(at, without_sign::<L>(L::load(at)));
        }
        if live_columns < columns {
            std::slice::from_raw_parts_mut(c, columns)[live_columns..].fill(1.0);
        }
    }
}

/// Computes a tile.
pub struct TileJob<'a, K, const N: usize, const GROUPS: usize> {
    pub kernel: &'a K,
    pub tile: &'a Tile,
}

impl<K: Rows<N, GROUPS>, const N: usize, const GROUPS: usize> Job for TileJob<'_, K, N, GROUPS> {
    #[inline(always)]
    unsafe fn run<M: Lanes>(self) {
        let TileJob { kernel, tile } = self;
        let columns = VECTORS * K::Level::COUNT;
        // SAFETY: compiled for the level, which is the kernel's; the tile is as the engine describes it.
        unsafe {
            let mut u = [const { Exponents::new() }; GROUPS];
            let mut parked = Parked::new();
            // From this base on no finite c lies so far above the products that all of them are cut to nothing.
            let high_from = K::PLAIN_BELOW.max(128 - kernel.common().top);
            // Where c lies, and where results go that may have to be computed again.
            let mut spare = [MaybeUninit::<f32>::uninit(); 64 * MR];
            let (mut c, mut other) = (tile.c.cast::<f32>(), spare.as_mut_ptr().cast::<f32>());
            // May results have become infinite that have not been parked?
            let mut infinite = false;
            for i in 0..tile.rows {
                let row = c.add(i * columns);
                prepare::<K::Level>(row, tile.cols);
                if K::PARKS {
                    parked.take_out::<K::Level>(i, row);
                }
            }
            for kb in 0..tile.blocks {
                let block = Block::<N>::new::<K::Level>(tile, kb);
                if is_zero::<K::Level, N>(block) {
                    for i in (0..tile.rows).filter(|_| K::KEPT != !0) {
                        keep::<K::Level>(c.add(i * columns), K::KEPT);
                    }
                    continue;
                }
                block.prefetch_next::<K::Level>();
                let ways =
                    first_pass::<K::Level, N, GROUPS>(block, tile.rows, kernel.common(), &mut u);
                let mut rows = BlockRows {
                    kernel,
                    tile,
                    kb,
                    u: &u,
                    ways,
                    parked: &mut parked,
                };
                let base = block.common_base::<K::Level>();
                if base < K::PLAIN_BELOW {
                    if K::PARKS && mem::take(&mut infinite) {
                        rows.park(c);
                    }
                    rows.compute::<PLAIN>(c, c);
                } else if base < high_from {
                    rows.compute::<CAREFUL>(c, c);
                } else if K::LOOKS_AFTER {
                    rows.compute_high(c, other);
                    (c, other) = (other, c);
                } else {
                    rows.compute::<HIGH>(c, c);
                    infinite = true;
                }
            }
            for i in 0..tile.rows {
                if K::PARKS {
                    parked.put_back::<K::Level>(i, c.add(i * columns));
                }
            }
            if c != tile.c.cast() {
                std::ptr::copy_nonoverlapping(c, tile.c.cast(), tile.rows * columns);
            }
        }
    }
}

/// The rows of block `kb` of a tile.
struct BlockRows<'a, K, const N: usize, const GROUPS: usize> {
    kernel: &'a K,
    tile: &'a Tile,
    kb: usize,
    u: &'a [Exponents; GROUPS],
    ways: Ways,
    parked: &'a mut Parked,
}

impl<K: Rows<N, GROUPS>, const N: usize, const GROUPS: usize> BlockRows<'_, K, N, GROUPS> {
    const COLUMNS: usize = VECTORS * K::Level::COUNT;

    /// All rows from `c` to `d`, most of them with the care given. Returns the others.
    #[inline(always)]
    unsafe fn compute<const CARE: u8>(&mut self, c: *const f32, d: *mut f32) -> u32 {
        // SAFETY: compiled for the level; the tile has the block and its rows.
        unsafe {
            let block = Block::<N>::new::<K::Level>(self.tile, self.kb);
            let constants = self
                .kernel
                .constants::<CARE>(block.common_base::<K::Level>());
            let (unusual, none) = (self.ways.slow | self.ways.careful, Live::none());
            let (kernel, u) = (self.kernel, self.u);
            let mut others = 0;
            for i in 0..self.tile.rows {
                let (c, d) = (c.add(i * Self::COLUMNS), d.add(i * Self::COLUMNS));
                let again = CARE == CAREFUL
                    || unusual >> i & 1 != 0
                    || kernel.row::<CARE>(Row { block, i, c, d }, constants, u, &none);
                if again {
                    self.compute_carefully(i, c, d);
                    others |= 1 << i;
                }
            }
            others
        }
    }

    /// Takes out of `c` what must not be in it for [`PLAIN`].
    #[inline(always)]
    unsafe fn park(&mut self, c: *mut f32) {
        for i in 0..self.tile.rows {
            // SAFETY: compiled for the level; the tile has the row.
            unsafe {
                let c = c.add(i * Self::COLUMNS);
                self.parked.put_back::<K::Level>(i, c);
                self.parked.take_out::<K::Level>(i, c);
            }
        }
    }

    /// All rows from `c` to `d`, which are not the same; results may overflow. They are looked at together: a branch that waits
    /// for every row's results would let the processor look less far ahead.
    #[inline(always)]
    unsafe fn compute_high(&mut self, c: *const f32, d: *mut f32) {
        // SAFETY: compiled for the level; the tile has the block and its rows.
        unsafe {
            let others = self.compute::<HIGH>(c, d);
            if !any_large::<K::Level>(d, self.tile.rows * Self::COLUMNS) {
                return;
            }
            for i in 0..self.tile.rows {
                let (c, d) = (c.add(i * Self::COLUMNS), d.add(i * Self::COLUMNS));
                if others >> i & 1 == 0 && any_large::<K::Level>(d, Self::COLUMNS) {
                    self.compute_carefully(i, c, d);
                }
            }
        }
    }

    /// Row `i` from `c` to `d`, whatever is in it. A function of its own, so that nothing of it lies in the loop over the rows.
    #[cold]
    #[inline(never)]
    unsafe fn compute_carefully(&mut self, i: usize, c: *const f32, d: *mut f32) {
        // SAFETY: the level's instructions are there; the tile has the block and the row.
        unsafe {
            if c != d {
                std::ptr::copy_nonoverlapping(c, d, Self::COLUMNS);
            }
            K::Level::dispatch(CarefulRow {
                rows: self,
                i,
                c: d,
            });
        }
    }
}

/// Row `i`, in place.
struct CarefulRow<'a, 'b, K, const N: usize, const GROUPS: usize> {
    rows: &'b mut BlockRows<'a, K, N, GROUPS>,
    i: usize,
    c: *mut f32,
}

impl<K: Rows<N, GROUPS>, const N: usize, const GROUPS: usize> Job
    for CarefulRow<'_, '_, K, N, GROUPS>
{
    #[inline(always)]
    unsafe fn run<M: Lanes>(self) {
        let CarefulRow { rows, i, c } = self;
        let BlockRows {
            kernel,
            tile,
            kb,
            u,
            ..
        } = *rows;
        // SAFETY: compiled for the level, which is the kernel's; the tile has the block and the row.
        unsafe {
            let block = Block::<N>::new::<K::Level>(tile, kb);
            let single = SingleRow {
                common: kernel.common(),
                block,
                i,
                d: c,
                is_last: tile.last && kb + 1 == tile.blocks,
            };
            rows.parked.put_back::<K::Level>(i, c);
            if rows.ways.slow >> i & 1 != 0 {
                single.compute::<K::Level>(tile.cols);
            } else {
                let mut before = [0.0; 64];
                let columns = VECTORS * K::Level::COUNT;
                std::ptr::copy_nonoverlapping(c, before.as_mut_ptr(), columns);
                let base = block.base::<K::Level>(i);
                let constants = kernel.constants::<CAREFUL>(base);
                let mut live = Live::new(tile.cols);
                // Where no byte of a number reaches what stands for a zero, lanes without products are known.
                let reach = block.rows_head().reach + block.columns_head::<K::Level>().reach;
                let none = Live::without_products::<GROUPS>(u, i);
                if reach < ZERO_BLOCK {
                    live.remove(&none);
                }
                let row = Row { block, i, c, d: c };
                let again = kernel.row::<CAREFUL>(row, constants, u, &live);
                let smallest = kernel.common().smallest_u(base);
                let over = any_below::<K::Level, GROUPS>(u, i, smallest);
                if again || over {
                    let (u, before) = ([&u[0], &u[GROUPS - 1]], &before[..tile.cols]);
                    single.repair::<K::Level>(u, before, K::FAR, K::KEPT);
                }
                if reach < ZERO_BLOCK {
                    none.keep(&before, c, K::KEPT);
                }
            }
            if K::PARKS {
                rows.parked.take_out::<K::Level>(i, c);
            }
        }
    }
}

/// May any of these results have overflowed? They are a multiple of a vector's lanes.
#[inline(always)]
unsafe fn any_large<L: Lanes>(results: *const f32, count: usize) -> bool {
    // SAFETY: the caller is compiled for the level; the results are there.
    unsafe {
        let mut largest = [L::splat_i(0); VECTORS];
        for at in (0..count).step_by(VECTORS * L::COUNT) {
            for (v, largest) in largest.iter_mut().enumerate() {
                let result = L::bits(L::load(results.add(at + v * L::COUNT)));
                *largest = L::max_i(*largest, L::and(result, L::splat_i(i32::MAX)));
            }
        }
        // Toward zero an overflow ends at the largest number, of which a unit may return its first bits only.
        let below = L::splat_i((f32::MAX.to_bits() as i32 & !0x3ff) - 1);
        let mut over = L::splat_i(0);
        for largest in largest {
            over = L::or(over, L::sub_i(below, largest));
        }
        L::any_negative(over)
    }
}
