//! fl(c + fl(fl(p1 + p2) + fl(p3 + p4))) with subnormal numbers flushed (CDNA 2).
//!
//! Why host arithmetic gives the unit's results bit for bit:
//!
//! - Subnormal inputs and a subnormal c become +0 before anything else: inputs when they are loaded, c when a tile
//!   begins. (Results are flushed, so c is not subnormal between steps of K.)
//! - binary16: a product of two normal numbers lies between 2^-28 and 2^32 and is exact in binary32, so that
//!   fl(p1 + p2) is fma(a1, b1, a2 * b2). Sums of such products are multiples of 2^-48 and c is zero or normal, so
//!   nothing subnormal can arise and nothing needs a flush: if s is not zero, c + s is zero or far above 2^-126.
//! - bfloat16: a product has 16 significant bits, and may overflow or vanish, so it is rounded by itself. The unit
//!   rounds to binary32's subnormal numbers and flushes what is subnormal; the host's flush mode flushes what is below
//!   2^-126 when rounded in an exponent range without end (x86) or not at all (ARM). They differ only for magnitudes
//!   from 2^-126 - 2^-150 to 2^-126, which take 24 significant bits: no product has them. Sums of binary32 numbers are
//!   multiples of 2^-149, so a sum below 2^-126 is exact, and rounding cannot matter. Results that are flushed keep
//!   their sign.
//! - Zeros' signs, infinities and overflow are IEEE's, here as there. A zero product that fills up K is +0.

mod rounded;

use std::marker::PhantomData;

use super::doubles::Doubles;
use super::lanes::{Job, Lanes};
use super::{FpMode, Kernel, Shape, Tile};
use crate::format::Format;
use crate::model::Model;
use rounded::Rounded;

/// The kernel of a pairwise sum.
pub fn kernel<L: Doubles>(model: &Model) -> Option<Box<dyn Kernel>> {
    let exact = model.a() == Format::Fp16;
    match (model.params().fma, exact) {
        (4, true) => Some(Box::new(Pairwise::<L, 4, true>(PhantomData))),
        (4, false) => Some(Box::new(Pairwise::<L, 4, false>(PhantomData))),
        (2, true) => Some(Box::new(Pairwise::<L, 2, true>(PhantomData))),
        (2, false) => Some(Box::new(Pairwise::<L, 2, false>(PhantomData))),
        _ => None,
    }
}

/// Rows of a tile: the more there are, the fewer tiles have to be begun and ended, and the fewer times a block of B is
/// loaded; A's panel over KC, which is as large as B's then, still fits into the first cache beside it.
const MR: usize = 16;
/// Rows that are written out in the loop over a tile's rows. Rows past the last one are computed, too, as far as they are
/// in the same group.
const GROUP: usize = 4;
const _: () = assert!(MR.is_multiple_of(GROUP));
/// Vectors in a row of a tile.
const VECTORS: usize = 2;
/// Bytes of B that stay in the first cache while all rows of a tile pass, if the engine's KC has more.
const CACHED: usize = 16 << 10;

/// Blocks of N products; EXACT says that products are exact in binary32.
struct Pairwise<L, const N: usize, const EXACT: bool>(PhantomData<L>);

impl<L: Doubles, const N: usize, const EXACT: bool> Pairwise<L, N, EXACT> {
    const NR: usize = VECTORS * L::COUNT;
}

// SAFETY: packing and tiles touch what the shape describes.
unsafe impl<L: Doubles, const N: usize, const EXACT: bool> Kernel for Pairwise<L, N, EXACT> {
    fn shape(&self) -> Shape {
        Shape {
            mr: MR,
            nr: Self::NR,
            block: N,
            double: false,
            a_block_bytes: MR * N * 4,
            b_block_bytes: Self::NR * N * 4,
            mode: if EXACT || !L::FLUSH_BY_MODE {
                FpMode::Nearest
            } else {
                FpMode::NearestFlush
            },
        }
    }

    unsafe fn tile(&self, tile: &Tile) {
        // SAFETY: promised by the caller.
        unsafe { L::dispatch(TileJob::<L, N, EXACT>(tile, PhantomData)) }
    }
}

/// Numbers, subnormal ones as +0; zeros keep their signs.
#[inline(always)]
pub(super) unsafe fn flushed<L: Doubles>(x: L::I, min_normal: f32) -> L::I {
    // SAFETY: the caller is compiled for the level.
    unsafe {
        let magnitude = L::and(x, L::splat_i(0x7fff_ffff));
        let below = L::greater(L::splat_i(min_normal.to_bits() as i32), magnitude);
        let zero = L::splat_i(0);
        let flushed = L::select(L::equal(magnitude, zero), x, zero);
        L::select(below, flushed, x)
    }
}

/// fl(fl(p1 + p2) + fl(p3 + p4)), or fl(p1 + p2), of N factors each.
#[inline(always)]
pub(super) unsafe fn sum_of_products<L: Doubles, const N: usize, const EXACT: bool>(
    a: [L::F; N],
    b: [L::F; N],
) -> L::F {
    // SAFETY: the caller is compiled for the level.
    unsafe {
        let pair = |i: usize| pair_of_products::<L, EXACT>([a[i], a[i + 1]], [b[i], b[i + 1]]);
        if N == 2 {
            return pair(0);
        }
        add_to_c::<L, EXACT>(pair(0), pair(2))
    }
}

/// fl(p1 + p2).
#[inline(always)]
unsafe fn pair_of_products<L: Doubles, const EXACT: bool>(a: [L::F; 2], b: [L::F; 2]) -> L::F {
    // SAFETY: the caller is compiled for the level.
    unsafe {
        if EXACT {
            return L::fused(a[0], b[0], L::mul(a[1], b[1]));
        }
        let first = L::flush(L::mul(a[0], b[0]));
        let second = L::flush(L::mul(a[1], b[1]));
        L::flush(L::add(first, second))
    }
}

/// fl(x + y), x being c or a sum of products, y a sum of products.
#[inline(always)]
pub(super) unsafe fn add_to_c<L: Doubles, const EXACT: bool>(x: L::F, y: L::F) -> L::F {
    // SAFETY: the caller is compiled for the level.
    unsafe {
        let sum = L::add(x, y);
        if EXACT { sum } else { L::flush(sum) }
    }
}

struct TileJob<'a, L, const N: usize, const EXACT: bool>(&'a Tile, PhantomData<L>);

impl<L: Doubles, const N: usize, const EXACT: bool> Job for TileJob<'_, L, N, EXACT> {
    #[inline(always)]
    unsafe fn run<M: Lanes>(self) {
        let tile = self.0;
        let nr = VECTORS * L::COUNT;
        let cached = CACHED / (nr * N * 4);
        // SAFETY: compiled for the level, which is L; the tile is as the engine describes it.
        unsafe {
            let c = tile.c.cast::<f32>();
            for at in (0..MR * nr).step_by(4 * L::COUNT) {
                let at = |v: usize| c.add(at + v * L::COUNT);
                let flushed = |v| flushed::<L>(L::load_i(at(v).cast()), f32::MIN_POSITIVE);
                // Unpinned, these would become masked stores, which are slow on AMD's processors.
                let flushed = L::pin([flushed(0), flushed(1), flushed(2), flushed(3)]);
                for (v, x) in flushed.into_iter().enumerate() {
                    L::store_i(at(v).cast(), x);
                }
            }
            let mut first = 0;
            while first < tile.blocks {
                let blocks = cached.min(tile.blocks - first);
                let a = tile.a.cast::<f32>().add(first * N * MR);
                let b = tile.b.cast::<f32>().add(first * N * nr);
                // Where products are exact, an FMA replaces a multiplication and an addition, and two stages do.
                match (N, EXACT) {
                    (4, false) => blocks_of::<L, 4, Rounded<L>>((blocks, tile.rows), a, b, c),
                    _ => blocks_of::<L, N, Due<L, N, EXACT>>((blocks, tile.rows), a, b, c),
                }
                first += blocks;
            }
        }
    }
}

/// Rows that have been multiplied, with what is left to do of them, which is done between the multiplications of the next
/// rows. The processor looks for work among the next few dozen operations: where many of those wait for a result, it finds
/// none, although there is some behind them.
///
/// All functions must be `#[inline(always)]`, as they are compiled for the level of their caller.
trait Pipeline<L: Lanes, const N: usize>: Sized {
    /// Nothing is due: zeros are, which are added to the numbers at `nowhere`, a row of a tile of which nothing is used.
    unsafe fn new(nowhere: *mut f32) -> Self;

    /// Multiplies one row of A with `columns`, which are what lies at `b`; its c is at `c`.
    unsafe fn row(
        self,
        a: *const f32,
        b: *const f32,
        columns: &[[L::F; N]; VECTORS],
        c: *mut f32,
    ) -> Self;

    /// Does what is due.
    unsafe fn finish(self);
}

/// A tile over some blocks. A block's columns of B stay in registers while the rows pass, and c comes from the first cache
/// and goes back there: with N = 4, a row of two vectors takes four loads of A and two of c, and two stores, for eight
/// multiplications, so that neither loads nor the latency of sums keep the multipliers waiting.
#[inline(always)]
unsafe fn blocks_of<L: Doubles, const N: usize, P: Pipeline<L, N>>(
    (blocks, rows): (usize, usize),
    mut a: *const f32,
    mut b: *const f32,
    c: *mut f32,
) {
    let nr = VECTORS * L::COUNT;
    // SAFETY: promised by the caller.
    unsafe {
        let mut nowhere = [L::splat(0.0); VECTORS];
        let mut pipeline = P::new(nowhere.as_mut_ptr().cast());
        for _ in 0..blocks {
            let mut columns = [[L::splat(0.0); N]; VECTORS];
            for (v, column) in columns.iter_mut().enumerate() {
                for (p, x) in column.iter_mut().enumerate() {
                    *x = L::load(b.add(p * nr + v * L::COUNT));
                }
            }
            let (mut row_a, mut row_c) = (a, c);
            for _ in 0..rows.div_ceil(GROUP) {
                for i in 0..GROUP {
                    pipeline = pipeline.row(row_a.add(i), b, &columns, row_c.add(i * nr));
                }
                row_a = row_a.add(GROUP);
                row_c = row_c.add(GROUP * nr);
            }
            a = a.add(N * MR);
            b = b.add(N * nr);
        }
        pipeline.finish();
    }
}

/// The sums of two products of the last row, N / 2 for each vector (there is room for N), and where its c lies.
struct Due<L: Lanes, const N: usize, const EXACT: bool> {
    pairs: [[L::F; N]; VECTORS],
    c: *mut f32,
}

impl<L: Doubles, const N: usize, const EXACT: bool> Due<L, N, EXACT> {
    /// The sums of all products.
    #[inline(always)]
    unsafe fn sums(&self) -> [L::F; VECTORS] {
        let mut sums = [self.pairs[0][0], self.pairs[1][0]];
        if N == 4 {
            for (sum, pairs) in sums.iter_mut().zip(&self.pairs) {
                // SAFETY: the caller is compiled for the level.
                *sum = unsafe { here::<L>(add_to_c::<L, EXACT>(pairs[0], pairs[1])) };
            }
        }
        sums
    }

    #[inline(always)]
    unsafe fn add_to_c(&self, sums: [L::F; VECTORS]) {
        for (v, sum) in sums.into_iter().enumerate() {
            // SAFETY: the row lies there.
            unsafe {
                let c = self.c.add(v * L::COUNT);
                L::store(c, add_to_c::<L, EXACT>(L::load(c), sum));
            }
        }
    }
}

// SAFETY (of every block): promised by the callers.
impl<L: Doubles, const N: usize, const EXACT: bool> Pipeline<L, N> for Due<L, N, EXACT> {
    #[inline(always)]
    unsafe fn new(nowhere: *mut f32) -> Self {
        Due {
            pairs: unsafe { [[L::splat(0.0); N]; VECTORS] },
            c: nowhere,
        }
    }

    #[inline(always)]
    unsafe fn row(
        self,
        a: *const f32,
        _: *const f32,
        columns: &[[L::F; N]; VECTORS],
        c: *mut f32,
    ) -> Self {
        unsafe {
            let mut pairs = [[L::splat(0.0); N]; VECTORS];
            for pair in 0..N / 2 {
                let second = L::splat(*a.add((2 * pair + 1) * MR));
                for (pairs, column) in pairs.iter_mut().zip(columns) {
                    pairs[pair] = here::<L>(L::mul(second, column[2 * pair + 1]));
                }
            }
            let sums = self.sums();
            for pair in 0..N / 2 {
                let first = L::splat(*a.add(2 * pair * MR));
                for (pairs, column) in pairs.iter_mut().zip(columns) {
                    let second = pairs[pair];
                    pairs[pair] = here::<L>(if EXACT {
                        L::fused(first, column[2 * pair], second)
                    } else {
                        let first = L::flush(L::mul(first, column[2 * pair]));
                        L::flush(L::add(first, L::flush(second)))
                    });
                }
            }
            self.add_to_c(sums);
            Due { pairs, c }
        }
    }

    #[inline(always)]
    unsafe fn finish(self) {
        unsafe { self.add_to_c(self.sums()) }
    }
}

/// The vector, computed here.
#[inline(always)]
unsafe fn here<L: Lanes>(x: L::F) -> L::F {
    // SAFETY: the caller is compiled for the level.
    unsafe { L::from_bits(L::compute_here(L::bits(x))) }
}
