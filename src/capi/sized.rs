//! Structs that begin with their own size, so that programs and libraries of different versions understand each other.
//!
//! New fields are only ever added at the end, and zero bytes in them mean what was meant before they existed.

use crate::error::{Error, ErrorCode};

use super::check;

/// A struct of the C ABI whose first field is `size`.
///
/// # Safety
/// `repr(C)`, starts with a `usize`, has no padding that matters, and any bytes are a valid value.
pub(super) unsafe trait Sized: Copy {
    /// Size of the first published version.
    const FIRST: usize;
}

fn check_size<T: Sized>(name: &str, pointer: *const T) -> Result<usize, Error> {
    if pointer.is_null() {
        return Err(check::null(name));
    }
    // SAFETY: not NULL, so the caller's struct, which begins with its size.
    let size = unsafe { pointer.cast::<usize>().read_unaligned() };
    if size < T::FIRST || size > 1 << 20 {
        return Err(Error::new(
            ErrorCode::InvalidArgument,
            format!(
                "{name}->size is {size}; allowed: the size of the struct, here {}",
                size_of::<T>()
            ),
        ));
    }
    Ok(size)
}

/// Reads the caller's struct; fields that it does not have are zero.
///
/// # Safety
/// `pointer` is NULL or points to as many bytes as its first field says. `zero` is all zero bytes.
pub(super) unsafe fn read<T: Sized>(name: &str, pointer: *const T, zero: T) -> Result<T, Error> {
    let size = check_size(name, pointer)?;
    let ours = size_of::<T>();
    let bytes = pointer.cast::<u8>();
    // SAFETY: the caller's struct has `size` bytes.
    let newer = (ours..size).any(|i| unsafe { bytes.add(i).read() } != 0);
    if newer {
        return Err(Error::new(
            ErrorCode::InvalidArgument,
            format!("{name} uses fields that this version of the library does not have"),
        ));
    }
    let mut value = zero;
    // SAFETY: both have that many bytes, and any bytes are a valid T.
    unsafe {
        (&raw mut value)
            .cast::<u8>()
            .copy_from_nonoverlapping(bytes, size.min(ours));
    }
    Ok(value)
}

/// Checks that the caller's struct can be written.
pub(super) fn out<T: Sized>(name: &str, pointer: *mut T) -> Result<(), Error> {
    check_size(name, pointer.cast_const()).map(|_| ())
}

/// Writes as much of `value` as the caller's struct has, leaving `size` as it is, and zeroes what only the caller has.
///
/// # Safety
/// [`out`] has accepted the pointer, which points to as many writable bytes as its first field says.
pub(super) unsafe fn write<T: Sized>(pointer: *mut T, value: T) {
    // SAFETY: accepted by `out`.
    let size = unsafe { pointer.cast::<usize>().read_unaligned() };
    let (ours, header) = (size_of::<T>(), size_of::<usize>());
    let shared = size.min(ours);
    let bytes = pointer.cast::<u8>();
    // SAFETY: the caller's struct has `size` bytes, ours has `ours`.
    unsafe {
        bytes
            .add(header)
            .copy_from_nonoverlapping((&raw const value).cast::<u8>().add(header), shared - header);
        bytes.add(shared).write_bytes(0, size - shared);
    }
}
