//! Level "avx512": 512-bit vectors of x86-64 (F, BW, DQ and VL).

use std::arch::asm;
use std::arch::x86_64::*;

use super::lanes::{Job, Lanes};

/// The vectors of the level.
#[derive(Clone, Copy)]
pub struct Avx512;

// SAFETY (of every block here): the machine has AVX-512 F, BW, DQ and VL, and pointers are good for sixteen elements,
// as the callers of `Lanes` promise. The inline assembly only keeps the compiler from replacing one instruction by
// several.
impl Lanes for Avx512 {
    const COUNT: usize = 16;
    const CUT_BY_MODE: bool = false;
    type F = __m512;
    type I = __m512i;
    type M = __mmask16;
    type Table = __m512i;

    #[inline(always)]
    unsafe fn dispatch<J: Job>(job: J) {
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")]
        unsafe fn compiled<J: Job>(job: J) {
            unsafe { job.run::<Avx512>() }
        }
        unsafe { compiled(job) }
    }

    #[inline(always)]
    unsafe fn load(from: *const f32) -> __m512 {
        unsafe { _mm512_loadu_ps(from) }
    }
    #[inline(always)]
    unsafe fn store(to: *mut f32, x: __m512) {
        unsafe { _mm512_storeu_ps(to, x) }
    }
    #[inline(always)]
    unsafe fn splat(x: f32) -> __m512 {
        unsafe { _mm512_set1_ps(x) }
    }
    #[inline(always)]
    unsafe fn mul(x: __m512, y: __m512) -> __m512 {
        unsafe { _mm512_mul_ps(x, y) }
    }
    #[inline(always)]
    unsafe fn add(x: __m512, y: __m512) -> __m512 {
        unsafe { _mm512_add_ps(x, y) }
    }
    #[inline(always)]
    unsafe fn mul_add(x: __m512, y: __m512, z: __m512) -> __m512 {
        unsafe { _mm512_fmadd_ps(x, y, z) }
    }
    #[inline(always)]
    unsafe fn floor(x: __m512) -> __m512 {
        unsafe { _mm512_roundscale_ps::<{ _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC }>(x) }
    }
    #[inline(always)]
    unsafe fn abs_less(x: __m512, y: __m512) -> __mmask16 {
        unsafe { _mm512_cmp_ps_mask::<_CMP_LT_OQ>(_mm512_abs_ps(x), y) }
    }
    #[inline(always)]
    unsafe fn to_int_small(x: __m512) -> __m512i {
        unsafe { _mm512_cvttps_epi32(x) }
    }
    #[inline(always)]
    unsafe fn to_int(x: __m512) -> __m512i {
        unsafe { _mm512_cvttps_epi32(x) }
    }
    #[inline(always)]
    unsafe fn to_float(x: __m512i) -> __m512 {
        unsafe { _mm512_cvtepi32_ps(x) }
    }
    #[inline(always)]
    unsafe fn to_float_cut(x: __m512i) -> __m512 {
        unsafe { _mm512_cvt_roundepi32_ps::<{ _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC }>(x) }
    }
    #[inline(always)]
    unsafe fn through_half(x: __m512) -> __m512 {
        unsafe { _mm512_cvtph_ps(_mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(x)) }
    }
    #[inline(always)]
    unsafe fn select_by_sign(x: __m512i, yes: __m512, no: __m512) -> __m512 {
        unsafe { _mm512_mask_mov_ps(no, _mm512_movepi32_mask(x), yes) }
    }

    #[inline(always)]
    unsafe fn bits(x: __m512) -> __m512i {
        unsafe { _mm512_castps_si512(x) }
    }
    #[inline(always)]
    unsafe fn from_bits(x: __m512i) -> __m512 {
        unsafe { _mm512_castsi512_ps(x) }
    }

    #[inline(always)]
    unsafe fn load_i(from: *const i32) -> __m512i {
        unsafe { _mm512_loadu_si512(from.cast()) }
    }
    #[inline(always)]
    unsafe fn store_i(to: *mut i32, x: __m512i) {
        unsafe { _mm512_storeu_si512(to.cast(), x) }
    }
    #[inline(always)]
    unsafe fn splat_i(x: i32) -> __m512i {
        unsafe { _mm512_set1_epi32(x) }
    }
    #[inline(always)]
    unsafe fn add_i(x: __m512i, y: __m512i) -> __m512i {
        unsafe { _mm512_add_epi32(x, y) }
    }
    #[inline(always)]
    unsafe fn sub_i(x: __m512i, y: __m512i) -> __m512i {
        unsafe { _mm512_sub_epi32(x, y) }
    }
    #[inline(always)]
    unsafe fn min_i(x: __m512i, y: __m512i) -> __m512i {
        unsafe { _mm512_min_epi32(x, y) }
    }
    #[inline(always)]
    unsafe fn max_i(x: __m512i, y: __m512i) -> __m512i {
        unsafe { _mm512_max_epi32(x, y) }
    }
    #[inline(always)]
    unsafe fn and(x: __m512i, y: __m512i) -> __m512i {
        unsafe { _mm512_and_si512(x, y) }
    }
    #[inline(always)]
    unsafe fn or(x: __m512i, y: __m512i) -> __m512i {
        unsafe { _mm512_or_si512(x, y) }
    }
    #[inline(always)]
    unsafe fn xor(x: __m512i, y: __m512i) -> __m512i {
        unsafe { _mm512_xor_si512(x, y) }
    }
    #[inline(always)]
    unsafe fn shl<const B: i32>(x: __m512i) -> __m512i {
        unsafe { _mm512_sll_epi32(x, _mm_cvtsi32_si128(B)) }
    }
    #[inline(always)]
    unsafe fn shr<const B: i32>(x: __m512i) -> __m512i {
        unsafe { _mm512_srl_epi32(x, _mm_cvtsi32_si128(B)) }
    }
    #[inline(always)]
    unsafe fn shr_by(x: __m512i, count: __m512i) -> __m512i {
        unsafe { shift_right(x, count) }
    }
    #[inline(always)]
    unsafe fn sar_by(x: __m512i, count: __m512i) -> __m512i {
        unsafe { _mm512_srav_epi32(x, count) }
    }
    #[inline(always)]
    unsafe fn any_bit(x: __m512i) -> __m512i {
        unsafe { at_most_one(x) }
    }
    #[inline(always)]
    unsafe fn greater(x: __m512i, y: __m512i) -> __mmask16 {
        unsafe { _mm512_cmpgt_epi32_mask(x, y) }
    }
    #[inline(always)]
    unsafe fn equal(x: __m512i, y: __m512i) -> __mmask16 {
        unsafe { _mm512_cmpeq_epi32_mask(x, y) }
    }
    #[inline(always)]
    unsafe fn select(mask: __mmask16, yes: __m512i, no: __m512i) -> __m512i {
        unsafe { _mm512_mask_mov_epi32(no, mask, yes) }
    }
    #[inline(always)]
    unsafe fn any_negative(x: __m512i) -> bool {
        unsafe { _mm512_movepi32_mask(x) != 0 }
    }

    #[inline(always)]
    unsafe fn any_greater(x: __m512i, y: __m512i) -> bool {
        unsafe { _mm512_cmpgt_epi32_mask(x, y) != 0 }
    }

    #[inline(always)]
    unsafe fn pin(x: [__m512i; 4]) -> [__m512i; 4] {
        unsafe { all_at_once(x) }
    }

    #[inline(always)]
    unsafe fn table(entries: &[i32; 8]) -> __m512i {
        unsafe { _mm512_broadcast_i64x4(_mm256_loadu_si256(entries.as_ptr().cast())) }
    }
    #[inline(always)]
    unsafe fn look_up(table: __m512i, index: __m512i) -> __m512i {
        unsafe { _mm512_permutexvar_epi32(index, table) }
    }

    #[inline(always)]
    unsafe fn sub_fields(x: __m512i, y: __m512i) -> __m512i {
        unsafe { _mm512_subs_epu16(x, y) }
    }
    #[inline(always)]
    unsafe fn min_fields(x: __m512i, y: __m512i) -> __m512i {
        unsafe { _mm512_min_epu16(x, y) }
    }
    #[inline(always)]
    unsafe fn max_fields(x: __m512i, y: __m512i) -> __m512i {
        unsafe { _mm512_max_epu16(x, y) }
    }

    #[inline(always)]
    unsafe fn load_pieces(from: *const u8, stride: isize) -> __m512i {
        unsafe {
            let piece = |i| _mm_loadu_si128(from.wrapping_offset(i * stride).cast());
            let first = _mm512_castsi128_si512(piece(0));
            let two = _mm512_inserti32x4::<1>(first, piece(1));
            _mm512_inserti32x4::<3>(_mm512_inserti32x4::<2>(two, piece(2)), piece(3))
        }
    }
    #[inline(always)]
    unsafe fn zip_words(x: __m512i, y: __m512i) -> [__m512i; 2] {
        unsafe { [_mm512_unpacklo_epi16(x, y), _mm512_unpackhi_epi16(x, y)] }
    }
    #[inline(always)]
    unsafe fn widen_words(x: __m512i) -> [__m512i; 2] {
        unsafe {
            let (low, high) = (_mm512_castsi512_si256(x), _mm512_extracti64x4_epi64::<1>(x));
            [_mm512_cvtepu16_epi32(low), _mm512_cvtepu16_epi32(high)]
        }
    }
    #[inline(always)]
    unsafe fn halves(x: __m512i) -> [__m512; 2] {
        unsafe {
            let (low, high) = (_mm512_castsi512_si256(x), _mm512_extracti64x4_epi64::<1>(x));
            [_mm512_cvtph_ps(low), _mm512_cvtph_ps(high)]
        }
    }

    #[inline(always)]
    unsafe fn add_bytes(x: __m512i, y: __m512i) -> __m512i {
        unsafe { _mm512_adds_epu8(x, y) }
    }
    #[inline(always)]
    unsafe fn min_bytes(x: __m512i, y: __m512i) -> __m512i {
        unsafe { _mm512_min_epu8(x, y) }
    }
}

/// `vpsrlvd`, and not what the compiler makes of it.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn shift_right(x: __m512i, count: __m512i) -> __m512i {
    let shifted: __m512i;
    unsafe {
        asm!("vpsrlvd {0}, {1}, {2}", out(zmm_reg) shifted, in(zmm_reg) x, in(zmm_reg) count,
            options(pure, nomem, nostack, preserves_flags));
    }
    shifted
}

/// `vpminud` with 1, and not what the compiler makes of it.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn at_most_one(x: __m512i) -> __m512i {
    let least: __m512i;
    unsafe {
        let one = _mm512_set1_epi32(1);
        asm!("vpminud {0}, {1}, {2}", out(zmm_reg) least, in(zmm_reg) x, in(zmm_reg) one,
            options(pure, nomem, nostack, preserves_flags));
    }
    least
}

/// No instruction, but one that takes all four vectors.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn all_at_once(x: [__m512i; 4]) -> [__m512i; 4] {
    let [mut a, mut b, mut c, mut d] = x;
    unsafe {
        asm!("/* {0} {1} {2} {3} */", inout(zmm_reg) a, inout(zmm_reg) b, inout(zmm_reg) c, inout(zmm_reg) d,
            options(pure, nomem, nostack, preserves_flags));
    }
    [a, b, c, d]
}
