//! Operands in memory: allocations that end where the last element ends, so that AddressSanitizer sees every step beyond,
//! and an independent account of which bytes belong to which matrix.

use std::ops::Range;

use super::bytes::Bytes;

/// Most bytes of one operand.
const ROOM: i128 = 1 << 16;

/// Numbers to compute with.
pub fn fill(x: &mut Bytes, memory: &mut [u8], element: usize) {
    let kind = x.below(5);
    let mut state = x.word() | 1;
    for chunk in memory.chunks_mut(element.max(1)) {
        state = state
            .wrapping_mul(0x5851_f42d_4c95_7f2d)
            .wrapping_add(0x1405_7b7e_f767_814f);
        let random = state ^ (state >> 29);
        let small = (random >> 40) as i8 >> 3;
        let word =
            match (kind, element) {
                (0, 8) => f64::from(small).to_bits(),
                (0, 4) => f32::from(small).to_bits().into(),
                // Numbers near one, of either sign.
                (1, 8) => (random >> 12 | 0x3ff << 52) ^ (random & 7) << 61,
                (1, 4) => u64::from((random as u32) >> 9 | 0x7f << 23) ^ (random & 1) << 31,
                // Infinities, NaNs, zeros, the smallest and the largest.
                (2, 8) => [0x7ff0 << 48, 0x7ff8 << 48, 1, 0, !0 >> 1, 1 << 63]
                    [(random >> 33) as usize % 6],
                (2, 4) => [0x7f80 << 16, 0x7fc0 << 16, 1, 0, !0 >> 33, 1 << 31]
                    [(random >> 33) as usize % 6],
                (3, _) => x.word(),
                _ => random,
            };
        chunk.copy_from_slice(&word.to_le_bytes()[..chunk.len()]);
    }
}

/// Where the matrices of one operand lie, in bytes relative to its first.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Elements of one line, and lines.
    pub line: i64,
    pub lines: i64,
    pub ld: i64,
    pub element: usize,
    /// Where each matrix of the batch begins.
    pub starts: Vec<i128>,
}

impl Layout {
    pub fn has_elements(&self) -> bool {
        self.line > 0 && self.lines > 0 && !self.starts.is_empty()
    }

    /// Bytes from the first matrix on; none where a size or the leading dimension is too small.
    pub fn span(&self) -> i128 {
        if !self.has_elements() {
            return 0;
        }
        let last = i128::from(self.lines - 1) * i128::from(self.ld) + i128::from(self.line);
        let last = last.saturating_mul(self.element as i128);
        self.starts
            .iter()
            .max()
            .unwrap()
            .saturating_add(last)
            .max(0)
    }

    pub fn fits(&self) -> bool {
        self.span() <= ROOM
    }

    /// Larger than any address space: the library must refuse it whatever the pointer, in an empty batch too.
    pub fn is_beyond(&self) -> bool {
        let one = Layout {
            starts: vec![0],
            ..self.clone()
        };
        self.span().max(one.span()) > 1 << 48
    }

    /// The bytes of each line of matrix `i`.
    pub fn lines_of(&self, i: usize) -> impl Iterator<Item = Range<i128>> + '_ {
        let bytes = self.element as i128;
        let lines = if self.line > 0 { self.lines.max(0) } else { 0 };
        (0..lines).map(move |j| {
            let start = self.starts[i] + i128::from(j) * i128::from(self.ld) * bytes;
            start..start + i128::from(self.line) * bytes
        })
    }

    /// Element `place` of line `line` of matrix `i`.
    pub fn at(&self, i: usize, line: usize, place: usize) -> usize {
        self.starts[i] as usize + (line * self.ld as usize + place) * self.element
    }
}

/// Do two matrices, at these addresses, have a byte in common?
pub fn touch((x, i, x_at): (&Layout, usize, usize), (y, j, y_at): (&Layout, usize, usize)) -> bool {
    let moved = |range: Range<i128>, at: usize| range.start + at as i128..range.end + at as i128;
    let mut lines: Vec<Range<i128>> = y.lines_of(j).map(|range| moved(range, y_at)).collect();
    lines.sort_by_key(|range| range.start);
    // Lines of one matrix do not overlap, so their ends are in order, too.
    x.lines_of(i).map(|range| moved(range, x_at)).any(|range| {
        let first = lines.partition_point(|line| line.end <= range.start);
        lines.get(first).is_some_and(|line| line.start < range.end)
    })
}

/// Memory of exactly so many bytes, a few bytes off alignment.
pub struct Memory {
    bytes: Box<[u8]>,
    offset: usize,
}

impl Memory {
    pub fn new(bytes: usize, offset: usize) -> Memory {
        Memory {
            bytes: vec![0xa5; bytes + offset].into_boxed_slice(),
            offset,
        }
    }

    pub fn start(&mut self) -> *mut u8 {
        self.bytes[self.offset..].as_mut_ptr()
    }

    pub fn bytes(&mut self) -> &mut [u8] {
        &mut self.bytes[self.offset..]
    }
}

/// The element of `size` bytes at `at`.
pub fn element(memory: &[u8], at: usize, size: usize) -> u64 {
    let mut word = [0; 8];
    word[..size].copy_from_slice(&memory[at..at + size]);
    u64::from_le_bytes(word)
}
