//! The paper's algorithms, step by step, integers only: slow, obvious, and right.
//!
//! One file per accumulation scheme. Nothing here is shared with the fast kernels, and no host floating-point
//! arithmetic is used: every result is independent of the machine and its rounding mode.
//!
//! [`dot`] runs block after block; [`block`] is what the hardware does in one step.

mod correct_rounding;
mod global_alignment;
mod ieee;
mod interleave;
mod odd_even_grouping;
mod pairwise_sum;
mod sequential_fma;
mod special;
mod term;
mod trace;
mod wide;

pub use trace::{Fixed, Item, Observer, Step};

use crate::format::{
    Class, Decoded, Exact, Format, Overflow, Rounding, decode, infinity, round_pack, round_pack_to,
    zero,
};
use crate::model::{Conventions, Interleave, Params, Scheme};

/// A number together with the format that it was decoded from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operand {
    /// Its format.
    pub format: Format,
    /// Its value.
    pub value: Decoded,
}

impl Operand {
    /// Decodes an encoding.
    pub fn new(format: Format, bits: u64) -> Operand {
        Operand {
            format,
            value: decode(format, bits),
        }
    }

    fn zero(format: Format) -> Operand {
        Operand {
            format,
            value: Decoded::ZERO,
        }
    }

    /// Is this number subnormal in, or below, the normal range of `output`?
    fn below_normal_range_of(&self, output: Format) -> bool {
        self.value.class == Class::Finite && {
            let leading = self.value.significand.ilog2() as i32;
            let exponent = self.value.exponent - self.format.info().fraction_bits as i32 + leading;
            exponent < output.info().min_exponent()
        }
    }
}

/// What a unit multiplies and adds with: its parameters and the formats around them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unit<'a> {
    /// Features.
    pub params: &'a Params,
    /// Format of a's elements.
    pub a: Format,
    /// Format of b's elements.
    pub b: Format,
    /// Format of the result.
    pub output: Format,
}

impl Unit<'_> {
    /// An element of a or b as the unit reads it.
    pub fn factor(&self, format: Format, bits: u64) -> Decoded {
        decode(format, self.params.visible(format, bits))
    }

    /// Format of c between blocks, and of a block's result.
    pub fn carry(&self) -> Format {
        self.params.carry(self.output)
    }
}

/// Dot product of `a` and `b` (equally long) plus `c` through `unit`: blocks in order, each block's result the next
/// block's c, the last block filled with zero products. Returns the encoding of the result in the output format.
pub fn dot(unit: Unit, a: &[Decoded], b: &[Decoded], c: Operand) -> u64 {
    observed_dot(unit, a, b, c, &mut ())
}

/// [`dot`], telling an observer of every step.
pub fn observed_dot(
    unit: Unit,
    a: &[Decoded],
    b: &[Decoded],
    c: Operand,
    o: &mut impl Observer,
) -> u64 {
    assert_eq!(a.len(), b.len());
    let mut c = in_carry_format(unit, c);
    let size = unit.params.fma as usize;
    for (i, (a_block, b_block)) in a.chunks(size).zip(b.chunks(size)).enumerate() {
        let (first, count) = (i * size, a_block.len());
        o.step(Step::Block { first, count, c });
        let result = observed_block(unit, a_block, b_block, c, o);
        o.step(Step::BlockResult { result });
        c = Operand::new(unit.carry(), result);
    }
    let result = repack(unit, c, unit.output, unit.params.rounding);
    o.step(Step::Result { result });
    result
}

/// [`dot`] of `k` pairs of factors that are made when they are needed: only one block of them is in memory at a time.
pub fn dot_of(unit: Unit, k: usize, pair: impl Fn(usize) -> (Decoded, Decoded), c: Operand) -> u64 {
    let size = unit.params.fma as usize;
    let (mut a, mut b) = (Vec::with_capacity(size), Vec::with_capacity(size));
    let mut c = in_carry_format(unit, c);
    for first in (0..k).step_by(size) {
        a.clear();
        b.clear();
        for (x, y) in (first..k.min(first + size)).map(&pair) {
            a.push(x);
            b.push(y);
        }
        c = Operand::new(unit.carry(), block(unit, &a, &b, c));
    }
    repack(unit, c, unit.output, unit.params.rounding)
}

/// c as the unit carries it from block to block; wider than the output in units that follow the toolbox.
fn in_carry_format(unit: Unit, c: Operand) -> Operand {
    let carry = unit.carry();
    if carry.info().fraction_bits <= c.format.info().fraction_bits {
        return c;
    }
    Operand::new(carry, repack(unit, c, carry, Rounding::NearestEven))
}

/// Brings a number to another format.
fn repack(unit: Unit, x: Operand, to: Format, rounding: Rounding) -> u64 {
    match x.value.class {
        Class::Zero => zero(to, x.value.negative),
        Class::Infinite => infinity(to, x.value.negative),
        Class::Nan => {
            let canonical = special::canonical_nan(unit.params.conventions, to);
            special::propagated_nan(unit, &[x]).unwrap_or(canonical)
        }
        Class::Finite => {
            let exact = Exact {
                negative: x.value.negative,
                magnitude: x.value.significand.into(),
                sticky: false,
                unit: x.value.exponent - x.format.info().fraction_bits as i32,
            };
            round_pack(to, exact, rounding, Overflow::Infinity)
        }
    }
}

/// One block: at most N_FMA products and c. Returns the encoding of the result in [`Unit::carry`]'s format.
pub fn block(unit: Unit, a: &[Decoded], b: &[Decoded], c: Operand) -> u64 {
    observed_block(unit, a, b, c, &mut ())
}

fn observed_block<O: Observer>(
    unit: Unit,
    a: &[Decoded],
    b: &[Decoded],
    c: Operand,
    o: &mut O,
) -> u64 {
    debug_assert!(a.len() <= unit.params.fma as usize);
    if unit.params.interleave == Interleave::Mod4 {
        return interleave::block(unit, a, b, c, o);
    }
    let taken = flush_addend(unit, c);
    if taken != c {
        o.step(Step::FlushedAddend);
    }
    let scheme = match unit.params.scheme {
        Scheme::SequentialFma => sequential_fma::block,
        Scheme::CorrectRounding => correct_rounding::block,
        Scheme::PairwiseSum => pairwise_sum::block,
        Scheme::GlobalAlignment => global_alignment::block,
        Scheme::OddEvenGrouping => odd_even_grouping::block,
    };
    scheme(unit, a, b, taken, o)
}

/// A unit without subnormal numbers takes a subnormal c as +0.
fn flush_addend(unit: Unit, c: Operand) -> Operand {
    if !unit.params.out_subnormals && c.below_normal_range_of(unit.output) {
        Operand::zero(c.format)
    } else {
        c
    }
}

/// A unit without subnormal inputs takes a subnormal factor as +0.
fn flush_factor(unit: Unit, format: Format, factor: Decoded) -> Decoded {
    let subnormal =
        factor.class == Class::Finite && factor.significand >> format.info().fraction_bits == 0;
    if !unit.params.in_subnormals && subnormal {
        Decoded::ZERO
    } else {
        factor
    }
}

/// The final rounding of a nonzero sum, and what becomes of results that are zero or subnormal.
fn finish(unit: Unit, sum: Exact, o: &mut impl Observer) -> u64 {
    let result = rounded(unit, sum);
    o.step(Step::Rounded { value: sum, result });
    result
}

fn rounded(unit: Unit, sum: Exact) -> u64 {
    let Params {
        rounding,
        out_subnormals,
        conventions,
        ..
    } = *unit.params;
    let carry = unit.carry();
    let bits = unit.params.result_bits(unit.output);
    let result = if carry == unit.output {
        round_pack_to(unit.output, bits, sum, rounding, Overflow::Infinity)
    } else {
        // Significand and smallest exponent of the output format, exponents without end.
        let leading = sum.unit + sum.magnitude.ilog2() as i32;
        let last = leading.max(unit.output.info().min_exponent()) - bits as i32;
        let signed = if sum.negative {
            -(sum.magnitude as i128)
        } else {
            sum.magnitude as i128
        };
        let exact = Exact {
            magnitude: term::rescale(signed, sum.unit, last, rounding).unsigned_abs(),
            unit: last,
            ..sum
        };
        round_pack(carry, exact, Rounding::NearestEven, Overflow::Infinity)
    };
    let rounded = Operand::new(carry, result);
    let flushed = !out_subnormals && rounded.below_normal_range_of(unit.output);
    if rounded.value.is_zero() || flushed {
        return zero(carry, sum.negative && conventions != Conventions::Nvidia);
    }
    result
}

/// Rounds to the output format and flushes a subnormal result, keeping its sign: the fl() of the paper's section 4.2.
fn fl(unit: Unit, value: Exact, rounding: Rounding) -> u64 {
    let result = round_pack(unit.output, value, rounding, Overflow::Infinity);
    let rounded = Operand::new(unit.output, result);
    if !unit.params.out_subnormals && rounded.below_normal_range_of(unit.output) {
        return zero(unit.output, value.negative);
    }
    result
}

/// [`dot`] on raw encodings; c is in the output format.
pub fn dot_raw(unit: Unit, a: &[u64], b: &[u64], c: u64) -> u64 {
    let decoded = |format, x: &[u64]| -> Vec<Decoded> {
        x.iter().map(|&bits| unit.factor(format, bits)).collect()
    };
    dot(
        unit,
        &decoded(unit.a, a),
        &decoded(unit.b, b),
        Operand::new(unit.output, c),
    )
}
