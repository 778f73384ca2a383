//! Encodings of 8 and 16 bits whose rows lie along K: turned as they are, sixteen bytes of many rows at once, and then
//! converted. Vectors hold twice as many of them as of numbers, and nothing is stored in between.

use crate::format::{Format, Specials};
use crate::kernel::lanes::{Job, Lanes, number};

/// Rows of encodings in memory, and where their numbers go: number (row, p) to `p * lanes + row`.
#[derive(Clone, Copy)]
pub struct Rows {
    pub address: *const u8,
    /// Bytes from one row to the next.
    pub pitch: isize,
    pub rows: usize,
    pub k: usize,
    pub to: *mut f32,
    pub lanes: usize,
}

/// Turns the first rows, as many as make whole groups, and says how many those are.
///
/// [`Job::run`] needs the rows to be there, and room for their numbers.
pub struct Turn<'a> {
    pub rows: Rows,
    pub format: Format,
    pub turned: &'a mut usize,
}

impl Job for Turn<'_> {
    #[inline(always)]
    unsafe fn run<L: Lanes>(self) {
        let Turn {
            rows,
            format,
            turned,
        } = self;
        let info = format.info();
        let (bias, largest) = (info.bias, info.max_finite() as i32);
        let fnuz = info.specials == Specials::Fnuz;
        // SAFETY: compiled for the level; the rest is promised by the caller.
        unsafe {
            *turned = match (format, info.fraction_bits) {
                (Format::Fp16, _) => rows.turn::<L, _>(Halves),
                (Format::Bf16, _) => rows.turn::<L, _>(UpperHalves),
                (_, 3) => rows.turn::<L, _>(Bytes::<20> {
                    bias,
                    largest,
                    fnuz,
                }),
                (_, 2) => rows.turn::<L, _>(Bytes::<21> {
                    bias,
                    largest,
                    fnuz,
                }),
                _ => 0,
            };
        }
    }
}

/// What a 16-bit word holds.
trait Words: Copy {
    /// Bytes of an element.
    const BYTES: usize;

    /// Writes the numbers of 2 COUNT words: those of a word's first element at `to`, those of its second, if it has one,
    /// `lanes` further on. Must be `#[inline(always)]`.
    unsafe fn write<L: Lanes>(self, words: L::I, to: *mut f32, lanes: usize);
}

/// binary16.
#[derive(Clone, Copy)]
struct Halves;

/// bfloat16, the upper half of a binary32 number.
#[derive(Clone, Copy)]
struct UpperHalves;

/// Two 8-bit encodings with 23 - UP fraction bits.
#[derive(Clone, Copy)]
struct Bytes<const UP: i32> {
    bias: i32,
    largest: i32,
    fnuz: bool,
}

// SAFETY (of every block): promised by the caller.
impl Words for Halves {
    const BYTES: usize = 2;

    #[inline(always)]
    unsafe fn write<L: Lanes>(self, words: L::I, to: *mut f32, _: usize) {
        unsafe {
            let [first, last] = L::halves(words);
            L::store(to, first);
            L::store(to.add(L::COUNT), last);
        }
    }
}

impl Words for UpperHalves {
    const BYTES: usize = 2;

    #[inline(always)]
    unsafe fn write<L: Lanes>(self, words: L::I, to: *mut f32, _: usize) {
        unsafe {
            let [first, last] = L::widen_words(words);
            L::store(to, L::from_bits(L::shl::<16>(first)));
            L::store(to.add(L::COUNT), L::from_bits(L::shl::<16>(last)));
        }
    }
}

impl<const UP: i32> Words for Bytes<UP> {
    const BYTES: usize = 1;

    #[inline(always)]
    unsafe fn write<L: Lanes>(self, words: L::I, to: *mut f32, lanes: usize) {
        unsafe {
            let [first, last] = L::widen_words(words);
            for (words, to) in [(first, to), (last, to.add(L::COUNT))] {
                let low = L::and(words, L::splat_i(0xff));
                L::store(to, self.number::<L>(low));
                L::store(to.add(lanes), self.number::<L>(L::shr::<8>(words)));
            }
        }
    }
}

impl<const UP: i32> Bytes<UP> {
    #[inline(always)]
    unsafe fn number<L: Lanes>(self, x: L::I) -> L::F {
        unsafe {
            let value = number::<L, UP, 24>(x, self.bias, self.largest);
            if !self.fnuz {
                return value;
            }
            let is_nan = L::equal(L::bits(value), L::splat_i(i32::MIN));
            let nan = L::splat_i(f32::NAN.to_bits() as i32);
            L::from_bits(L::select(is_nan, nan, L::bits(value)))
        }
    }
}

/// Words in sixteen bytes, and rows that are turned with them.
const SQUARE: usize = 8;

impl Rows {
    /// # Safety
    /// As for [`Turn`], and compiled for the level.
    #[inline(always)]
    unsafe fn turn<L: Lanes, W: Words>(self, words: W) -> usize {
        let Rows {
            address,
            pitch,
            rows,
            k,
            to,
            lanes,
        } = self;
        let elements = 16 / W::BYTES;
        let group = 2 * L::COUNT;
        let mut end = rows / group * group;
        if k < elements {
            // Sixteen bytes reach into the rows that follow, if they follow at once.
            if pitch != (k * W::BYTES) as isize || k % (2 / W::BYTES) != 0 {
                return 0;
            }
            while end > 0 && (end - 1) * k + elements > rows * k {
                end -= group;
            }
        }
        for first in (0..end).step_by(group) {
            let mut p = 0;
            loop {
                let at = first as isize * pitch + (p * W::BYTES) as isize;
                let from = address.wrapping_offset(at);
                let mut to = unsafe { to.add(p * lanes + first) };
                // SAFETY: promised by the caller: all rows of the group exist, and from p on they have sixteen bytes, or
                // the rows behind them do.
                unsafe {
                    let turned = turned::<L>(from, pitch);
                    let missing = (p + elements).saturating_sub(k) * W::BYTES / 2;
                    for words_p in turned.into_iter().take(SQUARE - missing) {
                        words.write::<L>(words_p, to, lanes);
                        to = to.wrapping_add(2 / W::BYTES * lanes);
                    }
                }
                if p + elements >= k {
                    break;
                }
                // The last columns end with the row, some of them for the second time.
                p = (p + elements).min(k - elements);
            }
        }
        end
    }
}

/// Eight words each of 2 COUNT rows, turned: vector w holds word w of all rows.
///
/// Which row and which word a vector's number and a word's place in it stand for takes three bits each. Zipping the
/// vectors whose numbers differ in their first bit moves that bit to the end of the place, and the place's first bit to
/// the end of the number; after three times they have changed sides.
///
/// # Safety
/// The rows must have sixteen bytes; the caller is compiled for the level.
#[inline(always)]
unsafe fn turned<L: Lanes>(from: *const u8, pitch: isize) -> [L::I; SQUARE] {
    // SAFETY: promised by the caller. The pieces of a vector are SQUARE rows apart.
    unsafe {
        let row = |i: isize| L::load_pieces(from.wrapping_offset(i * pitch), 8 * pitch);
        let rows = [
            row(0),
            row(1),
            row(2),
            row(3),
            row(4),
            row(5),
            row(6),
            row(7),
        ];
        zip::<L>(zip::<L>(zip::<L>(rows)))
    }
}

#[inline(always)]
unsafe fn zip<L: Lanes>(x: [L::I; SQUARE]) -> [L::I; SQUARE] {
    // SAFETY: the caller is compiled for the level.
    unsafe {
        let [a, b] = L::zip_words(x[0], x[4]);
        let [c, d] = L::zip_words(x[1], x[5]);
        let [e, f] = L::zip_words(x[2], x[6]);
        let [g, h] = L::zip_words(x[3], x[7]);
        [a, b, c, d, e, f, g, h]
    }
}
