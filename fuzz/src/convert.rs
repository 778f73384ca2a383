//! `mfma_convert` and `mfma_decode`: every result is the right neighbour of what was rounded.

use mfma::capi::*;
use mfma::format::{FORMATS, FormatInfo, Specials};

use super::bytes::{Bytes, check_failure, message};
use super::memory::{Layout, Memory, element, fill};

fn row(code: i32) -> Option<&'static FormatInfo> {
    FORMATS.iter().find(|row| row.code == code)
}

fn decoded(format: i32, bits: u64) -> mfma_decoded {
    let mut result = std::mem::MaybeUninit::<mfma_decoded>::zeroed();
    // SAFETY: zero bytes are a valid struct, and its size is set.
    let result = unsafe {
        (*result.as_mut_ptr()).size = size_of::<mfma_decoded>();
        assert_eq!(mfma_decode(format, bits, result.as_mut_ptr()), MFMA_OK);
        result.assume_init()
    };
    // What the parts say is what the number says.
    if result.kind == MFMA_CLASS_FINITE {
        let sign = if result.negative == 1 { -1.0 } else { 1.0 };
        // In two steps, for a subnormal's power of two is not one.
        let half = result.exponent / 2;
        let two = |e: i32| 2f64.powi(e);
        assert_eq!(
            sign * result.significand as f64 * two(half) * two(result.exponent - half),
            result.value
        );
    }
    result
}

pub fn run(data: &[u8]) {
    let x = &mut Bytes::new(data);
    let (from, to) = (x.code(FORMATS.len()), x.code(FORMATS.len()));
    let (rounding, overflow) = (x.code(4), x.code(4));
    let count = x.size(40);
    let size = |code| row(code).map_or(8, |row| row.format.bytes());
    let layout = |code| Layout {
        line: 1,
        lines: count,
        ld: 1,
        element: size(code),
        starts: vec![0],
    };
    let layouts = [layout(from), layout(to)];
    if layouts
        .iter()
        .any(|layout| !layout.fits() && !layout.is_beyond())
    {
        return;
    }
    let span = |layout: &Layout| {
        if layout.fits() {
            layout.span() as usize
        } else {
            8
        }
    };
    let host = x
        .rarely(4)
        .then(|| if x.rarely(2) { 0 } else { x.below(64) });
    let room = host.map_or(0, |offset| offset + span(&layouts[1]));
    let mut input = Memory::new(span(&layouts[0]).max(room), x.below(9));
    let mut own = Memory::new(span(&layouts[1]), x.below(9));
    fill(x, input.bytes(), size(from));
    let start = input.start();
    let target = host.map_or(own.start(), |offset| start.wrapping_add(offset));
    let null = x.rarely(20).then(|| x.below(2));
    let before = [input.bytes().to_vec(), own.bytes().to_vec()];
    let pointer = |which: usize, pointer: *mut u8| {
        if null == Some(which) {
            std::ptr::null_mut()
        } else {
            pointer
        }
    };
    // SAFETY: the memory that `count` names exists, or no memory could.
    let status = unsafe {
        mfma_convert(
            from,
            to,
            rounding,
            overflow,
            count,
            pointer(0, start).cast(),
            pointer(1, target).cast(),
        )
    };
    let apart = host.is_none_or(|offset| {
        (offset == 0 && size(from) == size(to)) || offset >= span(&layouts[0]) || count == 0
    });
    let valid = row(from).is_some()
        && row(to).is_some()
        && (0..4).contains(&rounding)
        && (0..4).contains(&overflow)
        && count >= 0
        && layouts.iter().all(Layout::fits)
        && (count == 0 || null.is_none())
        && apart;
    assert_eq!(status == MFMA_OK, valid, "status {status}: {}", message());
    let after = [input.bytes().to_vec(), own.bytes().to_vec()];
    if status != MFMA_OK {
        check_failure(status);
        assert!(after == before);
        return;
    }
    let (which, offset) = host.map_or((1, 0), |offset| (0, offset));
    let bytes = size(to);
    let mut want = before.clone();
    for i in 0..count as usize {
        let at = offset + i * bytes;
        want[which][at..at + bytes].copy_from_slice(&after[which][at..at + bytes]);
        let bits = element(&before[0], i * size(from), size(from));
        check_one(
            from,
            bits,
            to,
            element(&after[which], at, bytes),
            rounding,
            overflow,
        );
    }
    assert!(want == after);
}

/// Is `got` what `bits` becomes?
fn check_one(from: i32, bits: u64, to: i32, got: u64, rounding: i32, overflow: i32) {
    let (x, y) = (decoded(from, bits), decoded(to, got));
    let info = row(to).unwrap();
    let say =
        || format!("{from} {bits:x} -> {to} {got:x}, rounding {rounding}, overflow {overflow}");
    let fnuz = info.specials == Specials::Fnuz;
    let overflow = match overflow {
        MFMA_OVERFLOW_DEFAULT if fnuz => MFMA_OVERFLOW_SATURATE,
        MFMA_OVERFLOW_DEFAULT => MFMA_OVERFLOW_IEEE,
        other => other,
    };
    let largest = decoded(to, info.max_finite()).value;
    let beyond = |y: &mfma_decoded| match info.specials {
        Specials::Ieee => y.kind == MFMA_CLASS_INFINITE && y.negative == x.negative,
        _ => y.kind == MFMA_CLASS_NAN,
    };
    match x.kind {
        MFMA_CLASS_NAN => return assert_eq!(y.kind, MFMA_CLASS_NAN, "{}", say()),
        MFMA_CLASS_INFINITE if overflow == MFMA_OVERFLOW_SATURATE && !fnuz => {
            return assert_eq!(y.value, largest.copysign(x.value), "{}", say());
        }
        MFMA_CLASS_INFINITE => return assert!(beyond(&y), "{}", say()),
        _ => {}
    }
    // The sign stays, but for the FNUZ formats' only zero.
    let unsigned = fnuz && y.kind != MFMA_CLASS_FINITE;
    assert!(
        y.kind == MFMA_CLASS_NAN || unsigned || y.negative == x.negative,
        "{}",
        say()
    );
    // As a magnitude: toward zero, away from it, or to nearest.
    let away = match rounding {
        MFMA_ROUND_DOWN => x.negative == 1,
        MFMA_ROUND_UP => x.negative == 0,
        _ => false,
    };
    let nearest = rounding == MFMA_ROUND_NEAREST_EVEN;
    let (v, w) = (x.value.abs(), y.value.abs());
    // Encodings of the same sign are in the order of their magnitudes; bits that a format ignores are no steps.
    let step = 1u64 << info.ignored_bits;
    let magnitude = got & (info.sign_bit() - 1) & !(step - 1);
    let value = |bits: u64| decoded(to, bits).value;
    // Half a step beyond the largest number, where rounding to nearest leaves the range.
    let last = largest - value(info.max_finite() - step);
    if v > largest {
        let leaves = match overflow {
            MFMA_OVERFLOW_SATURATE => false,
            MFMA_OVERFLOW_INFINITY => {
                // Past the range once it is rounded as if there were no end.
                if nearest {
                    v - largest >= last / 2.0
                } else {
                    away || v - largest >= last
                }
            }
            _ if nearest => v - largest >= last / 2.0,
            _ => away,
        };
        // Formats whose largest number is odd or even differ at the tie; both are among the neighbours.
        let tie = nearest && v - largest == last / 2.0 && overflow != MFMA_OVERFLOW_SATURATE;
        let fine = if leaves { beyond(&y) } else { w == largest };
        return assert!(fine || (tie && (beyond(&y) || w == largest)), "{}", say());
    }
    assert!(
        y.kind != MFMA_CLASS_NAN && y.kind != MFMA_CLASS_INFINITE,
        "{}",
        say()
    );
    if v == w {
        return;
    }
    let (below, above) = if w < v {
        (w, value(magnitude + step))
    } else {
        (
            if magnitude == 0 {
                0.0
            } else {
                value(magnitude - step)
            },
            w,
        )
    };
    assert!(
        below < v && (v < above || above.is_nan()),
        "{}: not a neighbour",
        say()
    );
    if nearest {
        // Exact: both differences have few bits.
        let (down, up) = (v - below, above - v);
        let even = (magnitude / step).is_multiple_of(2);
        let right = if w < v {
            down < up || (down == up && even)
        } else {
            up < down || (down == up && even)
        };
        assert!(right, "{}: not the nearest", say());
    } else {
        assert_eq!(w > v, away, "{}", say());
    }
}
