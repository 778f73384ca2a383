//! The pool of threads that the library owns. Results never depend on it.

use std::sync::{Mutex, PoisonError};

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::{Error, ErrorCode};

static POOL: Mutex<Option<std::sync::Arc<ThreadPool>>> = Mutex::new(None);

/// Runs `work` on the pool.
pub fn install<R: Send>(work: impl FnOnce() -> R + Send) -> Result<R, Error> {
    let pool = {
        let mut slot = POOL.lock().unwrap_or_else(PoisonError::into_inner);
        match &*slot {
            Some(pool) => pool.clone(),
            None => {
                let pool = ThreadPoolBuilder::new()
                    .thread_name(|i| format!("mfma-{i}"))
                    .build()
                    .map_err(|e| {
                        Error::new(ErrorCode::OutOfMemory, format!("cannot start threads: {e}"))
                    })?;
                slot.insert(std::sync::Arc::new(pool)).clone()
            }
        }
    };
    Ok(pool.install(work))
}
