//! Lines of elements, and strips turned: how numbers get from one layout into another.

use crate::kernel::level::Level;

/// Lines of elements in memory, and where their numbers go: number i of line l is at `l * to_pitch + i`, its element at
/// `l * pitch + i * stride` elements from the first.
#[derive(Clone, Copy)]
pub struct Lines {
    pub lines: usize,
    pub count: usize,
    pub stride: isize,
    pub pitch: isize,
    pub to_pitch: usize,
}

/// Writes `count` lines of `k` numbers, 1 to 8 of them, as columns of `to`, whose rows are `lanes` numbers apart.
///
/// # Safety
/// The numbers must be there, and room for them; the machine must have the level.
pub unsafe fn turn(
    level: Level,
    lines: *const f32,
    k: usize,
    count: usize,
    to: *mut f32,
    lanes: usize,
) {
    #[cfg(target_arch = "x86_64")]
    let squares = if level >= Level::Avx2 && count > 1 {
        // SAFETY: promised by the caller.
        unsafe { turn_avx2(lines, k, count, to, lanes) };
        k / 8 * 8
    } else {
        0
    };
    #[cfg(not(target_arch = "x86_64"))]
    let squares = {
        let _ = level;
        0
    };
    for p in squares..k {
        for i in 0..count {
            // SAFETY: promised by the caller.
            unsafe { to.add(p * lanes + i).write(*lines.add(i * k + p)) };
        }
    }
}

/// [`turn`] for the columns that make whole squares of eight.
///
/// # Safety
/// As there, and the machine must have AVX.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn turn_avx2(lines: *const f32, k: usize, count: usize, to: *mut f32, lanes: usize) {
    use std::arch::x86_64::*;
    // SAFETY: promised by the caller; lines beyond the last are read as the last.
    unsafe {
        for p in (0..k / 8 * 8).step_by(8) {
            let line = |i: usize| _mm256_loadu_ps(lines.add(i.min(count - 1) * k + p));
            // Pairs of neighbouring lines, then fours of them, then the halves of both fours.
            let low = |i| _mm256_unpacklo_ps(line(i), line(i + 1));
            let high = |i| _mm256_unpackhi_ps(line(i), line(i + 1));
            let (l0, l2, l4, l6) = (low(0), low(2), low(4), low(6));
            let (h0, h2, h4, h6) = (high(0), high(2), high(4), high(6));
            let fours = [
                (
                    _mm256_shuffle_ps::<0x44>(l0, l2),
                    _mm256_shuffle_ps::<0x44>(l4, l6),
                ),
                (
                    _mm256_shuffle_ps::<0xee>(l0, l2),
                    _mm256_shuffle_ps::<0xee>(l4, l6),
                ),
                (
                    _mm256_shuffle_ps::<0x44>(h0, h2),
                    _mm256_shuffle_ps::<0x44>(h4, h6),
                ),
                (
                    _mm256_shuffle_ps::<0xee>(h0, h2),
                    _mm256_shuffle_ps::<0xee>(h4, h6),
                ),
            ];
            for (i, (first, second)) in fours.into_iter().enumerate() {
                let near = _mm256_permute2f128_ps::<0x20>(first, second);
                let far = _mm256_permute2f128_ps::<0x31>(first, second);
                store_first(to.add((p + i) * lanes), near, count);
                store_first(to.add((p + i + 4) * lanes), far, count);
            }
        }
    }
}

/// Stores the first `count` numbers, 1 to 8, of a vector.
///
/// # Safety
/// There must be room, and the machine must have AVX.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn store_first(mut to: *mut f32, x: std::arch::x86_64::__m256, count: usize) {
    use std::arch::x86_64::*;
    // SAFETY: promised by the caller.
    unsafe {
        if count == 8 {
            return _mm256_storeu_ps(to, x);
        }
        let mut rest = _mm256_castps256_ps128(x);
        if count & 4 != 0 {
            _mm_storeu_ps(to, rest);
            (to, rest) = (to.add(4), _mm256_extractf128_ps::<1>(x));
        }
        if count & 2 != 0 {
            _mm_storel_pd(to.cast(), _mm_castps_pd(rest));
            (to, rest) = (to.add(2), _mm_movehl_ps(rest, rest));
        }
        if count & 1 != 0 {
            _mm_store_ss(to, rest);
        }
    }
}

/// # Safety
/// The lines' elements must be readable, and `to` have room for their numbers.
#[inline(always)]
pub unsafe fn fill<T: Copy, U: Copy>(
    lines: Lines,
    address: *const T,
    to: *mut U,
    convert: impl Fn(T) -> U,
) {
    let Lines {
        count,
        stride,
        pitch,
        to_pitch,
        ..
    } = lines;
    // So many lines from here on is far enough for memory to answer until their turn comes; behind the last, too, where the
    // next strip is likely to be.
    let ahead = match lines.lines {
        1 => 1,
        _ => (FAR / (count * size_of::<T>()).max(1)).max(2) as isize,
    };
    for line in 0..lines.lines {
        let from = address.wrapping_offset(line as isize * pitch);
        let next = from.wrapping_offset(ahead * pitch);
        // SAFETY: promised by the caller; reads are unaligned.
        unsafe {
            let to = to.add(line * to_pitch);
            if stride == 1 && count >= 8 {
                groups::<T, U, 8>((from, next), to, count, &convert);
            } else if stride == 1 && count >= 4 {
                groups::<T, U, 4>((from, next), to, count, &convert);
            } else {
                for i in 0..count {
                    let element = from.wrapping_offset(i as isize * stride);
                    to.add(i).write(convert(element.read_unaligned()));
                }
            }
        }
    }
}

/// Bytes to read ahead.
const FAR: usize = 2048;

/// Asks for memory that will soon be read; any address is fine.
#[inline(always)]
pub fn prefetch<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: nothing is read, and every x86-64 has the instruction.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// `count` neighbours, N at a time; the last N may be some of those before them once more.
///
/// # Safety
/// As for `fill`, with at least N elements.
#[inline(always)]
unsafe fn groups<T: Copy, U: Copy, const N: usize>(
    (from, next): (*const T, *const T),
    to: *mut U,
    count: usize,
    convert: &impl Fn(T) -> U,
) {
    // SAFETY: promised by the caller.
    unsafe {
        for i in (0..count - count % N).step_by(N) {
            prefetch(next.wrapping_add(i));
            group::<T, U, N>(from.add(i), to.add(i), convert);
        }
        if !count.is_multiple_of(N) {
            group::<T, U, N>(from.add(count - N), to.add(count - N), convert);
        }
    }
}

/// N neighbours, which the compiler makes a vector of.
///
/// # Safety
/// As for `fill`.
#[inline(always)]
unsafe fn group<T: Copy, U: Copy, const N: usize>(
    from: *const T,
    to: *mut U,
    convert: &impl Fn(T) -> U,
) {
    // SAFETY: promised by the caller.
    unsafe {
        let elements = from.cast::<[T; N]>().read_unaligned();
        for (i, element) in elements.into_iter().enumerate() {
            to.add(i).write(convert(element));
        }
    }
}
