//! Units that differ from the catalogue's in one feature: what the vectors must be able to tell apart.

use mfma::format::Rounding;
use mfma::model::{Conventions, Interleave, Scheme};
use mfma::{Model, Params};

/// A unit with one feature changed, and what was changed.
pub struct Neighbour {
    /// The change.
    pub change: String,
    /// The changed unit.
    pub model: Model,
}

/// All neighbours of a unit that computes dot products of `length` elements.
pub fn neighbours(model: &Model, length: usize) -> Vec<Neighbour> {
    let params = *model.params();
    let mut changes: Vec<(String, Params)> = Vec::new();
    let mut add = |change: String, params: Params| changes.push((change, params));
    match params.scheme {
        Scheme::SequentialFma => {
            for fma in [2, length as u32] {
                add(
                    format!("exact sums of {fma}"),
                    Params {
                        scheme: Scheme::CorrectRounding,
                        fma,
                        ..params
                    },
                );
            }
        }
        _ => aligning(&params, length, &mut add),
    }
    for rounding in [
        Rounding::NearestEven,
        Rounding::TowardZero,
        Rounding::Down,
        Rounding::Up,
    ] {
        add(
            format!("rounding {rounding:?}"),
            Params { rounding, ..params },
        );
    }
    for (in_subnormals, out_subnormals) in [(false, true), (true, false)] {
        let what = if in_subnormals { "results" } else { "inputs" };
        add(
            format!("no subnormal {what}"),
            Params {
                in_subnormals,
                out_subnormals,
                ..params
            },
        );
    }
    let nan_after_cut = !params.nan_after_cut;
    add(
        format!(
            "tf32 NaNs told {} the cut",
            if nan_after_cut { "after" } else { "before" }
        ),
        Params {
            nan_after_cut,
            ..params
        },
    );
    let conventions = Conventions::Amd;
    add(
        "NaNs and zero signs as AMD's".into(),
        Params {
            conventions,
            ..params
        },
    );
    changes
        .into_iter()
        .filter(|(_, changed)| *changed != params)
        .filter_map(|(change, changed)| {
            let model = Model::from_params(changed, model.a(), model.b(), model.output()).ok()?;
            Some(Neighbour { change, model })
        })
        .collect()
}

fn aligning(params: &Params, length: usize, add: &mut impl FnMut(String, Params)) {
    let params = *params;
    for alignment_bits in [params.alignment_bits - 1, params.alignment_bits + 1] {
        add(
            format!("{alignment_bits} alignment bits"),
            Params {
                alignment_bits,
                ..params
            },
        );
    }
    if let Some(limit) = params.min_exponent {
        for min_exponent in [
            None,
            Some(limit - 1),
            Some(limit + 1),
            Some(limit + 2),
            Some(limit + 3),
        ] {
            let what = min_exponent.map_or("none".to_string(), |e| e.to_string());
            add(
                format!("minimum exponent {what}"),
                Params {
                    min_exponent,
                    ..params
                },
            );
        }
    }
    let sizes = [params.fma / 2, params.fma * 2];
    for fma in sizes.into_iter().filter(|&fma| (fma as usize) < 2 * length) {
        add(format!("blocks of {fma}"), Params { fma, ..params });
    }
    if params.interleave == Interleave::Mod4 {
        for fma in [16, 32] {
            let interleave = Interleave::None;
            add(
                format!("blocks of {fma} in order, c first"),
                Params {
                    interleave,
                    fma,
                    ..params
                },
            );
        }
    }
    add(
        "normalised products".into(),
        Params {
            denormal_products: !params.denormal_products,
            ..params
        },
    );
    add(
        "sticky bit".into(),
        Params {
            sticky: true,
            ..params
        },
    );
    add(
        "c after the products".into(),
        Params {
            late_c: true,
            alignment_rounding: Rounding::TowardZero,
            ..params
        },
    );
    add(
        "products limited to the output's range".into(),
        Params {
            product_limit: true,
            ..params
        },
    );
}
