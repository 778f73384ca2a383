#!/usr/bin/env bash
# Makes the tarball mfma-VERSION.tar.gz, which Octave's `pkg install` takes. It holds the functions, the C gateway, and
# the library as it was built here: it is for machines of this kind. Usage: octave/make_package.sh [folder for the tarball]
set -euo pipefail
cd "$(dirname "$0")/.."

out=${1:-.}
library=${CARGO_TARGET_DIR:-target}/release/libmfma.a
if [ ! -f "$library" ]; then
    echo "make_package.sh: $library is missing; run 'make' first" >&2
    exit 1
fi
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
root=$stage/mfma-$version
mkdir -p "$root/inst/private" "$root/inst/extras" "$root/src"

sed "s/@VERSION@/$version/; s/@DATE@/$(date +%Y-%m-%d)/" octave/package/DESCRIPTION >"$root/DESCRIPTION"
cp octave/package/INDEX octave/package/NEWS "$root"
cat LICENSE-MIT LICENSE-APACHE >"$root/COPYING"
cp matlab/*.m matlab/tools/*.m "$root/inst"
cp matlab/private/*.m "$root/inst/private"
cp matlab/extras/*.m "$root/inst/extras"
# What only a checkout, or MATLAB, has a use for.
rm -f "$root"/inst/{mfma_mex,mfma_build,buildfile,mfmaTest,Contents}.m
cp octave/package/Makefile mex/*.c mex/*.cc mex/*.h include/mfma.h "$root/src"
rm "$root/src/interpreter_matlab.c"
cp "$library" "$root/src"
strip --strip-debug "$root/src/libmfma.a" 2>/dev/null || true

tar -C "$stage" -czf "$out/mfma-$version.tar.gz" "mfma-$version"
echo "$out/mfma-$version.tar.gz"
