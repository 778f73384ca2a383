//! Aligning units: products, cut to F bits below the largest exponent, added as integers.
//!
//! # How a block is computed
//!
//! Factors of at most 11 significant bits have exact products in binary32. Let E be the exponent that a block is aligned
//! to. Then a product's share of the sum is p * 2^(F - E), cut toward zero to an integer, which takes four operations for a
//! whole vector: multiply; multiply by a power of two; convert with truncation; add. Nothing is rounded on the way, so the
//! sum is exactly the unit's, as long as no product that counts overflows or loses bits. Packing sees to that:
//!
//! * Every row of A and every NR columns of B have, in every block, a base: the largest exponent among them, or
//!   [`LOWEST_BASE`] if that is larger. A is packed as a * 2^([`UP_A`] - base), B as b * 2^(F + [`UP_B`] - base), so that a
//!   product becomes p * 2^(F + 99 - base), base being both bases' sum; it lies below 2^126.
//! * Beside each number lies a byte, 14 + base - e, where e is the exponent that the unit sees (a subnormal number has its
//!   format's smallest). The sum of two bytes is u = 28 + base - (exponent of the product); the least u of the block
//!   belongs to the largest exponent. The power of two with the exponent field u, times the packed product, is
//!   p * 2^(F - E).
//! * Bytes saturate at 255, which also stands for a zero factor; their sums saturate too, and u is at most 254. Products
//!   that count in a block with u <= 253 are at least 2^(E - F), that is, packed, 2^-126: normal numbers, therefore exact.
//!   Others may lose bits, become subnormal or zero; times 2^(u - 127) all of them stay below 1 and are cut to nothing.
//! * A row (or columns of B) whose exponents span 198 binades or less in a block ([`SPAN`]) is packed exactly. Others, and those
//!   that hold an infinity or a NaN, are packed as they are for [`Scalar`].
//! * u is 28 or more, and less if c's exponent joins (`early`): 28 binades above the base all products are cut to nothing.
//!
//! Subnormal results cost many processors dearly, so vectors compute in a mode that may flush them: those that occur are
//! cut to nothing later. Scalar code runs in the usual mode.
//!
//! Vectors then do every row. Lanes go the scalar way afterwards where E lies below [`LOWEST`] (so that results are normal
//! numbers and every multiplication with a power of two is exact), where a product may reach 2^128 or more, or where u passes
//! 253; a c that is large enough makes up for low products, for then their sum does not matter (`early` and `late`).
//! Rows with exponents that high or low are told from the others by their bases and bytes, once for a whole row; only
//! blocks with such rows are computed with these checks ([`Ways`]).

mod dots;
pub mod early;
pub mod late;
mod pack;
mod scalar;

use super::lanes::{Lanes, byte_to_exponent};
use super::{DotKernel, FpMode, FpModeGuard, Kernel, Tile};
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
/// Largest exponent of the products of a block that vectors compute: products lie below 2^128.
const HIGHEST: i32 = 126;
/// From this base on, results may overflow.
const HIGH_BASE: i32 = 91;
/// Smallest base of a row of A or of the columns of B.
const LOWEST_BASE: i32 = -62;
/// What a byte holds for the largest exponent, and for a zero.
const TOP_BYTE: i32 = 14;
const ZERO_BYTE: i32 = 255;
/// Largest spread of exponents packed together, less that of the largest packed number: the last of 11 bits is 2^-149 or
/// more. That is 198 binades for A, 202 to 204 for B (192 where F is 13, as for 8-bit numbers).
const SPAN: i32 = 149 - 10;
/// Exponents of the largest packed numbers; F comes on top for B, more of whose numbers share a base: they must become
/// subnormal less often, for as factors those cost time.
const UP_A: i32 = 59;
const UP_B: i32 = 40;
/// u of a block of zero products, and the largest of another that vectors compute.
const ZERO_BLOCK: i32 = 254;
const LARGEST_U: i32 = 253;
/// u of a product with exponent `base`.
const TOP: i32 = 2 * TOP_BYTE;

/// Scaled, with their exponents in bytes.
const SCALED: i32 = 0;
/// As they are, for the scalar way.
const ANY: i32 = 1;

/// A byte in all four places of a word.
const fn in_every_byte(byte: i32) -> i32 {
    byte.wrapping_mul(0x0101_0101)
}

/// What lies beside a row of A (or the columns of B) in a block.
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
    /// Where the exponents of A begin: numbers and exponents of its rows lie side by side, MR for each element of K.
    const A_EXPONENTS: usize = 4 * N * MR;
    /// Where the bases of A's rows begin, and then their kinds.
    const A_BASES: usize = 2 * Self::A_EXPONENTS;
    const A_KINDS: usize = Self::A_BASES + 4 * MR;
    const A_BLOCK: usize = Self::A_KINDS + 4 * MR;

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

    /// Row i: its elements lie MR numbers apart.
    #[inline(always)]
    unsafe fn row(&self, i: usize) -> *const f32 {
        // SAFETY: i < MR.
        unsafe { self.a.cast::<f32>().add(i) }
    }

    #[inline(always)]
    unsafe fn row_head(&self, i: usize) -> Head {
        // SAFETY: i < MR.
        unsafe {
            let at = |offset: usize| self.a.add(offset).cast::<i32>().add(i).read();
            Head {
                base: at(Layout::<N>::A_BASES),
                kind: at(Layout::<N>::A_KINDS),
            }
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
        unsafe {
            let head = self.b.add(Layout::<N>::b_head::<L>()).cast::<i32>();
            Head {
                base: head.read(),
                kind: head.add(1).read(),
            }
        }
    }

    /// u of row i against all columns, four to a lane; only elements `first`, `first + step`, ...
    #[inline(always)]
    unsafe fn exponents<L: Lanes>(&self, i: usize, first: usize, step: usize) -> L::I {
        // SAFETY: i < MR; the rest is laid out as packing says.
        unsafe {
            let a = self.a.add(Layout::<N>::A_EXPONENTS).cast::<i32>().add(i);
            let b = self.b.add(Layout::<N>::b_exponents::<L>()).cast::<i32>();
            let mut least = L::splat_i(in_every_byte(ZERO_BLOCK));
            let mut p = first;
            while p < N {
                let sum = L::add_bytes(L::splat_i(*a.add(p * MR)), L::load_i(b.add(p * L::COUNT)));
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
        // SAFETY: i < MR; the rest is laid out as packing says. A packed product times its power of two lies below
        // 2^(F + 2), F being at most 25.
        unsafe {
            let (a, b) = (self.row(i), self.columns());
            let mut p = first;
            while p < end {
                let x = L::splat(*a.add(p * MR));
                for v in 0..VECTORS {
                    let y = L::load(b.add((p * VECTORS + v) * L::COUNT));
                    let aligned = L::mul(L::mul(x, y), L::from_bits(s[v]));
                    sums[v] = L::add_i(sums[v], L::to_int_small(aligned));
                }
                *sums = L::pin(*sums);
                p += step;
            }
        }
    }
}

/// The products of V vectors of results, for one block, however they are packed.
trait Products<L: Lanes, const V: usize> {
    /// Adds the products of elements `first` to `end` - 1, aligned by the exponents `s`, to `sums`.
    unsafe fn add(&self, first: usize, end: usize, s: [L::I; V], sums: &mut [L::I; V]);
}

/// Row `i` of a block, packed with bytes.
struct Scaled<const N: usize> {
    block: Block<N>,
    i: usize,
}

impl<L: Lanes, const N: usize> Products<L, VECTORS> for Scaled<N> {
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

/// How the rows of a block are computed. A bit stands for a row.
struct Ways {
    /// Rows that only the scalar code can compute. Vectors compute the others.
    slow: u32,
    /// Rows some of whose products may be too large.
    over: u32,
    /// Can no result overflow, and is no lane so low that it may have to be computed again? Asked for all rows together:
    /// where the answer often changes from row to row, branches would cost more than the checks.
    plain: bool,
}

impl Ways {
    fn is_slow(&self, i: usize) -> bool {
        self.slow >> i & 1 != 0
    }

    fn is_over(&self, i: usize) -> bool {
        self.over >> i & 1 != 0
    }
}

/// Largest u of the lanes that vectors compute, whatever their c.
#[inline(always)]
fn largest_u(base: i32) -> i32 {
    (TOP + base - LOWEST).clamp(0, LARGEST_U)
}

/// Lanes of V vectors that matter: all ones in them.
struct Live<L: Lanes, const V: usize>([L::I; V]);

impl<L: Lanes, const V: usize> Live<L, V> {
    /// The first `count`, at most 64.
    #[inline(always)]
    unsafe fn new(count: usize) -> Self {
        static LANES: [i32; 128] = {
            let mut lanes = [0; 128];
            let mut i = 0;
            while i < 64 {
                lanes[i] = -1;
                i += 1;
            }
            lanes
        };
        let from = LANES[64 - count.min(64)..].as_ptr();
        // SAFETY: the caller is compiled for the level, whose four vectors have at most 64 lanes.
        unsafe {
            let mut live = [L::splat_i(0); V];
            for (v, live) in live.iter_mut().enumerate() {
                *live = L::load_i(from.add(v * L::COUNT));
            }
            Live(live)
        }
    }
}

impl<L: Lanes> Live<L, VECTORS> {
    /// All ones in the bytes that belong to the lanes.
    #[inline(always)]
    unsafe fn bytes(&self) -> L::I {
        let Live([a, b, c, d]) = *self;
        let byte = |lanes: L::I, v: u32| unsafe { L::and(lanes, L::splat_i(0xff << (8 * v))) };
        // SAFETY: the caller is compiled for the level.
        unsafe { L::or(L::or(byte(a, 0), byte(b, 1)), L::or(byte(c, 2), byte(d, 3))) }
    }
}

/// First pass over a block: all rows' u, and their ways.
#[inline(always)]
unsafe fn first_pass<L: Lanes, const N: usize, const GROUPS: usize>(
    block: Block<N>,
    rows: usize,
    live: &Live<L, VECTORS>,
    u: &mut [Exponents; GROUPS],
) -> Ways {
    // SAFETY: rows <= MR; the block is packed.
    unsafe {
        let mut ways = Ways {
            slow: 0,
            over: 0,
            plain: true,
        };
        let columns = block.columns_head::<L>();
        let live = live.bytes();
        for i in 0..rows {
            let head = block.row_head(i);
            if head.kind.max(columns.kind) != SCALED {
                ways.slow |= 1 << i;
                continue;
            }
            let mut all = L::splat_i(in_every_byte(ZERO_BLOCK));
            for (group, u) in u.iter_mut().enumerate() {
                let least = block.exponents::<L>(i, group, GROUPS);
                L::store_i(u.0.as_mut_ptr().add(i * L::COUNT), least);
                all = L::min_bytes(all, least);
            }
            let base = head.base + columns.base;
            let largest = L::splat_i(in_every_byte(largest_u(base)));
            let low = L::any_byte_greater(L::and(all, live), largest);
            ways.plain &= !low & (base < HIGH_BASE);
            if base >= HIGH_BASE {
                let smallest = L::splat_i(in_every_byte(smallest_u(base)));
                ways.over |= u32::from(L::any_byte_greater(smallest, all)) << i;
            }
        }
        ways
    }
}

/// Smallest u of the lanes that vectors compute.
#[inline(always)]
fn smallest_u(base: i32) -> i32 {
    (TOP + base - HIGHEST).max(0)
}

/// Zeros lose their signs.
#[inline(always)]
unsafe fn without_sign<L: Lanes>(x: L::F) -> L::F {
    // SAFETY: the caller is compiled for the level.
    unsafe {
        let zero = L::splat_i(0);
        let is_zero = L::equal(L::shl::<1>(L::bits(x)), zero);
        L::from_bits(L::select(is_zero, zero, L::bits(x)))
    }
}

/// Runs scalar code in the usual mode. A function of its own, in which `work` is another one, so that no operation moves
/// across the change.
#[inline(never)]
fn in_usual_mode<T>(work: impl FnOnce() -> T) -> T {
    #[inline(never)]
    fn separate<T>(work: impl FnOnce() -> T) -> T {
        std::hint::black_box(work())
    }
    let _mode = FpModeGuard::enter(FpMode::Nearest);
    separate(work)
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

    /// A lane of a block by the scalar way.
    unsafe fn scalar_lane<L: Lanes, const N: usize>(
        &self,
        block: Block<N>,
        i: usize,
        j: usize,
        c: f32,
    ) -> f32 {
        // SAFETY: the block has the row and the column.
        unsafe {
            let columns = Layout::<N>::columns::<L>();
            let (row, head) = (block.row(i), block.row_head(i));
            let (b, b_head) = (block.columns(), block.columns_head::<L>());
            let back = |x: f32, head: Head, up: i32| {
                if head.kind == SCALED {
                    scalar::times_power_of_two(x, head.base - up)
                } else {
                    x
                }
            };
            let a: [f32; N] = std::array::from_fn(|p| back(*row.add(p * MR), head, UP_A));
            let up = self.bits + UP_B;
            let b: [f32; N] = std::array::from_fn(|p| back(*b.add(p * columns + j), b_head, up));
            self.scalar.block(&a, &b, c)
        }
    }

    /// All of row i by the scalar way.
    #[cold]
    #[inline(never)]
    unsafe fn scalar_row<L: Lanes, const N: usize>(&self, tile: &Tile, kb: usize, i: usize) {
        // SAFETY: the tile has the block and the row.
        unsafe {
            let block = Block::<N>::new::<L>(tile, kb);
            let is_last = tile.last && kb + 1 == tile.blocks;
            for j in 0..tile.cols {
                let c = tile
                    .c
                    .cast::<f32>()
                    .add(i * Layout::<N>::columns::<L>() + j);
                let before = *c;
                // Between blocks a zero has no sign.
                *c = in_usual_mode(|| {
                    let d = self.scalar_lane::<L, N>(block, i, j, before);
                    if is_last { d } else { d + 0.0 }
                });
            }
        }
    }

    /// What a row needs beyond the vectors: `before` is its c before the block. Zero products leave c as `keep` makes it,
    /// lanes out of the vectors' range go the scalar way. `far` says how far c's exponent must lie above [`LOWEST`] (or
    /// the exponent that goes with [`LARGEST_U`]) for low products not to matter.
    #[cold]
    #[inline(never)]
    unsafe fn repair<L: Lanes, const N: usize>(
        &self,
        tile: &Tile,
        (kb, i): (usize, usize),
        u: [&Exponents; 2],
        before: &[f32; 64],
        far: i32,
        keep: impl Fn(f32) -> f32,
    ) {
        // SAFETY: the tile has the block and the row.
        unsafe {
            let block = Block::<N>::new::<L>(tile, kb);
            let base = block.row_head(i).base + block.columns_head::<L>().base;
            let columns = Layout::<N>::columns::<L>();
            let is_last = tile.last && kb + 1 == tile.blocks;
            let (smallest, largest) = (smallest_u(base), largest_u(base));
            let enough = (TOP + base - largest).max(LOWEST) + far;
            for (j, &c) in before.iter().enumerate().take(tile.cols) {
                let word = i * L::COUNT + j % L::COUNT;
                let byte = |u: &Exponents| i32::from(u.0[word].to_le_bytes()[j / L::COUNT]);
                let u = byte(u[0]).min(byte(u[1]));
                let d = tile.c.cast::<f32>().add(i * columns + j);
                let c_exponent = (c.to_bits() >> 23 & 0xff) as i32 - 127;
                let low = u > largest && c_exponent < enough;
                // Toward zero an overflow ends there, but so may a result that is just as large.
                let perhaps_overflowed = d.read().abs() == f32::MAX;
                if !low && u >= smallest && !perhaps_overflowed {
                    continue;
                }
                let is_zero = |p: usize| {
                    *block.row(i).add(p * MR) == 0.0 || *block.columns().add(p * columns + j) == 0.0
                };
                *d = if u == ZERO_BLOCK && (0..N).all(is_zero) {
                    in_usual_mode(|| keep(c))
                } else {
                    in_usual_mode(|| {
                        let d = self.scalar_lane::<L, N>(block, i, j, c);
                        if is_last { d } else { d + 0.0 }
                    })
                };
            }
        }
    }
}
