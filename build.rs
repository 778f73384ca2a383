//! Names the shared library, and keeps it mapped once it has been loaded.

use std::path::Path;

/// Links the name under which the loader looks for the library to the file that cargo makes, so that programs run with
/// the library where it was built. `make install` makes its own links.
fn link_name(name: &str, file: &str) {
    let out = std::env::var("OUT_DIR").unwrap_or_default();
    // <profile>/build/<package>/out; tests find the library in <profile>/deps.
    let Some(profile) = Path::new(&out).ancestors().nth(3) else {
        return;
    };
    for folder in [profile.to_path_buf(), profile.join("deps")] {
        let link = folder.join(name);
        if link.symlink_metadata().is_err() {
            #[cfg(unix)]
            if let Err(error) = std::os::unix::fs::symlink(file, &link) {
                println!("cargo::warning={} was not made: {error}", link.display());
            }
        }
    }
    let _ = file;
}

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let os = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    let major = std::env::var("CARGO_PKG_VERSION_MAJOR").unwrap_or_default();
    match os.as_str() {
        "linux" | "android" | "freebsd" | "netbsd" | "openbsd" => {
            println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libmfma.so.{major}");
            link_name(&format!("libmfma.so.{major}"), "libmfma.so");
            // The pool's threads run this code: dlclose must not take it from under them.
            println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
        }
        "macos" | "ios" => {
            println!("cargo::rustc-cdylib-link-arg=-Wl,-install_name,@rpath/libmfma.{major}.dylib");
            link_name(&format!("libmfma.{major}.dylib"), "libmfma.dylib");
        }
        _ => {}
    }
}
