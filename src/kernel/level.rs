//! Which instructions the kernels use. Chosen once; the environment variable MFMA_SIMD only lowers the choice.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

use super::lanes::{Job, Lanes};

/// A set of instructions that kernels are compiled for, lowest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Level {
    /// What the compiler makes of plain Rust; always there.
    Portable,
    /// 128-bit vectors of 64-bit ARM.
    Neon,
    /// 256-bit vectors, FMA and half-precision conversion of x86-64.
    Avx2,
    /// 512-bit vectors of x86-64 (F, BW, DQ and VL).
    Avx512,
}

impl Level {
    /// All levels, lowest first.
    pub const ALL: [Level; 4] = [Level::Portable, Level::Neon, Level::Avx2, Level::Avx512];

    /// Name, as in MFMA_SIMD.
    pub const fn name(self) -> &'static str {
        match self {
            Level::Portable => "portable",
            Level::Neon => "neon",
            Level::Avx2 => "avx2",
            Level::Avx512 => "avx512",
        }
    }

    /// Can this machine run it?
    pub fn available(self) -> bool {
        match self {
            Level::Portable => true,
            Level::Neon => cfg!(target_arch = "aarch64"),
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => {
                is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("fma")
                    && is_x86_feature_detected!("f16c")
            }
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => {
                Level::Avx2.available()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
            }
            #[cfg(not(target_arch = "x86_64"))]
            Level::Avx2 | Level::Avx512 => false,
        }
    }
}

/// The level in use.
pub fn level() -> Level {
    static DETECTED: OnceLock<Level> = OnceLock::new();
    if let Some(level) = forced() {
        return level;
    }
    *DETECTED.get_or_init(|| {
        let cap = std::env::var("MFMA_SIMD").ok();
        let cap = cap.and_then(|name| {
            let name = name.trim().to_lowercase();
            Level::ALL.into_iter().find(|level| level.name() == name)
        });
        best(cap)
    })
}

/// The best level of this machine that does not lie above `cap`.
fn best(cap: Option<Level>) -> Level {
    Level::ALL
        .into_iter()
        .rfind(|level| level.available() && cap.is_none_or(|cap| *level <= cap))
        .unwrap_or(Level::Portable)
}

/// Which kernel level is in use: "portable", "neon", "avx2" or "avx512".
pub fn cpu_features() -> &'static str {
    level().name()
}

/// Runs a job on a level.
///
/// # Safety
/// The machine must have the level; the rest is what the job says of its own.
pub(super) unsafe fn on_level<J: Job>(level: Level, job: J) {
    // SAFETY: promised by the caller.
    unsafe {
        match level {
            #[cfg(target_arch = "aarch64")]
            Level::Neon => super::neon::Neon::dispatch(job),
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => super::avx2::Avx2::dispatch(job),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => super::avx512::Avx512::dispatch(job),
            _ => super::portable::Portable::dispatch(job),
        }
    }
}

const NOT_FORCED: u8 = u8::MAX;
static FORCED: AtomicU8 = AtomicU8::new(NOT_FORCED);

/// For tests: use this level from now on, in the whole process; `None` goes back to the detected one. Returns whether
/// this machine has the level; without it, nothing changes.
#[doc(hidden)]
pub fn force_level(level: Option<Level>) -> bool {
    let code = match level {
        None => NOT_FORCED,
        Some(level) if level.available() => level as u8,
        Some(_) => return false,
    };
    FORCED.store(code, Ordering::Relaxed);
    true
}

fn forced() -> Option<Level> {
    let code = FORCED.load(Ordering::Relaxed);
    Level::ALL.into_iter().find(|&level| level as u8 == code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cap_only_lowers() {
        assert_eq!(best(Some(Level::Portable)), Level::Portable);
        for cap in Level::ALL {
            assert!(best(Some(cap)) <= cap);
            assert!(best(Some(cap)) <= best(None));
            assert!(best(Some(cap)).available());
        }
    }
}
