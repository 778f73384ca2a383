//! Which units the fast kernels know. Everything that does not fit exactly is left to the reference.

use crate::format::{Format, Rounding};
use crate::model::{Conventions, Interleave, Model, Params, Scheme};

/// A way of summing for which there are fast kernels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    /// A chain of IEEE fused multiply-adds, binary32 or binary64, RNE, subnormal numbers kept.
    FmaChain,
    /// Products to binary32, added in pairs, subnormal numbers flushed; binary16 or bfloat16 inputs (CDNA 2).
    PairwiseSum,
    /// Products and c added exactly, one RNE to binary32 (CDNA 1).
    CorrectRounding,
    /// Products and c aligned together and cut (NVIDIA).
    EarlyAddend,
    /// Two halves of interleaved elements, each as in `EarlyAddend`, then c (8-bit inputs through mma.sync).
    Interleaved,
    /// Products aligned and cut, c added late (CDNA 3).
    LateAddend,
    /// Odd and even products apart, c added late (CDNA 3, 8-bit inputs).
    OddEven,
    /// None of them: computed by [`reference`](crate::reference).
    Reference,
}

/// The family of a unit, whether it is one of the catalogue or a custom one.
pub fn family_of(model: &Model) -> Family {
    let params = model.params();
    match params.scheme {
        Scheme::SequentialFma if is_ieee_chain(model) => Family::FmaChain,
        Scheme::PairwiseSum if is_pairwise(model) => Family::PairwiseSum,
        Scheme::CorrectRounding if is_correct_rounding(model) => Family::CorrectRounding,
        Scheme::GlobalAlignment if half_block_unit(model).is_some() => Family::Interleaved,
        Scheme::GlobalAlignment if !params.late_c && is_early_addend(model) => Family::EarlyAddend,
        Scheme::GlobalAlignment if params.late_c && is_late_addend(model, 8) => Family::LateAddend,
        Scheme::OddEvenGrouping if is_odd_even(model) => Family::OddEven,
        _ => Family::Reference,
    }
}

fn inputs_are(model: &Model, allowed: impl Fn(Format) -> bool) -> bool {
    allowed(model.a()) && allowed(model.b())
}

/// Formats with exact products in binary32: at most 11 significant bits.
fn is_short(format: Format) -> bool {
    !matches!(format, Format::Fp64 | Format::Fp32)
}

fn is_ieee_chain(model: &Model) -> bool {
    let Params {
        rounding,
        in_subnormals,
        out_subnormals,
        ..
    } = *model.params();
    matches!(model.output(), Format::Fp32 | Format::Fp64)
        && inputs_are(model, |format| format == model.output())
        && rounding == Rounding::NearestEven
        && in_subnormals
        && out_subnormals
        && !model.params().product_limit
}

fn is_pairwise(model: &Model) -> bool {
    let params = model.params();
    model.output() == Format::Fp32
        && inputs_are(model, |format| {
            matches!(format, Format::Fp16 | Format::Bf16)
        })
        && model.a() == model.b()
        && matches!(params.fma, 2 | 4)
        && params.rounding == Rounding::NearestEven
        && !params.in_subnormals
        && !params.out_subnormals
        && !params.product_limit
        && params.conventions == Conventions::Amd
}

fn is_correct_rounding(model: &Model) -> bool {
    let params = model.params();
    model.output() == Format::Fp32
        && matches!(
            (model.a(), model.b(), params.fma),
            (Format::Fp16, Format::Fp16, 1..=4) | (Format::Bf16, Format::Bf16, 1 | 2)
        )
        && params.rounding == Rounding::NearestEven
        && params.in_subnormals
        && params.out_subnormals
        && !params.product_limit
        && params.conventions == Conventions::Amd
}

/// What all aligning kernels share.
fn is_aligning(model: &Model) -> bool {
    let params = model.params();
    inputs_are(model, is_short)
        && params.interleave == Interleave::None
        && params.denormal_products
        && params.in_subnormals
        && params.out_subnormals
        && !params.sticky
}

/// Format in which factors of a format are multiplied: where blocks are interleaved, 8-bit ones become binary16 first.
pub fn factor_format(params: &Params, format: Format) -> Format {
    match (params.interleave, format.info().storage_bits) {
        (Interleave::Mod4, 8) => Format::Fp16,
        _ => format,
    }
}

/// The unit with an early c that computes the halves of an interleaved unit's blocks, if there is one.
pub fn half_block_unit(model: &Model) -> Option<Model> {
    let params = model.params();
    if params.interleave != Interleave::Mod4 || params.late_c || params.fma > 32 {
        return None;
    }
    let halves = Params {
        interleave: Interleave::None,
        fma: params.fma / 2,
        ..*params
    };
    let [a, b] = [model.a(), model.b()].map(|format| factor_format(params, format));
    let half = Model::from_params(halves, a, b, model.output()).ok()?;
    // c is added to the halves' sum, and that is rounded to the output.
    let adds = model.addend_format().0 == model.output();
    (adds && is_early_addend(&half)).then_some(half)
}

fn is_early_addend(model: &Model) -> bool {
    let params = model.params();
    let output = match (model.output(), params.rounding) {
        (Format::Fp32, Rounding::TowardZero | Rounding::NearestEven) => true,
        (Format::Fp16, Rounding::NearestEven) => {
            // The user's c must be binary16 too: its subnormal numbers count with another exponent than binary32's.
            model.addend_format().0 == Format::Fp16
        }
        _ => false,
    };
    is_aligning(model)
        && output
        && params.conventions == Conventions::Nvidia
        && !params.product_limit
        && matches!(params.fma, 4 | 8 | 16 | 32)
        && matches!(params.alignment_bits, 13 | 23..=25)
        // A higher limit would cut c where all products are zero, too; there the kernels keep it. With binary32 output
        // vectors compute no exponents below -95, and know no limit.
        && params
            .min_exponent
            .is_none_or(|limit| limit <= model.output().info().min_exponent())
}

/// A late c; `most` is the largest N_FMA for which the sum cannot cancel c against more than the kept bits.
fn is_late_addend(model: &Model, most: u32) -> bool {
    let params = model.params();
    is_aligning(model)
        && model.output() == Format::Fp32
        && params.rounding == Rounding::NearestEven
        && params.alignment_rounding == Rounding::Down
        && params.alignment_bits == 24
        && params.fma <= most
        && params.fma.is_power_of_two()
        && params.fma >= 4
        && matches!(
            (params.late_sum_bits, params.late_total_bits),
            (32, Some(31)) | (31, None)
        )
        && params.min_exponent.is_none()
        && params.zero_c_exponent == Some(-126)
        && params.product_limit
        && params.conventions == Conventions::Amd
}

fn is_odd_even(model: &Model) -> bool {
    is_late_addend(model, 16)
        && model.params().fma == 16
        && model.params().drop_c_beyond == Some(25)
        && inputs_are(model, |format| {
            matches!(format, Format::E4m3Fnuz | Format::E5m2Fnuz)
        })
}
