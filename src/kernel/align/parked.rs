//! Infinities and NaNs of a tile's c, taken out of it while it is computed.
//!
//! Lanes that hold one always will, and only infinities and NaNs among the factors, which take rows to the scalar code, can
//! change it. In c their places hold 1, which is never out of the vectors' range, like those of lanes without a column.

use std::mem::MaybeUninit;

use super::{MR, VECTORS};
use crate::kernel::lanes::Lanes;

/// What was taken out.
pub struct Parked {
    /// Rows with numbers taken out.
    rows: u32,
    /// Those rows as they were.
    numbers: [MaybeUninit<f32>; 64 * MR],
}

impl Parked {
    pub const fn new() -> Parked {
        Parked {
            rows: 0,
            numbers: [MaybeUninit::uninit(); 64 * MR],
        }
    }

    /// Where row i is kept.
    #[inline(always)]
    unsafe fn row(&mut self, i: usize) -> *mut f32 {
        // SAFETY: i < MR.
        unsafe { self.numbers.as_mut_ptr().add(64 * i).cast() }
    }

    /// Takes them out of row `i`, none of which is out.
    #[inline(always)]
    pub unsafe fn take_out<L: Lanes>(&mut self, i: usize, c: *mut f32) {
        // SAFETY: the caller is compiled for the level; the row is there.
        unsafe {
            let mut any = L::splat_i(0);
            for v in 0..VECTORS {
                any = L::or(any, beyond_finite::<L>(L::load(c.add(v * L::COUNT))));
            }
            if !L::any_negative(any) {
                return;
            }
            self.rows |= 1 << i;
            for v in 0..VECTORS {
                let at = c.add(v * L::COUNT);
                let x = L::load(at);
                L::store(self.row(i).add(v * L::COUNT), x);
                L::store(
                    at,
                    L::select_by_sign(beyond_finite::<L>(x), L::splat(1.0), x),
                );
            }
        }
    }

    /// Puts those of row `i` back.
    #[inline(always)]
    pub unsafe fn put_back<L: Lanes>(&mut self, i: usize, c: *mut f32) {
        if self.rows >> i & 1 == 0 {
            return;
        }
        self.rows &= !(1 << i);
        for v in 0..VECTORS {
            // SAFETY: the caller is compiled for the level; the row is there, and was stored when numbers were taken out.
            unsafe {
                let (at, x) = (c.add(v * L::COUNT), L::load(self.row(i).add(v * L::COUNT)));
                L::store(at, L::select_by_sign(beyond_finite::<L>(x), x, L::load(at)));
            }
        }
    }
}

/// Negative where x is an infinity or a NaN.
#[inline(always)]
unsafe fn beyond_finite<L: Lanes>(x: L::F) -> L::I {
    // SAFETY: the caller is compiled for the level.
    unsafe {
        let finite = L::splat_i(f32::MAX.to_bits() as i32);
        L::sub_i(finite, L::and(L::bits(x), L::splat_i(i32::MAX)))
    }
}
