//! A call: checks everything, then runs one product or a batch of them.

use std::sync::{Mutex, PoisonError};

use super::batch::{DotBatch, Factors, run_scaled, takes};
use super::control::{Control, Progress};
use super::engine;
use super::layout::size;
use super::operand::{Checked, Operand, check_apart, check_overlap};
use super::problem::{Problem, Storage, View};
use crate::error::{Error, ErrorCode};
use crate::format::Format;
use crate::model::Model;
use crate::threads::Workers;

/// D = round(alpha A) round(B) + round(beta C), or a batch of such products; not yet checked.
pub struct Call<'a> {
    /// The unit.
    pub model: Model,
    /// Rows of A, C and D.
    pub m: i64,
    /// Columns of B, C and D.
    pub n: i64,
    /// Columns of A, rows of B.
    pub k: i64,
    /// Number of products.
    pub batch: i64,
    /// Factor of A.
    pub alpha: f64,
    /// A.
    pub a: Operand,
    /// B.
    pub b: Operand,
    /// Factor of C.
    pub beta: f64,
    /// C; `None` for zeros. If beta is 0 it is checked, but not read.
    pub c: Option<Operand>,
    /// D; may be C.
    pub d: Operand,
    /// Threads.
    pub workers: Workers,
    /// Told how far the work is.
    pub progress: Option<&'a mut Progress<'a>>,
}

/// 1 x 1 products are computed as dot products, if they are not so long that the callback would have to wait.
const DOTS_K: usize = 4096;
/// Products below this many multiply-adds share a task.
const PRODUCTS_PER_TASK: u128 = 1 << 17;

impl Call<'_> {
    /// Checks the arguments, then computes. On failure D is untouched, unless the callback cancelled.
    ///
    /// # Safety
    /// Every element that the sizes name must be readable (writable for D) while this runs.
    pub unsafe fn run(self) -> Result<(), Error> {
        let m = size("m", self.m)?;
        let n = size("n", self.n)?;
        let k = size("k", self.k)?;
        let count = size("batch_count", self.batch)?;
        self.check_storage()?;
        // Without results nothing is read, whatever k is.
        let used = m > 0 && n > 0;
        let check = |operand: &Operand, sizes, names| {
            // SAFETY: promised by the caller.
            unsafe { operand.check(sizes, names, count, used) }
        };
        let a = check(&self.a, [self.m, self.k], ["m", "k"])?;
        let b = check(&self.b, [self.k, self.n], ["k", "n"])?;
        let c = match &self.c {
            Some(c) => Some(check(c, [self.m, self.n], ["m", "n"])?),
            None => None,
        };
        // Given but not read.
        let c = c.filter(|_| self.beta != 0.0);
        let d = check(&self.d, [self.m, self.n], ["m", "n"])?;
        check_overlap(&d, &a, false)?;
        check_overlap(&d, &b, false)?;
        if let Some(c) = &c {
            check_overlap(&d, c, true)?;
        }
        check_apart(&d)?;
        let problem = |i| Problem {
            model: self.model,
            m,
            n,
            k,
            alpha: self.alpha,
            a: a.view(i),
            b: b.view(i),
            beta: self.beta,
            c: c.as_ref().map(|c: &Checked| c.view(i)),
            d: d.view(i),
        };
        if count == 0 || m == 0 || n == 0 {
            return Ok(());
        }
        if m == 1 && n == 1 && k <= DOTS_K {
            let lines = (
                a.lines(View::col_stride),
                b.lines(View::row_stride),
                c.as_ref()
                    .map_or(d.lines(View::row_stride), |c| c.lines(View::row_stride)),
                d.lines(View::row_stride),
            );
            if let (Some(a), Some(b), Some(addend), Some(d)) = lines
                && takes(&self.model, c.as_ref().map(|_| addend.storage()))
            {
                let batch = DotBatch {
                    model: self.model,
                    count,
                    k,
                    a,
                    b,
                    c: addend,
                    d,
                };
                let beta = if c.is_some() { self.beta } else { 0.0 };
                let factors = Factors {
                    alpha: self.alpha,
                    beta,
                };
                return run_scaled(&batch, factors, self.workers, self.progress);
            }
        }
        run_batch(count, &problem, self.workers, self.progress)
    }

    /// Raw elements cannot be scaled, and binary32 cannot hold a binary64 result.
    fn check_storage(&self) -> Result<(), Error> {
        let invalid = |message| Err(Error::new(ErrorCode::InvalidArgument, message));
        if self.a.storage == Storage::Raw && self.alpha != 1.0 {
            return invalid(format!("alpha is {}; allowed with raw A: 1", self.alpha));
        }
        let c_is_raw = self.c.as_ref().is_some_and(|c| c.storage == Storage::Raw);
        if c_is_raw && self.beta != 1.0 && self.beta != 0.0 {
            return invalid(format!(
                "beta is {}; allowed with raw C: 0 and 1",
                self.beta
            ));
        }
        if self.d.storage == Storage::F32 && self.model.output() == Format::Fp64 {
            return Err(Error::new(
                ErrorCode::Unsupported,
                "D is stored as binary32, but the unit's results are binary64; allowed: binary64 or raw",
            ));
        }
        Ok(())
    }
}

fn run_batch<'a>(
    count: usize,
    problem: &(dyn Fn(usize) -> Problem + Sync),
    workers: Workers,
    progress: Option<&'a mut Progress<'a>>,
) -> Result<(), Error> {
    let first = problem(0);
    let each = engine::total_work(&first);
    let small = engine::is_small(&first);
    let total = each.saturating_mul(count as u64);
    let workers = if small && engine::is_small_work(&first.model, total) {
        Workers::new(1)
    } else {
        workers
    };
    let mut control = Control::new(workers, total);
    if let Some(progress) = progress {
        control = control.watched(progress);
    }
    if count == 1 || !small {
        return (0..count).try_for_each(|i| engine::run(&problem(i), &control));
    }
    let per_task = (PRODUCTS_PER_TASK / u128::from(each.max(1))).clamp(1, count as u128) as usize;
    let failure = Mutex::new(None);
    let whole = |work| {
        control.add(work);
        !control.cancelled()
    };
    control.for_each(count.div_ceil(per_task), |task| {
        for i in task * per_task..count.min((task + 1) * per_task) {
            if control.cancelled() {
                return;
            }
            let part = Control::part(&whole);
            if let Err(error) = engine::run(&problem(i), &part) {
                let mut failure = failure.lock().unwrap_or_else(PoisonError::into_inner);
                failure.get_or_insert(error);
                return;
            }
        }
    });
    match failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error),
        None => control.check(),
    }
}
