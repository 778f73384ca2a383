//! The floating-point mode that a kernel computes in, whatever the mode of the thread that runs it.
//!
//! Kernels are compiled for round to nearest without flushing. Where one needs another mode, its tile function is a
//! function of its own, never inlined into the one that changes the mode, so no operation can move across the change.

/// A mode of the floating-point unit. Exceptions are masked in all of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FpMode {
    /// Round to nearest even, subnormal numbers kept: the mode that compiled code expects.
    Nearest,
    /// Round toward zero, subnormal numbers kept.
    TowardZero,
    /// Round to nearest even; subnormal operands count as zeros and subnormal results become zeros of their sign.
    NearestFlush,
    /// Round to nearest even; subnormal results may become zeros, where keeping them costs time. Operands count as they are.
    NearestLoose,
    /// The same, rounding toward zero.
    TowardZeroLoose,
}

/// Keeps a mode in place until it is dropped, then gives back what was there before.
pub struct FpModeGuard {
    saved: register::Word,
    changed: bool,
}

impl FpModeGuard {
    /// Puts `mode` in place on this thread.
    pub fn enter(mode: FpMode) -> FpModeGuard {
        let saved = register::read();
        let wanted = register::word(mode);
        let changed = saved != wanted;
        if changed {
            register::write(wanted);
        }
        FpModeGuard { saved, changed }
    }
}

impl Drop for FpModeGuard {
    fn drop(&mut self) {
        // The sticky flags go back as they were, too.
        if self.changed || register::read() != self.saved {
            register::write(self.saved);
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod register {
    use std::arch::asm;

    use super::FpMode;

    /// MXCSR.
    pub type Word = u32;

    /// All exceptions masked.
    const MASKED: Word = 0x1f80;

    pub fn word(mode: FpMode) -> Word {
        match mode {
            FpMode::Nearest => MASKED,
            FpMode::TowardZero => MASKED | 0x6000,
            // Flush to zero, and denormals are zeros.
            FpMode::NearestFlush => MASKED | 0x8040,
            // Flush to zero.
            FpMode::NearestLoose => MASKED | 0x8000,
            FpMode::TowardZeroLoose => MASKED | 0xe000,
        }
    }

    pub fn read() -> Word {
        let mut word: Word = 0;
        // SAFETY: every x86-64 has SSE; the instruction writes four bytes to `word`.
        unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut word, options(nostack, preserves_flags)) };
        word
    }

    pub fn write(word: Word) {
        // SAFETY: the word is one of the modes above or was read from the register, so no reserved bit is set.
        unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const word, options(nostack, preserves_flags)) };
    }
}

#[cfg(target_arch = "aarch64")]
mod register {
    use std::arch::asm;

    use super::FpMode;

    /// FPCR.
    pub type Word = u64;

    pub fn word(mode: FpMode) -> Word {
        match mode {
            // The flag that flushes results would flush operands, too.
            FpMode::Nearest | FpMode::NearestLoose => 0,
            FpMode::TowardZero | FpMode::TowardZeroLoose => 0b11 << 22,
            FpMode::NearestFlush => 1 << 24,
        }
    }

    pub fn read() -> Word {
        let word: Word;
        // SAFETY: reading FPCR has no effect.
        unsafe { asm!("mrs {}, fpcr", out(reg) word, options(nostack, preserves_flags)) };
        word
    }

    pub fn write(word: Word) {
        // SAFETY: the word is one of the modes above or was read from the register.
        unsafe { asm!("msr fpcr, {}", in(reg) word, options(nostack, preserves_flags)) };
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod register {
    //! Elsewhere nothing is known about the mode, and nothing is changed.
    use super::FpMode;

    pub type Word = u32;

    pub fn word(_: FpMode) -> Word {
        0
    }

    pub fn read() -> Word {
        0
    }

    pub fn write(_: Word) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;

    #[test]
    fn a_mode_holds_inside_and_is_gone_after() {
        if !cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
            return;
        }
        let third = |_: ()| black_box(1.0f32) / black_box(3.0f32);
        let tiny = |_: ()| black_box(f32::MIN_POSITIVE) * black_box(0.5f32);
        let before = register::read();
        let (nearest, cut) = (third(()), {
            let _mode = FpModeGuard::enter(FpMode::TowardZero);
            black_box(third)(())
        });
        assert_eq!(nearest.to_bits(), cut.to_bits() + 1);
        let flushed = {
            let _mode = FpModeGuard::enter(FpMode::NearestFlush);
            black_box(tiny)(())
        };
        assert_eq!(flushed, 0.0);
        assert!(tiny(()) > 0.0);
        // Sticky flags may differ: the divisions above raise "inexact" in this mode.
        assert_eq!(register::read() & !0x3f, before & !0x3f);
    }
}
