//! Numbers that have been loaded and not yet packed.

/// Where a strip's numbers are.
#[derive(Clone, Copy, Debug)]
pub enum Values<'a> {
    /// Equal to the encodings of any format but binary64.
    Single(&'a [f32]),
    /// binary64 units.
    Double(&'a [f64]),
}

/// `k` rows of `lanes` numbers; number (p, l) is at `p * lanes + l`.
#[derive(Clone, Copy, Debug)]
pub struct Strip<'a> {
    /// The numbers.
    pub values: Values<'a>,
    /// Numbers in a row: MR or NR.
    pub lanes: usize,
    /// Rows; a multiple of the kernel's block.
    pub k: usize,
    /// Rows before the end of K; what follows is +0.
    pub filled: usize,
}

impl<'a> Strip<'a> {
    /// The numbers of a unit that is not a binary64 one.
    pub fn single(&self) -> &'a [f32] {
        match self.values {
            Values::Single(values) => values,
            Values::Double(_) => unreachable!("a strip of binary64 numbers for a binary32 kernel"),
        }
    }

    /// The numbers of a binary64 unit.
    pub fn double(&self) -> &'a [f64] {
        match self.values {
            Values::Double(values) => values,
            Values::Single(_) => unreachable!("a strip of binary32 numbers for a binary64 kernel"),
        }
    }
}

/// Room for one strip.
#[derive(Default)]
pub struct StripBuffer {
    pub(super) single: Vec<f32>,
    pub(super) double: Vec<f64>,
    pub(super) lines: Vec<f32>,
}
