//! How a product is watched, stopped, and spread over threads.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::error::{Error, ErrorCode};
use crate::kernel::{FpMode, FpModeGuard};
use crate::threads::{self, Phases, Workers};

/// Time between two calls of a progress callback; it must be called ten times a second.
const BETWEEN_CALLS: Duration = Duration::from_millis(40);

/// What a progress callback is told: the part of the work that is done, 0 to 1. It says whether to go on.
pub type Progress<'a> = dyn FnMut(f64) -> bool + Send + 'a;

/// Watches one call.
pub struct Control<'a> {
    workers: Workers,
    cancelled: AtomicBool,
    done: AtomicU64,
    total: u64,
    /// The thread that called the library, and that the callback is called on.
    owner: usize,
    watch: Option<Mutex<Watch<'a>>>,
    /// The call that this one is a part of: is told of work, and says whether to go on.
    whole: Option<&'a (dyn Fn(u64) -> bool + Sync)>,
}

struct Watch<'a> {
    callback: &'a mut Progress<'a>,
    last: Instant,
}

impl<'a> Control<'a> {
    /// For work of `total` units, on `workers`, called from this thread.
    pub fn new(workers: Workers, total: u64) -> Control<'a> {
        Control {
            workers,
            cancelled: AtomicBool::new(false),
            done: AtomicU64::new(0),
            total,
            owner: threads::identity(),
            watch: None,
            whole: None,
        }
    }

    /// For a part of a call, on one thread: `whole` is told of the work that is done, and says whether to go on.
    pub fn part(whole: &'a (dyn Fn(u64) -> bool + Sync)) -> Control<'a> {
        Control {
            whole: Some(whole),
            ..Control::new(Workers::new(1), 0)
        }
    }

    /// Calls `progress` on this thread every now and then, until it says no.
    pub fn watched(self, progress: &'a mut Progress<'a>) -> Control<'a> {
        let watch = Watch {
            callback: progress,
            last: Instant::now(),
        };
        Control {
            watch: Some(Mutex::new(watch)),
            ..self
        }
    }

    /// Most threads that work at once.
    pub fn threads(&self) -> usize {
        self.workers.threads()
    }

    /// Has the callback said no? What is left to do may then be left out.
    pub fn cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Fails if the callback has said no.
    pub fn check(&self) -> Result<(), Error> {
        if self.cancelled() {
            return Err(Error::new(
                ErrorCode::Cancelled,
                "the computation was cancelled; the result's contents are unspecified",
            ));
        }
        Ok(())
    }

    /// Notes that `work` units are done. To be called at least every few milliseconds of work, by whichever thread did
    /// it: this is where the callback is called.
    pub fn add(&self, work: u64) {
        if let Some(whole) = self.whole {
            if !whole(work) {
                self.cancelled.store(true, Ordering::Relaxed);
            }
            return;
        }
        self.done.fetch_add(work, Ordering::Relaxed);
        self.poll();
    }

    /// Calls the callback if this is its thread and it is time.
    fn poll(&self) {
        let Some(watch) = &self.watch else { return };
        if threads::identity() != self.owner {
            return;
        }
        // A callback that calls the library again has a control of its own.
        let mut watch = watch.lock().unwrap_or_else(PoisonError::into_inner);
        if watch.last.elapsed() < BETWEEN_CALLS || self.cancelled() {
            return;
        }
        let part = self.done.load(Ordering::Relaxed) as f64 / self.total.max(1) as f64;
        // Whatever floating-point mode the callback leaves behind.
        let _mode = FpModeGuard::enter(FpMode::Nearest);
        if !(watch.callback)(part.min(1.0)) {
            self.cancelled.store(true, Ordering::Relaxed);
        }
        watch.last = Instant::now();
    }

    /// Runs tasks 0 to `count` - 1, each once unless the callback says no, on the threads of this call; the caller's is one of
    /// them.
    pub fn for_each(&self, count: usize, task: impl Fn(usize) + Sync) {
        self.run(&Tasks {
            count,
            task,
            control: self,
        });
    }

    /// Runs work in phases on the threads of this call.
    pub fn run(&self, work: &dyn Phases) {
        self.workers.run(work, &|| self.poll());
    }
}

/// One phase, which ends early if the callback says no.
struct Tasks<'a, 'b, F> {
    count: usize,
    task: F,
    control: &'a Control<'b>,
}

impl<F: Fn(usize) + Sync> Phases for Tasks<'_, '_, F> {
    fn phases(&self) -> usize {
        1
    }

    fn tasks(&self, _: usize) -> usize {
        self.count
    }

    fn run(&self, _: usize, task: usize) {
        (self.task)(task);
    }

    fn stopped(&self) -> bool {
        self.control.cancelled()
    }
}
