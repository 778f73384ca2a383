//! Four products, each rounded by itself: of a row of two vectors, eight multiplications and eight additions, which keep two
//! ports that multiply and two that add busy for four cycles, as long as a chain of FMAs needs for as many products. Nothing
//! is left over for waiting, and a result of this unit is at the end of a long chain of operations. A row is therefore
//! done in three stages, each while other rows are at theirs:
//!
//! 1. its products, fl(p1 + p2) of both vectors and fl(p3 + p4) of the first;
//! 2. fl(p3 + p4) of the second vector, and for both the sum of all four;
//! 3. the addition to c.
//!
//! The order within [`row`](Pipeline::row), which does the first stage of one row, the second of the row before it and the
//! third of the row before that, was found by timing many of them on a Zen 3. AVX2 has sixteen registers: seven hold
//! columns of B, seven what waits from row to row, and two remain for what a row begins with. The eighth column is
//! read where it is multiplied, as an operand in memory; stores to c keep the compiler from taking it into a register.

use super::{Pipeline, VECTORS, here};
use crate::kernel::doubles::Doubles;
use crate::kernel::lanes::Lanes;

/// What is left to do of the last two rows.
pub(super) struct Rounded<L: Lanes> {
    /// The last row: fl(p1 + p2) of both vectors,
    sums12: [L::F; VECTORS],
    /// fl(p3 + p4) of the first,
    x34: L::F,
    /// p3 and p4 of the second.
    y3: L::F,
    y4: L::F,
    /// The row before it: the sums of four products.
    totals: [L::F; VECTORS],
    /// Where c lies, of the row before the last one and of the last.
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

    /// The third stage of vector `v`.
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
            sums12: [zero; VECTORS],
            x34: zero,
            y3: zero,
            y4: zero,
            totals: [zero; VECTORS],
            c: [nowhere; 2],
        }
    }

    #[inline(always)]
    unsafe fn row(
        self,
        a: *const f32,
        b: *const f32,
        [x, y]: &[[L::F; 4]; VECTORS],
        c: *mut f32,
    ) -> Self {
        unsafe {
            // Products of the first vector are x1 to x4, of the second y1 to y4.
            let factor = |p: usize| here::<L>(L::splat(*a.add((p - 1) * super::MR)));
            let last_y34 = Self::add(self.y3, self.y4);
            let a2 = factor(2);
            let y2 = Self::mul(a2, y[1]);
            self.add_to_c(0);
            let total_x = Self::add(self.sums12[0], self.x34);
            let a1 = factor(1);
            let y1 = Self::mul(a1, y[0]);
            self.add_to_c(1);
            let x1 = Self::mul(a1, x[0]);
            let x2 = Self::mul(a2, x[1]);
            let total_y = Self::add(self.sums12[1], last_y34);
            let x12 = Self::add(x1, x2);
            let (a3, a4) = (factor(3), factor(4));
            let y12 = Self::add(y1, y2);
            let x3 = Self::mul(a3, x[2]);
            let x4 = Self::mul(a4, x[3]);
            let x34 = Self::add(x3, x4);
            let y3 = Self::mul(a3, L::load(b.add((2 * VECTORS + 1) * L::COUNT)));
            let y4 = Self::mul(a4, y[3]);
            Rounded {
                sums12: [x12, y12],
                x34,
                y3,
                y4,
                totals: [total_x, total_y],
                c: [self.c[1], c],
            }
        }
    }

    #[inline(always)]
    unsafe fn finish(self) {
        unsafe {
            self.add_to_c(0);
            self.add_to_c(1);
            let sums34 = [self.x34, Self::add(self.y3, self.y4)];
            for (v, sum34) in sums34.into_iter().enumerate() {
                let c = self.c[1].add(v * L::COUNT);
                let total = Self::add(self.sums12[v], sum34);
                L::store(c, Self::add(L::load(c), total));
            }
        }
    }
}
