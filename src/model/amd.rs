//! AMD matrix cores: one row per architecture, input formats and output format (paper, section 4).

use super::{Arch, Conventions, Evidence, Interleave, Params, Reach, Row, Scheme};
use crate::format::{Format, Rounding};

/// What all AMD units share: subnormal numbers kept, RNE at the end, no alignment.
const EXACT: Params = Params {
    scheme: Scheme::CorrectRounding,
    fma: 1,
    interleave: Interleave::None,
    alignment_bits: 24,
    sticky: false,
    late_c: false,
    denormal_products: true,
    alignment_rounding: Rounding::Down,
    late_sum_bits: 32,
    late_total_bits: None,
    drop_c_beyond: None,
    min_exponent: None,
    zero_c_exponent: None,
    product_limit: false,
    rounding: Rounding::NearestEven,
    in_subnormals: true,
    out_subnormals: true,
    nan_after_cut: false,
    conventions: Conventions::Amd,
};

/// Sections 4.1.1 and 4.2: a chain of fused multiply-adds.
const CHAIN: Params = Params {
    scheme: Scheme::SequentialFma,
    ..EXACT
};

/// Section 4.1: exact sum of the products and c.
const fn cdna1(fma: u32) -> Params {
    Params { fma, ..EXACT }
}

/// Section 4.2: products to binary32, added in pairs, subnormal numbers flushed everywhere.
const fn cdna2(fma: u32) -> Params {
    Params {
        scheme: Scheme::PairwiseSum,
        fma,
        in_subnormals: false,
        out_subnormals: false,
        ..EXACT
    }
}

/// Algorithm 1: 24 bits, c late (24, 32, RD), second RD to 31 bits, c = 0 at exponent -126, products limited to 2^128.
const fn cdna3(fma: u32) -> Params {
    Params {
        scheme: Scheme::GlobalAlignment,
        fma,
        late_c: true,
        late_total_bits: Some(31),
        zero_c_exponent: Some(-126),
        product_limit: true,
        ..EXACT
    }
}

/// Algorithm 2: odd and even products apart; a c far below the products is dropped.
const CDNA3_FP8: Params = Params {
    scheme: Scheme::OddEvenGrouping,
    drop_c_beyond: Some(25),
    ..cdna3(16)
};

/// The toolbox at b12b5a7 keeps 31 bits of a shifted sum and rounds once.
const fn toolbox(params: Params) -> Params {
    Params {
        late_sum_bits: 31,
        late_total_bits: None,
        ..params
    }
}

const FP64: &[[Format; 2]] = &[[Format::Fp64; 2]];
const FP32: &[[Format; 2]] = &[[Format::Fp32; 2]];
const FP16: &[[Format; 2]] = &[[Format::Fp16; 2]];
const BF16: &[[Format; 2]] = &[[Format::Bf16; 2]];
const XF32: &[[Format; 2]] = &[[Format::Tf32; 2]];
const FP8: &[[Format; 2]] = &[
    [Format::E4m3Fnuz, Format::E4m3Fnuz],
    [Format::E5m2Fnuz, Format::E5m2Fnuz],
    [Format::E4m3Fnuz, Format::E5m2Fnuz],
    [Format::E5m2Fnuz, Format::E4m3Fnuz],
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

/// All AMD rows.
#[rustfmt::skip]
pub const ROWS: &[Row] = &[
    row!(Cdna1, FP32 -> Fp32, CHAIN,    Formats, "v_mfma_f32_32x32x2f32", Paper, "paper 4.1.1"),
    row!(Cdna1, FP16 -> Fp32, cdna1(4), Formats, "v_mfma_f32_32x32x8f16", Paper, "paper 4.1.2, Table 3"),
    row!(Cdna1, BF16 -> Fp32, cdna1(2), Formats, "v_mfma_f32_32x32x4bf16", Paper, "paper 4.1.3, Table 3"),

    row!(Cdna2, FP64 -> Fp64, CHAIN,    Formats, "v_mfma_f64_16x16x4f64", Assumed, "AMD CDNA 2 ISA: IEEE fused multiply-adds"),
    row!(Cdna2, FP32 -> Fp32, CHAIN,    Formats, "v_mfma_f32_32x32x2f32", Paper, "paper 4.2"),
    row!(Cdna2, FP16 -> Fp32, cdna2(4), Formats, "v_mfma_f32_32x32x8f16", Paper, "paper 4.2.1, Fig. 2a"),
    row!(Cdna2, BF16 -> Fp32, cdna2(4), Formats, "v_mfma_f32_32x32x8bf16_1k", Paper, "paper 4.2.2, Fig. 2a"),
    row!(Cdna2, BF16 -> Fp32, cdna2(2), Instruction, "v_mfma_f32_32x32x4bf16", Paper, "paper 4.2.2, Fig. 2b"),

    row!(Cdna3, FP64 -> Fp64, CHAIN,     Formats, "v_mfma_f64_16x16x4_f64", Assumed, "AMD CDNA 3 ISA: IEEE fused multiply-adds"),
    row!(Cdna3, FP32 -> Fp32, CHAIN,     Formats, "v_mfma_f32_32x32x2_f32", Paper, "paper 4.3"),
    row!(Cdna3, FP16 -> Fp32, cdna3(8),  Formats, "v_mfma_f32_32x32x8_f16", Paper, "paper 4.3.1, Algorithm 1"),
    row!(Cdna3, BF16 -> Fp32, cdna3(8),  Formats, "v_mfma_f32_32x32x8_bf16", Paper, "paper 4.3.2, Algorithm 1"),
    row!(Cdna3, XF32 -> Fp32, cdna3(4),  Formats, "v_mfma_f32_32x32x4_xf32", Paper, "paper 4.3.3, Algorithm 1"),
    row!(Cdna3, FP8  -> Fp32, CDNA3_FP8, Formats, "v_mfma_f32_32x32x16_fp8_fp8", Paper, "paper 4.3.4, Algorithm 2"),

    row!(Cdna3Toolbox, FP16 -> Fp32, toolbox(cdna3(8)),  Formats, "", NoHardware, "MATLAB Tensor Core b12b5a7, AddTwoNonNormSums"),
    row!(Cdna3Toolbox, BF16 -> Fp32, toolbox(cdna3(8)),  Formats, "", NoHardware, "MATLAB Tensor Core b12b5a7, AddTwoNonNormSums"),
    row!(Cdna3Toolbox, XF32 -> Fp32, toolbox(cdna3(4)),  Formats, "", NoHardware, "MATLAB Tensor Core b12b5a7, AddTwoNonNormSums"),
    row!(Cdna3Toolbox, FP8  -> Fp32, toolbox(CDNA3_FP8), Formats, "", NoHardware, "MATLAB Tensor Core b12b5a7, AddTwoNonNormSums"),
];
