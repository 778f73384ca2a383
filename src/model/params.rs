//! The features of a matrix unit, one documented field each (paper, Table 3 and section 7).

use crate::error::{Error, ErrorCode};
use crate::format::{Format, Rounding};

/// How the products of one block and the addend c are added up (paper, section 7).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Scheme {
    /// One fused multiply-add after the other, in the order of k, each rounded once to the output format. On NVIDIA's
    /// binary64 units a step with NaN operands returns one of them, quieted: b's, else the addend's, else a's; an
    /// invalid step returns fff8000000000000.
    SequentialFma,
    /// All products of a block and c added without error, one rounding at the end (CDNA 1).
    CorrectRounding,
    /// Products rounded to the output format, added two by two in a tree, c added last; every step rounds (CDNA 2).
    PairwiseSum,
    /// Products aligned to the largest exponent, cut, added as integers, rounded once (NVIDIA, CDNA 3).
    GlobalAlignment,
    /// As `GlobalAlignment`, but the 1st, 3rd, ... and the 2nd, 4th, ... products are aligned and added apart, then
    /// together, then c is added (CDNA 3, 8-bit inputs).
    OddEvenGrouping,
}

/// In which order a block takes its elements, and where c joins.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Interleave {
    /// Elements in order, c joins as the scheme says.
    None,
    /// A block is two half blocks: first the elements whose index mod 4 is 0 or 1, started from zero, then those whose
    /// index mod 4 is 2 or 3, started from the first half's result; c is added last, by one IEEE addition (RNE) in the
    /// output format. 8-bit inputs count as the binary16 numbers that they are converted to: a subnormal E4M3 factor
    /// has its true exponent, not -6. How Hopper and Blackwell run 8-bit inputs through mma.sync.
    Mod4,
}

/// The conventions that a vendor's units share: NaN's encoding and the sign of zero results.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Conventions {
    /// NaN is the quiet NaN with its sign bit set and only the first fraction bit (binary32: ffc00000); a nonzero sum
    /// that rounds or flushes to zero keeps its sign.
    Amd,
    /// NaN has all bits but the sign set (binary32: 7fffffff), and a zero result is +0; binary64 units propagate NaNs
    /// instead (see [`Scheme::SequentialFma`]) and follow IEEE 754 in the signs of zeros.
    Nvidia,
    /// As MATLAB Tensor Core v0.6 computes pairs of formats that no hardware has: NaN as NVIDIA's, zero results keep
    /// their sign, and c is a binary32 number, between blocks too, so that with binary16 output only the last block's
    /// result can overflow.
    Toolbox,
}

/// The features of a matrix unit. `Params::default()` is a unit like the A100's for binary16 inputs.
///
/// Not every field matters to every [`Scheme`]; each says to which it does. Names in brackets are the toolbox's.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Params {
    /// How a block is summed.
    pub scheme: Scheme,
    /// N_FMA: products in one block (`fma`), 1 to [`Params::MAX_FMA`]. Longer products run block after block.
    pub fma: u32,
    /// Order of the elements in a block.
    pub interleave: Interleave,
    /// F: fractional bits kept, relative to the maximum exponent, when a term is aligned; 23 + `neab`.
    /// `GlobalAlignment` and `OddEvenGrouping`.
    pub alignment_bits: u32,
    /// Does a bit below the alignment bits remember whether a term lost anything (`stkbitenabled`)?
    /// `GlobalAlignment` with early c.
    pub sticky: bool,
    /// Is c added after the products have been summed (`late_partial_sum`)? `GlobalAlignment`; always in
    /// `OddEvenGrouping`.
    pub late_c: bool,
    /// Are products kept as significand product times 2^(sum of exponents), |significand| < 4 (`denorm_prd`)? Else a
    /// significand of 2 or more is halved and its exponent raised.
    pub denormal_products: bool,
    /// Rounding of a sum or of c when one is aligned to the other (`armode`). Late c and `OddEvenGrouping`.
    pub alignment_rounding: Rounding,
    /// Fractional bits kept of the sum of products when it is aligned to a larger c. Late c.
    /// The larger c keeps as many, so one with a longer fraction is rounded too.
    pub late_sum_bits: u32,
    /// Fractional bits, relative to the normalised exponent, to which the total is rounded down before the final
    /// rounding when the sum of products was aligned to c; `None`: no such step. Late c.
    /// It acts on c alone where a block has no products.
    pub late_total_bits: Option<u32>,
    /// A late c more than this many binades below the largest product exponent is dropped instead of rounded;
    /// `None`: never. `OddEvenGrouping`.
    pub drop_c_beyond: Option<u32>,
    /// The maximum exponent is not taken below this (`min_exp_limit`); `None`: no limit.
    pub min_exponent: Option<i32>,
    /// Exponent that c = 0 counts with when c is added late (`c_min_exp_limit`); `None`: it takes no part.
    pub zero_c_exponent: Option<i32>,
    /// Is a product of magnitude 2^128 (in general 2^(emax + 1) of the output format) or more an infinity of its own
    /// sign (`prd_limit`)?
    pub product_limit: bool,
    /// Final rounding (`frmode`).
    pub rounding: Rounding,
    /// Are subnormal inputs kept (`in_subnormals`)? Else they become zero.
    pub in_subnormals: bool,
    /// Are subnormal c and results kept (`out_subnormals`)? Else they become zero.
    pub out_subnormals: bool,
    /// Is a tf32 word cut to its first 19 bits before NaNs are told from infinities? Then a NaN whose payload lies in
    /// the last 13 bits is an infinity. Measured on an H200; elsewhere nobody has measured it.
    pub nan_after_cut: bool,
    /// NaN's encoding and zero's sign.
    pub conventions: Conventions,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            scheme: Scheme::GlobalAlignment,
            fma: 8,
            interleave: Interleave::None,
            alignment_bits: 24,
            sticky: false,
            late_c: false,
            denormal_products: true,
            alignment_rounding: Rounding::TowardZero,
            late_sum_bits: 32,
            late_total_bits: None,
            drop_c_beyond: None,
            min_exponent: None,
            zero_c_exponent: None,
            product_limit: false,
            rounding: Rounding::TowardZero,
            in_subnormals: true,
            out_subnormals: true,
            nan_after_cut: false,
            conventions: Conventions::Nvidia,
        }
    }
}

impl Params {
    /// Largest block size.
    pub const MAX_FMA: u32 = 4096;
    /// Largest number of alignment bits, and of bits kept of a late sum.
    pub const MAX_BITS: u32 = 48;

    /// Fraction bits of the result: those of the format, or the alignment bits where these are fewer.
    pub fn result_bits(&self, output: Format) -> u32 {
        let all = output.info().fraction_bits;
        match self.scheme {
            Scheme::GlobalAlignment | Scheme::OddEvenGrouping => all.min(self.alignment_bits),
            _ => all,
        }
    }

    /// Is a NaN result one of the operands rather than the unit's own NaN? See [`Scheme::SequentialFma`].
    pub fn propagates_nans(&self, output: Format) -> bool {
        self.conventions == Conventions::Nvidia && output == Format::Fp64
    }

    /// The part of an input word that the unit looks at when it tells NaNs from infinities: see
    /// [`Params::nan_after_cut`].
    pub fn visible(&self, format: Format, bits: u64) -> u64 {
        if self.nan_after_cut {
            bits & !((1 << format.info().ignored_bits) - 1)
        } else {
            bits
        }
    }

    /// Format that c has between blocks: the output format, or binary32 in units that follow the toolbox.
    pub fn carry(&self, output: Format) -> Format {
        let aligned = matches!(
            self.scheme,
            Scheme::GlobalAlignment | Scheme::OddEvenGrouping
        );
        match (self.conventions, output) {
            (Conventions::Toolbox, Format::Fp16) if aligned => Format::Fp32,
            _ => output,
        }
    }

    /// Is c added after the products?
    pub fn adds_c_late(&self) -> bool {
        match self.scheme {
            Scheme::GlobalAlignment => self.late_c,
            Scheme::OddEvenGrouping => true,
            _ => false,
        }
    }

    /// Refuses combinations that have no meaning, naming the field.
    pub fn check(&self, inputs: [Format; 2], output: Format) -> Result<(), Error> {
        let refuse = |message: String| Err(Error::new(ErrorCode::InvalidParams, message));
        if !(1..=Self::MAX_FMA).contains(&self.fma) {
            return refuse(format!(
                "params.fma is {}; allowed: 1 to {}",
                self.fma,
                Self::MAX_FMA
            ));
        }
        if !matches!(output, Format::Fp64 | Format::Fp32 | Format::Fp16) {
            return refuse(format!(
                "the output format is {output}; allowed: fp64, fp32, fp16"
            ));
        }
        let double = inputs.contains(&Format::Fp64) || output == Format::Fp64;
        if double && !matches!(self.scheme, Scheme::SequentialFma | Scheme::CorrectRounding) {
            return refuse(
                "fp64 is possible only with params.scheme sequential FMA or correct rounding"
                    .into(),
            );
        }
        let aligned = matches!(
            self.scheme,
            Scheme::GlobalAlignment | Scheme::OddEvenGrouping
        );
        if aligned && !(1..=Self::MAX_BITS).contains(&self.alignment_bits) {
            return refuse(format!(
                "params.alignment_bits (23 + neab) is {}; allowed: 1 to {}",
                self.alignment_bits,
                Self::MAX_BITS
            ));
        }
        if self.scheme == Scheme::PairwiseSum && !self.fma.is_power_of_two() {
            return refuse(format!(
                "params.fma is {}; a pairwise sum needs a power of two",
                self.fma
            ));
        }
        if self.scheme == Scheme::OddEvenGrouping && !self.fma.is_multiple_of(2) {
            return refuse(format!(
                "params.fma is {}; odd-even grouping needs an even number",
                self.fma
            ));
        }
        if self.interleave == Interleave::Mod4
            && (self.scheme != Scheme::GlobalAlignment || !self.fma.is_multiple_of(4))
        {
            return refuse(
                "params.interleave needs global alignment and params.fma divisible by 4".into(),
            );
        }
        if self.adds_c_late() {
            let least = self.alignment_bits;
            if !(least..=Self::MAX_BITS).contains(&self.late_sum_bits) {
                return refuse(format!(
                    "params.late_sum_bits is {}; allowed: {least} (the alignment bits) to {}",
                    self.late_sum_bits,
                    Self::MAX_BITS
                ));
            }
            if self
                .late_total_bits
                .is_some_and(|bits| bits > Self::MAX_BITS)
            {
                return refuse(format!(
                    "params.late_total_bits is above {}",
                    Self::MAX_BITS
                ));
            }
            if self.sticky && self.scheme == Scheme::GlobalAlignment {
                return refuse(
                    "params.sticky (stkbitenabled) has no meaning when c is added late (late_partial_sum)"
                        .into(),
                );
            }
        }
        for (name, exponent) in [
            ("min_exponent (min_exp_limit)", self.min_exponent),
            ("zero_c_exponent", self.zero_c_exponent),
        ] {
            if exponent.is_some_and(|e| !(-1100..=1100).contains(&e)) {
                return refuse(format!("params.{name} is outside -1100 to 1100"));
            }
        }
        Ok(())
    }
}
