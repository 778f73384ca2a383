//! What is this unit? Its features, found from its answers alone (paper, section 4).
//!
//! [`probe`] asks a black box d = f(a, b, c) questions on encodings, families of vectors that each show some features,
//! and finds the [`Params`] that give every answer. It then looks for other parameters that would also give them, asks
//! what tells those apart, and says which features no vector of these formats can show. The result is checked, not
//! guessed: a unit that no parameters describe is reported with the vectors on which the nearest ones fail.
//!
//! The probe sees the black box only through its answers.
//!
//! ```
//! use mfma::probe::{Formats, Options, one_by_one, probe};
//! use mfma::{Arch, Format, Model, reference};
//!
//! let formats = Formats { a: Format::Fp16, b: Format::Fp16, output: Format::Fp32 };
//! // Stands for a GPU; the probe does not know which.
//! let unit = Model::new(Arch::Cdna1, formats.a, formats.b, formats.output)?;
//! let gpu = one_by_one(|a, b, c| Ok(reference::dot_raw(unit.unit(), a, b, c)));
//! let found = probe(formats, &Options::default(), gpu)?;
//! assert_eq!(found.mismatches, 0);
//! assert_eq!(found.params.fma, 4);
//! assert!(found.rows.iter().any(|row| row.arch == Arch::Cdna1));
//! # Ok::<(), mfma::Error>(())
//! ```

mod apart;
mod draw;
mod evidence;
mod facts;
mod family;
mod feature;
mod fit;
mod identify;
mod order;
mod random;
mod reason;
mod report;
mod session;
mod table;
mod together;
mod vector;

pub use evidence::same_result;
pub use facts::Fact;
pub use family::{Family, Hints, Source};
pub use feature::{Feature, Value, differing, rounding_name};
pub use identify::Unidentified;
pub use order::{Tree, summation_order};
pub use random::Random;
pub use report::Probed;
pub use table::{Column, Misprint, TABLE3_MISPRINTS, table3, table3_text};
pub use vector::{Case, Draft, Formats, Number, Split};

pub(crate) use fit::Fit;

use std::ops::RangeInclusive;

use crate::error::{Error, ErrorCode};
use crate::model::Params;
use session::Session;

/// How much the probe asks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Longest vector, 4 to 4096. Blocks of more than half as many products may not be found.
    pub k: usize,
    /// Is every vector that long (filled with zeros)? For hardware whose instructions have one length.
    pub fixed: bool,
    /// Vectors of a family in each round, 20 to 100000.
    pub vectors: usize,
    /// Seed of the vectors that are drawn.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            k: 64,
            fixed: false,
            vectors: 150,
            seed: 1,
        }
    }
}

impl Options {
    /// Values of [`Options::k`].
    pub const K: RangeInclusive<usize> = 4..=Params::MAX_FMA as usize;
    /// Values of [`Options::vectors`].
    pub const VECTORS: RangeInclusive<usize> = 20..=100_000;

    fn check(&self) -> Result<(), Error> {
        for (name, value, allowed) in [
            ("k", self.k, Self::K),
            ("vectors", self.vectors, Self::VECTORS),
        ] {
            if !allowed.contains(&value) {
                return Err(Error::new(
                    ErrorCode::InvalidArgument,
                    format!(
                        "options.{name} is {value}; allowed: {} to {}",
                        allowed.start(),
                        allowed.end()
                    ),
                ));
            }
        }
        Ok(())
    }
}

/// A unit that answers questions. Any closure of this shape is one: the result of each case, in order.
pub trait BlackBox {
    /// The results of these cases, encodings of the output format.
    fn answer(&mut self, cases: &[Case]) -> Result<Vec<u64>, Error>;
}

impl<F: FnMut(&[Case]) -> Result<Vec<u64>, Error>> BlackBox for F {
    fn answer(&mut self, cases: &[Case]) -> Result<Vec<u64>, Error> {
        self(cases)
    }
}

/// A black box from a function that computes one dot product: of a, of b, and of c.
pub fn one_by_one(
    mut unit: impl FnMut(&[u64], &[u64], u64) -> Result<u64, Error>,
) -> impl FnMut(&[Case]) -> Result<Vec<u64>, Error> {
    move |cases: &[Case]| {
        let answers = cases.iter().map(|case| unit(&case.a, &case.b, case.c));
        answers.collect()
    }
}

/// Finds the features of a unit from its answers.
///
/// Fails when an option is out of range or the black box fails; a unit outside the space of [`Params`] is no failure,
/// but has [`Probed::mismatches`].
pub fn probe(formats: Formats, options: &Options, unit: impl BlackBox) -> Result<Probed, Error> {
    run(formats, options, unit, None)
}

/// [`probe`], but `watch` is told several times a second, between questions, how much of the longest search is done, as a
/// part of 1; it gives whether to go on. If not, the probe ends with [`ErrorCode::Cancelled`].
pub fn probe_watched(
    formats: Formats,
    options: &Options,
    unit: impl BlackBox,
    watch: &mut dyn FnMut(f64) -> bool,
) -> Result<Probed, Error> {
    let watch = std::cell::RefCell::new(watch);
    run(
        formats,
        options,
        unit,
        Some(Box::new(move |done| (watch.borrow_mut())(done))),
    )
}

fn run(
    formats: Formats,
    options: &Options,
    unit: impl BlackBox,
    watch: Option<Box<evidence::Watch>>,
) -> Result<Probed, Error> {
    options.check()?;
    // Formats that no unit can have are told before anything is asked.
    let any = fit::Structure::ALL[0].start(1, formats.output);
    any.check(formats.inputs(), formats.output)?;
    let mut session = Session::new(formats, *options, watch, unit);
    let facts = facts::ask(&mut session)?;
    session.ask_families()?;
    let (params, mismatches) = session.find()?;
    session.go_on()?;
    let identified = identify::identify(&mut session, params, mismatches)?;
    session.go_on()?;
    Ok(report::report(&session, identified, facts))
}
