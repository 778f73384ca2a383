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
mod tests;
