//! binary64 vectors of a level, and binary32 fused multiply-add: what the exact families are written in.
//!
//! Like [`Lanes`], each operation is one or two instructions; the tests compare every level that the machine has with
//! plain scalar code.

use super::lanes::Lanes;

/// Vectors of [`Doubles::WIDTH`] binary64 numbers, half as many as there are binary32 lanes.
///
/// # Safety
/// As for [`Lanes`]. Except for [`Doubles::flush`] the mode in place must round to nearest and keep subnormal numbers.
#[allow(clippy::missing_safety_doc)]
pub trait Doubles: Lanes {
    /// Numbers in a vector.
    const WIDTH: usize;
    /// Does arithmetic flush subnormal binary32 results by itself in mode
    /// [`FpMode::NearestFlush`](super::FpMode::NearestFlush)? Else [`Doubles::flush`] does it in any mode.
    const FLUSH_BY_MODE: bool;
    /// binary64 lanes.
    type D: Copy;

    /// binary32 x * y + z, rounded once.
    unsafe fn fused(x: Self::F, y: Self::F, z: Self::F) -> Self::F;
    /// A subnormal binary32 number becomes a zero of its sign; nothing happens if the mode does it.
    unsafe fn flush(x: Self::F) -> Self::F;

    unsafe fn load_d(from: *const f64) -> Self::D;
    unsafe fn store_d(to: *mut f64, x: Self::D);
    unsafe fn splat_d(x: f64) -> Self::D;
    unsafe fn add_d(x: Self::D, y: Self::D) -> Self::D;
    unsafe fn sub_d(x: Self::D, y: Self::D) -> Self::D;
    unsafe fn mul_d(x: Self::D, y: Self::D) -> Self::D;
    /// x * y + z, rounded once.
    unsafe fn fused_d(x: Self::D, y: Self::D, z: Self::D) -> Self::D;
    /// x * y + z where x * y is exact, so that it does not matter whether the product is rounded.
    unsafe fn mul_add_d(x: Self::D, y: Self::D, z: Self::D) -> Self::D;
    /// WIDTH binary32 numbers.
    unsafe fn widen(from: *const f32) -> Self::D;
    /// Rounds to binary32, to nearest even, and stores WIDTH numbers.
    unsafe fn narrow(to: *mut f32, x: Self::D);
    /// Rounds to 24 significant bits, to nearest even, in an exponent range without end; -0 becomes +0. For finite
    /// numbers below 2^990.
    ///
    /// 1.5 * 2^(e + 29), where 2^e is x's binade, is added and taken away: the sum lies in one binade, whatever x, and
    /// its last bit weighs 2^(e - 23), so that the addition is the one rounding; half the constant's last bit is even, so
    /// ties go to even.
    unsafe fn to_24_bits(x: Self::D) -> Self::D;
    /// x + error rounded to odd, for x = RNE(x + error): x itself if the error is zero, else the neighbour toward zero of
    /// the exact sum with its last bit set. Infinities and NaNs stay as they are.
    ///
    /// Whoever rounds the result to 51 bits or fewer, to nearest, gets what the exact sum would give.
    unsafe fn to_odd(x: Self::D, error: Self::D) -> Self::D;
    /// `x` where it is infinite or NaN, else `y`.
    unsafe fn special_or(x: Self::D, y: Self::D) -> Self::D;
    /// x, which the compiler then computes here and not later, and before it loads what follows.
    #[inline(always)]
    unsafe fn settle(x: Self::D) -> Self::D {
        x
    }
}

/// x + y = sum + error, for any x and y.
#[inline(always)]
pub unsafe fn two_sum<L: Doubles>(x: L::D, y: L::D) -> (L::D, L::D) {
    // SAFETY: the caller is compiled for the level.
    unsafe {
        let sum = L::add_d(x, y);
        let of_y = L::sub_d(sum, x);
        let of_x = L::sub_d(sum, of_y);
        let error = L::add_d(L::sub_d(x, of_x), L::sub_d(y, of_y));
        (sum, error)
    }
}

/// x + y = sum + error, for |x| >= |y| or where the sum is exact.
#[inline(always)]
pub unsafe fn fast_two_sum<L: Doubles>(x: L::D, y: L::D) -> (L::D, L::D) {
    // SAFETY: the caller is compiled for the level.
    unsafe {
        let sum = L::add_d(x, y);
        (sum, L::sub_d(y, L::sub_d(sum, x)))
    }
}

/// Added to the exponent field of x's binade: the constant of [`Doubles::to_24_bits`].
const TO_24_BITS: i64 = 29 << 52 | 1 << 51;
const EXPONENT: i64 = 0x7ff << 52;

/// One lane of the array levels.
mod scalar {
    use super::{EXPONENT, TO_24_BITS};

    /// A product of binary32 numbers is exact in binary64, and a sum rounded to odd there tells binary32 how to round.
    #[inline(always)]
    pub fn fused(x: f32, y: f32, z: f32) -> f32 {
        if cfg!(any(target_arch = "aarch64", target_feature = "fma")) {
            return x.mul_add(y, z);
        }
        let (product, z) = (f64::from(x) * f64::from(y), f64::from(z));
        let sum = product + z;
        let of_z = sum - product;
        let error = (product - (sum - of_z)) + (z - of_z);
        to_odd(sum, error) as f32
    }

    #[inline(always)]
    pub fn flush(x: f32) -> f32 {
        if x.abs() < f32::MIN_POSITIVE {
            f32::from_bits(x.to_bits() & 1 << 31)
        } else {
            x
        }
    }

    #[inline(always)]
    pub fn to_24_bits(x: f64) -> f64 {
        let grid = (x.to_bits() as i64 & EXPONENT).wrapping_add(TO_24_BITS);
        let grid = f64::from_bits(grid as u64);
        (x + grid) - grid
    }

    #[inline(always)]
    pub fn to_odd(x: f64, error: f64) -> f64 {
        // Comparisons with NaN are false, so what is not finite stays.
        let inexact = error.abs() > 0.0;
        let too_far = error * x < 0.0;
        let bits = x.to_bits() - u64::from(too_far);
        f64::from_bits(bits | u64::from(inexact))
    }

    #[inline(always)]
    pub fn special_or(x: f64, y: f64) -> f64 {
        if x.abs() < f64::INFINITY { y } else { x }
    }
}

/// Implements [`Doubles`] for a level of four binary32 lanes by arrays of two, which compilers turn into 128-bit vectors.
macro_rules! array_doubles {
    ($level:ty, $by_mode:expr, $fused:expr, $flush:expr) => {
        // SAFETY (of every block): pointers are good for as many numbers as the callers of `Doubles` promise.
        impl Doubles for $level {
            const WIDTH: usize = 2;
            const FLUSH_BY_MODE: bool = $by_mode;
            type D = [f64; 2];

            #[inline(always)]
            unsafe fn fused(x: Self::F, y: Self::F, z: Self::F) -> Self::F {
                ($fused)(x, y, z)
            }
            #[inline(always)]
            unsafe fn flush(x: Self::F) -> Self::F {
                ($flush)(x)
            }
            #[inline(always)]
            unsafe fn load_d(from: *const f64) -> [f64; 2] {
                unsafe { from.cast::<[f64; 2]>().read_unaligned() }
            }
            #[inline(always)]
            unsafe fn store_d(to: *mut f64, x: [f64; 2]) {
                unsafe { to.cast::<[f64; 2]>().write_unaligned(x) }
            }
            #[inline(always)]
            unsafe fn splat_d(x: f64) -> [f64; 2] {
                [x; 2]
            }
            #[inline(always)]
            unsafe fn add_d(x: [f64; 2], y: [f64; 2]) -> [f64; 2] {
                [x[0] + y[0], x[1] + y[1]]
            }
            #[inline(always)]
            unsafe fn sub_d(x: [f64; 2], y: [f64; 2]) -> [f64; 2] {
                [x[0] - y[0], x[1] - y[1]]
            }
            #[inline(always)]
            unsafe fn mul_d(x: [f64; 2], y: [f64; 2]) -> [f64; 2] {
                [x[0] * y[0], x[1] * y[1]]
            }
            #[inline(always)]
            unsafe fn fused_d(x: [f64; 2], y: [f64; 2], z: [f64; 2]) -> [f64; 2] {
                [x[0].mul_add(y[0], z[0]), x[1].mul_add(y[1], z[1])]
            }
            #[inline(always)]
            unsafe fn mul_add_d(x: [f64; 2], y: [f64; 2], z: [f64; 2]) -> [f64; 2] {
                [x[0] * y[0] + z[0], x[1] * y[1] + z[1]]
            }
            #[inline(always)]
            unsafe fn widen(from: *const f32) -> [f64; 2] {
                unsafe { from.cast::<[f32; 2]>().read_unaligned().map(f64::from) }
            }
            #[inline(always)]
            unsafe fn narrow(to: *mut f32, x: [f64; 2]) {
                unsafe { to.cast::<[f32; 2]>().write_unaligned(x.map(|x| x as f32)) }
            }
            #[inline(always)]
            unsafe fn to_24_bits(x: [f64; 2]) -> [f64; 2] {
                x.map(scalar::to_24_bits)
            }
            #[inline(always)]
            unsafe fn to_odd(x: [f64; 2], error: [f64; 2]) -> [f64; 2] {
                [
                    scalar::to_odd(x[0], error[0]),
                    scalar::to_odd(x[1], error[1]),
                ]
            }
            #[inline(always)]
            unsafe fn special_or(x: [f64; 2], y: [f64; 2]) -> [f64; 2] {
                [
                    scalar::special_or(x[0], y[0]),
                    scalar::special_or(x[1], y[1]),
                ]
            }
        }
    };
}

array_doubles!(
    super::portable::Portable,
    false,
    |x: [f32; 4], y: [f32; 4], z: [f32; 4]| -> [f32; 4] {
        std::array::from_fn(|i| scalar::fused(x[i], y[i], z[i]))
    },
    |x: [f32; 4]| -> [f32; 4] { x.map(scalar::flush) }
);

#[cfg(target_arch = "aarch64")]
array_doubles!(
    super::neon::Neon,
    true,
    |x, y, z| {
        // SAFETY: every 64-bit ARM has NEON.
        unsafe { std::arch::aarch64::vfmaq_f32(z, x, y) }
    },
    |x| x
);

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::asm;
    use std::arch::x86_64::*;

    use super::super::avx2::Avx2;
    use super::super::avx512::Avx512;
    use super::{Doubles, EXPONENT, TO_24_BITS};

    macro_rules! settled {
        ($name:ident, $vector:ty, $register:ident, $feature:literal) => {
            #[inline]
            #[target_feature(enable = $feature)]
            unsafe fn $name(mut x: $vector) -> $vector {
                // SAFETY: no instruction. It counts as one that may write memory.
                unsafe { asm!("/* {0} */", inout($register) x, options(nostack, preserves_flags)) };
                x
            }
        };
    }

    settled!(settled_256, __m256d, ymm_reg, "avx");
    settled!(settled_512, __m512d, zmm_reg, "avx512f");

    // SAFETY (of every block here): the machine has AVX2 and FMA, and pointers are good for as many numbers as the
    // callers of `Doubles` promise.
    impl Doubles for Avx2 {
        const WIDTH: usize = 4;
        const FLUSH_BY_MODE: bool = true;
        type D = __m256d;

        #[inline(always)]
        unsafe fn fused(x: __m256, y: __m256, z: __m256) -> __m256 {
            unsafe { _mm256_fmadd_ps(x, y, z) }
        }
        #[inline(always)]
        unsafe fn flush(x: __m256) -> __m256 {
            x
        }
        #[inline(always)]
        unsafe fn load_d(from: *const f64) -> __m256d {
            unsafe { _mm256_loadu_pd(from) }
        }
        #[inline(always)]
        unsafe fn store_d(to: *mut f64, x: __m256d) {
            unsafe { _mm256_storeu_pd(to, x) }
        }
        #[inline(always)]
        unsafe fn splat_d(x: f64) -> __m256d {
            unsafe { _mm256_set1_pd(x) }
        }
        #[inline(always)]
        unsafe fn add_d(x: __m256d, y: __m256d) -> __m256d {
            unsafe { _mm256_add_pd(x, y) }
        }
        #[inline(always)]
        unsafe fn sub_d(x: __m256d, y: __m256d) -> __m256d {
            unsafe { _mm256_sub_pd(x, y) }
        }
        #[inline(always)]
        unsafe fn mul_d(x: __m256d, y: __m256d) -> __m256d {
            unsafe { _mm256_mul_pd(x, y) }
        }
        #[inline(always)]
        unsafe fn fused_d(x: __m256d, y: __m256d, z: __m256d) -> __m256d {
            unsafe { _mm256_fmadd_pd(x, y, z) }
        }
        #[inline(always)]
        unsafe fn mul_add_d(x: __m256d, y: __m256d, z: __m256d) -> __m256d {
            unsafe { _mm256_fmadd_pd(x, y, z) }
        }
        #[inline(always)]
        unsafe fn widen(from: *const f32) -> __m256d {
            unsafe { _mm256_cvtps_pd(_mm_loadu_ps(from)) }
        }
        #[inline(always)]
        unsafe fn narrow(to: *mut f32, x: __m256d) {
            unsafe { _mm_storeu_ps(to, _mm256_cvtpd_ps(x)) }
        }
        #[inline(always)]
        unsafe fn to_24_bits(x: __m256d) -> __m256d {
            unsafe {
                let exponent =
                    _mm256_and_si256(_mm256_castpd_si256(x), _mm256_set1_epi64x(EXPONENT));
                let grid = _mm256_add_epi64(exponent, _mm256_set1_epi64x(TO_24_BITS));
                let grid = _mm256_castsi256_pd(grid);
                _mm256_sub_pd(_mm256_add_pd(x, grid), grid)
            }
        }
        #[inline(always)]
        unsafe fn to_odd(x: __m256d, error: __m256d) -> __m256d {
            unsafe {
                let zero = _mm256_setzero_pd();
                let inexact = _mm256_cmp_pd::<_CMP_NEQ_OQ>(error, zero);
                let too_far = _mm256_cmp_pd::<_CMP_LT_OQ>(_mm256_mul_pd(error, x), zero);
                let last = _mm256_srli_epi64::<63>(_mm256_castpd_si256(inexact));
                let bits = _mm256_add_epi64(_mm256_castpd_si256(x), _mm256_castpd_si256(too_far));
                _mm256_castsi256_pd(_mm256_or_si256(bits, last))
            }
        }
        #[inline(always)]
        unsafe fn special_or(x: __m256d, y: __m256d) -> __m256d {
            unsafe {
                let magnitude = _mm256_andnot_pd(_mm256_set1_pd(-0.0), x);
                let finite = _mm256_cmp_pd::<_CMP_LT_OQ>(magnitude, _mm256_set1_pd(f64::INFINITY));
                _mm256_blendv_pd(x, y, finite)
            }
        }
        #[inline(always)]
        unsafe fn settle(x: __m256d) -> __m256d {
            unsafe { settled_256(x) }
        }
    }

    // SAFETY (of every block here): the machine has AVX-512 F, BW, DQ and VL, and pointers are good for as many numbers
    // as the callers of `Doubles` promise.
    impl Doubles for Avx512 {
        const WIDTH: usize = 8;
        const FLUSH_BY_MODE: bool = true;
        type D = __m512d;

        #[inline(always)]
        unsafe fn fused(x: __m512, y: __m512, z: __m512) -> __m512 {
            unsafe { _mm512_fmadd_ps(x, y, z) }
        }
        #[inline(always)]
        unsafe fn flush(x: __m512) -> __m512 {
            x
        }
        #[inline(always)]
        unsafe fn load_d(from: *const f64) -> __m512d {
            unsafe { _mm512_loadu_pd(from) }
        }
        #[inline(always)]
        unsafe fn store_d(to: *mut f64, x: __m512d) {
            unsafe { _mm512_storeu_pd(to, x) }
        }
        #[inline(always)]
        unsafe fn splat_d(x: f64) -> __m512d {
            unsafe { _mm512_set1_pd(x) }
        }
        #[inline(always)]
        unsafe fn add_d(x: __m512d, y: __m512d) -> __m512d {
            unsafe { _mm512_add_pd(x, y) }
        }
        #[inline(always)]
        unsafe fn sub_d(x: __m512d, y: __m512d) -> __m512d {
            unsafe { _mm512_sub_pd(x, y) }
        }
        #[inline(always)]
        unsafe fn mul_d(x: __m512d, y: __m512d) -> __m512d {
            unsafe { _mm512_mul_pd(x, y) }
        }
        #[inline(always)]
        unsafe fn fused_d(x: __m512d, y: __m512d, z: __m512d) -> __m512d {
            unsafe { _mm512_fmadd_pd(x, y, z) }
        }
        #[inline(always)]
        unsafe fn mul_add_d(x: __m512d, y: __m512d, z: __m512d) -> __m512d {
            unsafe { _mm512_fmadd_pd(x, y, z) }
        }
        #[inline(always)]
        unsafe fn widen(from: *const f32) -> __m512d {
            unsafe { _mm512_cvtps_pd(_mm256_loadu_ps(from)) }
        }
        #[inline(always)]
        unsafe fn narrow(to: *mut f32, x: __m512d) {
            unsafe { _mm256_storeu_ps(to, _mm512_cvtpd_ps(x)) }
        }
        #[inline(always)]
        unsafe fn to_24_bits(x: __m512d) -> __m512d {
            unsafe {
                let exponent =
                    _mm512_and_si512(_mm512_castpd_si512(x), _mm512_set1_epi64(EXPONENT));
                let grid = _mm512_add_epi64(exponent, _mm512_set1_epi64(TO_24_BITS));
                let grid = _mm512_castsi512_pd(grid);
                _mm512_sub_pd(_mm512_add_pd(x, grid), grid)
            }
        }
        #[inline(always)]
        unsafe fn to_odd(x: __m512d, error: __m512d) -> __m512d {
            unsafe {
                let (zero, one) = (_mm512_setzero_pd(), _mm512_set1_epi64(1));
                let inexact = _mm512_cmp_pd_mask::<_CMP_NEQ_OQ>(error, zero);
                let too_far = _mm512_cmp_pd_mask::<_CMP_LT_OQ>(_mm512_mul_pd(error, x), zero);
                let bits = _mm512_castpd_si512(x);
                let bits = _mm512_mask_sub_epi64(bits, too_far, bits, one);
                _mm512_castsi512_pd(_mm512_mask_or_epi64(bits, inexact, bits, one))
            }
        }
        #[inline(always)]
        unsafe fn special_or(x: __m512d, y: __m512d) -> __m512d {
            unsafe {
                let infinity = _mm512_set1_pd(f64::INFINITY);
                let finite = _mm512_cmp_pd_mask::<_CMP_LT_OQ>(_mm512_abs_pd(x), infinity);
                _mm512_mask_mov_pd(x, finite, y)
            }
        }
        #[inline(always)]
        unsafe fn settle(x: __m512d) -> __m512d {
            unsafe { settled_512(x) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::level::Level;
    use super::*;

    /// Numbers of all sizes, and the special ones.
    fn numbers(count: usize, seed: u64) -> Vec<f64> {
        let mut state = seed;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        let special = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            f64::from(f32::MAX),
            f64::from(f32::MIN_POSITIVE),
            1.401298464324817e-45,
            0.7006492321624085e-45,
            3.402823567797337e38,
        ];
        let mut draw = || {
            let bits = next();
            match bits % 16 {
                0 => special[next() as usize % special.len()],
                // Ties and neighbours of ties between numbers of 24 bits.
                1..=4 => {
                    let low = [1 << 28, (1 << 28) + 1, (1 << 28) - 1, 0][next() as usize % 4];
                    let exponent = 1023 - 150 + next() % 290;
                    f64::from_bits(bits & (1 << 63 | 0xf_ffff_e000_0000) | exponent << 52 | low)
                }
                _ => {
                    let exponent = 1023 - 160 + next() % 300;
                    f64::from_bits(bits & !(0x7ff << 52) | exponent << 52)
                }
            }
        };
        (0..count).map(|_| draw()).collect()
    }

    fn same(x: f64, y: f64) -> bool {
        x.to_bits() == y.to_bits() || x.is_nan() && y.is_nan()
    }

    /// Every operation of a level against scalar arithmetic.
    unsafe fn compare<L: Doubles>() {
        const COUNT: usize = 1 << 16;
        let (x, y, z) = (numbers(COUNT, 1), numbers(COUNT, 2), numbers(COUNT, 3));
        let finite: Vec<f64> = x
            .iter()
            .map(|&x| if x.is_finite() { x } else { 1.0 })
            .collect();
        let mut got = vec![0.0f64; 16];
        let mut check = |name: &str, at: usize, vector: L::D, want: &dyn Fn(usize) -> f64| {
            // SAFETY: sixteen numbers have room for any vector.
            unsafe { L::store_d(got.as_mut_ptr(), vector) };
            for lane in 0..L::WIDTH {
                let (got, want) = (got[lane], want(at + lane));
                let of = (x[at + lane], y[at + lane], z[at + lane]);
                assert!(same(got, want), "{name} of {of:?}: {got:e}, not {want:e}");
            }
        };
        for at in (0..COUNT).step_by(L::WIDTH) {
            // SAFETY: the vectors lie in the arrays; the caller runs this where the machine has the level.
            unsafe {
                let a = L::load_d(x.as_ptr().add(at));
                let b = L::load_d(y.as_ptr().add(at));
                let c = L::load_d(z.as_ptr().add(at));
                check("add", at, L::add_d(a, b), &|i| x[i] + y[i]);
                check("sub", at, L::sub_d(a, b), &|i| x[i] - y[i]);
                check("mul", at, L::mul_d(a, b), &|i| x[i] * y[i]);
                check("splat", at, L::splat_d(x[at]), &|_| x[at]);
                check("fused", at, L::fused_d(a, b, c), &|i| {
                    x[i].mul_add(y[i], z[i])
                });
                check("special_or", at, L::special_or(a, b), &|i| {
                    if x[i].is_finite() { y[i] } else { x[i] }
                });
                let bounded = L::load_d(finite.as_ptr().add(at));
                check("to_24_bits", at, L::to_24_bits(bounded), &|i| {
                    // Where binary32 has no end of its exponents: scaled into its normal range.
                    let x = finite[i];
                    let exponent = ((x.to_bits() >> 52 & 0x7ff) as i32 - 1023).clamp(-900, 900);
                    let (down, up) = (2f64.powi(-exponent), 2f64.powi(exponent));
                    f64::from((x * down) as f32) * up + 0.0
                });
                let (sum, error) = two_sum::<L>(a, b);
                check("to_odd", at, L::to_odd(sum, error), &|i| {
                    odd_sum(x[i], y[i])
                });
            }
        }
        let single: Vec<f32> = x.iter().map(|&x| x as f32).collect();
        for at in (0..COUNT).step_by(L::WIDTH) {
            let mut narrow = [0.0f32; 16];
            // SAFETY: as above.
            unsafe {
                L::narrow(narrow.as_mut_ptr(), L::load_d(x.as_ptr().add(at)));
                check("widen", at, L::widen(single.as_ptr().add(at)), &|i| {
                    single[i].into()
                });
            }
            for lane in 0..L::WIDTH {
                let (got, want) = (narrow[lane], single[at + lane]);
                assert!(
                    same(got.into(), want.into()),
                    "narrow of {:e}",
                    x[at + lane]
                );
            }
        }
        let other: Vec<f32> = y.iter().map(|&y| y as f32).collect();
        let third: Vec<f32> = z.iter().map(|&z| z as f32).collect();
        for at in (0..COUNT).step_by(L::COUNT) {
            let mut got = [0.0f32; 16];
            // SAFETY: as above.
            unsafe {
                let load = |from: &[f32]| L::load(from.as_ptr().add(at));
                L::store(
                    got.as_mut_ptr(),
                    L::fused(load(&single), load(&other), load(&third)),
                );
            }
            for lane in 0..L::COUNT {
                let (x, y, z) = (single[at + lane], other[at + lane], third[at + lane]);
                let want = x.mul_add(y, z);
                let got = got[lane];
                assert!(
                    same(got.into(), want.into()),
                    "fused of {x:e}, {y:e}, {z:e}: {got:e}"
                );
            }
        }
    }

    /// x + y rounded to odd: the sum toward zero, last bit set if anything is left.
    fn odd_sum(x: f64, y: f64) -> f64 {
        let sum = x + y;
        let (large, small) = if x.abs() >= y.abs() { (x, y) } else { (y, x) };
        let error = small - (sum - large);
        if !sum.is_finite() || error == 0.0 {
            return sum;
        }
        let cut = if (error < 0.0) == (sum < 0.0) {
            sum
        } else {
            f64::from_bits(sum.to_bits() - 1)
        };
        f64::from_bits(cut.to_bits() | 1)
    }

    #[test]
    fn every_operation_on_every_level() {
        // SAFETY: every machine has the portable level; the others are asked for.
        unsafe {
            compare::<super::super::portable::Portable>();
            #[cfg(target_arch = "aarch64")]
            compare::<super::super::neon::Neon>();
            #[cfg(target_arch = "x86_64")]
            {
                if Level::Avx2.available() {
                    compare::<super::super::avx2::Avx2>();
                } else {
                    println!("avx2: this machine has it not, so it is not tested");
                }
                if Level::Avx512.available() {
                    compare::<super::super::avx512::Avx512>();
                } else {
                    println!("avx512: this machine has it not, so it is not tested");
                }
            }
        }
    }

    #[test]
    fn flushing_keeps_signs() {
        for (x, want) in [
            (-1e-40f32, -0.0f32),
            (1e-40, 0.0),
            (f32::MIN_POSITIVE, f32::MIN_POSITIVE),
            (-0.0, -0.0),
        ] {
            assert_eq!(scalar::flush(x).to_bits(), want.to_bits());
        }
        assert!(scalar::flush(f32::NAN).is_nan());
    }
}
