//! From views to results: pack, compute tile by tile, store; in BLIS's loops and names.
//!
//! D is computed in regions of up to MB x NB. For each, K runs in steps of KC: panels of A (MR x KC) and of B
//! (KC x NR) are rounded and packed once, shared by all threads; then every MR x NR tile takes its panels, with c carried
//! from step to step in a buffer as large as the region. KC is a multiple of the unit's block, so every result is the
//! same whatever the sizes, the threads and the level.
//!
//! Memory: packed panels of at most [`PANEL_BYTES`] (or one block of one tile, in a custom unit with very long
//! blocks), a region of at most [`MB`] x [`NB`] numbers, and a strip a thread; whatever m, n and k.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::sync::{Mutex, MutexGuard, TryLockError};

use super::control::Control;
use super::problem::{Problem, View};
use super::results::Results;
use crate::error::{Error, ErrorCode};
use crate::kernel::{FpMode, FpModeGuard, Kernel, Part, Shape, Source, StripBuffer, Tile};
use crate::kernel::{kernel_for, level};
use crate::threads;

/// Rows of a region of D.
const MB: usize = 512;
/// Columns of a region of D.
const NB: usize = 1024;
/// Bytes of packed panels.
const PANEL_BYTES: usize = 3 << 20;
/// Elements of K that are converted at a time.
const STRIP_K: usize = 128;
/// Products below which it is not worth waking threads: some 0.15 ms of work.
pub(super) const SMALL: u128 = 1 << 20;

/// Is this product done sooner on the caller's thread alone?
pub fn is_small(problem: &Problem) -> bool {
    problem.m as u128 * problem.n as u128 * problem.k as u128 <= SMALL
}

/// What [`Control::add`] comes to in the end: products.
pub fn total_work(problem: &Problem) -> u64 {
    let work = problem.m as u128 * problem.n as u128 * problem.k as u128;
    work.try_into().unwrap_or(u64::MAX)
}

/// Computes a checked product.
pub fn run(problem: &Problem, control: &Control) -> Result<(), Error> {
    let _mode = FpModeGuard::enter(FpMode::Nearest);
    let Problem { m, n, k, .. } = *problem;
    if m == 0 || n == 0 {
        return Ok(());
    }
    if k == 0 {
        let results = Results::new(problem, false);
        for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
            results.store_without_products(i, j);
        }
        return Ok(());
    }
    Run::new(problem, control)?.all()
}

/// Memory for panels and carried numbers, aligned to cache lines; zero at first, as lanes beyond a tile are read too.
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
        let start = unsafe { alloc_zeroed(layout) };
        if start.is_null() {
            return Err(refuse());
        }
        Ok(Buffer { start, layout })
    }

    /// Address of a byte; `offset` must lie within.
    fn at(&self, offset: usize) -> *mut u8 {
        debug_assert!(offset < self.layout.size());
        // SAFETY: within the allocation, as the callers' index arithmetic makes sure.
        unsafe { self.start.add(offset) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with this layout.
        unsafe { dealloc(self.start, self.layout) }
    }
}

/// Everything that does not change during one product.
struct Run<'a, 'b> {
    problem: Problem,
    control: &'a Control<'b>,
    kernel: Box<dyn Kernel>,
    shape: Shape,
    a: Source,
    b: Source,
    results: Results,
    /// Rows and columns of a region, multiples of MR and NR.
    mb: usize,
    nb: usize,
    /// Blocks in all of K, and in one step.
    blocks: usize,
    step: usize,
    panels_a: Buffer,
    panels_b: Buffer,
    carried: Buffer,
    strips: Vec<Mutex<StripBuffer>>,
}

/// A region of D and a step of K.
#[derive(Clone, Copy)]
struct Region {
    i: usize,
    rows: usize,
    j: usize,
    cols: usize,
    /// First block of the step, and blocks in it.
    block: usize,
    blocks: usize,
}

impl<'a, 'b> Run<'a, 'b> {
    fn new(problem: &Problem, control: &'a Control<'b>) -> Result<Run<'a, 'b>, Error> {
        let level = level();
        let mut kernel = kernel_for(&problem.model, level);
        let mut oriented = Oriented::new(problem);
        // A tile always computes NR columns, but only as many rows as there are: few columns are better taken as rows.
        let nr = kernel.shape().nr;
        let cost = |m: usize, n: usize| m as u128 * n.next_multiple_of(nr) as u128;
        let (m, n) = (problem.m, problem.n);
        if problem.model.commutes() && cost(n, m) < cost(m, n) {
            oriented = oriented.transposed();
            if problem.model.a() != problem.model.b() {
                kernel = kernel_for(&oriented.problem.model, level);
            }
        }
        let Oriented {
            problem,
            factor_a,
            factor_b,
        } = oriented;
        let shape = kernel.shape();
        let blocks = problem.k.div_ceil(shape.block);
        let (mut mb, mut nb) = (
            MB.min(problem.m).next_multiple_of(shape.mr),
            NB.min(problem.n).next_multiple_of(shape.nr),
        );
        let bytes_a = |mb: usize| mb / shape.mr * shape.a_block_bytes;
        let bytes_b = |nb: usize| nb / shape.nr * shape.b_block_bytes;
        while bytes_a(mb) + bytes_b(nb) > PANEL_BYTES && (mb > shape.mr || nb > shape.nr) {
            if bytes_a(mb) > bytes_b(nb) && mb > shape.mr || nb == shape.nr {
                mb = (mb / 2).next_multiple_of(shape.mr);
            } else {
                nb = (nb / 2).next_multiple_of(shape.nr);
            }
        }
        let step = (PANEL_BYTES / (bytes_a(mb) + bytes_b(nb))).clamp(1, blocks);
        let workers = control.threads();
        let number = if shape.double { 8 } else { 4 };
        Ok(Run {
            control,
            shape,
            a: Source::new(
                problem.a,
                factor_a,
                problem.model.a(),
                problem.model.params(),
            ),
            b: Source::new(
                problem.b.transposed(),
                factor_b,
                problem.model.b(),
                problem.model.params(),
            ),
            results: Results::new(&problem, shape.double),
            mb,
            nb,
            blocks,
            step,
            panels_a: Buffer::new(bytes_a(mb) * step)?,
            panels_b: Buffer::new(bytes_b(nb) * step)?,
            carried: Buffer::new(if step < blocks {
                mb * nb * number
            } else {
                workers * shape.mr * shape.nr * number
            })?,
            strips: (0..workers).map(|_| Mutex::default()).collect(),
            kernel,
            problem,
        })
    }

    /// All regions, all steps.
    fn all(&self) -> Result<(), Error> {
        let Problem { m, n, .. } = self.problem;
        for j in (0..n).step_by(self.nb) {
            for i in (0..m).step_by(self.mb) {
                for block in (0..self.blocks).step_by(self.step) {
                    let region = Region {
                        i,
                        rows: self.mb.min(m - i),
                        j,
                        cols: self.nb.min(n - j),
                        block,
                        blocks: self.step.min(self.blocks - block),
                    };
                    // With one step in all, the panels of B serve all regions below each other.
                    self.pack(region, i == 0 || self.step < self.blocks);
                    self.compute(region);
                    self.control.check()?;
                }
            }
        }
        Ok(())
    }

    /// Packs the region's panels of A, and of B if `with_b`.
    fn pack(&self, region: Region, with_b: bool) {
        let Shape { mr, nr, block, .. } = self.shape;
        let blocks_a_task = (STRIP_K / block).max(1);
        let strips = region.blocks.div_ceil(blocks_a_task);
        let panels_a = region.rows.div_ceil(mr);
        let panels_b = if with_b { region.cols.div_ceil(nr) } else { 0 };
        self.control
            .for_each((panels_a + panels_b) * strips, |task| {
                let (panel, strip) = (task / strips, task % strips);
                let first = strip * blocks_a_task;
                let count = blocks_a_task.min(region.blocks - first);
                let is_a = panel < panels_a;
                let (source, panel, lanes, start, rows) = if is_a {
                    (&self.a, panel, mr, region.i, region.rows)
                } else {
                    (&self.b, panel - panels_a, nr, region.j, region.cols)
                };
                let k_first = (region.block + first) * block;
                let part = Part {
                    first: start + panel * lanes,
                    rows: lanes.min(rows - panel * lanes),
                    lanes,
                    k_first,
                    k: (count * block).min(self.problem.k - k_first),
                    k_padded: count * block,
                };
                let _mode = FpModeGuard::enter(FpMode::Nearest);
                let (_, mut buffer) = self.own_slot();
                // SAFETY: the part lies within the checked operands; each task has blocks of its own in the panels, which
                // have room for `step` blocks; the kernel is one for this machine.
                unsafe {
                    let strip = source.load(part, &mut buffer);
                    if is_a {
                        let at = (panel * self.step + first) * self.shape.a_block_bytes;
                        self.kernel.pack_a(&strip, self.panels_a.at(at));
                    } else {
                        let at = (panel * self.step + first) * self.shape.b_block_bytes;
                        self.kernel.pack_b(&strip, self.panels_b.at(at));
                    }
                }
            });
    }

    /// A slot that no other thread uses while the guard lives. There are as many as there are threads at work.
    fn own_slot(&self) -> (usize, MutexGuard<'_, StripBuffer>) {
        let slots = self.strips.len();
        for slot in (threads::index()..).map(|i| i % slots) {
            match self.strips[slot].try_lock() {
                Ok(guard) => return (slot, guard),
                Err(TryLockError::Poisoned(guard)) => return (slot, guard.into_inner()),
                Err(TryLockError::WouldBlock) => std::hint::spin_loop(),
            }
        }
        unreachable!("the iterator has no end")
    }

    /// Computes the region's tiles over one step of K.
    fn compute(&self, region: Region) {
        let Shape { mr, nr, .. } = self.shape;
        let (across, down) = (region.cols.div_ceil(nr), region.rows.div_ceil(mr));
        // Neighbours in a task share their panel of A.
        let tiles_a_task = (across * down / (8 * self.strips.len())).clamp(1, across);
        let tasks_across = across.div_ceil(tiles_a_task);
        self.control.for_each(tasks_across * down, |task| {
            if self.control.cancelled() {
                return;
            }
            let (down, across_first) = (task / tasks_across, task % tasks_across * tiles_a_task);
            let k = region.blocks * self.shape.block;
            let k = k.min(self.problem.k - region.block * self.shape.block);
            for across in across_first..across.min(across_first + tiles_a_task) {
                let elements = self.tile(region, down, across);
                self.control.add((elements * k) as u64);
                if self.control.cancelled() {
                    return;
                }
            }
        });
    }

    /// Computes one tile over one step of K; returns the number of its elements.
    fn tile(&self, region: Region, down: usize, across: usize) -> usize {
        let Shape { mr, nr, double, .. } = self.shape;
        let number = if double { 8 } else { 4 };
        // Tiles that are finished in one step need no place of their own.
        let (slot, _mine) = self.own_slot();
        let index = if self.step < self.blocks {
            down * (self.nb / nr) + across
        } else {
            slot
        };
        let last = region.block + region.blocks == self.blocks;
        let mut tile = Tile {
            c: self.carried.at(index * mr * nr * number),
            a: self
                .panels_a
                .at(down * self.step * self.shape.a_block_bytes),
            b: self
                .panels_b
                .at(across * self.step * self.shape.b_block_bytes),
            blocks: region.blocks,
            rows: mr.min(region.rows - down * mr),
            cols: nr.min(region.cols - across * nr),
            c_format: self.problem.model.unit().carry(),
            last,
        };
        let (i, j) = (region.i + down * mr, region.j + across * nr);
        if region.block == 0 {
            let _mode = FpModeGuard::enter(FpMode::Nearest);
            tile.c_format = self.results.first_format();
            self.results.load(&tile, nr, i, j);
        }
        {
            let _mode = FpModeGuard::enter(self.shape.mode);
            // SAFETY: the panels hold the region's blocks, the buffer has room for the tile, the mode is the kernel's.
            unsafe { self.kernel.tile(&tile) };
        }
        if last {
            let _mode = FpModeGuard::enter(FpMode::Nearest);
            self.results.store(&tile, nr, i, j);
        }
        tile.rows * tile.cols
    }
}

/// A product as it is given, or transposed: D' = B' A'.
struct Oriented {
    problem: Problem,
    factor_a: f64,
    factor_b: f64,
}

impl Oriented {
    fn new(problem: &Problem) -> Oriented {
        Oriented {
            problem: *problem,
            factor_a: problem.alpha,
            factor_b: 1.0,
        }
    }

    fn transposed(self) -> Oriented {
        let problem = self.problem;
        Oriented {
            problem: Problem {
                model: problem.model.transposed(),
                m: problem.n,
                n: problem.m,
                a: problem.b.transposed(),
                b: problem.a.transposed(),
                c: problem.c.map(View::transposed),
                d: problem.d.transposed(),
                ..problem
            },
            factor_a: self.factor_b,
            factor_b: self.factor_a,
        }
    }
}
