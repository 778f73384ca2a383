//! Does a model give a dump's results, and which units do?

use std::path::Path;

use super::{Formats, Label, Reader, Record, Recorded};
use crate::error::{Error, ErrorCode};
use crate::format::{Class, decode};
use crate::gemm::Progress;
use crate::model::{Arch, Capability, Model, Reach, capabilities};
use crate::validate::bound::mismatch_bound;
use crate::validate::campaign::{Mismatch, Report, compute};
use crate::validate::sample::Cases;

/// Cases that are computed at a time.
const BATCH: usize = 4096;

/// How a dump is compared.
#[derive(Clone, Copy, Debug)]
pub struct DumpCheck {
    /// Take c as +0, whatever the dump has: the measuring program did not use it.
    pub ignore_c: bool,
    /// Does any NaN equal any other?
    pub any_nan: bool,
    /// Most mismatches that a report shows.
    pub keep: usize,
    /// For the bound: it holds with probability 1 - `epsilon`.
    pub epsilon: f64,
}

impl Default for DumpCheck {
    fn default() -> DumpCheck {
        DumpCheck {
            ignore_c: false,
            any_nan: false,
            keep: 10,
            epsilon: 1e-6,
        }
    }
}

/// Compares the results of a dump with those of models, all of the same formats, in one pass. The reports' case numbers
/// count from 0. A report that is cancelled covers what was read until then.
pub fn check_dump(
    path: &Path,
    models: &[Model],
    options: DumpCheck,
    mut progress: Option<&mut Progress>,
) -> Result<Vec<Report>, Error> {
    let refuse = |message: &str| Err(Error::new(ErrorCode::InvalidArgument, message));
    let Some(first) = models.first() else {
        return Ok(Vec::new());
    };
    let formats = Formats::of(first);
    if models.iter().any(|model| Formats::of(model) != formats) {
        return refuse("models of different formats; allowed: one set of formats");
    }
    if !(options.epsilon > 0.0 && options.epsilon < 1.0) {
        return refuse("epsilon is out of range; allowed: between 0 and 1");
    }
    let mut reader = Reader::open(path, formats)?;
    let mut batch = Batch::default();
    let mut tallies = vec![Tally::default(); models.len()];
    let mut cancelled = false;
    let mut ended = false;
    while !ended {
        let next = reader.read()?;
        ended = next.is_none();
        let full = match &next {
            Some(record) => !batch.has_room_for(record),
            None => true,
        };
        if full {
            for (model, tally) in models.iter().zip(&mut tallies) {
                batch.compare(model, options, tally)?;
            }
            batch.begin_next();
            if let Some(progress) = progress.as_mut()
                && !ended
                && !progress(reader.done())
            {
                cancelled = true;
                break;
            }
        }
        if let Some(record) = next {
            batch.push(record, options, path)?;
        }
    }
    let cases = batch.first;
    let report = |tally: Tally| Report {
        cases,
        mismatches: tally.mismatches,
        first: tally.first,
        bound: (cases > 0).then(|| mismatch_bound(cases, tally.mismatches, options.epsilon)),
        epsilon: options.epsilon,
        next: cases,
        cancelled,
    };
    Ok(tallies.into_iter().map(report).collect())
}

#[derive(Clone, Default)]
struct Tally {
    mismatches: u64,
    first: Vec<Mismatch>,
}

/// Cases of one length that are next to each other.
#[derive(Default)]
struct Batch {
    /// Number of the first.
    first: u64,
    cases: Cases,
    recorded: Vec<Recorded>,
    computed: Vec<u64>,
}

impl Batch {
    fn has_room_for(&self, record: &Record) -> bool {
        let same = self.cases.k() == record.case.a.len();
        self.cases.is_empty() || same && self.cases.len() < BATCH
    }

    fn begin_next(&mut self) {
        self.first += self.cases.len() as u64;
        self.cases.clear();
        self.recorded.clear();
    }

    fn push(&mut self, record: Record, options: DumpCheck, path: &Path) -> Result<(), Error> {
        let Some(recorded) = record.d else {
            let index = self.first + self.cases.len() as u64;
            return Err(super::malformed(
                path,
                format!("case {index}"),
                "there is no result d to compare with",
            ));
        };
        if self.cases.is_empty() {
            self.cases = Cases::new(record.case.a.len());
        }
        let c = if options.ignore_c { 0 } else { record.case.c };
        self.cases.push(&record.case.a, &record.case.b, c);
        self.recorded.push(recorded);
        Ok(())
    }

    fn compare(
        &mut self,
        model: &Model,
        options: DumpCheck,
        tally: &mut Tally,
    ) -> Result<(), Error> {
        if self.cases.is_empty() {
            return Ok(());
        }
        compute(model, &self.cases, &mut self.computed)?;
        let nan = |bits| decode(model.output(), bits).class == Class::Nan;
        for (i, (&expected, &recorded)) in self.computed.iter().zip(&self.recorded).enumerate() {
            let (agrees, got) = match recorded {
                Recorded::Nan => (nan(expected), crate::format::nan(model.output(), false)),
                Recorded::Bits(bits) => (
                    bits == expected || options.any_nan && nan(bits) && nan(expected),
                    bits,
                ),
            };
            if agrees {
                continue;
            }
            tally.mismatches += 1;
            if tally.first.len() < options.keep {
                tally.first.push(Mismatch {
                    index: self.first + i as u64,
                    a: self.cases.a(i).to_vec(),
                    b: self.cases.b(i).to_vec(),
                    c: self.cases.c(i),
                    expected,
                    got,
                });
            }
        }
        Ok(())
    }
}

/// A way to compute, and the units of the catalogue that compute so.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// One of the units.
    pub model: Model,
    /// All of them: they differ in name only.
    pub units: Vec<Capability>,
}

impl Candidate {
    /// The units' names, an instruction's where only that reaches the unit: "CDNA3", "Hopper by mma.sync...".
    pub fn names(&self) -> Vec<String> {
        let name = |unit: &Capability| match unit.row.reach {
            Reach::Formats => unit.row.arch.to_string(),
            Reach::Instruction => format!("{} by {}", unit.row.arch, unit.instruction()),
        };
        self.units.iter().map(name).collect()
    }

    /// Is a unit of this architecture among them?
    pub fn has(&self, arch: Arch) -> bool {
        self.units.iter().any(|unit| unit.row.arch == arch)
    }
}

/// The units of the catalogue that have a dump's formats, those that compute alike together, grouped by what the
/// formats' names mean there.
pub fn candidates(label: &Label) -> Result<Vec<(Formats, Vec<Candidate>)>, Error> {
    let mut groups: Vec<(Formats, Vec<Candidate>)> = Vec::new();
    // The names must mean something somewhere.
    let mut unknown = None;
    for unit in capabilities() {
        let formats = match label.formats(unit.row.arch) {
            Ok(formats) => formats,
            Err(error) => {
                unknown = Some(error);
                continue;
            }
        };
        if (unit.a, unit.b, unit.row.output) != (formats.a, formats.b, formats.output) {
            continue;
        }
        let params = unit.row.params;
        let model = Model::from_params(params, unit.a, unit.b, unit.row.output)?;
        let at = groups.iter().position(|group| group.0 == formats);
        let at = at.unwrap_or_else(|| {
            groups.push((formats, Vec::new()));
            groups.len() - 1
        });
        let group = &mut groups[at].1;
        match group.iter_mut().find(|candidate| candidate.model == model) {
            Some(candidate) => candidate.units.push(unit),
            None => group.push(Candidate {
                model,
                units: vec![unit],
            }),
        }
    }
    match (groups.is_empty(), unknown) {
        (true, Some(error)) => Err(error),
        (true, None) => Err(Error::new(
            ErrorCode::Unsupported,
            "no unit of the catalogue has the dump's formats",
        )),
        (false, _) => Ok(groups),
    }
}
