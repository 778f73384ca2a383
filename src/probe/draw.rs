//! The families' vectors, one function each.

use super::family::Source;
use super::random::Random;
use super::vector::{Draft, Number, Split, negated, specials};
use crate::format::{Class, Format, decode};

impl Source<'_> {
    pub(super) fn products(&self, draft: &mut Draft, rng: &mut Random) -> Option<()> {
        let top = self.anchor(rng);
        self.negligible(draft, rng)?;
        let count = rng.range(2, 5) as usize;
        let positions = self.positions(count, rng);
        let large = self.number(top, rng);
        self.put(draft, positions[0], large, rng)?;
        let mut rest = &positions[1..];
        if rest.len() > 1 && rng.one_in(2) {
            // Cancel the large one, so that what is left of the small ones shows.
            let opposite = large.signed(!large.negative);
            self.put(draft, rest[0], opposite, rng)?;
            rest = &rest[1..];
        }
        for &position in rest {
            let exponent = top - self.gap(rng);
            let number = self.number(exponent, rng);
            self.put(draft, position, number, rng)?;
        }
        Some(())
    }

    pub(super) fn below(&self, draft: &mut Draft, rng: &mut Random) -> Option<()> {
        let top = self.anchor(rng);
        let count = rng.range(1, 3) as usize;
        let positions = self.positions(count, rng);
        let large = self.number(top, rng);
        self.put(draft, positions[0], large, rng)?;
        if count > 1 {
            let second = match rng.below(3) {
                0 => large.signed(!large.negative),
                1 => Number::power(top - self.result_bits(rng) - 1).signed(rng.one_in(2)),
                _ => self.number(top - self.gap(rng), rng),
            };
            self.put(draft, positions[1], second, rng)?;
        }
        if count > 2 {
            let third = self.number(top - self.gap(rng), rng);
            self.put(draft, positions[2], third, rng)?;
        }
        let c = self.number(top - self.gap(rng), rng);
        draft.addend(c)
    }

    pub(super) fn above(&self, draft: &mut Draft, rng: &mut Random) -> Option<()> {
        let top = self.anchor(rng);
        let negative = rng.one_in(2);
        if rng.one_in(3) {
            // Several products together as large as c, so that they cancel it though each is smaller.
            let log = rng.range(1, 4);
            let count = 1usize << log;
            if count > self.k {
                return None;
            }
            draft.addend(Number::power(top + log).signed(negative))?;
            for position in 0..count {
                self.put(draft, position, Number::power(top).signed(!negative), rng)?;
            }
            let position = count.min(self.k - 1);
            let small = self.number(top - self.gap(rng), rng);
            return self.put(draft, position, small, rng);
        }
        if rng.one_in(3) {
            return self.decided_tie(draft, rng);
        }
        let result = self.result_bits(rng);
        if rng.one_in(4) {
            // c just below a power of two, products that carry it there, and then something near a tie.
            let short = rng.pick(&[1, 2, 4]);
            let unit = top - result;
            draft.addend(Number {
                negative,
                significand: (1u64 << (result + 1)) - short,
                unit,
            })?;
            let carry = Number {
                negative,
                significand: short,
                unit,
            };
            draft.product(0, carry, Split::Plain)?;
            let tie = self.near_tie(top + 1, rng)?;
            return self.put_long(draft, 1, tie).map(|_| ());
        }
        // c: a power of two, just below one, or anything.
        let c = match rng.below(5) {
            4 => Number {
                negative,
                significand: (1 << (result.min(40) + 1)) - rng.pick(&[1, 2, 3, 4]),
                unit: top - result.min(40),
            },
            0 => Number {
                negative,
                significand: (1 << (result.min(40) + 1)) - rng.pick(&[1, 2, 4]),
                unit: top - result.min(40),
            },
            1 => self.number(top, rng),
            _ => Number::power(top).signed(negative),
        };
        draft.addend(c)?;
        if rng.one_in(2) {
            let tie = self.near_tie(top + rng.range(-1, 1), rng)?;
            let next = self.put_long(draft, 0, tie)?;
            if rng.one_in(3) {
                let more = Number::power(tie.unit - rng.range(-1, 4)).signed(rng.one_in(2));
                self.put(draft, next.min(self.k - 1), more, rng)?;
            }
            return Some(());
        }
        let count = rng.range(1, 4) as usize;
        let positions = self.positions(count, rng);
        let mut exponent = top - self.gap(rng).max(1);
        if rng.one_in(2) {
            // Half a unit in the last place, or a quarter, and something further down.
            exponent = top - result - rng.range(0, 2);
        }
        for (i, &position) in positions.iter().enumerate() {
            let mut number = self.number(exponent, rng);
            if i == 0 && rng.one_in(2) {
                number = Number::power(exponent).signed(number.negative);
            }
            if rng.one_in(3) {
                number = number.signed(c.negative);
            }
            self.put(draft, position, number, rng)?;
            exponent = if rng.one_in(2) {
                exponent - rng.range(1, 12)
            } else {
                top - self.gap(rng).max(1)
            };
        }
        Some(())
    }

    /// A product of few halves of c's last place, so that c and it make a tie, with a carry or without, and products far
    /// below that decide it.
    fn decided_tie(&self, draft: &mut Draft, rng: &mut Random) -> Option<()> {
        let result = self.result_bits(rng).min(40);
        let far = match self.hints.gaps.is_empty() {
            false if !rng.one_in(4) => rng.pick(&self.hints.gaps) + rng.range(-1, 2),
            _ => self.gap(rng),
        };
        // Narrow formats have room for both only where the far products are the smallest that there are.
        let (a, b) = (self.formats.a.info(), self.formats.b.info());
        let (low, _) = self.formats.product_exponents();
        let lowest = low - (a.fraction_bits + b.fraction_bits) as i32;
        let top = match rng.below(2) {
            0 => self.anchor(rng),
            _ => lowest + far + rng.range(0, 3),
        };
        let short = rng.below(5);
        let significand = match rng.below(3) {
            0 => (1 << result) + short,
            1 => (1 << result) + rng.below(1 << result),
            _ => (1 << (result + 1)) - 1 - short,
        };
        let negative = rng.one_in(2);
        let unit = top - result;
        draft.addend(Number {
            negative,
            significand,
            unit,
        })?;
        let count = rng.range(2, 4) as usize;
        let positions = self.positions(count, rng);
        let halves = Number {
            negative: rng.one_in(2),
            significand: 1 + rng.below(6),
            unit: unit - 1 + rng.range(-1, 1),
        };
        self.put(draft, positions[0], halves, rng)?;
        for &position in &positions[1..] {
            let small = Number::power(top - far).signed(rng.one_in(2));
            self.put(draft, position, small, rng)?;
        }
        Some(())
    }

    pub(super) fn cancel(&self, draft: &mut Draft, rng: &mut Random) -> Option<()> {
        let top = self.anchor(rng);
        let large = self.number(top, rng);
        let small = self.number(top - self.gap(rng), rng);
        let positions = self.positions(3, rng);
        let mut terms = vec![large, large.signed(!large.negative), small];
        if rng.one_in(3) {
            terms.push(self.number(top - self.gap(rng), rng));
        }
        let to_c = rng.below(terms.len() as u64 + 1) as usize;
        let mut place = positions.iter();
        for (i, term) in terms.into_iter().enumerate() {
            if i == to_c {
                draft.addend(term)?;
            } else {
                self.put(draft, *place.next()?, term, rng)?;
            }
        }
        Some(())
    }

    pub(super) fn ties(&self, draft: &mut Draft, rng: &mut Random) -> Option<()> {
        let top = self.anchor(rng);
        let result = self.result_bits(rng);
        let negative = rng.one_in(2);
        if rng.one_in(3) {
            let tie = self.near_tie(top, rng)?;
            self.put(draft, 0, Number::power(top).signed(negative), rng)?;
            if rng.one_in(2) && tie.encode(self.formats.output).is_some() {
                return draft.addend(tie);
            }
            let next = self.put_long(draft, 1, tie)?;
            if rng.one_in(3) {
                let more = Number::power(tie.unit - rng.range(-1, 4)).signed(rng.one_in(2));
                self.put(draft, next.min(self.k - 1), more, rng)?;
            }
            return Some(());
        }
        let half = top - result - 1;
        let mut terms = vec![
            self.number(top, rng).signed(negative),
            Number {
                negative: negative ^ rng.one_in(3),
                significand: rng.pick(&[1, 3]),
                unit: half + rng.range(-1, 1),
            },
        ];
        for _ in 0..rng.below(3) {
            let below = rng.range(0, 40).min(self.gap(rng));
            terms.push(Number::power(half - below).signed(rng.one_in(2)));
        }
        let positions = self.positions(terms.len(), rng);
        let to_c = rng.below(terms.len() as u64 + 1) as usize;
        for (i, term) in terms.into_iter().enumerate() {
            if i == to_c {
                draft.addend(term)?;
            } else {
                self.put(draft, *positions.get(i)?, term, rng)?;
            }
        }
        Some(())
    }

    /// An exponent near the lower end of something.
    pub(super) fn low_anchor(&self, rng: &mut Random) -> i32 {
        let (product_low, product_high) = self.formats.product_exponents();
        let d = self.formats.output.info();
        let (least, _) = self.formats.addend_exponents();
        let anchor = match rng.below(6) {
            0 => least + rng.range(-10, 4),
            1 => d.min_exponent() + rng.range(-12, 8),
            2 => product_low + rng.range(-3, 12),
            3 | 4 if !self.hints.exponents.is_empty() => {
                rng.pick(&self.hints.exponents) + rng.range(-4, 4)
            }
            5 => rng.range(product_low - 8, product_high),
            _ => rng.range(least - 8, (least + 60).min(product_high)),
        };
        anchor.min(product_high - 1)
    }

    pub(super) fn tiny(&self, draft: &mut Draft, rng: &mut Random) -> Option<()> {
        let (least, _) = self.formats.addend_exponents();
        if rng.one_in(4) {
            // Near the middle of two subnormal results, c zero.
            let tie = self.near_tie(least + self.formats.result_bits() + rng.range(-1, 3), rng)?;
            return self.put_long(draft, 0, tie).map(|_| ());
        }
        let top = self.low_anchor(rng);
        let count = rng.range(0, 3) as usize;
        let positions = self.positions(count.max(1), rng);
        let large = self.number(top, rng);
        for (i, &position) in positions.iter().take(count).enumerate() {
            let number = match (i, rng.below(4)) {
                (0, _) => large,
                (1, 0) => large.signed(!large.negative),
                _ => self.number(top - self.gap(rng), rng),
            };
            self.put(draft, position, number, rng)?;
        }
        match rng.below(if count == 0 { 2 } else { 4 }) {
            0 => {
                let exponent = least + rng.range(0, 30);
                draft.addend(self.number(exponent, rng))
            }
            1 => {
                let exponent = top - self.gap(rng);
                draft.addend(self.number(exponent, rng))
            }
            _ => Some(()),
        }
    }

    pub(super) fn subnormal(&self, draft: &mut Draft, rng: &mut Random) -> Option<()> {
        let (a, b) = (self.formats.a.info(), self.formats.b.info());
        let d = self.formats.output.info();
        let count = rng.range(0, 3) as usize;
        for &position in self.positions(count.max(1), rng).iter().take(count) {
            let below = |bits: u32, rng: &mut Random| rng.below(1 << bits).max(1);
            let (mut x, mut y) = (
                below(a.fraction_bits, rng) << a.ignored_bits,
                below(b.fraction_bits, rng) << b.ignored_bits,
            );
            // Often only one of the two is subnormal, and the other large enough to bring it back.
            if rng.one_in(2) {
                let field = rng.below((1 << b.exponent_bits) - 1).max(1);
                y |= field << (b.fraction_bits + b.ignored_bits);
            } else if rng.one_in(2) {
                let field = rng.below((1 << a.exponent_bits) - 1).max(1);
                x |= field << (a.fraction_bits + a.ignored_bits);
            }
            if rng.one_in(2) {
                x = negated(self.formats.a, x);
            }
            draft.factors(position, x, y);
        }
        match rng.below(3) {
            0 => {
                let mut c = rng.below(1 << d.fraction_bits);
                if rng.one_in(2) {
                    let bits = rng.below(u64::from(d.fraction_bits) + 1);
                    c = rng.below(1 << bits);
                }
                draft.addend_bits(if rng.one_in(2) { c } else { c | d.sign_bit() });
            }
            1 => {
                let exponent = d.min_exponent() + rng.range(0, 2);
                draft.addend(self.number(exponent, rng))?;
            }
            _ => {}
        }
        Some(())
    }

    pub(super) fn huge(&self, draft: &mut Draft, rng: &mut Random) -> Option<()> {
        let d = self.formats.output.info();
        let (_, product_high) = self.formats.product_exponents();
        let top = (d.max_exponent() + rng.range(-2, 3)).min(product_high);
        let count = rng.range(0, 3) as usize;
        let positions = self.positions(count.max(1), rng);
        let large = self.number(top, rng);
        for (i, &position) in positions.iter().take(count).enumerate() {
            let number = match (i, rng.below(3)) {
                (0, _) => large,
                (1, 0) => large.signed(!large.negative),
                _ => {
                    let exponent = top - rng.range(0, d.fraction_bits as i32 + 3);
                    self.number(exponent, rng)
                }
            };
            self.put(draft, position, number, rng)?;
        }
        let sign = if rng.one_in(2) { d.sign_bit() } else { 0 };
        match rng.below(3) {
            0 => draft.addend_bits((d.max_finite() - rng.below(4)) | sign),
            1 => draft.addend(self.number(d.max_exponent() - rng.range(0, 2), rng))?,
            _ => {}
        }
        Some(())
    }

    pub(super) fn special(&self, draft: &mut Draft, rng: &mut Random) -> Option<()> {
        let top = self.anchor(rng).min(8);
        let count = rng.range(1, 3) as usize;
        for &position in &self.positions(count, rng) {
            let (mut a, mut b) =
                super::vector::factors(&self.formats, Number::power(top), Split::Plain)?;
            match rng.below(6) {
                0 | 1 => a = rng.pick(&specials(self.formats.a)),
                2 | 3 => b = rng.pick(&specials(self.formats.b)),
                4 => {
                    a = rng.pick(&specials(self.formats.a));
                    let special = rng.pick(&specials(self.formats.b));
                    b = rng.pick(&[0, special]);
                }
                _ => {}
            }
            if rng.one_in(2) && decode(self.formats.a, a).class != Class::Zero {
                a = negated(self.formats.a, a);
            }
            draft.factors(position, a, b);
        }
        match rng.below(3) {
            0 => draft.addend_bits(rng.pick(&specials(self.formats.output))),
            1 => draft.addend(self.number(top, rng))?,
            _ => {}
        }
        Some(())
    }

    pub(super) fn denormal(&self, draft: &mut Draft, rng: &mut Random) -> Option<()> {
        let top = self.anchor(rng);
        let large = Number {
            negative: rng.one_in(2),
            significand: 9,
            unit: top - 3,
        };
        let split = rng.pick(&[Split::Square, Split::Plain]);
        let count = rng.range(2, 4) as usize;
        let positions = self.positions(count, rng);
        draft.product(positions[0], large, split)?;
        for &position in &positions[1..] {
            if rng.one_in(3) {
                // Split as the first one, so that both lie where its factors put it.
                draft.product(position, large.signed(!large.negative), split)?;
            } else {
                let number = self.number(top - self.gap(rng), rng);
                draft.product(position, number, Split::Plain)?;
            }
        }
        match rng.below(3) {
            0 => draft.addend(self.number(top - self.gap(rng), rng)),
            1 => draft.addend(large.signed(!large.negative)),
            _ => Some(()),
        }
    }

    pub(super) fn blocks(&self, draft: &mut Draft, rng: &mut Random) -> Option<()> {
        let top = self.anchor(rng);
        let fma = self.hints.fma.max(1);
        let place = |rng: &mut Random| -> usize {
            let at = match rng.below(4) {
                0 => rng.below(self.k as u64) as usize,
                1 => fma * rng.range(0, 3) as usize + rng.below(3) as usize,
                2 => (fma * rng.range(1, 3) as usize).saturating_sub(1 + rng.below(2) as usize),
                _ => rng.below(2 * fma as u64) as usize,
            };
            at.min(self.k - 1)
        };
        let count = rng.range(2, 4);
        let large = self.number(top, rng);
        let mut used = Vec::new();
        for i in 0..count {
            let position = place(rng);
            if used.contains(&position) {
                continue;
            }
            used.push(position);
            let number = match (i, rng.below(3)) {
                (0, _) => large,
                (_, 0) => large.signed(!large.negative),
                _ => self.number(top - self.gap(rng), rng),
            };
            self.put(draft, position, number, rng)?;
        }
        match rng.below(4) {
            0 => draft.addend(large.signed(!large.negative)),
            1 => draft.addend(self.number(top - self.gap(rng), rng)),
            2 => draft.addend(self.number(top + rng.range(0, 6), rng)),
            _ => Some(()),
        }
    }

    pub(super) fn dense(&self, draft: &mut Draft, rng: &mut Random) -> Option<()> {
        let count = match rng.below(3) {
            0 => rng.range(1, 4) as usize,
            1 => self.hints.fma.max(2),
            _ => rng.below(self.k as u64) as usize + 1,
        }
        .min(self.k);
        let spread = rng.pick(&[0, 1, 4, 12, 30, 90]);
        let anchor = match rng.below(4) {
            0 => self.low_anchor(rng),
            _ => self.anchor(rng),
        };
        let element = |format: Format, exponent: i32, rng: &mut Random| {
            let info = format.info();
            let lowest = info.min_exponent() - 1;
            let exponent = exponent.clamp(lowest, info.max_exponent());
            let fraction = rng.bits() >> (64 - info.fraction_bits);
            let fraction = if rng.one_in(4) { 0 } else { fraction };
            let code = ((exponent - lowest) as u64) << info.fraction_bits | fraction;
            let code = (code << info.ignored_bits).min(info.max_finite());
            if rng.one_in(2) {
                negated(format, code)
            } else {
                code
            }
        };
        for position in 0..count {
            let lead = anchor - rng.range(0, spread);
            let x = lead.div_euclid(2) + rng.range(-2, 2);
            let a = element(self.formats.a, x, rng);
            let b = element(self.formats.b, lead - x, rng);
            draft.factors(position, a, b);
        }
        if !rng.one_in(4) {
            let exponent = anchor + rng.range(-spread - 2, 8);
            draft.addend_bits(element(self.formats.output, exponent, rng));
        }
        Some(())
    }

    pub(super) fn bits(&self, draft: &mut Draft, rng: &mut Random) -> Option<()> {
        let count = (rng.below(self.k as u64) as usize + 1).min(2 * self.hints.fma.max(2));
        let finite = |format: Format, rng: &mut Random| loop {
            let bits = rng.bits() >> (64 - format.info().storage_bits);
            if matches!(decode(format, bits).class, Class::Zero | Class::Finite) {
                return bits;
            }
        };
        for position in 0..count {
            let (a, b) = (finite(self.formats.a, rng), finite(self.formats.b, rng));
            draft.factors(position, a, b);
        }
        draft.addend_bits(finite(self.formats.output, rng));
        Some(())
    }
}
