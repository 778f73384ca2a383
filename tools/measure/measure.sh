#!/bin/sh
# Runs every suite on this machine's GPU and compares with the library.
#
#   measure.sh OUTPUT_FOLDER GPU SEED COUNT
#
# GPU is a name the library knows (H200, A100, ...); COUNT random cases a suite. TENSOR_CORE_DOT and GPU_VECTORS name the
# two programs if they are not where the README builds them. Suites that the GPU lacks are reported and left out.
set -u
[ $# -eq 4 ] || { sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
folder=$1 gpu=$2 seed=$3 count=$4
dot=${TENSOR_CORE_DOT:-./tensor_core_dot}
vectors=${GPU_VECTORS:-target/release/examples/gpu_vectors}
mkdir -p "$folder" || exit 2
"$dot" --device | tee "$folder/device.txt" || exit 2
failures=0
for suite in $("$vectors" list); do
    "$vectors" generate "$suite" "$seed" "$count" "$folder/in.bin" || exit 2
    # Job and options are several words.
    # shellcheck disable=SC2046
    if "$dot" $("$vectors" job "$suite") "$folder/in.bin" "$folder/$suite.out" $("$vectors" options "$suite"); then
        "$vectors" check "$suite" "$gpu" "$seed" "$folder/$suite.out" 20 || failures=$((failures + 1))
    else
        echo "$suite: not measured"
    fi
done
rm -f "$folder/in.bin"
echo "$failures suites differ"
[ "$failures" -eq 0 ]
