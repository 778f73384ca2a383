//! From an instruction's name to its row, shape and formats.
//!
//! Names are those of the vendors' instruction sets, letter case ignored:
//!
//! * AMD, in the style of CDNA 1 and 2 (`v_mfma_f32_32x32x4f16`) and of CDNA 3 (`v_mfma_f32_32x32x4_2b_f16`, the number of
//!   blocks optional), both on every architecture, with or without `v_`, or as LLVM's builtin
//!   (`__builtin_amdgcn_mfma_f32_32x32x4f16`).
//! * NVIDIA, as in the PTX ISA, for accumulators of the result's type and without `.satfinite`. The name of a tcgen05
//!   instruction has no types (a descriptor holds them), so they may be added as wgmma writes them,
//!   `tcgen05.mma.cta_group::1.kind::f16.f32.bf16.bf16`; without them it means the first of its kind.
//!
//! Left out, because no source says how they compute: sparse instructions, and `mma.m8n8k4` with binary16 inputs after
//! Volta (other hardware than the tensor core).

use super::{Arch, Model, Reach, Row, catalogue};
use crate::error::{Error, ErrorCode};
use crate::format::Format::{self, *};

/// A matrix instruction of an architecture: what it multiplies, and the row of the catalogue that says how.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// Architecture.
    pub arch: Arch,
    /// The name, in the architecture's own style.
    pub name: String,
    /// Rows of A and D; 0 where a descriptor says (tcgen05).
    pub m: u32,
    /// Columns of B and D; 0 where a descriptor says (tcgen05).
    pub n: u32,
    /// Length of the dot products.
    pub k: u32,
    /// Independent products that one instruction computes.
    pub blocks: u32,
    /// Format of A.
    pub a: Format,
    /// Format of B.
    pub b: Format,
    /// How it computes. A block is at most [`k`](Self::k) products long, see [`Instruction::model`].
    pub row: &'static Row,
}

impl Instruction {
    /// The instruction of `arch` with this name.
    pub fn find(mnemonic: &str, arch: Arch) -> Result<Instruction, Error> {
        let lower = mnemonic.trim().to_lowercase();
        let bare = lower.strip_prefix("__builtin_amdgcn_").unwrap_or(&lower);
        let wanted = if bare.starts_with("mfma") {
            format!("v_{bare}")
        } else {
            bare.to_string()
        };
        every(arch)
            .find(|(names, _)| names.contains(&wanted))
            .map(|(_, instruction)| instruction)
            .ok_or_else(|| unknown(mnemonic, arch))
    }

    /// The unit that computes a dot product of this instruction. Longer ones run instruction after instruction, each
    /// one's result the next one's c, so a block ends where an instruction does.
    pub fn model(&self) -> Model {
        let mut model = Model::from_row(self.row, self.a, self.b);
        model.params.fma = model.params.fma.min(self.k);
        model
    }
}

/// All instructions of an architecture, each once.
pub fn instructions(arch: Arch) -> impl Iterator<Item = Instruction> {
    every(arch).map(|(_, instruction)| instruction)
}

/// How the names of a family are spelled.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    /// `v_mfma_f32_32x32x8f16`; `v_mfma_f32_32x32x16_fp8_bf8`.
    Mfma,
    /// The same with `_1k` after it: binary16-like rates for bfloat16 on CDNA 2; the only kind, `_1k` optional, on CDNA 3.
    Mfma1k,
    /// `mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32`.
    Mma,
    /// The same with any of the four layouts: `mma.sync.aligned.m8n8k4.col.row.f32.f16.f16.f32`.
    MmaAnyLayout,
    /// `mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32`.
    MmaKind,
    /// `wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32`: binary16 inputs are not named.
    Wmma,
    /// `wmma.mma.sync.aligned.row.col.m16n16k16.f32.bf16.bf16.f32`.
    WmmaTyped,
    /// `wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16`, n a multiple of 8 up to 256.
    Wgmma,
    /// `tcgen05.mma.cta_group::1.kind::f16`.
    Tcgen05(&'static str),
}

/// Instructions that differ by shape and types only.
struct Family {
    archs: &'static [Arch],
    style: Style,
    /// m, n, k, blocks.
    shapes: &'static [[u32; 4]],
    inputs: &'static [[Format; 2]],
    outputs: &'static [Format],
    /// Is the row the default one for its formats?
    reach: Reach,
}

const AMD: &[Arch] = &[Arch::Cdna1, Arch::Cdna2, Arch::Cdna3];
const CDNA12: &[Arch] = &[Arch::Cdna1, Arch::Cdna2];
const CDNA23: &[Arch] = &[Arch::Cdna2, Arch::Cdna3];
const VOLTA_ON: &[Arch] = &[
    Arch::Volta,
    Arch::Turing,
    Arch::Ampere,
    Arch::Ada,
    Arch::Hopper,
    Arch::Blackwell,
    Arch::RtxBlackwell,
];
const TURING_ON: &[Arch] = VOLTA_ON.split_at(1).1;
const AMPERE_ON: &[Arch] = VOLTA_ON.split_at(2).1;
const DOUBLE: &[Arch] = &[Arch::Ampere, Arch::Hopper, Arch::Blackwell];
const FAST_DOUBLE: &[Arch] = &[Arch::Hopper, Arch::Blackwell];
const NATIVE_FP8: &[Arch] = &[Arch::Ada, Arch::RtxBlackwell];
/// Architectures that run 8-bit inputs of mma.sync on their binary16 units.
const SPLIT_FP8: &[Arch] = &[Arch::Hopper, Arch::Blackwell];

const SHAPES_4: &[[u32; 4]] = &[
    [32, 32, 4, 2],
    [16, 16, 4, 4],
    [4, 4, 4, 16],
    [32, 32, 8, 1],
    [16, 16, 16, 1],
];
const WMMA_16: &[[u32; 4]] = &[[16, 16, 16, 1], [32, 8, 16, 1], [8, 32, 16, 1]];
const OCP8: &[[Format; 2]] = &[[E4m3, E4m3], [E5m2, E5m2], [E4m3, E5m2], [E5m2, E4m3]];
const FNUZ8: &[[Format; 2]] = &[
    [E4m3Fnuz, E4m3Fnuz],
    [E5m2Fnuz, E5m2Fnuz],
    [E4m3Fnuz, E5m2Fnuz],
    [E5m2Fnuz, E4m3Fnuz],
];

macro_rules! family {
    ($archs:expr, $style:expr, $shapes:expr, $inputs:expr => $outputs:expr, $reach:ident) => {
        Family {
            archs: $archs,
            style: $style,
            shapes: $shapes,
            inputs: $inputs,
            outputs: $outputs,
            reach: Reach::$reach,
        }
    };
}

#[rustfmt::skip]
const FAMILIES: &[Family] = &[
    // AMD CDNA 1, 2 and 3 instruction set architecture reference guides, chapter on matrix arithmetic.
    family!(AMD,    Style::Mfma,   &[[32, 32, 1, 2], [16, 16, 1, 4], [4, 4, 1, 16], [32, 32, 2, 1], [16, 16, 4, 1]], &[[Fp32; 2]] => &[Fp32], Formats),
    family!(CDNA23, Style::Mfma,   &[[16, 16, 4, 1], [4, 4, 4, 4]], &[[Fp64; 2]] => &[Fp64], Formats),
    family!(AMD,    Style::Mfma,   SHAPES_4, &[[Fp16; 2]] => &[Fp32], Formats),
    family!(CDNA12, Style::Mfma,   &[[32, 32, 2, 2], [16, 16, 2, 4], [4, 4, 2, 16], [32, 32, 4, 1], [16, 16, 8, 1]], &[[Bf16; 2]] => &[Fp32], Instruction),
    family!(CDNA23, Style::Mfma1k, SHAPES_4, &[[Bf16; 2]] => &[Fp32], Formats),
    family!(&[Arch::Cdna3], Style::Mfma, &[[32, 32, 4, 1], [16, 16, 8, 1]], &[[Tf32; 2]] => &[Fp32], Formats),
    family!(&[Arch::Cdna3], Style::Mfma, &[[32, 32, 16, 1], [16, 16, 32, 1]], FNUZ8 => &[Fp32], Formats),

    // PTX ISA, warp-level matrix instructions.
    family!(&[Arch::Volta], Style::MmaAnyLayout, &[[8, 8, 4, 1]], &[[Fp16; 2]] => &[Fp32, Fp16], Formats),
    family!(VOLTA_ON,    Style::Wmma,      WMMA_16, &[[Fp16; 2]] => &[Fp32, Fp16], Formats),
    family!(TURING_ON,   Style::Mma,       &[[16, 8, 8, 1]], &[[Fp16; 2]] => &[Fp32, Fp16], Formats),
    family!(AMPERE_ON,   Style::Mma,       &[[16, 8, 16, 1]], &[[Fp16; 2]] => &[Fp32, Fp16], Formats),
    family!(AMPERE_ON,   Style::Mma,       &[[16, 8, 8, 1], [16, 8, 16, 1]], &[[Bf16; 2]] => &[Fp32], Formats),
    family!(AMPERE_ON,   Style::WmmaTyped, WMMA_16, &[[Bf16; 2]] => &[Fp32], Formats),
    family!(AMPERE_ON,   Style::Mma,       &[[16, 8, 4, 1], [16, 8, 8, 1]], &[[Tf32; 2]] => &[Fp32], Formats),
    family!(AMPERE_ON,   Style::WmmaTyped, &[[16, 16, 8, 1]], &[[Tf32; 2]] => &[Fp32], Formats),
    family!(DOUBLE,      Style::Mma,       &[[8, 8, 4, 1]], &[[Fp64; 2]] => &[Fp64], Formats),
    family!(FAST_DOUBLE, Style::Mma,       &[[16, 8, 4, 1], [16, 8, 8, 1], [16, 8, 16, 1]], &[[Fp64; 2]] => &[Fp64], Formats),
    family!(DOUBLE,      Style::WmmaTyped, &[[8, 8, 4, 1]], &[[Fp64; 2]] => &[Fp64], Formats),
    family!(NATIVE_FP8,  Style::Mma,       &[[16, 8, 16, 1], [16, 8, 32, 1]], OCP8 => &[Fp32, Fp16], Formats),
    family!(SPLIT_FP8,   Style::Mma,       &[[16, 8, 16, 1], [16, 8, 32, 1]], OCP8 => &[Fp32, Fp16], Instruction),
    family!(&[Arch::RtxBlackwell], Style::MmaKind, &[[16, 8, 32, 1]], OCP8 => &[Fp32, Fp16], Formats),

    // PTX ISA, asynchronous warpgroup-level instructions: the shape's n stands for all multiples of 8 up to 256.
    family!(&[Arch::Hopper], Style::Wgmma, &[[64, 8, 16, 1]], &[[Fp16; 2]] => &[Fp32, Fp16], Formats),
    family!(&[Arch::Hopper], Style::Wgmma, &[[64, 8, 16, 1]], &[[Bf16; 2]] => &[Fp32], Formats),
    family!(&[Arch::Hopper], Style::Wgmma, &[[64, 8, 8, 1]], &[[Tf32; 2]] => &[Fp32], Formats),
    family!(&[Arch::Hopper], Style::Wgmma, &[[64, 8, 32, 1]], OCP8 => &[Fp32, Fp16], Formats),

    // PTX ISA, TensorCore 5th generation instructions.
    family!(&[Arch::Blackwell], Style::Tcgen05("f16"), &[[0, 0, 16, 1]], &[[Fp16; 2]] => &[Fp32, Fp16], Formats),
    family!(&[Arch::Blackwell], Style::Tcgen05("f16"), &[[0, 0, 16, 1]], &[[Bf16; 2]] => &[Fp32], Formats),
    family!(&[Arch::Blackwell], Style::Tcgen05("tf32"), &[[0, 0, 8, 1]], &[[Tf32; 2]] => &[Fp32], Formats),
    family!(&[Arch::Blackwell], Style::Tcgen05("f8f6f4"), &[[0, 0, 32, 1]], OCP8 => &[Fp32, Fp16], Formats),
];

/// Every instruction of an architecture with all its spellings, the architecture's own first.
fn every(arch: Arch) -> impl Iterator<Item = (Vec<String>, Instruction)> {
    let families = FAMILIES.iter().filter(move |f| f.archs.contains(&arch));
    families.flat_map(move |family| {
        let types = family
            .outputs
            .iter()
            .flat_map(|&d| family.inputs.iter().map(move |&[a, b]| (d, a, b)));
        types.flat_map(move |(d, a, b)| {
            let row = family.row(arch, d, [a, b]);
            family.shapes().map(move |[m, n, k, blocks]| {
                let shape = family.shape_text([m, n, k]);
                let [dt, at, bt] = [d, a, b].map(|format| type_name(arch, format));
                let names = family.spellings(arch, &shape, blocks, dt, [at, bt]);
                let name = names[0].clone();
                (
                    names,
                    Instruction {
                        arch,
                        name,
                        m,
                        n,
                        k,
                        blocks,
                        a,
                        b,
                        row,
                    },
                )
            })
        })
    })
}

impl Family {
    fn row(&self, arch: Arch, d: Format, inputs: [Format; 2]) -> &'static Row {
        let rows = || {
            catalogue().filter(move |row| {
                row.arch == arch && row.output == d && row.inputs.contains(&inputs)
            })
        };
        // Where a pair of formats has one row only, that row serves all its instructions.
        rows()
            .find(|row| row.reach == self.reach)
            .or_else(|| rows().next())
            .unwrap_or_else(|| panic!("{arch} has instructions but no row for {inputs:?} -> {d}"))
    }

    fn shapes(&self) -> impl Iterator<Item = [u32; 4]> {
        let multiples = if self.style == Style::Wgmma { 32 } else { 1 };
        let shapes = self.shapes.iter();
        shapes
            .flat_map(move |&[m, n, k, blocks]| (1..=multiples).map(move |i| [m, n * i, k, blocks]))
    }

    fn shape_text(&self, [m, n, k]: [u32; 3]) -> String {
        match self.style {
            Style::Mfma | Style::Mfma1k => format!("{m}x{n}x{k}"),
            _ => format!("m{m}n{n}k{k}"),
        }
    }

    /// All ways to write a name; the first is the one to show.
    fn spellings(
        &self,
        arch: Arch,
        shape: &str,
        blocks: u32,
        d: &str,
        [a, b]: [&str; 2],
    ) -> Vec<String> {
        const LAYOUTS: [&str; 4] = ["row.col", "row.row", "col.row", "col.col"];
        match self.style {
            Style::Mfma | Style::Mfma1k => {
                let inputs = if self.inputs[0][0].bytes() == 1 {
                    format!("{a}_{b}")
                } else {
                    a.to_string()
                };
                let suffixes: &[&str] = match self.style {
                    Style::Mfma1k if arch == Arch::Cdna3 => &["", "_1k"],
                    Style::Mfma1k => &["_1k"],
                    _ => &[""],
                };
                let head = format!("v_mfma_{d}_{shape}");
                let mut separators = vec![String::new(), "_".to_string()];
                if blocks > 1 {
                    separators.push(format!("_{blocks}b_"));
                }
                if arch == Arch::Cdna3 {
                    separators.reverse();
                }
                // `32x32x4bf16` without `_1k` is the older instruction, which CDNA 3 does not have.
                let older = |separator: &str, suffix: &str| {
                    self.style == Style::Mfma1k && separator.is_empty() && suffix.is_empty()
                };
                let spelled = |suffix| separators.iter().map(move |separator| (separator, suffix));
                suffixes
                    .iter()
                    .flat_map(spelled)
                    .filter(|(separator, suffix)| !older(separator, suffix))
                    .map(|(separator, suffix)| format!("{head}{separator}{inputs}{suffix}"))
                    .collect()
            }
            Style::Mma => vec![format!("mma.sync.aligned.{shape}.row.col.{d}.{a}.{b}.{d}")],
            Style::MmaAnyLayout => LAYOUTS
                .map(|layout| format!("mma.sync.aligned.{shape}.{layout}.{d}.{a}.{b}.{d}"))
                .to_vec(),
            Style::MmaKind => vec![format!(
                "mma.sync.aligned.{shape}.row.col.kind::f8f6f4.{d}.{a}.{b}.{d}"
            )],
            Style::Wmma => LAYOUTS
                .map(|layout| format!("wmma.mma.sync.aligned.{layout}.{shape}.{d}.{d}"))
                .to_vec(),
            Style::WmmaTyped => LAYOUTS
                .map(|layout| format!("wmma.mma.sync.aligned.{layout}.{shape}.{d}.{a}.{b}.{d}"))
                .to_vec(),
            Style::Wgmma => vec![format!("wgmma.mma_async.sync.aligned.{shape}.{d}.{a}.{b}")],
            Style::Tcgen05(kind) => ["cta_group::1", "cta_group::2", "ws.cta_group::1"]
                .iter()
                .map(|group| format!("tcgen05.mma.{group}.kind::{kind}"))
                .flat_map(|bare| [format!("{bare}.{d}.{a}.{b}"), bare])
                .collect(),
        }
    }

    /// The family's names in one line an output format, alternatives in braces.
    fn patterns(&self, arch: Arch) -> impl Iterator<Item = String> {
        let shapes = self
            .shapes
            .iter()
            .map(|&[m, n, k, blocks]| match self.style {
                Style::Wgmma => format!("m{m}n{{8,16,...,256}}k{k}"),
                Style::Mfma | Style::Mfma1k if arch == Arch::Cdna3 && blocks > 1 => {
                    format!("{}_{blocks}b", self.shape_text([m, n, k]))
                }
                _ => self.shape_text([m, n, k]),
            });
        let shape = braced(shapes);
        let types = |side: usize| {
            braced(
                self.inputs
                    .iter()
                    .map(|pair| type_name(arch, pair[side]).to_string()),
            )
        };
        let (a, b) = (types(0), types(1));
        self.outputs.iter().map(move |&d| {
            let names = self.spellings(arch, &shape, 1, type_name(arch, d), [&a, &b]);
            names[0].clone()
        })
    }
}

/// "x", or "{x,y}" without repetitions.
fn braced(items: impl Iterator<Item = String>) -> String {
    let mut distinct: Vec<String> = Vec::new();
    for item in items {
        if !distinct.contains(&item) {
            distinct.push(item);
        }
    }
    match distinct.as_slice() {
        [one] => one.clone(),
        _ => format!("{{{}}}", distinct.join(",")),
    }
}

/// A format as the vendor's mnemonics call it.
fn type_name(arch: Arch, format: Format) -> &'static str {
    match format {
        Fp64 => "f64",
        Fp32 => "f32",
        Tf32 if arch.is_amd() => "xf32",
        Fp16 => "f16",
        E4m3Fnuz => "fp8",
        E5m2Fnuz => "bf8",
        other => other.name(),
    }
}

fn unknown(mnemonic: &str, arch: Arch) -> Error {
    let families = FAMILIES
        .iter()
        .filter(|family| family.archs.contains(&arch));
    let patterns: Vec<String> = families.flat_map(|family| family.patterns(arch)).collect();
    let known = if patterns.is_empty() {
        "it has none, because no such hardware exists".to_string()
    } else {
        format!("it has {}", patterns.join(", "))
    };
    Error::new(
        ErrorCode::UnknownInstruction,
        format!("{arch} has no matrix instruction '{mnemonic}'; {known}"),
    )
}
