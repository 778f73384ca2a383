//! Names of architectures and formats.

use std::ffi::c_char;

use super::check;
use super::codes::{mfma_arch, mfma_format, mfma_status};

/// Architecture that a name stands for: its own ("CDNA3", "hopper"), a GPU's ("MI300X", "H100", "T4") or that of a
/// function of MATLAB Tensor Core ("MI300XMC"). Letter case, spaces, '-' and '_' do not matter.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mfma_arch_from_name(
    name: *const c_char,
    arch: *mut mfma_arch,
) -> mfma_status {
    guard!({
        // SAFETY: the caller passes a C string or NULL.
        let name = unsafe { check::text("name", name) }?;
        let arch = check::out("arch", arch)?;
        let found = crate::Arch::from_name(&name)?;
        // SAFETY: not NULL, so the caller's variable.
        unsafe { arch.write_unaligned(found.info().code) };
    })
}

/// Format that a name means on an architecture, in any letter case: fp16 half binary16 bf16 bfloat16 brainfloat16 tf32
/// tensorfloat32 xf32 fp8-e4m3 e4m3 fp8-e5m2 e5m2 fp32 single binary32 fp64 double binary64. On CDNA 3 fp8 and bf8 are
/// AMD's names of E4M3FNUZ and E5M2FNUZ, and the names of the OCP kinds mean the FNUZ kinds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mfma_format_from_name(
    arch: mfma_arch,
    name: *const c_char,
    format: *mut mfma_format,
) -> mfma_status {
    guard!({
        let arch = check::arch(arch)?;
        // SAFETY: the caller passes a C string or NULL.
        let name = unsafe { check::text("name", name) }?;
        let format = check::out("format", format)?;
        let found = arch.format_from_name(&name)?;
        // SAFETY: not NULL, so the caller's variable.
        unsafe { format.write_unaligned(found.info().code) };
    })
}
