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
        .filter(|(name, _)| name.starts_with(prefix) && *name != "MFMA_H")
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
fn fortran_constants_are_the_headers() {
    let module = std::fs::read_to_string(native::root().join("include/mfma_types.inc")).unwrap();
    let fortran: BTreeMap<String, i32> = module
        .lines()
        .filter_map(|line| {
            line.split_once("parameter, public :: ")?
                .1
                .split_once(" = ")
        })
        .map(|(name, value)| {
            let value = match value {
                "-huge(0_c_int32_t) - 1_c_int32_t" => i32::MIN,
                number => number.parse().unwrap(),
            };
            (name.to_string(), value)
        })
        .collect();
    assert_eq!(fortran, constants("MFMA_"));
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
        let text = if extension == "cc" {
            "#include <mfma.hpp>\n#include <mfma.hpp>\n#include <mfma.h>\n"
        } else {
            "#include <mfma.h>\n#include <mfma.h>\n"
        };
        std::fs::write(&source, text).unwrap();
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

/// Functions with their prototypes, structs with size and offset of every field, constants: what must not change while
/// the SONAME stays. New lines may be added, at the end of structs too. `MFMA_BLESS=1` rewrites the file.
#[cfg(target_pointer_width = "64")]
#[test]
fn abi_is_the_golden_one() {
    if !native::have("cc") {
        return native::say_skipped("abi", "cc");
    }
    let text = committed();
    let folder = native::scratch("abi");
    let mut lines: Vec<String> = constants("MFMA_")
        .into_iter()
        .map(|(name, value)| format!("constant {name} {value}"))
        .collect();
    // Prototypes: everything up to the semicolon, on one line.
    let code: String = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect::<Vec<_>>()
        .join(" ");
    for statement in code.split(';') {
        let words = statement.split_whitespace().collect::<Vec<_>>().join(" ");
        let start = words
            .find("mfma_status mfma_")
            .or_else(|| words.find("const char *mfma_"))
            .or_else(|| words.find("int32_t mfma_"))
            .or_else(|| words.find("int64_t mfma_"))
            .or_else(|| words.find("void mfma_"));
        if let Some(start) = start.filter(|_| words.ends_with(')') && !words.contains("typedef")) {
            lines.push(format!("function {}", &words[start..]));
        }
    }
    let mut program = String::from("#include <mfma.h>\n#include <stdio.h>\nint main(void) {\n");
    let mut inside = None;
    for line in text.lines() {
        if let Some(name) = line
            .strip_prefix("typedef struct ")
            .and_then(|l| l.strip_suffix(" {"))
        {
            inside = Some(name);
            program += &format!("printf(\"struct {name} %zu\\n\", sizeof({name}));\n");
        } else if line.starts_with('}') {
            inside = None;
        } else if let (Some(name), Some(field)) = (inside, line.trim().strip_suffix(';')) {
            let (_, field) = field.rsplit_once([' ', '*']).unwrap();
            program += &format!(
                "printf(\"field {name}.{field} %zu %zu\\n\", offsetof({name}, {field}), sizeof((({name} *)0)->{field}));\n"
            );
        }
    }
    program += "return 0; }\n";
    let source = folder.join("layout.c");
    std::fs::write(&source, program).unwrap();
    let executable = folder.join("layout");
    native::succeed(
        native::compiler("cc", &["-std=c99"])
            .arg(&source)
            .arg("-o")
            .arg(&executable),
    );
    let output = native::succeed(&mut Command::new(&executable));
    lines.extend(
        String::from_utf8(output.stdout)
            .unwrap()
            .lines()
            .map(str::to_string),
    );
    let golden = native::root().join("tests/data/abi-1.txt");
    let now = lines.join("\n") + "\n";
    if std::env::var_os("MFMA_BLESS").is_some() {
        std::fs::write(&golden, &now).unwrap();
    }
    let golden = std::fs::read_to_string(&golden).unwrap();
    for line in golden.lines() {
        assert!(
            lines.iter().any(|now| now == line),
            "the ABI has lost or changed: {line}"
        );
    }
    for line in &lines {
        assert!(
            golden.lines().any(|old| old == line),
            "new in the ABI (if it is meant, run with MFMA_BLESS=1): {line}"
        );
    }
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
