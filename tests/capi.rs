//! Builds the C programs of tests/c and runs them: linked to the shared and to the static library, under valgrind, and
//! with the sanitizers of the C compiler.
#![cfg(target_os = "linux")]

#[path = "common/native.rs"]
mod native;

use std::path::Path;
use std::process::Command;

use native::{have, library_folder, program, runtime_folder, say_skipped, scratch, succeed};

const C99: &[&str] = &["-std=c99", "-O1", "-g"];

/// A command that runs `executable` with the shared library.
fn with_library(executable: &Path, folder: &Path) -> Command {
    let mut command = Command::new(executable);
    command.env("LD_LIBRARY_PATH", runtime_folder(folder));
    command
}

fn run(source: &str, arguments: &[&str]) {
    if !have("cc") {
        return say_skipped(source, "cc");
    }
    let folder = scratch(&format!("capi_{}", source.replace(['/', '.'], "_")));
    let executable = program("cc", C99, source, &folder);
    let output = succeed(with_library(&executable, &folder).args(arguments));
    println!("{}", String::from_utf8_lossy(&output.stdout));
    assert!(output.stderr.is_empty(), "the library printed something");
}

#[test]
fn rules() {
    run("c/rules.c", &[]);
}

/// The table of docs/capi.md names functions of the C programs that exist and run.
#[test]
fn documented_tests_exist() {
    let text = std::fs::read_to_string(native::root().join("docs/capi.md")).unwrap();
    let rows: Vec<Vec<&str>> = text
        .lines()
        .map(|line| line.split('|').map(str::trim).collect())
        .filter(|cells: &Vec<&str>| cells.len() == 5 && cells[2].ends_with(".c"))
        .collect();
    assert!(rows.len() > 15);
    for row in rows {
        let path = native::root().join("tests/c").join(row[2]);
        let source = std::fs::read_to_string(path).unwrap();
        for function in row[3].split(", ") {
            let called = source.matches(&format!("{function}(")).count();
            let passed = source.matches(&format!(", {function},")).count()
                + source.matches(&format!("({function})")).count();
            assert!(called + passed > 1, "{}: {function}", row[2]);
        }
    }
}

#[test]
fn validate() {
    let dump = scratch("capi_validate_dump").join("dump.txt");
    run("c/validate.c", &[dump.to_str().unwrap()]);
}

#[test]
fn ask() {
    run("c/ask.c", &[]);
}

/// The example of the README, compiled and linked as it says, with nothing set for the loader.
#[test]
fn example_of_the_readme() {
    if !have("cc") {
        return say_skipped("the README's example", "cc");
    }
    let readme = std::fs::read_to_string(native::root().join("README.md")).unwrap();
    let block = |language: &str, holds: &str| {
        let mut blocks = readme.split("```");
        let found = blocks.find(|block| block.starts_with(language) && block.contains(holds));
        found.unwrap().strip_prefix(language).unwrap().trim()
    };
    let folder = scratch("capi_readme");
    std::fs::write(folder.join("example.c"), block("c\n", "mfma_gemm_f32")).unwrap();
    let root = native::root().to_str().unwrap();
    let libraries = library_folder();
    let libraries = libraries.to_str().unwrap();
    let command = block("sh\n", "example.c")
        .replace("-Iinclude", &format!("-I{root}/include"))
        .replace("-Ltarget/release", &format!("-L{libraries}"))
        .replace("$PWD/target/release", libraries);
    succeed(
        Command::new("sh")
            .arg("-c")
            .arg(&command)
            .current_dir(&folder),
    );
    let output = succeed(Command::new(folder.join("a.out")).env_remove("LD_LIBRARY_PATH"));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "1 2 3 4\n");
}

#[test]
fn memory() {
    run("c/memory.c", &[]);
}

#[test]
fn threads() {
    run("c/threads.c", &[]);
}

#[test]
fn progress() {
    run("c/progress.c", &[]);
}

#[test]
fn load_200_times() {
    let library = library_folder().join("libmfma.so");
    run("c/load.c", &[library.to_str().unwrap()]);
}

#[test]
fn load_after_many_libraries_with_thread_locals() {
    // A12: thread-local storage must not need the few bytes that are reserved for libraries loaded at start.
    if !have("cc") {
        return say_skipped("many thread-locals", "cc");
    }
    let folder = scratch("capi_tls");
    let mut opens = String::new();
    for i in 0..40 {
        let source = folder.join(format!("tls{i}.c"));
        let text = format!("__thread char room{i}[4096]; char *get{i}(void) {{ return room{i}; }}");
        std::fs::write(&source, text).unwrap();
        let library = folder.join(format!("libtls{i}.so"));
        succeed(
            Command::new("cc")
                .args(["-shared", "-fPIC", "-o"])
                .arg(&library)
                .arg(&source),
        );
        opens += &format!(
            "if (!dlopen(\"{}\", RTLD_NOW)) return 2;\n",
            library.display()
        );
    }
    let library = library_folder().join("libmfma.so");
    let main = folder.join("main.c");
    std::fs::write(
        &main,
        format!(
            "#include <dlfcn.h>\n#include <stdio.h>\nint main(void) {{\n{opens}\
             if (!dlopen(\"{}\", RTLD_NOW)) {{ puts(dlerror()); return 1; }}\nreturn 0; }}\n",
            library.display()
        ),
    )
    .unwrap();
    let executable = folder.join("main");
    succeed(
        Command::new("cc")
            .arg(&main)
            .arg("-o")
            .arg(&executable)
            .arg("-ldl"),
    );
    succeed(&mut Command::new(&executable));
}

#[test]
fn static_library() {
    if !have("cc") {
        return say_skipped("static library", "cc");
    }
    let folder = scratch("capi_static");
    for source in ["rules", "threads"] {
        let executable = folder.join(source);
        let mut command = native::compiler("cc", C99);
        command
            .arg(native::root().join(format!("tests/c/{source}.c")))
            .arg("-o")
            .arg(&executable)
            .arg(library_folder().join("libmfma.a"))
            .args(["-lpthread", "-lm", "-ldl"]);
        succeed(&mut command);
        succeed(&mut Command::new(&executable));
    }
}

#[test]
fn valgrind() {
    if !have("valgrind") || !have("cc") {
        return say_skipped("valgrind", "valgrind or cc");
    }
    let folder = scratch("capi_valgrind");
    for (source, arguments) in [("c/rules.c", &[][..]), ("c/memory.c", &["without-limits"])] {
        let executable = program("cc", C99, source, &folder);
        let mut command = Command::new("valgrind");
        command
            .env("LD_LIBRARY_PATH", runtime_folder(&folder))
            .args(["-q", "--error-exitcode=9", "--leak-check=full"])
            // The pool's threads are alive at the end, and their stacks "possibly lost".
            .args([
                "--errors-for-leak-kinds=definite",
                "--show-leak-kinds=definite",
            ])
            .arg(&executable)
            .args(arguments);
        succeed(&mut command);
    }
}

#[test]
fn sanitizers() {
    let folder = scratch("capi_sanitizers");
    let flags = [
        C99,
        &["-fsanitize=address,undefined", "-fno-sanitize-recover=all"],
    ]
    .concat();
    let probe = folder.join("probe.c");
    std::fs::write(&probe, "int main(void) { return 0; }\n").unwrap();
    let works = Command::new("cc")
        .args(&flags)
        .arg(&probe)
        .arg("-o")
        .arg(folder.join("probe"))
        .output()
        .is_ok_and(|output| output.status.success());
    if !works {
        return say_skipped("sanitizers", "a C compiler with sanitizers");
    }
    let cases = [
        ("c/rules.c", &[][..]),
        ("c/memory.c", &["without-limits"]),
        ("c/threads.c", &[]),
        ("c/ask.c", &[]),
    ];
    for (source, arguments) in cases {
        let executable = program("cc", &flags, source, &folder);
        succeed(with_library(&executable, &folder).args(arguments));
    }
}

#[test]
fn cpp_layer() {
    let folder = scratch("capi_cpp");
    for compiler in ["g++", "clang++"] {
        if !have(compiler) {
            say_skipped("the C++ layer", compiler);
            continue;
        }
        let flags = ["-std=c++17", "-O1", "-Wconversion"];
        let executable = program(compiler, &flags, "cpp/layer.cpp", &folder);
        let output = succeed(&mut with_library(&executable, &folder));
        println!("{compiler}: {}", String::from_utf8_lossy(&output.stdout));
    }
}

#[test]
fn fortran_module() {
    if !have("gfortran") {
        return say_skipped("the Fortran module", "gfortran");
    }
    let folder = scratch("capi_fortran");
    for program in ["module", "ask"] {
        let executable = folder.join(program);
        succeed(
            Command::new("gfortran")
                .args([
                    "-std=f2008",
                    "-Wall",
                    "-Wextra",
                    "-Werror",
                    "-Wno-compare-reals",
                    "-Wno-function-elimination",
                    "-O1",
                    "-J",
                ])
                .arg(&folder)
                .arg(native::root().join("include/mfma.f90"))
                .arg(native::root().join(format!("tests/fortran/{program}.f90")))
                .arg("-o")
                .arg(&executable)
                .arg("-L")
                .arg(library_folder())
                .arg("-lmfma"),
        );
        succeed(with_library(&executable, &folder).arg(folder.join("dump.txt")));
    }
}
