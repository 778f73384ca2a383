//! The pool of threads that the library owns. Results never depend on it.
//!
//! The thread that calls the library always works itself; the pool only helps. So with one thread nothing is ever
//! started, small work stays where it is, and many host threads can call at once without waiting for each other: a
//! call ends when its own work is done, whatever else the pool has to do.

mod job;

use std::cell::Cell;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::JoinHandle;

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::{Error, ErrorCode};
use crate::kernel::{FpMode, FpModeGuard};
use job::Job;

pub(crate) use job::Phases;

/// Most threads that can be asked for.
pub const MAX_THREADS: usize = 1024;

/// Work below this estimate is not worth waking a thread for.
pub(crate) const SMALL_NANOSECONDS: f64 = 150_000.0;

/// What was asked for; 0 is the default.
static LIMIT: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static INDEX: Cell<usize> = const { Cell::new(0) };
}

/// Is this one of the pool's threads?
pub(crate) fn on_pool_thread() -> bool {
    INDEX.get() != 0
}

/// 0 on a thread that calls the library, 1, 2, ... on the pool's.
pub(crate) fn index() -> usize {
    INDEX.get()
}

/// A number that no other living thread has. Unlike the standard library's it is there to the very end of a thread, when
/// destructors of thread-specific data may still call.
pub(crate) fn identity() -> usize {
    INDEX.with(|index| std::ptr::from_ref(index).addr())
}

/// Sets how many threads, the caller's included, work on one call; 0 is the default: the environment variable
/// `MFMA_NUM_THREADS` as it was at first use, else all cores.
pub fn set_num_threads(threads: usize) -> Result<(), Error> {
    if threads > MAX_THREADS {
        return Err(Error::new(
            ErrorCode::InvalidArgument,
            format!("threads is {threads}; allowed: 0 (default) to {MAX_THREADS}"),
        ));
    }
    LIMIT.store(threads, Ordering::Relaxed);
    shut_down();
    Ok(())
}

/// Ends the pool's threads and waits for them, if no call is in progress; one that is ends them when it is done. Frees the
/// memory that is kept between calls. The next call that needs threads or memory gets new ones.
pub fn shut_down() {
    // The lock is free again before the threads are waited for: one of them may be about to ask for the pool.
    let old = Slot::of_this_process().lock().take();
    drop(old);
    crate::gemm::free_kept();
}

/// How many threads, the caller's included, work on one call.
pub fn num_threads() -> usize {
    match LIMIT.load(Ordering::Relaxed) {
        0 => default_threads(),
        threads => threads,
    }
}

fn default_threads() -> usize {
    static DEFAULT: OnceLock<usize> = OnceLock::new();
    *DEFAULT.get_or_init(|| {
        let wish = std::env::var("MFMA_NUM_THREADS").ok();
        let wish = wish.and_then(|text| text.trim().parse::<usize>().ok());
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        wish.filter(|&n| n > 0)
            .unwrap_or_else(cores)
            .min(MAX_THREADS)
    })
}

/// The threads that may work on one call.
#[derive(Clone, Copy, Debug)]
pub struct Workers {
    threads: usize,
}

impl Workers {
    /// At most `limit` threads, the caller's included, and never more than [`num_threads`]; 0 means that many.
    pub fn new(limit: usize) -> Workers {
        let all = num_threads();
        Workers {
            threads: if limit == 0 { all } else { limit.min(all) },
        }
    }

    /// Most threads that may run at once.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// These threads, or the caller's alone if the whole work takes one core less than about 0.15 ms.
    pub fn for_work(self, nanoseconds: f64) -> Workers {
        if nanoseconds < SMALL_NANOSECONDS {
            Workers { threads: 1 }
        } else {
            self
        }
    }

    /// Runs all tasks of all phases of `work`, each once, on this thread and the pool's, and returns when all are done or
    /// `work` is stopped. A task begins when all tasks of earlier phases are done. A panic in one comes back here. This
    /// thread calls `idle` between its tasks and, while it waits for the others, now and then.
    pub(crate) fn run(&self, work: &dyn Phases, idle: &dyn Fn()) {
        // More phases than one are worth all threads.
        let most = match work.phases() {
            0 => 0,
            1 => work.tasks(0),
            _ => usize::MAX,
        };
        let helpers = self.threads.min(most).saturating_sub(1);
        let pool = if helpers == 0 { None } else { Slot::pool() };
        match pool {
            Some(pool) => Job::run(&pool, helpers, work, idle),
            // One thread is enough, or the system gives no more.
            None => {
                for phase in 0..work.phases() {
                    for task in 0..work.tasks(phase) {
                        if work.stopped() {
                            return;
                        }
                        work.run(phase, task);
                    }
                }
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What must be free before a thread is started: far more than its stack, and more than the 32 MiB above which glibc always
/// asks the system, so that what it has in reserve for the calling thread does not count.
const ROOM_FOR_A_THREAD: usize = 40 << 20;

/// Would an allocation of so many bytes succeed now? What is large is allocated with a check, but a small allocation that
/// fails ends the process, so work begins only where the allocator has some room in reserve.
pub(crate) fn has_room(bytes: usize) -> bool {
    let mut reserve = Vec::<u8>::new();
    let enough = reserve.try_reserve_exact(bytes).is_ok();
    // The compiler may leave out an allocation that nobody looks at.
    std::hint::black_box(&mut reserve);
    enough
}

/// Threads that wait for jobs.
struct Pool {
    size: usize,
    rayon: Option<ThreadPool>,
    threads: Vec<JoinHandle<()>>,
}

impl Pool {
    /// `None` when the system gives no threads.
    fn start(size: usize) -> Option<Pool> {
        let mut threads = Vec::new();
        let rayon = ThreadPoolBuilder::new()
            .num_threads(size)
            .spawn_handler(|thread| {
                // Threads that take the last memory would leave none for the small allocations of all others.
                if !has_room(ROOM_FOR_A_THREAD) {
                    return Err(std::io::ErrorKind::OutOfMemory.into());
                }
                let index = thread.index() + 1;
                let name = format!("mfma-{index}");
                let run = move || {
                    // A new thread may inherit the floating-point mode of the one that started it.
                    let _mode = FpModeGuard::enter(FpMode::Nearest);
                    INDEX.set(index);
                    thread.run();
                };
                threads.push(std::thread::Builder::new().name(name).spawn(run)?);
                Ok(())
            })
            .build()
            .ok()?;
        Some(Pool {
            size,
            rayon: Some(rayon),
            threads,
        })
    }

    fn rayon(&self) -> &ThreadPool {
        self.rayon.as_ref().expect("only Drop takes it")
    }
}

impl Drop for Pool {
    /// Ends the threads and waits for them, so that none is left when the library is unloaded.
    fn drop(&mut self) {
        drop(self.rayon.take());
        for thread in self.threads.drain(..) {
            // A thread of the pool catches all panics of its jobs.
            let _ = thread.join();
        }
    }
}

/// Where a process keeps its pool. A forked child has the memory of its parent's pool but not its threads, and a lock
/// may be held there by a thread that the child does not have; so the child leaves all that alone and starts anew.
struct Slot {
    process: u32,
    pool: Mutex<Option<Arc<Pool>>>,
}

static SLOT: AtomicPtr<Slot> = AtomicPtr::new(std::ptr::null_mut());

impl Slot {
    fn of_this_process() -> &'static Slot {
        let process = std::process::id();
        loop {
            let current = SLOT.load(Ordering::Acquire);
            // SAFETY: a slot is leaked when it is put in place, so it lives as long as the process.
            if let Some(slot) = unsafe { current.as_ref() }
                && slot.process == process
            {
                return slot;
            }
            let fresh = Box::into_raw(Box::new(Slot {
                process,
                pool: Mutex::new(None),
            }));
            let swapped =
                SLOT.compare_exchange(current, fresh, Ordering::AcqRel, Ordering::Acquire);
            if swapped.is_err() {
                // SAFETY: another thread was first, so nobody has seen this one.
                drop(unsafe { Box::from_raw(fresh) });
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arc<Pool>>> {
        lock(&self.pool)
    }

    /// The pool, started if need be.
    fn pool() -> Option<Arc<Pool>> {
        let wanted = num_threads() - 1;
        if wanted == 0 {
            // Another thread has just asked for one thread.
            return None;
        }
        let mut slot = Slot::of_this_process().lock();
        if let Some(pool) = slot.as_ref().filter(|pool| pool.size == wanted) {
            return Some(pool.clone());
        }
        let fresh = Pool::start(wanted).map(Arc::new);
        let old = std::mem::replace(&mut *slot, fresh.clone());
        drop(slot);
        drop(old);
        fresh
    }
}
