//! Aligning units: products, cut to F bits below the largest exponent, added as integers.
//!
//! # How a block is computed
//!
//! Factors of at most 11 significant bits have exact products in binary32. Let E be the exponent that a block is aligned
//! to. Then a product's share of the sum is p * 2^(F - E), cut toward zero to an integer, which takes four operations for a
//! whole vector: multiply; multiply by a power of two; convert with truncation; add. Nothing is rounded on the way, so the
//! sum is exactly the unit's, as long as no product that counts overflows or loses bits. Packing sees to that:
//!
//! * MR rows of A and every NR columns of B have, in every block, a base: the largest exponent among them, or
//!   [`LOWEST_BASE`] if that is larger. A is packed as a * 2^([`UP_A`] - base), B as b * 2^([`UP_B`] - base), so that a
//!   product becomes p * 2^(125 - base), base being both bases' sum; it lies below 2^127.
//! * Beside each number lies a byte that says how far its exponent, as the unit sees it (a subnormal number has its format's
//!   smallest), lies below the base. The sum of two bytes is u = F + 2 + base - (exponent of the product); the least u of the
//!   block belongs to the largest exponent. The power of two with the exponent field u, times the packed product, is
//!   p * 2^(F - E).
//! * Bytes saturate at 255, which also stands for a zero factor; their sums saturate too, and u is at most 254. Products
//!   that count in a block with u <= 253 are at least 2^(E - F), that is, packed, 2^-126: normal numbers, therefore exact.
//!   Others may lose bits, become subnormal or zero; times 2^(u - 127) all of them stay below 1 and are cut to nothing.
//! * A row of A whose exponents lie too far below the base to be packed exactly ([`SPAN`]) has a base of its own. If that does
//!   not help, and where there is an infinity or a NaN, it is packed as it is, for [`Scalar`]; so are columns of B.
//! * u is F + 2 or more, and less if c's exponent joins (`early`): F + 2 binades above the base all products are cut to nothing.
//!
//! Subnormal results cost many processors dearly, so vectors compute in a mode that may flush them: those that occur are
//! cut to nothing later. Scalar code runs in the usual mode. Single subnormal factors cost time too, so A and B share what
//! range there is above them.
//!
//! Vectors do all rows of a block with a common base, in one of two versions ([`PLAIN`] and [`HIGH`], chosen for the block); a
//! row in which they meet something that they cannot do is left as it was, and so is a row with a base of its own. Such rows are
//! computed carefully: by vectors that look at every lane, after which lanes go the scalar way where E lies below [`LOWEST`] (so
//! that results are normal numbers and every multiplication with a power of two is exact), where a product may reach 2^128
//! or more, or where u passes 253; a c that is large enough makes up for low products, for then their sum does not
//! matter (`early` and `late`).

mod dots;
pub mod early;
pub mod interleaved;
pub mod late;
mod pack;
mod parked;
mod scalar;
mod tile;

use super::lanes::{Lanes, byte_to_exponent};
use super::{DotKernel, FpMode, FpModeGuard, Kernel, Tile, prefetch};
use crate::format::Format;
use crate::model::{Model, Params};
use scalar::Scalar;
use tile::Exponents;

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
/// Smallest base of a row of A or of the columns of B.
const LOWEST_BASE: i32 = -62;
/// What a byte of A holds for the largest exponent, and any byte for a zero.
const TOP_BYTE_A: i32 = 12;
const ZERO_BYTE: i32 = 255;
/// Largest spread of exponents packed together, less that of the largest packed number: the last of 11 bits is 2^-149 or
/// more. That is 201 binades for A and 202 for B.
const SPAN: i32 = 149 - 10;
/// Exponents of the largest packed numbers.
const UP_A: i32 = 62;
const UP_B: i32 = 63;
/// u of a block of zero products, and the largest of another that vectors compute.
const ZERO_BLOCK: i32 = 254;
const LARGEST_U: i32 = 253;

/// A number as an exponent field; a negative one in two's complement.
const fn field(x: i32) -> i32 {
    x.wrapping_mul(1 << 23)
}

/// Scaled, with their exponents in bytes; a row, for the base that most rows of the block have.
const SCALED: i32 = 0;
/// Likewise, but for a base of its own.
const ALONE: i32 = 1;
/// As they are, for the scalar way.
const ANY: i32 = 2;

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

/// What lies beside all rows of a block together, or beside its columns.
#[derive(Clone, Copy)]
struct BlockHead {
    /// The base that most rows have, or the columns'.
    base: i32,
    /// The largest kind.
    kind: i32,
    /// The largest byte beside a number that is not zero; -1 if all are zero.
    reach: i32,
}

impl BlockHead {
    /// The one that lies there.
    #[inline(always)]
    unsafe fn read(at: *const u8) -> BlockHead {
        // SAFETY: promised by the caller.
        unsafe { at.cast::<BlockHead>().read() }
    }

    /// # Safety
    /// There must be room.
    #[inline(always)]
    unsafe fn write(self, to: *mut u8) {
        // SAFETY: promised by the caller.
        unsafe { to.cast::<BlockHead>().write(self) };
    }
}

/// Where things lie in packed blocks of N elements for a level's vectors.
struct Layout<const N: usize>;

impl<const N: usize> Layout<N> {
    /// Where the exponents of A begin: numbers and exponents of its rows lie side by side, MR for each element of K.
    const A_EXPONENTS: usize = 4 * N * MR;
    /// Where the bases of A's rows begin, then their kinds, then the head of them all.
    const A_BASES: usize = 2 * Self::A_EXPONENTS;
    const A_KINDS: usize = Self::A_BASES + 4 * MR;
    const A_HEAD: usize = Self::A_KINDS + 4 * MR;
    const A_BLOCK: usize = Self::A_HEAD + 64;

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

    /// Asks for the block that follows: the rows of this one leave time for it to come.
    #[inline(always)]
    fn prefetch_next<L: Lanes>(&self) {
        let panels = [
            (self.a, Layout::<N>::A_BLOCK),
            (self.b, Layout::<N>::b_block::<L>()),
        ];
        for (block, bytes) in panels {
            for at in (bytes..2 * bytes).step_by(64) {
                prefetch(block.wrapping_add(at));
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

    #[inline(always)]
    unsafe fn rows_head(&self) -> BlockHead {
        // SAFETY: the head lies in the block.
        unsafe { BlockHead::read(self.a.add(Layout::<N>::A_HEAD)) }
    }

    /// The sum of row i's and the columns' bases.
    #[inline(always)]
    unsafe fn base<L: Lanes>(&self, i: usize) -> i32 {
        // SAFETY: i < MR.
        unsafe { self.row_head(i).base + self.columns_head::<L>().base }
    }

    /// The same of most rows.
    #[inline(always)]
    unsafe fn common_base<L: Lanes>(&self) -> i32 {
        // SAFETY: the heads lie in the block.
        unsafe { self.rows_head().base + self.columns_head::<L>().base }
    }

    #[inline(always)]
    unsafe fn columns(&self) -> *const f32 {
        self.b.cast()
    }

    #[inline(always)]
    unsafe fn columns_head<L: Lanes>(&self) -> BlockHead {
        // SAFETY: the head lies in the block.
        unsafe { BlockHead::read(self.b.add(Layout::<N>::b_head::<L>())) }
    }

    /// u of rows i to i + 3 against all columns, four to a lane; only elements `first`, `first + step`, ... Several rows
    /// together, for the columns' exponents are loaded once.
    #[inline(always)]
    unsafe fn exponents<L: Lanes>(&self, i: usize, first: usize, step: usize) -> [L::I; 4] {
        // SAFETY: i + 3 < MR; the rest is laid out as packing says.
        unsafe {
            let a = self.a.add(Layout::<N>::A_EXPONENTS).cast::<i32>().add(i);
            let b = self.b.add(Layout::<N>::b_exponents::<L>()).cast::<i32>();
            let mut least = [L::splat_i(in_every_byte(ZERO_BLOCK)); 4];
            let mut p = first;
            while p < N {
                let b = L::load_i(b.add(p * L::COUNT));
                for (r, least) in least.iter_mut().enumerate() {
                    let sum = L::add_bytes(L::splat_i(*a.add(p * MR + r)), b);
                    *least = L::min_bytes(*least, sum);
                }
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

/// How closely a row is looked at.
///
/// With [`PLAIN`] and [`HIGH`] the base is that of most rows, and the row is left as it was, to be computed again, where a
/// lane may lie out of the vectors' range.
///
/// Here c is finite and results cannot overflow. Exponents are counted down as signed numbers.
const PLAIN: u8 = 0;
/// Results may overflow: they are looked at before the next block, or in it, as its c. Exponents are counted down as unsigned
/// numbers, for no c lies so far above the products that they would end below zero. No product overflows.
const HIGH: u8 = 1;
/// Every lane is looked at by itself, and whatever c is.
const CAREFUL: u8 = 2;

/// Lanes of V vectors that matter: all ones in them.
struct Live<L: Lanes, const V: usize>([L::I; V]);

impl<L: Lanes, const V: usize> Live<L, V> {
    /// No lane.
    #[inline(always)]
    unsafe fn none() -> Self {
        // SAFETY: the caller is compiled for the level.
        unsafe { Live([L::splat_i(0); V]) }
    }

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

/// What is left of a number with these bits. A NaN must be quiet to stay one.
fn only(x: f32, kept: i32) -> f32 {
    f32::from_bits(x.to_bits() & kept as u32)
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
    /// What exponents are counted down from, less the base: u of a product with exponent `base`.
    top: i32,
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
            top: 127 + alignment_bits as i32 - UP_A - UP_B,
            min_field_a: field(model.a()),
            min_field_b: field(model.b()),
        }
    }

    /// Largest u of the lanes that vectors compute, whatever their c.
    #[inline(always)]
    fn largest_u(&self, base: i32) -> i32 {
        (self.top + base - LOWEST).clamp(0, LARGEST_U)
    }

    /// Smallest u of the lanes that vectors compute.
    #[inline(always)]
    fn smallest_u(&self, base: i32) -> i32 {
        (self.top + base - HIGHEST).max(0)
    }
}

/// A row of a block, to be computed lane by lane.
struct SingleRow<'a, const N: usize> {
    common: &'a Common,
    block: Block<N>,
    i: usize,
    /// Results.
    d: *mut f32,
    /// Is this the end of K? Elsewhere a zero has no sign.
    is_last: bool,
}

impl<const N: usize> SingleRow<'_, N> {
    /// Lane j by the scalar way.
    unsafe fn lane<L: Lanes>(&self, j: usize, c: f32) -> f32 {
        // SAFETY: the block has the row and the column.
        unsafe {
            let columns = Layout::<N>::columns::<L>();
            let (row, head) = (self.block.row(self.i), self.block.row_head(self.i));
            let (b, b_head) = (self.block.columns(), self.block.columns_head::<L>());
            let back = |x: f32, (base, kind): (i32, i32), up: i32| {
                if kind != ANY {
                    scalar::times_power_of_two(x, base - up)
                } else {
                    x
                }
            };
            let (head, b_head) = ((head.base, head.kind), (b_head.base, b_head.kind));
            let a: [f32; N] = std::array::from_fn(|p| back(*row.add(p * MR), head, UP_A));
            let b: [f32; N] = std::array::from_fn(|p| back(*b.add(p * columns + j), b_head, UP_B));
            let d = self.common.scalar.block(&a, &b, c);
            if self.is_last { d } else { d + 0.0 }
        }
    }

    /// The first `columns` lanes by the scalar way, in place.
    unsafe fn compute<L: Lanes>(&self, columns: usize) {
        in_usual_mode(|| {
            for j in 0..columns {
                // SAFETY: the row has the lanes.
                unsafe {
                    let d = self.d.add(j);
                    *d = self.lane::<L>(j, *d);
                }
            }
        });
    }

    /// What a row needs beyond the vectors: `before` is its c before the block. Zero products leave the bits `kept` of c,
    /// lanes out of the vectors' range go the scalar way. `far` says how far c's exponent must lie above [`LOWEST`] (or
    /// the exponent that goes with [`LARGEST_U`]) for low products not to matter.
    unsafe fn repair<L: Lanes>(&self, u: [&Exponents; 2], before: &[f32], far: i32, kept: i32) {
        let (block, i) = (self.block, self.i);
        let columns = Layout::<N>::columns::<L>();
        // SAFETY: the block has the row and the row its lanes.
        unsafe {
            let base = block.base::<L>(i);
            let common = self.common;
            let (smallest, largest) = (common.smallest_u(base), common.largest_u(base));
            let enough = (common.top + base - largest).max(LOWEST) + far;
            in_usual_mode(|| {
                for (j, &c) in before.iter().enumerate() {
                    let word = i * L::COUNT + j % L::COUNT;
                    let byte = |u: &Exponents| i32::from(u.0[word].to_le_bytes()[j / L::COUNT]);
                    let u = byte(u[0]).min(byte(u[1]));
                    let d = self.d.add(j);
                    let c_exponent = (c.to_bits() >> 23 & 0xff) as i32 - 127;
                    let low = u > largest && c_exponent < enough;
                    // Toward zero an overflow ends there, but so may a result that is just as large.
                    let perhaps_overflowed = d.read().abs() == only(f32::MAX, kept);
                    if !low && u >= smallest && !perhaps_overflowed {
                        continue;
                    }
                    let is_zero = |p: usize| {
                        let column = block.columns().add(p * columns + j);
                        *block.row(i).add(p * MR) == 0.0 || *column == 0.0
                    };
                    *d = if u == ZERO_BLOCK && (0..N).all(is_zero) {
                        only(c, kept) + 0.0
                    } else {
                        self.lane::<L>(j, c)
                    };
                }
            });
        }
    }
}
