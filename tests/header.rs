//! The C header: current, equal to the tables, and good C and C++ by itself. The shared library: what it exports.
#![cfg(unix)]

#[path = "common/header.rs"]
mod header;
#[path = "common/native.rs"]
mod native;

use std::collections::BTreeMap;
use std::process::Command;

use mfma::error::ERRORS;
use mfma::format::FORMATS;
use mfma::model::ARCHS;

fn committed() -> String {
    std::fs::read_to_string(header::path()).unwrap()
}

#[test]
fn header_is_current() {
    assert!(
        header::generate() == committed(),
        "include/mfma.h is out of date: run `cargo run --example gen_header`"
    );
}

/// Constants whose names begin with `prefix`, from the committed header.
fn constants(prefix: &str) -> BTreeMap<String, i32> {
    committed()
        .lines()
        .filter_map(|line| line.strip_prefix("#define ")?.split_once(' '))
        .filter(|(name, _)| name.starts_with(prefix))
        .map(|(name, value)| (name.to_string(), value.parse().unwrap()))
        .collect()
}

fn constant_name(prefix: &str, name: &str) -> String {
    format!("{prefix}{}", name.to_uppercase().replace('-', "_"))
}

#[test]
fn constants_are_the_tables() {
    let errors = ERRORS
        .iter()
        .map(|row| (row.c_name.to_string(), row.status));
    assert_eq!(constants("MFMA_ERR_"), errors.collect());
    assert_eq!(constants("MFMA_OK"), [("MFMA_OK".to_string(), 0)].into());
    let archs = ARCHS
        .iter()
        .map(|row| (constant_name("MFMA_ARCH_", row.name), row.code));
    assert_eq!(constants("MFMA_ARCH_"), archs.collect());
    let formats = FORMATS
        .iter()
        .map(|row| (constant_name("MFMA_FMT_", row.name), row.code));
    assert_eq!(constants("MFMA_FMT_"), formats.collect());
}

#[test]
fn codes_number_their_rows_without_a_gap() {
    // mfma_arch_name and mfma_format_name promise it.
    assert!(ARCHS.iter().zip(0..).all(|(row, i)| row.code == i));
    assert!(FORMATS.iter().zip(0..).all(|(row, i)| row.code == i));
}

#[test]
fn header_compiles_alone() {
    let folder = native::scratch("header_alone");
    let languages = [
        ("gcc", "-std=c99", "c"),
        ("gcc", "-std=c11", "c"),
        ("g++", "-std=c++17", "cc"),
        ("clang", "-std=c99", "c"),
        ("clang", "-std=c11", "c"),
        ("clang++", "-std=c++17", "cc"),
    ];
    for (compiler, standard, extension) in languages {
        if !native::have(compiler) {
            native::say_skipped("header_compiles_alone", compiler);
            continue;
        }
        let source = folder.join(format!("alone.{extension}"));
        std::fs::write(&source, "#include <mfma.h>\n#include <mfma.h>\n").unwrap();
        native::succeed(native::compiler(compiler, &[standard, "-fsyntax-only"]).arg(&source));
    }
}

/// Dynamic symbols that the shared library defines.
fn exported() -> Vec<String> {
    let library = native::library_folder().join("libmfma.so");
    let output = native::succeed(
        Command::new("nm")
            .args(["-D", "--defined-only"])
            .arg(library),
    );
    let text = String::from_utf8(output.stdout).unwrap();
    let mut names: Vec<String> = text
        .lines()
        .filter_map(|line| line.split_whitespace().last())
        .map(str::to_string)
        .collect();
    names.sort();
    names
}

/// Functions that the header declares.
fn declared() -> Vec<String> {
    let text = committed();
    let mut names: Vec<String> = text
        .lines()
        .filter(|line| {
            !line.starts_with("//") && !line.starts_with("typedef") && !line.starts_with(' ')
        })
        .filter_map(|line| {
            let before = line.split_once('(')?.0;
            let name = before.rsplit([' ', '*']).next()?;
            name.starts_with("mfma_").then(|| name.to_string())
        })
        .collect();
    names.sort();
    names
}

#[cfg(target_os = "linux")]
#[test]
fn library_exports_what_the_header_declares() {
    if !native::have("nm") {
        return native::say_skipped("exports", "nm");
    }
    let mut expected = declared();
    // The one door for tests that the header does not show.
    expected.push("mfma_debug_panic".to_string());
    expected.sort();
    assert_eq!(exported(), expected);
}

#[cfg(target_os = "linux")]
#[test]
fn library_has_its_soname_and_no_static_tls() {
    if !native::have("readelf") {
        return native::say_skipped("soname", "readelf");
    }
    let library = native::library_folder().join("libmfma.so");
    let output = native::succeed(Command::new("readelf").arg("-d").arg(library));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("Library soname: [libmfma.so.1]"), "{text}");
    assert!(text.contains("NODELETE"), "{text}");
    assert!(!text.contains("STATIC_TLS"), "{text}");
}
