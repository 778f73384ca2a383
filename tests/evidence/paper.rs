//! The rows of the paper's section 4 whose words allow more than one reading, with ours.

use mfma::reference::dot_raw;

use crate::common::evidence::{committed_folder, paper_rows};
use crate::common::readings::Reading;

#[test]
fn ambiguous_rows_as_we_read_them() {
    let rows = paper_rows(&committed_folder());
    let mut count = 0;
    for row in rows.iter().filter(|row| row.ambiguous) {
        let reading = Reading::of(row);
        let d = dot_raw(row.model.unit(), &row.case.a, &row.case.b, row.case.c);
        assert!(
            reading.expected(row).accepts(&row.model, d),
            "{} ({}): got {d:08x}; the paper: {}; our reading: {}",
            row.id,
            row.tag,
            reading.words,
            reading.reading
        );
        println!("{} {d:08x}: {}. {}", row.id, reading.words, reading.reading);
        count += 1;
    }
    assert_eq!(count, 24);
    assert_eq!(rows.len(), 2586);
}
