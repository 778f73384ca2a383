//! Level "avx2": 256-bit vectors of x86-64, with FMA and half-precision conversion.

use std::arch::asm;
use std::arch::x86_64::*;

use super::lanes::{Job, Lanes};

/// The vectors of the level.
#[derive(Clone, Copy)]
pub struct Avx2;

// SAFETY (of every block here): the machine has AVX2, FMA and F16C, and pointers are good for eight elements, as the
// callers of `Lanes` promise. The inline assembly only keeps the compiler from replacing one instruction by several.
impl Lanes for Avx2 {
    const COUNT: usize = 8;
    const CUT_BY_MODE: bool = true;
    type F = __m256;
    type I = __m256i;
    type M = __m256i;
    type Table = __m256i;

    #[inline(always)]
    unsafe fn dispatch<J: Job>(job: J) {
        #[target_feature(enable = "avx2,fma,f16c")]
        unsafe fn compiled<J: Job>(job: J) {
            unsafe { job.run::<Avx2>() }
        }
        unsafe { compiled(job) }
    }

    #[inline(always)]
    unsafe fn load(from: *const f32) -> __m256 {
        unsafe { _mm256_loadu_ps(from) }
    }
    #[inline(always)]
    unsafe fn store(to: *mut f32, x: __m256) {
        unsafe { _mm256_storeu_ps(to, x) }
    }
    #[inline(always)]
    unsafe fn splat(x: f32) -> __m256 {
        unsafe { _mm256_set1_ps(x) }
    }
    #[inline(always)]
    unsafe fn mul(x: __m256, y: __m256) -> __m256 {
        unsafe { _mm256_mul_ps(x, y) }
    }
    #[inline(always)]
    unsafe fn add(x: __m256, y: __m256) -> __m256 {
        unsafe { _mm256_add_ps(x, y) }
    }
    #[inline(always)]
    unsafe fn mul_add(x: __m256, y: __m256, z: __m256) -> __m256 {
        unsafe { _mm256_fmadd_ps(x, y, z) }
    }
    #[inline(always)]
    unsafe fn floor(x: __m256) -> __m256 {
        unsafe { _mm256_floor_ps(x) }
    }
    #[inline(always)]
    unsafe fn abs_less(x: __m256, y: __m256) -> __m256i {
        unsafe {
            let magnitude = _mm256_andnot_ps(_mm256_set1_ps(-0.0), x);
            _mm256_castps_si256(_mm256_cmp_ps::<_CMP_LT_OQ>(magnitude, y))
        }
    }
    #[inline(always)]
    unsafe fn to_int_small(x: __m256) -> __m256i {
        unsafe { _mm256_cvttps_epi32(x) }
    }
    #[inline(always)]
    unsafe fn to_int(x: __m256) -> __m256i {
        unsafe { _mm256_cvttps_epi32(x) }
    }
    #[inline(always)]
    unsafe fn to_float(x: __m256i) -> __m256 {
        unsafe { _mm256_cvtepi32_ps(x) }
    }
    #[inline(always)]
    unsafe fn to_float_cut(x: __m256i) -> __m256 {
        unsafe { _mm256_cvtepi32_ps(x) }
    }
    #[inline(always)]
    unsafe fn through_half(x: __m256) -> __m256 {
        unsafe { _mm256_cvtph_ps(_mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(x)) }
    }
    #[inline(always)]
    unsafe fn select_by_sign(x: __m256i, yes: __m256, no: __m256) -> __m256 {
        unsafe { blend_by_sign(x, yes, no) }
    }

    #[inline(always)]
    unsafe fn copysign(magnitude: f32, sign: __m256) -> __m256 {
        unsafe {
            let (negative, positive) = (_mm256_set1_ps(-magnitude), _mm256_set1_ps(magnitude));
            blend_by_sign(_mm256_castps_si256(sign), negative, positive)
        }
    }
    #[inline(always)]
    unsafe fn bits(x: __m256) -> __m256i {
        unsafe { _mm256_castps_si256(x) }
    }
    #[inline(always)]
    unsafe fn from_bits(x: __m256i) -> __m256 {
        unsafe { _mm256_castsi256_ps(x) }
    }

    #[inline(always)]
    unsafe fn load_i(from: *const i32) -> __m256i {
        unsafe { _mm256_loadu_si256(from.cast()) }
    }
    #[inline(always)]
    unsafe fn store_i(to: *mut i32, x: __m256i) {
        unsafe { _mm256_storeu_si256(to.cast(), x) }
    }
    #[inline(always)]
    unsafe fn splat_i(x: i32) -> __m256i {
        unsafe { _mm256_set1_epi32(x) }
    }
    #[inline(always)]
    unsafe fn add_i(x: __m256i, y: __m256i) -> __m256i {
        unsafe { _mm256_add_epi32(x, y) }
    }
    #[inline(always)]
    unsafe fn sub_i(x: __m256i, y: __m256i) -> __m256i {
        unsafe { _mm256_sub_epi32(x, y) }
    }
    #[inline(always)]
    unsafe fn min_i(x: __m256i, y: __m256i) -> __m256i {
        unsafe { _mm256_min_epi32(x, y) }
    }
    #[inline(always)]
    unsafe fn max_i(x: __m256i, y: __m256i) -> __m256i {
        unsafe { _mm256_max_epi32(x, y) }
    }
    #[inline(always)]
    unsafe fn and(x: __m256i, y: __m256i) -> __m256i {
        unsafe { _mm256_and_si256(x, y) }
    }
    #[inline(always)]
    unsafe fn or(x: __m256i, y: __m256i) -> __m256i {
        unsafe { _mm256_or_si256(x, y) }
    }
    #[inline(always)]
    unsafe fn xor(x: __m256i, y: __m256i) -> __m256i {
        unsafe { _mm256_xor_si256(x, y) }
    }
    #[inline(always)]
    unsafe fn shl<const B: i32>(x: __m256i) -> __m256i {
        unsafe { _mm256_slli_epi32::<B>(x) }
    }
    #[inline(always)]
    unsafe fn shr<const B: i32>(x: __m256i) -> __m256i {
        unsafe { _mm256_srli_epi32::<B>(x) }
    }
    #[inline(always)]
    unsafe fn shr_by(x: __m256i, count: __m256i) -> __m256i {
        unsafe { shift_right(x, count) }
    }
    #[inline(always)]
    unsafe fn sar_by(x: __m256i, count: __m256i) -> __m256i {
        unsafe { _mm256_srav_epi32(x, count) }
    }
    #[inline(always)]
    unsafe fn any_bit(x: __m256i) -> __m256i {
        unsafe { at_most_one(x) }
    }
    #[inline(always)]
    unsafe fn greater(x: __m256i, y: __m256i) -> __m256i {
        unsafe { _mm256_cmpgt_epi32(x, y) }
    }
    #[inline(always)]
    unsafe fn equal(x: __m256i, y: __m256i) -> __m256i {
        unsafe { _mm256_cmpeq_epi32(x, y) }
    }
    #[inline(always)]
    unsafe fn select(mask: __m256i, yes: __m256i, no: __m256i) -> __m256i {
        unsafe { _mm256_blendv_epi8(no, yes, mask) }
    }
    #[inline(always)]
    unsafe fn any_negative(x: __m256i) -> bool {
        unsafe { _mm256_movemask_ps(_mm256_castsi256_ps(x)) != 0 }
    }

    #[inline(always)]
    unsafe fn any_greater(x: __m256i, y: __m256i) -> bool {
        unsafe { _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(x, y))) != 0 }
    }

    #[inline(always)]
    unsafe fn pin(x: [__m256i; 4]) -> [__m256i; 4] {
        unsafe { all_at_once(x) }
    }

    #[inline(always)]
    unsafe fn compute_here(x: __m256i) -> __m256i {
        unsafe { computed(x) }
    }

    #[inline(always)]
    unsafe fn table(entries: &[i32; 8]) -> __m256i {
        let bytes: [u8; 16] = std::array::from_fn(|i| entries[i % 8] as u8);
        unsafe { _mm256_broadcastsi128_si256(_mm_loadu_si128(bytes.as_ptr().cast())) }
    }
    #[inline(always)]
    unsafe fn look_up(table: __m256i, index: __m256i) -> __m256i {
        // The other bytes look up entry 0. `vpermd` would do, but takes longer on AMD processors.
        unsafe { _mm256_and_si256(_mm256_shuffle_epi8(table, index), _mm256_set1_epi32(0xff)) }
    }

    #[inline(always)]
    unsafe fn sub_fields(x: __m256i, y: __m256i) -> __m256i {
        unsafe { _mm256_subs_epu16(x, y) }
    }
    #[inline(always)]
    unsafe fn min_fields(x: __m256i, y: __m256i) -> __m256i {
        unsafe { _mm256_min_epu16(x, y) }
    }
    #[inline(always)]
    unsafe fn max_fields(x: __m256i, y: __m256i) -> __m256i {
        unsafe { _mm256_max_epu16(x, y) }
    }

    #[inline(always)]
    unsafe fn load_pieces(from: *const u8, stride: isize) -> __m256i {
        unsafe {
            let first = _mm256_castsi128_si256(_mm_loadu_si128(from.cast()));
            let second = _mm_loadu_si128(from.wrapping_offset(stride).cast());
            _mm256_inserti128_si256::<1>(first, second)
        }
    }
    #[inline(always)]
    unsafe fn zip_words(x: __m256i, y: __m256i) -> [__m256i; 2] {
        unsafe { [_mm256_unpacklo_epi16(x, y), _mm256_unpackhi_epi16(x, y)] }
    }
    #[inline(always)]
    unsafe fn widen_words(x: __m256i) -> [__m256i; 2] {
        unsafe {
            let (low, high) = (_mm256_castsi256_si128(x), _mm256_extracti128_si256::<1>(x));
            [_mm256_cvtepu16_epi32(low), _mm256_cvtepu16_epi32(high)]
        }
    }
    #[inline(always)]
    unsafe fn halves(x: __m256i) -> [__m256; 2] {
        unsafe {
            let (low, high) = (_mm256_castsi256_si128(x), _mm256_extracti128_si256::<1>(x));
            [_mm256_cvtph_ps(low), _mm256_cvtph_ps(high)]
        }
    }

    #[inline(always)]
    unsafe fn add_bytes(x: __m256i, y: __m256i) -> __m256i {
        unsafe { _mm256_adds_epu8(x, y) }
    }
    #[inline(always)]
    unsafe fn min_bytes(x: __m256i, y: __m256i) -> __m256i {
        unsafe { _mm256_min_epu8(x, y) }
    }
}

/// `vpsrlvd`, and not what the compiler makes of it.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn shift_right(x: __m256i, count: __m256i) -> __m256i {
    let shifted: __m256i;
    unsafe {
        asm!("vpsrlvd {0}, {1}, {2}", out(ymm_reg) shifted, in(ymm_reg) x, in(ymm_reg) count,
            options(pure, nomem, nostack, preserves_flags));
    }
    shifted
}

/// `vpminud` with 1, and not what the compiler makes of it.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn at_most_one(x: __m256i) -> __m256i {
    let least: __m256i;
    unsafe {
        let one = _mm256_set1_epi32(1);
        asm!("vpminud {0}, {1}, {2}", out(ymm_reg) least, in(ymm_reg) x, in(ymm_reg) one,
            options(pure, nomem, nostack, preserves_flags));
    }
    least
}

/// No instruction, but one that takes all four vectors.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn all_at_once(x: [__m256i; 4]) -> [__m256i; 4] {
    let [mut a, mut b, mut c, mut d] = x;
    unsafe {
        asm!("/* {0} {1} {2} {3} */", inout(ymm_reg) a, inout(ymm_reg) b, inout(ymm_reg) c, inout(ymm_reg) d,
            options(pure, nomem, nostack, preserves_flags));
    }
    [a, b, c, d]
}

/// No instruction, but one that the compiler does not move.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn computed(mut x: __m256i) -> __m256i {
    unsafe { asm!("/* {0} */", inout(ymm_reg) x, options(nomem, nostack, preserves_flags)) };
    x
}

/// `vblendvps`. Left to itself the compiler merges it with a store that follows, into a masked store, which takes some
/// forty cycles on AMD processors.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn blend_by_sign(x: __m256i, yes: __m256, no: __m256) -> __m256 {
    let blended: __m256;
    unsafe {
        asm!("vblendvps {0}, {1}, {2}, {3}", out(ymm_reg) blended, in(ymm_reg) no, in(ymm_reg) yes, in(ymm_reg) x,
            options(pure, nomem, nostack, preserves_flags));
    }
    blended
}
