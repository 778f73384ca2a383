//! Level "neon": 128-bit vectors of 64-bit ARM.

use std::arch::aarch64::*;

use super::lanes::{Job, Lanes};

/// The vectors of the level.
#[derive(Clone, Copy)]
pub struct Neon;

// SAFETY (of every block here): every 64-bit ARM has NEON, and pointers are good for four elements, as the callers of
// `Lanes` promise.
impl Lanes for Neon {
    const COUNT: usize = 4;
    const CUT_BY_MODE: bool = true;
    type F = float32x4_t;
    type I = int32x4_t;
    type M = uint32x4_t;
    type Table = [i32; 8];

    #[inline(never)]
    unsafe fn dispatch<J: Job>(job: J) {
        unsafe { job.run::<Self>() }
    }

    #[inline(always)]
    unsafe fn load(from: *const f32) -> float32x4_t {
        unsafe { vld1q_f32(from) }
    }
    #[inline(always)]
    unsafe fn store(to: *mut f32, x: float32x4_t) {
        unsafe { vst1q_f32(to, x) }
    }
    #[inline(always)]
    unsafe fn splat(x: f32) -> float32x4_t {
        unsafe { vdupq_n_f32(x) }
    }
    #[inline(always)]
    unsafe fn mul(x: float32x4_t, y: float32x4_t) -> float32x4_t {
        unsafe { vmulq_f32(x, y) }
    }
    #[inline(always)]
    unsafe fn add(x: float32x4_t, y: float32x4_t) -> float32x4_t {
        unsafe { vaddq_f32(x, y) }
    }
    #[inline(always)]
    unsafe fn mul_add(x: float32x4_t, y: float32x4_t, z: float32x4_t) -> float32x4_t {
        unsafe { vfmaq_f32(z, x, y) }
    }
    #[inline(always)]
    unsafe fn floor(x: float32x4_t) -> float32x4_t {
        unsafe { vrndmq_f32(x) }
    }
    #[inline(always)]
    unsafe fn abs_less(x: float32x4_t, y: float32x4_t) -> uint32x4_t {
        unsafe { vcltq_f32(vabsq_f32(x), y) }
    }
    #[inline(always)]
    unsafe fn to_int_small(x: float32x4_t) -> int32x4_t {
        unsafe { vcvtq_s32_f32(x) }
    }
    #[inline(always)]
    unsafe fn to_int(x: float32x4_t) -> int32x4_t {
        unsafe { vcvtq_s32_f32(x) }
    }
    #[inline(always)]
    unsafe fn to_float(x: int32x4_t) -> float32x4_t {
        unsafe { vcvtq_f32_s32(x) }
    }
    #[inline(always)]
    unsafe fn to_float_cut(x: int32x4_t) -> float32x4_t {
        unsafe { vcvtq_f32_s32(x) }
    }
    #[inline(always)]
    unsafe fn through_half(x: float32x4_t) -> float32x4_t {
        // The conversion instructions round by the mode in place; integers do not. To the last bit of binary16, or of its
        // subnormal numbers: add half of it less one, and the kept part's last bit; then cut.
        unsafe {
            let sign = vandq_u32(vreinterpretq_u32_f32(x), vdupq_n_u32(1 << 31));
            let bits = vreinterpretq_u32_f32(vabsq_f32(x));
            // Normal: 13 bits go.
            let odd = vandq_u32(vshrq_n_u32::<13>(bits), vdupq_n_u32(1));
            let rounded = vaddq_u32(vaddq_u32(bits, vdupq_n_u32(0xfff)), odd);
            let rounded = vandq_u32(rounded, vdupq_n_u32(!0x1fff));
            let infinite = vcgtq_u32(rounded, vdupq_n_u32(0x477f_e000));
            let normal = vbslq_u32(infinite, vdupq_n_u32(0x7f80_0000), rounded);
            // Subnormal: to a multiple of 2^-24, ties to even.
            let scaled = vmulq_f32(vreinterpretq_f32_u32(bits), vdupq_n_f32(16_777_216.0));
            let whole = vrndnq_f32(scaled);
            let small = vmulq_f32(whole, vdupq_n_f32(1.0 / 16_777_216.0));
            let is_small = vcltq_u32(bits, vdupq_n_u32((127 - 14) << 23));
            let magnitude = vbslq_u32(is_small, vreinterpretq_u32_f32(small), normal);
            vreinterpretq_f32_u32(vorrq_u32(magnitude, sign))
        }
    }
    #[inline(always)]
    unsafe fn select_by_sign(x: int32x4_t, yes: float32x4_t, no: float32x4_t) -> float32x4_t {
        unsafe { vbslq_f32(vcltzq_s32(x), yes, no) }
    }

    #[inline(always)]
    unsafe fn bits(x: float32x4_t) -> int32x4_t {
        unsafe { vreinterpretq_s32_f32(x) }
    }
    #[inline(always)]
    unsafe fn from_bits(x: int32x4_t) -> float32x4_t {
        unsafe { vreinterpretq_f32_s32(x) }
    }

    #[inline(always)]
    unsafe fn load_i(from: *const i32) -> int32x4_t {
        unsafe { vld1q_s32(from) }
    }
    #[inline(always)]
    unsafe fn store_i(to: *mut i32, x: int32x4_t) {
        unsafe { vst1q_s32(to, x) }
    }
    #[inline(always)]
    unsafe fn splat_i(x: i32) -> int32x4_t {
        unsafe { vdupq_n_s32(x) }
    }
    #[inline(always)]
    unsafe fn add_i(x: int32x4_t, y: int32x4_t) -> int32x4_t {
        unsafe { vaddq_s32(x, y) }
    }
    #[inline(always)]
    unsafe fn sub_i(x: int32x4_t, y: int32x4_t) -> int32x4_t {
        unsafe { vsubq_s32(x, y) }
    }
    #[inline(always)]
    unsafe fn min_i(x: int32x4_t, y: int32x4_t) -> int32x4_t {
        unsafe { vminq_s32(x, y) }
    }
    #[inline(always)]
    unsafe fn max_i(x: int32x4_t, y: int32x4_t) -> int32x4_t {
        unsafe { vmaxq_s32(x, y) }
    }
    #[inline(always)]
    unsafe fn and(x: int32x4_t, y: int32x4_t) -> int32x4_t {
        unsafe { vandq_s32(x, y) }
    }
    #[inline(always)]
    unsafe fn or(x: int32x4_t, y: int32x4_t) -> int32x4_t {
        unsafe { vorrq_s32(x, y) }
    }
    #[inline(always)]
    unsafe fn xor(x: int32x4_t, y: int32x4_t) -> int32x4_t {
        unsafe { veorq_s32(x, y) }
    }
    #[inline(always)]
    unsafe fn shl<const B: i32>(x: int32x4_t) -> int32x4_t {
        unsafe { vshlq_s32(x, vdupq_n_s32(B)) }
    }
    #[inline(always)]
    unsafe fn shr<const B: i32>(x: int32x4_t) -> int32x4_t {
        unsafe { vreinterpretq_s32_u32(vshlq_u32(vreinterpretq_u32_s32(x), vdupq_n_s32(-B))) }
    }
    #[inline(always)]
    unsafe fn shr_by(x: int32x4_t, count: int32x4_t) -> int32x4_t {
        // The instruction reads the count's low byte, signed, and gives zero from -32 on.
        unsafe {
            let left = vnegq_s32(vminq_s32(count, vdupq_n_s32(32)));
            vreinterpretq_s32_u32(vshlq_u32(vreinterpretq_u32_s32(x), left))
        }
    }
    #[inline(always)]
    unsafe fn sar_by(x: int32x4_t, count: int32x4_t) -> int32x4_t {
        unsafe { vshlq_s32(x, vnegq_s32(vminq_s32(count, vdupq_n_s32(31)))) }
    }
    #[inline(always)]
    unsafe fn any_bit(x: int32x4_t) -> int32x4_t {
        unsafe { vreinterpretq_s32_u32(vminq_u32(vreinterpretq_u32_s32(x), vdupq_n_u32(1))) }
    }
    #[inline(always)]
    unsafe fn greater(x: int32x4_t, y: int32x4_t) -> uint32x4_t {
        unsafe { vcgtq_s32(x, y) }
    }
    #[inline(always)]
    unsafe fn equal(x: int32x4_t, y: int32x4_t) -> uint32x4_t {
        unsafe { vceqq_s32(x, y) }
    }
    #[inline(always)]
    unsafe fn select(mask: uint32x4_t, yes: int32x4_t, no: int32x4_t) -> int32x4_t {
        unsafe { vbslq_s32(mask, yes, no) }
    }
    #[inline(always)]
    unsafe fn any_negative(x: int32x4_t) -> bool {
        unsafe { vminvq_s32(x) < 0 }
    }

    #[inline(always)]
    unsafe fn any_greater(x: int32x4_t, y: int32x4_t) -> bool {
        unsafe { vmaxvq_u32(vcgtq_s32(x, y)) != 0 }
    }

    #[inline(always)]
    unsafe fn pin(x: [int32x4_t; 4]) -> [int32x4_t; 4] {
        x
    }

    #[inline(always)]
    unsafe fn table(entries: &[i32; 8]) -> [i32; 8] {
        *entries
    }
    #[inline(always)]
    unsafe fn look_up(table: [i32; 8], index: int32x4_t) -> int32x4_t {
        unsafe {
            let mut lanes = [0i32; 4];
            vst1q_s32(lanes.as_mut_ptr(), index);
            let found = lanes.map(|i| table[(i & 7) as usize]);
            vld1q_s32(found.as_ptr())
        }
    }

    #[inline(always)]
    unsafe fn sub_fields(x: int32x4_t, y: int32x4_t) -> int32x4_t {
        unsafe {
            let difference = vqsubq_u32(vreinterpretq_u32_s32(x), vreinterpretq_u32_s32(y));
            vreinterpretq_s32_u32(difference)
        }
    }
    #[inline(always)]
    unsafe fn min_fields(x: int32x4_t, y: int32x4_t) -> int32x4_t {
        unsafe {
            let least = vminq_u32(vreinterpretq_u32_s32(x), vreinterpretq_u32_s32(y));
            vreinterpretq_s32_u32(least)
        }
    }
    #[inline(always)]
    unsafe fn max_fields(x: int32x4_t, y: int32x4_t) -> int32x4_t {
        unsafe {
            let most = vmaxq_u32(vreinterpretq_u32_s32(x), vreinterpretq_u32_s32(y));
            vreinterpretq_s32_u32(most)
        }
    }

    #[inline(always)]
    unsafe fn load_pieces(from: *const u8, _: isize) -> int32x4_t {
        unsafe { vreinterpretq_s32_u8(vld1q_u8(from)) }
    }
    #[inline(always)]
    unsafe fn zip_words(x: int32x4_t, y: int32x4_t) -> [int32x4_t; 2] {
        unsafe {
            let (x, y) = (vreinterpretq_u16_s32(x), vreinterpretq_u16_s32(y));
            [vzip1q_u16(x, y), vzip2q_u16(x, y)].map(|x| vreinterpretq_s32_u16(x))
        }
    }
    #[inline(always)]
    unsafe fn widen_words(x: int32x4_t) -> [int32x4_t; 2] {
        unsafe {
            let x = vreinterpretq_u16_s32(x);
            let (low, high) = (vmovl_u16(vget_low_u16(x)), vmovl_high_u16(x));
            [vreinterpretq_s32_u32(low), vreinterpretq_s32_u32(high)]
        }
    }

    #[inline(always)]
    unsafe fn add_bytes(x: int32x4_t, y: int32x4_t) -> int32x4_t {
        unsafe {
            let sum = vqaddq_u8(vreinterpretq_u8_s32(x), vreinterpretq_u8_s32(y));
            vreinterpretq_s32_u8(sum)
        }
    }
    #[inline(always)]
    unsafe fn min_bytes(x: int32x4_t, y: int32x4_t) -> int32x4_t {
        unsafe {
            let least = vminq_u8(vreinterpretq_u8_s32(x), vreinterpretq_u8_s32(y));
            vreinterpretq_s32_u8(least)
        }
    }
}
