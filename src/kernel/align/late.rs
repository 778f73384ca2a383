//! c is added after the products have been summed (CDNA 3; paper, Algorithms 1 and 2).
//!
//! The sum of the products is an integer in units of 2^(E - 24), |sum| < 2^29 (2^30 for odd and even groups of 8-bit
//! products). The paper then distinguishes: E >= e_c, c rounded down to that unit; else the sum rounded down to 32 bits
//! below e_c, added to c, and the total rounded down to 31 bits below its leading bit; in the end RNE to 24 bits.
//!
//! Both cases in one, without a branch: take the unit 2^(U - 24), U = max(E, e_c - 5). Then
//!
//! * c rounded down to that unit is the first case where E >= e_c, and exact where U > E - 1 because of c (c's last bit is
//!   2^(e_c - 23), not below the unit). Where e_c - 5 <= E < e_c the sum needs no shift, c fits exactly, and the
//!   total, below 2^(E + 7), keeps all its bits in the paper's 31; so total = sum + c in the first case's unit.
//! * Where e_c > E + 5 the sum is shifted down by U - E. What falls off matters to the RNE only as "something is
//!   there", and of it the paper keeps the first three bits (32 bits below e_c are three below the unit), less one for every
//!   binade of the total above 2^(e_c - 1), since the 31 bits count from the leading bit. The top three bits of the
//!   total tell: 000 and 111 keep three, 001 and 110 two, the others one. (A negative total is one step further
//!   down than its magnitude says, exactly like the two's complement pattern.) These bits' OR goes into the total's last
//!   bit, which lies below the RNE's half bit: the sum is below half of c (for 8-bit products, below 56.3 * 2^E
//!   against c >= 64 * 2^E; then the total has two bits or more to spare), so the total keeps 25 bits or more.
//! * Shifts of 31 and more lose the pattern, but then the shifted sum is 0 or -1, c is a multiple of 64 units, and RNE
//!   gives c whatever the sticky bit. So low products do not matter beside such a c. Where c lies 33 binades above the base
//!   or more, the result is c; that includes infinities and NaNs, whose exponent field is larger still. Rows with a base of
//!   [`HIGH_BASE`](super::HIGH_BASE) or more tell those by their exponent field.
//!
//! Rounding c down with `floor` needs care for a c so small that its product with the scale underflows: adding 2^-60
//! with c's sign moves a tiny negative c off zero, and changes nothing else, because it lies below half a unit in the
//! last place of every number of magnitude 2^-35 or more. It needs a c that is not -0: zeros between blocks have no
//! sign here. With 8-bit inputs, a c below half a unit is dropped instead of rounded down.
//!
//! The result, converted by RNE, times 2^(U - 24) is exact or overflows, for U lies between -95 and 126.

use super::pack::{PackA, PackB};
use super::{
    Aligning, Block, Common, Exponents, Layout, Live, MR, TOP, VECTORS, fields, first_pass,
    largest_u, without_sign,
};
use crate::kernel::lanes::{Job, Lanes};
use crate::kernel::{FpMode, Kernel, Shape, Strip, Tile};
use crate::model::Model;

/// Kernel for blocks of N products; GROUPS is 2 for odd and even groups, else 1.
pub struct Late<L, const N: usize, const GROUPS: usize> {
    pub(super) common: Common,
    /// Which bits below the unit count, by the top three bits of the total.
    pub(super) kept: [i32; 8],
    level: std::marker::PhantomData<L>,
}

/// The kernel of a unit with a late c.
pub fn kernel<L: Lanes>(model: &Model, odd_even: bool) -> Option<Box<dyn Aligning>> {
    Some(match (model.params().fma, odd_even) {
        (4, false) => Box::new(Late::<L, 4, 1>::new(model)),
        (8, false) => Box::new(Late::<L, 8, 1>::new(model)),
        (16, true) => Box::new(Late::<L, 16, 2>::new(model)),
        _ => return None,
    })
}

impl<L: Lanes, const N: usize, const GROUPS: usize> Late<L, N, GROUPS> {
    fn new(model: &Model) -> Self {
        let kept = match model.params().late_total_bits {
            Some(_) => [7, 6, 4, 4, 4, 4, 6, 7],
            // 31 bits below e_c, whatever the total.
            None => [6; 8],
        };
        Late {
            common: Common::new(model),
            kept,
            level: std::marker::PhantomData,
        }
    }
}

// SAFETY: packing and tiles touch what the layout describes.
unsafe impl<L: Lanes, const N: usize, const GROUPS: usize> Kernel for Late<L, N, GROUPS> {
    fn shape(&self) -> Shape {
        Shape {
            mr: MR,
            nr: Layout::<N>::columns::<L>(),
            block: N,
            double: false,
            a_block_bytes: Layout::<N>::A_BLOCK,
            b_block_bytes: Layout::<N>::b_block::<L>(),
            mode: FpMode::NearestLoose,
        }
    }

    unsafe fn pack_a(&self, strip: &Strip, panel: *mut u8) {
        let job = PackA::<N> {
            values: strip.single(),
            k: strip.k,
            min_field: self.common.min_field_a,
            panel,
        };
        // SAFETY: promised by the caller.
        unsafe { L::dispatch(job) }
    }

    unsafe fn pack_b(&self, strip: &Strip, panel: *mut u8) {
        let job = PackB::<N> {
            values: strip.single(),
            k: strip.k,
            min_field: self.common.min_field_b,
            bits: self.common.bits,
            panel,
        };
        // SAFETY: promised by the caller.
        unsafe { L::dispatch(job) }
    }

    unsafe fn tile(&self, tile: &Tile) {
        // SAFETY: promised by the caller.
        unsafe { L::dispatch(TileJob { kernel: self, tile }) }
    }
}

struct TileJob<'a, L, const N: usize, const GROUPS: usize> {
    kernel: &'a Late<L, N, GROUPS>,
    tile: &'a Tile,
}

impl<L: Lanes, const N: usize, const GROUPS: usize> Job for TileJob<'_, L, N, GROUPS> {
    #[inline(always)]
    unsafe fn run<M: Lanes>(self) {
        let TileJob { kernel, tile } = self;
        // SAFETY: compiled for the level, which is L; the tile is as the engine describes it.
        unsafe {
            let columns = Layout::<N>::columns::<L>();
            // Zeros without a sign.
            for i in 0..tile.rows {
                for v in 0..VECTORS {
                    let at = tile.c.cast::<f32>().add(i * columns + v * L::COUNT);
                    L::store(at, without_sign::<L>(L::load(at)));
                }
            }
            let kept = L::table(&kernel.kept);
            let live = Live::new(tile.cols);
            let mut u = [const { Exponents::new() }; GROUPS];
            let mut before = [0.0; 64];
            for kb in 0..tile.blocks {
                let block = Block::<N>::new::<L>(tile, kb);
                let ways = first_pass::<L, N, GROUPS>(block, tile.rows, &live, &mut u);
                for i in 0..tile.rows {
                    if ways.is_slow(i) {
                        kernel.common.scalar_row::<L, N>(tile, kb, i);
                        continue;
                    }
                    let c = tile.c.cast::<f32>().add(i * columns);
                    let mut s = [[L::splat_i(0); VECTORS]; GROUPS];
                    for (s, u) in s.iter_mut().zip(&u) {
                        *s = fields::<L>(L::load_i(u.0.as_ptr().add(i * L::COUNT)));
                    }
                    if ways.plain {
                        row::<L, N, GROUPS, false>(block, i, c, s, kept, &live);
                        continue;
                    }
                    std::ptr::copy_nonoverlapping(c, before.as_mut_ptr(), columns);
                    let again = row::<L, N, GROUPS, true>(block, i, c, s, kept, &live);
                    if again || ways.is_over(i) {
                        let (at, u) = ((kb, i), [&u[0], &u[GROUPS - 1]]);
                        let common = &kernel.common;
                        common.repair::<L, N>(tile, at, u, &before, FAR, |c| c);
                    }
                }
            }
        }
    }
}

/// How far c's exponent must lie above that of low products for them not to matter: U is 5 less, and 31 above them.
pub(super) const FAR: i32 = 36;

/// One row over one block; returns whether any lane has to be looked at again.
#[inline(always)]
unsafe fn row<L: Lanes, const N: usize, const GROUPS: usize, const CHECKED: bool>(
    block: Block<N>,
    i: usize,
    c: *mut f32,
    s: [[L::I; VECTORS]; GROUPS],
    kept: L::Table,
    live: &Live<L, VECTORS>,
) -> bool {
    // SAFETY: the block and the row of c are there, as the caller says.
    unsafe {
        let addend = Addend::new::<GROUPS>(block.base::<L>(i), least::<L, VECTORS, GROUPS>(s), c);
        let mut sums = [[L::splat_i(0); VECTORS]; GROUPS];
        for (group, sums) in sums.iter_mut().enumerate() {
            block.add_products::<L>(i, (group, N, GROUPS), s[group], sums);
        }
        let sums = add_groups::<L, VECTORS, GROUPS>(s, sums);
        addend.add_to::<GROUPS, CHECKED>(sums, kept, live)
    }
}

/// The exponent field of the largest exponent: the least of the groups'.
#[inline(always)]
pub(super) unsafe fn least<L: Lanes, const V: usize, const GROUPS: usize>(
    s: [[L::I; V]; GROUPS],
) -> [L::I; V] {
    let mut least = s[0];
    for (v, least) in least.iter_mut().enumerate() {
        // SAFETY: the caller is compiled for the level.
        *least = unsafe { L::min_i(*least, s[GROUPS - 1][v]) };
    }
    least
}

/// One sum of the groups', each aligned to the exponents `s` beside it; the sum is aligned to the [`least`].
#[inline(always)]
pub(super) unsafe fn add_groups<L: Lanes, const V: usize, const GROUPS: usize>(
    s: [[L::I; V]; GROUPS],
    sums: [[L::I; V]; GROUPS],
) -> [L::I; V] {
    if GROUPS == 1 {
        return sums[0];
    }
    let mut all = sums[0];
    // SAFETY: the caller is compiled for the level.
    unsafe {
        let both = least::<L, V, GROUPS>(s);
        for (v, all) in all.iter_mut().enumerate() {
            let shift = |s: L::I| L::shr::<23>(L::sub_i(s, both[v]));
            let (first, second) = (shift(s[0][v]), shift(s[GROUPS - 1][v]));
            let aligned = L::sar_by(sums[GROUPS - 1][v], second);
            *all = L::add_i(L::sar_by(*all, first), aligned);
        }
    }
    all
}

/// A row of c, aligned. It does not wait for the sums of the products, and they do not wait for it.
pub(super) struct Addend<L: Lanes, const V: usize> {
    base: i32,
    c: *mut f32,
    /// Exponents of the products, as fields counted down from 28 + `base`.
    s: [L::I; V],
    /// U, counted likewise.
    unit: [L::I; V],
    /// c in units of 2^(U - 24).
    units: [L::I; V],
}

impl<L: Lanes, const V: usize> Addend<L, V> {
    /// The row `c`, to be added to sums aligned to the exponents `s`.
    #[inline(always)]
    pub(super) unsafe fn new<const GROUPS: usize>(base: i32, s: [L::I; V], c: *mut f32) -> Self {
        // SAFETY: the row of c is there, as the caller says.
        unsafe {
            let field = |e: i32| L::splat_i(e << 23);
            let (for_c, scale) = (field(TOP + base + 127 + 5), field(127 + 24 - TOP - base));
            let mut addend = Addend {
                base,
                c,
                s,
                unit: s,
                units: s,
            };
            for v in 0..V {
                let c = L::load(c.add(v * L::COUNT));
                let unit = L::min_fields(addend.s[v], L::sub_fields(for_c, exponent_field::<L>(c)));
                let to_unit = L::from_bits(L::add_i(unit, scale));
                addend.unit[v] = unit;
                addend.units[v] = if GROUPS == 2 {
                    let scaled = L::mul(c, to_unit);
                    let dropped = L::abs_less(scaled, L::splat(0.5));
                    L::select(dropped, L::splat_i(0), L::to_int(L::floor(scaled)))
                } else {
                    let sign = L::and(L::bits(c), L::splat_i(i32::MIN));
                    let tiny = L::or(sign, L::splat_i((127 - 60) << 23));
                    L::to_int(L::floor(L::mul_add(c, to_unit, L::from_bits(tiny))))
                };
                // Now: the compiler would rather do it when the products are there than keep it in memory until then.
                addend.units[v] = L::compute_here(addend.units[v]);
            }
            addend
        }
    }

    /// Adds the sums of the products and rounds. CHECKED: results may overflow, exponents may be too low
    /// or be those of zeros. Returns whether any lane has to be looked at again.
    #[inline(always)]
    pub(super) unsafe fn add_to<const GROUPS: usize, const CHECKED: bool>(
        self,
        sums: [L::I; V],
        kept: L::Table,
        live: &Live<L, V>,
    ) -> bool {
        let Addend { base, s, unit, .. } = self;
        // SAFETY: the row of c is there, as the caller of `new` says.
        unsafe {
            let field = |e: i32| L::splat_i(e << 23);
            let result = field(127 + TOP + base - 24);
            let largest = largest_u(base);
            let (lowest_e, lowest_u) = (field(largest), field((largest - (FAR - 5)).max(0)));
            let mut again = L::splat_i(0);
            for v in 0..V {
                let shift = L::shr::<23>(L::sub_i(s[v], unit[v]));
                let total = L::add_i(L::sar_by(sums[v], shift), self.units[v]);
                let kept = L::look_up(kept, L::shr::<29>(total));
                let kept = L::shl_by(kept, shift);
                let total = L::or(total, L::any_bit(L::and(L::shl::<3>(sums[v]), kept)));
                let back = L::from_bits(L::sub_i(result, unit[v]));
                let rounded = L::mul(L::to_float(total), back);
                let at = self.c.add(v * L::COUNT);
                let c = L::load(at);
                // Negative where c is the result.
                let mut by_c = L::sub_i(unit[v], L::splat_i(1 << 23));
                if CHECKED {
                    by_c = L::or(
                        by_c,
                        L::sub_i(L::splat_i(254 << 23), exponent_field::<L>(c)),
                    );
                    let low = L::and(L::sub_i(lowest_e, s[v]), L::sub_i(lowest_u, unit[v]));
                    again = L::or(again, L::and(low, live.0[v]));
                }
                L::store(at, L::select_by_sign(by_c, c, rounded));
            }
            CHECKED && L::any_negative(again)
        }
    }
}

#[inline(always)]
unsafe fn exponent_field<L: Lanes>(x: L::F) -> L::I {
    // SAFETY: the caller is compiled for the level.
    unsafe { L::and(L::bits(x), L::splat_i(0x7f80_0000)) }
}
