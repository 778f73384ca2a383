//! NVIDIA tensor cores: one row per architecture, input formats and output format (paper, Table 3; measured data).

use super::{Arch, Conventions, Evidence, Interleave, Params, Reach, Row, Scheme};
use crate::format::{Format, Rounding};

/// One block of products and c aligned together, cut, added, rounded toward zero; c = 0 takes no part.
const fn aligned(fma: u32, alignment_bits: u32, min_exponent: Option<i32>) -> Params {
    Params {
        scheme: Scheme::GlobalAlignment,
        fma,
        interleave: Interleave::None,
        alignment_bits,
        sticky: false,
        late_c: false,
        denormal_products: true,
        alignment_rounding: Rounding::TowardZero,
        late_sum_bits: 32,
        late_total_bits: None,
        drop_c_beyond: None,
        min_exponent,
        zero_c_exponent: None,
        product_limit: false,
        rounding: Rounding::TowardZero,
        in_subnormals: true,
        out_subnormals: true,
        nan_after_cut: false,
        conventions: Conventions::Nvidia,
    }
}

/// The same with a result rounded to nearest even: binary16 output.
const fn nearest(fma: u32, alignment_bits: u32, min_exponent: Option<i32>) -> Params {
    Params {
        rounding: Rounding::NearestEven,
        ..aligned(fma, alignment_bits, min_exponent)
    }
}

/// 8-bit inputs through mma.sync: two interleaved half blocks, c last.
const fn interleaved(params: Params) -> Params {
    Params {
        interleave: Interleave::Mod4,
        ..params
    }
}

/// As the toolbox computes what no hardware has: c in binary32.
const fn toolbox(params: Params) -> Params {
    Params {
        conventions: Conventions::Toolbox,
        ..params
    }
}

/// tf32 inputs on Hopper, cut before NaNs are told (measured on an H200).
const fn cut_first(params: Params) -> Params {
    Params {
        nan_after_cut: true,
        ..params
    }
}

/// binary64: a chain of IEEE fused multiply-adds.
const CHAIN: Params = Params {
    scheme: Scheme::SequentialFma,
    ..nearest(1, 24, None)
};

const FP64: &[[Format; 2]] = &[[Format::Fp64; 2]];
const FP16: &[[Format; 2]] = &[[Format::Fp16; 2]];
const BF16: &[[Format; 2]] = &[[Format::Bf16; 2]];
const TF32: &[[Format; 2]] = &[[Format::Tf32; 2]];
const FP8: &[[Format; 2]] = &[
    [Format::E4m3, Format::E4m3],
    [Format::E5m2, Format::E5m2],
    [Format::E4m3, Format::E5m2],
    [Format::E5m2, Format::E4m3],
];

macro_rules! row {
    ($arch:ident, $inputs:ident -> $output:ident, $params:expr, $reach:ident, $instruction:expr, $evidence:ident, $source:expr) => {
        Row {
            arch: Arch::$arch,
            inputs: $inputs,
            output: Format::$output,
            params: $params,
            reach: Reach::$reach,
            instruction: $instruction,
            evidence: Evidence::$evidence,
            source: $source,
        }
    };
}

/// All NVIDIA rows.
#[rustfmt::skip]
pub const ROWS: &[Row] = &[
    row!(Volta, FP16 -> Fp32, aligned(4, 23, None),      Formats, "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", Measured, "V100 data"),
    row!(Volta, FP16 -> Fp16, nearest(4, 23, Some(-19)), Formats, "wmma.mma.sync.aligned.row.col.m16n16k16.f16.f16", Measured, "V100 data"),

    row!(Turing, FP16 -> Fp32, aligned(8, 24, Some(-132)), Formats, "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", Assumed, "as Ampere; MMA-Sim 2.1.1"),
    row!(Turing, FP16 -> Fp16, nearest(8, 24, Some(-20)),  Formats, "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16", Assumed, "as Ampere; MMA-Sim 2.1.1"),

    row!(Ampere, FP16 -> Fp32, aligned(8, 24, Some(-132)), Formats, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", Measured, "A100 and A2 data, Table 3"),
    row!(Ampere, FP16 -> Fp16, nearest(8, 24, Some(-20)),  Formats, "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", Measured, "A100 and A2 data, Table 3"),
    row!(Ampere, BF16 -> Fp32, aligned(8, 24, Some(-132)), Formats, "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", Measured, "A100 and A2 data, Table 3"),
    row!(Ampere, TF32 -> Fp32, aligned(4, 24, Some(-132)), Formats, "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", Measured, "A100 and A2 data, Table 3"),
    row!(Ampere, FP64 -> Fp64, CHAIN,                      Formats, "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", Assumed, "PTX ISA: IEEE fused multiply-adds; NaNs as measured on H200"),
    row!(Ampere, BF16 -> Fp16, toolbox(aligned(8, 24, Some(-132))), Formats, "", NoHardware, "MATLAB Tensor Core b12b5a7, A100TC"),

    row!(Ada, FP16 -> Fp32, aligned(8, 24, Some(-132)),  Formats, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", Measured, "Ada and L40S data"),
    row!(Ada, FP16 -> Fp16, nearest(8, 24, Some(-20)),   Formats, "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", Measured, "Ada and L40S data"),
    row!(Ada, BF16 -> Fp32, aligned(8, 24, Some(-132)),  Formats, "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", Measured, "Ada and L40S data"),
    row!(Ada, TF32 -> Fp32, aligned(4, 24, Some(-132)),  Formats, "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", Measured, "Ada and L40S data"),
    row!(Ada, FP8  -> Fp32, aligned(16, 13, Some(-132)), Formats, "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", Measured, "Ada and L40S data"),
    row!(Ada, FP8  -> Fp16, nearest(16, 13, Some(-20)),  Formats, "mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e4m3.f16", Measured, "Ada data; minimum exponent assumed"),
    row!(Ada, BF16 -> Fp16, toolbox(aligned(8, 24, Some(-132))),  Formats, "", NoHardware, "MATLAB Tensor Core b12b5a7, AdaTC"),
    row!(Ada, TF32 -> Fp16, toolbox(aligned(4, 24, Some(-132))),  Formats, "", NoHardware, "MATLAB Tensor Core b12b5a7, AdaTC"),

    row!(Hopper, FP16 -> Fp32, aligned(16, 25, Some(-133)), Formats, "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", Measured, "H100 and H200 data, Table 3; H200, docs/measured.md"),
    row!(Hopper, FP16 -> Fp16, nearest(16, 25, Some(-21)),  Formats, "wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16", Measured, "H100 and H200 data, Table 3; H200, docs/measured.md"),
    row!(Hopper, BF16 -> Fp32, aligned(16, 25, Some(-133)), Formats, "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16", Measured, "H100 and H200 data, Table 3; H200, docs/measured.md"),
    row!(Hopper, TF32 -> Fp32, cut_first(aligned(8, 25, Some(-133))),  Formats, "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32", Measured, "H100 and H200 data, Table 3; H200, docs/measured.md"),
    row!(Hopper, FP8  -> Fp32, aligned(32, 13, Some(-133)), Formats, "wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3", Measured, "H100 and H200 data (c = 0), Table 3; H200 with c, docs/measured.md"),
    row!(Hopper, FP8  -> Fp16, nearest(32, 13, Some(-21)),  Formats, "wgmma.mma_async.sync.aligned.m64n8k32.f16.e4m3.e4m3", Measured, "H200, docs/measured.md; minimum exponent without effect"),
    row!(Hopper, FP64 -> Fp64, CHAIN,                       Formats, "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", Measured, "H200, docs/measured.md"),
    row!(Hopper, FP8  -> Fp32, interleaved(aligned(32, 25, Some(-133))), Instruction, "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", Measured, "H200, docs/measured.md"),
    row!(Hopper, FP8  -> Fp16, interleaved(nearest(32, 25, Some(-21))),  Instruction, "mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e4m3.f16", Measured, "H100 and H200 data; H200, docs/measured.md"),
    row!(Hopper, BF16 -> Fp16, toolbox(aligned(16, 25, Some(-133))), Formats, "", NoHardware, "MATLAB Tensor Core b12b5a7, H100TC"),
    row!(Hopper, TF32 -> Fp16, toolbox(aligned(8, 25, Some(-133))),  Formats, "", NoHardware, "MATLAB Tensor Core b12b5a7, H100TC"),

    row!(Blackwell, FP16 -> Fp32, aligned(16, 25, Some(-133)), Formats, "tcgen05.mma.cta_group::1.kind::f16.f32.f16.f16", Measured, "B200 data, Table 3"),
    row!(Blackwell, FP16 -> Fp16, nearest(16, 25, Some(-21)),  Formats, "tcgen05.mma.cta_group::1.kind::f16.f16.f16.f16", Measured, "B200 data, Table 3"),
    row!(Blackwell, BF16 -> Fp32, aligned(16, 25, Some(-133)), Formats, "tcgen05.mma.cta_group::1.kind::f16.f32.bf16.bf16", Measured, "B200 data, Table 3"),
    row!(Blackwell, TF32 -> Fp32, aligned(8, 25, Some(-133)),  Formats, "tcgen05.mma.cta_group::1.kind::tf32.f32.tf32.tf32", Measured, "B200 data, Table 3"),
    row!(Blackwell, FP8  -> Fp32, aligned(32, 25, Some(-133)), Formats, "tcgen05.mma.cta_group::1.kind::f8f6f4.f32.e4m3.e4m3", Paper, "paper Table 3; MATLAB Tensor Core, B200TC"),
    row!(Blackwell, FP8  -> Fp16, nearest(32, 25, Some(-21)),  Formats, "tcgen05.mma.cta_group::1.kind::f8f6f4.f16.e4m3.e4m3", Assumed, "MMA-Sim 2.1.1"),
    row!(Blackwell, FP64 -> Fp64, CHAIN,                       Formats, "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", Assumed, "PTX ISA: IEEE fused multiply-adds; NaNs as measured on H200"),
    row!(Blackwell, FP8  -> Fp32, interleaved(aligned(32, 25, Some(-133))), Instruction, "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", Measured, "B200 data"),
    row!(Blackwell, FP8  -> Fp16, interleaved(nearest(32, 25, Some(-21))),  Instruction, "mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e4m3.f16", Measured, "B200 data"),
    row!(Blackwell, BF16 -> Fp16, toolbox(aligned(16, 25, Some(-133))), Formats, "", NoHardware, "MATLAB Tensor Core b12b5a7, B200TC"),
    row!(Blackwell, TF32 -> Fp16, toolbox(aligned(8, 25, Some(-133))),  Formats, "", NoHardware, "MATLAB Tensor Core b12b5a7, B200TC"),

    row!(RtxBlackwell, FP16 -> Fp32, aligned(16, 25, Some(-133)), Formats, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", Assumed, "as Blackwell; MATLAB Tensor Core, RTXPRO6000TC"),
    row!(RtxBlackwell, FP16 -> Fp16, nearest(16, 25, Some(-21)),  Formats, "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", Assumed, "as Blackwell; MATLAB Tensor Core, RTXPRO6000TC"),
    row!(RtxBlackwell, BF16 -> Fp32, aligned(16, 25, Some(-133)), Formats, "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", Assumed, "as Blackwell; MATLAB Tensor Core, RTXPRO6000TC"),
    row!(RtxBlackwell, TF32 -> Fp32, aligned(8, 25, Some(-133)),  Formats, "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", Assumed, "as Blackwell; MATLAB Tensor Core, RTXPRO6000TC"),
    row!(RtxBlackwell, FP8  -> Fp32, aligned(32, 25, Some(-133)), Formats, "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", Assumed, "MMA-Sim 2.1.1; MATLAB Tensor Core, RTXPRO6000TC"),
    row!(RtxBlackwell, FP8  -> Fp16, nearest(32, 25, Some(-21)),  Formats, "mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e4m3.f16", Assumed, "MMA-Sim 2.1.1"),
    row!(RtxBlackwell, BF16 -> Fp16, toolbox(aligned(16, 25, Some(-133))), Formats, "", NoHardware, "MATLAB Tensor Core b12b5a7, RTXPRO6000TC"),
    row!(RtxBlackwell, TF32 -> Fp16, toolbox(aligned(8, 25, Some(-133))),  Formats, "", NoHardware, "MATLAB Tensor Core b12b5a7, RTXPRO6000TC"),

    row!(BlackwellRn, FP16 -> Fp32, nearest(16, 25, Some(-133)), Formats, "", NoHardware, "MATLAB Tensor Core b12b5a7, B200TCRN"),
    row!(BlackwellRn, FP16 -> Fp16, nearest(16, 25, Some(-15)),  Formats, "", NoHardware, "MATLAB Tensor Core b12b5a7, B200TCRN"),
    row!(BlackwellRn, BF16 -> Fp32, nearest(16, 25, Some(-133)), Formats, "", NoHardware, "MATLAB Tensor Core b12b5a7, B200TCRN"),
    row!(BlackwellRn, BF16 -> Fp16, toolbox(nearest(16, 25, Some(-133))), Formats, "", NoHardware, "MATLAB Tensor Core b12b5a7, B200TCRN"),
    row!(BlackwellRn, TF32 -> Fp32, nearest(8, 25, Some(-133)),  Formats, "", NoHardware, "MATLAB Tensor Core b12b5a7, B200TCRN"),
    row!(BlackwellRn, TF32 -> Fp16, toolbox(nearest(8, 25, Some(-133))),  Formats, "", NoHardware, "MATLAB Tensor Core b12b5a7, B200TCRN"),
    row!(BlackwellRn, FP8  -> Fp32, nearest(32, 25, Some(-133)), Formats, "", NoHardware, "MATLAB Tensor Core b12b5a7, B200TCRN"),
];
