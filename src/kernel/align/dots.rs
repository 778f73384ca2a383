//! Independent dot products on aligning units: a case a lane, for `mfma_dot_batch`.
//!
//! Every lane has factors and exponents of its own, so nothing is scaled by a common base when it is packed. Instead
//! exponents are counted down from [`TOP_EXPONENT`], a constant: products of lanes whose largest exponent E lies between
//! [`LOWEST_EXPONENT`] and 28 binades below the top become p * 2^(F - TOP_EXPONENT), exactly, because what is not cut
//! to nothing lies far from the ends of binary32's range; raising their exponent fields by TOP_EXPONENT - E aligns them.
//! All of binary16 and of the 8-bit formats fits in. Other lanes, infinities and NaNs among them, take the scalar way.
//! The rest is computed like a row of a tile.

use super::early::Early;
use super::late::Late;
use super::{Common, Products, TOP, VECTORS};
use crate::kernel::dots::DotKernel;
use crate::kernel::lanes::{Job, Lanes};
use crate::kernel::{FpMode, Strip};

/// What exponents are counted down from.
const TOP_EXPONENT: i32 = 60;
/// The base that goes with it.
const BASE: i32 = TOP_EXPONENT - TOP;
/// Exponents of blocks that vectors compute.
const HIGHEST_EXPONENT: i32 = TOP_EXPONENT - 28;
const LOWEST_EXPONENT: i32 = -60;
/// Bias of a sum of two exponent fields.
const BIAS: i32 = 254;
/// Stands for the exponent field of a zero.
const NONE: i32 = -1000;
/// Stands for that of an infinity or a NaN: out of range even with a zero.
const SPECIAL: i32 = 5000;

/// The factors of one block of as many cases as VECTORS vectors have lanes.
struct Cases<'a, const N: usize> {
    a: *const f32,
    b: *const f32,
    /// From one element of K to the next.
    stride: usize,
    common: &'a Common,
}

/// Cases that vectors do not compute, a bit each.
#[derive(Clone, Copy)]
struct Exceptions {
    /// Exponents out of range, infinities, NaNs.
    scalar: u64,
    /// All products are zero.
    zero: u64,
}

impl<const N: usize> Cases<'_, N> {
    /// Biased exponents of the largest products among elements `first`, `first + step`, ...; negative where there is
    /// none but zeros.
    #[inline(always)]
    unsafe fn largest<L: Lanes>(&self, first: usize, step: usize) -> [L::I; VECTORS] {
        // SAFETY: the caller is compiled for the level; the block has N elements.
        unsafe {
            let mut largest = [L::splat_i(2 * NONE); VECTORS];
            for p in (first..N).step_by(step) {
                for (v, largest) in largest.iter_mut().enumerate() {
                    let at = p * self.stride + v * L::COUNT;
                    let a = field::<L>(L::load(self.a.add(at)), self.common.min_field_a);
                    let b = field::<L>(L::load(self.b.add(at)), self.common.min_field_b);
                    *largest = L::max_i(*largest, L::add_i(a, b));
                }
            }
            largest
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
            let power = 127 + self.common.bits - TOP_EXPONENT;
            let scale = L::from_bits(L::splat_i(power << 23));
            for p in (first..end).step_by(step) {
                for v in 0..VECTORS {
                    let at = p * self.stride + v * L::COUNT;
                    let product = L::mul(L::load(self.a.add(at)), L::load(self.b.add(at)));
                    let scaled = L::bits(L::mul(product, scale));
                    let aligned = L::from_bits(L::add_i(scaled, s[v]));
                    // A lane that takes the scalar way may hold anything.
                    sums[v] = L::add_i(sums[v], L::to_int(aligned));
                }
            }
        }
    }

    /// Computes exceptional cases: `c` and what it was `before`.
    #[cold]
    #[inline(never)]
    unsafe fn scalar(
        &self,
        exceptions: Exceptions,
        before: &[f32; 64],
        c: *mut f32,
        keep: impl Fn(f32) -> f32,
    ) {
        let mut left = exceptions.scalar | exceptions.zero;
        while left != 0 {
            let lane = left.trailing_zeros() as usize;
            left &= left - 1;
            // SAFETY: the block has N elements of this lane.
            unsafe {
                let d = if exceptions.scalar >> lane & 1 != 0 {
                    let factors = |from: *const f32| -> [f32; N] {
                        std::array::from_fn(|p| *from.add(p * self.stride + lane))
                    };
                    let (a, b) = (factors(self.a), factors(self.b));
                    self.common.scalar.block(&a, &b, before[lane])
                } else {
                    keep(before[lane])
                };
                c.add(lane).write(d);
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

/// Exponent field of a factor as the unit sees it.
#[inline(always)]
unsafe fn field<L: Lanes>(x: L::F, min_field: u32) -> L::I {
    // SAFETY: the caller is compiled for the level.
    unsafe {
        let magnitude = L::and(L::bits(x), L::splat_i(i32::MAX));
        let field = L::max_i(L::shr::<23>(magnitude), L::splat_i(min_field as i32));
        let special = L::greater(magnitude, L::splat_i(0x7f7f_ffff));
        let field = L::select(special, L::splat_i(SPECIAL), field);
        let zero = L::equal(magnitude, L::splat_i(0));
        L::select(zero, L::splat_i(NONE), field)
    }
}

/// Exponents counted down from the top, as exponent fields; 126 for a block of zeros.
#[inline(always)]
unsafe fn counted_down<L: Lanes>(largest: [L::I; VECTORS]) -> [L::I; VECTORS] {
    // SAFETY: the caller is compiled for the level.
    unsafe {
        let top = TOP_EXPONENT + BIAS;
        largest.map(|e| {
            let e = L::max_i(e, L::splat_i(top - 126));
            L::shl::<23>(L::sub_i(L::splat_i(top), e))
        })
    }
}

/// Which cases are exceptional, by the largest exponents of their groups; sign bits tell, until one is set.
#[inline(always)]
unsafe fn exceptions<L: Lanes, const GROUPS: usize>(
    largest: &[[L::I; VECTORS]; GROUPS],
) -> Exceptions {
    // SAFETY: the caller is compiled for the level.
    unsafe {
        let lowest = L::splat_i(LOWEST_EXPONENT + BIAS);
        let highest = L::splat_i(HIGHEST_EXPONENT + BIAS);
        let mut scalar = [L::splat_i(0); VECTORS];
        let mut zero = [L::splat_i(-1); VECTORS];
        let mut any = L::splat_i(0);
        for v in 0..VECTORS {
            for group in largest {
                let is_there = L::xor(group[v], L::splat_i(-1));
                let low = L::and(is_there, L::sub_i(group[v], lowest));
                let high = L::sub_i(highest, group[v]);
                scalar[v] = L::or(scalar[v], L::or(low, high));
                zero[v] = L::and(zero[v], group[v]);
            }
            any = L::or(any, L::or(scalar[v], zero[v]));
        }
        if !L::any_negative(any) {
            return Exceptions { scalar: 0, zero: 0 };
        }
        Exceptions {
            scalar: signs::<L>(&scalar),
            zero: signs::<L>(&zero),
        }
    }
}

/// Sign bits, lane by lane.
#[inline(always)]
unsafe fn signs<L: Lanes>(x: &[L::I; VECTORS]) -> u64 {
    let mut lanes = [0i32; 64];
    // SAFETY: the caller is compiled for the level; vectors have at most sixteen lanes.
    unsafe {
        for (v, &x) in x.iter().enumerate() {
            L::store_i(lanes.as_mut_ptr().add(v * L::COUNT), x);
        }
    }
    let bit = |bits: u64, &x: &i32| bits << 1 | u64::from(x < 0);
    lanes.iter().rev().fold(0, bit)
}

/// All blocks of a batch's strips, [`VECTORS`] vectors of cases after the other.
struct Batch<'a, K> {
    kernel: &'a K,
    a: &'a Strip<'a>,
    b: &'a Strip<'a>,
    c: *mut f32,
}

impl<K> Batch<'_, K> {
    /// Calls `block` for every block of every group of cases, with their c's; zeros have lost their signs.
    #[inline(always)]
    unsafe fn for_each<L: Lanes, const N: usize>(
        &self,
        common: &Common,
        block: impl Fn(&Cases<N>, *mut f32),
    ) {
        let lanes = self.a.lanes;
        let (a, b) = (self.a.single().as_ptr(), self.b.single().as_ptr());
        // SAFETY: compiled for the level; the strips have `k` rows of `lanes` numbers, a multiple of the vectors'.
        unsafe {
            for at in (0..lanes).step_by(VECTORS * L::COUNT) {
                let c = self.c.add(at);
                for kb in 0..self.a.k / N {
                    for v in 0..VECTORS {
                        let c = c.add(v * L::COUNT);
                        L::store(c, L::add(L::load(c), L::splat(0.0)));
                    }
                    let first = kb * N * lanes + at;
                    let cases = Cases {
                        a: a.add(first),
                        b: b.add(first),
                        stride: lanes,
                        common,
                    };
                    block(&cases, c);
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
        let kernel = self.kernel;
        // SAFETY: compiled for the level, which is L; a group of cases is like a row of a tile.
        unsafe {
            let kept = L::table(&kernel.kept);
            self.for_each::<L, N>(&kernel.common, |cases, c| {
                let largest: [[L::I; VECTORS]; GROUPS] =
                    std::array::from_fn(|group| cases.largest::<L>(group, GROUPS));
                let exceptions = exceptions::<L, GROUPS>(&largest);
                let before = copy::<L>(c);
                let mut groups =
                    largest.map(|largest| (counted_down::<L>(largest), [L::splat_i(0); VECTORS]));
                for (group, (s, sums)) in groups.iter_mut().enumerate() {
                    cases.add_every::<L>((group, N, GROUPS), *s, sums);
                }
                let (s, sums) = super::late::add_groups::<L, GROUPS>(groups);
                super::late::add_c::<L, GROUPS>(BASE, s, sums, c, kept);
                if exceptions.scalar | exceptions.zero != 0 {
                    cases.scalar(exceptions, &before, c, |c| c);
                }
            });
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
        let kernel = self.kernel;
        // SAFETY: compiled for the level, which is L; a group of cases is like a row of a tile.
        unsafe {
            self.for_each::<L, N>(&kernel.common, |cases, c| {
                let largest = cases.largest::<L>(0, 1);
                let exceptions = exceptions::<L, 1>(&[largest]);
                let before = copy::<L>(c);
                kernel.row(BASE, counted_down::<L>(largest), cases, c);
                if exceptions.scalar | exceptions.zero != 0 {
                    cases.scalar(exceptions, &before, c, super::early::keep::<OUT>);
                }
            });
        }
    }
}
