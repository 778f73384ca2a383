use super::*;

#[test]
fn tables_are_in_the_order_of_their_enums() {
    for (i, row) in ARCHS.iter().enumerate() {
        assert_eq!(row.arch as usize, i, "{}", row.name);
    }
    for (i, row) in crate::format::FORMATS.iter().enumerate() {
        assert_eq!(row.format as usize, i, "{}", row.name);
    }
}

#[test]
fn every_row_is_a_valid_custom_unit_and_none_is_there_twice() {
    let rows: Vec<&Row> = catalogue().collect();
    for (i, row) in rows.iter().enumerate() {
        for &[a, b] in row.inputs {
            row.params.check([a, b], row.output).unwrap();
            let twin = rows[..i].iter().any(|other| {
                other.arch == row.arch
                    && other.output == row.output
                    && other.reach == Reach::Formats
                    && row.reach == Reach::Formats
                    && other.inputs.contains(&[a, b])
            });
            assert!(
                !twin,
                "{} {a} x {b} -> {} is there twice",
                row.arch, row.output
            );
        }
    }
}
