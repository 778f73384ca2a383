//! A chain of IEEE fused multiply-adds in the order of k: sgemm's own arithmetic (CDNA fp32; fp64 everywhere).
//!
//! The host's instruction is the unit's: one rounding, to nearest even, subnormal numbers kept, signs of zeros, infinities
//! and overflow as IEEE has them. Only NaNs may differ. Whoever stores results gives all NaNs the unit's encoding; where
//! the unit passes on the NaNs that it is given (NVIDIA's binary64), elements that became one are computed again with
//! its rules. A block is one product, so that K is never filled up: fma(0, 0, -0) would be +0.
//!
//! A tile's sums stay in registers; a strip is packed as it is.

use std::marker::PhantomData;

use super::doubles::Doubles;
use super::lanes::{Job, Lanes};
use super::{FpMode, Kernel, Shape, Tile};
use crate::format::Format;
use crate::model::Model;

/// The kernel of a chain.
pub fn kernel<L: Doubles>(model: &Model) -> Box<dyn Kernel> {
    let double = model.output() == Format::Fp64;
    match (L::COUNT, double) {
        (16, false) => Box::new(Chain::<Single<L>, 8, 2>::new(model)),
        (8, false) => Box::new(Chain::<Single<L>, 6, 2>::new(model)),
        (_, false) => Box::new(Chain::<Single<L>, 4, 2>::new(model)),
        (16, true) => Box::new(Chain::<Double<L>, 8, 2>::new(model)),
        (8, true) => Box::new(Chain::<Double<L>, 6, 2>::new(model)),
        (_, true) => Box::new(Chain::<Double<L>, 4, 2>::new(model)),
    }
}

/// Numbers of one precision and their vectors.
///
/// # Safety
/// As for [`Lanes`].
trait Precision: Send + Sync + 'static {
    type Level: Lanes;
    type Number: Copy + Default;
    type Vector: Copy;
    const LANES: usize;
    const DOUBLE: bool;

    unsafe fn load(from: *const Self::Number) -> Self::Vector;
    unsafe fn store(to: *mut Self::Number, x: Self::Vector);
    unsafe fn splat(x: Self::Number) -> Self::Vector;
    unsafe fn fused(x: Self::Vector, y: Self::Vector, z: Self::Vector) -> Self::Vector;
}

/// binary32.
struct Single<L>(PhantomData<L>);

// SAFETY (of every block): promised by the callers.
impl<L: Doubles> Precision for Single<L> {
    type Level = L;
    type Number = f32;
    type Vector = L::F;
    const LANES: usize = L::COUNT;
    const DOUBLE: bool = false;

    #[inline(always)]
    unsafe fn load(from: *const f32) -> L::F {
        unsafe { L::load(from) }
    }
    #[inline(always)]
    unsafe fn store(to: *mut f32, x: L::F) {
        unsafe { L::store(to, x) }
    }
    #[inline(always)]
    unsafe fn splat(x: f32) -> L::F {
        unsafe { L::splat(x) }
    }
    #[inline(always)]
    unsafe fn fused(x: L::F, y: L::F, z: L::F) -> L::F {
        unsafe { L::fused(x, y, z) }
    }
}

/// binary64.
struct Double<L>(PhantomData<L>);

// SAFETY (of every block): promised by the callers.
impl<L: Doubles> Precision for Double<L> {
    type Level = L;
    type Number = f64;
    type Vector = L::D;
    const LANES: usize = L::WIDTH;
    const DOUBLE: bool = true;

    #[inline(always)]
    unsafe fn load(from: *const f64) -> L::D {
        unsafe { L::load_d(from) }
    }
    #[inline(always)]
    unsafe fn store(to: *mut f64, x: L::D) {
        unsafe { L::store_d(to, x) }
    }
    #[inline(always)]
    unsafe fn splat(x: f64) -> L::D {
        unsafe { L::splat_d(x) }
    }
    #[inline(always)]
    unsafe fn fused(x: L::D, y: L::D, z: L::D) -> L::D {
        unsafe { L::fused_d(x, y, z) }
    }
}

/// Tiles of R rows and V vectors.
struct Chain<P, const R: usize, const V: usize> {
    passes_nans: bool,
    precision: PhantomData<P>,
}

/// Most numbers of a binary64 tile.
const MOST: usize = 8 * 16;

impl<P: Precision, const R: usize, const V: usize> Chain<P, R, V> {
    const NR: usize = V * P::LANES;

    fn new(model: &Model) -> Self {
        Chain {
            passes_nans: passes_nans(model),
            precision: PhantomData,
        }
    }
}

// SAFETY: packing and tiles touch what the shape describes.
unsafe impl<P: Precision, const R: usize, const V: usize> Kernel for Chain<P, R, V> {
    fn shape(&self) -> Shape {
        Shape {
            mr: R,
            nr: Self::NR,
            block: 1,
            double: P::DOUBLE,
            a_block_bytes: R * size_of::<P::Number>(),
            b_block_bytes: Self::NR * size_of::<P::Number>(),
            mode: FpMode::Nearest,
        }
    }

    unsafe fn tile(&self, tile: &Tile) {
        let mut before = [0.0; MOST];
        // SAFETY: promised by the caller; only binary64 units pass NaNs on, and their tiles have no more numbers.
        unsafe {
            if self.passes_nans {
                let c = tile.c.cast::<f64>();
                std::ptr::copy_nonoverlapping(c, before.as_mut_ptr(), R * Self::NR);
            }
            P::Level::dispatch(TileJob::<P, R, V>(tile, PhantomData));
            if self.passes_nans {
                repeat_nans(tile, &before, R, Self::NR);
            }
        }
    }
}

struct TileJob<'a, P, const R: usize, const V: usize>(&'a Tile, PhantomData<P>);

impl<P: Precision, const R: usize, const V: usize> Job for TileJob<'_, P, R, V> {
    #[inline(always)]
    unsafe fn run<L: Lanes>(self) {
        let tile = self.0;
        let nr = V * P::LANES;
        // SAFETY: compiled for the level, which is P's; the tile is as the engine describes it.
        unsafe {
            let c = tile.c.cast::<P::Number>();
            let (mut a, mut b) = (tile.a.cast::<P::Number>(), tile.b.cast::<P::Number>());
            let mut sums = [[P::splat(P::Number::default()); V]; R];
            for (i, row) in sums.iter_mut().enumerate() {
                for (v, sum) in row.iter_mut().enumerate() {
                    *sum = P::load(c.add(i * nr + v * P::LANES));
                }
            }
            for _ in 0..tile.blocks {
                let mut columns = [P::splat(P::Number::default()); V];
                for (v, column) in columns.iter_mut().enumerate() {
                    *column = P::load(b.add(v * P::LANES));
                }
                for (i, row) in sums.iter_mut().enumerate() {
                    let x = P::splat(*a.add(i));
                    for (sum, column) in row.iter_mut().zip(columns) {
                        *sum = P::fused(x, column, *sum);
                    }
                }
                a = a.add(R);
                b = b.add(nr);
            }
            for (i, row) in sums.iter().enumerate() {
                for (v, sum) in row.iter().enumerate() {
                    P::store(c.add(i * nr + v * P::LANES), *sum);
                }
            }
        }
    }
}

/// Does the unit pass on the NaNs that it is given?
pub(super) fn passes_nans(model: &Model) -> bool {
    model.params().propagates_nans(model.output())
}

/// Computes the elements that are NaN again, from the c's they began with.
unsafe fn repeat_nans(tile: &Tile, before: &[f64; MOST], mr: usize, nr: usize) {
    // SAFETY: the tile is a binary64 one of mr x nr numbers, as the caller says.
    unsafe {
        let (a, b) = (tile.a.cast::<f64>(), tile.b.cast::<f64>());
        for (at, &before) in before.iter().enumerate().take(mr * nr) {
            let c = tile.c.cast::<f64>().add(at);
            if c.read().is_nan() {
                let factors = (0..tile.blocks).map(|p| {
                    (
                        a.add(p * mr + at / nr).read(),
                        b.add(p * nr + at % nr).read(),
                    )
                });
                c.write(chain_passing_nans(before, factors));
            }
        }
    }
}

/// A chain in which the first of b, c and a that is a NaN is passed on, quieted; other NaNs are the unit's own.
pub(super) fn chain_passing_nans(c: f64, factors: impl Iterator<Item = (f64, f64)>) -> f64 {
    const QUIET: u64 = 1 << 51;
    factors.fold(c, |c, (a, b)| {
        if let Some(nan) = [b, c, a].into_iter().find(|x| x.is_nan()) {
            return f64::from_bits(nan.to_bits() | QUIET);
        }
        let sum = a.mul_add(b, c);
        if sum.is_nan() {
            return f64::from_bits(0xfff8 << 48);
        }
        sum
    })
}
