//! The rows of the paper's section 4 whose words allow more than one reading, with ours.

use mfma::reference::dot_raw;

use crate::common::Expected;
use crate::common::evidence::{committed_folder, paper_rows};

/// How we read some rows.
struct Reading {
    section: &'static str,
    tag: &'static str,
    /// What the paper says.
    words: &'static str,
    /// What we make of it.
    reading: &'static str,
    /// Our result, where it is not the row's `expected`, which follows the words.
    result: Option<u64>,
}

const READINGS: &[Reading] = &[
    Reading {
        section: "4.3.2",
        tag: "c=0 exponent - i=23",
        words: "for p = -2^-150 - 2^-152-i and c = 0, d = -2^-149 for all i >= 0",
        reading: "Algorithm 1, step 4, cuts -2^-175: it lies 25 places below the largest product -2^-150, of which 24 \
                  fractional bits are kept. What remains, -2^-150, is a tie and rounds to -0. \"All i\" ends where the \
                  products' own alignment cuts, at i = 22",
        result: Some(0x8000_0000),
    },
    Reading {
        section: "4.3.3",
        tag: "c=0 exponent - i=23",
        words: "the same experiment, for xf32 stated only as \"the exponent of c is -126\"",
        reading: "as for bf16: Algorithm 1 gives -0",
        result: None,
    },
    Reading {
        section: "4.3.4",
        tag: "c beyond literal",
        words: "we fix p1 = +-1 and p2 = 2^-24, while varying c = +-2^-24-i; for i > 1 the result becomes +-1 in both cases",
        reading: "taken literally p2 stays positive when p1 = -1; then Algorithm 2 gives -1 for i = 1 (c rounded down) and \
                  -(1 - 2^-24) for i > 1 (c dropped). The printed -(1 + 2^-23) and -1 come out when p2 has the sign of p1, \
                  which other rows hold",
        result: None,
    },
];

#[test]
fn ambiguous_rows_as_we_read_them() {
    let rows = paper_rows(&committed_folder());
    let mut count = 0;
    for row in rows.iter().filter(|row| row.ambiguous) {
        let section = row.case.text.split('\t').nth(1).unwrap();
        let reading = READINGS
            .iter()
            .find(|reading| reading.section == section && row.tag.starts_with(reading.tag))
            .unwrap_or_else(|| panic!("{}: no reading of {:?}", row.id, row.tag));
        let d = dot_raw(row.model.unit(), &row.case.a, &row.case.b, row.case.c);
        let expected = reading.result.map_or(row.case.d, Expected::Bits);
        assert!(
            expected.accepts(&row.model, d),
            "{} ({}): got {d:08x}; the paper: {}; our reading: {}",
            row.id,
            row.tag,
            reading.words,
            reading.reading
        );
        println!("{} {d:08x}: {}: {}", row.id, reading.words, reading.reading);
        count += 1;
    }
    assert_eq!(count, 24);
    assert_eq!(rows.len(), 2586);
}
