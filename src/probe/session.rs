//! One probing: asking, fitting, asking again where it matters.

use super::evidence::{Evidence, Watch, domain, valid};
use super::family::{Family, Hints, Source};
use super::fit::{Fit, Structure};
use super::random::Random;
use super::vector::{Case, Draft, Formats, Number, Split};
use super::{BlackBox, Options};
use crate::error::{Error, ErrorCode};
use crate::model::{Params, Scheme};

/// Families whose vectors depend least on anything but the structure.
const CORE: &[Family] = &[
    Family::Products,
    Family::Below,
    Family::Cancel,
    Family::Ties,
    Family::Denormal,
    Family::Blocks,
];

/// A black box, what has been asked of it, and what it said.
pub struct Session<'p, B> {
    pub formats: Formats,
    pub options: Options,
    pub evidence: Evidence<'p>,
    pub rng: Random,
    /// Structures that came near, with what they gave on the first questions.
    pub near: Vec<(Structure, Params)>,
    unit: B,
}

impl<'p, B: BlackBox> Session<'p, B> {
    pub fn new(
        formats: Formats,
        options: Options,
        watch: Option<Box<Watch<'p>>>,
        unit: B,
    ) -> Session<'p, B> {
        Session {
            formats,
            options,
            evidence: Evidence::new(formats, watch),
            rng: Random::new(options.seed),
            near: Vec::new(),
            unit,
        }
    }

    /// An error if the watch has ended the probe.
    pub fn go_on(&self) -> Result<(), Error> {
        if self.evidence.cancelled() {
            return Err(Error::new(
                ErrorCode::Cancelled,
                "the probe was cancelled".to_string(),
            ));
        }
        Ok(())
    }

    /// Asks without keeping the answers as evidence.
    pub fn ask(&mut self, cases: &[Case]) -> Result<Vec<u64>, Error> {
        self.go_on()?;
        if cases.is_empty() {
            return Ok(Vec::new());
        }
        let answers = self.unit.answer(cases)?;
        if answers.len() != cases.len() {
            return Err(Error::new(
                ErrorCode::InvalidArgument,
                format!(
                    "the black box gave {} results for {} cases",
                    answers.len(),
                    cases.len()
                ),
            ));
        }
        let bits = self.formats.output.info().storage_bits;
        let mask = u64::MAX >> (64 - bits);
        Ok(answers.into_iter().map(|d| d & mask).collect())
    }

    /// Asks and keeps the answers.
    pub fn learn(&mut self, family: Family, cases: Vec<Case>) -> Result<(), Error> {
        let answers = self.ask(&cases)?;
        for (case, d) in cases.into_iter().zip(answers) {
            self.evidence.add(family, case, d);
        }
        Ok(())
    }

    fn least(&self) -> usize {
        if self.options.fixed {
            self.options.k
        } else {
            1
        }
    }

    /// Vectors of a family.
    pub fn draw(&mut self, family: Family, count: usize, hints: &Hints) -> Vec<Case> {
        let source = Source {
            formats: self.formats,
            k: self.options.k,
            least: self.least(),
            hints,
        };
        source.many(family, count, &mut self.rng)
    }

    /// The first questions of every family.
    pub fn ask_families(&mut self) -> Result<(), Error> {
        let hints = Hints {
            fma: 8.min(self.options.k),
            ..Hints::default()
        };
        for family in Family::ALL {
            let cases = self.draw(family, self.options.vectors, &hints);
            self.learn(family, cases)?;
        }
        Ok(())
    }

    /// More questions, around the places where these parameters do something.
    pub fn ask_around(&mut self, params: &Params, count: usize) -> Result<(), Error> {
        let mut hints = Fit::<'_>::hints(params);
        hints.fma = hints.fma.min(self.options.k);
        for family in Family::ALL {
            let cases = self.draw(family, count, &hints);
            self.learn(family, cases)?;
        }
        Ok(())
    }

    pub fn fit(&self) -> Fit<'_> {
        Fit {
            evidence: &self.evidence,
            k: self.options.k,
            cap: usize::MAX,
        }
    }

    /// Sizes of a block that fit how results change when a pair of neighbouring products moves along the vector.
    fn block_sizes(&mut self) -> Result<Vec<u32>, Error> {
        let k = self.options.k;
        let result = self.formats.result_bits();
        let (low, high) = self.formats.product_exponents();
        let mut sequences: Vec<Vec<u64>> = Vec::new();
        for set in 0..14 {
            let top = (high - 1).min(6).max(low + 2);
            let gap = match set % 4 {
                0 => result + 1,
                1 => self.rng.range(0, 40),
                2 => result,
                _ => self.rng.range(result, result + 8),
            };
            let first = Number {
                negative: set % 3 == 0,
                significand: self.rng.pick(&[1, 3]),
                unit: top - gap,
            };
            let second = Number {
                negative: self.rng.one_in(2),
                significand: self.rng.pick(&[1, 3]),
                unit: top - gap - self.rng.range(0, 2),
            };
            let c = Number::power(top).signed(self.rng.one_in(2));
            let (c, first) = match set % 2 {
                0 => (c, first),
                _ => (Number::ZERO, first.signed(!second.negative)),
            };
            let mut cases = Vec::new();
            for j in 0..k - 1 {
                let mut draft = Draft::new(self.formats);
                let put = draft
                    .product(j, first, Split::Plain)
                    .and_then(|()| draft.product(j + 1, second, Split::Plain))
                    .and_then(|()| draft.addend(c));
                if put.is_some() {
                    cases.push(draft.case(k));
                }
            }
            if cases.len() == k - 1 {
                sequences.push(self.ask(&cases)?);
                let d = sequences.last().expect("just pushed").clone();
                for (case, d) in cases.into_iter().zip(d).step_by(8) {
                    self.evidence.add(Family::Blocks, case, d);
                }
            }
        }
        let mut sizes: Vec<u32> = Vec::new();
        // The smallest period, the last two blocks left out: nothing follows them.
        let period = (1..=k / 2).find(|&size| {
            sequences
                .iter()
                .all(|d| (0..(k - 1).saturating_sub(2 * size)).all(|j| d[j] == d[j + size]))
        });
        let changes =
            |step: usize| (step..k - 1).find(|&j| sequences.iter().any(|d| d[j] != d[j - step]));
        sizes.extend(period.filter(|&size| size > 1).map(|size| size as u32));
        sizes.extend([4, 1].into_iter().filter_map(changes).map(|j| j as u32 + 1));
        if sizes.is_empty() {
            sizes.extend([1, k as u32]);
        }
        let mut unique = Vec::new();
        for size in sizes {
            if !unique.contains(&size) {
                unique.push(size);
            }
        }
        Ok(unique)
    }

    /// Parameters that give every answer so far, or come nearest, and the number of answers that they do not give.
    pub fn find(&mut self) -> Result<(Params, usize), Error> {
        let sizes = self.block_sizes()?;
        let mut best: Option<(Params, usize)> = None;
        for round in 0..4 {
            let (params, left) = match best {
                Some((params, 0)) => (params, 0),
                Some((params, left)) => {
                    let polished = self.fit().polish(params, true);
                    if polished.1 == 0 {
                        polished
                    } else {
                        self.search(&sizes, Some((polished.0, left.min(polished.1))))
                    }
                }
                None => self.search(&sizes, None),
            };
            best = Some((params, left));
            if round < 3 {
                self.ask_around(&params, self.options.vectors / 2)?;
                best = Some((params, self.fit().mismatches(&params)));
            }
            if round > 0 && best.is_some_and(|(_, left)| left == 0) {
                break;
            }
        }
        Ok(best.expect("a search always finds something"))
    }

    /// Fits every structure, the most promising first, until one gives every answer.
    fn search(&mut self, sizes: &[u32], known: Option<(Params, usize)>) -> (Params, usize) {
        // With every size that the unit may have: the wrong one hides a structure.
        let mut ranked: Vec<((usize, usize), Structure, Params)> = Vec::new();
        let quick = Fit {
            cap: 50,
            ..self.fit()
        };
        for structure in Structure::ALL {
            for start in self.starts(structure, sizes) {
                let mut params = start;
                for _ in 0..2 {
                    for (features, families) in CORE_STEPS {
                        quick.improve(&mut params, features, families);
                    }
                }
                let count = |families: &[Family], cap: usize| {
                    self.evidence
                        .mismatches_among(&params, families, usize::MAX - 1, cap)
                };
                let left = (count(CORE, usize::MAX), count(&Family::ALL, 100));
                ranked.push((left, structure, params));
            }
        }
        ranked.sort_by_key(|entry| (entry.0.0 + entry.0.1, entry.0));
        let core = self.evidence.of(CORE).count();
        let near = ranked.iter().filter(|entry| entry.0.0 * 12 <= core);
        let mut kept: Vec<(Structure, Params)> = Vec::new();
        for &(_, structure, params) in near {
            if kept.iter().all(|entry| entry.0 != structure) {
                kept.push((structure, params));
            }
        }
        self.near = kept;

        let fit = self.fit();
        let all = self.evidence.len();
        let mut best = known;
        let mut fitted: Vec<(usize, Params)> = Vec::new();
        let mut tried: Vec<Params> = Vec::new();
        for (_, _, params) in ranked {
            if tried.len() >= 8 || tried.contains(&params) {
                continue;
            }
            tried.push(params);
            let (mut params, mut left) = fit.fit(params, 4);
            if left > 0 && left * 8 <= all {
                (params, left) = fit.polish(params, false);
            }
            if best.is_none_or(|(_, least)| left < least) {
                best = Some((params, left));
            }
            if left == 0 {
                break;
            }
            fitted.push((left, params));
        }
        if best.is_none_or(|(_, left)| left > 0) {
            fitted.sort_by_key(|entry| entry.0);
            for (_, params) in fitted.into_iter().take(3) {
                let (params, left) = fit.polish(params, true);
                if best.is_none_or(|(_, least)| left < least) {
                    best = Some((params, left));
                }
                if left == 0 {
                    break;
                }
            }
        }
        let best = best.expect("there are structures");
        if best.1 == 0 {
            return best;
        }
        self.search_on(best)
    }

    /// Where steps that better a few features at a time have led nowhere: pairs of any features, and other places to
    /// begin at, drawn at random.
    pub fn search_on(&mut self, best: (Params, usize)) -> (Params, usize) {
        self.evidence.allow_more();
        let mut best = best;
        let near: Vec<Params> = self.near.iter().map(|entry| entry.1).collect();
        let mut starts = vec![best.0];
        starts.extend(near);
        for round in 0.. {
            let fit = self.fit();
            for &start in &starts {
                let (mut params, mut left) = fit.fit(start, 4);
                if left > 0 {
                    (params, left) = fit.polish(params, true);
                }
                if left > 0
                    && let Some(found) = fit.detour(&params)
                {
                    return (found, 0);
                }
                if left > 0 && left <= FEW {
                    (params, left) = fit.polish_pairs(params);
                }
                if left < best.1 {
                    best = (params, left);
                }
                if best.1 == 0 || fit.evidence.exhausted() {
                    return best;
                }
            }
            if round == ROUNDS {
                break;
            }
            let near = self.near.clone();
            starts = near.iter().map(|entry| self.elsewhere(&entry.1)).collect();
        }
        best
    }

    /// Parameters of the same structure with some features drawn at random.
    fn elsewhere(&mut self, params: &Params) -> Params {
        let mut other = *params;
        for feature in Feature::ALL {
            let formats = self.formats;
            let fixed = matches!(
                feature,
                Feature::Scheme | Feature::LateC | Feature::Interleave | Feature::Fma
            );
            let applies = feature.applies(&other, formats.inputs(), formats.output);
            if fixed || !applies || !self.rng.one_in(2) {
                continue;
            }
            let values = domain(feature, &formats, self.options.k);
            let moved = feature.with(&other, self.rng.pick(&values));
            if valid(&moved, &formats) {
                other = moved;
            }
        }
        other
    }

    /// Units of a structure to begin with.
    fn starts(&self, structure: Structure, sizes: &[u32]) -> Vec<Params> {
        let usual = [8u32];
        let sizes = sizes.iter().chain(&usual);
        let starts = sizes.map(|&size| structure.start(size, self.formats.output));
        let mut starts: Vec<Params> = starts.filter(|start| valid(start, &self.formats)).collect();
        if structure.scheme == Scheme::SequentialFma {
            starts.truncate(1);
        }
        starts
    }
}

use super::feature::Feature;

/// So few wrong answers make it cheap to try pairs of features.
const FEW: usize = 64;
/// How often the search begins elsewhere.
const ROUNDS: usize = 12;

/// What is fitted before structures are ranked.
const CORE_STEPS: &[(&[Feature], &[Family])] = &[
    (
        &[
            Feature::InSubnormals,
            Feature::OutSubnormals,
            Feature::Rounding,
        ],
        &[Family::Subnormal, Family::Products],
    ),
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
    // Conventions say in what format c goes from block to block.
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
    (
        &[Feature::AlignmentRounding, Feature::Rounding],
        &[Family::Below, Family::Products],
    ),
    (
        &[Feature::InSubnormals, Feature::OutSubnormals],
        &[Family::Subnormal, Family::Products],
    ),
    (
        &[Feature::DropCBeyond, Feature::AlignmentRounding],
        &[Family::Below],
    ),
    (&[Feature::LateSumBits], &[Family::Cancel, Family::Ties]),
    (&[Feature::LateTotalBits], &[Family::Above, Family::Ties]),
    (&[Feature::ZeroCExponent], &[Family::Products, Family::Tiny]),
    (&[Feature::MinExponent], &[Family::Products, Family::Tiny]),
    (&[Feature::Fma], &[Family::Blocks]),
];
