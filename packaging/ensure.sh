#!/bin/sh
# Sees to it that the programs a target needs are there: installs what is missing through apt where it can, else says
# what to install and stops. Usage: ensure.sh build|octave|test|bench
set -eu

case "${1:-}" in
build)  needs="cc:gcc ld:binutils /usr/include/stdio.h:libc6-dev" ;;
octave) needs="cc:gcc /usr/include/stdio.h:libc6-dev c++:g++ octave-cli:octave mkoctfile:octave-dev" ;;
test)   needs="cc:gcc /usr/include/stdio.h:libc6-dev c++:g++ clang:clang gfortran:gfortran cmake:cmake pkg-config:pkg-config valgrind:valgrind
               mpicc:libopenmpi-dev mpirun:openmpi-bin python3:python3 numpy:python3-numpy nm:binutils" ;;
bench)  needs="cc:gcc /usr/include/stdio.h:libc6-dev libopenblas.so.0:libopenblas0-pthread" ;;
*)      echo "usage: $0 build|octave|test|bench" >&2; exit 2 ;;
esac

found() {
    case "$1" in
    /*)   [ -e "$1" ] ;;
    numpy) python3 -c "import numpy" 2>/dev/null || /usr/bin/python3 -c "import numpy" 2>/dev/null ;;
    lib*) ldconfig -p 2>/dev/null | grep -q "$1" ;;
    *)    command -v "$1" >/dev/null 2>&1 ;;
    esac
}

if ! command -v cargo >/dev/null 2>&1; then
    echo "mfma needs a Rust toolchain (1.89 or later): see https://rustup.rs, then run make again" >&2
    exit 1
fi

missing=
for need in $needs; do
    found "${need%%:*}" || missing="$missing ${need#*:}"
done
[ -n "$missing" ] || exit 0

as_root=
if [ "$(id -u)" != 0 ]; then as_root="sudo -n"; fi
if command -v apt-get >/dev/null 2>&1 && $as_root true 2>/dev/null; then
    echo "Installing what is missing:$missing"
    log=$(mktemp)
    if $as_root apt-get update >"$log" 2>&1 &&
       $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing >>"$log" 2>&1; then
        rm -f "$log"
        exit 0
    fi
    tail -n 15 "$log" >&2
    rm -f "$log"
fi
echo "Please install these packages (Debian's names), then run make again:$missing" >&2
exit 1
