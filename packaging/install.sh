#!/bin/sh
# Puts the library, headers, Fortran module source, package files and documents under a prefix, or removes them.
# Usage: packaging/install.sh install|uninstall PREFIX [DESTDIR]
# MFMA_BUILD names the folder with the built library (default: target/release), LIBDIR the folder under PREFIX ("lib").
set -eu

action=${1:-}
prefix=${2:-/usr/local}
destdir=${3:-}
case "$action" in
install | uninstall) ;;
*)
    echo "usage: $0 install|uninstall PREFIX [DESTDIR]" >&2
    exit 2
    ;;
esac
case "$prefix" in
/*) ;;
*)
    echo "PREFIX must be an absolute path, not '$prefix'" >&2
    exit 2
    ;;
esac

root=$(cd "$(dirname "$0")/.." && pwd)
build=${MFMA_BUILD:-${CARGO_TARGET_DIR:-$root/target}/release}
libdir=${LIBDIR:-lib}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$root/Cargo.toml" | head -n 1)
major=${version%%.*}
case "$(uname -s)" in
Darwin) full=libmfma.$version.dylib short=libmfma.$major.dylib plain=libmfma.dylib ;;
*) full=libmfma.so.$version short=libmfma.so.$major plain=libmfma.so ;;
esac

base=$destdir$prefix
lib=$base/$libdir
documents=$(cd "$root" && ls README.md LICENSE-MIT LICENSE-APACHE docs/*.md 2>/dev/null || true)

if [ "$action" = uninstall ]; then
    rm -f "$lib/$full" "$lib/$short" "$lib/$plain" "$lib/libmfma.a"
    rm -f "$base/include/mfma.h" "$base/include/mfma.hpp" "$base/include/mfma.f90" \
        "$base/include/mfma_ask.hpp" "$base/include/mfma_types.inc" "$base/include/mfma_ask.inc" \
        "$base/include/mfma_explain.inc"
    rm -f "$lib/pkgconfig/mfma.pc" "$lib/cmake/mfma/mfmaConfig.cmake" "$lib/cmake/mfma/mfmaConfigVersion.cmake"
    rm -rf "$base/share/doc/mfma"
    # Folders that are empty now; others are somebody else's.
    for folder in "$lib/cmake/mfma" "$lib/cmake" "$lib/pkgconfig" "$lib" "$base/include" "$base/share/doc" \
        "$base/share"; do
        rmdir "$folder" 2>/dev/null || true
    done
    exit 0
fi

if [ ! -f "$build/$plain" ] || [ ! -f "$build/libmfma.a" ]; then
    echo "$build has no $plain and libmfma.a: run make first" >&2
    exit 1
fi

# Modes are set here, whatever the umask.
put() {
    mkdir -p "$3"
    cp "$2" "$3/$(basename "${4:-$2}")"
    chmod "$1" "$3/$(basename "${4:-$2}")"
}

put 755 "$build/$plain" "$lib" "$full"
ln -sf "$full" "$lib/$short"
ln -sf "$short" "$lib/$plain"
put 644 "$build/libmfma.a" "$lib"
for header in mfma.h mfma.hpp mfma_ask.hpp mfma.f90 mfma_types.inc mfma_ask.inc mfma_explain.inc; do
    put 644 "$root/include/$header" "$base/include"
done
for document in $documents; do
    put 644 "$root/$document" "$base/share/doc/mfma"
done

# Package files find the prefix from their own place, so the tree may be moved.
up=$(printf '%s' "$libdir" | sed 's#[^/][^/]*#..#g')
for file in mfma.pc mfmaConfig.cmake mfmaConfigVersion.cmake; do
    case "$file" in
    *.pc) folder=$lib/pkgconfig ;;
    *) folder=$lib/cmake/mfma ;;
    esac
    mkdir -p "$folder"
    sed -e "s#@VERSION@#$version#g" -e "s#@MAJOR@#$major#g" -e "s#@LIBDIR@#$libdir#g" -e "s#@UP@#$up#g" \
        -e "s#@SHARED@#$short#g" "$root/packaging/$file.in" >"$folder/$file"
    chmod 644 "$folder/$file"
done
