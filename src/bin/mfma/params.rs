//! The features of a unit by name: to print, and to change (`--set field=value`).

use mfma::model::{Conventions, Interleave, Scheme};
use mfma::{Params, Rounding};
use serde_json::{Map, Value, json};

use crate::output::Failure;

const SCHEMES: &[(&str, Scheme)] = &[
    ("sequential_fma", Scheme::SequentialFma),
    ("correct_rounding", Scheme::CorrectRounding),
    ("pairwise_sum", Scheme::PairwiseSum),
    ("global_alignment", Scheme::GlobalAlignment),
    ("odd_even_grouping", Scheme::OddEvenGrouping),
];
const INTERLEAVES: &[(&str, Interleave)] =
    &[("none", Interleave::None), ("mod4", Interleave::Mod4)];
const ROUNDINGS: &[(&str, Rounding)] = &[
    ("rne", Rounding::NearestEven),
    ("rz", Rounding::TowardZero),
    ("rd", Rounding::Down),
    ("ru", Rounding::Up),
];
const CONVENTIONS: &[(&str, Conventions)] = &[
    ("amd", Conventions::Amd),
    ("nvidia", Conventions::Nvidia),
    ("toolbox", Conventions::Toolbox),
];

fn name<T: Copy + PartialEq>(table: &[(&'static str, T)], value: T) -> &'static str {
    table
        .iter()
        .find(|row| row.1 == value)
        .map_or("?", |row| row.0)
}

/// Name of a rounding: rne, rz, rd, ru.
pub fn rounding_name(rounding: Rounding) -> &'static str {
    name(ROUNDINGS, rounding)
}

/// All features by name, in the order of [`Params`]; an absent limit is null.
pub fn to_map(params: &Params) -> Map<String, Value> {
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
    let fields = [
        ("scheme", json!(name(SCHEMES, scheme))),
        ("fma", json!(fma)),
        ("interleave", json!(name(INTERLEAVES, interleave))),
        ("alignment_bits", json!(alignment_bits)),
        ("sticky", json!(sticky)),
        ("late_c", json!(late_c)),
        ("denormal_products", json!(denormal_products)),
        (
            "alignment_rounding",
            json!(rounding_name(alignment_rounding)),
        ),
        ("late_sum_bits", json!(late_sum_bits)),
        ("late_total_bits", json!(late_total_bits)),
        ("drop_c_beyond", json!(drop_c_beyond)),
        ("min_exponent", json!(min_exponent)),
        ("zero_c_exponent", json!(zero_c_exponent)),
        ("product_limit", json!(product_limit)),
        ("rounding", json!(rounding_name(rounding))),
        ("in_subnormals", json!(in_subnormals)),
        ("out_subnormals", json!(out_subnormals)),
        ("nan_after_cut", json!(nan_after_cut)),
        ("conventions", json!(name(CONVENTIONS, conventions))),
    ];
    fields
        .into_iter()
        .map(|(name, value)| (name.to_string(), value))
        .collect()
}

/// Applies `field=value` of an option, as [`to_map`] names them; "none" for an absent limit.
pub fn set(params: &mut Params, option: &str, change: &str) -> Result<(), Failure> {
    let (field, value) = change
        .split_once('=')
        .map(|(field, value)| (field.trim(), value.trim()))
        .ok_or_else(|| Failure::new(format!("{option} {change}: allowed: field=value")))?;
    let refuse =
        |allowed: &str| Failure::new(format!("{option} {field}={value}: allowed: {allowed}"));
    fn choice<T: Copy>(table: &[(&str, T)], value: &str) -> Result<T, String> {
        let found = table.iter().find(|row| row.0 == value).map(|row| row.1);
        found.ok_or_else(|| {
            let names: Vec<&str> = table.iter().map(|row| row.0).collect();
            names.join(", ")
        })
    }
    let choose_rounding = || choice(ROUNDINGS, value).map_err(|allowed| refuse(&allowed));
    let flag = || match value {
        "true" | "1" => Ok(true),
        "false" | "0" => Ok(false),
        _ => Err(refuse("true, false")),
    };
    let natural = || {
        value
            .parse::<u32>()
            .map_err(|_| refuse("an integer, 0 or more"))
    };
    let optional = || match value {
        "none" => Ok(None),
        _ => natural()
            .map(Some)
            .map_err(|_| refuse("an integer, 0 or more, or none")),
    };
    let exponent = || match value {
        "none" => Ok(None),
        _ => value
            .parse()
            .map(Some)
            .map_err(|_| refuse("an integer, or none")),
    };
    match field {
        "scheme" => params.scheme = choice(SCHEMES, value).map_err(|allowed| refuse(&allowed))?,
        "fma" => params.fma = natural()?,
        "interleave" => {
            params.interleave = choice(INTERLEAVES, value).map_err(|allowed| refuse(&allowed))?;
        }
        "alignment_bits" => params.alignment_bits = natural()?,
        "sticky" => params.sticky = flag()?,
        "late_c" => params.late_c = flag()?,
        "denormal_products" => params.denormal_products = flag()?,
        "alignment_rounding" => params.alignment_rounding = choose_rounding()?,
        "late_sum_bits" => params.late_sum_bits = natural()?,
        "late_total_bits" => params.late_total_bits = optional()?,
        "drop_c_beyond" => params.drop_c_beyond = optional()?,
        "min_exponent" => params.min_exponent = exponent()?,
        "zero_c_exponent" => params.zero_c_exponent = exponent()?,
        "product_limit" => params.product_limit = flag()?,
        "rounding" => params.rounding = choose_rounding()?,
        "in_subnormals" => params.in_subnormals = flag()?,
        "out_subnormals" => params.out_subnormals = flag()?,
        "nan_after_cut" => params.nan_after_cut = flag()?,
        "conventions" => {
            params.conventions = choice(CONVENTIONS, value).map_err(|allowed| refuse(&allowed))?;
        }
        _ => {
            let names: Vec<String> = to_map(params).keys().cloned().collect();
            return Err(Failure::new(format!(
                "{option} {change}: no field '{field}'; allowed: {}",
                names.join(", ")
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_comes_back_from_its_name() {
        for row in mfma::model::catalogue() {
            let mut params = Params::default();
            for (field, value) in to_map(&row.params) {
                let text = match value {
                    Value::Null => "none".to_string(),
                    Value::String(text) => text,
                    other => other.to_string(),
                };
                set(&mut params, "--set", &format!("{field}={text}")).unwrap();
            }
            assert_eq!(params, row.params);
        }
        assert!(set(&mut Params::default(), "--set", "fma=x").is_err());
        assert!(set(&mut Params::default(), "--set", "frame=8").is_err());
        assert!(set(&mut Params::default(), "--set", "fma").is_err());
    }
}
