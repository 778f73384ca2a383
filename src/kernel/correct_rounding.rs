//! Products and c added exactly, one RNE to binary32 (CDNA 1): three ways, each exact, by how much the numbers span.
//!
//! Products of two binary16 or two bfloat16 numbers are exact in binary64, and c travels as a binary32 number. Panels
//! carry, for every [`Bounds`] of elements, the smallest and the largest exponent in it, so a tile knows before each of its
//! segments what can happen there:
//!
//! 1. **Chain.** All terms are multiples of 2^u, and no partial sum exceeds 2^(u + 53): then binary64 fused
//!    multiply-adds make no error at all, and [`Doubles::to_24_bits`] is the one rounding of a block. It knows neither
//!    overflow nor subnormal numbers, so the way is only taken where sums stay below 2^127, and where u is -149 or
//!    more: a sum in binary32's subnormal range then has fewer than 24 bits and is kept. A multiple of 2^u that is
//!    rounded to 24 bits is one again, so u only falls when smaller terms come; [`Known`] keeps it and a bound of |c|
//!    from segment to segment, and measures c anew where they have become too loose.
//! 2. **Products exact.** The block's products fit 53 bits, so their sum is exact, whatever c. Two-sum gives c's sum
//!    with it as s + e without error; s + e rounded to odd in 53 bits is all that rounding to 24 bits or fewer needs,
//!    and the conversion to binary32 knows overflow and subnormal numbers.
//! 3. **Anything.** The sum of the products is kept as a pair. binary16: with h = 1.5 * 2^44 in front, a
//!    chain of multiply-adds rounds each product to a multiple of 2^-8, and a second multiply-add finds what was cut, a
//!    multiple of 2^-48 no larger than 2^-9; up to four of either add up exactly (products lie below 2^32). bfloat16:
//!    two-sum. Let now P = u + l with u = RN(P), and c + u = s + t by two-sum. The result is s + (t + l) rounded
//!    to odd: see [`add_pair`]. Infinite or NaN products spoil all this, but not the plain sum of all terms, which is
//!    finite in binary64 if and only if all terms are; where it is not it is the result.
//!
//! A sum of zero is +0 whatever its terms: sums start from +0 instead of from their first product. A nonzero sum that
//! rounds to zero keeps its sign, in the conversion.

use std::marker::PhantomData;

use super::doubles::{Doubles, fast_two_sum, two_sum};
use super::lanes::{Job, Lanes};
use super::{FpMode, Kernel, PackStrips, Shape, Strip, Tile};
use crate::format::Format;
use crate::model::Model;

/// The kernel of a unit that rounds exact sums.
pub fn kernel<L: Doubles>(model: &Model) -> Option<Box<dyn Kernel>> {
    match (model.a(), model.params().fma) {
        (Format::Fp16, 4) => Some(by_level::<L, 4, true>(model)),
        (Format::Fp16, 3) => Some(by_level::<L, 3, true>(model)),
        (Format::Fp16, 2) => Some(by_level::<L, 2, true>(model)),
        (Format::Fp16, 1) => Some(by_level::<L, 1, true>(model)),
        (Format::Bf16, 2) => Some(by_level::<L, 2, false>(model)),
        (Format::Bf16, 1) => Some(by_level::<L, 1, false>(model)),
        _ => None,
    }
}

fn by_level<L: Doubles, const N: usize, const HALF: bool>(model: &Model) -> Box<dyn Kernel> {
    match L::COUNT {
        16 => Box::new(Exact::<L, N, HALF, 8>::new(model)),
        8 => Box::new(Exact::<L, N, HALF, 6>::new(model)),
        _ => Box::new(Exact::<L, N, HALF, 4>::new(model)),
    }
}

/// Vectors in a row of a tile.
const VECTORS: usize = 2;

/// Products of a segment: about sixteen, whole blocks of N. At the end of K only the blocks that exist are computed: one
/// more of zeros would turn a result of -0 into +0.
const fn segment(n: usize) -> usize {
    16 / n * n
}

/// Exponents of a segment's nonzero elements, and its length; behind its numbers in a panel.
#[derive(Clone, Copy)]
#[repr(C)]
struct Bounds {
    /// Blocks that exist.
    blocks: u32,
    /// Of the smallest, not below the format's smallest normal exponent. Very large if all elements are zero.
    smallest: i32,
    /// Of the largest; 128 for infinities and NaNs. Very small if all elements are zero.
    largest: i32,
}

/// Tiles of R rows for blocks of N products; HALF for binary16, else bfloat16.
struct Exact<L, const N: usize, const HALF: bool, const R: usize> {
    format: Input,
    level: PhantomData<L>,
}

/// What matters about the input format.
#[derive(Clone, Copy)]
struct Input {
    min_exponent: i32,
    fraction_bits: i32,
}

impl<L: Doubles, const N: usize, const HALF: bool, const R: usize> Exact<L, N, HALF, R> {
    const NR: usize = VECTORS * L::WIDTH;
    const A_BLOCK: usize = (R * segment(N) * 8 + size_of::<Bounds>()).next_multiple_of(8);
    const B_BLOCK: usize = (Self::NR * segment(N) * 8 + size_of::<Bounds>()).next_multiple_of(64);

    fn new(model: &Model) -> Self {
        let info = model.a().info();
        Exact {
            format: Input {
                min_exponent: info.min_exponent(),
                fraction_bits: info.fraction_bits as i32,
            },
            level: PhantomData,
        }
    }

    /// # Safety
    /// The panel must have room for the strip, and the machine the level.
    unsafe fn pack(&self, strip: &Strip, panel: *mut u8, lanes: usize, block_bytes: usize) {
        let job = Pack::<L> {
            values: strip.single(),
            filled: strip.filled.div_ceil(N),
            blocks: segment(N) / N,
            segment: lanes * segment(N),
            min_exponent: self.format.min_exponent,
            panel,
            block_bytes,
            level: PhantomData,
        };
        // SAFETY: promised by the caller.
        unsafe { L::dispatch(job) }
    }
}

// SAFETY: packing and tiles touch what the shape describes.
unsafe impl<L: Doubles, const N: usize, const HALF: bool, const R: usize> Kernel
    for Exact<L, N, HALF, R>
{
    fn shape(&self) -> Shape {
        Shape {
            mr: R,
            nr: Self::NR,
            block: segment(N),
            double: false,
            a_block_bytes: Self::A_BLOCK,
            b_block_bytes: Self::B_BLOCK,
            mode: FpMode::Nearest,
        }
    }

    fn packing(&self) -> Option<&dyn PackStrips> {
        Some(self)
    }

    unsafe fn tile(&self, tile: &Tile) {
        // SAFETY: promised by the caller.
        unsafe { L::dispatch(TileJob { kernel: self, tile }) }
    }
}

// SAFETY: packing touches the blocks of the strip, as the shape describes them.
unsafe impl<L: Doubles, const N: usize, const HALF: bool, const R: usize> PackStrips
    for Exact<L, N, HALF, R>
{
    unsafe fn pack_a(&self, strip: &Strip, panel: *mut u8) {
        // SAFETY: promised by the caller.
        unsafe { self.pack(strip, panel, R, Self::A_BLOCK) }
    }

    unsafe fn pack_b(&self, strip: &Strip, panel: *mut u8) {
        // SAFETY: promised by the caller.
        unsafe { self.pack(strip, panel, Self::NR, Self::B_BLOCK) }
    }
}

/// Widens a strip to binary64 and bounds its exponents.
struct Pack<'a, L> {
    values: &'a [f32],
    /// Blocks of the strip that exist.
    filled: usize,
    /// Blocks of a segment, and numbers.
    blocks: usize,
    segment: usize,
    min_exponent: i32,
    panel: *mut u8,
    block_bytes: usize,
    level: PhantomData<L>,
}

impl<L: Doubles> Job for Pack<'_, L> {
    #[inline(always)]
    unsafe fn run<M: Lanes>(self) {
        for (block, values) in self.values.chunks_exact(self.segment).enumerate() {
            // SAFETY: compiled for the level, which is L; the panel has room for the strip; a segment is a whole number of
            // rows or columns of vectors, or of four numbers where the level has vectors of two.
            unsafe {
                let to = self.panel.add(block * self.block_bytes).cast::<f64>();
                let mut at = 0;
                while at + L::WIDTH <= values.len() {
                    L::store_d(to.add(at), L::widen(values.as_ptr().add(at)));
                    at += L::WIDTH;
                }
                for (i, &x) in values.iter().enumerate().skip(at) {
                    to.add(i).write(x.into());
                }
                let exist = self
                    .filled
                    .saturating_sub(block * self.blocks)
                    .min(self.blocks);
                let bounds = bounds(values, exist as u32, self.min_exponent);
                to.add(values.len()).cast::<Bounds>().write(bounds);
            }
        }
    }
}

/// Smallest and largest magnitude other than zero, as encodings; (u32::MAX, 0) if there is none.
#[inline(always)]
fn magnitudes(values: &[f32]) -> (u32, u32) {
    let (mut smallest, mut largest) = (u32::MAX, 0);
    for x in values {
        let magnitude = x.to_bits() & 0x7fff_ffff;
        // Zero becomes the largest.
        smallest = magnitude.wrapping_sub(1).min(smallest);
        largest = magnitude.max(largest);
    }
    (smallest.saturating_add(1), largest)
}

#[inline(always)]
fn bounds(values: &[f32], blocks: u32, min_exponent: i32) -> Bounds {
    let (smallest, largest) = magnitudes(values);
    let exponent = |magnitude: u32| ((magnitude >> 23) as i32 - 127).max(min_exponent);
    let none = largest == 0;
    Bounds {
        blocks,
        smallest: if none { 10_000 } else { exponent(smallest) },
        largest: if none { -10_000 } else { exponent(largest) },
    }
}

/// 2^exponent, or a bound of it where binary64 has no such number: 0 below, a large number above.
#[inline(always)]
fn power(exponent: i32) -> f64 {
    let field = (exponent.clamp(-1023, 1023) + 1023) as u64;
    f64::from_bits(field << 52)
}

/// What is known of one segment's products.
#[derive(Clone, Copy)]
struct Products {
    /// All are multiples of 2^unit.
    unit: i32,
    /// Each is below 2^below in magnitude; 256 or more where something is infinite or NaN.
    below: i32,
}

impl Products {
    #[inline(always)]
    fn new(a: Bounds, b: Bounds, input: Input) -> Products {
        Products {
            unit: a.smallest + b.smallest - 2 * input.fraction_bits,
            below: a.largest + b.largest + 2,
        }
    }

    /// Are sums of up to four of them exact in binary64?
    #[inline(always)]
    fn add_exactly(&self, finite: bool) -> bool {
        finite && self.below + 2 <= self.unit + 53
    }
}

/// What is known of all of a tile's c.
#[derive(Clone, Copy)]
struct Known {
    /// All are multiples of 2^unit.
    unit: i32,
    /// None exceeds this.
    bound: f64,
}

impl Known {
    /// Looks at the c's. A binary32 number of exponent e is a multiple of 2^(e - 23).
    #[inline(always)]
    fn measure(c: &[f32]) -> Known {
        let (smallest, largest) = magnitudes(c);
        if largest == 0 {
            return Known {
                unit: 10_000,
                bound: 0.0,
            };
        }
        Known {
            unit: ((smallest >> 23) as i32).max(1) - 127 - 23,
            bound: f64::from_bits(u64::from(largest) << 29) * power(1023 - 127),
        }
    }

    /// What is known after a segment whose blocks are added as chains; `None` if that need not be exact.
    #[inline(always)]
    fn after(self, products: Products) -> Option<Known> {
        let unit = self.unit.min(products.unit);
        // At most 16 products; each rounding adds less than 2^-24 of the sum.
        let bound = (self.bound + power(products.below + 4)) * (1.0 + power(-19));
        let exact = bound <= power(unit + 53) && bound < power(127) && unit >= -149;
        exact.then_some(Known { unit, bound })
    }
}

struct TileJob<'a, L, const N: usize, const HALF: bool, const R: usize> {
    kernel: &'a Exact<L, N, HALF, R>,
    tile: &'a Tile,
}

/// Which way a segment is taken where it is not a chain.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    ProductsExact,
    Finite,
    Anything,
}

impl<L: Doubles, const N: usize, const HALF: bool, const R: usize> Job
    for TileJob<'_, L, N, HALF, R>
{
    #[inline(always)]
    unsafe fn run<M: Lanes>(self) {
        let TileJob { kernel, tile } = self;
        // SAFETY: compiled for the level, which is L; the tile is as the engine describes it.
        unsafe {
            let numbers = R * Exact::<L, N, HALF, R>::NR;
            let c = tile.c.cast::<f32>();
            // What does not matter holds anything; as zeros it changes no bound.
            let nr = numbers / R;
            for row in 0..R {
                let kept = if row < tile.rows { tile.cols } else { 0 };
                c.add(row * nr + kept).write_bytes(0, nr - kept);
            }
            let measure = || Known::measure(std::slice::from_raw_parts(c, numbers));
            let (mut known, mut fresh) = (measure(), true);
            let mut at = 0;
            while at < tile.blocks {
                // As many segments as can be added as chains.
                let first = at;
                let mut products = kernel.products(tile, at);
                while let Some(after) = known.after(products) {
                    (known, fresh) = (after, false);
                    at += 1;
                    if at == tile.blocks {
                        break;
                    }
                    products = kernel.products(tile, at);
                }
                if at > first {
                    kernel.chain(tile, first, at - first);
                } else if fresh {
                    let finite = kernel.is_finite(tile, at);
                    let way = if products.add_exactly(finite) {
                        Way::ProductsExact
                    } else if finite {
                        Way::Finite
                    } else {
                        Way::Anything
                    };
                    kernel.segment(tile, at, way);
                    at += 1;
                    (known, fresh) = (measure(), true);
                } else {
                    (known, fresh) = (measure(), true);
                }
            }
        }
    }
}

/// The parts of a tile. All of them are as unsafe as [`Kernel::tile`], compiled for the level.
impl<L: Doubles, const N: usize, const HALF: bool, const R: usize> Exact<L, N, HALF, R> {
    #[inline(always)]
    unsafe fn a(tile: &Tile, segment: usize) -> *const f64 {
        unsafe { tile.a.add(segment * Self::A_BLOCK).cast() }
    }

    #[inline(always)]
    unsafe fn b(tile: &Tile, segment: usize) -> *const f64 {
        unsafe { tile.b.add(segment * Self::B_BLOCK).cast() }
    }

    #[inline(always)]
    unsafe fn bounds(tile: &Tile, at: usize) -> [Bounds; 2] {
        unsafe {
            let a = Self::a(tile, at).add(R * segment(N)).cast::<Bounds>();
            let b = Self::b(tile, at)
                .add(Self::NR * segment(N))
                .cast::<Bounds>();
            [a.read(), b.read()]
        }
    }

    #[inline(always)]
    unsafe fn products(&self, tile: &Tile, at: usize) -> Products {
        let [a, b] = unsafe { Self::bounds(tile, at) };
        Products::new(a, b, self.format)
    }

    #[inline(always)]
    unsafe fn is_finite(&self, tile: &Tile, at: usize) -> bool {
        unsafe { Self::bounds(tile, at) }
            .iter()
            .all(|bounds| bounds.largest < 128)
    }

    /// The first way, over some segments.
    #[inline(always)]
    unsafe fn chain(&self, tile: &Tile, first: usize, segments: usize) {
        // SAFETY: promised by the caller.
        unsafe {
            let c = tile.c.cast::<f32>();
            let mut sums = [[L::splat_d(0.0); VECTORS]; R];
            for (i, row) in sums.iter_mut().enumerate() {
                for (v, sum) in row.iter_mut().enumerate() {
                    *sum = L::widen(c.add(i * Self::NR + v * L::WIDTH));
                }
            }
            for at in first..first + segments {
                let (mut a, mut b) = (Self::a(tile, at), Self::b(tile, at));
                for _ in 0..Self::bounds(tile, at)[0].blocks {
                    // Half of the rows at a time: while the sums of one half are rounded, the other half's grow. Columns are
                    // loaded again for the other half, as both halves' would push sums out of the registers.
                    for half in 0..2 {
                        let rows = half * (R / 2)..(half + 1) * (R / 2);
                        for p in 0..N {
                            let mut columns = [L::splat_d(0.0); VECTORS];
                            for (v, column) in columns.iter_mut().enumerate() {
                                *column = L::load_d(b.add(p * Self::NR + v * L::WIDTH));
                            }
                            for i in rows.clone() {
                                let x = L::splat_d(*a.add(p * R + i));
                                for (sum, column) in sums[i].iter_mut().zip(columns) {
                                    *sum = L::mul_add_d(x, column, *sum);
                                }
                            }
                        }
                        for row in &mut sums[rows] {
                            for sum in row {
                                *sum = L::settle(L::to_24_bits(*sum));
                            }
                        }
                    }
                    a = a.add(N * R);
                    b = b.add(N * Self::NR);
                }
            }
            for (i, row) in sums.iter().enumerate() {
                for (v, sum) in row.iter().enumerate() {
                    L::narrow(c.add(i * Self::NR + v * L::WIDTH), *sum);
                }
            }
        }
    }

    /// The second and the third way, over one segment. Sums wait in the tile: their chains of operations are long, and
    /// the processor finds more to do at once when other rows stand between two blocks of one.
    #[inline(always)]
    unsafe fn segment(&self, tile: &Tile, at: usize, way: Way) {
        // SAFETY: promised by the caller.
        unsafe {
            let (mut a, mut b) = (Self::a(tile, at), Self::b(tile, at));
            for _ in 0..Self::bounds(tile, at)[0].blocks {
                for i in 0..tile.rows {
                    let mut factors = [L::splat_d(0.0); N];
                    for (p, x) in factors.iter_mut().enumerate() {
                        *x = L::splat_d(*a.add(p * R + i));
                    }
                    for v in 0..VECTORS {
                        let mut columns = [L::splat_d(0.0); N];
                        for (p, y) in columns.iter_mut().enumerate() {
                            *y = L::load_d(b.add(p * Self::NR + v * L::WIDTH));
                        }
                        let c = tile.c.cast::<f32>().add(i * Self::NR + v * L::WIDTH);
                        let sum = match way {
                            Way::ProductsExact => add_exact::<L, N>(L::widen(c), factors, columns),
                            Way::Finite => add_finite::<L, N, HALF>(L::widen(c), factors, columns),
                            Way::Anything => {
                                add_anything::<L, N, HALF>(L::widen(c), factors, columns)
                            }
                        };
                        L::narrow(c, sum);
                    }
                }
                a = a.add(N * R);
                b = b.add(N * Self::NR);
            }
        }
    }
}

/// The second way: c and a block whose products add exactly, rounded to odd. An infinite or NaN c stays.
#[inline(always)]
pub(super) unsafe fn add_exact<L: Doubles, const N: usize>(
    c: L::D,
    a: [L::D; N],
    b: [L::D; N],
) -> L::D {
    // SAFETY: the caller is compiled for the level.
    unsafe {
        let mut products = L::splat_d(0.0);
        for (a, b) in a.into_iter().zip(b) {
            products = L::mul_add_d(a, b, products);
        }
        let (sum, error) = two_sum::<L>(c, products);
        L::to_odd(sum, error)
    }
}

/// The third way: c and a block, rounded to odd.
#[inline(always)]
pub(super) unsafe fn add_anything<L: Doubles, const N: usize, const HALF: bool>(
    c: L::D,
    a: [L::D; N],
    b: [L::D; N],
) -> L::D {
    // SAFETY: the caller is compiled for the level.
    unsafe {
        let mut plain = c;
        for (a, b) in a.into_iter().zip(b) {
            plain = L::mul_add_d(a, b, plain);
        }
        L::special_or(plain, add_finite::<L, N, HALF>(c, a, b))
    }
}

/// The same for finite products. An infinite or NaN c stays.
#[inline(always)]
unsafe fn add_finite<L: Doubles, const N: usize, const HALF: bool>(
    c: L::D,
    a: [L::D; N],
    b: [L::D; N],
) -> L::D {
    // SAFETY: the caller is compiled for the level.
    unsafe {
        let (sum, rest) = if HALF {
            sum_of_halves::<L, N>(a, b)
        } else {
            sum_of_two::<L, N>(a, b)
        };
        add_pair::<L>(c, sum, rest)
    }
}

/// Sum of up to four products of binary16 numbers, as a pair.
#[inline(always)]
unsafe fn sum_of_halves<L: Doubles, const N: usize>(a: [L::D; N], b: [L::D; N]) -> (L::D, L::D) {
    // SAFETY: the caller is compiled for the level.
    unsafe {
        // Between 2^44 and 2^45 the last bit weighs 2^-8.
        let front = L::splat_d(1.5 * (1u64 << 44) as f64);
        let (mut high, mut low) = (front, L::splat_d(0.0));
        for (a, b) in a.into_iter().zip(b) {
            let next = L::mul_add_d(a, b, high);
            let cut = L::mul_add_d(a, b, L::sub_d(high, next));
            (high, low) = (next, L::add_d(low, cut));
        }
        // The high part is zero, or at least 2^-8: it is the larger one, or both are so small that they add exactly.
        fast_two_sum::<L>(L::sub_d(high, front), low)
    }
}

/// Sum of one or two products, as a pair.
#[inline(always)]
unsafe fn sum_of_two<L: Doubles, const N: usize>(a: [L::D; N], b: [L::D; N]) -> (L::D, L::D) {
    // SAFETY: the caller is compiled for the level.
    unsafe {
        let zero = L::splat_d(0.0);
        let first = L::mul_add_d(a[0], b[0], zero);
        if N == 1 {
            return (first, zero);
        }
        two_sum::<L>(first, L::mul_d(a[N - 1], b[N - 1]))
    }
}

/// c + high + low rounded to odd, for |low| at most half a unit in the last place of high.
///
/// With c + high = s + t by two-sum and v = RN(t + low), the result is s + v rounded to odd.
///
/// If t = 0, then v = low exactly, and one rounding remains. Else neither c nor high is lost in the other by
/// cancellation: |s| >= |high| / 2, so |low| <= ulp(s), |v| < 2 ulp(s), and s + v is far from cancelling. Rounding
/// to odd then asks only between which neighbours of s, s - ulp(s) or s + ulp(s), the sum lies, and whether it is one
/// of them. v answers that like t + low does: if v is inexact, t and low differ in size so much that one of them
/// decides. If low is the small one, |t| <= ulp(s) / 2 is a bit pattern of its own (from c, or from high's end) that is
/// neither zero nor a whole ulp, and low cannot move it across one. If t is the small one, it is c itself, c being far
/// below all of high, and low, of few bits, is not a whole ulp either, being at most half an ulp of high.
///
/// Two-sum's shorter form does for s + v: either |s| > |v|, or c and high cancel so far that s + low is exact.
#[inline(always)]
unsafe fn add_pair<L: Doubles>(c: L::D, high: L::D, low: L::D) -> L::D {
    // SAFETY: the caller is compiled for the level.
    unsafe {
        let (first, error) = two_sum::<L>(c, high);
        let (sum, rest) = fast_two_sum::<L>(first, L::add_d(error, low));
        // Errors of an infinite sum are NaN.
        L::special_or(first, L::to_odd(sum, rest))
    }
}
