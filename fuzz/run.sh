#!/bin/sh
# Fuzzes one target under AddressSanitizer with libFuzzer. Needs a nightly toolchain and a C++ compiler; cargo-fuzz would do
# the same.
# Usage: fuzz/run.sh gemm|simple|dots|convert|params [SECONDS] [more arguments for libFuzzer]
set -eu

target=${1:?usage: $0 gemm|simple|dots|convert|params [SECONDS] [LIBFUZZER ARGUMENTS]}
seconds=${2:-600}
shift
[ $# -eq 0 ] || shift
cd "$(dirname "$0")"
host=$(rustc -vV | sed -n 's/^host: //p')
coverage="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-trace-compares
          -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table"
RUSTFLAGS=$(echo "$coverage -Zsanitizer=${SANITIZER:-address} --cfg fuzzing")
export RUSTFLAGS
cargo +nightly build --release --quiet --target "$host" --bin "$target"
mkdir -p "corpus/$target" "found/$target" artifacts
exec "${CARGO_TARGET_DIR:-target}/$host/release/$target" "corpus/$target" "found/$target" -max_total_time="$seconds" \
    -max_len=600 -len_control=0 -print_final_stats=1 -artifact_prefix="artifacts/$target-" "$@"
