//! Level "portable": plain Rust over arrays of four lanes.

use super::lanes::{Job, Lanes};

/// The vectors of the level.
#[derive(Clone, Copy)]
pub struct Portable;

const N: usize = 4;

#[inline(always)]
fn each<T: Copy, U>(x: [T; N], f: impl Fn(T) -> U) -> [U; N] {
    x.map(f)
}

#[inline(always)]
fn both<T: Copy, S: Copy, U>(x: [T; N], y: [S; N], f: impl Fn(T, S) -> U) -> [U; N] {
    [f(x[0], y[0]), f(x[1], y[1]), f(x[2], y[2]), f(x[3], y[3])]
}

/// Byte by byte.
#[inline(always)]
fn bytes(x: [i32; N], y: [i32; N], f: impl Fn(u8, u8) -> u8) -> [i32; N] {
    // One loop over plain bytes: compilers make vector operations of it.
    let (x, y) = (as_bytes(x), as_bytes(y));
    let mut z = [0; 4 * N];
    for i in 0..4 * N {
        z[i] = f(x[i], y[i]);
    }
    // SAFETY: as many bytes, any of which are valid.
    unsafe { std::mem::transmute(z) }
}

/// In memory's order.
#[inline(always)]
fn as_bytes(x: [i32; N]) -> [u8; 4 * N] {
    // SAFETY: as many bytes, any of which are valid.
    unsafe { std::mem::transmute(x) }
}

/// Half by half.
#[inline(always)]
fn halves(x: [i32; N], y: [i32; N], f: impl Fn(u16, u16) -> u16) -> [i32; N] {
    both(x, y, |x, y| {
        let half = |shift: u32| u32::from(f((x >> shift) as u16, (y >> shift) as u16)) << shift;
        (half(0) | half(16)) as i32
    })
}

impl Lanes for Portable {
    const COUNT: usize = N;
    const CUT_BY_MODE: bool = false;
    type F = [f32; N];
    type I = [i32; N];
    type M = [bool; N];
    type Table = [i32; 8];

    #[inline(never)]
    unsafe fn dispatch<J: Job>(job: J) {
        // SAFETY: every machine has this level; the rest is promised by the caller.
        unsafe { job.run::<Self>() }
    }

    #[inline(always)]
    unsafe fn load(from: *const f32) -> [f32; N] {
        // SAFETY: promised by the caller.
        unsafe { from.cast::<[f32; N]>().read_unaligned() }
    }
    #[inline(always)]
    unsafe fn store(to: *mut f32, x: [f32; N]) {
        // SAFETY: promised by the caller.
        unsafe { to.cast::<[f32; N]>().write_unaligned(x) }
    }
    #[inline(always)]
    unsafe fn splat(x: f32) -> [f32; N] {
        [x; N]
    }
    #[inline(always)]
    unsafe fn mul(x: [f32; N], y: [f32; N]) -> [f32; N] {
        both(x, y, |x, y| x * y)
    }
    #[inline(always)]
    unsafe fn add(x: [f32; N], y: [f32; N]) -> [f32; N] {
        both(x, y, |x, y| x + y)
    }
    #[inline(always)]
    unsafe fn mul_add(x: [f32; N], y: [f32; N], z: [f32; N]) -> [f32; N] {
        both(both(x, y, |x, y| x * y), z, |xy, z| xy + z)
    }
    #[inline(always)]
    unsafe fn floor(x: [f32; N]) -> [f32; N] {
        each(x, |x| {
            // Numbers of 2^23 and more have no fraction, and need not fit into an integer.
            if x.abs() < 8_388_608.0 {
                let cut = x as i32 as f32;
                if cut > x { cut - 1.0 } else { cut }
            } else {
                x
            }
        })
    }
    #[inline(always)]
    unsafe fn abs_less(x: [f32; N], y: [f32; N]) -> [bool; N] {
        both(x, y, |x, y| x.abs() < y)
    }
    #[inline(always)]
    unsafe fn to_int_small(x: [f32; N]) -> [i32; N] {
        // SAFETY: the caller promises that every lane fits.
        each(x, |x| unsafe { x.to_int_unchecked() })
    }
    #[inline(always)]
    unsafe fn to_int(x: [f32; N]) -> [i32; N] {
        each(x, |x| x as i32)
    }
    #[inline(always)]
    unsafe fn to_float(x: [i32; N]) -> [f32; N] {
        each(x, |x| x as f32)
    }
    #[inline(always)]
    unsafe fn to_float_cut(x: [i32; N]) -> [f32; N] {
        // To nearest, then one step back if that went too far.
        each(x, |x| {
            let nearest = x as f32;
            let back = nearest as i64;
            let too_far = back.unsigned_abs() > i64::from(x).unsigned_abs();
            f32::from_bits(nearest.to_bits() - u32::from(too_far))
        })
    }
    #[inline(always)]
    unsafe fn through_half(x: [f32; N]) -> [f32; N] {
        each(x, |x| {
            let magnitude = x.abs();
            // The last bit of a sum with this number is binary16's last bit.
            let exponent = (magnitude.to_bits() >> 23).clamp(127 - 14, 127 + 17);
            let grid = f32::from_bits((exponent + 13) << 23);
            let rounded = (magnitude + grid) - grid;
            let finite = if rounded > 65504.0 {
                f32::INFINITY
            } else {
                rounded
            };
            finite.copysign(x)
        })
    }
    #[inline(always)]
    unsafe fn select_by_sign(x: [i32; N], yes: [f32; N], no: [f32; N]) -> [f32; N] {
        both(
            x,
            both(yes, no, |y, n| (y, n)),
            |x, (y, n)| if x < 0 { y } else { n },
        )
    }

    #[inline(always)]
    unsafe fn bits(x: [f32; N]) -> [i32; N] {
        each(x, |x| x.to_bits() as i32)
    }
    #[inline(always)]
    unsafe fn from_bits(x: [i32; N]) -> [f32; N] {
        each(x, |x| f32::from_bits(x as u32))
    }

    #[inline(always)]
    unsafe fn load_i(from: *const i32) -> [i32; N] {
        // SAFETY: promised by the caller.
        unsafe { from.cast::<[i32; N]>().read_unaligned() }
    }
    #[inline(always)]
    unsafe fn store_i(to: *mut i32, x: [i32; N]) {
        // SAFETY: promised by the caller.
        unsafe { to.cast::<[i32; N]>().write_unaligned(x) }
    }
    #[inline(always)]
    unsafe fn splat_i(x: i32) -> [i32; N] {
        [x; N]
    }
    #[inline(always)]
    unsafe fn add_i(x: [i32; N], y: [i32; N]) -> [i32; N] {
        both(x, y, i32::wrapping_add)
    }
    #[inline(always)]
    unsafe fn sub_i(x: [i32; N], y: [i32; N]) -> [i32; N] {
        both(x, y, i32::wrapping_sub)
    }
    #[inline(always)]
    unsafe fn min_i(x: [i32; N], y: [i32; N]) -> [i32; N] {
        both(x, y, i32::min)
    }
    #[inline(always)]
    unsafe fn max_i(x: [i32; N], y: [i32; N]) -> [i32; N] {
        both(x, y, i32::max)
    }
    #[inline(always)]
    unsafe fn and(x: [i32; N], y: [i32; N]) -> [i32; N] {
        both(x, y, |x, y| x & y)
    }
    #[inline(always)]
    unsafe fn or(x: [i32; N], y: [i32; N]) -> [i32; N] {
        both(x, y, |x, y| x | y)
    }
    #[inline(always)]
    unsafe fn xor(x: [i32; N], y: [i32; N]) -> [i32; N] {
        both(x, y, |x, y| x ^ y)
    }
    #[inline(always)]
    unsafe fn shl<const B: i32>(x: [i32; N]) -> [i32; N] {
        each(x, |x| x << B)
    }
    #[inline(always)]
    unsafe fn shr<const B: i32>(x: [i32; N]) -> [i32; N] {
        each(x, |x| (x as u32 >> B) as i32)
    }
    #[inline(always)]
    unsafe fn shr_by(x: [i32; N], count: [i32; N]) -> [i32; N] {
        both(x, count, |x, n| {
            if (n as u32) < 32 {
                (x as u32).wrapping_shr(n as u32) as i32
            } else {
                0
            }
        })
    }
    #[inline(always)]
    unsafe fn sar_by(x: [i32; N], count: [i32; N]) -> [i32; N] {
        both(x, count, |x, n| x.wrapping_shr((n as u32).min(31)))
    }
    #[inline(always)]
    unsafe fn any_bit(x: [i32; N]) -> [i32; N] {
        each(x, |x| i32::from(x != 0))
    }
    #[inline(always)]
    unsafe fn greater(x: [i32; N], y: [i32; N]) -> [bool; N] {
        both(x, y, |x, y| x > y)
    }
    #[inline(always)]
    unsafe fn equal(x: [i32; N], y: [i32; N]) -> [bool; N] {
        both(x, y, |x, y| x == y)
    }
    #[inline(always)]
    unsafe fn select(mask: [bool; N], yes: [i32; N], no: [i32; N]) -> [i32; N] {
        both(
            mask,
            both(yes, no, |y, n| (y, n)),
            |m, (y, n)| if m { y } else { n },
        )
    }
    #[inline(always)]
    unsafe fn any_negative(x: [i32; N]) -> bool {
        x.iter().fold(0, |all, x| all | x) < 0
    }

    #[inline(always)]
    unsafe fn any_greater(x: [i32; N], y: [i32; N]) -> bool {
        both(x, y, |x, y| x > y)
            .iter()
            .fold(false, |any, x| any | x)
    }

    #[inline(always)]
    unsafe fn pin(x: [[i32; N]; 4]) -> [[i32; N]; 4] {
        x
    }

    #[inline(always)]
    unsafe fn table(entries: &[i32; 8]) -> [i32; 8] {
        *entries
    }
    #[inline(always)]
    unsafe fn look_up(table: [i32; 8], index: [i32; N]) -> [i32; N] {
        each(index, |i| table[(i & 7) as usize])
    }

    #[inline(always)]
    unsafe fn sub_fields(x: [i32; N], y: [i32; N]) -> [i32; N] {
        halves(x, y, u16::saturating_sub)
    }
    #[inline(always)]
    unsafe fn min_fields(x: [i32; N], y: [i32; N]) -> [i32; N] {
        halves(x, y, u16::min)
    }
    #[inline(always)]
    unsafe fn max_fields(x: [i32; N], y: [i32; N]) -> [i32; N] {
        halves(x, y, u16::max)
    }

    // As numbers they have the same order, and processors of which no more is known compare those in fewer operations.
    #[inline(always)]
    unsafe fn min_signed_fields(x: [i32; N], y: [i32; N]) -> [i32; N] {
        both(x, y, |x, y| {
            let is_less = f32::from_bits(x as u32) < f32::from_bits(y as u32);
            if is_less { x } else { y }
        })
    }
    #[inline(always)]
    unsafe fn max_signed_fields(x: [i32; N], y: [i32; N]) -> [i32; N] {
        both(x, y, |x, y| {
            let is_greater = f32::from_bits(x as u32) > f32::from_bits(y as u32);
            if is_greater { x } else { y }
        })
    }

    #[inline(always)]
    unsafe fn load_pieces(from: *const u8, _: isize) -> [i32; N] {
        // SAFETY: promised by the caller.
        unsafe { from.cast::<[i32; N]>().read_unaligned() }
    }
    #[inline(always)]
    unsafe fn zip_words(x: [i32; N], y: [i32; N]) -> [[i32; N]; 2] {
        let low = |x: i32, y: i32| x & 0xffff | y << 16;
        let high = |x: i32, y: i32| (x as u32 >> 16) as i32 | y & !0xffff;
        let pair = |i: usize| [low(x[i], y[i]), high(x[i], y[i])];
        let ([a, b], [c, d]) = (pair(0), pair(1));
        let ([e, f], [g, h]) = (pair(2), pair(3));
        [[a, b, c, d], [e, f, g, h]]
    }
    #[inline(always)]
    unsafe fn widen_words(x: [i32; N]) -> [[i32; N]; 2] {
        let (low, high) = (|x: i32| x & 0xffff, |x: i32| (x as u32 >> 16) as i32);
        let half = |i: usize| [low(x[i]), high(x[i]), low(x[i + 1]), high(x[i + 1])];
        [half(0), half(2)]
    }

    #[inline(always)]
    unsafe fn add_bytes(x: [i32; N], y: [i32; N]) -> [i32; N] {
        bytes(x, y, u8::saturating_add)
    }
    #[inline(always)]
    unsafe fn min_bytes(x: [i32; N], y: [i32; N]) -> [i32; N] {
        bytes(x, y, u8::min)
    }
}
