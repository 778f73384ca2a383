//! What the black box has answered, and how well parameters agree with it.

use std::cell::Cell;
use std::time::{Duration, Instant};

use super::family::Family;
use super::feature::{Feature, Value};
use super::vector::{Case, Formats};
use crate::format::{Class, Decoded, Format, decode};
use crate::model::Params;
use crate::reference::{Operand, Unit, dot, dot_raw};

/// A vector with the black box's answer.
#[derive(Clone, Debug)]
pub struct Observation {
    /// The question.
    pub case: Case,
    /// The answer, an encoding of the output format.
    pub d: u64,
    decoded: Decodings,
}

/// A case as the reference wants it.
#[derive(Clone, Debug)]
struct Decodings {
    a: Vec<Decoded>,
    b: Vec<Decoded>,
    c: Operand,
}

/// All answers so far, by family.
pub struct Evidence<'p> {
    /// Formats around the unit.
    pub formats: Formats,
    families: Vec<(Family, Vec<Observation>)>,
    /// Results of parameters that may still be computed: a unit that no parameters describe must not be fitted for ever.
    effort: Cell<u64>,
    last_effort: Cell<u64>,
    /// Is told how much of the effort has been spent, and says whether to go on.
    watch: Option<Box<Watch<'p>>>,
    told: Cell<Instant>,
    cancelled: Cell<bool>,
}

/// Who is told how far a probe is, as a part of 1; gives whether to go on.
pub type Watch<'p> = dyn Fn(f64) -> bool + 'p;

/// So many results are computed before the time is looked at, and so often the watch is told.
const RESULTS_A_LOOK: u64 = 256;
const TELLING: Duration = Duration::from_millis(50);

/// Results that one probing computes at most while it fits; a second or a few.
const EFFORT: u64 = 16_000_000;
/// Results beyond those, once, where nothing else has helped.
const LAST_EFFORT: u64 = 64_000_000;

/// Are two results the same? NaNs need only have the same sign, since units disagree about the rest, except where they
/// pass NaNs on (binary64).
pub fn same_result(output: Format, x: u64, y: u64) -> bool {
    if x == y {
        return true;
    }
    let nan = |bits| decode(output, bits).class == Class::Nan;
    output != Format::Fp64 && nan(x) && nan(y) && (x ^ y) & output.info().sign_bit() == 0
}

impl<'p> Evidence<'p> {
    /// No answer yet.
    pub fn new(formats: Formats, watch: Option<Box<Watch<'p>>>) -> Evidence<'p> {
        Evidence {
            formats,
            families: Family::ALL
                .iter()
                .map(|&family| (family, Vec::new()))
                .collect(),
            effort: EFFORT.into(),
            last_effort: LAST_EFFORT.into(),
            watch,
            told: Cell::new(Instant::now()),
            cancelled: Cell::new(false),
        }
    }

    /// Takes an answer.
    pub fn add(&mut self, family: Family, case: Case, d: u64) {
        let read = |format, x: &[u64]| x.iter().map(|&bits| decode(format, bits)).collect();
        let decoded = Decodings {
            a: read(self.formats.a, &case.a),
            b: read(self.formats.b, &case.b),
            c: Operand::new(self.formats.output, case.c),
        };
        let list = self.families.iter_mut().find(|entry| entry.0 == family);
        let list = list.expect("every family has its list");
        list.1.push(Observation { case, d, decoded });
    }

    /// Has fitting cost as much as it may, or has the watch ended it?
    pub fn exhausted(&self) -> bool {
        self.effort.get() == 0 || self.cancelled.get()
    }

    /// Has the watch ended the probe?
    pub fn cancelled(&self) -> bool {
        self.cancelled.get()
    }

    /// Takes note of one more result, and tells the watch now and then.
    fn spend(&self) {
        let left = self.effort.get().saturating_sub(1);
        self.effort.set(left);
        if self.cancelled.get()
            || !left.is_multiple_of(RESULTS_A_LOOK)
            || self.told.get().elapsed() < TELLING
        {
            return;
        }
        self.told.set(Instant::now());
        let unspent = (left + self.last_effort.get()) as f64;
        let done = 1.0 - unspent / (EFFORT + LAST_EFFORT) as f64;
        if self.watch.as_ref().is_some_and(|watch| !watch(done)) {
            self.cancelled.set(true);
        }
    }

    /// Lets fitting cost more, the first time it is called.
    pub fn allow_more(&self) {
        self.effort.set(self.effort.get() + self.last_effort.take());
    }

    /// Number of answers.
    pub fn len(&self) -> usize {
        self.families.iter().map(|entry| entry.1.len()).sum()
    }

    /// All answers of some families, or of all.
    pub fn of<'a>(&'a self, families: &'a [Family]) -> impl Iterator<Item = &'a Observation> {
        self.among(families, usize::MAX)
    }

    /// The first `cap` answers of each of some families.
    pub fn among<'a>(
        &'a self,
        families: &'a [Family],
        cap: usize,
    ) -> impl Iterator<Item = &'a Observation> {
        let chosen = self
            .families
            .iter()
            .filter(|entry| families.contains(&entry.0));
        chosen.flat_map(move |entry| entry.1.iter().take(cap))
    }

    /// What a unit with these parameters answers.
    pub fn result(&self, params: &Params, seen: &Observation) -> u64 {
        self.spend();
        if params.nan_after_cut {
            // What the unit sees of a word depends on the feature.
            return result(&self.formats, params, &seen.case);
        }
        let Decodings { a, b, c } = &seen.decoded;
        dot(unit(&self.formats, params), a, b, *c)
    }

    /// On how many answers of some families do the parameters differ from the black box? Counts no further than
    /// `limit` + 1.
    pub fn mismatches(&self, params: &Params, families: &[Family], limit: usize) -> usize {
        self.mismatches_among(params, families, limit, usize::MAX)
    }

    /// The same, among the first `cap` answers of each family.
    pub fn mismatches_among(
        &self,
        params: &Params,
        families: &[Family],
        limit: usize,
        cap: usize,
    ) -> usize {
        let mut count = 0;
        for seen in self.among(families, cap) {
            if !same_result(self.formats.output, self.result(params, seen), seen.d) {
                count += 1;
                if count > limit {
                    break;
                }
            }
        }
        count
    }

    /// Do the parameters agree with every answer?
    pub fn agrees(&self, params: &Params) -> bool {
        valid(params, &self.formats) && self.mismatches(params, &Family::ALL, 0) == 0
    }

    /// The first answers on which the parameters differ from the black box, with what they give.
    pub fn differences(&self, params: &Params, most: usize) -> Vec<(Case, u64, u64)> {
        let all = self.of(&Family::ALL);
        let different = all.filter_map(|seen| {
            let d = self.result(params, seen);
            (!same_result(self.formats.output, d, seen.d)).then(|| (seen.case.clone(), seen.d, d))
        });
        different.take(most).collect()
    }
}

/// Is there such a unit?
pub fn valid(params: &Params, formats: &Formats) -> bool {
    params.check(formats.inputs(), formats.output).is_ok()
}

fn unit<'a>(formats: &Formats, params: &'a Params) -> Unit<'a> {
    Unit {
        params,
        a: formats.a,
        b: formats.b,
        output: formats.output,
    }
}

/// The result of a unit with these parameters.
pub fn result(formats: &Formats, params: &Params, case: &Case) -> u64 {
    dot_raw(unit(formats, params), &case.a, &case.b, case.c)
}

/// The values of a feature that can make a difference between units with these formats, vectors of length `k`.
pub fn domain(feature: Feature, formats: &Formats, k: usize) -> Vec<Value> {
    let (lowest, highest) = exponent_range(formats);
    let bits = Params::MAX_BITS as Value;
    match feature {
        Feature::Scheme => (0..5).collect(),
        Feature::Fma => (1..=k as Value).collect(),
        Feature::AlignmentBits => (1..=bits).collect(),
        Feature::LateSumBits => (1..=bits).collect(),
        Feature::LateTotalBits => (0..=bits).chain(feature.none()).collect(),
        Feature::DropCBeyond => {
            let widest =
                (formats.product_exponents().1 + 2 - formats.output.info().min_exponent()).max(0);
            (0..=widest).chain(feature.none()).collect()
        }
        Feature::MinExponent | Feature::ZeroCExponent => feature
            .none()
            .into_iter()
            .chain(lowest..=highest + bits + 2)
            .collect(),
        Feature::AlignmentRounding | Feature::Rounding => (0..4).collect(),
        Feature::Conventions => (0..3).collect(),
        Feature::Interleave
        | Feature::Sticky
        | Feature::LateC
        | Feature::DenormalProducts
        | Feature::ProductLimit
        | Feature::InSubnormals
        | Feature::OutSubnormals
        | Feature::NanAfterCut => vec![0, 1],
    }
}

/// The smallest and the largest exponent that a nonzero term can have in an alignment.
pub fn exponent_range(formats: &Formats) -> (i32, i32) {
    let (low, high) = formats.product_exponents();
    let d = formats.output.info();
    // 8-bit factors may count as binary16 numbers.
    let narrow = formats
        .inputs()
        .map(|format| match format.info().storage_bits {
            8 => format
                .info()
                .min_exponent()
                .min(Format::Fp16.info().min_exponent()),
            _ => format.info().min_exponent(),
        });
    let low = low.min(narrow[0] + narrow[1]);
    (low.min(d.min_exponent()), (high + 1).max(d.max_exponent()))
}
