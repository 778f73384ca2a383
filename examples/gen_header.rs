//! Writes include/mfma.h; with `--check`, only says whether it is current (exit status 1 if not).

#[path = "../tests/common/header.rs"]
mod header;

fn main() {
    let path = header::path();
    let text = header::generate();
    if std::env::args().any(|arg| arg == "--check") {
        let current = std::fs::read_to_string(&path).unwrap_or_default();
        if current != text {
            eprintln!("include/mfma.h is out of date: run `cargo run --example gen_header`");
            std::process::exit(1);
        }
    } else {
        std::fs::write(&path, text).unwrap();
    }
}
