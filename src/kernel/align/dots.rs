//! Independent dot products on aligning units: a case a lane, for `mfma_dot_batch`.
//!
//! Every lane has factors and exponents of its own, so nothing is scaled when it is packed: a product p becomes p * 2^(F - E)
//! at once. That is exact where it counts, for E from [`LOWEST`] to [`HIGHEST`]: products that are not cut to nothing are at
//! least 2^(E - F), normal numbers. The rest is computed like a row of a tile whose base is F + 99, for which packing
//! would not scale anything. Other lanes, infinities and NaNs among them, take the scalar way.

use super::early::Early;
use super::late::{FAR, Late, add_c, add_groups};
use super::{
    Common, HIGHEST, LOWEST, Live, Products, TOP, UP_A, UP_B, VECTORS, ZERO_BLOCK, early,
    in_usual_mode, without_sign,
};
use crate::kernel::dots::DotKernel;
use crate::kernel::lanes::{Job, Lanes};
use crate::kernel::{FpMode, Strip};

/// Twice the bias of exponent fields.
const BIAS: i32 = 254;
/// Mask of exponent fields.
const FIELD: i32 = 0x7f80_0000;

/// The factors of one block of as many cases as VECTORS vectors have lanes.
struct Cases<'a, const N: usize> {
    a: *const f32,
    b: *const f32,
    /// From one element of K to the next.
    stride: usize,
    common: &'a Common,
}

/// What the first look at a block's products finds.
#[derive(Clone, Copy)]
struct Look<L: Lanes> {
    /// Sums of both factors' exponent fields, the largest of those whose product is not zero.
    fields: [L::I; VECTORS],
    /// Magnitudes of the largest products, as integers.
    magnitudes: [L::I; VECTORS],
}

impl<const N: usize> Cases<'_, N> {
    /// F + 99: the base for which factors are not scaled.
    #[inline(always)]
    fn base(&self) -> i32 {
        UP_A + self.common.bits + UP_B
    }

    /// Exponents and magnitudes of elements `first`, `first + step`, ...
    #[inline(always)]
    unsafe fn look<L: Lanes>(&self, first: usize, step: usize) -> Look<L> {
        // SAFETY: the caller is compiled for the level; the block has N elements.
        unsafe {
            let zero = L::splat_i(0);
            let (mut fields, mut magnitudes) = ([zero; VECTORS], [zero; VECTORS]);
            let least_a = L::splat_i((self.common.min_field_a << 23) as i32);
            let least_b = L::splat_i((self.common.min_field_b << 23) as i32);
            for p in (first..N).step_by(step) {
                for v in 0..VECTORS {
                    let at = p * self.stride + v * L::COUNT;
                    let (a, b) = (L::load(self.a.add(at)), L::load(self.b.add(at)));
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

    /// Exponents counted down from 28 + base, as exponent fields.
    #[inline(always)]
    unsafe fn counted_down<L: Lanes>(&self, look: Look<L>) -> [L::I; VECTORS] {
        // SAFETY: the caller is compiled for the level.
        unsafe {
            let top = L::splat_i((TOP + self.base() + BIAS) << 23);
            let none = L::splat_i(ZERO_BLOCK << 23);
            look.fields
                .map(|sum| L::min_fields(none, L::sub_fields(top, sum)))
        }
    }

    /// Is any product too large, infinite or NaN?
    #[inline(always)]
    unsafe fn any_high<L: Lanes>(&self, look: Look<L>) -> bool {
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
    unsafe fn add_every<L: Lanes>(
        &self,
        (first, end, step): (usize, usize, usize),
        s: [L::I; VECTORS],
        sums: &mut [L::I; VECTORS],
    ) {
        // SAFETY: the caller is compiled for the level; the block has N elements.
        unsafe {
            for p in (first..end).step_by(step) {
                for v in 0..VECTORS {
                    let at = p * self.stride + v * L::COUNT;
                    let product = L::mul(L::load(self.a.add(at)), L::load(self.b.add(at)));
                    let aligned = L::mul(product, L::from_bits(s[v]));
                    // A lane that takes the scalar way may hold anything.
                    sums[v] = L::add_i(sums[v], L::to_int(aligned));
                }
            }
        }
    }

    /// Computes lanes again that vectors do not: `before` is c before the block; the rest is as for a tile's rows.
    #[cold]
    #[inline(never)]
    unsafe fn repair<L: Lanes>(
        &self,
        before: &[f32; 64],
        d: *mut f32,
        far: i32,
        keep: impl Fn(f32) -> f32,
    ) {
        for (lane, &c) in before.iter().enumerate().take(VECTORS * L::COUNT) {
            // SAFETY: the block has N elements of every lane, and there is a d for each.
            unsafe {
                let factors = |from: *const f32| -> [f32; N] {
                    std::array::from_fn(|p| *from.add(p * self.stride + lane))
                };
                let (a, b) = (factors(self.a), factors(self.b));
                let exponent = |x: f32, least: u32| {
                    let field = x.to_bits() >> 23 & 0xff;
                    field.max(least) as i32 - 127
                };
                let (mut largest, mut zero) = (i32::MIN, true);
                let mut special = false;
                for (&a, &b) in a.iter().zip(&b) {
                    special |= !a.is_finite() || !b.is_finite();
                    if a != 0.0 && b != 0.0 {
                        zero = false;
                        let e = exponent(a, self.common.min_field_a)
                            + exponent(b, self.common.min_field_b);
                        largest = largest.max(e);
                    }
                }
                let low = largest < LOWEST && exponent(c, 0) < LOWEST + far;
                let high = largest >= HIGHEST;
                let perhaps_overflowed = d.add(lane).read().abs() == f32::MAX;
                if special || !zero && (low || high || perhaps_overflowed) {
                    let scalar = &self.common.scalar;
                    d.add(lane).write(in_usual_mode(|| scalar.block(&a, &b, c)));
                } else if zero {
                    d.add(lane).write(in_usual_mode(|| keep(c)));
                }
            }
        }
    }
}

impl<L: Lanes, const N: usize> Products<L> for Cases<'_, N> {
    #[inline(always)]
    unsafe fn add(&self, first: usize, end: usize, s: [L::I; VECTORS], sums: &mut [L::I; VECTORS]) {
        // SAFETY: promised by the caller.
        unsafe { self.add_every::<L>((first, end, 1), s, sums) }
    }
}

/// A kernel that computes blocks of cases. A trait and not a closure, because only a method can be made to be inlined, without
/// which it would not be compiled for the level.
trait Blocks<L: Lanes, const N: usize> {
    fn common(&self) -> &Common;

    /// Adds a block of cases to their c's; zeros among them have no signs. Must be `#[inline(always)]`.
    unsafe fn add_block(&self, cases: &Cases<N>, c: *mut f32, live: &Live<L>);
}

/// All blocks of a batch's strips, [`VECTORS`] vectors of cases after the other.
struct Batch<'a, K> {
    kernel: &'a K,
    a: &'a Strip<'a>,
    b: &'a Strip<'a>,
    c: *mut f32,
}

impl<K> Batch<'_, K> {
    #[inline(always)]
    unsafe fn run_blocks<L: Lanes, const N: usize>(&self)
    where
        K: Blocks<L, N>,
    {
        let lanes = self.a.lanes;
        let (a, b) = (self.a.single().as_ptr(), self.b.single().as_ptr());
        // SAFETY: compiled for the level; the strips have `k` rows of `lanes` numbers, a multiple of the vectors'.
        unsafe {
            let live = Live::<L>::new(VECTORS * L::COUNT);
            for at in (0..lanes).step_by(VECTORS * L::COUNT) {
                let c = self.c.add(at);
                for kb in 0..self.a.k / N {
                    for v in 0..VECTORS {
                        let c = c.add(v * L::COUNT);
                        L::store(c, without_sign::<L>(L::load(c)));
                    }
                    let first = kb * N * lanes + at;
                    let cases = Cases {
                        a: a.add(first),
                        b: b.add(first),
                        stride: lanes,
                        common: self.kernel.common(),
                    };
                    self.kernel.add_block(&cases, c, &live);
                }
            }
        }
    }
}

#[inline(always)]
unsafe fn copy<L: Lanes>(c: *const f32) -> [f32; 64] {
    let mut before = [0.0; 64];
    // SAFETY: there are as many c's as the vectors have lanes, at most 64.
    unsafe { std::ptr::copy_nonoverlapping(c, before.as_mut_ptr(), VECTORS * L::COUNT) };
    before
}

// SAFETY: lanes of the strips and as many c's are touched.
unsafe impl<L: Lanes, const N: usize, const GROUPS: usize> DotKernel for Late<L, N, GROUPS> {
    fn lanes(&self) -> usize {
        VECTORS * L::COUNT
    }

    fn block(&self) -> usize {
        N
    }

    fn mode(&self) -> FpMode {
        FpMode::NearestLoose
    }

    unsafe fn run(&self, a: &Strip, b: &Strip, c: *mut u8) {
        let batch = Batch {
            kernel: self,
            a,
            b,
            c: c.cast(),
        };
        // SAFETY: promised by the caller.
        unsafe { L::dispatch(batch) }
    }
}

impl<L: Lanes, const N: usize, const GROUPS: usize> Job for Batch<'_, Late<L, N, GROUPS>> {
    #[inline(always)]
    unsafe fn run<M: Lanes>(self) {
        // SAFETY: compiled for the level, which is L.
        unsafe { self.run_blocks::<L, N>() }
    }
}

impl<L: Lanes, const N: usize, const GROUPS: usize> Blocks<L, N> for Late<L, N, GROUPS> {
    #[inline(always)]
    fn common(&self) -> &Common {
        &self.common
    }

    #[inline(always)]
    unsafe fn add_block(&self, cases: &Cases<N>, c: *mut f32, live: &Live<L>) {
        // SAFETY: compiled for the level; a group of cases is like a row of a tile.
        unsafe {
            let kept = L::table(&self.kept);
            let mut high = false;
            let none = [L::splat_i(0); VECTORS];
            let mut groups = [(none, none); GROUPS];
            for (group, (s, sums)) in groups.iter_mut().enumerate() {
                let look = cases.look::<L>(group, GROUPS);
                high |= cases.any_high::<L>(look);
                *s = cases.counted_down::<L>(look);
                cases.add_every::<L>((group, N, GROUPS), *s, sums);
            }
            let before = copy::<L>(c);
            let (s, sums) = add_groups::<L, GROUPS>(groups);
            let base = cases.base();
            if add_c::<L, GROUPS, true, true>(base, s, sums, c, kept, live) || high {
                cases.repair::<L>(&before, c, FAR, |c| c);
            }
        }
    }
}

// SAFETY: lanes of the strips and as many c's are touched.
unsafe impl<L: Lanes, const N: usize, const OUT: u8, const WIDE: bool> DotKernel
    for Early<L, N, OUT, WIDE>
{
    fn lanes(&self) -> usize {
        VECTORS * L::COUNT
    }

    fn block(&self) -> usize {
        N
    }

    fn mode(&self) -> FpMode {
        Self::MODE
    }

    unsafe fn run(&self, a: &Strip, b: &Strip, c: *mut u8) {
        let batch = Batch {
            kernel: self,
            a,
            b,
            c: c.cast(),
        };
        // SAFETY: promised by the caller.
        unsafe { L::dispatch(batch) }
    }
}

impl<L: Lanes, const N: usize, const OUT: u8, const WIDE: bool> Job
    for Batch<'_, Early<L, N, OUT, WIDE>>
{
    #[inline(always)]
    unsafe fn run<M: Lanes>(self) {
        // SAFETY: compiled for the level, which is L.
        unsafe { self.run_blocks::<L, N>() }
    }
}

impl<L: Lanes, const N: usize, const OUT: u8, const WIDE: bool> Blocks<L, N>
    for Early<L, N, OUT, WIDE>
{
    #[inline(always)]
    fn common(&self) -> &Common {
        &self.common
    }

    #[inline(always)]
    unsafe fn add_block(&self, cases: &Cases<N>, c: *mut f32, live: &Live<L>) {
        // SAFETY: compiled for the level; a group of cases is like a row of a tile.
        unsafe {
            let look = cases.look::<L>(0, 1);
            let high = cases.any_high::<L>(look);
            let before = copy::<L>(c);
            let s = cases.counted_down::<L>(look);
            if self.row::<true, true>(cases.base(), s, cases, c, live) || high {
                cases.repair::<L>(&before, c, 0, early::keep::<OUT>);
            }
        }
    }
}
