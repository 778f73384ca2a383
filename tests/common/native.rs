//! Compiling C and C++ programs against the library, as its users do.
#![allow(dead_code)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Root of the package.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Folder of the shared and the static library that cargo built together with this test.
pub fn library_folder() -> PathBuf {
    // target/<profile>/deps/<test> -> target/<profile>
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().unwrap().parent().unwrap();
    // `cargo test` leaves the libraries in deps/ and links them into the profile's folder only for `cargo build`.
    for folder in [profile.join("deps"), profile.to_path_buf()] {
        if folder.join("libmfma.so").exists() || folder.join("libmfma.dylib").exists() {
            return folder;
        }
    }
    panic!("no shared library near {}", test.display());
}

/// An empty folder for what a test makes.
pub fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Is there a program of this name?
pub fn have(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok()
}

/// Says that a check was left out.
pub fn say_skipped(check: &str, program: &str) {
    eprintln!("{check}: NOT RUN, {program} is not installed");
}

/// Runs a command and insists on its success.
pub fn succeed(command: &mut Command) -> Output {
    let output = command
        .output()
        .unwrap_or_else(|e| panic!("{command:?}: {e}"));
    assert!(
        output.status.success(),
        "{command:?} ended with {}:\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

/// A compiler call that sees the header.
pub fn compiler(name: &str, flags: &[&str]) -> Command {
    let mut command = Command::new(name);
    command
        .args(flags)
        .arg("-I")
        .arg(root().join("include"))
        .args(["-Wall", "-Wextra", "-Werror", "-pedantic"]);
    command
}

/// Compiles a program of tests/ and links it to the shared library.
pub fn program(compiler_name: &str, flags: &[&str], source: &str, folder: &Path) -> PathBuf {
    let stem = Path::new(source).file_stem().unwrap();
    let executable = folder.join(stem);
    let libraries = library_folder();
    let mut command = compiler(compiler_name, flags);
    command
        .arg(root().join("tests").join(source))
        .arg("-o")
        .arg(&executable)
        .arg("-L")
        .arg(&libraries)
        .args(["-lmfma", "-lpthread", "-lm", "-ldl"]);
    succeed(&mut command);
    executable
}

/// Something like LD_LIBRARY_PATH: a folder in which the library has its SONAME.
pub fn runtime_folder(folder: &Path) -> PathBuf {
    let link = folder.join("libmfma.so.1");
    if !link.exists() {
        std::os::unix::fs::symlink(library_folder().join("libmfma.so"), link).unwrap();
    }
    folder.to_path_buf()
}
