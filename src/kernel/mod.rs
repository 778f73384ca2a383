//! The reference's results, fast.
//!
//! A [`Kernel`] computes tiles of D for one unit. Which kernel a unit gets depends on its [`Family`], that is on how it
//! sums, and on the [`Level`], that is on the instructions that the machine has. A family that has nothing for a level
//! falls back to the next lower one, and a unit that fits no family is computed by [`reference`](crate::reference).
//!
//! The engine (`gemm/engine.rs`) loads a strip of A or B ([`Source::load`]), rounds it to the unit's format, and
//! hands it to the kernel, which packs it as it likes best. A tile of c travels from block to block as numbers of
//! binary32 (or binary64) that are equal to the encodings that the unit carries.

mod align;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod by_reference;
mod correct_rounding;
mod dots;
mod doubles;
mod family;
mod fma_chain;
mod fp_mode;
mod lanes;
mod level;
#[cfg(target_arch = "aarch64")]
mod neon;
mod pairwise_sum;
mod portable;
mod sink;
mod source;

pub use dots::{DotKernel, dots_for};
pub use family::{Family, family_of};
use family::{factor_format, half_block_unit};
pub use fp_mode::{FpMode, FpModeGuard};
#[doc(hidden)]
pub use level::force_level;
pub use level::{Level, cpu_features, level};
pub(crate) use sink::Sink;
pub use source::{Part, Source, Strip, StripBuffer, Values};
pub(crate) use source::{prefetch, quiet_double};

use crate::format::Format;
use crate::model::Model;

/// What the engine must know about a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// MR: rows of a tile.
    pub mr: usize,
    /// NR: columns of a tile.
    pub nr: usize,
    /// Elements of K that the kernel packs and computes together: N_FMA, or a multiple where the unit allows it. K is
    /// filled up with zeros to a multiple of it.
    pub block: usize,
    /// Are strips, and c between blocks, binary64 numbers? Else they are binary32 numbers.
    pub double: bool,
    /// Bytes of MR rows and one block of packed A; a multiple of 8.
    pub a_block_bytes: usize,
    /// Bytes of NR columns and one block of packed B; a multiple of 8.
    pub b_block_bytes: usize,
    /// The mode in which [`Kernel::tile`] must run. Packing runs in [`FpMode::Nearest`].
    pub mode: FpMode,
}

impl Shape {
    /// Bytes of a number of a strip or a tile.
    pub fn number_bytes(&self) -> usize {
        if self.double { 8 } else { 4 }
    }
}

/// One tile of D: `rows` x `cols` dot products over `blocks` blocks.
#[derive(Clone, Copy, Debug)]
pub struct Tile {
    /// MR x NR numbers, row by row: c on entry, the result on return. binary32, or binary64 if [`Shape::double`].
    /// Each is equal to the encoding in the unit's carry format; any NaN stands for the unit's. Aligned to 64 bytes.
    pub c: *mut u8,
    /// Packed A: MR rows, `blocks` blocks. Aligned to 64 bytes if its blocks are a multiple of that, else to 8.
    pub a: *const u8,
    /// Packed B: NR columns, `blocks` blocks. Aligned as A.
    pub b: *const u8,
    /// Blocks of [`Shape::block`] elements of K.
    pub blocks: usize,
    /// Rows that matter, 1 to MR. Others may be computed or not.
    pub rows: usize,
    /// Columns that matter, 1 to NR. Others may be computed or not.
    pub cols: usize,
    /// Format whose numbers c's are on entry: the unit's carry format, or at the beginning of K what the user's C was
    /// rounded to, where that is wider. Its smallest exponent is the one that a subnormal c counts with.
    pub c_format: Format,
    /// Is this the end of K?
    pub last: bool,
}

/// Computes tiles of D for one unit, bit for bit as [`reference::dot`](crate::reference::dot).
///
/// # Safety
/// An implementation must touch nothing but what [`Shape`] and [`Tile`] describe.
pub unsafe trait Kernel: Send + Sync {
    /// Sizes and mode.
    fn shape(&self) -> Shape;

    /// How strips are packed. `None` if a packed panel is its strips, one after the other: they are loaded where they are to
    /// lie.
    fn packing(&self) -> Option<&dyn PackStrips> {
        None
    }

    /// Computes one tile.
    ///
    /// # Safety
    /// The pointers must be as [`Tile`] says; the thread must be in [`Shape::mode`]; the machine must have the
    /// kernel's level.
    unsafe fn tile(&self, tile: &Tile);
}

/// Lays strips out for a kernel.
///
/// # Safety
/// As for [`Kernel`].
pub unsafe trait PackStrips {
    /// Packs a strip of MR rows; `panel` is where its first block goes.
    ///
    /// # Safety
    /// `panel` must have room for the strip's blocks and be aligned as [`Tile`] says; the machine must have the kernel's
    /// level.
    unsafe fn pack_a(&self, strip: &Strip, panel: *mut u8);

    /// Packs a strip of NR columns; `panel` is where its first block goes.
    ///
    /// # Safety
    /// As for `pack_a`.
    unsafe fn pack_b(&self, strip: &Strip, panel: *mut u8);
}

/// The kernel of a unit on a level that this machine has.
pub fn kernel_for(model: &Model, level: Level) -> Box<dyn Kernel> {
    let made = match level {
        Level::Portable => kernel_of::<portable::Portable>(model),
        #[cfg(target_arch = "aarch64")]
        Level::Neon => kernel_of::<neon::Neon>(model),
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => kernel_of::<avx2::Avx2>(model),
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => kernel_of::<avx512::Avx512>(model),
        #[allow(unreachable_patterns)]
        _ => kernel_of::<portable::Portable>(model),
    };
    made.unwrap_or_else(|| Box::new(by_reference::ByReference::new(model)))
}

/// The fast kernel of a unit for the vectors `L`, if there is one.
fn kernel_of<L: doubles::Doubles>(model: &Model) -> Option<Box<dyn Kernel>> {
    match family_of(model) {
        Family::EarlyAddend => Some(align::early::kernel::<L>(model)?),
        Family::Interleaved => Some(align::interleaved::kernel::<L>(model)?),
        Family::LateAddend => Some(align::late::kernel::<L>(model, false)?),
        Family::OddEven => Some(align::late::kernel::<L>(model, true)?),
        Family::FmaChain => Some(fma_chain::kernel::<L>(model)),
        Family::PairwiseSum => pairwise_sum::kernel::<L>(model),
        Family::CorrectRounding => correct_rounding::kernel::<L>(model),
        Family::Reference => None,
    }
}
