//! `mfma_dot_batch` against the reference, case by case.

use mfma::capi::*;
use mfma::reference::dot_raw;

use super::bytes::{Bytes, UNITS, Unit, check_failure, message};
use super::memory::{Layout, Memory, element, fill, touch};

pub fn run(data: &[u8]) {
    let x = &mut Bytes::new(data);
    let unit = x.pick(&UNITS);
    compute(unit, x);
}

/// Some dot products through a unit, on operands made of `x`.
pub fn compute(unit: &Unit, x: &mut Bytes) {
    let model = &unit.model;
    let count = if x.rarely(20) { x.size(100) } else { x.size(7) };
    let k = if x.rarely(20) {
        x.size(200)
    } else {
        x.size(40)
    };
    let formats = [model.a(), model.b(), model.output(), model.output()];
    let sizes = [[k, count], [k, count], [1, count], [1, count]];
    let layouts = [0, 1, 2, 3].map(|which| Layout {
        line: sizes[which][0],
        lines: sizes[which][1],
        ld: sizes[which][0].max(1),
        element: formats[which].bytes(),
        starts: vec![0],
    });
    if layouts
        .iter()
        .any(|layout| !layout.fits() && !layout.is_beyond())
    {
        return;
    }
    // D may lie in the memory of another operand.
    let host = x.rarely(4).then(|| (x.below(3), x.below(32)));
    let mut memories: Vec<Memory> = Vec::new();
    let mut addresses = Vec::new();
    for (which, layout) in layouts.iter().enumerate() {
        let span = |layout: &Layout| {
            if layout.fits() {
                layout.span() as usize
            } else {
                8
            }
        };
        let (number, offset) = match host {
            Some((host, offset)) if which == 3 => {
                (host, if host == 2 && offset < 16 { 0 } else { offset })
            }
            _ => {
                let room = match host {
                    Some((host, offset)) if host == which => {
                        span(layout).max(offset + span(&layouts[3]))
                    }
                    _ => span(layout),
                };
                memories.push(Memory::new(room, x.below(9)));
                fill(x, memories[which].bytes(), layout.element);
                (which, 0)
            }
        };
        addresses.push((
            number,
            offset,
            memories[number].start().wrapping_add(offset),
        ));
    }
    let null = x.rarely(20).then(|| x.below(5));
    let pointer = |which: usize| {
        if null == Some(which) {
            std::ptr::null_mut()
        } else {
            addresses[which].2
        }
    };
    let handle = if null == Some(4) {
        std::ptr::null_mut()
    } else {
        unit.handle
    };
    let before: Vec<Vec<u8>> = memories
        .iter_mut()
        .map(|memory| memory.bytes().to_vec())
        .collect();
    // SAFETY: the memory that the sizes name exists, or no memory could.
    let status = unsafe {
        mfma_dot_batch(
            handle,
            count,
            k,
            pointer(0).cast(),
            pointer(1).cast(),
            pointer(2).cast(),
            pointer(3).cast(),
        )
    };
    let overlaps = || {
        (0..3).any(|which| {
            let place = |which: usize| (&layouts[which], 0, addresses[which].2.addr());
            let in_place = which == 2 && addresses[2].2 == addresses[3].2;
            null != Some(which)
                && !in_place
                && layouts[which].has_elements()
                && layouts[3].has_elements()
                && touch(place(3), place(which))
        })
    };
    let missing = null.is_some_and(|which| which == 4 || layouts[which].has_elements());
    let valid = count >= 0 && k >= 0 && layouts.iter().all(Layout::fits) && !missing && !overlaps();
    assert_eq!(status == MFMA_OK, valid, "status {status}: {}", message());
    let after: Vec<Vec<u8>> = memories
        .iter_mut()
        .map(|memory| memory.bytes().to_vec())
        .collect();
    let mut want = before.clone();
    if status != MFMA_OK {
        check_failure(status);
    } else {
        let (number, offset, _) = addresses[3];
        let size = layouts[3].element;
        for i in 0..count as usize {
            let case = |which: usize| -> Vec<u64> {
                let layout = &layouts[which];
                (0..layout.line as usize)
                    .map(|p| element(&before[which], layout.at(0, i, p), layout.element))
                    .collect()
            };
            let (a, b, c) = (case(0), case(1), case(2)[0]);
            let bits = dot_raw(model.unit(), &a, &b, c);
            let at = offset + i * size;
            let got = element(&after[number], at, size);
            assert!(
                got == bits,
                "{model:?}, case {i} of {count}: {k} a={a:x?} b={b:x?} c={c:x} d={bits:x}, got {got:x}"
            );
            want[number][at..at + size].copy_from_slice(&bits.to_le_bytes()[..size]);
        }
    }
    assert!(want == after, "{model:?}, {count} of length {k}");
}
