//! Independent dot products on aligning units: a case a lane, for `mfma_dot_batch`.
//!
//! Every lane has factors and exponents of its own, so nothing is scaled when it is packed: a product p becomes p * 2^(F - E)
//! at once. That is exact where it counts, for E from [`LOWEST`] to [`HIGHEST`]: products that are not cut to nothing are at
//! least 2^(E - F), normal numbers. The rest is computed like a row of a tile whose base is 125, for which packing
//! would not scale anything. Other lanes, infinities and NaNs among them, take the scalar way.

use super::early::Early;
use super::late::{Addend, Late, add_groups, least};
use super::scalar::MOST;
use super::tile::Rows;
use super::{
    CAREFUL, Common, HIGHEST, LOWEST, Live, Products, UP_A, UP_B, VECTORS, ZERO_BLOCK,
    in_usual_mode, only, without_sign,
};
use crate::kernel::dots::{DotKernel, element};
use crate::kernel::lanes::{Job, Lanes};
use crate::kernel::{FpMode, Strip};

/// Twice the bias of exponent fields.
const BIAS: i32 = 254;
/// Mask of exponent fields.
const FIELD: i32 = 0x7f80_0000;

/// The factors of one block of as many cases as V vectors have lanes, for any V; or of one case for all lanes of one vector.
struct Cases<'a, const ONE: bool> {
    a: *const f32,
    b: *const f32,
    /// From one element of K to the next.
    stride: usize,
    common: &'a Common,
    /// How many of the cases matter.
    count: usize,
}

/// What the first look at a block's products finds.
#[derive(Clone, Copy)]
struct Look<L: Lanes, const V: usize> {
    /// Sums of both factors' exponent fields, the largest of those whose product is not zero.
    fields: [L::I; V],
    /// Magnitudes of the largest products, as integers.
    magnitudes: [L::I; V],
}

impl<const ONE: bool> Cases<'_, ONE> {
    /// 125: the base for which factors are not scaled.
    #[inline(always)]
    fn base(&self) -> i32 {
        UP_A + UP_B
    }

    /// A vector of factors.
    #[inline(always)]
    unsafe fn factors<L: Lanes>(&self, at: usize) -> (L::F, L::F) {
        // SAFETY: promised by the caller.
        unsafe {
            (
                element::<L, ONE>(self.a.add(at)),
                element::<L, ONE>(self.b.add(at)),
            )
        }
    }

    /// Exponents and magnitudes of elements `first`, `first + step`, ... below `end`.
    #[inline(always)]
    unsafe fn look<L: Lanes, const V: usize>(
        &self,
        (first, end, step): (usize, usize, usize),
    ) -> Look<L, V> {
        // SAFETY: the caller is compiled for the level; the block has the elements.
        unsafe {
            let zero = L::splat_i(0);
            let (mut fields, mut magnitudes) = ([zero; V], [zero; V]);
            let least_a = L::splat_i((self.common.min_field_a << 23) as i32);
            let least_b = L::splat_i((self.common.min_field_b << 23) as i32);
            for p in (first..end).step_by(step) {
                for v in 0..V {
                    let at = p * self.stride + v * L::COUNT;
                    let (a, b) = self.factors::<L>(at);
                    let magnitude = L::and(L::bits(L::mul(a, b)), L::splat_i(i32::MAX));
                    magnitudes[v] = L::max_i(magnitudes[v], magnitude);
                    let a = L::max_i(L::and(L::bits(a), L::splat_i(FIELD)), least_a);
                    let b = L::max_i(L::and(L::bits(b), L::splat_i(FIELD)), least_b);
                    let is_zero = L::equal(magnitude, zero);
                    let sum = L::select(is_zero, zero, L::add_i(a, b));
                    fields[v] = L::max_fields(fields[v], sum);
                }
            }
            Look { fields, magnitudes }
        }
    }

    /// Exponents counted down from base + F + 2, as exponent fields.
    #[inline(always)]
    unsafe fn counted_down<L: Lanes, const V: usize>(&self, look: Look<L, V>) -> [L::I; V] {
        // SAFETY: the caller is compiled for the level.
        unsafe {
            let top = L::splat_i((self.common.top + self.base() + BIAS) << 23);
            let none = L::splat_i(ZERO_BLOCK << 23);
            let mut down = look.fields;
            for sum in &mut down {
                *sum = L::min_fields(none, L::sub_fields(top, *sum));
            }
            down
        }
    }

    /// Is any product too large, infinite or NaN?
    #[inline(always)]
    unsafe fn any_high<L: Lanes, const V: usize>(&self, look: Look<L, V>) -> bool {
        // SAFETY: the caller is compiled for the level.
        unsafe {
            let below = L::splat_i(((HIGHEST + 127) << 23) - 1);
            let mut any = L::splat_i(0);
            for magnitude in look.magnitudes {
                any = L::or(any, L::sub_i(below, magnitude));
            }
            L::any_negative(any)
        }
    }

    /// Adds the products of elements `first`, `first + step`, ... below `end` to `sums`, aligned by the exponents `s`.
    #[inline(always)]
    unsafe fn add_every<L: Lanes, const V: usize>(
        &self,
        (first, end, step): (usize, usize, usize),
        s: [L::I; V],
        sums: &mut [L::I; V],
    ) {
        // SAFETY: the caller is compiled for the level; the block has the elements.
        unsafe {
            for p in (first..end).step_by(step) {
                for v in 0..V {
                    let at = p * self.stride + v * L::COUNT;
                    let (a, b) = self.factors::<L>(at);
                    let aligned = L::mul(L::mul(a, b), L::from_bits(s[v]));
                    // A lane that takes the scalar way may hold anything.
                    sums[v] = L::add_i(sums[v], L::to_int(aligned));
                }
            }
        }
    }

    /// Computes lanes again that vectors do not: `before` is c before the block, `n` its number of elements; the rest is as
    /// for a tile's rows.
    #[cold]
    #[inline(never)]
    unsafe fn repair<L: Lanes, const V: usize>(
        &self,
        before: [L::F; V],
        d: *mut f32,
        n: usize,
        far: i32,
        kept: i32,
    ) {
        let mut cs = [0.0; 64];
        for (v, c) in before.into_iter().enumerate() {
            // SAFETY: the machine has the level, whose four vectors have at most 64 lanes.
            unsafe { L::store(cs.as_mut_ptr().add(v * L::COUNT), c) };
        }
        in_usual_mode(|| {
            for (lane, &c) in cs.iter().enumerate().take(self.count) {
                // SAFETY: the block has n elements of as many cases, and there is a result for each.
                unsafe {
                    let d = d.add(lane);
                    d.write(self.repaired(lane, c, d.read(), n, far, kept));
                }
            }
        });
    }

    /// What the case of a lane comes to, if vectors make `d` of it.
    ///
    /// # Safety
    /// The block must have n elements of the lane.
    unsafe fn repaired(&self, lane: usize, c: f32, d: f32, n: usize, far: i32, kept: i32) -> f32 {
        let mut factors = [[0.0f32; MOST]; 2];
        for (from, to) in [self.a, self.b].into_iter().zip(&mut factors) {
            for (p, x) in to.iter_mut().enumerate().take(n) {
                // SAFETY: promised by the caller.
                *x = unsafe { from.add(p * self.stride + lane).read() };
            }
        }
        let (a, b) = (&factors[0][..n], &factors[1][..n]);
        let exponent = |x: f32, least: u32| {
            let field = x.to_bits() >> 23 & 0xff;
            field.max(least) as i32 - 127
        };
        let (mut largest, mut special) = (None, false);
        for (&a, &b) in a.iter().zip(b) {
            special |= !a.is_finite() || !b.is_finite();
            if a != 0.0 && b != 0.0 {
                let e = exponent(a, self.common.min_field_a) + exponent(b, self.common.min_field_b);
                largest = largest.max(Some(e));
            }
        }
        let by_vectors = |largest| {
            let low = largest < LOWEST && exponent(c, 0) < LOWEST + far;
            // Toward zero an overflow ends at the largest number, or what the unit returns of it.
            !low && largest < HIGHEST && d.abs() != only(f32::MAX, kept)
        };
        match largest {
            Some(largest) if !special && by_vectors(largest) => d,
            None if !special => only(c, kept) + 0.0,
            _ => self.common.scalar.block(a, b, c),
        }
    }
}

impl<L: Lanes, const V: usize, const ONE: bool> Products<L, V> for Cases<'_, ONE> {
    #[inline(always)]
    unsafe fn add(&self, first: usize, end: usize, s: [L::I; V], sums: &mut [L::I; V]) {
        // SAFETY: promised by the caller.
        unsafe { self.add_every::<L, V>((first, end, 1), s, sums) }
    }
}

/// A kernel that computes blocks of cases. A trait and not a closure, because only a method can be made to be inlined, without
/// which it would not be compiled for the level.
trait Blocks: Send + Sync {
    type Level: Lanes;
    /// Elements of a block.
    const N: usize;
    const MODE: FpMode;

    fn common(&self) -> &Common;

    /// Adds a block of cases to their c's; zeros among them have no signs. Must be `#[inline(always)]`.
    unsafe fn add_block<const V: usize, const ONE: bool>(
        &self,
        cases: &Cases<ONE>,
        c: *mut f32,
        live: &Live<Self::Level, V>,
    );
}

// SAFETY: lanes of the strips and as many c's are touched.
unsafe impl<K: Blocks> DotKernel for K {
    fn lanes(&self) -> usize {
        K::Level::COUNT
    }

    fn block(&self) -> usize {
        K::N
    }

    fn mode(&self) -> FpMode {
        K::MODE
    }

    unsafe fn run(&self, a: &Strip, b: &Strip, c: *mut u8, cases: usize) {
        let batch = Batch {
            kernel: self,
            a,
            b,
            c: c.cast(),
            cases,
        };
        // SAFETY: promised by the caller.
        unsafe { K::Level::dispatch(batch) }
    }
}

/// All blocks of a batch's strips, [`VECTORS`] vectors of cases after the other, and then one after the other.
struct Batch<'a, K> {
    kernel: &'a K,
    a: &'a Strip<'a>,
    b: &'a Strip<'a>,
    c: *mut f32,
    /// How many matter.
    cases: usize,
}

impl<K: Blocks> Job for Batch<'_, K> {
    #[inline(always)]
    unsafe fn run<M: Lanes>(self) {
        let count = K::Level::COUNT;
        let mut at = 0;
        // SAFETY: compiled for the level, which is the kernel's; the strips have a multiple of its vectors' lanes.
        unsafe {
            if self.a.lanes == 1 {
                return self.run_vectors::<1, true>(0);
            }
            while at + VECTORS * count <= self.a.lanes {
                self.run_vectors::<VECTORS, false>(at);
                at += VECTORS * count;
            }
            while at < self.a.lanes {
                self.run_vectors::<1, false>(at);
                at += count;
            }
        }
    }
}

impl<K: Blocks> Batch<'_, K> {
    /// V vectors of cases, `at` being the first.
    #[inline(always)]
    unsafe fn run_vectors<const V: usize, const ONE: bool>(&self, at: usize) {
        let lanes = self.a.lanes;
        // SAFETY: compiled for the level; the strips have `k` rows of `lanes` numbers, and there is a c for each lane.
        unsafe {
            let (a, b) = (self.a.single().as_ptr(), self.b.single().as_ptr());
            let (a, b, c) = (a.add(at), b.add(at), self.c.add(at));
            let count = self.cases.saturating_sub(at).min(V * K::Level::COUNT);
            let live = Live::<K::Level, V>::new(count);
            for kb in 0..self.a.k / K::N {
                for v in 0..V {
                    let c = c.add(v * K::Level::COUNT);
                    K::Level::store(c, without_sign::<K::Level>(K::Level::load(c)));
                }
                let first = kb * K::N * lanes;
                let cases = Cases::<ONE> {
                    a: a.add(first),
                    b: b.add(first),
                    stride: lanes,
                    common: self.kernel.common(),
                    count,
                };
                self.kernel.add_block::<V, ONE>(&cases, c, &live);
            }
        }
    }
}

/// c of V vectors of cases.
#[inline(always)]
unsafe fn before<L: Lanes, const V: usize>(c: *const f32) -> [L::F; V] {
    // SAFETY: the caller is compiled for the level, and the c's are there.
    unsafe {
        let mut before = [L::splat(0.0); V];
        for (v, before) in before.iter_mut().enumerate() {
            *before = L::load(c.add(v * L::COUNT));
        }
        before
    }
}

impl<L: Lanes, const N: usize, const GROUPS: usize> Blocks for Late<L, N, GROUPS> {
    type Level = L;
    const N: usize = N;
    const MODE: FpMode = FpMode::NearestLoose;

    #[inline(always)]
    fn common(&self) -> &Common {
        &self.common
    }

    #[inline(always)]
    unsafe fn add_block<const V: usize, const ONE: bool>(
        &self,
        cases: &Cases<ONE>,
        c: *mut f32,
        live: &Live<L, V>,
    ) {
        // SAFETY: compiled for the level; a group of cases is like a row of a tile.
        unsafe {
            let mut high = false;
            let none = [L::splat_i(0); V];
            let (mut s, mut sums) = ([none; GROUPS], [none; GROUPS]);
            for group in 0..GROUPS {
                let look = cases.look::<L, V>((group, N, GROUPS));
                high |= cases.any_high::<L, V>(look);
                s[group] = cases.counted_down::<L, V>(look);
                cases.add_every::<L, V>((group, N, GROUPS), s[group], &mut sums[group]);
            }
            let before = before::<L, V>(c);
            let constants = Rows::constants::<CAREFUL>(self, cases.base());
            let least = least::<L, V, GROUPS>(s);
            let addend = Addend::new::<GROUPS, CAREFUL>(constants, least, c);
            let sums = add_groups::<L, V, GROUPS>(s, sums);
            if addend.add_to::<GROUPS, CAREFUL>(sums, c, live) || high {
                let (far, kept) = (Self::FAR, Self::KEPT);
                cases.repair::<L, V>(before, c, N, far, kept);
            }
        }
    }
}

impl<L: Lanes, const N: usize, const OUT: u8, const WIDE: bool> Blocks for Early<L, N, OUT, WIDE> {
    type Level = L;
    const N: usize = N;
    const MODE: FpMode = Self::TILE_MODE;

    #[inline(always)]
    fn common(&self) -> &Common {
        &self.common
    }

    #[inline(always)]
    unsafe fn add_block<const V: usize, const ONE: bool>(
        &self,
        cases: &Cases<ONE>,
        c: *mut f32,
        live: &Live<L, V>,
    ) {
        // SAFETY: compiled for the level; a group of cases is like a row of a tile.
        unsafe {
            let look = cases.look::<L, V>((0, N, 1));
            let high = cases.any_high::<L, V>(look);
            let before = before::<L, V>(c);
            let s = cases.counted_down::<L, V>(look);
            let constants = Rows::constants::<CAREFUL>(self, cases.base());
            if self.vectors::<V, CAREFUL>(constants, s, cases, c, c, live) || high {
                cases.repair::<L, V>(before, c, N, Self::FAR, Self::KEPT);
            }
        }
    }
}
