//! Arrays of raw encodings and of structs, and texts, that belong to a C program.

use std::ffi::{c_char, c_void};

use super::check;
use crate::error::{Error, ErrorCode};
use crate::format::Format;
use crate::gemm::Matrix;

/// Where the bytes of an encoding begin in a 64-bit word.
fn low(bytes: usize) -> usize {
    if cfg!(target_endian = "little") {
        0
    } else {
        8 - bytes
    }
}

/// Writes encodings into a caller's array.
///
/// # Safety
/// `array` has room for them.
pub(super) unsafe fn store(
    array: *mut c_void,
    format: Format,
    encodings: impl Iterator<Item = u64>,
) {
    let bytes = format.bytes();
    for (i, bits) in encodings.enumerate() {
        let word = bits.to_ne_bytes();
        // SAFETY: promised by the caller; the word has 8 bytes.
        unsafe {
            array
                .cast::<u8>()
                .add(i * bytes)
                .copy_from_nonoverlapping(word.as_ptr().add(low(bytes)), bytes);
        }
    }
}

/// The place of `count` cases of `elements` elements each, for checks; refuses what would end beyond the address space.
pub(super) fn place(
    name: &str,
    array: *const c_void,
    format: Format,
    elements: i64,
    count: i64,
) -> Result<Matrix, Error> {
    // Case i is column i.
    let words = [
        if name == "a" || name == "b" {
            "k"
        } else {
            name
        },
        "count",
    ];
    let (sizes, bytes) = ([elements, count], format.bytes());
    let found = Matrix::new(name, array.addr(), sizes, words, elements.max(1), bytes);
    found.map_err(|error| {
        if elements < 0 || count < 0 {
            return error;
        }
        Error::new(
            ErrorCode::InvalidSize,
            format!("{name} would end beyond the address space: count is {count}, with {elements} elements of {bytes} bytes each"),
        )
    })
}

/// Reads `count` encodings from a caller's array, which may be NULL if there are none.
///
/// # Safety
/// `array` is NULL or has so many.
pub(super) unsafe fn load(
    name: &str,
    array: *const c_void,
    format: Format,
    count: usize,
) -> Result<Vec<u64>, Error> {
    if count == 0 {
        return Ok(Vec::new());
    }
    if array.is_null() {
        return Err(check::null(name));
    }
    let mut copy = vec![0u8; count * format.bytes()];
    // SAFETY: promised by the caller.
    unsafe {
        copy.as_mut_ptr()
            .copy_from_nonoverlapping(array.cast(), copy.len());
    }
    Ok(unpacked(format, &copy).collect())
}

/// Encodings as a C program has them, for a black box.
pub(super) fn packed(format: Format, encodings: impl ExactSizeIterator<Item = u64>) -> Vec<u8> {
    let mut bytes = vec![0u8; format.bytes() * encodings.len()];
    // SAFETY: as large as they are together.
    unsafe { store(bytes.as_mut_ptr().cast(), format, encodings) };
    bytes
}

/// The inverse of [`packed`].
pub(super) fn unpacked(format: Format, bytes: &[u8]) -> impl Iterator<Item = u64> {
    let width = format.bytes();
    bytes.chunks_exact(width).map(move |chunk| {
        let mut word = [0u8; 8];
        word[low(width)..low(width) + width].copy_from_slice(chunk);
        u64::from_ne_bytes(word)
    })
}

/// Checks that a caller's text can be written.
pub(super) fn text_out(name: &str, buffer: *mut c_char, size: usize) -> Result<(), Error> {
    if buffer.is_null() && size > 0 {
        return Err(check::null(name));
    }
    Ok(())
}

/// Hands a text to the caller, and the size that the whole of it takes to `*needed`, which may be NULL.
///
/// # Safety
/// As for [`write_text`]; `needed` is NULL or may be written.
pub(super) unsafe fn give_text(text: &str, buffer: *mut c_char, size: usize, needed: *mut usize) {
    // SAFETY: promised by the caller.
    let all = unsafe { write_text(text, buffer, size) };
    if !needed.is_null() {
        // SAFETY: promised by the caller.
        unsafe { needed.write_unaligned(all) };
    }
}

/// Writes as much of a text as fits, always with a final NUL where there is room for one; gives the bytes that all of it
/// takes.
///
/// # Safety
/// [`text_out`] has accepted the buffer, which has `size` bytes.
pub(super) unsafe fn write_text(text: &str, buffer: *mut c_char, size: usize) -> usize {
    if size > 0 {
        let mut length = text.len().min(size - 1);
        while !text.is_char_boundary(length) {
            length -= 1;
        }
        // SAFETY: promised by the caller; length is below size.
        unsafe {
            buffer
                .cast::<u8>()
                .copy_from_nonoverlapping(text.as_ptr(), length);
            buffer.add(length).write(0);
        }
    }
    text.len() + 1
}

/// A text in a struct: cut where it does not fit, always with a final NUL.
pub(super) fn fixed<const N: usize>(text: &str) -> [c_char; N] {
    let mut array = [0 as c_char; N];
    // SAFETY: the array has N bytes.
    unsafe { write_text(text, array.as_mut_ptr(), N) };
    array
}

/// An array of structs that a caller offers: room for so many, each of the size that it has in the caller's version.
#[derive(Clone, Copy)]
pub(super) struct Room<T> {
    start: *mut T,
    each: usize,
    count: usize,
}

impl<T: Copy> Room<T> {
    /// Checks the caller's array. `names` are those of the array, of the size of a struct and of their number; `first` is the
    /// size of the struct's first published version.
    pub(super) fn new(
        names: [&str; 3],
        start: *mut T,
        each: usize,
        count: i64,
        first: usize,
    ) -> Result<Room<T>, Error> {
        let [name, size_name, count_name] = names;
        let refuse = |message| Err(Error::new(ErrorCode::InvalidArgument, message));
        let Ok(count) = usize::try_from(count) else {
            return refuse(format!("{count_name} is {count}; allowed: 0 or more"));
        };
        if count > 0 && start.is_null() {
            return Err(check::null(name));
        }
        if count > 0 && !(first..=1 << 20).contains(&each) {
            return refuse(format!(
                "{size_name} is {each}; allowed: the size of the struct, here {}",
                size_of::<T>()
            ));
        }
        Ok(Room { start, each, count })
    }

    /// Writes as many structs as fit; what only the caller's version has becomes zero.
    ///
    /// # Safety
    /// The caller's array has the room that it says. Any bytes of a T may be read.
    pub(super) unsafe fn write(&self, values: impl Iterator<Item = T>) {
        let shared = self.each.min(size_of::<T>());
        for (i, value) in values.take(self.count).enumerate() {
            // SAFETY: promised by the caller; i is below `count`.
            unsafe {
                let place = self.start.cast::<u8>().add(i * self.each);
                place.copy_from_nonoverlapping((&raw const value).cast::<u8>(), shared);
                place.add(shared).write_bytes(0, self.each - shared);
            }
        }
    }
}
