//! The reference against every golden vector.

mod common;

use common::{evidence_folder, parse_file_name, read_cases, say_absent, text_files};
use mfma::Model;
use mfma::reference::dot_raw;

#[test]
fn reference_gives_every_golden_result() {
    let Some(folder) = evidence_folder() else {
        return say_absent("golden");
    };
    let mut total = 0;
    let mut wrong = Vec::new();
    for path in text_files(&folder.join("golden")) {
        let (arch, input, output) = parse_file_name(&path);
        let model = Model::new(arch, input, input, output).unwrap();
        let cases = read_cases(&path);
        assert!(!cases.is_empty(), "{}", path.display());
        for case in &cases {
            let d = dot_raw(model.unit(), &case.a, &case.b, case.c);
            if !case.d.accepts(output, d) {
                wrong.push(format!(
                    "{}:{}: got {d:x}: {}",
                    path.file_name().unwrap().to_str().unwrap(),
                    case.line,
                    case.text
                ));
            }
        }
        total += cases.len();
    }
    println!("{total} golden vectors");
    assert!(
        wrong.is_empty(),
        "{} of {total} differ:\n{}",
        wrong.len(),
        wrong.iter().take(5).cloned().collect::<Vec<_>>().join("\n")
    );
}
