//! Aligning units: products, cut to F bits below the largest exponent, added as integers.
//!
//! # How a block is computed
//!
//! Factors of at most 11 significant bits have exact products in binary32. Let E be the exponent that a block is aligned
//! to. Then a product's share of the sum is p * 2^(F - E), cut toward zero to an integer, which takes four operations for a
//! whole vector: multiply; add to the exponent field; convert with truncation; add. Nothing is rounded on the way, so
//! the sum is exactly the unit's, as long as no exponent field over- or underflows. Packing sees to that:
//!
//! * Every row of A and every NR columns of B have, in every block, a base: the largest exponent among them. A is packed
//!   as a * 2^(F - 28 - base), B as b * 2^(-base). Beside each number lies a byte, 14 + base - e, where e is the exponent
//!   that the unit sees (a subnormal number has its format's smallest). The sum of two bytes is then
//!   u = 28 + base - (exponent of the product), base being both bases' sum; the least of them over the block belongs to
//!   the largest exponent. Adding u to the packed product's exponent field makes it p * 2^(F - E).
//! * Bytes are 14 to 62, and 113 for a zero factor: u is 28 to 124 for a product that is not zero, and 126 stands for a
//!   block of zero products. A zero product becomes 2^(u - 127) < 1, which is cut to 0.
//! * Rows (or columns of B) whose exponents span more than 48 binades in a block, or whose base is so far out that a scale
//!   would not be a normal number, are packed as they are: see `wide`. Those that hold an infinity, a NaN or a subnormal
//!   binary32 number then take the way of [`Scalar`].
//! * 28 binades are left above the base, so that a c larger than all products still fits (`early`).
//!
//! Lanes whose E lies below [`LOWEST`] take the scalar way too, so that results are normal numbers and every
//! multiplication with a power of two is exact. Bases above [`HIGHEST_BASE`] do, so that nothing overflows.

mod dots;
pub mod early;
pub mod late;
mod pack;
mod scalar;
mod wide;

use super::lanes::{Lanes, byte_to_exponent};
use super::{DotKernel, Kernel, Tile};
use crate::format::Format;
use crate::model::{Model, Params};
use scalar::Scalar;

/// A kernel for products of matrices and for batches of dot products.
pub trait Aligning: Kernel + DotKernel {}

impl<K: Kernel + DotKernel> Aligning for K {}

/// MR of all aligning kernels.
pub const MR: usize = 32;
/// Vectors across a tile: one for each byte of an exponent word.
pub const VECTORS: usize = 4;

/// Smallest exponent of a block that vectors compute.
const LOWEST: i32 = -95;
/// Bases outside of these take the scalar way.
const LOWEST_BASE: i32 = -70;
const HIGHEST_BASE: i32 = 90;
/// What a byte holds for the largest exponent, and for a zero.
const TOP_BYTE: i32 = 14;
const ZERO_BYTE: i32 = 113;
/// Largest spread of the exponents packed together.
const SPAN: i32 = 48;
/// u of a block of zero products.
const ZERO_BLOCK: i32 = 126;
/// u of a product with exponent `base`.
const TOP: i32 = 2 * TOP_BYTE;

/// Scaled, with their exponents in bytes.
const SCALED: i32 = 0;
/// As they are, because their exponents do not fit; all of them finite, and none subnormal in binary32.
const WIDE: i32 = 1;
/// As they are, for the scalar way.
const ANY: i32 = 2;

/// What lies beside a row of A (or the columns of B) in a block.
#[repr(C)]
#[derive(Clone, Copy)]
struct Head {
    /// Largest exponent.
    base: i32,
    /// How the numbers are packed: scaled, or as they are.
    kind: i32,
}

/// Where things lie in packed blocks of N elements for a level's vectors.
struct Layout<const N: usize>;

impl<const N: usize> Layout<N> {
    /// Bytes of the numbers and exponents of one row of A.
    const A_ROW: usize = 8 * N;
    /// Where the heads of A's rows begin.
    const A_HEADS: usize = MR * Self::A_ROW;
    const A_BLOCK: usize = Self::A_HEADS + MR * size_of::<Head>();

    const fn columns<L: Lanes>() -> usize {
        VECTORS * L::COUNT
    }
    /// Where the exponents of B begin.
    const fn b_exponents<L: Lanes>() -> usize {
        4 * N * Self::columns::<L>()
    }
    /// Where the head of B's columns lies.
    const fn b_head<L: Lanes>() -> usize {
        5 * N * Self::columns::<L>()
    }
    const fn b_block<L: Lanes>() -> usize {
        Self::b_head::<L>() + 64
    }
}

/// One packed block: MR rows of A against NR columns of B.
#[derive(Clone, Copy)]
struct Block<const N: usize> {
    a: *const u8,
    b: *const u8,
}

impl<const N: usize> Block<N> {
    /// Block `kb` of a tile.
    ///
    /// # Safety
    /// The tile must have it.
    #[inline(always)]
    unsafe fn new<L: Lanes>(tile: &Tile, kb: usize) -> Self {
        // SAFETY: promised by the caller.
        unsafe {
            Block {
                a: tile.a.add(kb * Layout::<N>::A_BLOCK),
                b: tile.b.add(kb * Layout::<N>::b_block::<L>()),
            }
        }
    }

    #[inline(always)]
    unsafe fn row(&self, i: usize) -> *const f32 {
        // SAFETY: i < MR.
        unsafe { self.a.add(i * Layout::<N>::A_ROW).cast() }
    }

    #[inline(always)]
    unsafe fn row_head(&self, i: usize) -> Head {
        // SAFETY: i < MR.
        unsafe {
            let heads = self.a.add(Layout::<N>::A_HEADS).cast::<Head>();
            heads.add(i).read()
        }
    }

    /// The sum of row i's and the columns' bases.
    #[inline(always)]
    unsafe fn base<L: Lanes>(&self, i: usize) -> i32 {
        // SAFETY: i < MR.
        unsafe { self.row_head(i).base + self.columns_head::<L>().base }
    }

    #[inline(always)]
    unsafe fn columns(&self) -> *const f32 {
        self.b.cast()
    }

    #[inline(always)]
    unsafe fn columns_head<L: Lanes>(&self) -> Head {
        // SAFETY: the head lies in the block.
        unsafe { self.b.add(Layout::<N>::b_head::<L>()).cast::<Head>().read() }
    }

    /// u of row i against all columns, four to a lane; only elements `first`, `first + step`, ...
    #[inline(always)]
    unsafe fn exponents<L: Lanes>(&self, i: usize, first: usize, step: usize) -> L::I {
        // SAFETY: i < MR; the rest is laid out as packing says.
        unsafe {
            let a = self.row(i).add(N).cast::<i32>();
            let b = self.b.add(Layout::<N>::b_exponents::<L>()).cast::<i32>();
            let mut least = L::splat_i(ZERO_BLOCK * 0x0101_0101);
            let mut p = first;
            while p < N {
                let sum = L::add_bytes(L::splat_i(*a.add(p)), L::load_i(b.add(p * L::COUNT)));
                least = L::min_bytes(least, sum);
                p += step;
            }
            least
        }
    }

    /// Adds the products of elements `first`, `first + step`, ... below `end` to `sums`, aligned by the exponents `s`.
    #[inline(always)]
    unsafe fn add_products<L: Lanes>(
        &self,
        i: usize,
        (first, end, step): (usize, usize, usize),
        s: [L::I; VECTORS],
        sums: &mut [L::I; VECTORS],
    ) {
        // SAFETY: i < MR; the rest is laid out as packing says. A packed product with its exponent raised lies below
        // 2^(F + 2), F being at most 25.
        unsafe {
            let (a, b) = (self.row(i), self.columns());
            let mut p = first;
            while p < end {
                let x = L::splat(*a.add(p));
                for v in 0..VECTORS {
                    let y = L::load(b.add((p * VECTORS + v) * L::COUNT));
                    let product = L::bits(L::mul(x, y));
                    let aligned = L::from_bits(L::add_i(product, s[v]));
                    sums[v] = L::add_i(sums[v], L::to_int_small(aligned));
                }
                *sums = L::pin(*sums);
                p += step;
            }
        }
    }
}

/// The products of one row of a block, however they are packed.
trait Products<L: Lanes> {
    /// Adds the products of elements `first` to `end` - 1, aligned by the exponents `s`, to `sums`.
    unsafe fn add(&self, first: usize, end: usize, s: [L::I; VECTORS], sums: &mut [L::I; VECTORS]);
}

/// Row `i` of a block, packed with bytes.
struct Scaled<const N: usize> {
    block: Block<N>,
    i: usize,
}

impl<L: Lanes, const N: usize> Products<L> for Scaled<N> {
    #[inline(always)]
    unsafe fn add(&self, first: usize, end: usize, s: [L::I; VECTORS], sums: &mut [L::I; VECTORS]) {
        // SAFETY: the block has the row.
        unsafe {
            self.block
                .add_products::<L>(self.i, (first, end, 1), s, sums)
        }
    }
}

/// u of a row as exponent fields, vector by vector.
#[inline(always)]
unsafe fn fields<L: Lanes>(u: L::I) -> [L::I; VECTORS] {
    // SAFETY: the caller is compiled for the level.
    unsafe {
        [
            byte_to_exponent::<L, 0>(u),
            byte_to_exponent::<L, 1>(u),
            byte_to_exponent::<L, 2>(u),
            byte_to_exponent::<L, 3>(u),
        ]
    }
}

/// u of the rows of a tile in one block.
#[repr(align(64))]
struct Exponents([i32; 16 * MR]);

impl Exponents {
    const fn new() -> Self {
        Exponents([0; 16 * MR])
    }
}

/// How one row of a block is computed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// By vectors.
    Fast,
    /// By vectors, then some lanes again: zero products only, or an exponent below [`LOWEST`].
    Mixed,
    /// By vectors, for wide exponents.
    Wide,
    /// By the scalar code.
    Slow,
}

/// First pass over a block: all rows' u, and their ways, two bits each.
#[inline(always)]
unsafe fn first_pass<L: Lanes, const N: usize, const GROUPS: usize>(
    block: Block<N>,
    rows: usize,
    u: &mut [Exponents; GROUPS],
) -> [Way; MR] {
    // SAFETY: rows <= MR; the block is packed.
    unsafe {
        let mut ways = [Way::Fast; MR];
        let columns = block.columns_head::<L>();
        for (i, way) in ways.iter_mut().enumerate().take(rows) {
            let head = block.row_head(i);
            let base = head.base + columns.base;
            let kind = head.kind.max(columns.kind);
            if kind != SCALED || !(LOWEST_BASE..=HIGHEST_BASE).contains(&base) {
                let wide = kind != ANY && GROUPS == 1 && head.base <= wide::TOP_OF_A;
                *way = if wide { Way::Wide } else { Way::Slow };
                continue;
            }
            let mut all = L::splat_i(ZERO_BLOCK * 0x0101_0101);
            for (group, u) in u.iter_mut().enumerate() {
                let least = block.exponents::<L>(i, group, GROUPS);
                L::store_i(u.0.as_mut_ptr().add(i * L::COUNT), least);
                all = L::min_bytes(all, least);
            }
            let limit = (TOP + base - LOWEST).min(ZERO_BLOCK - 1);
            if L::any_byte_greater(all, L::splat_i(limit * 0x0101_0101)) {
                *way = Way::Mixed;
            }
        }
        ways
    }
}

/// What every aligning kernel keeps.
struct Common {
    scalar: Scalar,
    /// F.
    bits: i32,
    /// Biased binary32 exponents of the factors' subnormal numbers.
    min_field_a: u32,
    min_field_b: u32,
}

impl Common {
    fn new(model: &Model) -> Common {
        let field = |format: Format| (127 + format.info().min_exponent()) as u32;
        let Params { alignment_bits, .. } = *model.params();
        Common {
            scalar: Scalar::new(model),
            bits: alignment_bits as i32,
            min_field_a: field(model.a()),
            min_field_b: field(model.b()),
        }
    }

    /// Computes elements of row i by the scalar way: those whose bits are set in `lanes`.
    #[cold]
    #[inline(never)]
    unsafe fn scalar_lanes<L: Lanes, const N: usize>(
        &self,
        tile: &Tile,
        kb: usize,
        i: usize,
        lanes: impl Fn(usize) -> bool,
    ) {
        // SAFETY: the tile has the block and the row.
        unsafe {
            let block = Block::<N>::new::<L>(tile, kb);
            let columns = Layout::<N>::columns::<L>();
            let (row, head) = (block.row(i), block.row_head(i));
            let (b, b_head) = (block.columns(), block.columns_head::<L>());
            let back = |x: f32, power: i32, kind: i32| {
                // Two steps: a scale and its inverse are normal numbers, whichever of them the power is.
                if kind != SCALED {
                    x
                } else {
                    scalar::times_power_of_two(x, power)
                }
            };
            let a: [f32; N] =
                std::array::from_fn(|p| back(*row.add(p), head.base + TOP - self.bits, head.kind));
            let is_last = tile.last && kb + 1 == tile.blocks;
            for j in (0..tile.cols).filter(|&j| lanes(j)) {
                let b: [f32; N] = std::array::from_fn(|p| {
                    back(*b.add(p * columns + j), b_head.base, b_head.kind)
                });
                let c = tile.c.cast::<f32>().add(i * columns + j);
                let d = self.scalar.block(&a, &b, *c);
                // Between blocks a zero has no sign.
                *c = if is_last { d } else { d + 0.0 };
            }
        }
    }

    /// What a row of wide exponents needs beyond the vectors: the scalar way for the columns in `out`.
    #[cold]
    #[inline(never)]
    unsafe fn wide_lanes<L: Lanes, const N: usize>(
        &self,
        tile: &Tile,
        (kb, i): (usize, usize),
        out: u64,
        c: &[f32],
    ) {
        // SAFETY: the tile has the block and the row; `c` holds the row as it was before the block.
        unsafe {
            let is_out = |j: usize| out >> j & 1 != 0;
            let to = tile.c.cast::<f32>().add(i * Layout::<N>::columns::<L>());
            for (j, &c) in c
                .iter()
                .enumerate()
                .take(tile.cols)
                .filter(|&(j, _)| is_out(j))
            {
                *to.add(j) = c;
            }
            self.scalar_lanes::<L, N>(tile, kb, i, is_out);
        }
    }

    /// What a row needs beyond the vectors: zero products leave `c` as `keep` makes it, low exponents go the scalar way.
    #[cold]
    #[inline(never)]
    unsafe fn mixed_lanes<L: Lanes, const N: usize>(
        &self,
        tile: &Tile,
        kb: usize,
        i: usize,
        c: &[f32],
        keep: impl Fn(f32) -> f32,
    ) {
        // SAFETY: the tile has the block and the row; `c` holds the row as it was before the block.
        unsafe {
            let block = Block::<N>::new::<L>(tile, kb);
            let base = block.row_head(i).base + block.columns_head::<L>().base;
            let limit = TOP + base - LOWEST;
            let mut words = [0i32; 16];
            L::store_i(words.as_mut_ptr(), block.exponents::<L>(i, 0, 1));
            let u = |j: usize| i32::from(words[j % L::COUNT].to_le_bytes()[j / L::COUNT]);
            let columns = Layout::<N>::columns::<L>();
            for (j, &c) in c.iter().enumerate().take(tile.cols) {
                let d = tile.c.cast::<f32>().add(i * columns + j);
                if u(j) == ZERO_BLOCK {
                    *d = keep(c);
                } else if u(j) > limit {
                    *d = c;
                    self.scalar_lanes::<L, N>(tile, kb, i, |lane| lane == j);
                }
            }
        }
    }
}
