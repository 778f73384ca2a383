//! Memory that calls work in, kept for the next call: fresh pages from the system cost as much as a tenth of a product.
//!
//! What is kept is bounded by [`MOST_KEPT`] and freed by [`free_kept`]. A process that was forked while another thread was
//! in here finds the lock taken for ever; so nobody waits for it, and who does not get it does without.

use std::alloc::{Layout, alloc, dealloc};
use std::sync::{Mutex, MutexGuard, TryLockError};

use crate::error::{Error, ErrorCode};

/// Bytes that are kept in all.
const MOST_KEPT: usize = 32 << 20;

static KEPT: Mutex<Vec<Buffer>> = Mutex::new(Vec::new());

fn kept() -> Option<MutexGuard<'static, Vec<Buffer>>> {
    match KEPT.try_lock() {
        Ok(kept) => Some(kept),
        Err(TryLockError::Poisoned(kept)) => Some(kept.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// Frees what is kept for calls to come.
pub fn free_kept() {
    let old = kept().map(|mut kept| std::mem::take(&mut *kept));
    drop(old);
}

/// Memory aligned to cache lines, with anything in it.
struct Buffer {
    start: *mut u8,
    layout: Layout,
}

// SAFETY: plain memory; who writes where is the engine's business.
unsafe impl Send for Buffer {}
// SAFETY: as for Send.
unsafe impl Sync for Buffer {}

impl Buffer {
    fn new(bytes: usize) -> Result<Buffer, Error> {
        let refuse = || {
            Error::new(
                ErrorCode::OutOfMemory,
                format!("not enough memory for {bytes} bytes of workspace"),
            )
        };
        let layout = Layout::from_size_align(bytes.max(64), 64).map_err(|_| refuse())?;
        // SAFETY: the size is not zero.
        let start = unsafe { alloc(layout) };
        if start.is_null() {
            return Err(refuse());
        }
        Ok(Buffer { start, layout })
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with this layout.
        unsafe { dealloc(self.start, self.layout) }
    }
}

/// One call's memory; goes back to what is kept when the call ends.
pub struct Workspace {
    /// `None` only while it is dropped.
    buffer: Option<Buffer>,
}

impl Workspace {
    /// At least this many bytes, with anything in them.
    pub fn new(bytes: usize) -> Result<Workspace, Error> {
        let fitting = kept().and_then(|mut kept| {
            let at = kept.iter().rposition(|old| old.layout.size() >= bytes)?;
            Some(kept.remove(at))
        });
        let buffer = match fitting {
            Some(buffer) => buffer,
            None => Buffer::new(bytes)?,
        };
        Ok(Workspace {
            buffer: Some(buffer),
        })
    }

    /// Address of a byte; `offset` must lie within.
    pub fn at(&self, offset: usize) -> *mut u8 {
        let buffer = self.buffer.as_ref().expect("only Drop takes it");
        debug_assert!(offset < buffer.layout.size());
        // SAFETY: within the allocation, as the callers' index arithmetic makes sure.
        unsafe { buffer.start.add(offset) }
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        let Some(buffer) = self.buffer.take() else {
            return;
        };
        let Some(mut kept) = kept() else { return };
        kept.push(buffer);
        // The oldest go first.
        let mut bytes: usize = kept.iter().map(|buffer| buffer.layout.size()).sum();
        while bytes > MOST_KEPT {
            bytes -= kept.remove(0).layout.size();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_kept_and_bounded() {
        free_kept();
        let first = Workspace::new(1 << 20).unwrap();
        let address = first.at(0);
        drop(first);
        let again = Workspace::new(1 << 19).unwrap();
        assert_eq!(again.at(0), address);
        let many: Vec<_> = (0..9).map(|_| Workspace::new(5 << 20).unwrap()).collect();
        drop(many);
        drop(again);
        let bytes: usize = kept().unwrap().iter().map(|old| old.layout.size()).sum();
        assert!(bytes > 1 << 20 && bytes <= MOST_KEPT, "{bytes}");
        free_kept();
        assert!(kept().unwrap().is_empty());
    }
}
