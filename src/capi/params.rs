//! Custom units: the features of a unit as a struct.

use super::codes::*;
use super::model::{give, mfma_model};
use super::sized::{self, Sized};
use super::{check, sized::read};
use crate::error::{Error, ErrorCode};
use crate::format::Rounding;
use crate::model::{Conventions, Interleave, Params, Scheme};
use crate::{Format, Model};

/// The features of a matrix unit. Set `size` to sizeof(mfma_params), fill the rest with mfma_params_default or
/// mfma_params_from_arch, then change what is to be different. Flags are 0 or 1. In brackets: the name of the feature in
/// MATLAB Tensor Core.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mfma_params {
    /// sizeof(mfma_params).
    pub size: usize,
    /// How a block is summed: MFMA_SCHEME_*.
    pub scheme: i32,
    /// Products in one block, 1 to 4096; longer dot products run block after block (fma).
    pub fma: i32,
    /// Order of the elements in a block: MFMA_INTERLEAVE_*.
    pub interleave: i32,
    /// Fractional bits kept, relative to the largest exponent, when a term is aligned (23 + neab). Alignment schemes.
    pub alignment_bits: i32,
    /// Does one more bit remember whether a term lost anything (stkbitenabled)? Global alignment with early c.
    pub sticky: i32,
    /// Is c added after the products (late_partial_sum)? Global alignment.
    pub late_c: i32,
    /// Are products kept unnormalised, with a significand below 4 (denorm_prd)? Alignment schemes.
    pub denormal_products: i32,
    /// Rounding of a sum or of c when one is aligned to the other: MFMA_ROUND_* (armode). Late c.
    pub alignment_rounding: i32,
    /// Fractional bits kept of the sum of products when it is aligned to a larger c. Late c. The larger c keeps as many,
    /// so that one with a longer fraction is rounded, too.
    pub late_sum_bits: i32,
    /// Fractional bits to which the total is then rounded down before the final rounding, or MFMA_NONE. Late c. Acts on c
    /// alone where a block has no products.
    pub late_total_bits: i32,
    /// A late c more than this many binades below the products is dropped, or MFMA_NONE. Odd-even grouping.
    pub drop_c_beyond: i32,
    /// The largest exponent is not taken below this, or MFMA_NONE (min_exp_limit).
    pub min_exponent: i32,
    /// Exponent that c = 0 counts with when c is late, or MFMA_NONE (c_min_exp_limit).
    pub zero_c_exponent: i32,
    /// Is a product beyond the output format's range an infinity (prd_limit)?
    pub product_limit: i32,
    /// Final rounding: MFMA_ROUND_* (frmode).
    pub rounding: i32,
    /// Are subnormal inputs kept (in_subnormals)?
    pub in_subnormals: i32,
    /// Are subnormal c and results kept (out_subnormals)?
    pub out_subnormals: i32,
    /// Is a tf32 word cut to 19 bits before NaNs are told from infinities (Hopper)? tf32 inputs.
    pub nan_after_cut: i32,
    /// NaN's encoding and zero's sign: MFMA_CONVENTIONS_*.
    pub conventions: i32,
    /// 0. Makes the size a multiple of 8 without padding of unknown content.
    pub reserved: i32,
}

// SAFETY: repr(C), size first, integers only.
unsafe impl Sized for mfma_params {
    const FIRST: usize = size_of::<mfma_params>();
}

const ZERO: mfma_params = mfma_params {
    size: 0,
    scheme: 0,
    fma: 0,
    interleave: 0,
    alignment_bits: 0,
    sticky: 0,
    late_c: 0,
    denormal_products: 0,
    alignment_rounding: 0,
    late_sum_bits: 0,
    late_total_bits: 0,
    drop_c_beyond: 0,
    min_exponent: 0,
    zero_c_exponent: 0,
    product_limit: 0,
    rounding: 0,
    in_subnormals: 0,
    out_subnormals: 0,
    nan_after_cut: 0,
    conventions: 0,
    reserved: 0,
};

const SCHEMES: &[(i32, Scheme)] = &[
    (MFMA_SCHEME_SEQUENTIAL_FMA, Scheme::SequentialFma),
    (MFMA_SCHEME_CORRECT_ROUNDING, Scheme::CorrectRounding),
    (MFMA_SCHEME_PAIRWISE_SUM, Scheme::PairwiseSum),
    (MFMA_SCHEME_GLOBAL_ALIGNMENT, Scheme::GlobalAlignment),
    (MFMA_SCHEME_ODD_EVEN_GROUPING, Scheme::OddEvenGrouping),
];

const INTERLEAVES: &[(i32, Interleave)] = &[
    (MFMA_INTERLEAVE_NONE, Interleave::None),
    (MFMA_INTERLEAVE_MOD4, Interleave::Mod4),
];

pub(super) const ROUNDINGS: &[(i32, Rounding)] = &[
    (MFMA_ROUND_NEAREST_EVEN, Rounding::NearestEven),
    (MFMA_ROUND_TOWARD_ZERO, Rounding::TowardZero),
    (MFMA_ROUND_DOWN, Rounding::Down),
    (MFMA_ROUND_UP, Rounding::Up),
];

const CONVENTIONS: &[(i32, Conventions)] = &[
    (MFMA_CONVENTIONS_AMD, Conventions::Amd),
    (MFMA_CONVENTIONS_NVIDIA, Conventions::Nvidia),
    (MFMA_CONVENTIONS_TOOLBOX, Conventions::Toolbox),
];

fn code<T: Copy + PartialEq>(table: &[(i32, T)], value: T) -> i32 {
    let row = table.iter().find(|row| row.1 == value);
    row.expect("every value has a code").0
}

impl From<&Params> for mfma_params {
    fn from(params: &Params) -> mfma_params {
        let Params {
            scheme,
            fma,
            interleave,
            alignment_bits,
            sticky,
            late_c,
            denormal_products,
            alignment_rounding,
            late_sum_bits,
            late_total_bits,
            drop_c_beyond,
            min_exponent,
            zero_c_exponent,
            product_limit,
            rounding,
            in_subnormals,
            out_subnormals,
            nan_after_cut,
            conventions,
        } = *params;
        let bits = |bits: Option<u32>| bits.map_or(MFMA_NONE, |bits| bits as i32);
        mfma_params {
            size: size_of::<mfma_params>(),
            scheme: code(SCHEMES, scheme),
            fma: fma as i32,
            interleave: code(INTERLEAVES, interleave),
            alignment_bits: alignment_bits as i32,
            sticky: sticky.into(),
            late_c: late_c.into(),
            denormal_products: denormal_products.into(),
            alignment_rounding: code(ROUNDINGS, alignment_rounding),
            late_sum_bits: late_sum_bits as i32,
            late_total_bits: bits(late_total_bits),
            drop_c_beyond: bits(drop_c_beyond),
            min_exponent: min_exponent.unwrap_or(MFMA_NONE),
            zero_c_exponent: zero_c_exponent.unwrap_or(MFMA_NONE),
            product_limit: product_limit.into(),
            rounding: code(ROUNDINGS, rounding),
            in_subnormals: in_subnormals.into(),
            out_subnormals: out_subnormals.into(),
            nan_after_cut: nan_after_cut.into(),
            conventions: code(CONVENTIONS, conventions),
            reserved: 0,
        }
    }
}

fn refuse(field: &str, value: i32, allowed: &str) -> Error {
    Error::new(
        ErrorCode::InvalidParams,
        format!("params->{field} is {value}; allowed: {allowed}"),
    )
}

impl mfma_params {
    /// The features, if every field has a value that means something; whether they go together is the model's business.
    fn features(&self) -> Result<Params, Error> {
        fn choice<T: Copy>(table: &[(i32, T)], field: &str, value: i32) -> Result<T, Error> {
            let row = table.iter().find(|row| row.0 == value);
            row.map(|row| row.1)
                .ok_or_else(|| refuse(field, value, &format!("0 to {}", table.len() - 1)))
        }
        let flag = |field, value| match value {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(refuse(field, value, "0 or 1")),
        };
        let natural = |field, value: i32, most| {
            let allowed = || format!("1 to {most}");
            u32::try_from(value).map_err(|_| refuse(field, value, &allowed()))
        };
        let optional = |field, value: i32| match value {
            MFMA_NONE => Ok(None),
            _ => u32::try_from(value)
                .map(Some)
                .map_err(|_| refuse(field, value, "0 or more, or MFMA_NONE")),
        };
        if self.reserved != 0 {
            return Err(refuse("reserved", self.reserved, "0"));
        }
        let limit = |value: i32| Some(value).filter(|&value| value != MFMA_NONE);
        Ok(Params {
            scheme: choice(SCHEMES, "scheme", self.scheme)?,
            fma: natural("fma", self.fma, Params::MAX_FMA)?,
            interleave: choice(INTERLEAVES, "interleave", self.interleave)?,
            alignment_bits: natural("alignment_bits", self.alignment_bits, Params::MAX_BITS)?,
            sticky: flag("sticky", self.sticky)?,
            late_c: flag("late_c", self.late_c)?,
            denormal_products: flag("denormal_products", self.denormal_products)?,
            alignment_rounding: choice(ROUNDINGS, "alignment_rounding", self.alignment_rounding)?,
            late_sum_bits: natural("late_sum_bits", self.late_sum_bits, Params::MAX_BITS)?,
            late_total_bits: optional("late_total_bits", self.late_total_bits)?,
            drop_c_beyond: optional("drop_c_beyond", self.drop_c_beyond)?,
            min_exponent: limit(self.min_exponent),
            zero_c_exponent: limit(self.zero_c_exponent),
            product_limit: flag("product_limit", self.product_limit)?,
            rounding: choice(ROUNDINGS, "rounding", self.rounding)?,
            in_subnormals: flag("in_subnormals", self.in_subnormals)?,
            out_subnormals: flag("out_subnormals", self.out_subnormals)?,
            nan_after_cut: flag("nan_after_cut", self.nan_after_cut)?,
            conventions: choice(CONVENTIONS, "conventions", self.conventions)?,
        })
    }
}

/// Fills `params` with a unit like the A100's for binary16 inputs. `params->size` must be set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mfma_params_default(params: *mut mfma_params) -> mfma_status {
    guard!({
        sized::out("params", params)?;
        // SAFETY: just accepted.
        unsafe { sized::write(params, mfma_params::from(&Params::default())) };
    })
}

/// Fills `params` with the features of the unit that mfma_model_new would give. `params->size` must be set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mfma_params_from_arch(
    arch: mfma_arch,
    a: mfma_format,
    b: mfma_format,
    d: mfma_format,
    params: *mut mfma_params,
) -> mfma_status {
    guard!({
        let arch = check::arch(arch)?;
        let a = check::format("a", a)?;
        let b = check::format("b", b)?;
        let d = check::format("d", d)?;
        sized::out("params", params)?;
        let model = Model::new(arch, a, b, d)?;
        // SAFETY: accepted above.
        unsafe { sized::write(params, mfma_params::from(model.params())) };
    })
}

/// A custom unit that multiplies elements of formats `a` and `b` and gives results of format `d` (MFMA_FMT_FP64, FP32 or
/// FP16). Combinations of features that have no meaning are refused. Release it with mfma_model_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mfma_model_from_params(
    params: *const mfma_params,
    a: mfma_format,
    b: mfma_format,
    d: mfma_format,
    model: *mut *mut mfma_model,
) -> mfma_status {
    guard!({
        // SAFETY: the caller's struct, as large as it says.
        let params = unsafe { read("params", params, ZERO) }?;
        let a: Format = check::format("a", a)?;
        let b = check::format("b", b)?;
        let d = check::format("d", d)?;
        let place = check::out("model", model)?;
        give(Model::from_params(params.features()?, a, b, d)?, place);
    })
}

/// Fills `params` with the features of a model. `params->size` must be set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mfma_model_params(
    model: *const mfma_model,
    params: *mut mfma_params,
) -> mfma_status {
    guard!({
        // SAFETY: a living model or NULL.
        let model = unsafe { super::model::get(model) }?;
        sized::out("params", params)?;
        // SAFETY: just accepted.
        unsafe { sized::write(params, mfma_params::from(model.params())) };
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::catalogue;

    #[test]
    fn every_row_comes_back_from_its_struct() {
        for row in catalogue() {
            assert_eq!(
                mfma_params::from(&row.params).features().unwrap(),
                row.params
            );
        }
    }

    #[test]
    fn wrong_fields_are_named() {
        let good = mfma_params::from(&Params::default());
        let wrong = |change: fn(&mut mfma_params), field: &str| {
            let mut params = good;
            change(&mut params);
            let error = params.features().unwrap_err();
            assert_eq!(error.code(), ErrorCode::InvalidParams);
            assert!(error.message().contains(field), "{error}");
        };
        wrong(|p| p.scheme = 5, "scheme");
        wrong(|p| p.fma = -1, "fma");
        wrong(|p| p.sticky = 2, "sticky");
        wrong(|p| p.rounding = -1, "rounding");
        wrong(|p| p.drop_c_beyond = -3, "drop_c_beyond");
        wrong(|p| p.conventions = 99, "conventions");
    }
}
