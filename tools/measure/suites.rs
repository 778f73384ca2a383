//! What is measured: an instruction, how many of them in a row, and the row of the catalogue that it should follow.

use mfma::format::Format::{self, Bf16, E4m3, E5m2, Fp16, Fp32, Fp64, Tf32};
use mfma::{Arch, Error, Model};

/// One kind of dot product through one instruction.
#[derive(Clone, Copy, Debug)]
pub struct Suite {
    /// Short name: files and seeds are named after it.
    pub name: &'static str,
    /// PTX name of the instruction.
    pub instruction: &'static str,
    /// Format of a's elements.
    pub a: Format,
    /// Format of b's elements.
    pub b: Format,
    /// Format of c and d.
    pub output: Format,
    /// Elements that one instruction multiplies.
    pub k: usize,
    /// Instructions back to back on the same accumulators.
    pub steps: usize,
    /// Options of the measuring program.
    pub options: &'static str,
}

impl Suite {
    /// The suite of that name.
    pub fn find(name: &str) -> Option<&'static Suite> {
        SUITES.iter().find(|suite| suite.name == name)
    }

    /// Elements of one dot product.
    pub fn length(&self) -> usize {
        self.k * self.steps
    }

    /// The addend that counts: +0 where the instruction does not read c.
    pub fn addend(&self, c: u64) -> u64 {
        if self.options.contains("--no-c") {
            0
        } else {
            c
        }
    }

    /// The unit that the catalogue has for this instruction on `arch`.
    pub fn model(&self, arch: Arch) -> Result<Model, Error> {
        Model::from_instruction(self.instruction, arch)
    }
}

macro_rules! suite {
    ($name:expr, $instruction:expr, $a:ident, $b:ident, $output:ident, $k:expr, $steps:expr, $options:expr) => {
        Suite {
            name: $name,
            instruction: $instruction,
            a: $a,
            b: $b,
            output: $output,
            k: $k,
            steps: $steps,
            options: $options,
        }
    };
}

const A_REG: &str = "--a-registers";
const NO_C: &str = "--no-c";

/// All suites. The first part has each instruction once; the second varies shape, length, operand source and c.
#[rustfmt::skip]
pub const SUITES: &[Suite] = &[
    suite!("mma-fp16-fp32",      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",   Fp16, Fp16, Fp32, 16, 1, ""),
    suite!("mma-fp16-fp16",      "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16",   Fp16, Fp16, Fp16, 16, 1, ""),
    suite!("mma-bf16-fp32",      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", Bf16, Bf16, Fp32, 16, 1, ""),
    suite!("mma-tf32-fp32",      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32",  Tf32, Tf32, Fp32,  8, 1, ""),
    suite!("mma-fp64-fp64",      "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64",     Fp64, Fp64, Fp64,  4, 1, ""),
    suite!("mma-e4m3-fp32",      "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", E4m3, E4m3, Fp32, 32, 1, ""),
    suite!("mma-e5m2-fp32",      "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32", E5m2, E5m2, Fp32, 32, 1, ""),
    suite!("mma-e4m3xe5m2-fp32", "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32", E4m3, E5m2, Fp32, 32, 1, ""),
    suite!("mma-e5m2xe4m3-fp32", "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e4m3.f32", E5m2, E4m3, Fp32, 32, 1, ""),
    suite!("mma-e4m3-fp16",      "mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e4m3.f16", E4m3, E4m3, Fp16, 32, 1, ""),
    suite!("mma-e5m2-fp16",      "mma.sync.aligned.m16n8k32.row.col.f16.e5m2.e5m2.f16", E5m2, E5m2, Fp16, 32, 1, ""),
    suite!("mma-e4m3xe5m2-fp16", "mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e5m2.f16", E4m3, E5m2, Fp16, 32, 1, ""),
    suite!("mma-e5m2xe4m3-fp16", "mma.sync.aligned.m16n8k32.row.col.f16.e5m2.e4m3.f16", E5m2, E4m3, Fp16, 32, 1, ""),

    suite!("wgmma-fp16-fp32",      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16",   Fp16, Fp16, Fp32, 16, 1, ""),
    suite!("wgmma-fp16-fp16",      "wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16",   Fp16, Fp16, Fp16, 16, 1, ""),
    suite!("wgmma-bf16-fp32",      "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16", Bf16, Bf16, Fp32, 16, 1, ""),
    suite!("wgmma-tf32-fp32",      "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32",  Tf32, Tf32, Fp32,  8, 1, ""),
    suite!("wgmma-e4m3-fp32",      "wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3", E4m3, E4m3, Fp32, 32, 1, ""),
    suite!("wgmma-e5m2-fp32",      "wgmma.mma_async.sync.aligned.m64n8k32.f32.e5m2.e5m2", E5m2, E5m2, Fp32, 32, 1, ""),
    suite!("wgmma-e4m3xe5m2-fp32", "wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e5m2", E4m3, E5m2, Fp32, 32, 1, ""),
    suite!("wgmma-e5m2xe4m3-fp32", "wgmma.mma_async.sync.aligned.m64n8k32.f32.e5m2.e4m3", E5m2, E4m3, Fp32, 32, 1, ""),
    suite!("wgmma-e4m3-fp16",      "wgmma.mma_async.sync.aligned.m64n8k32.f16.e4m3.e4m3", E4m3, E4m3, Fp16, 32, 1, ""),
    suite!("wgmma-e5m2-fp16",      "wgmma.mma_async.sync.aligned.m64n8k32.f16.e5m2.e5m2", E5m2, E5m2, Fp16, 32, 1, ""),
    suite!("wgmma-e4m3xe5m2-fp16", "wgmma.mma_async.sync.aligned.m64n8k32.f16.e4m3.e5m2", E4m3, E5m2, Fp16, 32, 1, ""),
    suite!("wgmma-e5m2xe4m3-fp16", "wgmma.mma_async.sync.aligned.m64n8k32.f16.e5m2.e4m3", E5m2, E4m3, Fp16, 32, 1, ""),

    suite!("mma-fp16-fp32-k8",   "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32",    Fp16, Fp16, Fp32,  8, 1, ""),
    suite!("mma-fp16-fp16-k8",   "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16",    Fp16, Fp16, Fp16,  8, 1, ""),
    suite!("mma-bf16-fp32-k8",   "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32",  Bf16, Bf16, Fp32,  8, 1, ""),
    suite!("mma-tf32-fp32-k4",   "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32",  Tf32, Tf32, Fp32,  4, 1, ""),
    suite!("mma-fp64-fp64-m16k4",  "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64",  Fp64, Fp64, Fp64,  4, 1, ""),
    suite!("mma-fp64-fp64-m16k8",  "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64",  Fp64, Fp64, Fp64,  8, 1, ""),
    suite!("mma-fp64-fp64-m16k16", "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64", Fp64, Fp64, Fp64, 16, 1, ""),
    suite!("mma-e4m3-fp32-k16",  "mma.sync.aligned.m16n8k16.row.col.f32.e4m3.e4m3.f32", E4m3, E4m3, Fp32, 16, 1, ""),
    suite!("mma-e4m3-fp16-k16",  "mma.sync.aligned.m16n8k16.row.col.f16.e4m3.e4m3.f16", E4m3, E4m3, Fp16, 16, 1, ""),
    suite!("mma-fp16-fp32-x2",   "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",   Fp16, Fp16, Fp32, 16, 2, ""),
    suite!("mma-fp64-fp64-x2",   "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64",     Fp64, Fp64, Fp64,  4, 2, ""),
    suite!("mma-e4m3-fp32-x2",   "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", E4m3, E4m3, Fp32, 32, 2, ""),
    suite!("mma-e5m2-fp16-x2",   "mma.sync.aligned.m16n8k32.row.col.f16.e5m2.e5m2.f16", E5m2, E5m2, Fp16, 32, 2, ""),

    suite!("wgmma-fp16-fp32-x2", "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16",   Fp16, Fp16, Fp32, 16, 2, ""),
    suite!("wgmma-fp16-fp32-x4", "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16",   Fp16, Fp16, Fp32, 16, 4, ""),
    suite!("wgmma-fp16-fp16-x2", "wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16",   Fp16, Fp16, Fp16, 16, 2, ""),
    suite!("wgmma-bf16-fp32-x2", "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16", Bf16, Bf16, Fp32, 16, 2, ""),
    suite!("wgmma-tf32-fp32-x2", "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32",  Tf32, Tf32, Fp32,  8, 2, ""),
    suite!("wgmma-e4m3-fp32-x2", "wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3", E4m3, E4m3, Fp32, 32, 2, ""),
    suite!("wgmma-e4m3-fp32-x4", "wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3", E4m3, E4m3, Fp32, 32, 4, ""),
    suite!("wgmma-e5m2-fp32-x2", "wgmma.mma_async.sync.aligned.m64n8k32.f32.e5m2.e5m2", E5m2, E5m2, Fp32, 32, 2, ""),
    suite!("wgmma-e4m3-fp16-x2", "wgmma.mma_async.sync.aligned.m64n8k32.f16.e4m3.e4m3", E4m3, E4m3, Fp16, 32, 2, ""),
    suite!("wgmma-e4m3-fp16-x4", "wgmma.mma_async.sync.aligned.m64n8k32.f16.e4m3.e4m3", E4m3, E4m3, Fp16, 32, 4, ""),
    suite!("wgmma-e5m2-fp16-x2", "wgmma.mma_async.sync.aligned.m64n8k32.f16.e5m2.e5m2", E5m2, E5m2, Fp16, 32, 2, ""),
    suite!("wgmma-fp16-fp32-areg", "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16",   Fp16, Fp16, Fp32, 16, 1, A_REG),
    suite!("wgmma-bf16-fp32-areg", "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16", Bf16, Bf16, Fp32, 16, 1, A_REG),
    suite!("wgmma-tf32-fp32-areg", "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32",  Tf32, Tf32, Fp32,  8, 1, A_REG),
    suite!("wgmma-e4m3-fp32-areg", "wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3", E4m3, E4m3, Fp32, 32, 1, A_REG),
    suite!("wgmma-e4m3-fp16-areg", "wgmma.mma_async.sync.aligned.m64n8k32.f16.e4m3.e4m3", E4m3, E4m3, Fp16, 32, 1, A_REG),
    suite!("wgmma-fp16-fp32-noc",  "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16",   Fp16, Fp16, Fp32, 16, 1, NO_C),
    suite!("wgmma-fp16-fp16-noc",  "wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16",   Fp16, Fp16, Fp16, 16, 1, NO_C),
    suite!("wgmma-bf16-fp32-noc",  "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16", Bf16, Bf16, Fp32, 16, 1, NO_C),
    suite!("wgmma-tf32-fp32-noc",  "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32",  Tf32, Tf32, Fp32,  8, 1, NO_C),
    suite!("wgmma-e4m3-fp32-noc",  "wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3", E4m3, E4m3, Fp32, 32, 1, NO_C),
    suite!("wgmma-e5m2-fp16-noc",  "wgmma.mma_async.sync.aligned.m64n8k32.f16.e5m2.e5m2", E5m2, E5m2, Fp16, 32, 1, NO_C),
    suite!("wgmma-fp16-fp32-n64",  "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16",   Fp16, Fp16, Fp32, 16, 1, ""),
    suite!("wgmma-e4m3-fp32-n64",  "wgmma.mma_async.sync.aligned.m64n64k32.f32.e4m3.e4m3", E4m3, E4m3, Fp32, 32, 1, ""),
    suite!("wgmma-e4m3-fp16-n64",  "wgmma.mma_async.sync.aligned.m64n64k32.f16.e4m3.e4m3", E4m3, E4m3, Fp16, 32, 1, ""),
];
