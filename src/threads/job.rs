//! One loop or several that threads work on together: who does what, and who waits for whom.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use super::{Pool, lock};

/// How often a thread that waits for others looks up; it does so between its own tasks, too.
const BETWEEN_IDLE_CALLS: Duration = Duration::from_millis(20);

/// How often a thread that waits for others looks before it goes to sleep: some 50 microseconds.
const LOOKS: u32 = 2000;

/// How often it looks before it lets others have its core.
const LOOKS_A_YIELD: u32 = 64;

/// Work that is done in phases, which consist of tasks that may run at the same time.
pub trait Phases: Sync {
    /// How many phases there are.
    fn phases(&self) -> usize;

    /// How many tasks phase `phase` has; always the same.
    fn tasks(&self, phase: usize) -> usize;

    /// Does a task.
    fn run(&self, phase: usize, task: usize);

    /// Need no further task be done?
    fn stopped(&self) -> bool {
        false
    }
}

/// Work that several threads are at. Its tasks are counted through all phases.
pub(super) struct Job {
    work: Borrowed,
    /// The first task that nobody has taken, and how many are done.
    next: AtomicUsize,
    done: AtomicUsize,
    /// A thread takes so small a part of what is left of a phase.
    shares: usize,
    failed: AtomicBool,
    /// Helpers that may be at `work`, and whether none may start any more.
    active: AtomicUsize,
    closed: AtomicBool,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    /// Threads that no longer look by themselves whether they can go on.
    asleep: AtomicUsize,
    bed: Mutex<()>,
    news: Condvar,
}

/// Work that lives in the frame of the thread that called; see [`Job::run`].
struct Borrowed(*const (dyn Phases + 'static));

// SAFETY: it is only used as a shared reference, and what it points to is `Sync`.
unsafe impl Send for Borrowed {}
// SAFETY: as above.
unsafe impl Sync for Borrowed {}

/// A phase: its number, its first task, and the first task after it.
#[derive(Clone, Copy)]
struct Phase {
    number: usize,
    first: usize,
    end: usize,
}

impl Job {
    pub(super) fn run(pool: &Pool, helpers: usize, work: &dyn Phases, idle: &dyn Fn()) {
        // SAFETY: only the lifetime changes. `work` is used by this thread and by helpers between `active += 1` and
        // `active -= 1`, if they have found the job not closed in between; this function does not return before it has
        // closed the job and then seen `active` at zero. Nothing in between can unwind: what `work` and `idle` throw is
        // caught and kept.
        let work = unsafe { std::mem::transmute::<&dyn Phases, &'static dyn Phases>(work) };
        let job = Arc::new(Job {
            work: Borrowed(work),
            next: AtomicUsize::new(0),
            done: AtomicUsize::new(0),
            shares: 2 * (helpers + 1),
            failed: AtomicBool::new(false),
            active: AtomicUsize::new(0),
            closed: AtomicBool::new(false),
            panic: Mutex::default(),
            asleep: AtomicUsize::new(0),
            bed: Mutex::default(),
            news: Condvar::new(),
        });
        for _ in 0..helpers.min(pool.size) {
            let job = job.clone();
            // SAFETY: a helper is counted as active while it is at the work.
            pool.rayon().spawn(move || unsafe { job.help() });
        }
        // SAFETY: this thread holds the work.
        unsafe { job.take_part(idle) };
        job.closed.store(true, Ordering::SeqCst);
        job.wait(&|| job.active.load(Ordering::SeqCst) == 0, idle);
        let panic = lock(&job.panic).take();
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
    }

    /// What a thread of the pool does.
    ///
    /// # Safety
    /// As long as the job is not closed, or somebody is active, the work must be there.
    unsafe fn help(&self) {
        self.active.fetch_add(1, Ordering::SeqCst);
        if !self.closed.load(Ordering::SeqCst) {
            // SAFETY: promised by the caller.
            unsafe { self.take_part(&|| {}) };
        }
        self.active.fetch_sub(1, Ordering::SeqCst);
        self.wake();
    }

    /// Takes tasks until none are left, and returns when this thread's are done. It takes neighbours together, which may share
    /// memory, and fewer the fewer are left, so that all threads end at about the same time.
    ///
    /// # Safety
    /// The work must be there.
    unsafe fn take_part(&self, idle: &dyn Fn()) {
        // SAFETY: promised by the caller.
        let work = unsafe { &*self.work.0 };
        let over = || self.failed.load(Ordering::Relaxed) || work.stopped();
        self.catch(&|| {
            let mut phase = Phase {
                number: 0,
                first: 0,
                end: if work.phases() > 0 { work.tasks(0) } else { 0 },
            };
            while !over() {
                let first = self.next.load(Ordering::Relaxed);
                while first >= phase.end {
                    if phase.number + 1 >= work.phases() {
                        return;
                    }
                    phase = Phase {
                        number: phase.number + 1,
                        first: phase.end,
                        end: phase.end + work.tasks(phase.number + 1),
                    };
                }
                let end = first + ((phase.end - first) / self.shares).max(1);
                let order = Ordering::Relaxed;
                if (self.next.compare_exchange_weak(first, end, order, order)).is_err() {
                    continue;
                }
                // Whoever has taken an earlier task does not wait for this one.
                self.wait(
                    &|| self.done.load(Ordering::SeqCst) >= phase.first || over(),
                    idle,
                );
                for task in first..end {
                    if over() {
                        break;
                    }
                    self.catch(&|| work.run(phase.number, task - phase.first));
                }
                self.done.fetch_add(end - first, Ordering::SeqCst);
                self.wake();
                // Its own tasks and short waits may be all that this thread ever does.
                idle();
            }
        });
    }

    /// Returns when `ready`, which [`Job::wake`] follows. A short while it looks all the time, for waking up takes as long.
    fn wait(&self, ready: &dyn Fn() -> bool, idle: &dyn Fn()) {
        let mut awake = 0;
        while !ready() {
            if awake < LOOKS {
                awake += 1;
                // Another thread may need this one's core.
                match awake % LOOKS_A_YIELD {
                    0 => std::thread::yield_now(),
                    _ => std::hint::spin_loop(),
                }
                continue;
            }
            let bed = lock(&self.bed);
            self.asleep.fetch_add(1, Ordering::SeqCst);
            if ready() {
                drop(bed);
            } else {
                let woken = self.news.wait_timeout(bed, BETWEEN_IDLE_CALLS);
                drop(woken.unwrap_or_else(PoisonError::into_inner));
            }
            self.asleep.fetch_sub(1, Ordering::SeqCst);
            self.catch(idle);
        }
    }

    /// Wakes the threads that wait, for something may be ready.
    fn wake(&self) {
        if self.asleep.load(Ordering::SeqCst) > 0 {
            drop(lock(&self.bed));
            self.news.notify_all();
        }
    }

    /// Keeps the first panic.
    fn catch(&self, work: &dyn Fn()) {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(work)) {
            self.failed.store(true, Ordering::Relaxed);
            let mut first = lock(&self.panic);
            match *first {
                None => *first = Some(panic),
                // Dropping it might panic again.
                Some(_) => std::mem::forget(panic),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads::{Workers, set_num_threads};
    use std::time::Instant;

    /// Phases of so many tasks; every task notes how many were done when it began.
    struct Counted {
        tasks: Vec<usize>,
        done: AtomicUsize,
        begun: Vec<Mutex<Vec<usize>>>,
        /// Milliseconds that the first task of a phase takes.
        pause: u64,
        /// The task that panics.
        bad: Option<(usize, usize)>,
        /// The task after which no other is needed.
        last: Option<(usize, usize)>,
        stopped: AtomicBool,
    }

    impl Counted {
        fn new(tasks: Vec<usize>) -> Counted {
            Counted {
                done: AtomicUsize::new(0),
                begun: tasks.iter().map(|_| Mutex::default()).collect(),
                tasks,
                pause: 0,
                bad: None,
                last: None,
                stopped: AtomicBool::new(false),
            }
        }
    }

    impl Phases for Counted {
        fn phases(&self) -> usize {
            self.tasks.len()
        }

        fn tasks(&self, phase: usize) -> usize {
            self.tasks[phase]
        }

        fn run(&self, phase: usize, task: usize) {
            lock(&self.begun[phase]).push(self.done.load(Ordering::SeqCst));
            if task == 0 && self.pause > 0 {
                std::thread::sleep(Duration::from_millis(self.pause));
            }
            assert_ne!(self.bad, Some((phase, task)), "the bad task");
            self.done.fetch_add(1, Ordering::SeqCst);
            if self.last == Some((phase, task)) {
                self.stopped.store(true, Ordering::SeqCst);
            }
        }

        fn stopped(&self) -> bool {
            self.stopped.load(Ordering::SeqCst)
        }
    }

    /// One phase of two tasks.
    struct Twice<F>(F);

    impl<F: Fn() + Sync> Phases for Twice<F> {
        fn phases(&self) -> usize {
            1
        }

        fn tasks(&self, _: usize) -> usize {
            2
        }

        fn run(&self, _: usize, _: usize) {
            (self.0)();
        }
    }

    /// `threads` workers, whatever the machine has.
    fn workers(threads: usize) -> Workers {
        set_num_threads(5).expect("five threads are allowed");
        Workers { threads }
    }

    #[test]
    fn a_phase_begins_when_all_before_it_are_done() {
        let shapes = [
            vec![],
            vec![0],
            vec![0, 3, 0, 0, 1, 0],
            vec![1; 300],
            vec![64, 1, 17, 2, 100],
        ];
        for (round, threads) in (0..200).zip([1, 2, 3, 5].into_iter().cycle()) {
            for (pause, tasks) in shapes
                .iter()
                .map(|tasks| (0, tasks))
                .chain((round < 4).then_some((2, &shapes[4])))
            {
                let work = Counted {
                    pause,
                    ..Counted::new(tasks.clone())
                };
                workers(threads).run(&work, &|| {});
                let mut first = 0;
                for (phase, begun) in work.begun.iter().enumerate() {
                    let begun = lock(begun);
                    assert_eq!(begun.len(), tasks[phase], "{tasks:?}, phase {phase}");
                    let early = begun.iter().find(|&&done| done < first);
                    assert_eq!(early, None, "{tasks:?}, phase {phase} begins at {first}");
                    first += tasks[phase];
                }
            }
        }
    }

    #[test]
    fn a_panic_ends_the_work_and_comes_back() {
        for (round, threads) in (0..50).zip([1, 2, 5].into_iter().cycle()) {
            let work = Counted {
                bad: Some((1, round % 7)),
                ..Counted::new(vec![5, 7, 9])
            };
            let run = AssertUnwindSafe(|| workers(threads).run(&work, &|| {}));
            let panic = catch_unwind(run).expect_err("a task panicked");
            let message = panic.downcast_ref::<String>().expect("assert_ne's message");
            assert!(message.contains("the bad task"), "{message}");
            assert_eq!(lock(&work.begun[0]).len(), 5);
            assert_eq!(lock(&work.begun[2]).len(), 0, "{threads} threads");
        }
    }

    #[test]
    fn work_that_is_stopped_or_has_failed_ends_at_once() {
        for (round, threads) in (0..30).zip([1, 2, 5].into_iter().cycle()) {
            // To take all tasks, even without doing them, would take hours.
            let mut work = Counted {
                last: Some((2, round % 9)),
                ..Counted::new(vec![5, 7, 9, usize::MAX >> 4, 3])
            };
            let start = Instant::now();
            workers(threads).run(&work, &|| {});
            // Others may not have come to the tasks before the last one.
            let begun = lock(&work.begun[2]).len();
            assert!(threads > 1 || begun == round % 9 + 1);
            assert!((1..=9).contains(&begun), "{begun} tasks");
            assert_eq!(lock(&work.begun[3]).len(), 0, "{threads} threads");
            (work.bad, work.last) = (work.last, None);
            work.stopped = AtomicBool::new(false);
            let run = AssertUnwindSafe(|| workers(threads).run(&work, &|| {}));
            catch_unwind(run).expect_err("a task panicked");
            assert!(start.elapsed() < Duration::from_secs(10));
        }
    }

    #[test]
    fn one_thread_waits_and_looks_up_while_another_works() {
        let (idle, begun) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let caller = std::thread::current().id();
        for _ in 0..20 {
            // Whoever is not the caller takes long; if the caller takes both tasks, it never waits.
            let body = || {
                begun.fetch_add(1, Ordering::SeqCst);
                if std::thread::current().id() == caller {
                    std::thread::sleep(Duration::from_millis(2));
                } else {
                    std::thread::sleep(3 * BETWEEN_IDLE_CALLS);
                }
            };
            workers(2).run(&Twice(body), &|| {
                assert_eq!(std::thread::current().id(), caller);
                idle.fetch_add(1, Ordering::SeqCst);
            });
        }
        assert_eq!(begun.into_inner(), 40);
        assert!(
            idle.into_inner() > 0,
            "the caller never waited in 20 rounds"
        );
    }
}
