//! Random inputs for matrix units.
//!
//! Which case a number stands for follows from sampler, seed, formats and length alone, so a campaign can be split over
//! processes, stopped and resumed: every split sees the same cases.
//!
//! * The paper's samplers draw from MT19937, case after case. So that any part can be made without those before it,
//!   cases come in blocks of [`BLOCK`], each with a generator of its own: block 0 has MATLAB's `rng(seed, 'twister')`
//!   (seed 0 is the generator's own default, 5489), block j > 0 the authors' `init_by_array` with the words seed, seed /
//!   2^32, j, j / 2^32 (so has block 0 where the seed has more than 32 bits). With [`Sampling::one_stream`] there is one
//!   generator for all cases, exactly Algorithm 3; a part is then made by drawing all that precedes it.
//! * Directed samplers have a small generator (SplitMix64) for each case, from seed, sampler name and number.

mod directed;
mod mt19937;
mod paper;
mod random;

pub use directed::Directed;
pub use mt19937::Mt19937;
pub(crate) use random::splitmix64;

pub use paper::{ExponentRange, exponent_ranges};

use crate::error::{Error, ErrorCode};
use crate::format::Format;
use crate::model::{Arch, Model, instructions};
use paper::{Draw, Stream};

/// Cases that share a generator in the paper's samplers.
pub const BLOCK: u64 = 4096;

/// One dot product on encodings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// First vector.
    pub a: Vec<u64>,
    /// Second vector.
    pub b: Vec<u64>,
    /// Addend, in the output format.
    pub c: u64,
}

/// Formats and length of dot products.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// Format of a's elements.
    pub a: Format,
    /// Format of b's elements.
    pub b: Format,
    /// Format of c and the result.
    pub output: Format,
    /// Elements of a and b.
    pub k: usize,
}

impl Shape {
    /// Dot products of length `k` for a unit.
    pub fn of(model: &Model, k: usize) -> Shape {
        Shape {
            a: model.a(),
            b: model.b(),
            output: model.output(),
            k,
        }
    }
}

/// Dot products of one length, on encodings, one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cases {
    pub(super) k: usize,
    pub(super) a: Vec<u64>,
    pub(super) b: Vec<u64>,
    pub(super) c: Vec<u64>,
}

impl Cases {
    /// None yet, of length `k`.
    pub fn new(k: usize) -> Cases {
        Cases {
            k,
            ..Cases::default()
        }
    }

    /// Appends a case. Panics unless `a` and `b` have k elements.
    pub fn push(&mut self, a: &[u64], b: &[u64], c: u64) {
        assert!(
            a.len() == self.k && b.len() == self.k,
            "a case of another length"
        );
        self.a.extend_from_slice(a);
        self.b.extend_from_slice(b);
        self.c.push(c);
    }

    /// Length of the dot products.
    pub fn k(&self) -> usize {
        self.k
    }

    /// Number of cases.
    pub fn len(&self) -> usize {
        self.c.len()
    }

    /// No cases?
    pub fn is_empty(&self) -> bool {
        self.c.is_empty()
    }

    /// First vector of case `i`.
    pub fn a(&self, i: usize) -> &[u64] {
        &self.a[i * self.k..][..self.k]
    }

    /// Second vector of case `i`.
    pub fn b(&self, i: usize) -> &[u64] {
        &self.b[i * self.k..][..self.k]
    }

    /// Addend of case `i`.
    pub fn c(&self, i: usize) -> u64 {
        self.c[i]
    }

    /// Case `i` by itself.
    pub fn case(&self, i: usize) -> Case {
        Case {
            a: self.a(i).to_vec(),
            b: self.b(i).to_vec(),
            c: self.c(i),
        }
    }

    pub(super) fn clear(&mut self) {
        self.a.clear();
        self.b.clear();
        self.c.clear();
    }
}

/// How inputs are drawn.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Sampler {
    /// The paper's exponent-mantissa sampling (5.1, Algorithm 3) over normal exponents.
    ExponentMantissa,
    /// The same over subnormal exponents.
    SubnormalExponents,
    /// The paper's independent bits (5.2).
    IndependentBits,
    /// One kind of directed cases.
    Directed(Directed),
    /// All directed kinds in turn, near ties twice.
    AllDirected,
    /// The paper's three and all directed ones in turn, in blocks of [`BLOCK`]: one of each of the three, then three
    /// directed.
    All,
}

/// Names of the samplers.
pub const SAMPLERS: &[(&str, Sampler)] = &[
    ("exponent-mantissa", Sampler::ExponentMantissa),
    ("subnormal-exponents", Sampler::SubnormalExponents),
    ("independent-bits", Sampler::IndependentBits),
    ("any-bits", Sampler::Directed(Directed::AnyBits)),
    ("window", Sampler::Directed(Directed::Window)),
    ("pairs", Sampler::Directed(Directed::Pairs)),
    ("cancelled-by-c", Sampler::Directed(Directed::CancelledByC)),
    ("gap", Sampler::Directed(Directed::Gap)),
    ("subnormal", Sampler::Directed(Directed::Subnormal)),
    ("limits", Sampler::Directed(Directed::Limits)),
    ("sparse", Sampler::Directed(Directed::Sparse)),
    ("specials", Sampler::Directed(Directed::Specials)),
    ("ties", Sampler::Directed(Directed::Ties)),
    ("near-ties", Sampler::Directed(Directed::NearTies)),
    ("only-c", Sampler::Directed(Directed::OnlyC)),
    ("directed", Sampler::AllDirected),
    ("all", Sampler::All),
];

/// What [`Sampler::AllDirected`] takes in turn.
const TURNS: [Directed; 13] = [
    Directed::AnyBits,
    Directed::NearTies,
    Directed::Window,
    Directed::Pairs,
    Directed::CancelledByC,
    Directed::Gap,
    Directed::Subnormal,
    Directed::NearTies,
    Directed::Limits,
    Directed::Sparse,
    Directed::Specials,
    Directed::Ties,
    Directed::OnlyC,
];

impl Sampler {
    /// The sampler of that name, in any case.
    pub fn from_name(name: &str) -> Result<Sampler, Error> {
        let wanted = name.trim().to_lowercase().replace('_', "-");
        let found = SAMPLERS.iter().find(|row| row.0 == wanted);
        found.map(|row| row.1).ok_or_else(|| {
            let names: Vec<&str> = SAMPLERS.iter().map(|row| row.0).collect();
            Error::new(
                ErrorCode::InvalidArgument,
                format!("unknown sampler '{name}'; allowed: {}", names.join(", ")),
            )
        })
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        let found = SAMPLERS.iter().find(|row| row.1 == self);
        found.map_or("", |row| row.0)
    }

    /// Which sampler makes the cases of a block, and which number the block has there.
    fn of_block(self, block: u64) -> (Sampler, u64) {
        match (self, block % 6) {
            (Sampler::All, 0) => (Sampler::ExponentMantissa, block / 6),
            (Sampler::All, 1) => (Sampler::SubnormalExponents, block / 6),
            (Sampler::All, 2) => (Sampler::IndependentBits, block / 6),
            (Sampler::All, part) => (Sampler::AllDirected, block / 6 * 3 + part - 3),
            _ => (self, block),
        }
    }

    /// Does it draw from one generator case after case?
    fn draw(self) -> Option<Draw> {
        match self {
            Sampler::ExponentMantissa => Some(Draw::Normal),
            Sampler::SubnormalExponents => Some(Draw::Subnormal),
            Sampler::IndependentBits => Some(Draw::Bits),
            _ => None,
        }
    }
}

/// Which cases.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sampling {
    /// How they are drawn.
    pub sampler: Sampler,
    /// Seed.
    pub seed: u64,
    /// One generator for all cases of the paper's samplers, exactly Algorithm 3, instead of one for each block. Has no
    /// effect on others.
    pub one_stream: bool,
}

impl Default for Sampling {
    fn default() -> Sampling {
        Sampling {
            sampler: Sampler::All,
            seed: 0,
            one_stream: false,
        }
    }
}

/// Makes cases. Cheapest when each request continues the one before.
#[derive(Clone)]
pub struct Generator {
    sampling: Sampling,
    shape: Shape,
    /// A stream of the paper's samplers, and the number of the case that it makes next.
    stream: Option<(u64, Stream)>,
}

impl Generator {
    /// For dot products of this shape.
    pub fn new(sampling: Sampling, shape: Shape) -> Generator {
        Generator {
            sampling,
            shape,
            stream: None,
        }
    }

    /// Does it take all cases from one generator, so that parts far from the beginning are slow to reach?
    pub(super) fn is_serial(&self) -> bool {
        self.sampling.one_stream && self.sampling.sampler.draw().is_some()
    }

    /// Replaces `cases` by cases `first` to `first + count - 1`.
    pub fn fill(&mut self, first: u64, count: usize, cases: &mut Cases) {
        cases.k = self.shape.k;
        cases.clear();
        for index in first..first + count as u64 {
            self.push(index, cases);
        }
    }

    fn push(&mut self, index: u64, cases: &mut Cases) {
        let Sampling { sampler, seed, .. } = self.sampling;
        let (sampler, block) = if self.is_serial() {
            (sampler, 0)
        } else {
            sampler.of_block(index / BLOCK)
        };
        let offset = index % BLOCK;
        let own = block * BLOCK + offset;
        let kind = match sampler {
            Sampler::Directed(kind) => kind,
            Sampler::AllDirected | Sampler::All => TURNS[(own % TURNS.len() as u64) as usize],
            drawn => {
                let draw = drawn.draw().unwrap_or(Draw::Normal);
                let (start, wanted) = if self.is_serial() {
                    (0, index)
                } else {
                    (index - offset, index)
                };
                return self.draw(draw, block, start, wanted, cases);
            }
        };
        let case = kind.case(&self.shape, seed, sampler.name(), own);
        cases.push(&case.a, &case.b, case.c);
    }

    /// Appends case `wanted` of the stream for `block`, whose first case is `start`.
    fn draw(&mut self, draw: Draw, block: u64, start: u64, wanted: u64, cases: &mut Cases) {
        if !matches!(&self.stream, Some((at, _)) if *at == wanted) {
            let mut stream = Stream::new(self.generator(block), draw, self.shape);
            let mut skipped = Cases::new(self.shape.k);
            for _ in start..wanted {
                stream.next(&mut skipped);
                skipped.clear();
            }
            self.stream = Some((wanted, stream));
        }
        if let Some((at, stream)) = &mut self.stream {
            stream.next(cases);
            *at += 1;
        }
        // The next block has a generator of its own.
        if !self.is_serial() && (wanted + 1).is_multiple_of(BLOCK) {
            self.stream = None;
        }
    }

    fn generator(&self, block: u64) -> Mt19937 {
        let seed = self.sampling.seed;
        match u32::try_from(seed) {
            Ok(seed) if block == 0 => Mt19937::matlab(seed),
            _ => Mt19937::from_words(&[
                seed as u32,
                (seed >> 32) as u32,
                block as u32,
                (block >> 32) as u32,
            ]),
        }
    }
}

/// Longest dot products of a campaign.
pub const MAX_LENGTH: usize = 1 << 16;

/// The length at which the paper tests a unit: the longest of its instructions, but 16 for CDNA 3's 8-bit inputs (5.1).
/// For units without instructions two blocks, at least 4 elements.
pub fn default_length(model: &Model) -> usize {
    let narrow = model.a().bytes() == 1 || model.b().bytes() == 1;
    if model.arch() == Some(Arch::Cdna3) && narrow {
        return 16;
    }
    let longest = model.arch().and_then(|arch| {
        instructions(arch)
            .filter(|instruction| instruction.model() == *model)
            .map(|instruction| instruction.k as usize)
            .max()
    });
    longest.unwrap_or_else(|| (2 * model.params().fma as usize).clamp(4, 256))
}

#[cfg(test)]
mod tests;
