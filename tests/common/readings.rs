//! How we read the rows of the paper's section 4 whose words allow more than one reading.

use super::Expected;
use super::evidence::PaperRow;

pub struct Reading {
    section: &'static str,
    tag: &'static str,
    /// What the paper says.
    pub words: &'static str,
    /// What we make of it.
    pub reading: &'static str,
    /// Our result, where it is not the row's `expected`, which follows the words.
    result: Option<u64>,
}

pub static READINGS: [Reading; 3] = [
    Reading {
        section: "4.3.2",
        tag: "c=0 exponent - i=23",
        words: "p1 = -2^-150, p2 = -2^-152-i and c = 0 give d = -2^-149 for all i >= 0",
        reading: "Algorithm 1, step 4, cuts p2 = -2^-175: it lies 25 places below the largest product, of which 24 fractional bits \
                  are kept. What remains, -2^-150, is a tie and rounds to -0. \"All i\" ends where the products' own alignment cuts, \
                  at i = 22.",
        result: Some(0x8000_0000),
    },
    Reading {
        section: "4.3.3",
        tag: "c=0 exponent - i=23",
        words: "the same experiment; for xf32 the paper only says that the exponent of c = 0 is -126",
        reading: "As for bf16: Algorithm 1 gives -0.",
        result: None,
    },
    Reading {
        section: "4.3.4",
        tag: "c beyond literal",
        words: "p1 = +-1, p2 = 2^-24, c = +-2^-24-i: d = 1 and -(1 + 2^-23) for i = 1, and d = +-1 in both cases for i > 1",
        reading: "Taken literally p2 stays positive when p1 = -1; then Algorithm 2 gives -1 for i = 1 (c is rounded down) and \
                  -(1 - 2^-24) for i > 1 (c is dropped). The printed results come out when p2 has the sign of p1, which other rows \
                  hold.",
        result: None,
    },
];

impl Reading {
    /// The reading of a row.
    pub fn of(row: &PaperRow) -> &'static Reading {
        let section = row.case.text.split('\t').nth(1).unwrap();
        READINGS
            .iter()
            .find(|reading| reading.section == section && row.tag.starts_with(reading.tag))
            .unwrap_or_else(|| panic!("{}: no reading of {:?}", row.id, row.tag))
    }

    /// The result that we take as right.
    pub fn expected(&self, row: &PaperRow) -> Expected {
        self.result.map_or(row.case.d, Expected::Bits)
    }
}
