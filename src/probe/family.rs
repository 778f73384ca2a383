//! Families of test vectors, each of the kind that shows some features: what the paper's section 4 varies by hand, and
//! the generalised tests that it builds on, drawn at random around the places of interest.

use super::random::Random;
use super::vector::{Case, Draft, Formats, Number, Split};
use crate::format::Format;

/// What a family of vectors is about.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Family {
    /// Products of one block against each other, c zero or negligible: alignment bits, rounding, groups.
    Products,
    /// c below the products: its alignment, where it is dropped.
    Below,
    /// c above the products: alignment of their sum, and what follows.
    Above,
    /// Two large terms that cancel and a small one, anywhere: who meets whom first.
    Cancel,
    /// Sums near the middle of two neighbours: the final rounding.
    Ties,
    /// Exponents at the lower end: limits, c = 0, underflow.
    Tiny,
    /// Subnormal factors, addends and results.
    Subnormal,
    /// Magnitudes near the largest finite number.
    Huge,
    /// Infinities and NaNs.
    Specials,
    /// The same products from factors whose significands multiply to 2 or more, and from others.
    Denormal,
    /// Positions over several blocks.
    Blocks,
    /// Many random terms.
    Dense,
    /// Random encodings.
    Bits,
}

impl Family {
    /// All families, in the order in which the probe asks them.
    pub const ALL: [Family; 13] = [
        Family::Products,
        Family::Below,
        Family::Above,
        Family::Cancel,
        Family::Ties,
        Family::Tiny,
        Family::Subnormal,
        Family::Huge,
        Family::Specials,
        Family::Denormal,
        Family::Blocks,
        Family::Dense,
        Family::Bits,
    ];
}

/// Where it may be interesting: distances between exponents, exponents, sizes of blocks.
#[derive(Clone, Default, Debug)]
pub struct Hints {
    /// Distances of two exponents, such as a number of alignment bits.
    pub gaps: Vec<i32>,
    /// Exponents, such as a limit.
    pub exponents: Vec<i32>,
    /// Products in a block.
    pub fma: usize,
    /// Fraction bits of the result, where they are fewer than the format's.
    pub result: Option<i32>,
}

/// Draws vectors.
pub struct Source<'a> {
    /// Formats around the unit.
    pub formats: Formats,
    /// Longest vector.
    pub k: usize,
    /// Shortest vector.
    pub least: usize,
    /// Where to look.
    pub hints: &'a Hints,
}

impl Source<'_> {
    /// One vector of a family; `None` when what was drawn cannot be written in the unit's formats.
    pub fn draw(&self, family: Family, rng: &mut Random) -> Option<Case> {
        let mut draft = Draft::new(self.formats);
        match family {
            Family::Products => self.products(&mut draft, rng)?,
            Family::Below => self.below(&mut draft, rng)?,
            Family::Above => self.above(&mut draft, rng)?,
            Family::Cancel => self.cancel(&mut draft, rng)?,
            Family::Ties => self.ties(&mut draft, rng)?,
            Family::Tiny => self.tiny(&mut draft, rng)?,
            Family::Subnormal => self.subnormal(&mut draft, rng)?,
            Family::Huge => self.huge(&mut draft, rng)?,
            Family::Specials => self.special(&mut draft, rng)?,
            Family::Denormal => self.denormal(&mut draft, rng)?,
            Family::Blocks => self.blocks(&mut draft, rng)?,
            Family::Dense => self.dense(&mut draft, rng)?,
            Family::Bits => self.bits(&mut draft, rng)?,
        }
        Some(draft.case(self.least))
    }

    /// `count` vectors of a family, or fewer where the formats allow few.
    pub fn many(&self, family: Family, count: usize, rng: &mut Random) -> Vec<Case> {
        let tries = 20 * count;
        let mut found = Vec::with_capacity(count);
        for _ in 0..tries {
            if found.len() == count {
                break;
            }
            found.extend(self.draw(family, rng));
        }
        found
    }

    // What the families draw from.

    pub(super) fn widest_gap(&self) -> i32 {
        if self.formats.output == Format::Fp64 {
            120
        } else {
            64
        }
    }

    /// Fraction bits that the result may have: the format's, or fewer.
    pub(super) fn result_bits(&self, rng: &mut Random) -> i32 {
        let all = self.formats.result_bits();
        match self.hints.result {
            Some(bits) if bits < all && !rng.one_in(6) => bits,
            None if rng.one_in(4) => rng.range(1, all),
            _ => all,
        }
    }

    pub(super) fn gap(&self, rng: &mut Random) -> i32 {
        let result = self.result_bits(rng);
        match rng.below(8) {
            0..=2 if !self.hints.gaps.is_empty() => {
                (rng.pick(&self.hints.gaps) + rng.range(-3, 3)).max(0)
            }
            0..=3 => (result + rng.range(-2, 4)).max(0),
            4 => rng.range(0, 4),
            5 => rng.range(0, result + 2),
            _ => rng.range(0, self.widest_gap()),
        }
    }

    /// A significand with few ones, or a run of ones, or anything short.
    pub(super) fn significand(&self, rng: &mut Random) -> u64 {
        match rng.below(8) {
            0..=3 => 1,
            4 => 3,
            5 => rng.pick(&[5, 7, 9]),
            6 => (1 << rng.range(1, 8)) - 1,
            _ => {
                let bits = rng.range(1, 11);
                rng.below(1 << bits).max(1)
            }
        }
    }

    /// A number whose leading bit weighs 2^`exponent`.
    pub(super) fn number(&self, exponent: i32, rng: &mut Random) -> Number {
        let significand = self.significand(rng);
        Number {
            negative: rng.one_in(2),
            significand,
            unit: exponent - significand.ilog2() as i32,
        }
    }

    pub(super) fn split(&self, rng: &mut Random) -> Split {
        match rng.below(8) {
            0 => Split::Subnormal,
            1 => Split::Square,
            _ => Split::Plain,
        }
    }

    /// Puts a product, plainly if it cannot be done as drawn.
    pub(super) fn put(
        &self,
        draft: &mut Draft,
        position: usize,
        number: Number,
        rng: &mut Random,
    ) -> Option<()> {
        let split = self.split(rng);
        draft
            .product(position, number, split)
            .or_else(|| draft.product(position, number, Split::Plain))
            .or_else(|| draft.product(position, number, Split::Subnormal))
    }

    /// An exponent for the largest terms: where products and results are normal, more often high, so that there is room
    /// below.
    pub(super) fn anchor(&self, rng: &mut Random) -> i32 {
        let (low, high) = self.formats.product_exponents();
        let (_, top) = self.formats.addend_exponents();
        let high = (high - 1).min(top - 6);
        let low = low.max(-12).min(high);
        if rng.one_in(2) {
            rng.range((high - 3).max(low), high.min(40))
        } else {
            rng.range(low, high.min(20))
        }
    }

    /// Puts a number with many bits as the sum of products at positions from `first` on; gives the next position.
    pub(super) fn put_long(
        &self,
        draft: &mut Draft,
        first: usize,
        number: Number,
    ) -> Option<usize> {
        let width = self.formats.a.info().fraction_bits + 1;
        let mut position = first;
        let mut rest = number.significand;
        while rest != 0 {
            let low = rest.trailing_zeros();
            let piece = rest & (((1u64 << width) - 1) << low);
            let part = Number {
                negative: number.negative,
                significand: piece >> low,
                unit: number.unit + low as i32,
            };
            draft.product(position, part, Split::Plain)?;
            rest &= !piece;
            position += 1;
            if position > self.k {
                return None;
            }
        }
        Some(position)
    }

    /// A number near the middle of two neighbours of a result whose leading bit weighs 2^`top`: half a unit in the last
    /// place or none, then zeros, a run of ones, and a last bit where something may end.
    pub(super) fn near_tie(&self, top: i32, rng: &mut Random) -> Option<Number> {
        let result = self.result_bits(rng);
        let end = match rng.below(3) {
            0 => result + rng.range(2, 16),
            _ if !self.hints.gaps.is_empty() => rng.pick(&self.hints.gaps) + rng.range(-1, 2),
            _ => self.gap(rng),
        };
        if end < result + 2 || end - result > 40 {
            return None;
        }
        // Bit i of the significand weighs 2^(top - end + i); half a unit in the last place is bit `half`.
        let half = end - result - 1;
        let run = |from: i32| (1u64 << (from + 1)) - 1;
        let mut significand = match rng.below(4) {
            0 => 1 << half | 1,
            1 => 1 << half | run(rng.range(0, half - 1)),
            // Just below the middle.
            2 => run(half - 1),
            _ => (1 << half) - rng.range(0, 3).min(half) as u64,
        };
        if rng.one_in(2) {
            significand |= 1 << (half + 1 + rng.pick(&[0, 0, 1]));
        }
        Some(Number {
            negative: rng.one_in(2),
            significand: significand.max(1),
            unit: top - end,
        })
    }

    /// Positions of one block, all different.
    pub(super) fn positions(&self, count: usize, rng: &mut Random) -> Vec<usize> {
        let span = match rng.below(4) {
            0 => 2,
            1 | 2 => 4,
            _ => self.hints.fma.max(4),
        };
        let span = span.max(count).min(self.k);
        let mut chosen: Vec<usize> = Vec::with_capacity(count);
        while chosen.len() < count.min(span) {
            let position = rng.below(span as u64) as usize;
            if !chosen.contains(&position) {
                chosen.push(position);
            }
        }
        chosen
    }

    /// c = 0, or so small that it only counts where its sign alone does.
    pub(super) fn negligible(&self, draft: &mut Draft, rng: &mut Random) -> Option<()> {
        let (low, _) = self.formats.addend_exponents();
        match rng.below(3) {
            0 => Some(()),
            sign => draft.addend(Number::power(low + rng.range(0, 3)).signed(sign == 1)),
        }
    }
}
