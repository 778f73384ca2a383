//! Questions that tell two units apart.

use super::BlackBox;
use super::evidence::{result, same_result};
use super::family::{Family, Hints};
use super::feature::{Feature, differing};
use super::fit::Fit;
use super::session::Session;
use super::vector::Case;
use crate::error::Error;
use crate::model::Params;

/// So many times the usual number of vectors are tried before a feature is said to be undecided.
pub const LONG: usize = 12;

/// What asking about an alternative came to.
pub enum Apart {
    /// An answer speaks against the alternative.
    Refuted,
    /// No vector was found on which the two differ.
    Same,
    /// An answer speaks against what was believed; parameters to go on with.
    Wrong(Params),
}

/// Is there an answer against `other`, or a question that would give one?
pub fn try_other<B: BlackBox>(
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
pub fn tell_apart<B: BlackBox>(
    session: &mut Session<B>,
    params: &Params,
    other: &Params,
) -> Result<Apart, Error> {
    tell_apart_by(session, params, other, 1)
}

/// The same with `times` as many vectors.
pub fn tell_apart_by<B: BlackBox>(
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

pub fn separating<B: BlackBox>(
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
