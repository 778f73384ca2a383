//! Which features are certain: other values are told apart by a question, or no vector of these formats can.

use std::ops::ControlFlow::{self, Break, Continue};

use super::BlackBox;
use super::apart::{Apart, LONG, tell_apart, tell_apart_by, try_other};
use super::evidence::{domain, valid};
use super::feature::{Feature, Value};
use super::fit::{Fit, Structure};
use super::reason::reason;
use super::session::Session;
use super::together::{add_joint, explain_otherwise, moved_together};
use crate::error::Error;
use crate::model::{Params, Scheme};

/// A feature that the answers do not decide.
#[derive(Clone, Debug)]
pub struct Unidentified {
    /// The feature.
    pub feature: Feature,
    /// The values that give every answer, in order; the one in the parameters among them. For features that are numbers
    /// these are the first and last value of each range.
    pub consistent: Vec<(Value, Value)>,
    /// Why no vector tells them apart.
    pub reason: String,
}

impl Unidentified {
    /// Is this value among the consistent ones? Numbers beyond the last that could make a difference count as that one.
    pub fn allows(&self, value: Value) -> bool {
        let within = |&(low, high): &(Value, Value)| (low..=high).contains(&value);
        self.consistent.iter().any(within)
    }

    /// The consistent values as text.
    pub fn values(&self) -> String {
        let text = |value| self.feature.text(value);
        let ranges = self.consistent.iter().map(|&(low, high)| {
            if low == high {
                text(low)
            } else {
                format!("{} to {}", text(low), text(high))
            }
        });
        ranges.collect::<Vec<_>>().join(", ")
    }
}

/// What [`identify`] found out.
pub struct Identified {
    pub params: Params,
    pub mismatches: usize,
    pub unidentified: Vec<Unidentified>,
    /// Units of other structures that give every answer too.
    pub alternatives: Vec<Params>,
}

/// Tries every feature's other values and the other structures.
pub fn identify<B: BlackBox>(
    session: &mut Session<B>,
    params: Params,
    mismatches: usize,
) -> Result<Identified, Error> {
    let mut found = Identified {
        params,
        mismatches,
        unidentified: Vec::new(),
        alternatives: Vec::new(),
    };
    if mismatches > 0 {
        return Ok(found);
    }
    let mut settled = false;
    let mut challenged = false;
    for _ in 0..24 {
        let other = match examine(session, &found.params)? {
            Outcome::Certain(unidentified, alternatives) => {
                found.unidentified = unidentified;
                found.alternatives = alternatives;
                if !settled {
                    // The usual ones of the values that remain: another feature may be free then.
                    settled = true;
                    let usual = settle(session, &found.params, &found.unidentified);
                    if usual != found.params
                        && matches!(tell_apart(session, &found.params, &usual)?, Apart::Same)
                    {
                        found.params = usual;
                        continue;
                    }
                }
                if !challenged {
                    challenged = true;
                    session.ask_around(&found.params, 2 * session.options.vectors)?;
                    if !session.evidence.agrees(&found.params) {
                        found.params
                    } else {
                        continue;
                    }
                } else {
                    match confirm(session, &found)? {
                        Apart::Same => match explain_otherwise(session, &mut found)? {
                            Apart::Wrong(other) => other,
                            _ => {
                                add_joint(session, &mut found);
                                return Ok(found);
                            }
                        },
                        Apart::Refuted => continue,
                        Apart::Wrong(other) => other,
                    }
                }
            }
            // A question showed that another value was right.
            Outcome::Other(params) => params,
        };
        settled = false;
        challenged = false;
        session.ask_around(&other, session.options.vectors / 4 + 5)?;
        let polished = session.fit().polish(other, true);
        (found.params, found.mismatches) = match polished.1 {
            0 => polished,
            _ => session.search_on(polished),
        };
        if found.mismatches > 0 {
            return Ok(found);
        }
    }
    Ok(found)
}

/// Looks once more, and long, for a vector that decides what seems undecided.
fn confirm<B: BlackBox>(session: &mut Session<B>, found: &Identified) -> Result<Apart, Error> {
    let mut others = found.alternatives.clone();
    for entry in &found.unidentified {
        let ends = entry.consistent.iter().flat_map(|&(low, high)| [low, high]);
        others.extend(ends.map(|end| entry.feature.with(&found.params, end)));
    }
    let mut outcome = Apart::Same;
    for other in others {
        if other == found.params || !session.evidence.agrees(&other) {
            continue;
        }
        match tell_apart_by(session, &found.params, &other, LONG)? {
            Apart::Same => {}
            Apart::Refuted => outcome = Apart::Refuted,
            Apart::Wrong(other) => return Ok(Apart::Wrong(other)),
        }
    }
    Ok(outcome)
}

/// The parameters with the usual one of the values that remain: no limit and no step where there may be none, the exponent
/// of the smallest normal number for c = 0.
fn settle<B: BlackBox>(
    session: &Session<B>,
    params: &Params,
    unidentified: &[Unidentified],
) -> Params {
    let normal = session.formats.output.info().min_exponent();
    let mut usual = *params;
    for entry in unidentified {
        let mut wanted: Vec<Value> = entry.feature.none().into_iter().collect();
        if entry.feature == Feature::ZeroCExponent {
            wanted.push(normal);
        }
        if let Some(&value) = wanted.iter().find(|&&value| entry.allows(value)) {
            let other = entry.feature.with(&usual, value);
            if session.evidence.agrees(&other) {
                usual = other;
            }
        }
    }
    usual
}

enum Outcome {
    Certain(Vec<Unidentified>, Vec<Params>),
    Other(Params),
}

fn examine<B: BlackBox>(session: &mut Session<B>, params: &Params) -> Result<Outcome, Error> {
    let formats = session.formats;
    let mut unidentified = Vec::new();
    for feature in Feature::ALL {
        if feature == Feature::Scheme || !feature.applies(params, formats.inputs(), formats.output)
        {
            continue;
        }
        let values = domain(feature, &formats, session.options.k);
        let consistent = if feature.is_number() {
            interval(session, params, feature, &values)?
        } else {
            listed(session, params, feature, &values)?
        };
        let consistent = match consistent {
            Continue(consistent) => consistent,
            Break(other) => return Ok(Outcome::Other(other)),
        };
        let several = consistent.len() > 1 || consistent.iter().any(|(low, high)| low != high);
        if several {
            let reason = reason(session, params, feature, &consistent);
            unidentified.push(Unidentified {
                feature,
                consistent,
                reason,
            });
        }
    }
    if let Some(other) = moved_together(session, params, &mut unidentified)? {
        return Ok(Outcome::Other(other));
    }
    let mut alternatives = Vec::new();
    let own = Structure::from_params(params);
    for (structure, start) in other_structures(session, params) {
        let quick = Fit {
            cap: 80,
            ..session.fit()
        };
        let (mut other, mut left) = quick.fit(start, 1);
        if left > 0 && left < 10 {
            (other, left) = session.fit().polish(other, false);
        }
        if left > 0 || Structure::from_params(&other) != structure {
            continue;
        }
        let mut apart = tell_apart(session, params, &other)?;
        if matches!(apart, Apart::Refuted) {
            // A better unit of that structure may remain; one more try with what was learnt.
            (other, left) = session.fit().polish(other, false);
            if left > 0 || Structure::from_params(&other) != structure {
                continue;
            }
            apart = tell_apart(session, params, &other)?;
        }
        match apart {
            Apart::Refuted => {}
            Apart::Wrong(other) => return Ok(Outcome::Other(other)),
            // Of two descriptions that nothing tells apart, the simpler one.
            Apart::Same if simplicity(structure) < simplicity(own) => {
                return Ok(Outcome::Other(other));
            }
            Apart::Same => alternatives.push(other),
        }
    }
    if !alternatives.is_empty() {
        let scheme = Feature::Scheme;
        let mut values: Vec<Value> = alternatives.iter().map(|p| scheme.get(p)).collect();
        values.push(scheme.get(params));
        values.sort_unstable();
        values.dedup();
        unidentified.insert(
            0,
            Unidentified {
                feature: scheme,
                consistent: values.into_iter().map(|value| (value, value)).collect(),
                reason: format!(
                    "no vector of {} x {} -> {} was found that tells these ways of adding apart; see alternatives",
                    formats.a, formats.b, formats.output
                ),
            },
        );
    }
    Ok(Outcome::Certain(unidentified, alternatives))
}

fn simplicity(structure: Structure) -> usize {
    let place = Structure::ALL.iter().position(|&known| known == structure);
    place.unwrap_or(Structure::ALL.len())
}

/// Structures other than that of `params` that may give all answers, with parameters to begin with: those that they had
/// where they came near, and the rest of `params`.
fn other_structures<B: BlackBox>(
    session: &Session<B>,
    params: &Params,
) -> Vec<(Structure, Params)> {
    let own = Structure::from_params(params);
    let mut found: Vec<(Structure, Params)> = Vec::new();
    for structure in Structure::ALL {
        let near = session.near.iter().find(|entry| entry.0 == structure);
        let changed = Params {
            scheme: structure.scheme,
            late_c: structure.late_c && structure.scheme == Scheme::GlobalAlignment,
            interleave: structure.interleave,
            ..*params
        };
        let starts = near.map(|entry| entry.1).into_iter().chain([changed]);
        let starts = starts.filter(|start| structure != own && valid(start, &session.formats));
        found.extend(starts.map(|start| (structure, start)));
    }
    found
}

/// Values of a flag or a list that agree with every answer, or other parameters to go on with.
fn listed<B: BlackBox>(
    session: &mut Session<B>,
    params: &Params,
    feature: Feature,
    values: &[Value],
) -> Result<ControlFlow<Params, Vec<(Value, Value)>>, Error> {
    let mut consistent = Vec::new();
    for &value in values {
        let other = feature.with(params, value);
        if other == *params {
            consistent.push((value, value));
        } else if valid(&other, &session.formats) {
            match try_other(session, params, &other)? {
                Apart::Refuted => {}
                Apart::Same => consistent.push((value, value)),
                Apart::Wrong(other) => return Ok(Break(other)),
            }
        }
    }
    Ok(Continue(consistent))
}

/// The range of a number's values around the one found that agree with every answer, or other parameters.
fn interval<B: BlackBox>(
    session: &mut Session<B>,
    params: &Params,
    feature: Feature,
    values: &[Value],
) -> Result<ControlFlow<Params, Vec<(Value, Value)>>, Error> {
    let mut values = values.to_vec();
    values.sort_unstable();
    values.retain(|&value| valid(&feature.with(params, value), &session.formats));
    let own = feature.get(params);
    if !values.contains(&own) {
        values.push(own);
        values.sort_unstable();
    }
    let at = values
        .iter()
        .position(|&value| value == own)
        .expect("pushed");
    let mut ends = [at, at];
    for (end, direction) in [(0, -1isize), (1, 1)] {
        let most = if end == 0 { at } else { values.len() - 1 - at };
        // The furthest value known to agree, and the nearest known not to, in steps from the one found.
        let (mut good, mut bad) = (0, most + 1);
        let mut step = 1;
        while good + 1 < bad {
            let next = if bad <= most {
                good.midpoint(bad)
            } else {
                (good + step).min(most)
            };
            let value = values[(at as isize + direction * next as isize) as usize];
            match try_other(session, params, &feature.with(params, value))? {
                Apart::Refuted => bad = next,
                Apart::Same => good = next,
                Apart::Wrong(other) => return Ok(Break(other)),
            }
            step *= 2;
        }
        ends[end] = if end == 0 { at - good } else { at + good };
    }
    Ok(Continue(vec![(values[ends[0]], values[ends[1]])]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_readable() {
        let none = Feature::MinExponent.none().expect("may be none");
        let range = Unidentified {
            feature: Feature::MinExponent,
            consistent: vec![(none, -126)],
            reason: String::new(),
        };
        assert_eq!(range.values(), "none to -126");
        assert!(range.allows(-132) && range.allows(none) && !range.allows(-125));
    }
}
