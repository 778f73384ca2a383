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
//!   down than its magnitude says, exactly like the two's complement pattern.) These bits go into the total's last three,
//!   all of which lie below the RNE's half bit: c is 2^29 units or more and the sum less than 2^28, so the total keeps 29 bits.
//!   With 8-bit products the sum is only below half of c (below 56.3 * 2^E against c >= 64 * 2^E, which leaves the total two
//!   bits or more to spare), so the total keeps 25 bits or more: then the bits' OR goes into its last one.
//! * Shifts of 31 and more lose the pattern, but then the shifted sum is 0 or -1, c is a multiple of 64 units, and RNE
//!   gives c whatever the sticky bit. So low products do not matter beside such a c. Where c lies 31 binades above the base
//!   or more, the result is c: computed carefully, where exponents counted down end at zero, it is taken as it is.
//!
//! Rounding c down with `floor` needs care for a c so small that its product with the scale underflows: adding 2^-60
//! with c's sign moves a tiny negative c off zero, and changes nothing else, because it lies below half a unit in the
//! last place of every number of magnitude 2^-35 or more. It needs a c that is not -0: zeros between blocks have no
//! sign here. With 8-bit inputs, a c below half a unit is dropped instead of rounded down.
//!
//! The result, converted by RNE, times 2^(U - 24) is exact or overflows, for U lies between -95 and 126.

use super::pack::{PackA, PackB};
use super::tile::{Exponents, Row, Rows, TileJob};
use super::{Aligning, CAREFUL, Common, HIGH, Layout, Live, MR, PLAIN, VECTORS, field};
use crate::kernel::lanes::Lanes;
use crate::kernel::{FpMode, Kernel, PackStrips, Shape, Strip, Tile};
use crate::model::Model;

/// Kernel for blocks of N products; GROUPS is 2 for odd and even groups, else 1.
pub struct Late<L, const N: usize, const GROUPS: usize> {
    pub(super) common: Common,
    /// Which of the three bits below the unit count, by the top three bits of the total.
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

    fn packing(&self) -> Option<&dyn PackStrips> {
        Some(self)
    }

    unsafe fn tile(&self, tile: &Tile) {
        // SAFETY: promised by the caller.
        unsafe { L::dispatch(TileJob { kernel: self, tile }) }
    }
}

// SAFETY: packing touches the blocks of the strip, as the shape describes them.
unsafe impl<L: Lanes, const N: usize, const GROUPS: usize> PackStrips for Late<L, N, GROUPS> {
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
            top: self.common.top,
            panel,
        };
        // SAFETY: promised by the caller.
        unsafe { L::dispatch(job) }
    }
}

/// How far c's exponent must lie above that of low products for them not to matter: U is 5 less, and 31 above them.
const FAR: i32 = 36;

/// Numbers that depend on a base, as exponent fields.
#[derive(Clone, Copy)]
pub struct Constants<L: Lanes> {
    /// Less c's field: U for c, counted down.
    for_c: L::I,
    /// Added to U, counted down: the field of 2^(24 - U).
    scale: L::I,
    /// Less U, counted down: the field of 2^(U - 24).
    result: L::I,
    /// The largest exponents, counted down, of lanes that vectors compute, if U is not at most the other.
    largest: L::I,
    /// The largest U, counted down, of lanes that vectors compute whatever their products.
    largest_unit: L::I,
    /// Which of the three bits below the unit count, by the top three bits of the total.
    kept: L::Table,
}

impl<L: Lanes, const N: usize, const GROUPS: usize> Rows<N, GROUPS> for Late<L, N, GROUPS> {
    type Level = L;
    type Constants = Constants<L>;

    /// From here on exponents counted down as signed numbers might not fit. The products of a block add up to less than 2^103,
    /// half of the largest number's last bit.
    const PLAIN_BELOW: i32 = 97;

    fn common(&self) -> &Common {
        &self.common
    }

    #[inline(always)]
    unsafe fn constants<const CARE: u8>(&self, base: i32) -> Constants<L> {
        let above = self.common.top + base;
        let largest = self.common.largest_u(base);
        let largest_unit = (largest - (FAR - 5)).max(0);
        // SAFETY: the caller is compiled for the level.
        let all = |x: i32| unsafe { L::splat_i(field(x)) };
        Constants {
            for_c: all(above + 127 + 5),
            scale: all(127 + 24 - above),
            result: all(127 + above - 24),
            largest: all(largest),
            largest_unit: all(largest_unit),
            // SAFETY: as above.
            kept: unsafe { L::table(&self.kept) },
        }
    }

    #[inline(always)]
    unsafe fn row<const CARE: u8>(
        &self,
        row: Row<N>,
        constants: Constants<L>,
        u: &[Exponents; GROUPS],
        live: &Live<L, VECTORS>,
    ) -> bool {
        let Row { block, i, c, d } = row;
        // SAFETY: the block and the row of c are there, as the caller says.
        unsafe {
            let mut s = [[L::splat_i(0); VECTORS]; GROUPS];
            for (s, u) in s.iter_mut().zip(u) {
                *s = u.of_row::<L>(i);
            }
            let addend = Addend::new::<GROUPS, CARE>(constants, least::<L, VECTORS, GROUPS>(s), c);
            if CARE != CAREFUL && addend.any_out_of_range::<CARE>() {
                return true;
            }
            let mut sums = [[L::splat_i(0); VECTORS]; GROUPS];
            for (group, sums) in sums.iter_mut().enumerate() {
                block.add_products::<L>(i, (group, N, GROUPS), s[group], sums);
            }
            let sums = add_groups::<L, VECTORS, GROUPS>(s, sums);
            addend.add_to::<GROUPS, CARE>(sums, d, live)
        }
    }

    const PARKS: bool = true;

    const LOOKS_AFTER: bool = false;

    const FAR: i32 = FAR;

    const KEPT: i32 = !0;
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
    constants: Constants<L>,
    c: *const f32,
    /// Exponents of the products, counted down.
    s: [L::I; V],
    /// U, counted likewise.
    unit: [L::I; V],
    /// c in units of 2^(U - 24).
    units: [L::I; V],
    /// The largest exponent field of c.
    largest_field: L::I,
}

impl<L: Lanes, const V: usize> Addend<L, V> {
    /// The row `c`, to be added to sums aligned to the exponents `s`.
    #[inline(always)]
    pub(super) unsafe fn new<const GROUPS: usize, const CARE: u8>(
        constants: Constants<L>,
        s: [L::I; V],
        c: *const f32,
    ) -> Self {
        // SAFETY: the row of c is there, as the caller says.
        unsafe {
            let (mut unit, mut units, mut largest_field) = (s, s, L::splat_i(0));
            for v in 0..V {
                let c = L::load(c.add(v * L::COUNT));
                let field = exponent_field::<L>(c);
                unit[v] = match CARE {
                    PLAIN => L::min_signed_fields(s[v], L::sub_i(constants.for_c, field)),
                    HIGH => L::min_fields(s[v], L::sub_i(constants.for_c, field)),
                    _ => L::min_fields(s[v], L::sub_fields(constants.for_c, field)),
                };
                largest_field = L::max_i(largest_field, field);
                let to_unit = L::from_bits(L::add_i(unit[v], constants.scale));
                units[v] = if GROUPS == 2 {
                    let scaled = L::mul(c, to_unit);
                    let dropped = L::abs_less(scaled, L::splat(0.5));
                    L::select(dropped, L::splat_i(0), L::to_int(L::floor(scaled)))
                } else {
                    let tiny = L::copysign(1.0 / (1u64 << 60) as f32, c);
                    L::to_int(L::floor(L::mul_add(c, to_unit, tiny)))
                };
                // Now: the compiler would rather do it when the products are there than keep it in memory until then.
                units[v] = L::compute_here(units[v]);
            }
            Addend {
                constants,
                c,
                s,
                unit,
                units,
                largest_field,
            }
        }
    }

    /// May any lane's exponents be too low, or is any c infinite?
    #[inline(always)]
    unsafe fn any_out_of_range<const CARE: u8>(&self) -> bool {
        // SAFETY: the caller of `new` is compiled for the level.
        unsafe {
            let mut most = self.unit[0];
            for &unit in &self.unit[1..] {
                most = L::max_signed_fields(most, unit);
            }
            let low = L::any_greater(most, self.constants.largest_unit);
            low || CARE == HIGH && L::any_greater(self.largest_field, L::splat_i(254 << 23))
        }
    }

    /// Adds the sums of the products and rounds: `d` becomes the results, which may lie where `c` does. Returns whether any lane
    /// has to be looked at again, if CAREFUL.
    #[inline(always)]
    pub(super) unsafe fn add_to<const GROUPS: usize, const CARE: u8>(
        self,
        sums: [L::I; V],
        d: *mut f32,
        live: &Live<L, V>,
    ) -> bool {
        let Addend {
            constants, s, unit, ..
        } = self;
        // SAFETY: the row of c is there, as the caller of `new` says.
        unsafe {
            let mut again = L::splat_i(0);
            let mut results = [L::splat(0.0); V];
            // Step by step for all vectors, so that as many operations as can be do not wait for each other.
            let (mut shift, mut total, mut fallen) = (sums, sums, sums);
            for v in 0..V {
                shift[v] = L::compute_here(L::shr::<23>(L::sub_i(s[v], unit[v])));
            }
            for v in 0..V {
                total[v] = L::add_i(L::sar_by(sums[v], shift[v]), self.units[v]);
                total[v] = L::compute_here(total[v]);
            }
            for v in 0..V {
                fallen[v] = L::compute_here(L::shr_by(L::shl::<3>(sums[v]), shift[v]));
            }
            for v in 0..V {
                let kept = L::look_up(constants.kept, L::shr::<29>(total[v]));
                let sticky = match GROUPS {
                    1 => L::and(fallen[v], kept),
                    _ => L::any_bit(L::and(fallen[v], kept)),
                };
                fallen[v] = L::compute_here(sticky);
            }
            for v in 0..V {
                let total = L::to_float(L::or(total[v], fallen[v]));
                results[v] = L::from_bits(L::compute_here(L::bits(total)));
            }
            for v in 0..V {
                let back = L::from_bits(L::sub_i(constants.result, unit[v]));
                results[v] = L::mul(results[v], back);
                if CARE == CAREFUL {
                    let c = L::load(self.c.add(v * L::COUNT));
                    // Negative where c is the result.
                    let far = L::sub_i(unit[v], L::splat_i(1 << 23));
                    let special = L::sub_i(L::splat_i(254 << 23), exponent_field::<L>(c));
                    results[v] = L::select_by_sign(L::or(far, special), c, results[v]);
                    let low_products = L::sub_i(constants.largest, s[v]);
                    let low = L::and(low_products, L::sub_i(constants.largest_unit, unit[v]));
                    again = L::or(again, L::and(low, live.0[v]));
                }
            }
            for (v, result) in results.into_iter().enumerate() {
                L::store(d.add(v * L::COUNT), result);
            }
            CARE == CAREFUL && L::any_negative(again)
        }
    }
}

#[inline(always)]
unsafe fn exponent_field<L: Lanes>(x: L::F) -> L::I {
    // SAFETY: the caller is compiled for the level.
    unsafe { L::and(L::bits(x), L::splat_i(0x7f80_0000)) }
}
