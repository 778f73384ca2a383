//! Makes include/mfma.h from the sources of the C skin.

use std::path::{Path, PathBuf};

/// Files of src/capi in the order in which their parts appear in the header.
const SOURCES: &[&str] = &[
    "codes",
    "info",
    "names",
    "model",
    "gemm",
    "general",
    "params",
    "capability",
    "validate",
    "probe",
    "explain",
    "convert",
];

pub fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("include/mfma.h")
}

/// The header as the sources have it now.
pub fn generate() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut config = cbindgen::Config::from_file(root.join("cbindgen.toml")).unwrap();
    let version = env!("CARGO_PKG_VERSION");
    config.header = Some(format!(
        "/* mfma {version}: what GPU matrix units compute, bit for bit.\n *\n\
         {}\n */\n\
         /* Made from src/capi by `cargo run --example gen_header`: change it there. */",
        INTRODUCTION
            .lines()
            .map(|line| format!(" * {line}").trim_end().to_string())
            .collect::<Vec<_>>()
            .join("\n")
    ));
    let mut builder = cbindgen::Builder::new().with_config(config);
    for source in SOURCES {
        builder = builder.with_src(root.join(format!("src/capi/{source}.rs")));
    }
    let mut text = Vec::new();
    builder.generate().unwrap().write(&mut text);
    tidy(&String::from_utf8(text).unwrap())
}

/// Breaks long prototypes between arguments, and brings each group of constants together.
fn tidy(text: &str) -> String {
    const WIDTH: usize = 110;
    let mut lines: Vec<String> = Vec::new();
    let mut text = text.lines().peekable();
    while let Some(line) = text.next() {
        // Every struct has a typedef, so its tag is noise.
        let line = if line.starts_with("typedef ") {
            line.to_string()
        } else {
            line.replace("struct mfma_", "mfma_")
        };
        let line = line.as_str();
        let after_constant = line.is_empty()
            && lines
                .last()
                .is_some_and(|last| last.starts_with("#define MFMA_") && last.contains(' '));
        if after_constant && same_group(lines.last().unwrap(), text.clone()) {
            continue;
        }
        if line.len() <= WIDTH || line.starts_with("//") || !line.ends_with(");") {
            lines.push(line.to_string());
            continue;
        }
        let indent = " ".repeat(line.find('(').unwrap() + 1);
        let mut current = String::new();
        for word in line.split_inclusive(", ") {
            if current.len() + word.trim_end().len() > WIDTH {
                lines.push(current.trim_end().to_string());
                current = indent.clone();
            }
            current += word;
        }
        lines.push(current);
    }
    lines.join("\n") + "\n"
}

/// Is the next item a constant whose name begins like that of `line`?
fn same_group<'a>(line: &str, following: impl Iterator<Item = &'a str>) -> bool {
    let group = |line: &str| {
        let name = line.strip_prefix("#define ")?.split(' ').next()?;
        let name = name.replace("MFMA_OK", "MFMA_ERR_");
        Some(name.splitn(3, '_').take(2).collect::<Vec<_>>().join("_"))
    };
    following
        .skip_while(|line| line.starts_with("//"))
        .take(1)
        .any(|next| group(next).is_some() && group(next) == group(line))
}

const INTRODUCTION: &str = "\
Rules for every function: out-parameters are untouched on failure. NULL where memory is needed, sizes
that are negative or too large, leading dimensions below max(1, rows), unknown codes and combinations that
a unit does not have are errors; mfma_last_error() names the argument and says what is allowed. Zero sizes
succeed, with NULL pointers too. No function prints, exits, raises a signal or changes the floating-point
environment, and no result depends on it, on the number of threads or on the CPU. All functions may be
called from any number of threads at once.";
