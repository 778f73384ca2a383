//! Which features are certain: other values are told apart by a question, or no vector of these formats can.

use std::ops::ControlFlow::{self, Break, Continue};

use super::BlackBox;
use super::evidence::{domain, result, same_result, valid};
use super::family::{Family, Hints};
use super::feature::{Feature, Value, differing};
use super::fit::{Fit, Structure};
use super::reason::reason;
use super::session::Session;
use super::vector::Case;
use crate::error::Error;
use crate::model::{Params, Scheme};

/// So many times the usual number of vectors are tried before a feature is said to be undecided.
const LONG: usize = 12;

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

/// Pairs of numbers of which only the sum or difference shows. Gives other parameters when an answer refutes these.
fn moved_together<B: BlackBox>(
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
fn explain_otherwise<B: BlackBox>(
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
fn add_joint<B: BlackBox>(session: &Session<B>, found: &mut Identified) {
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

enum Outcome {
    Certain(Vec<Unidentified>, Vec<Params>),
    Other(Params),
}

/// What asking about an alternative came to.
enum Apart {
    /// An answer speaks against the alternative.
    Refuted,
    /// No vector was found on which the two differ.
    Same,
    /// An answer speaks against what was believed; parameters to go on with.
    Wrong(Params),
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

/// Is there an answer against `other`, or a question that would give one?
fn try_other<B: BlackBox>(
    session: &mut Session<B>,
    params: &Params,
    other: &Params,
) -> Result<Apart, Error> {
    if session.evidence.mismatches(other, &Family::ALL, 0) > 0 {
        return Ok(Apart::Refuted);
    }
    tell_apart(session, params, other)
}

/// Looks for vectors on which the two differ, and asks them.
fn tell_apart<B: BlackBox>(
    session: &mut Session<B>,
    params: &Params,
    other: &Params,
) -> Result<Apart, Error> {
    tell_apart_by(session, params, other, 1)
}

/// The same with `times` as many vectors.
fn tell_apart_by<B: BlackBox>(
    session: &mut Session<B>,
    params: &Params,
    other: &Params,
    times: usize,
) -> Result<Apart, Error> {
    let Some((family, case)) = separating(session, params, other, times) else {
        return Ok(Apart::Same);
    };
    let believed = result(&session.formats, params, &case);
    session.learn(family, vec![case.clone()])?;
    let answer = session.evidence.of(&[family]).last().expect("just asked").d;
    Ok(if same_result(session.formats.output, answer, believed) {
        Apart::Refuted
    } else if session.evidence.agrees(other) {
        Apart::Wrong(*other)
    } else {
        Apart::Wrong(session.fit().polish(*params, true).0)
    })
}

fn separating<B: BlackBox>(
    session: &mut Session<B>,
    params: &Params,
    other: &Params,
    times: usize,
) -> Option<(Family, Case)> {
    let mut hints: Hints = Fit::<'_>::hints(params);
    let more = Fit::<'_>::hints(other);
    hints.gaps.extend(more.gaps);
    hints.exponents.extend(more.exponents);
    hints.fma = hints.fma.max(more.fma).min(session.options.k);
    let formats = session.formats;
    let features = differing(params, other, formats.inputs(), formats.output);
    // Where they differ is the place to look at, more often than elsewhere.
    let bits = |feature: &&Feature| {
        feature.is_number()
            && feature.none().is_none_or(|none| none > 0)
            && **feature != Feature::Fma
    };
    for feature in features.iter().filter(bits) {
        let values = [params, other].map(|params| feature.get(params));
        let known = values
            .into_iter()
            .filter(|&value| feature.none() != Some(value));
        hints.gaps.extend(known.flat_map(|value| [value; 4]));
    }
    // Many vectors of the kind that shows what differs, some of the others.
    let of_features = features
        .iter()
        .flat_map(|&feature| Fit::<'_>::families_of(feature));
    let likely: Vec<Family> = of_features.collect();
    let rest = Family::ALL
        .into_iter()
        .filter(|family| !likely.contains(family));
    let mut order: Vec<(Family, usize)> = rest.map(|family| (family, 40)).collect();
    for &family in likely.iter().rev() {
        if !order.contains(&(family, 600)) {
            order.insert(0, (family, 600));
        }
    }
    for (family, count) in order {
        for case in session.draw(family, count * times, &hints) {
            let (x, y) = (
                result(&formats, params, &case),
                result(&formats, other, &case),
            );
            if !same_result(formats.output, x, y) {
                return Some((family, case));
            }
        }
    }
    None
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
