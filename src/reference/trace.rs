//! What the reference does, step by step, for whoever wants to know.
//!
//! The algorithms tell an [`Observer`] of every step. The observer `()` listens to nothing and costs nothing.

use super::Operand;
use crate::format::{Decoded, Exact};

/// Which quantity a step is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Item {
    /// The product of the block's element with this index.
    Product(usize),
    /// c.
    Addend,
    /// The sum of the products (with early c, of all terms).
    Sum,
    /// The sum of the 1st, 3rd, ... products of a block.
    OddSum,
    /// The sum of the 2nd, 4th, ... products of a block.
    EvenSum,
    /// The sum of the products and c.
    Total,
}

/// An integer times a power of two: `value` * 2^`unit`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fixed {
    /// Signed integer.
    pub value: i128,
    /// Weight of its last bit.
    pub unit: i32,
}

/// One step.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Step {
    /// A block begins, with this many elements from index `first` on, and c.
    Block {
        /// Index of its first element.
        first: usize,
        /// Number of its elements.
        count: usize,
        /// The addend: the caller's, or the result of the block before.
        c: Operand,
    },
    /// A half of an interleaved block begins: elements whose index mod 4 is `first` or `first` + 1.
    Half {
        /// 0 or 2.
        first: usize,
    },
    /// A subnormal c is taken as +0.
    FlushedAddend,
    /// A product of two finite factors, exactly; `exponent` is the one that it is aligned by.
    Product {
        /// Index in the block.
        index: usize,
        /// First factor, as the unit takes it.
        a: Decoded,
        /// Second factor.
        b: Decoded,
        /// Its value; `None` if it is zero.
        value: Option<Fixed>,
        /// Its exponent: the sum of the factors' exponents, or one more where products are normalised.
        exponent: i32,
    },
    /// Something is not finite, and this is the result.
    Special {
        /// Encoding of the result.
        result: u64,
    },
    /// The exponent that terms are aligned to.
    MaxExponent {
        /// Which sum they go into.
        item: Item,
        /// The exponent.
        exponent: i32,
        /// Is it the unit's limit, above that of every term?
        limited: bool,
    },
    /// A term or a sum is brought to another unit, losing what lies below.
    Aligned {
        /// What.
        item: Item,
        /// Before.
        from: Fixed,
        /// After.
        to: Fixed,
    },
    /// c = 0 counts with an exponent of its own.
    ZeroAddend {
        /// The exponent.
        exponent: i32,
    },
    /// c lies so far below the products that it is dropped.
    DroppedAddend,
    /// A sum.
    Sum {
        /// Which.
        item: Item,
        /// Its value.
        value: Fixed,
    },
    /// An exact sum of any length: its leading bits, and whether there are more.
    ExactSum {
        /// Its value.
        value: Exact,
    },
    /// A product is rounded to the output format.
    RoundedProduct {
        /// Index in the block.
        index: usize,
        /// Encoding.
        result: u64,
    },
    /// Two numbers are added as IEEE 754 adds.
    Added {
        /// First.
        x: Operand,
        /// Second.
        y: Operand,
        /// Encoding of the rounded sum.
        result: u64,
    },
    /// A fused multiply-add is done.
    Fused {
        /// Index in the block.
        index: usize,
        /// Encoding of the rounded result.
        result: u64,
    },
    /// The total is rounded to the format that the block's result has.
    Rounded {
        /// Before.
        value: Exact,
        /// Encoding.
        result: u64,
    },
    /// The block's result.
    BlockResult {
        /// Encoding, in the format that c has between blocks.
        result: u64,
    },
    /// The result of the dot product.
    Result {
        /// Encoding, in the output format.
        result: u64,
    },
}

/// Is told of every step.
pub trait Observer {
    /// Takes a step.
    fn step(&mut self, step: Step);
}

impl Observer for () {
    #[inline(always)]
    fn step(&mut self, _: Step) {}
}

impl Observer for Vec<Step> {
    fn step(&mut self, step: Step) {
        self.push(step);
    }
}
