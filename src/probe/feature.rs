//! The features of a unit as a list: read, changed, named and ordered one like the other.
//!
//! The probe tries their values, [`attribute`](crate::explain::attribute) switches them one at a time.

use crate::format::{Format, Rounding};
use crate::model::{Conventions, Interleave, Params, Scheme};

/// One field of [`Params`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Feature {
    /// [`Params::scheme`].
    Scheme,
    /// [`Params::fma`].
    Fma,
    /// [`Params::interleave`].
    Interleave,
    /// [`Params::alignment_bits`].
    AlignmentBits,
    /// [`Params::sticky`].
    Sticky,
    /// [`Params::late_c`].
    LateC,
    /// [`Params::denormal_products`].
    DenormalProducts,
    /// [`Params::alignment_rounding`].
    AlignmentRounding,
    /// [`Params::late_sum_bits`].
    LateSumBits,
    /// [`Params::late_total_bits`].
    LateTotalBits,
    /// [`Params::drop_c_beyond`].
    DropCBeyond,
    /// [`Params::min_exponent`].
    MinExponent,
    /// [`Params::zero_c_exponent`].
    ZeroCExponent,
    /// [`Params::product_limit`].
    ProductLimit,
    /// [`Params::rounding`].
    Rounding,
    /// [`Params::in_subnormals`].
    InSubnormals,
    /// [`Params::out_subnormals`].
    OutSubnormals,
    /// [`Params::nan_after_cut`].
    NanAfterCut,
    /// [`Params::conventions`].
    Conventions,
}

/// A feature's value: a number in the order that the feature's values have. Flags are 0 and 1; "none" stands at the end
/// of the order where its effect lies (see [`Feature::none`]).
pub type Value = i32;

/// Stands for "no such limit" of an exponent: below all of them.
const NO_EXPONENT: Value = i32::MIN;
/// Stands for "no such step": more bits than any.
const NO_BITS: Value = i32::MAX;

const SCHEMES: [Scheme; 5] = [
    Scheme::SequentialFma,
    Scheme::CorrectRounding,
    Scheme::PairwiseSum,
    Scheme::GlobalAlignment,
    Scheme::OddEvenGrouping,
];
const ROUNDINGS: [Rounding; 4] = [
    Rounding::NearestEven,
    Rounding::TowardZero,
    Rounding::Down,
    Rounding::Up,
];
const CONVENTIONS: [Conventions; 3] = [Conventions::Amd, Conventions::Nvidia, Conventions::Toolbox];

fn place<T: PartialEq>(list: &[T], value: T) -> Value {
    let place = list.iter().position(|x| *x == value);
    place.expect("every value is in its list") as Value
}

impl Feature {
    /// All features, in the order of [`Params`]' fields.
    pub const ALL: [Feature; 19] = [
        Feature::Scheme,
        Feature::Fma,
        Feature::Interleave,
        Feature::AlignmentBits,
        Feature::Sticky,
        Feature::LateC,
        Feature::DenormalProducts,
        Feature::AlignmentRounding,
        Feature::LateSumBits,
        Feature::LateTotalBits,
        Feature::DropCBeyond,
        Feature::MinExponent,
        Feature::ZeroCExponent,
        Feature::ProductLimit,
        Feature::Rounding,
        Feature::InSubnormals,
        Feature::OutSubnormals,
        Feature::NanAfterCut,
        Feature::Conventions,
    ];

    /// Name: the field's.
    pub const fn name(self) -> &'static str {
        match self {
            Feature::Scheme => "scheme",
            Feature::Fma => "fma",
            Feature::Interleave => "interleave",
            Feature::AlignmentBits => "alignment_bits",
            Feature::Sticky => "sticky",
            Feature::LateC => "late_c",
            Feature::DenormalProducts => "denormal_products",
            Feature::AlignmentRounding => "alignment_rounding",
            Feature::LateSumBits => "late_sum_bits",
            Feature::LateTotalBits => "late_total_bits",
            Feature::DropCBeyond => "drop_c_beyond",
            Feature::MinExponent => "min_exponent",
            Feature::ZeroCExponent => "zero_c_exponent",
            Feature::ProductLimit => "product_limit",
            Feature::Rounding => "rounding",
            Feature::InSubnormals => "in_subnormals",
            Feature::OutSubnormals => "out_subnormals",
            Feature::NanAfterCut => "nan_after_cut",
            Feature::Conventions => "conventions",
        }
    }

    /// The value that means "none", for features that may have none.
    pub const fn none(self) -> Option<Value> {
        match self {
            Feature::LateTotalBits | Feature::DropCBeyond => Some(NO_BITS),
            Feature::MinExponent | Feature::ZeroCExponent => Some(NO_EXPONENT),
            _ => None,
        }
    }

    /// Is the feature a number, so that neighbouring values have similar effects?
    pub const fn is_number(self) -> bool {
        matches!(
            self,
            Feature::Fma
                | Feature::AlignmentBits
                | Feature::LateSumBits
                | Feature::LateTotalBits
                | Feature::DropCBeyond
                | Feature::MinExponent
                | Feature::ZeroCExponent
        )
    }

    /// Value of the feature in `params`.
    pub fn get(self, params: &Params) -> Value {
        let bits = |bits: Option<u32>| bits.map_or(NO_BITS, |bits| bits as Value);
        match self {
            Feature::Scheme => place(&SCHEMES, params.scheme),
            Feature::Fma => params.fma as Value,
            Feature::Interleave => (params.interleave == Interleave::Mod4).into(),
            Feature::AlignmentBits => params.alignment_bits as Value,
            Feature::Sticky => params.sticky.into(),
            Feature::LateC => params.late_c.into(),
            Feature::DenormalProducts => params.denormal_products.into(),
            Feature::AlignmentRounding => place(&ROUNDINGS, params.alignment_rounding),
            Feature::LateSumBits => params.late_sum_bits as Value,
            Feature::LateTotalBits => bits(params.late_total_bits),
            Feature::DropCBeyond => bits(params.drop_c_beyond),
            Feature::MinExponent => params.min_exponent.unwrap_or(NO_EXPONENT),
            Feature::ZeroCExponent => params.zero_c_exponent.unwrap_or(NO_EXPONENT),
            Feature::ProductLimit => params.product_limit.into(),
            Feature::Rounding => place(&ROUNDINGS, params.rounding),
            Feature::InSubnormals => params.in_subnormals.into(),
            Feature::OutSubnormals => params.out_subnormals.into(),
            Feature::NanAfterCut => params.nan_after_cut.into(),
            Feature::Conventions => place(&CONVENTIONS, params.conventions),
        }
    }

    /// Gives the feature another value. A value outside a list, or a negative number of bits, is taken as the nearest.
    pub fn set(self, params: &mut Params, value: Value) {
        let natural = |value: Value| value.max(0) as u32;
        let bits = |value: Value| (value != NO_BITS).then_some(natural(value));
        let exponent = |value: Value| (value != NO_EXPONENT).then_some(value);
        let listed = |count: usize| (value.max(0) as usize).min(count - 1);
        match self {
            Feature::Scheme => params.scheme = SCHEMES[listed(SCHEMES.len())],
            Feature::Fma => params.fma = natural(value),
            Feature::Interleave => {
                params.interleave = if value != 0 {
                    Interleave::Mod4
                } else {
                    Interleave::None
                }
            }
            Feature::AlignmentBits => params.alignment_bits = natural(value),
            Feature::Sticky => params.sticky = value != 0,
            Feature::LateC => params.late_c = value != 0,
            Feature::DenormalProducts => params.denormal_products = value != 0,
            Feature::AlignmentRounding => {
                params.alignment_rounding = ROUNDINGS[listed(ROUNDINGS.len())]
            }
            Feature::LateSumBits => params.late_sum_bits = natural(value),
            Feature::LateTotalBits => params.late_total_bits = bits(value),
            Feature::DropCBeyond => params.drop_c_beyond = bits(value),
            Feature::MinExponent => params.min_exponent = exponent(value),
            Feature::ZeroCExponent => params.zero_c_exponent = exponent(value),
            Feature::ProductLimit => params.product_limit = value != 0,
            Feature::Rounding => params.rounding = ROUNDINGS[listed(ROUNDINGS.len())],
            Feature::InSubnormals => params.in_subnormals = value != 0,
            Feature::OutSubnormals => params.out_subnormals = value != 0,
            Feature::NanAfterCut => params.nan_after_cut = value != 0,
            Feature::Conventions => params.conventions = CONVENTIONS[listed(CONVENTIONS.len())],
        }
    }

    /// `params` with another value of the feature.
    pub fn with(self, params: &Params, value: Value) -> Params {
        let mut changed = *params;
        self.set(&mut changed, value);
        changed
    }

    /// Does the unit that `params` describes, with inputs of these formats, use the feature at all?
    pub fn applies(self, params: &Params, inputs: [Format; 2], output: Format) -> bool {
        let aligned = matches!(
            params.scheme,
            Scheme::GlobalAlignment | Scheme::OddEvenGrouping
        );
        let global = params.scheme == Scheme::GlobalAlignment;
        match self {
            Feature::Scheme
            | Feature::ProductLimit
            | Feature::Rounding
            | Feature::InSubnormals
            | Feature::OutSubnormals
            | Feature::Conventions => true,
            Feature::Fma => params.scheme != Scheme::SequentialFma,
            Feature::Interleave | Feature::LateC => global,
            Feature::Sticky => global && !params.late_c,
            Feature::AlignmentBits | Feature::DenormalProducts | Feature::MinExponent => aligned,
            Feature::AlignmentRounding
            | Feature::LateSumBits
            | Feature::LateTotalBits
            | Feature::ZeroCExponent => params.adds_c_late(),
            Feature::DropCBeyond => params.scheme == Scheme::OddEvenGrouping,
            Feature::NanAfterCut => {
                let _ = output;
                inputs.iter().any(|format| format.info().ignored_bits > 0)
            }
        }
    }

    /// A value as text, as in the documentation.
    pub fn text(self, value: Value) -> String {
        let flag = |yes: &str, no: &str| if value != 0 { yes } else { no }.to_string();
        if self.none() == Some(value) {
            return "none".into();
        }
        let mut params = Params::default();
        match self {
            Feature::Scheme => {
                self.set(&mut params, value);
                match params.scheme {
                    Scheme::SequentialFma => "sequential FMA",
                    Scheme::CorrectRounding => "correct rounding",
                    Scheme::PairwiseSum => "pairwise sum",
                    Scheme::GlobalAlignment => "global alignment",
                    Scheme::OddEvenGrouping => "odd-even grouping",
                }
                .into()
            }
            Feature::Interleave => flag("k mod 4 in {0,1}, then {2,3}", "none"),
            Feature::AlignmentRounding | Feature::Rounding => {
                rounding_name(ROUNDINGS[(value.max(0) as usize).min(ROUNDINGS.len() - 1)]).into()
            }
            Feature::Conventions => {
                self.set(&mut params, value);
                match params.conventions {
                    Conventions::Amd => "AMD",
                    Conventions::Nvidia => "NVIDIA",
                    Conventions::Toolbox => "toolbox",
                }
                .into()
            }
            _ if self.is_number() => value.to_string(),
            Feature::LateC => flag("late", "early"),
            Feature::InSubnormals | Feature::OutSubnormals => flag("kept", "flushed"),
            _ => flag("yes", "no"),
        }
    }
}

impl std::fmt::Display for Feature {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// The field's abbreviation of a rounding: RNE, RTZ, RD, RU.
pub fn rounding_name(rounding: Rounding) -> &'static str {
    match rounding {
        Rounding::NearestEven => "RNE",
        Rounding::TowardZero => "RTZ",
        Rounding::Down => "RD",
        Rounding::Up => "RU",
    }
}

/// Features that two sets of parameters have different values of, among those that either unit uses.
pub fn differing(x: &Params, y: &Params, inputs: [Format; 2], output: Format) -> Vec<Feature> {
    let differs = |feature: &Feature| {
        feature.get(x) != feature.get(y)
            && (feature.applies(x, inputs, output) || feature.applies(y, inputs, output))
    };
    Feature::ALL.into_iter().filter(differs).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::catalogue;

    #[test]
    fn every_value_comes_back() {
        for row in catalogue() {
            let mut copy = Params::default();
            for feature in Feature::ALL {
                feature.set(&mut copy, feature.get(&row.params));
                assert!(!feature.text(feature.get(&row.params)).is_empty());
            }
            assert_eq!(copy, row.params);
        }
    }
}
