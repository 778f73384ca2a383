//! Independent dot products: one a lane.
//!
//! The kernels of products of matrices share a row's factor between columns; here every case has its own. The engine for
//! batches (`gemm/batch.rs`) loads two strips whose lanes are cases, and a [`DotKernel`] runs over them a vector of
//! cases at a time, with the same block arithmetic as the tile kernels and the same arguments for it.
//!
//! A single case is in all lanes of the vectors: its strips have one lane, from which vectors are filled. They need not be
//! turned, and there are no other lanes to be filled up.

use std::marker::PhantomData;

use super::doubles::Doubles;
use super::fma_chain::{chain_passing_nans, passes_nans};
use super::lanes::{Job, Lanes};
use super::pairwise_sum::{add_to_c, flushed, sum_of_products};
use super::source::min_normal;
use super::{Family, FpMode, Level, Strip, align, correct_rounding, family_of};
use crate::format::Format;
use crate::model::Model;

/// Computes dot products side by side, bit for bit as [`reference::dot`](crate::reference::dot).
///
/// # Safety
/// An implementation must touch nothing but the strips and `lanes` c's.
pub unsafe trait DotKernel: Send + Sync {
    /// Lanes of a strip must be a multiple of this, or one.
    fn lanes(&self) -> usize;

    /// Elements of K in a block; a strip's `k` must be a multiple of this.
    fn block(&self) -> usize;

    /// Are strips and c's binary64 numbers?
    fn double(&self) -> bool {
        false
    }

    /// The mode in which [`DotKernel::run`] must run.
    fn mode(&self) -> FpMode {
        FpMode::Nearest
    }

    /// Adds the products of two strips to as many c's as they have lanes, numbers equal to encodings of the unit's carry
    /// format, of which the first `cases` matter. Any NaN stands for the unit's. Strips of one lane need
    /// [`DotKernel::lanes`] c's, all the same, of which the first becomes the result.
    ///
    /// # Safety
    /// `c` must point to the numbers; the thread must be in [`DotKernel::mode`] and the machine have the kernel's level.
    unsafe fn run(&self, a: &Strip, b: &Strip, c: *mut u8, cases: usize);
}

/// The kernel of a unit on a level that this machine has; `None` if the unit is left to the reference.
pub fn dots_for(model: &Model, level: Level) -> Option<Box<dyn DotKernel>> {
    match level {
        #[cfg(target_arch = "aarch64")]
        Level::Neon => dots_of::<super::neon::Neon>(model),
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => dots_of::<super::avx2::Avx2>(model),
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => dots_of::<super::avx512::Avx512>(model),
        _ => dots_of::<super::portable::Portable>(model),
    }
}

fn dots_of<L: Doubles>(model: &Model) -> Option<Box<dyn DotKernel>> {
    let fma = model.params().fma;
    let half = model.a() == Format::Fp16;
    Some(match (family_of(model), fma, half) {
        (Family::FmaChain, ..) if model.output() == Format::Fp64 => {
            Box::new(ChainDouble::<L>::new(model))
        }
        (Family::FmaChain, ..) => Box::new(ChainSingle::<L>::NEW),
        (Family::PairwiseSum, 4, true) => Box::new(Pairwise::<L, 4, true>::new(model)),
        (Family::PairwiseSum, 4, false) => Box::new(Pairwise::<L, 4, false>::new(model)),
        (Family::PairwiseSum, 2, true) => Box::new(Pairwise::<L, 2, true>::new(model)),
        (Family::PairwiseSum, 2, false) => Box::new(Pairwise::<L, 2, false>::new(model)),
        (Family::CorrectRounding, 4, true) => Box::new(Exact::<L, 4, true>(PhantomData)),
        (Family::CorrectRounding, 3, true) => Box::new(Exact::<L, 3, true>(PhantomData)),
        (Family::CorrectRounding, 2, true) => Box::new(Exact::<L, 2, true>(PhantomData)),
        (Family::CorrectRounding, 1, true) => Box::new(Exact::<L, 1, true>(PhantomData)),
        (Family::CorrectRounding, 2, false) => Box::new(Exact::<L, 2, false>(PhantomData)),
        (Family::CorrectRounding, 1, false) => Box::new(Exact::<L, 1, false>(PhantomData)),
        (Family::EarlyAddend, ..) => align::early::kernel::<L>(model)?,
        (Family::Interleaved, ..) => align::interleaved::kernel::<L>(model)?,
        (Family::LateAddend, ..) => align::late::kernel::<L>(model, false)?,
        (Family::OddEven, ..) => align::late::kernel::<L>(model, true)?,
        _ => return None,
    })
}

/// Two strips and their c's: work for a kernel K, which is a loop over vectors of cases.
struct Task<'a, K> {
    kernel: &'a K,
    a: &'a Strip<'a>,
    b: &'a Strip<'a>,
    c: *mut u8,
}

/// Work on the vectors of a task; `ONE`: its strips have one lane. A trait and not closures, because only methods can be made
/// to be inlined, without which they would not be compiled for the level. Implementations must be `#[inline(always)]`.
trait Vectors {
    unsafe fn run<const ONE: bool>(self);
}

impl<'a, K> Job for Task<'a, K>
where
    Task<'a, K>: Vectors,
{
    #[inline(always)]
    unsafe fn run<M: Lanes>(self) {
        // SAFETY: promised by the caller.
        unsafe {
            match self.a.lanes {
                1 => Vectors::run::<true>(self),
                _ => Vectors::run::<false>(self),
            }
        }
    }
}

/// A vector of a strip, or its only number in all lanes.
///
/// # Safety
/// The numbers must be there; the caller is compiled for the level.
#[inline(always)]
pub(super) unsafe fn element<L: Lanes, const ONE: bool>(from: *const f32) -> L::F {
    // SAFETY: promised by the caller.
    unsafe { if ONE { L::splat(*from) } else { L::load(from) } }
}

/// The same of binary64 numbers.
#[inline(always)]
unsafe fn element_d<L: Doubles, const ONE: bool>(from: *const f64) -> L::D {
    // SAFETY: promised by the caller.
    unsafe {
        if ONE {
            L::splat_d(*from)
        } else {
            L::load_d(from)
        }
    }
}

/// The same of binary32 numbers as binary64 ones.
#[inline(always)]
unsafe fn element_widened<L: Doubles, const ONE: bool>(from: *const f32) -> L::D {
    // SAFETY: promised by the caller.
    unsafe {
        if ONE {
            L::splat_d((*from).into())
        } else {
            L::widen(from)
        }
    }
}

/// Chain of binary32 fused multiply-adds.
struct ChainSingle<L>(PhantomData<L>);

impl<L> ChainSingle<L> {
    const NEW: Self = ChainSingle(PhantomData);
}

// SAFETY: lanes of the strips and as many c's are touched.
unsafe impl<L: Doubles> DotKernel for ChainSingle<L> {
    fn lanes(&self) -> usize {
        L::COUNT
    }

    fn block(&self) -> usize {
        1
    }

    unsafe fn run(&self, a: &Strip, b: &Strip, c: *mut u8, _: usize) {
        let kernel = self;
        // SAFETY: promised by the caller.
        unsafe { L::dispatch(Task { kernel, a, b, c }) }
    }
}

impl<L: Doubles> Vectors for Task<'_, ChainSingle<L>> {
    #[inline(always)]
    unsafe fn run<const ONE: bool>(self) {
        let lanes = self.a.lanes;
        let (a, b) = (self.a.single().as_ptr(), self.b.single().as_ptr());
        // SAFETY: compiled for the level, which is L; the strips have `k` rows of `lanes` numbers.
        unsafe {
            for at in (0..lanes).step_by(L::COUNT) {
                let c = self.c.cast::<f32>().add(at);
                let mut sum = L::load(c);
                for p in 0..self.a.k {
                    let (x, y) = (a.add(p * lanes + at), b.add(p * lanes + at));
                    sum = L::fused(element::<L, ONE>(x), element::<L, ONE>(y), sum);
                }
                L::store(c, sum);
            }
        }
    }
}

/// Chain of binary64 fused multiply-adds.
struct ChainDouble<L> {
    passes_nans: bool,
    level: PhantomData<L>,
}

impl<L> ChainDouble<L> {
    fn new(model: &Model) -> Self {
        ChainDouble {
            passes_nans: passes_nans(model),
            level: PhantomData,
        }
    }
}

// SAFETY: lanes of the strips and as many c's are touched.
unsafe impl<L: Doubles> DotKernel for ChainDouble<L> {
    fn lanes(&self) -> usize {
        L::WIDTH
    }

    fn block(&self) -> usize {
        1
    }

    fn double(&self) -> bool {
        true
    }

    unsafe fn run(&self, a: &Strip, b: &Strip, c: *mut u8, _: usize) {
        let kernel = self;
        // SAFETY: promised by the caller.
        unsafe { L::dispatch(Task { kernel, a, b, c }) }
    }
}

impl<L: Doubles> Vectors for Task<'_, ChainDouble<L>> {
    #[inline(always)]
    unsafe fn run<const ONE: bool>(self) {
        let lanes = self.a.lanes;
        let (a, b) = (self.a.double().as_ptr(), self.b.double().as_ptr());
        // SAFETY: compiled for the level, which is L; the strips have `k` rows of `lanes` numbers.
        unsafe {
            for at in (0..lanes).step_by(L::WIDTH) {
                let c = self.c.cast::<f64>().add(at);
                let before = L::load_d(c);
                let mut sum = before;
                for p in 0..self.a.k {
                    let (x, y) = (a.add(p * lanes + at), b.add(p * lanes + at));
                    sum = L::fused_d(element_d::<L, ONE>(x), element_d::<L, ONE>(y), sum);
                }
                L::store_d(c, sum);
                if !self.kernel.passes_nans {
                    continue;
                }
                let mut cs = [0.0; 8];
                L::store_d(cs.as_mut_ptr(), before);
                for (lane, before) in cs.into_iter().enumerate().take(lanes.min(L::WIDTH)) {
                    if c.add(lane).read().is_nan() {
                        let at = |p: usize| p * lanes + at + lane;
                        let factors = (0..self.a.k).map(|p| (*a.add(at(p)), *b.add(at(p))));
                        c.add(lane).write(chain_passing_nans(before, factors));
                    }
                }
            }
        }
    }
}

/// Products added in pairs; see [`pairwise_sum`](super::pairwise_sum).
struct Pairwise<L, const N: usize, const EXACT: bool> {
    min_normal: f32,
    level: PhantomData<L>,
}

impl<L: Doubles, const N: usize, const EXACT: bool> Pairwise<L, N, EXACT> {
    fn new(model: &Model) -> Self {
        Pairwise {
            min_normal: min_normal(model.a()),
            level: PhantomData,
        }
    }
}

// SAFETY: lanes of the strips and as many c's are touched.
unsafe impl<L: Doubles, const N: usize, const EXACT: bool> DotKernel for Pairwise<L, N, EXACT> {
    fn lanes(&self) -> usize {
        L::COUNT
    }

    fn block(&self) -> usize {
        N
    }

    fn mode(&self) -> FpMode {
        if EXACT || !L::FLUSH_BY_MODE {
            FpMode::Nearest
        } else {
            FpMode::NearestFlush
        }
    }

    unsafe fn run(&self, a: &Strip, b: &Strip, c: *mut u8, _: usize) {
        let kernel = self;
        // SAFETY: promised by the caller.
        unsafe { L::dispatch(Task { kernel, a, b, c }) }
    }
}

impl<L: Doubles, const N: usize, const EXACT: bool> Vectors for Task<'_, Pairwise<L, N, EXACT>> {
    #[inline(always)]
    unsafe fn run<const ONE: bool>(self) {
        let lanes = self.a.lanes;
        let (a, b) = (self.a.single().as_ptr(), self.b.single().as_ptr());
        let least = self.kernel.min_normal;
        // SAFETY: compiled for the level, which is L; the strips have `k` rows of `lanes` numbers.
        unsafe {
            for at in (0..lanes).step_by(L::COUNT) {
                let c = self.c.cast::<f32>().add(at);
                let mut sum = flush_inputs::<L>(L::load(c), f32::MIN_POSITIVE);
                for block in 0..self.a.k / N {
                    let (mut x, mut y) = ([L::splat(0.0); N], [L::splat(0.0); N]);
                    for p in 0..N {
                        let at = (block * N + p) * lanes + at;
                        x[p] = flush_inputs::<L>(element::<L, ONE>(a.add(at)), least);
                        y[p] = flush_inputs::<L>(element::<L, ONE>(b.add(at)), least);
                    }
                    let products = sum_of_products::<L, N, EXACT>(x, y);
                    sum = add_to_c::<L, EXACT>(sum, products);
                }
                L::store(c, sum);
            }
        }
    }
}

/// Inputs, subnormal ones as +0.
#[inline(always)]
unsafe fn flush_inputs<L: Doubles>(x: L::F, min_normal: f32) -> L::F {
    // SAFETY: the caller is compiled for the level.
    unsafe { L::from_bits(flushed::<L>(L::bits(x), min_normal)) }
}

/// Exact sums rounded once; see [`correct_rounding`].
struct Exact<L, const N: usize, const HALF: bool>(PhantomData<L>);

// SAFETY: lanes of the strips and as many c's are touched.
unsafe impl<L: Doubles, const N: usize, const HALF: bool> DotKernel for Exact<L, N, HALF> {
    fn lanes(&self) -> usize {
        L::WIDTH
    }

    fn block(&self) -> usize {
        N
    }

    unsafe fn run(&self, a: &Strip, b: &Strip, c: *mut u8, _: usize) {
        let kernel = self;
        // SAFETY: promised by the caller.
        unsafe { L::dispatch(Task { kernel, a, b, c }) }
    }
}

impl<L: Doubles, const N: usize, const HALF: bool> Vectors for Task<'_, Exact<L, N, HALF>> {
    #[inline(always)]
    unsafe fn run<const ONE: bool>(self) {
        let lanes = self.a.lanes;
        let (a, b) = (self.a.single().as_ptr(), self.b.single().as_ptr());
        // SAFETY: compiled for the level, which is L; the strips have `k` rows of `lanes` numbers.
        unsafe {
            for block in 0..self.a.k / N {
                for at in (0..lanes).step_by(L::WIDTH) {
                    let c = self.c.cast::<f32>().add(at);
                    let (mut x, mut y) = ([L::splat_d(0.0); N], [L::splat_d(0.0); N]);
                    for p in 0..N {
                        let at = (block * N + p) * lanes + at;
                        x[p] = element_widened::<L, ONE>(a.add(at));
                        y[p] = element_widened::<L, ONE>(b.add(at));
                    }
                    let sum = correct_rounding::add_anything::<L, N, HALF>(L::widen(c), x, y);
                    L::narrow(c, sum);
                }
            }
        }
    }
}
