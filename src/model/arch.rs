//! Architectures and the names of the GPUs that have them; names of formats as each architecture means them.

use super::catalogue;
use crate::error::{Error, ErrorCode};
use crate::format::{FORMATS, Format};

/// An architecture whose matrix units are in the catalogue.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Arch {
    /// NVIDIA Volta.
    Volta,
    /// NVIDIA Turing.
    Turing,
    /// NVIDIA Ampere.
    Ampere,
    /// NVIDIA Ada Lovelace.
    Ada,
    /// NVIDIA Hopper.
    Hopper,
    /// NVIDIA Blackwell, data centre (tcgen05).
    Blackwell,
    /// NVIDIA Blackwell, workstation and consumer.
    RtxBlackwell,
    /// AMD CDNA 1.
    Cdna1,
    /// AMD CDNA 2.
    Cdna2,
    /// AMD CDNA 3.
    Cdna3,
    /// CDNA 3 as MATLAB Tensor Core v0.6 computes it: 31 bits kept of a shifted sum, no second round-down.
    Cdna3Toolbox,
    /// The toolbox's B200TCRN: Blackwell with round-to-nearest-even results. No such hardware exists.
    BlackwellRn,
}

/// One row of [`ARCHS`].
#[derive(Clone, Copy, Debug)]
pub struct ArchInfo {
    /// The architecture that this row describes.
    pub arch: Arch,
    /// Number in the C ABI (`MFMA_ARCH_*`).
    pub code: i32,
    /// Name.
    pub name: &'static str,
    /// Other accepted names, GPUs and MATLAB functions among them; compared without case, spaces, '-' and '_'.
    pub aliases: &'static [&'static str],
}

macro_rules! row {
    ($arch:ident, $code:expr, $name:expr, $aliases:expr) => {
        ArchInfo {
            arch: Arch::$arch,
            code: $code,
            name: $name,
            aliases: $aliases,
        }
    };
}

/// All architectures, in the order of [`Arch`].
#[rustfmt::skip]
pub const ARCHS: [ArchInfo; 12] = [
    row!(Volta,        0, "Volta",         &["v100", "titanv", "gv100", "sm70", "v100tc"]),
    row!(Turing,       1, "Turing",        &["t4", "rtx2080", "rtx2080ti", "titanrtx", "quadrortx8000", "sm75"]),
    row!(Ampere,       2, "Ampere",        &["a100", "a2", "a10", "a30", "a40", "a800", "rtx3090", "rtxa6000", "sm80", "sm86", "a100tc", "a2tc", "a30tc"]),
    row!(Ada,          3, "Ada",           &["adalovelace", "l4", "l40", "l40s", "rtx4090", "rtx6000ada", "rtx1000ada", "sm89", "adatc", "l40stc"]),
    row!(Hopper,       4, "Hopper",        &["h100", "h200", "h800", "h20", "gh200", "sm90", "sm90a", "h100tc", "h200tc"]),
    row!(Blackwell,    5, "Blackwell",     &["b100", "b200", "b300", "gb200", "gb300", "sm100", "sm100a", "b200tc"]),
    row!(RtxBlackwell, 6, "RTX-Blackwell", &["rtxpro6000", "rtx5090", "rtx5080", "sm120", "sm120a", "rtxpro6000tc"]),
    row!(Cdna1,        7, "CDNA1",         &["mi100", "gfx908", "mi100mc"]),
    row!(Cdna2,        8, "CDNA2",         &["mi200", "mi210", "mi250", "mi250x", "gfx90a", "mi210mc", "mi250mc"]),
    row!(Cdna3,        9, "CDNA3",         &["mi300", "mi300a", "mi300x", "mi325x", "gfx940", "gfx941", "gfx942", "mi300mc", "mi300amc", "mi300xmc"]),
    row!(Cdna3Toolbox, 10, "CDNA3-toolbox", &[]),
    row!(BlackwellRn,  11, "Blackwell-RN",  &["b200rn", "b200tcrn"]),
];

/// A name as it is compared: lower case, without spaces, '-' and '_'.
fn folded(name: &str) -> String {
    name.chars()
        .filter(|c| !matches!(c, ' ' | '-' | '_'))
        .flat_map(char::to_lowercase)
        .collect()
}

impl Arch {
    /// The row of [`ARCHS`] for this architecture.
    pub const fn info(self) -> &'static ArchInfo {
        &ARCHS[self as usize]
    }

    /// The architecture with this number in the C ABI, if there is one.
    pub fn from_code(code: i32) -> Option<Arch> {
        ARCHS
            .iter()
            .find(|row| row.code == code)
            .map(|row| row.arch)
    }

    /// The architecture that a name stands for: its own ("CDNA3", "hopper"), a GPU's ("MI300X", "H100", "T4") or a
    /// toolbox function's ("MI300XMC"), in any case.
    pub fn from_name(name: &str) -> Result<Arch, Error> {
        let wanted = folded(name);
        let found = ARCHS
            .iter()
            .find(|row| folded(row.name) == wanted || row.aliases.contains(&wanted.as_str()));
        found.map(|row| row.arch).ok_or_else(|| {
            let names: Vec<&str> = ARCHS.iter().map(|row| row.name).collect();
            Error::new(
                ErrorCode::UnknownArch,
                format!(
                    "unknown architecture or GPU '{name}'; allowed: {} and their GPUs, such as MI300X, MI210, H100",
                    names.join(", ")
                ),
            )
        })
    }

    /// Is this an AMD architecture?
    pub const fn is_amd(self) -> bool {
        matches!(
            self,
            Arch::Cdna1 | Arch::Cdna2 | Arch::Cdna3 | Arch::Cdna3Toolbox
        )
    }

    /// The format that `name` means on this architecture, in any case. On CDNA 3, fp8 and bf8 are AMD's names of the
    /// FNUZ formats E4M3 and E5M2, and E4M3 and E5M2 mean the FNUZ kinds; elsewhere they mean the OCP ones.
    pub fn format_from_name(self, name: &str) -> Result<Format, Error> {
        let wanted = name.to_lowercase();
        let fnuz = matches!(self, Arch::Cdna3 | Arch::Cdna3Toolbox);
        let format = match wanted.as_str() {
            "fp8" if fnuz => Some(Format::E4m3),
            "bf8" if fnuz => Some(Format::E5m2),
            wanted => FORMATS
                .iter()
                .find(|row| row.name == wanted || row.aliases.contains(&wanted))
                .map(|row| row.format),
        };
        match format {
            Some(Format::E4m3) if fnuz => Ok(Format::E4m3Fnuz),
            Some(Format::E5m2) if fnuz => Ok(Format::E5m2Fnuz),
            Some(format) => Ok(format),
            None => Err(Error::new(
                ErrorCode::UnknownFormat,
                format!(
                    "unknown format '{name}'; {self} has {}",
                    self.format_names().join(" ")
                ),
            )),
        }
    }

    /// The names of the formats that the architecture's units take or give.
    fn format_names(self) -> Vec<&'static str> {
        let fnuz = matches!(self, Arch::Cdna3 | Arch::Cdna3Toolbox);
        let has = |format| {
            catalogue().any(|row| {
                row.arch == self
                    && (row.output == format || row.inputs.as_flattened().contains(&format))
            })
        };
        let mut names: Vec<&str> = Vec::new();
        for row in FORMATS {
            // On CDNA 3 the names of the OCP formats mean the FNUZ ones.
            let meant = match row.format {
                Format::E4m3 if fnuz => Format::E4m3Fnuz,
                Format::E5m2 if fnuz => Format::E5m2Fnuz,
                format => format,
            };
            if has(meant) {
                names.push(row.name);
                names.extend(row.aliases);
            }
        }
        if fnuz {
            names.extend(["fp8", "bf8"]);
        }
        names
    }
}

impl std::fmt::Display for Arch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.info().name)
    }
}
