#!/usr/bin/env python3
"""A linear system solved by a low-precision LU factorisation and iterative refinement, in Python with NumPy: see
lu_solve.c, whose steps these are. The library is called through ctypes, on NumPy's row-major arrays as they lie in memory.

Usage: lu_solve.py [path of the shared library]
"""
import ctypes
import sys

import numpy as np

N, BLOCK, STEPS = 200, 32, 12
DIAGONAL = 12.0
FP32, ROW_MAJOR, F32, F64 = 1, 1, 1, 2  # MFMA_FMT_FP32, MFMA_ORDER_ROW_MAJOR, MFMA_STORAGE_*


class GemmArgs(ctypes.Structure):
    """mfma_gemm_args."""

    _fields_ = (
        [("size", ctypes.c_size_t), ("model", ctypes.c_void_p)]
        + [(name, ctypes.c_int64) for name in ("m", "n", "k", "batch_count")]
        + [(name, ctypes.c_double) for name in ("alpha", "beta")]
        + [(name, ctypes.c_void_p) for name in ("a", "b", "c", "d")]
        + [(name, ctypes.c_int64) for name in ("lda", "ldb", "ldc", "ldd")]
        + [(name, ctypes.c_int64) for name in ("stride_a", "stride_b", "stride_c", "stride_d")]
        + [(name, ctypes.c_void_p) for name in ("a_list", "b_list", "c_list", "d_list")]
        + [(name, ctypes.c_int32) for name in ("order", "trans_a", "trans_b")]
        + [(name, ctypes.c_int32) for name in ("storage_a", "storage_b", "storage_c", "storage_d", "threads")]
        + [("progress", ctypes.c_void_p), ("progress_user", ctypes.c_void_p)]
    )


class Library:
    """The functions that are needed here; a failure is a RuntimeError with the library's message."""

    def __init__(self, path):
        self.functions = ctypes.CDLL(path)
        self.functions.mfma_last_error.restype = ctypes.c_char_p

    def call(self, name, *arguments):
        if getattr(self.functions, name)(*arguments) != 0:
            raise RuntimeError(self.functions.mfma_last_error().decode())

    def unit(self, gpu, inputs):
        """A model, by the names of GPU and input format. It lives as long as the program."""
        arch, code, model = ctypes.c_int32(), ctypes.c_int32(), ctypes.c_void_p()
        self.call("mfma_arch_from_name", gpu.encode(), ctypes.byref(arch))
        self.call("mfma_format_from_name", arch, inputs.encode(), ctypes.byref(code))
        self.call("mfma_model_new", arch, code, code, FP32, ctypes.byref(model))
        return model

    def gemm(self, unit, alpha, a, b, beta, d):
        """d = round(alpha a) round(b) + round(beta d) for arrays, or parts of them, of float32 or float64."""
        args = GemmArgs(size=ctypes.sizeof(GemmArgs))
        self.call("mfma_gemm_args_default", ctypes.byref(args))
        args.model, args.order = unit, ROW_MAJOR
        (args.m, args.k), args.n = a.shape, b.shape[1]
        if b.shape[0] != args.k or d.shape != (args.m, args.n):
            raise ValueError(f"shapes {a.shape}, {b.shape} and {d.shape} do not go together")
        args.alpha, args.beta = alpha, beta
        for name, array in ("a", a), ("b", b), ("c", d), ("d", d):
            step, lines = array.itemsize, max(1, array.shape[1])
            if array.dtype not in (np.float32, np.float64) or array.size and array.strides[1] != step:
                raise ValueError(f"{name} must have rows of float32 or float64 without gaps")
            setattr(args, name, array.ctypes.data)
            setattr(args, "ld" + name, max(lines, array.strides[0] // step))
            setattr(args, "storage_" + name, F32 if array.dtype == np.float32 else F64)
        self.call("mfma_gemm", ctypes.byref(args))


def scale_of(a):
    """A power of two that brings the largest of these numbers to 64 or more, but below 128."""
    largest, scale = np.abs(a).max(initial=0), 1.0
    while largest > 0 and largest * scale < 64:
        scale *= 2
    while largest * scale >= 128:
        scale /= 2
    return scale


def update(library, unit, c, l, u):
    """c = c - l u, on a unit or in binary64."""
    if unit is None:
        for p in range(l.shape[1]):
            c -= l[:, p : p + 1] * u[p]
        return
    scale_l, scale_u = scale_of(l), scale_of(u)
    library.gemm(unit, -scale_l, l, u * scale_u, scale_l * scale_u, c)
    c /= scale_l * scale_u


def factor(library, unit, a):
    """a becomes its factors L and U; returns how its rows were exchanged."""
    pivot = []
    for first in range(0, N, BLOCK):
        end = min(first + BLOCK, N)
        for j in range(first, end):
            pivot.append(j + int(np.argmax(np.abs(a[j:, j]))))
            a[[j, pivot[j]]] = a[[pivot[j], j]]
            a[j + 1 :, j] /= a[j, j]
            a[j + 1 :, j + 1 : end] -= a[j + 1 :, j : j + 1] * a[j, j + 1 : end]
        for j in range(first, end):
            a[j + 1 : end, end:] -= a[j + 1 : end, j : j + 1] * a[j, end:]
        update(library, unit, a[end:, end:], a[end:, first:end], a[first:end, end:])
    return pivot


def solve(lu, pivot, r):
    x = r.copy()
    for j in range(N):
        x[[j, pivot[j]]] = x[[pivot[j], j]]
    for j in range(N):
        x[j + 1 :] -= lu[j + 1 :, j] * x[j]
    for j in reversed(range(N)):
        x[j] /= lu[j, j]
        x[:j] -= lu[:j, j] * x[j]
    return x


def refine(library, unit, a, b):
    """The solution of a x = b, and the normwise backward error after each step."""
    lu = a.copy()
    pivot = factor(library, unit, lu)
    # Sums in the order of the other languages, which NumPy's own do not keep.
    sums, x, r, errors = np.zeros(N), np.zeros(N), b.copy(), []
    for j in range(N):
        sums += np.abs(a[:, j])
    for _ in range(STEPS):
        x += solve(lu, pivot, r)
        r = b.copy()
        for j in range(N):
            r -= a[:, j] * x[j]
        errors.append(np.abs(r).max() / (sums.max() * np.abs(x).max() + np.abs(b).max()))
    return x, errors


def numbers(count):
    """A sequence of numbers between -1 and 1."""
    state = 1
    for _ in range(count):
        state = (state * 1103515245 + 12345) % 2147483648
        yield state / 1073741824 - 1


def main():
    library = Library(sys.argv[1] if len(sys.argv) > 1 else "libmfma.so")
    sequence = np.array(list(numbers(N * N + N)))
    a, b = np.ascontiguousarray(sequence[: N * N].reshape(N, N).T), sequence[N * N :]
    a[np.diag_indices(N)] += DIAGONAL
    histories, checksum = [], 0
    for unit in (None, library.unit("MI300X", "fp16"), library.unit("H100", "fp8-e4m3")):
        x, errors = refine(library, unit, a, b)
        histories.append(errors)
        for bits in np.concatenate([errors, x]).view(np.uint64).tolist():
            checksum = ((checksum << 5 | checksum >> 59) & (2**64 - 1)) ^ bits
    print(" step      binary64   MI300X fp16      H100 fp8")
    for step in range(STEPS):
        print("%5d%14.3E%14.3E%14.3E" % (step + 1, *(errors[step] for errors in histories)))
    print(f"checksum {checksum:016x}")


if __name__ == "__main__":
    main()
