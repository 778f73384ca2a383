//! What each unit is and how well it is known: features and evidence of every row and pair of formats.

use super::evidence_counts::COUNTS;
use super::{Arch, Evidence, Params, Reach, Row, Scheme, catalogue};
use crate::format::Format;

/// How many vectors a unit has been checked against, by their source, and how many of them it does not reproduce.
/// `docs/evidence.md` lists the files; a test repeats the count.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Vectors {
    /// Measured on GPUs, random inputs.
    pub measured: u64,
    /// Printed in the paper, or following from its algorithms.
    pub paper: u64,
    /// Drawn from problems that people met with other libraries.
    pub directed: u64,
    /// Computed by the toolbox, corrected where it is known to differ from the hardware.
    pub golden: u64,
    /// Vectors of any source whose result the unit does not give.
    pub mismatches: u64,
}

impl Vectors {
    /// All vectors.
    pub fn total(&self) -> u64 {
        self.measured + self.paper + self.directed + self.golden
    }

    /// The bound on the probability of a mismatch that holds with probability 1 - `epsilon` (paper, section 5.4): from
    /// the measured vectors where there are any, else from all. `None` without vectors, or with mismatches, for which
    /// the bound has no closed form.
    pub fn mismatch_bound(&self, epsilon: f64) -> Option<f64> {
        let count = if self.measured > 0 {
            self.measured
        } else {
            self.total()
        };
        (count > 0 && self.mismatches == 0).then(|| mismatch_bound(count, epsilon))
    }
}

/// The upper bound on the probability of a mismatch after `vectors` random vectors without one, which holds with
/// probability 1 - `epsilon`: 1 - epsilon^(1 / (vectors + 1)) (paper, section 5.4, m = 0).
pub fn mismatch_bound(vectors: u64, epsilon: f64) -> f64 {
    -(epsilon.ln() / (vectors as f64 + 1.0)).exp_m1()
}

/// A unit of the catalogue for one pair of input formats.
#[derive(Clone, Copy, Debug)]
pub struct Capability {
    /// Its row: architecture, features, instruction, source.
    pub row: &'static Row,
    /// Format of a's elements.
    pub a: Format,
    /// Format of b's elements.
    pub b: Format,
    /// The vectors it has been checked against.
    pub vectors: Vectors,
}

impl Capability {
    /// Fractional bits kept when products are aligned; `None` where nothing is aligned.
    pub fn alignment_bits(&self) -> Option<u32> {
        let Params {
            scheme,
            alignment_bits,
            ..
        } = self.row.params;
        matches!(scheme, Scheme::GlobalAlignment | Scheme::OddEvenGrouping)
            .then_some(alignment_bits)
    }

    /// Who says that the unit computes like this for this pair. What the row says, but a pair without a vector of its
    /// own that shares its row with pairs that have some is assumed.
    pub fn evidence(&self) -> Evidence {
        match self.row.evidence {
            Evidence::Measured | Evidence::Paper if self.vectors.total() == 0 => Evidence::Assumed,
            evidence => evidence,
        }
    }

    /// An instruction of the unit for this pair; "" where there is none. The row names the one of its first pair.
    pub fn instruction(&self) -> String {
        let [first, own] = [self.row.inputs[0], [self.a, self.b]];
        let types = |pair: [Format; 2], separator| pair.map(type_name).join(separator);
        ["_", "."]
            .iter()
            .fold(self.row.instruction.to_string(), |name, separator| {
                name.replace(&types(first, separator), &types(own, separator))
            })
    }
}

/// What an 8-bit format, the only kind that shares rows, is called in instructions.
fn type_name(format: Format) -> &'static str {
    match format {
        Format::E4m3Fnuz => "fp8",
        Format::E5m2Fnuz => "bf8",
        other => other.info().name,
    }
}

/// Every unit of the catalogue for every pair of its input formats.
pub fn capabilities() -> impl Iterator<Item = Capability> {
    catalogue().flat_map(|row| {
        row.inputs.iter().map(move |&[a, b]| Capability {
            row,
            a,
            b,
            vectors: row.vectors(a, b),
        })
    })
}

impl Row {
    /// The vectors that the row has been checked against for these input formats.
    pub fn vectors(&self, a: Format, b: Format) -> Vectors {
        let unit = (self.arch, self.reach, a, b, self.output);
        let found = COUNTS.iter().find(|(of, _)| *of == unit);
        found.map_or(Vectors::default(), |(_, vectors)| *vectors)
    }
}

/// Names a unit in the table of counts: architecture, how it is reached, formats of a, b and the result.
pub(super) type Unit = (Arch, Reach, Format, Format, Format);
