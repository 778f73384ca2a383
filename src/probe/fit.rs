//! From answers to parameters: each step finds the values of a few features on the vectors that show them, the others
//! as they are known by then; then everything is checked against every answer.

use super::evidence::{Evidence, Observation, domain, same_result, valid};
use super::family::{Family, Hints};
use super::feature::{Feature, Value};
use crate::format::{Format, Rounding};
use crate::model::{Conventions, Interleave, Params, Scheme};

/// Features that are tried together, and the families that show them.
type Step = (&'static [Feature], &'static [Family]);

const STEPS: &[Step] = &[
    (
        &[
            Feature::AlignmentBits,
            Feature::Rounding,
            Feature::DenormalProducts,
        ],
        &[Family::Products],
    ),
    (
        &[Feature::AlignmentBits, Feature::Rounding, Feature::Sticky],
        &[Family::Products, Family::Cancel, Family::Ties],
    ),
    (
        &[Feature::AlignmentRounding, Feature::Rounding],
        &[Family::Below, Family::Products],
    ),
    (
        &[
            Feature::DropCBeyond,
            Feature::AlignmentRounding,
            Feature::Rounding,
        ],
        &[Family::Below, Family::Products],
    ),
    (
        &[Feature::LateSumBits, Feature::LateTotalBits],
        &[Family::Above],
    ),
    (
        &[
            Feature::LateSumBits,
            Feature::LateTotalBits,
            Feature::AlignmentRounding,
        ],
        &[Family::Above, Family::Ties],
    ),
    (&[Feature::DenormalProducts], &[Family::Denormal]),
    (&[Feature::ZeroCExponent], &[Family::Tiny, Family::Products]),
    (&[Feature::MinExponent], &[Family::Tiny, Family::Products]),
    (
        &[Feature::InSubnormals, Feature::OutSubnormals],
        &[Family::Subnormal, Family::Tiny],
    ),
    (&[Feature::ProductLimit], &[Family::Huge]),
    (
        &[Feature::Conventions, Feature::NanAfterCut],
        &[Family::Specials, Family::Tiny, Family::Subnormal],
    ),
    (
        &[Feature::Conventions, Feature::Rounding, Feature::Sticky],
        &[Family::Blocks, Family::Dense, Family::Ties],
    ),
    (
        &[
            Feature::AlignmentBits,
            Feature::Sticky,
            Feature::DenormalProducts,
        ],
        &[Family::Products, Family::Denormal],
    ),
    (&[Feature::Fma], &[Family::Blocks, Family::Dense]),
];

/// Pairs that can stand in for each other, so that neither is found alone.
const LAST_STEPS: &[Step] = &[
    (
        &[Feature::AlignmentBits, Feature::MinExponent],
        &Family::ALL,
    ),
    (
        &[Feature::AlignmentBits, Feature::ZeroCExponent],
        &Family::ALL,
    ),
    (
        &[Feature::LateSumBits, Feature::LateTotalBits],
        &Family::ALL,
    ),
    (&[Feature::LateTotalBits, Feature::Rounding], &Family::ALL),
    (
        &[
            Feature::MinExponent,
            Feature::OutSubnormals,
            Feature::Conventions,
        ],
        &Family::ALL,
    ),
    (
        &[Feature::ZeroCExponent, Feature::AlignmentRounding],
        &Family::ALL,
    ),
];

/// So few wrong answers may be made up for by another feature.
const NEARLY: usize = 400;

/// A way of adding up, the first thing to know about a unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Structure {
    /// How a block is summed.
    pub scheme: Scheme,
    /// Is c added after the products?
    pub late_c: bool,
    /// Order of the elements.
    pub interleave: Interleave,
}

impl Structure {
    /// All of them, the ones that are easier to tell first.
    pub const ALL: [Structure; 8] = [
        Structure::of(Scheme::SequentialFma, false, Interleave::None),
        Structure::of(Scheme::CorrectRounding, false, Interleave::None),
        Structure::of(Scheme::PairwiseSum, false, Interleave::None),
        Structure::of(Scheme::GlobalAlignment, false, Interleave::None),
        Structure::of(Scheme::GlobalAlignment, true, Interleave::None),
        Structure::of(Scheme::OddEvenGrouping, true, Interleave::None),
        Structure::of(Scheme::GlobalAlignment, false, Interleave::Mod4),
        Structure::of(Scheme::GlobalAlignment, true, Interleave::Mod4),
    ];

    const fn of(scheme: Scheme, late_c: bool, interleave: Interleave) -> Structure {
        Structure {
            scheme,
            late_c,
            interleave,
        }
    }

    /// The structure of a unit.
    pub fn from_params(params: &Params) -> Structure {
        let global = params.scheme == Scheme::GlobalAlignment;
        Structure {
            scheme: params.scheme,
            late_c: params.adds_c_late(),
            interleave: if global {
                params.interleave
            } else {
                Interleave::None
            },
        }
    }

    /// A unit of this structure to begin with.
    pub fn start(self, fma: u32, output: Format) -> Params {
        let amd = matches!(
            self.scheme,
            Scheme::CorrectRounding | Scheme::PairwiseSum | Scheme::OddEvenGrouping
        ) || self.late_c;
        Params {
            scheme: self.scheme,
            late_c: self.late_c && self.scheme == Scheme::GlobalAlignment,
            interleave: self.interleave,
            fma,
            alignment_bits: 24,
            alignment_rounding: Rounding::Down,
            rounding: if amd || output == Format::Fp16 {
                Rounding::NearestEven
            } else {
                Rounding::TowardZero
            },
            late_sum_bits: 32,
            conventions: if amd {
                Conventions::Amd
            } else {
                Conventions::Nvidia
            },
            ..Params::default()
        }
    }
}

/// Fits parameters to answers.
pub struct Fit<'a> {
    /// The answers.
    pub evidence: &'a Evidence<'a>,
    /// Longest vector.
    pub k: usize,
    /// How many answers of each family count while features are tried.
    pub cap: usize,
}

impl<'a> Fit<'a> {
    fn applies(&self, feature: Feature, params: &Params) -> bool {
        let formats = self.evidence.formats;
        feature.applies(params, formats.inputs(), formats.output)
    }

    /// Number of answers that the parameters do not give.
    pub fn mismatches(&self, params: &Params) -> usize {
        self.evidence
            .mismatches(params, &Family::ALL, usize::MAX - 1)
    }

    /// Tries all values of some features together, on some families, and keeps the best. Says whether it got better.
    pub fn improve(
        &self,
        params: &mut Params,
        features: &[Feature],
        families: &'a [Family],
    ) -> bool {
        let used: Vec<Feature> = features
            .iter()
            .copied()
            .filter(|&feature| self.applies(feature, params))
            .collect();
        if used.is_empty() {
            return false;
        }
        let count = |params: &Params, limit: usize| {
            self.evidence
                .mismatches_among(params, families, limit, self.cap)
        };
        let mut best = count(params, usize::MAX - 1);
        let before = best;
        let start = *params;
        let mut failing = self.failing(params, families);
        let domains: Vec<Vec<Value>> = used
            .iter()
            .map(|&feature| domain(feature, &self.evidence.formats, self.k))
            .collect();
        let candidates: usize = domains.iter().map(Vec::len).product();
        for index in 0..candidates {
            if best == 0 || self.evidence.exhausted() {
                break;
            }
            let mut candidate = start;
            let mut rest = index;
            for (feature, values) in used.iter().zip(&domains) {
                feature.set(&mut candidate, values[rest % values.len()]);
                rest /= values.len();
            }
            self.make_consistent(&mut candidate, &used);
            if candidate == *params || !valid(&candidate, &self.evidence.formats) {
                continue;
            }
            // What is right in none of the cases that are wrong so far cannot be better.
            let mends = |seen: &&Observation| {
                let d = self.evidence.result(&candidate, seen);
                same_result(self.evidence.formats.output, d, seen.d)
            };
            if !failing.iter().any(mends) {
                continue;
            }
            let mismatches = count(&candidate, best - 1);
            if mismatches < best {
                best = mismatches;
                *params = candidate;
                failing = self.failing(params, families);
            }
        }
        best < before
    }

    /// The answers among those that count which the parameters do not give.
    fn failing(&self, params: &Params, families: &'a [Family]) -> Vec<&'a Observation> {
        let wrong = |seen: &&Observation| {
            let d = self.evidence.result(params, seen);
            !same_result(self.evidence.formats.output, d, seen.d)
        };
        self.evidence
            .among(families, self.cap)
            .filter(wrong)
            .collect()
    }

    /// A sum of products keeps at least the alignment bits when it is shifted.
    fn make_consistent(&self, params: &mut Params, tried: &[Feature]) {
        if !tried.contains(&Feature::LateSumBits) {
            params.late_sum_bits = params.late_sum_bits.max(params.alignment_bits);
        }
    }

    /// The best parameters of the start's structure, and on how many answers they differ.
    pub fn fit(&self, start: Params, rounds: usize) -> (Params, usize) {
        let mut best = (start, self.mismatches(&start));
        let mut params = start;
        for _ in 0..rounds {
            if best.1 == 0 {
                return best;
            }
            for (features, families) in STEPS {
                self.improve(&mut params, features, families);
            }
            let mismatches = self.mismatches(&params);
            if mismatches >= best.1 {
                break;
            }
            best = (params, mismatches);
        }
        best
    }

    /// Makes parameters that are nearly right agree with every answer, if that can be: one feature after the other, then
    /// pairs, on all answers.
    pub fn polish(&self, params: Params, thorough: bool) -> (Params, usize) {
        let mut params = params;
        let mut left = self.mismatches(&params);
        // Far from right, single features tell nothing.
        if left * 4 > self.evidence.len() {
            return (params, left);
        }
        for _ in 0..6 {
            let before = left;
            for feature in Feature::ALL {
                if left > 0
                    && feature != Feature::Scheme
                    && self.improve(&mut params, &[feature], &Family::ALL)
                {
                    left = self.mismatches(&params);
                }
            }
            if left == before && thorough && left * 8 <= self.evidence.len() {
                for (features, families) in LAST_STEPS {
                    if left > 0 && self.improve(&mut params, features, families) {
                        left = self.mismatches(&params);
                    }
                }
            }
            if left == 0 || left == before {
                break;
            }
        }
        (params, left)
    }

    /// Tries the values of all pairs of features, as long as that helps: each may be right only with the other.
    pub fn polish_pairs(&self, params: Params) -> (Params, usize) {
        let mut params = params;
        let mut left = self.mismatches(&params);
        loop {
            let before = left;
            for (i, &x) in Feature::ALL.iter().enumerate() {
                for &y in &Feature::ALL[i + 1..] {
                    let structural = x == Feature::Scheme || y == Feature::Scheme;
                    if left > 0 && !structural && self.improve(&mut params, &[x, y], &Family::ALL) {
                        left = self.mismatches(&params);
                    }
                }
            }
            if left == 0 || left == before || self.evidence.exhausted() {
                return (params, left);
            }
        }
    }

    /// Parameters with the same value of `feature` that give every answer, if changing some others brings them there
    /// one by one from a start that is nearly right.
    pub fn make_up(&self, start: Params, feature: Feature) -> Option<Params> {
        let mut params = start;
        let mut left = self.evidence.mismatches(&params, &Family::ALL, NEARLY);
        while left > 0 {
            if left > NEARLY || self.evidence.exhausted() {
                return None;
            }
            (params, left) = self.mend_first(&params, feature, left)?;
        }
        Some(params)
    }

    /// Parameters that give every answer, found by changing one feature of parameters that are nearly right, for the
    /// worse, and making up for it with others: out of where each change alone makes it worse.
    pub fn detour(&self, params: &Params) -> Option<Params> {
        Feature::ALL.into_iter().find_map(|feature| {
            let values = self.others(feature, params);
            values.into_iter().find_map(|value| {
                let start = feature.with(params, value);
                let possible = valid(&start, &self.evidence.formats);
                possible.then(|| self.make_up(start, feature))?
            })
        })
    }

    /// Other values of a feature to begin a detour with: those of a flag or a list, a number's neighbours and none, every
    /// number of bits where there is no such step. The structure stays.
    pub fn others(&self, feature: Feature, params: &Params) -> Vec<Value> {
        let structural = matches!(
            feature,
            Feature::Scheme | Feature::LateC | Feature::Interleave | Feature::Fma
        );
        if structural || !self.applies(feature, params) {
            return Vec::new();
        }
        let own = feature.get(params);
        let exponent = matches!(feature, Feature::MinExponent | Feature::ZeroCExponent);
        let mut values = match feature.none() {
            Some(none) if none == own && exponent => Vec::new(),
            none if none != Some(own) && feature.is_number() => {
                none.into_iter().chain([own - 1, own + 1]).collect()
            }
            _ => domain(feature, &self.evidence.formats, self.k),
        };
        values.retain(|&value| value != own);
        values
    }

    /// Changes one feature other than `kept` so that the first wrong answer becomes right, and fewer are wrong than were.
    fn mend_first(&self, params: &Params, kept: Feature, left: usize) -> Option<(Params, usize)> {
        let wrong = |params: &Params, seen: &Observation| {
            let d = self.evidence.result(params, seen);
            !same_result(self.evidence.formats.output, d, seen.d)
        };
        let first = self
            .evidence
            .of(&Family::ALL)
            .find(|seen| wrong(params, seen))?;
        let mut best: Option<(Params, usize)> = None;
        for other in Feature::ALL {
            let fixed = other == kept || matches!(other, Feature::Scheme | Feature::Fma);
            if fixed || !self.applies(other, params) {
                continue;
            }
            for value in domain(other, &self.evidence.formats, self.k) {
                let candidate = other.with(params, value);
                if candidate == *params
                    || !valid(&candidate, &self.evidence.formats)
                    || wrong(&candidate, first)
                {
                    continue;
                }
                let limit = best.map_or(left, |(_, least)| least) - 1;
                let count = self.evidence.mismatches(&candidate, &Family::ALL, limit);
                if count <= limit {
                    best = Some((candidate, count));
                }
                if count == 0 {
                    return best;
                }
            }
        }
        best
    }

    /// The families whose vectors show a feature best.
    pub fn families_of(feature: Feature) -> Vec<Family> {
        let steps = STEPS.iter().filter(|step| step.0.contains(&feature));
        let mut families: Vec<Family> = Vec::new();
        for family in steps.flat_map(|step| step.1) {
            if !families.contains(family) {
                families.push(*family);
            }
        }
        families
    }

    /// Where vectors are worth asking once parameters are known.
    pub fn hints(params: &Params) -> Hints {
        let mut gaps = vec![
            params.alignment_bits as i32,
            params.late_sum_bits as i32,
            params.late_sum_bits as i32 - params.alignment_bits as i32,
        ];
        gaps.extend(params.late_total_bits.map(|bits| bits as i32));
        gaps.extend(params.drop_c_beyond.map(|bits| bits as i32));
        let mut exponents = Vec::new();
        for exponent in [params.min_exponent, params.zero_c_exponent]
            .into_iter()
            .flatten()
        {
            exponents.extend([
                exponent,
                exponent - params.alignment_bits as i32,
                exponent - params.late_sum_bits as i32,
            ]);
        }
        Hints {
            gaps,
            exponents,
            fma: params.fma as usize,
            result: matches!(
                params.scheme,
                Scheme::GlobalAlignment | Scheme::OddEvenGrouping
            )
            .then_some(params.alignment_bits as i32),
        }
    }
}
