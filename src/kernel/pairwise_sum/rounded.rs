//! Four products, each rounded by itself: four multiplications and four additions for what takes an FMA chain four
//! operations, so a row leaves no port idle and has the longest chain of results that wait for each other. It therefore
//! passes through three stages, each between the multiplications of another row:
//!
//! 1. products of row i, fl(p1 + p2), and fl(p3 + p4) of the first vector;
//! 2. fl(p3 + p4) of the second vector of row i - 1, and the sums of both pairs;
//! 3. c of row i - 2.
//!
//! The order within a row was found by timing many of them on a Zen 3. Sixteen registers hold all columns of B but one, which
//! is read when it is multiplied, the products and sums that wait, and one vector more.

use super::{Pipeline, VECTORS, here};
use crate::kernel::doubles::Doubles;
use crate::kernel::lanes::Lanes;

/// What is due of the last two rows.
pub struct Rounded<L: Lanes> {
    /// fl(p1 + p2) of the last row.
    first_pairs: [L::F; VECTORS],
    /// fl(p3 + p4) of its first vector.
    second_pair: L::F,
    /// p3 and p4 of its second vector.
    products: [L::F; 2],
    /// The sums of all products of the row before it.
    totals: [L::F; VECTORS],
    /// Where the c of the row before the last one lies, and of the last.
    c: [*mut f32; 2],
}

// SAFETY (of every block): promised by the callers.
impl<L: Doubles> Rounded<L> {
    #[inline(always)]
    unsafe fn mul(x: L::F, y: L::F) -> L::F {
        unsafe { here::<L>(L::flush(L::mul(x, y))) }
    }

    #[inline(always)]
    unsafe fn add(x: L::F, y: L::F) -> L::F {
        unsafe { here::<L>(L::flush(L::add(x, y))) }
    }

    /// Ends a vector of the row before the last one.
    #[inline(always)]
    unsafe fn add_to_c(&self, v: usize) {
        unsafe {
            let c = self.c[0].add(v * L::COUNT);
            L::store(c, Self::add(L::load(c), self.totals[v]));
        }
    }
}

impl<L: Doubles> Pipeline<L, 4> for Rounded<L> {
    #[inline(always)]
    unsafe fn new(nowhere: *mut f32) -> Self {
        let zero = unsafe { L::splat(0.0) };
        Rounded {
            first_pairs: [zero; VECTORS],
            second_pair: zero,
            products: [zero; 2],
            totals: [zero; VECTORS],
            c: [nowhere; 2],
        }
    }

    #[inline(always)]
    unsafe fn row(
        self,
        a: *const f32,
        b: *const f32,
        columns: &[[L::F; 4]; VECTORS],
        c: *mut f32,
    ) -> Self {
        unsafe {
            let factor = |p: usize| here::<L>(L::splat(*a.add(p * super::MR)));
            // The columns of the first vector, and of the second.
            let [near, far] = columns;

            let second_pair = Self::add(self.products[0], self.products[1]);
            let a2 = factor(1);
            let far2 = Self::mul(a2, far[1]);
            self.add_to_c(0);
            let near_total = Self::add(self.first_pairs[0], self.second_pair);
            let a1 = factor(0);
            let far1 = Self::mul(a1, far[0]);
            self.add_to_c(1);
            let near1 = Self::mul(a1, near[0]);
            let near2 = Self::mul(a2, near[1]);
            let far_total = Self::add(self.first_pairs[1], second_pair);
            let near_first = Self::add(near1, near2);
            let (a3, a4) = (factor(2), factor(3));
            let far_first = Self::add(far1, far2);
            let near3 = Self::mul(a3, near[2]);
            let near4 = Self::mul(a4, near[3]);
            let near_second = Self::add(near3, near4);
            let far3 = Self::mul(a3, L::load(b.add((2 * VECTORS + 1) * L::COUNT)));
            let far4 = Self::mul(a4, far[3]);

            Rounded {
                first_pairs: [near_first, far_first],
                second_pair: near_second,
                products: [far3, far4],
                totals: [near_total, far_total],
                c: [self.c[1], c],
            }
        }
    }

    #[inline(always)]
    unsafe fn finish(self) {
        unsafe {
            self.add_to_c(0);
            self.add_to_c(1);
            let second = [
                self.second_pair,
                Self::add(self.products[0], self.products[1]),
            ];
            for (v, second_pair) in second.into_iter().enumerate() {
                let c = self.c[1].add(v * L::COUNT);
                let total = Self::add(self.first_pairs[v], second_pair);
                L::store(c, Self::add(L::load(c), total));
            }
        }
    }
}
