//! A fixed-point accumulator wide enough to hold sums of products exactly (Kulisch's long accumulator).

use crate::format::Exact;

/// Two's complement fixed-point number of `N` 64-bit limbs, least significant first; the last bit weighs 2^`unit`.
#[derive(Clone)]
pub struct Wide<const N: usize> {
    limbs: [u64; N],
    unit: i32,
}

impl<const N: usize> Wide<N> {
    /// Zero, with a last bit that weighs 2^`unit`.
    pub fn zero(unit: i32) -> Self {
        Wide {
            limbs: [0; N],
            unit,
        }
    }

    /// Adds (-1)^`negative` * `magnitude` * 2^`unit`, exactly. `unit` must not lie below the accumulator's.
    pub fn add(&mut self, negative: bool, magnitude: u128, unit: i32) {
        let shift = u32::try_from(unit - self.unit).expect("term below the accumulator's unit");
        let (limb, bit) = ((shift / 64) as usize, shift % 64);
        // The magnitude, shifted by less than a limb, as three limbs.
        let (low, high) = (magnitude as u64, (magnitude >> 64) as u64);
        let parts = if bit == 0 {
            [low, high, 0]
        } else {
            [
                low << bit,
                (low >> (64 - bit)) | (high << bit),
                high >> (64 - bit),
            ]
        };
        let mut carry = false;
        for (i, target) in self.limbs[limb..].iter_mut().enumerate() {
            let part = parts.get(i).copied().unwrap_or(0);
            if i >= parts.len() && !carry {
                break;
            }
            let (sum, overflowed) = if negative {
                target.overflowing_sub(part)
            } else {
                target.overflowing_add(part)
            };
            let (sum, carried) = if negative {
                sum.overflowing_sub(carry.into())
            } else {
                sum.overflowing_add(carry.into())
            };
            *target = sum;
            carry = overflowed || carried;
        }
    }

    /// Sign, leading bits and whether anything lies below them; `None` when the sum is zero.
    pub fn exact(&self) -> Option<Exact> {
        let negative = self.limbs[N - 1] >> 63 != 0;
        let mut magnitude = self.limbs;
        if negative {
            let mut carry = true;
            for limb in &mut magnitude {
                let (inverted, carried) = (!*limb).overflowing_add(carry.into());
                *limb = inverted;
                carry = carried;
            }
        }
        let top = magnitude.iter().rposition(|&limb| limb != 0)?;
        // The two leading limbs hold at least 65 significant bits: more than any format keeps.
        let (high, low, below) = match top {
            0 => (0, magnitude[0], 0),
            _ => (magnitude[top], magnitude[top - 1], top - 1),
        };
        Some(Exact {
            negative,
            magnitude: u128::from(high) << 64 | u128::from(low),
            sticky: magnitude[..below].iter().any(|&limb| limb != 0),
            unit: self.unit + 64 * below as i32,
        })
    }
}
