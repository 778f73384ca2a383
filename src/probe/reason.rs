//! Why the values of a feature cannot be told apart, in words.

use super::BlackBox;
use super::evidence::exponent_range;
use super::feature::{Feature, Value};
use super::session::Session;
use crate::model::{Conventions, Params, Scheme};

/// Why these values cannot be told apart, as far as the formats say.
pub fn reason<B: BlackBox>(
    session: &Session<B>,
    params: &Params,
    feature: Feature,
    consistent: &[(Value, Value)],
) -> String {
    let formats = session.formats;
    let (lowest, highest) = exponent_range(&formats);
    let (low, high) = formats.product_exponents();
    let (a, b, d) = (formats.a, formats.b, formats.output);
    let d_low = d.info().min_exponent();
    let generic =
        || format!("no vector of {a} x {b} -> {d} was found that tells these values apart");
    match feature {
        Feature::Fma
            if consistent
                .iter()
                .any(|range| range.1 as usize >= session.options.k) =>
        {
            format!(
                "vectors have {} elements: they end before the block does",
                session.options.k
            )
        }
        Feature::MinExponent if consistent.iter().any(|range| range.0 <= lowest) => format!(
            "terms of {a} x {b} -> {d} have exponents from {low} (products) and {d_low} (c): lower limits change no result"
        ),
        Feature::ZeroCExponent if consistent.iter().any(|range| range.0 <= lowest) => format!(
            "products of {a} x {b} have exponents from {low}: c = 0 below them changes no result"
        ),
        Feature::MinExponent | Feature::ZeroCExponent => format!(
            "terms of {a} x {b} -> {d} have exponents from {lowest} to {highest}: these limits lose the same bits"
        ),
        Feature::AlignmentBits | Feature::LateSumBits => format!(
            "products of {a} x {b} have exponents from {low} to {high} and few significand bits: with so many bits nothing \
             is lost that would show in {d}"
        ),
        Feature::LateTotalBits => {
            format!(
                "the total has no bits so far down that would show in {d} after the final rounding"
            )
        }
        Feature::DropCBeyond => format!(
            "c of {d} and products of {a} x {b} are never further apart, or a c so far down rounds to the same either way"
        ),
        Feature::Conventions if params.conventions != Conventions::Amd => format!(
            "they differ in the sign of results that underflow, which {a} x {b} -> {d} cannot show, and in c between blocks"
        ),
        Feature::ProductLimit
            if matches!(params.scheme, Scheme::PairwiseSum | Scheme::SequentialFma)
                && high >= d.info().max_exponent() =>
        {
            format!(
                "a product past the range of {d} becomes an infinity when it is rounded to {d}, limit or no limit"
            )
        }
        Feature::ProductLimit => {
            format!("products of {a} x {b} stay below the largest finite {d} number")
        }
        Feature::DenormalProducts => generic() + ": no bit is lost between the two exponents",
        Feature::InSubnormals => {
            format!("subnormal factors of {a} x {b} make no product that shows in {d}")
        }
        Feature::NanAfterCut => generic(),
        _ => generic(),
    }
}
