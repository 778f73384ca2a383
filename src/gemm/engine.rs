//! From views to results: pack, compute tile by tile, store; in BLIS's loops and names.
//!
//! D is computed in regions of up to MB x NB. For each, K runs in steps, for which panels of A (MR rows) and of B (NR
//! columns) are rounded and packed once, shared by all threads. Then every block of up to MC x NC of D is a task: K runs in
//! steps of KC, for which the rows of A stay in the second cache and, while its tiles are computed column by column, one
//! panel of B in the first. c is carried from step to step, tile by tile. KC is a multiple of the unit's block, so every
//! result is the same whatever the sizes, the threads and the level.
//!
//! Memory: packed panels of at most 3 MiB (or one block of one tile, in a custom unit with very long blocks), a region of at most MB x NB
//! numbers, and a block of D and a strip for each thread; whatever m, n and k.

use std::sync::{Mutex, MutexGuard, TryLockError};

use super::control::Control;
use super::cuts::{Cuts, PACKED_K, Places, part};
use super::problem::{Problem, View};
use super::results::Results;
use super::workspace::Workspace;
use crate::error::Error;
use crate::kernel::{Family, FpMode, FpModeGuard, Kernel, Level, Part, Shape, Source, Tile};
use crate::kernel::{family_of, kernel_for, level};
use crate::model::Model;
use crate::threads::{self, Phases, SMALL_NANOSECONDS};

/// Numbers in the panels that a task packs one after the other: neighbours share cache lines of the operand.
const PACKED_TOGETHER: usize = 128;
/// Results of one column that a task rounds where there are no products, and how many products one takes as long as.
const RESULTS_A_TASK: usize = 1 << 12;
const PRODUCTS_A_RESULT: usize = 500;
/// Is this product done sooner on the caller's thread alone?
pub fn is_small(problem: &Problem) -> bool {
    is_small_work(&problem.model, total_work(problem))
}

/// Are so many products?
pub fn is_small_work(model: &Model, products: u64) -> bool {
    products as f64 * nanoseconds(model) < SMALL_NANOSECONDS
}

/// Rough time of a product on one thread.
fn nanoseconds(model: &Model) -> f64 {
    let vectors = match family_of(model) {
        Family::FmaChain | Family::PairwiseSum => 0.04,
        Family::CorrectRounding
        | Family::EarlyAddend
        | Family::Interleaved
        | Family::LateAddend
        | Family::OddEven => 0.2,
        Family::Reference => return 50.0,
    };
    match level() {
        Level::Portable => 10.0 * vectors,
        _ => vectors,
    }
}

/// What [`Control::add`] comes to in the end: products, or what as many results without products take.
pub fn total_work(problem: &Problem) -> u64 {
    let each = match problem.k {
        0 => PRODUCTS_A_RESULT,
        k => k,
    };
    let work = problem.m as u128 * problem.n as u128 * each as u128;
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
        return without_products(problem, control);
    }
    control.run(&Run::new(problem, control)?);
    control.check()
}

/// D = round(beta C).
fn without_products(problem: &Problem, control: &Control) -> Result<(), Error> {
    let Problem { m, n, .. } = *problem;
    let results = Results::new(problem, false);
    let strips = m.div_ceil(RESULTS_A_TASK);
    control.for_each(strips * n, |task| {
        let _mode = FpModeGuard::enter(FpMode::Nearest);
        let (j, first) = (task / strips, task % strips * RESULTS_A_TASK);
        let last = m.min(first + RESULTS_A_TASK);
        for i in first..last {
            results.store_without_products(i, j);
        }
        control.add(((last - first) * PRODUCTS_A_RESULT) as u64);
    });
    control.check()
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
    cuts: Cuts,
    places: Places,
    workspace: Workspace,
    /// One for each thread that may be at work.
    owners: Vec<Mutex<()>>,
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

/// The panels of A, or of B, that are packed for a region.
#[derive(Clone, Copy)]
struct Side {
    is_a: bool,
    /// Lanes of a panel.
    lanes: usize,
    /// The region's first row (or column) and how many it has.
    first: usize,
    count: usize,
    panels: usize,
}

impl Side {
    /// Panels that a task packs one after the other.
    fn group(&self) -> usize {
        PACKED_TOGETHER.div_ceil(self.lanes)
    }

    /// Groups of panels.
    fn groups(&self) -> usize {
        self.panels.div_ceil(self.group())
    }
}

/// A block of a region: its first panels of A and B, and how many.
#[derive(Clone, Copy)]
struct Block {
    down: usize,
    rows: usize,
    across: usize,
    cols: usize,
    /// Where the first tile lies in the workspace, and the bytes from one column of tiles to the next.
    tiles: usize,
    column: usize,
}

impl<'a, 'b> Run<'a, 'b> {
    fn new(problem: &Problem, control: &'a Control<'b>) -> Result<Run<'a, 'b>, Error> {
        let level = level();
        let kernel = kernel_for(&problem.model, level);
        let oriented = Oriented::new(problem);
        let oriented = if better_transposed(problem, &kernel.shape()) {
            oriented.transposed()
        } else {
            oriented
        };
        let Oriented {
            problem,
            factor_a,
            factor_b,
        } = oriented;
        let kernel = match problem.model.a() == problem.model.b() {
            true => kernel,
            false => kernel_for(&problem.model, level),
        };
        let shape = kernel.shape();
        let workers = control.threads();
        let cuts = Cuts::new(&problem, &shape, workers);
        let places = Places::new(&cuts, &shape, workers);
        let model = &problem.model;
        let source = |view, factor, format| {
            Source::new(view, factor, format, model.params()).flushed(model.params())
        };
        Ok(Run {
            control,
            a: source(problem.a, factor_a, model.a()),
            b: source(problem.b.transposed(), factor_b, model.b()),
            results: Results::new(&problem, shape.double),
            cuts,
            places,
            workspace: Workspace::new(places.bytes)?,
            owners: (0..workers).map(|_| Mutex::default()).collect(),
            shape,
            kernel,
            problem,
        })
    }

    /// Steps of a region, regions below each other, and beside each other.
    fn regions(&self) -> [usize; 3] {
        let (Problem { m, n, .. }, cuts) = (self.problem, self.cuts);
        [
            cuts.blocks.div_ceil(cuts.step),
            m.div_ceil(cuts.mb),
            n.div_ceil(cuts.nb),
        ]
    }

    /// The regions and their steps in the order in which they are computed.
    fn region(&self, index: usize) -> Region {
        let Problem { m, n, .. } = self.problem;
        let Cuts {
            mb,
            nb,
            blocks,
            step,
            ..
        } = self.cuts;
        let [steps, below, _] = self.regions();
        let block = index % steps * step;
        let i = index / steps % below * mb;
        let j = index / steps / below * nb;
        Region {
            i,
            rows: mb.min(m - i),
            j,
            cols: nb.min(n - j),
            block,
            blocks: step.min(blocks - block),
        }
    }

    /// What is packed for a region.
    fn sides(&self, region: Region) -> [Side; 2] {
        let side = |is_a, lanes: usize, first, count: usize| Side {
            is_a,
            lanes,
            first,
            count,
            panels: count.div_ceil(lanes),
        };
        let a = side(true, self.shape.mr, region.i, region.rows);
        let b = side(false, self.shape.nr, region.j, region.cols);
        // With one step in all, the panels of B serve all regions below each other.
        let packed = region.i > 0 && !self.cuts.carries();
        let panels = if packed { 0 } else { b.panels };
        [a, Side { panels, ..b }]
    }

    /// Blocks that a task packs, and how many such strips a KC and a region have. Strips end where KC does.
    fn strips(&self, region: Region) -> (usize, usize, usize) {
        let kc = self.cuts.kc;
        let strip = part(kc, PACKED_K / self.shape.block, 1);
        let a_kc = kc.div_ceil(strip);
        (strip, a_kc, region.blocks.div_ceil(kc) * a_kc)
    }

    /// Packs a group of panels over a strip.
    fn pack(&self, region: Region, task: usize) {
        let (kc, block) = (self.cuts.kc, self.shape.block);
        let (strip, strips_a_kc, strips) = self.strips(region);
        let (group, at) = (task / strips, task % strips);
        let kc_first = at / strips_a_kc * kc;
        let first = kc_first + at % strips_a_kc * strip;
        let end = region.blocks.min(kc_first + kc).min(first + strip);
        let [a, b] = self.sides(region);
        let (side, group) = match group.checked_sub(a.groups()) {
            None => (a, group),
            Some(group) => (b, group),
        };
        let source = if side.is_a { &self.a } else { &self.b };
        let short = (source.strip_k() / block).max(1);
        let panels = group * side.group()..side.panels.min((group + 1) * side.group());
        let _mode = FpModeGuard::enter(FpMode::Nearest);
        let (own, _mine) = self.own_place();
        // Neighbouring panels in turn, as they share cache lines of the operand.
        for first in (first..end).step_by(short) {
            let k_padded = short.min(end - first) * block;
            let k_first = (region.block + first) * block;
            for panel in panels.clone() {
                let part = Part {
                    first: side.first + panel * side.lanes,
                    rows: side.lanes.min(side.count - panel * side.lanes),
                    lanes: side.lanes,
                    k_first,
                    k: k_padded.min(self.problem.k - k_first),
                    k_padded,
                };
                let to = self.panel(region, side.is_a, panel, first);
                // SAFETY: the part lies within the checked operands; each task has blocks of its own in the panels; the
                // kernel is one for this machine.
                unsafe { self.pack_strip(side.is_a, part, to, own) }
            }
        }
    }

    /// # Safety
    /// The part must lie in the operand, `panel` have room for it, and `own` be this thread's.
    unsafe fn pack_strip(&self, is_a: bool, part: Part, panel: *mut u8, own: usize) {
        let source = if is_a { &self.a } else { &self.b };
        let lines = self.workspace.at(own + self.places.lines).cast();
        // SAFETY: promised by the caller; this thread's place has room for a strip and its lines.
        unsafe {
            let Some(packing) = self.kernel.packing() else {
                source.load_to(part, panel, lines);
                return;
            };
            let strip = source.load_to(part, self.workspace.at(own + self.places.strip), lines);
            match is_a {
                true => packing.pack_a(&strip, panel),
                false => packing.pack_b(&strip, panel),
            }
        }
    }

    /// Where block `block` of a panel lies. What belongs to one KC lies together: KC by KC, panel by panel.
    fn panel(&self, region: Region, is_a: bool, panel: usize, block: usize) -> *mut u8 {
        let (start, panels, bytes) = match is_a {
            true => (
                0,
                region.rows.div_ceil(self.shape.mr),
                self.shape.a_block_bytes,
            ),
            false => (
                self.places.panels_b,
                region.cols.div_ceil(self.shape.nr),
                self.shape.b_block_bytes,
            ),
        };
        let kc = self.cuts.kc;
        let (before, within) = (block / kc * kc, block % kc);
        let length = kc.min(region.blocks - before);
        self.workspace
            .at(start + (before * panels + panel * length + within) * bytes)
    }

    /// A place that no other thread uses while the guard lives. There are as many as there are threads at work.
    fn own_place(&self) -> (usize, MutexGuard<'_, ()>) {
        let count = self.owners.len();
        for owner in (threads::index()..).map(|i| i % count) {
            let at = self.places.own + owner * self.places.own_bytes;
            match self.owners[owner].try_lock() {
                Ok(guard) => return (at, guard),
                Err(TryLockError::Poisoned(guard)) => return (at, guard.into_inner()),
                Err(TryLockError::WouldBlock) => std::hint::spin_loop(),
            }
        }
        unreachable!("the iterator has no end")
    }

    /// Blocks of the region below each other, and beside each other.
    fn blocks(&self, region: Region) -> [usize; 2] {
        let Cuts { mc, nc, .. } = self.cuts;
        [region.rows.div_ceil(mc), region.cols.div_ceil(nc)]
    }

    /// Computes one of the region's blocks over one step of K.
    fn compute(&self, region: Region, task: usize) {
        let Shape { mr, nr, .. } = self.shape;
        let (mc, nc) = (self.cuts.mc / mr, self.cuts.nc / nr);
        let (all_down, all_across) = (region.rows.div_ceil(mr), region.cols.div_ceil(nr));
        let [_, blocks_across] = self.blocks(region);
        let tile = mr * nr * self.shape.number_bytes();
        // Neighbours share rows of A, which are the larger part of what a block reads.
        let (down, across) = (task / blocks_across * mc, task % blocks_across * nc);
        let (own, _mine) = self.own_place();
        // Blocks that are finished in one step need no place of their own.
        let (tiles, column) = match self.cuts.carries() {
            true => {
                let rows = self.cuts.mb / mr;
                debug_assert!(across < self.cuts.nb / nr);
                let first = across * rows + down;
                (self.places.carried + first * tile, rows * tile)
            }
            false => (own, mc * tile),
        };
        self.block(
            region,
            Block {
                down,
                rows: mc.min(all_down - down),
                across,
                cols: nc.min(all_across - across),
                tiles,
                column,
            },
        );
    }

    /// Computes one block over one step of K. A tile gets its c when its first product is due, and goes to D after its last:
    /// memory answers while other tiles are computed.
    fn block(&self, region: Region, block: Block) {
        let kc = self.cuts.kc;
        let (mr, nr) = (self.shape.mr, self.shape.nr);
        let _mode = FpModeGuard::enter(FpMode::Nearest);
        for first in (0..region.blocks).step_by(kc) {
            let blocks = kc.min(region.blocks - first);
            let k_first = (region.block + first) * self.shape.block;
            let k = (blocks * self.shape.block).min(self.problem.k - k_first);
            let last = region.block + first + blocks == self.cuts.blocks;
            for across in 0..block.cols {
                let b = self.panel(region, false, block.across + across, first);
                let j = region.j + (block.across + across) * nr;
                let mut elements = 0;
                for down in 0..block.rows {
                    let i = region.i + (block.down + down) * mr;
                    let tile = Tile {
                        a: self.panel(region, true, block.down + down, first),
                        b,
                        blocks,
                        last,
                        c_format: match k_first {
                            0 => self.results.first_format(),
                            _ => self.problem.model.unit().carry(),
                        },
                        ..self.tile_of(region, block, down, across)
                    };
                    if k_first == 0 {
                        self.results.load(&tile, (mr, nr), i, j);
                        if down + 1 < block.rows {
                            let Tile { rows, cols, .. } =
                                self.tile_of(region, block, down + 1, across);
                            self.results.prefetch_c((rows, cols), i + mr, j);
                        }
                    }
                    if last {
                        self.results.prefetch_d((tile.rows, tile.cols), i, j);
                    }
                    {
                        let _mode = FpModeGuard::enter(self.shape.mode);
                        // SAFETY: the panels hold the region's blocks, the place has room for the tile, the mode is the
                        // kernel's.
                        unsafe { self.kernel.tile(&tile) };
                    }
                    if last {
                        self.results.store(&tile, nr, i, j);
                    }
                    elements += tile.rows * tile.cols;
                }
                self.control.add((elements * k) as u64);
                if self.control.cancelled() {
                    return;
                }
            }
        }
    }

    /// A tile of a block, without panels.
    fn tile_of(&self, region: Region, block: Block, down: usize, across: usize) -> Tile {
        let Shape { mr, nr, .. } = self.shape;
        let bytes = mr * nr * self.shape.number_bytes();
        let (i, j) = ((block.down + down) * mr, (block.across + across) * nr);
        Tile {
            c: self
                .workspace
                .at(block.tiles + across * block.column + down * bytes),
            a: std::ptr::null(),
            b: std::ptr::null(),
            blocks: 0,
            rows: mr.min(region.rows - i),
            cols: nr.min(region.cols - j),
            c_format: self.problem.model.unit().carry(),
            last: false,
        }
    }
}

/// Every region is packed, then computed.
impl Phases for Run<'_, '_> {
    fn phases(&self) -> usize {
        2 * self.regions().iter().product::<usize>()
    }

    fn tasks(&self, phase: usize) -> usize {
        let region = self.region(phase / 2);
        if phase.is_multiple_of(2) {
            let groups: usize = self.sides(region).iter().map(Side::groups).sum();
            groups * self.strips(region).2
        } else {
            self.blocks(region).iter().product()
        }
    }

    fn run(&self, phase: usize, task: usize) {
        let region = self.region(phase / 2);
        if phase.is_multiple_of(2) {
            self.pack(region, task);
        } else {
            self.compute(region, task);
        }
    }

    fn stopped(&self) -> bool {
        self.control.cancelled()
    }
}

/// Is D' = B' A' computed sooner? A tile always computes NR columns, but often only as many rows as there are, so few
/// columns are better taken as rows; else NR should run along the side of D that is contiguous in memory.
fn better_transposed(problem: &Problem, shape: &Shape) -> bool {
    let (m, n) = (problem.m, problem.n);
    let cost = |m: usize, n: usize| m as f64 * n.next_multiple_of(shape.nr) as f64;
    let (as_is, transposed) = (cost(m, n), cost(n, m));
    let by_rows = problem.d.row_stride() == 1 && problem.d.col_stride() != 1;
    problem.model.commutes() && transposed < as_is * if by_rows { 1.1 } else { 0.9 }
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
