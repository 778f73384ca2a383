//! Runs the examples as their README says, and compares what they print, bit for bit, with each other and with the README.
#![cfg(target_os = "linux")]

#[path = "../examples/lu_solve.rs"]
mod lu_solve;
#[path = "common/native.rs"]
mod native;

use std::path::Path;
use std::process::{Command, Output};

use native::{have, library_folder, root, say_skipped, scratch, succeed};

fn readme() -> String {
    std::fs::read_to_string(root().join("examples/README.md")).unwrap()
}

/// The only line of the README's commands that contains all of these words.
fn command(words: &[&str]) -> String {
    let readme = readme();
    let lines: Vec<&str> = readme
        .lines()
        .skip_while(|line| *line != "```sh")
        .take_while(|line| *line != "```")
        .filter(|line| words.iter().all(|word| line.contains(word)))
        .collect();
    assert_eq!(lines.len(), 1, "{words:?}");
    lines[0].to_string()
}

/// Runs a command of the README with the library that this test was built with; programs go to `folder`.
fn run(words: &[&str], folder: &Path) -> Output {
    let libraries = library_folder();
    let command = command(words)
        .replace("$PWD/", "")
        .replace("target/release", libraries.to_str().unwrap())
        .replace("target/examples", folder.to_str().unwrap());
    succeed(
        Command::new("sh")
            .args(["-c", &command])
            .current_dir(root())
            .env_remove("LD_LIBRARY_PATH")
            // Open MPI refuses root and more ranks than cores unless it is told to, and looks for a remote shell.
            .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
            .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
            .env("OMPI_MCA_rmaps_base_oversubscribe", "1")
            .env("OMPI_MCA_plm_rsh_agent", "false")
            .env("OMPI_MCA_btl", "self,vader"),
    )
}

fn text(output: Output) -> String {
    String::from_utf8(output.stdout).unwrap()
}

/// What the README shows.
fn expected() -> String {
    let readme = readme();
    let (_, block) = readme.split_once("```\n step").unwrap();
    let (block, _) = block.split_once("```").unwrap();
    format!(" step{block}")
}

fn build_and_run(language: &str, compiler: &str) {
    if !have(compiler) {
        return say_skipped(&format!("examples/lu_solve.{language}"), compiler);
    }
    let folder = scratch(&format!("examples_{language}"));
    run(&[compiler, &format!("lu_solve.{language} ")], &folder);
    let program = format!("target/examples/lu_solve_{language}");
    let output = succeed(&mut Command::new(
        folder.join(Path::new(&program).file_name().unwrap()),
    ));
    assert_eq!(text(output), expected());
}

#[test]
fn rust() {
    assert_eq!(lu_solve::report().unwrap(), expected());
    command(&["cargo", "lu_solve"]);
}

#[test]
fn c() {
    build_and_run("c", "cc");
}

#[test]
fn cpp() {
    build_and_run("cpp", "c++");
}

#[test]
fn fortran() {
    build_and_run("f90", "gfortran");
}

/// A Python that has NumPy: the first in the path may not.
fn python() -> Option<&'static str> {
    ["python3", "/usr/bin/python3"].into_iter().find(|python| {
        Command::new(python)
            .args(["-c", "import numpy"])
            .output()
            .is_ok_and(|output| output.status.success())
    })
}

#[test]
fn python_and_numpy() {
    let Some(python) = python() else {
        return say_skipped("examples/lu_solve.py", "python3 with numpy");
    };
    let words = command(&["python3", "lu_solve.py"]);
    assert_eq!(
        words,
        "python3 examples/lu_solve.py target/release/libmfma.so"
    );
    let output = succeed(
        Command::new(python)
            .arg(root().join("examples/lu_solve.py"))
            .arg(library_folder().join("libmfma.so")),
    );
    assert_eq!(text(output), expected());
}

#[test]
fn mpi() {
    if !have("mpicc") || !have("mpirun") {
        return say_skipped("examples/mpi_product.c", "mpicc or mpirun");
    }
    let folder = scratch("examples_mpi");
    run(&["mpicc", "mpi_product.c"], &folder);
    let two = text(run(&["mpirun -n 2"], &folder));
    assert!(
        two.contains("384 x 509 x 640 checksum ") && !two.contains("WRONG"),
        "{two}"
    );
    let ranks = |n: &str, more: &[&str]| {
        let mut command = Command::new("mpirun");
        command
            .args(["--allow-run-as-root", "--oversubscribe", "-n", n])
            .arg(folder.join("mpi_product"))
            .args(more)
            .env("OMPI_MCA_plm_rsh_agent", "false")
            .env("OMPI_MCA_btl", "self,vader");
        text(succeed(&mut command))
    };
    for n in ["1", "3"] {
        assert_eq!(ranks(n, &[]), two, "{n} ranks");
    }
    // More ranks than columns, and products without elements.
    for sizes in [
        ["5", "2", "70"],
        ["0", "4", "3"],
        ["3", "0", "4"],
        ["3", "4", "0"],
    ] {
        assert_eq!(ranks("3", &sizes), ranks("1", &sizes), "{sizes:?}");
    }
}
