//! The table of formats: one row each.

/// A floating-point format of a matrix unit's operand or result.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Format {
    /// IEEE binary64.
    Fp64,
    /// IEEE binary32.
    Fp32,
    /// TensorFloat-32 (AMD: xf32): a binary32 word of which the unit reads the first 19 bits.
    Tf32,
    /// IEEE binary16.
    Fp16,
    /// bfloat16: the first 16 bits of a binary32.
    Bf16,
    /// OCP 8-bit E4M3: no infinities, NaN is S.1111.111.
    E4m3,
    /// OCP 8-bit E5M2: IEEE-like, with infinities.
    E5m2,
    /// 8-bit E4M3 as AMD CDNA 3 has it: bias 8, one zero, NaN is 80, no infinities.
    E4m3Fnuz,
    /// 8-bit E5M2 as AMD CDNA 3 has it: bias 16, one zero, NaN is 80, no infinities.
    E5m2Fnuz,
}

/// Which encodings of a format are not finite numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Specials {
    /// IEEE 754: an exponent field of ones is an infinity (fraction 0) or a NaN.
    Ieee,
    /// OCP E4M3: no infinities; the one NaN of each sign has all exponent and fraction bits set.
    OnlyNan,
    /// "FNUZ": finite numbers, one NaN in the place of negative zero, unsigned zero.
    Fnuz,
}

/// One row of [`FORMATS`].
#[derive(Clone, Copy, Debug)]
pub struct FormatInfo {
    /// The format that this row describes.
    pub format: Format,
    /// Number of the format in the C ABI (`MFMA_FMT_*`).
    pub code: i32,
    /// Short name, as in file names of test vectors.
    pub name: &'static str,
    /// Other accepted names, lower case.
    pub aliases: &'static [&'static str],
    /// Bits that one element takes in memory: 8, 16, 32 or 64.
    pub storage_bits: u32,
    /// Width of the exponent field.
    pub exponent_bits: u32,
    /// Stored significand (fraction) bits.
    pub fraction_bits: u32,
    /// Bits below the fraction that the unit does not read (13 for tf32, else 0).
    pub ignored_bits: u32,
    /// Exponent bias.
    pub bias: i32,
    /// Meaning of the encodings that are not finite numbers.
    pub specials: Specials,
}

macro_rules! row {
    ($format:ident, $code:expr, $name:expr, $aliases:expr, $storage:expr, $exp:expr, $frac:expr, $ignored:expr, $bias:expr, $specials:ident) => {
        FormatInfo {
            format: Format::$format,
            code: $code,
            name: $name,
            aliases: $aliases,
            storage_bits: $storage,
            exponent_bits: $exp,
            fraction_bits: $frac,
            ignored_bits: $ignored,
            bias: $bias,
            specials: Specials::$specials,
        }
    };
}

/// All formats, in the order of [`Format`].
#[rustfmt::skip]
pub const FORMATS: [FormatInfo; 9] = [
    //   format    code name         aliases                                          storage exp frac ignored bias specials
    row!(Fp64,     0,   "fp64",      &["double", "binary64", "float64"],                 64, 11, 52, 0,  1023, Ieee),
    row!(Fp32,     1,   "fp32",      &["single", "binary32", "float32"],                 32,  8, 23, 0,   127, Ieee),
    row!(Tf32,     2,   "tf32",      &["tensorfloat32", "xf32"],                         32,  8, 10, 13,  127, Ieee),
    row!(Fp16,     3,   "fp16",      &["half", "binary16", "float16"],                   16,  5, 10, 0,    15, Ieee),
    row!(Bf16,     4,   "bf16",      &["bfloat16", "brainfloat16"],                      16,  8,  7, 0,   127, Ieee),
    row!(E4m3,     5,   "e4m3",      &["fp8-e4m3"],                                       8,  4,  3, 0,     7, OnlyNan),
    row!(E5m2,     6,   "e5m2",      &["fp8-e5m2"],                                       8,  5,  2, 0,    15, Ieee),
    row!(E4m3Fnuz, 7,   "e4m3fnuz",  &[],                                                 8,  4,  3, 0,     8, Fnuz),
    row!(E5m2Fnuz, 8,   "e5m2fnuz",  &[],                                                 8,  5,  2, 0,    16, Fnuz),
];

impl Format {
    /// The row of [`FORMATS`] for this format.
    pub const fn info(self) -> &'static FormatInfo {
        &FORMATS[self as usize]
    }

    /// The format with this number in the C ABI, if there is one.
    pub fn from_code(code: i32) -> Option<Format> {
        FORMATS
            .iter()
            .find(|row| row.code == code)
            .map(|row| row.format)
    }

    /// Short name, as in file names of test vectors: "fp16", "e4m3fnuz", ...
    pub const fn name(self) -> &'static str {
        self.info().name
    }

    /// Bytes that one element takes in memory.
    pub const fn bytes(self) -> usize {
        (self.info().storage_bits / 8) as usize
    }
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl FormatInfo {
    /// Exponent of the smallest normal number, and of all subnormal ones.
    pub const fn min_exponent(&self) -> i32 {
        1 - self.bias
    }

    /// Exponent of the largest finite number.
    pub const fn max_exponent(&self) -> i32 {
        let top = (1 << self.exponent_bits) - 1 - self.bias;
        match self.specials {
            Specials::Ieee => top - 1,
            Specials::OnlyNan | Specials::Fnuz => top,
        }
    }

    /// Encoding of the largest finite positive number.
    pub const fn max_finite(&self) -> u64 {
        let all_ones = (1u64 << (self.exponent_bits + self.fraction_bits)) - 1;
        let code = match self.specials {
            Specials::Ieee => all_ones - (1 << self.fraction_bits),
            Specials::OnlyNan => all_ones - 1,
            Specials::Fnuz => all_ones,
        };
        code << self.ignored_bits
    }

    /// The sign bit in place.
    pub const fn sign_bit(&self) -> u64 {
        1 << (self.storage_bits - 1)
    }
}
