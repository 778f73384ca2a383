//! Names the shared library, and keeps it mapped once it has been loaded.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let os = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    let major = std::env::var("CARGO_PKG_VERSION_MAJOR").unwrap_or_default();
    match os.as_str() {
        "linux" | "android" | "freebsd" | "netbsd" | "openbsd" => {
            println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libmfma.so.{major}");
            // The pool's threads run this code: dlclose must not take it from under them.
            println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
        }
        "macos" | "ios" => {
            println!("cargo::rustc-cdylib-link-arg=-Wl,-install_name,@rpath/libmfma.{major}.dylib");
        }
        _ => {}
    }
}
