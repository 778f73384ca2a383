//! `make install` into a fresh prefix: what is there, who finds it, and that `make uninstall` leaves nothing.
#![cfg(target_os = "linux")]

#[path = "common/native.rs"]
mod native;

use std::path::{Path, PathBuf};
use std::process::Command;

use native::{have, library_folder, root, say_skipped, scratch, succeed};

fn script(action: &str, prefix: &str, destdir: &Path) -> Command {
    let mut command = Command::new("sh");
    command
        .arg(root().join("packaging/install.sh"))
        .args([action, prefix])
        .arg(destdir)
        .env("MFMA_BUILD", library_folder());
    command
}

/// All files below a folder, relative to it.
fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.is_symlink() {
                folders.push(path);
            } else {
                found.push(
                    path.strip_prefix(folder)
                        .unwrap()
                        .to_str()
                        .unwrap()
                        .to_string(),
                );
            }
        }
    }
    found.sort();
    found
}

/// An installed tree, moved once after its installation.
fn installed(name: &str) -> PathBuf {
    let folder = scratch(name);
    succeed(&mut script("install", "/opt/mfma", &folder.join("stage")));
    let moved = folder.join("moved here");
    std::fs::rename(folder.join("stage/opt/mfma"), &moved).unwrap();
    moved
}

#[test]
fn install_and_uninstall() {
    let stage = scratch("packaging_files").join("stage");
    succeed(&mut script("install", "/opt/mfma", &stage));
    let there = files(&stage.join("opt/mfma"));
    for file in [
        "include/mfma.f90",
        "include/mfma.h",
        "include/mfma.hpp",
        "include/mfma_ask.hpp",
        "include/mfma_ask.inc",
        "include/mfma_explain.inc",
        "include/mfma_types.inc",
        "lib/cmake/mfma/mfmaConfig.cmake",
        "lib/cmake/mfma/mfmaConfigVersion.cmake",
        "lib/libmfma.a",
        "lib/libmfma.so",
        "lib/libmfma.so.1",
        "lib/libmfma.so.1.0.0",
        "lib/pkgconfig/mfma.pc",
        "share/doc/mfma/LICENSE-MIT",
        "share/doc/mfma/README.md",
    ] {
        assert!(
            there.iter().any(|f| f == file),
            "{file} is missing: {there:?}"
        );
    }
    // Somebody else's file stays, everything of ours goes.
    let other = stage.join("opt/mfma/lib/libother.so");
    std::fs::write(&other, "").unwrap();
    succeed(&mut script("uninstall", "/opt/mfma", &stage));
    assert_eq!(files(&stage), ["opt/mfma/lib/libother.so"]);
    let relative = script("install", "relative", &stage).output().unwrap();
    assert!(!relative.status.success());
}

fn run_installed(executable: &Path, prefix: &Path) {
    let output = succeed(Command::new(executable).env("LD_LIBRARY_PATH", prefix.join("lib")));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("1.0.0") && text.contains('3'), "{text}");
}

#[test]
fn plain_compiler_calls() {
    if !have("cc") {
        return say_skipped("plain compiler calls", "cc");
    }
    let prefix = installed("packaging_plain");
    let executable = prefix.join("plain");
    succeed(
        Command::new("cc")
            .arg(root().join("tests/consumers/small.c"))
            .arg("-I")
            .arg(prefix.join("include"))
            .arg("-L")
            .arg(prefix.join("lib"))
            .args(["-lmfma", "-o"])
            .arg(&executable),
    );
    run_installed(&executable, &prefix);
}

#[test]
fn pkg_config() {
    if !have("pkg-config") || !have("cc") || !have("c++") {
        return say_skipped("pkg-config", "pkg-config, cc or c++");
    }
    let prefix = installed("packaging_pkg_config");
    let build = |shell: &str, source: &str, name: &str| {
        let executable = prefix.join(name);
        succeed(
            Command::new("sh")
                .args(["-c", shell, "sh"])
                .arg(root().join("tests/consumers").join(source))
                .arg(&executable)
                .env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig")),
        );
        run_installed(&executable, &prefix);
    };
    // The prefix has a space in its name, which pkg-config escapes for a shell that evaluates.
    let shared = |compiler| {
        format!(r#"eval {compiler} '"$1"' -o '"$2"' $(pkg-config --cflags --libs mfma)"#)
    };
    build(&shared("cc"), "small.c", "shared_c");
    build(&shared("c++ -std=c++17"), "small.cpp", "shared_cpp");
    build(
        r#"eval cc '"$1"' -o '"$2"' $(pkg-config --cflags mfma) $(pkg-config --variable=libdir mfma)/libmfma.a -lpthread -lm -ldl"#,
        "small.c",
        "static_c",
    );
    let version = succeed(
        Command::new("pkg-config")
            .args(["--modversion", "mfma"])
            .env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig")),
    );
    assert_eq!(String::from_utf8(version.stdout).unwrap().trim(), "1.0.0");
}

#[test]
fn cmake() {
    if !have("cmake") || !have("cc") || !have("c++") {
        return say_skipped("CMake", "cmake, cc or c++");
    }
    let prefix = installed("packaging_cmake");
    let build = prefix.join("build");
    let fortran = have("gfortran");
    succeed(
        Command::new("cmake")
            .arg("-S")
            .arg(root().join("tests/consumers"))
            .arg("-B")
            .arg(&build)
            .arg(format!("-DCMAKE_PREFIX_PATH={}", prefix.display()))
            .arg(format!("-DWITH_FORTRAN={fortran}")),
    );
    succeed(Command::new("cmake").arg("--build").arg(&build));
    for name in ["shared_c", "static_c", "shared_cpp"] {
        run_installed(&build.join(name), &prefix);
    }
    if fortran {
        run_installed(&build.join("shared_f"), &prefix);
    }
}
