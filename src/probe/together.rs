//! Features that are certain only as long as others keep their values.

use super::BlackBox;
use super::apart::{Apart, LONG, tell_apart_by, try_other};
use super::evidence::{domain, valid};
use super::feature::{Feature, Value, differing};
use super::identify::{Identified, Unidentified};
use super::session::Session;
use crate::error::Error;
use crate::model::Params;

/// Pairs of numbers of which only the sum or difference shows. Gives other parameters when an answer refutes these.
pub fn moved_together<B: BlackBox>(
    session: &mut Session<B>,
    params: &Params,
    unidentified: &mut Vec<Unidentified>,
) -> Result<Option<Params>, Error> {
    let formats = session.formats;
    let numbers: Vec<Feature> = Feature::ALL
        .into_iter()
        .filter(|feature| {
            feature.is_number()
                && feature.applies(params, formats.inputs(), formats.output)
                && feature.none() != Some(feature.get(params))
        })
        .collect();
    for (i, &x) in numbers.iter().enumerate() {
        for &y in &numbers[i + 1..] {
            for (dx, dy) in [(1, 1), (-1, -1), (1, -1), (-1, 1)] {
                let known = |feature| unidentified.iter().any(|e| e.feature == feature);
                if known(x) && known(y) {
                    break;
                }
                let values = [(x, x.get(params), dx), (y, y.get(params), dy)];
                let moved = x.with(params, values[0].1 + dx);
                let other = y.with(&moved, values[1].1 + dy);
                if !valid(&other, &formats) {
                    continue;
                }
                match try_other(session, params, &other)? {
                    Apart::Refuted => continue,
                    Apart::Wrong(other) => return Ok(Some(other)),
                    Apart::Same => {}
                }
                for (feature, value, d) in values {
                    if unidentified.iter().any(|e| e.feature == feature) {
                        continue;
                    }
                    let with = if feature == x { y } else { x };
                    unidentified.push(Unidentified {
                        feature,
                        consistent: vec![(value.min(value + d), value.max(value + d))],
                        reason: format!(
                            "only together with {with}: when both change by one, the same results come out"
                        ),
                    });
                }
            }
        }
    }
    Ok(None)
}

/// Values that are certain only as long as some other features keep theirs: one is changed, and the others are fitted to
/// make up for it.
pub fn explain_otherwise<B: BlackBox>(
    session: &mut Session<B>,
    found: &mut Identified,
) -> Result<Apart, Error> {
    let params = found.params;
    let (inputs, output) = (session.formats.inputs(), session.formats.output);
    for feature in Feature::ALL {
        let known = found
            .unidentified
            .iter()
            .any(|entry| entry.feature == feature);
        if known || feature.none() == Some(feature.get(&params)) {
            continue;
        }
        for value in session.fit().others(feature, &params) {
            let start = feature.with(&params, value);
            if !valid(&start, &session.formats) {
                continue;
            }
            let Some(other) = session.fit().make_up(start, feature) else {
                continue;
            };
            match tell_apart_by(session, &params, &other, LONG)? {
                Apart::Refuted => continue,
                Apart::Wrong(other) => return Ok(Apart::Wrong(other)),
                Apart::Same => {}
            }
            let changed = differing(&params, &other, inputs, output);
            for &one in &changed {
                if found.unidentified.iter().any(|entry| entry.feature == one) {
                    continue;
                }
                let with = changed.iter().filter(|&&with| with != one);
                let with: Vec<String> = with
                    .map(|with| format!("{with} = {}", with.text(with.get(&other))))
                    .collect();
                let mut both = [one.get(&params), one.get(&other)];
                both.sort_unstable();
                found.unidentified.push(Unidentified {
                    feature: one,
                    consistent: both.map(|value| (value, value)).to_vec(),
                    reason: format!(
                        "with {} the other value gives the same results",
                        with.join(", ")
                    ),
                });
            }
            break;
        }
    }
    Ok(Apart::Same)
}

/// Features that are certain only as long as an undecided one keeps its value: what remains of both together.
pub fn add_joint<B: BlackBox>(session: &Session<B>, found: &mut Identified) {
    let formats = session.formats;
    let mut joint: Vec<Unidentified> = Vec::new();
    for entry in &found.unidentified {
        if entry.feature == Feature::Scheme {
            continue;
        }
        let own = entry.feature.get(&found.params);
        let ends = entry.consistent.iter().flat_map(|&(low, high)| [low, high]);
        for end in ends.filter(|&end| end != own) {
            let base = entry.feature.with(&found.params, end);
            for feature in Feature::ALL {
                let known = found
                    .unidentified
                    .iter()
                    .chain(&joint)
                    .any(|e| e.feature == feature);
                if known || !feature.applies(&base, formats.inputs(), formats.output) {
                    continue;
                }
                let value = feature.get(&base);
                let near = [value.saturating_sub(1), value.saturating_add(1)];
                let others = match feature {
                    _ if feature.is_number() => near.into_iter().chain(feature.none()).collect(),
                    Feature::Scheme => Vec::new(),
                    _ => domain(feature, &formats, session.options.k),
                };
                let mut consistent: Vec<Value> = others
                    .into_iter()
                    .filter(|&other| {
                        other != value && session.evidence.agrees(&feature.with(&base, other))
                    })
                    .collect();
                if consistent.is_empty() {
                    continue;
                }
                consistent.push(value);
                consistent.sort_unstable();
                joint.push(Unidentified {
                    feature,
                    consistent: consistent.into_iter().map(|value| (value, value)).collect(),
                    reason: format!(
                        "with {} = {} other values give the same results",
                        entry.feature,
                        entry.feature.text(end)
                    ),
                });
            }
        }
    }
    found.unidentified.extend(joint);
}
