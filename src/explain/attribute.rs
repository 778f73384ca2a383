//! Which features make two units differ on given inputs.

use super::{check_case, shared_formats};
use crate::error::Error;
use crate::model::{Model, Params};
use crate::probe::{Case, Feature, Formats, differing, same_result};
use crate::reference::dot_raw;

/// Features that, given to one unit from the other, give it the other's result; no smaller set of theirs does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cause {
    /// The features, one where a single one is to blame.
    pub features: Vec<Feature>,
    /// On how many cases.
    pub cases: usize,
    /// The first of these, by its place among the cases.
    pub first: usize,
}

/// What [`attribute`] finds.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Attribution {
    /// Cases on which the units differ.
    pub differing: usize,
    /// The causes, the most frequent first. A case may have several, each of which suffices alone.
    pub causes: Vec<Cause>,
}

/// Largest set of features that is tried before all that differ are named together.
const MOST_FEATURES: usize = 3;

/// Switches features of `x` to what `y` has, one at a time, then two, then three, until the results of `y` come out.
pub fn attribute(x: &Model, y: &Model, cases: &[Case]) -> Result<Attribution, Error> {
    let formats = shared_formats(x, y)?;
    let features = differing(x.params(), y.params(), formats.inputs(), formats.output);
    let mut found = Attribution::default();
    for (place, case) in cases.iter().enumerate() {
        check_case(case)?;
        let result = |model: &Model| dot_raw(model.unit(), &case.a, &case.b, case.c);
        let (from, to) = (result(x), result(y));
        if same_result(formats.output, from, to) {
            continue;
        }
        found.differing += 1;
        for features in causes(x.params(), y.params(), &features, &formats, case, to) {
            match found
                .causes
                .iter_mut()
                .find(|cause| cause.features == features)
            {
                Some(cause) => cause.cases += 1,
                None => found.causes.push(Cause {
                    features,
                    cases: 1,
                    first: place,
                }),
            }
        }
    }
    found.causes.sort_by(|p, q| {
        q.cases
            .cmp(&p.cases)
            .then(p.features.len().cmp(&q.features.len()))
    });
    Ok(found)
}

/// The smallest sets of features that turn x's result on a case into `wanted`.
fn causes(
    x: &Params,
    y: &Params,
    features: &[Feature],
    formats: &Formats,
    case: &Case,
    wanted: u64,
) -> Vec<Vec<Feature>> {
    for size in 1..=MOST_FEATURES.min(features.len()) {
        let mut sets = Vec::new();
        for_each_set(features, size, &mut |set| {
            let mut params = *x;
            for feature in set {
                feature.set(&mut params, feature.get(y));
            }
            let Ok(model) = Model::from_params(params, formats.a, formats.b, formats.output) else {
                return;
            };
            let d = dot_raw(model.unit(), &case.a, &case.b, case.c);
            if same_result(formats.output, d, wanted) {
                sets.push(set.to_vec());
            }
        });
        if !sets.is_empty() {
            return sets;
        }
    }
    vec![features.to_vec()]
}

/// Calls `visit` with every subset of `size` features.
fn for_each_set(features: &[Feature], size: usize, visit: &mut impl FnMut(&[Feature])) {
    fn choose(
        features: &[Feature],
        size: usize,
        set: &mut Vec<Feature>,
        visit: &mut impl FnMut(&[Feature]),
    ) {
        if size == 0 {
            visit(set);
            return;
        }
        for (i, &feature) in features.iter().enumerate() {
            set.push(feature);
            choose(&features[i + 1..], size - 1, set, visit);
            set.pop();
        }
    }
    choose(features, size, &mut Vec::new(), visit);
}

impl std::fmt::Display for Attribution {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "different on {} cases", self.differing)?;
        for cause in &self.causes {
            let names: Vec<&str> = cause
                .features
                .iter()
                .map(|feature| feature.name())
                .collect();
            writeln!(
                f,
                "  {:<40} {} cases, first case {}",
                names.join(" + "),
                cause.cases,
                cause.first
            )?;
        }
        Ok(())
    }
}
