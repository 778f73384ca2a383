// Dot products through one NVIDIA tensor-core instruction, on raw encodings.
//
//   tensor_core_dot INSTRUCTION STEPS INPUT OUTPUT [--a-registers] [--no-c]
//   tensor_core_dot --list | --device
//
// INSTRUCTION is the PTX name. One instruction multiplies k elements; STEPS of them run back to back on the same
// accumulators, so a dot product has K = STEPS * k elements. INPUT holds, in this order and little-endian, a (count * K
// elements), b (the same) and c (count elements of the output format): what mfma_dot_batch takes. OUTPUT gets d.
// --a-registers (wgmma): A comes from registers instead of shared memory. --no-c (wgmma): scale-d is 0 in the first
// step, so that the instruction does not read c.
//
// A tile takes 8 cases. Case i is row i and column i, so the diagonal of the product holds the results. The rows of A
// repeat every 8 rows and every repetition must give the same bits; the program counts those that do not.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <cuda_runtime.h>

namespace {

constexpr int kCases = 8;       // cases in a tile
constexpr int kThreads = 128;   // threads in a block: one warpgroup

// ---------------------------------------------------------------- accumulators

// A thread's part of a 16 x 8 tile (four warps: 64 x 8) of results, GROUPS tiles side by side. Both formats have the
// same layout: value (half, parity) of a tile is row lane / 4 + 8 * half, column 2 * (lane % 4) + parity.
template <int GROUPS>
struct Fp32Sums {
    using Storage = uint32_t;
    static constexpr int groups = GROUPS;
    float d[4 * GROUPS];
    __device__ void fill(uint32_t c) {
        for (float &x : d) x = __uint_as_float(c);
    }
    __device__ uint32_t get(int group, int half, int parity) const {
        return __float_as_uint(parity ? d[4 * group + 2 * half + 1] : d[4 * group + 2 * half]);
    }
    // Keeps the compiler from moving register writes past a fence.
    __device__ void pin() {
        for (float &x : d) asm volatile("" : "+f"(x)::"memory");
    }
};

template <int GROUPS>
struct Fp16Sums {
    using Storage = uint16_t;
    static constexpr int groups = GROUPS;
    uint32_t d[2 * GROUPS];
    __device__ void fill(uint16_t c) {
        for (uint32_t &x : d) x = c | uint32_t(c) << 16;
    }
    __device__ uint16_t get(int group, int half, int parity) const {
        return uint16_t(d[2 * group + half] >> 16 * parity);
    }
    __device__ void pin() {
        for (uint32_t &x : d) asm volatile("" : "+r"(x)::"memory");
    }
};

// ---------------------------------------------------------------- warp-level instructions (mma.sync)

// WORDS: 32-bit words in a row of A. Whatever the element, a thread holds words t and t + 4 of rows g and g + 8.
#define MMA_BODY_8_F32(PTX)                                                                                        \
    asm volatile(PTX " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"                                      \
                 : "+f"(s.d[0]), "+f"(s.d[1]), "+f"(s.d[2]), "+f"(s.d[3])                                          \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
#define MMA_BODY_8_F16(PTX)                                                                                        \
    asm volatile(PTX " {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};"                                                  \
                 : "+r"(s.d[0]), "+r"(s.d[1])                                                                      \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
#define MMA_BODY_4_F32(PTX)                                                                                        \
    asm volatile(PTX " {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"                                               \
                 : "+f"(s.d[0]), "+f"(s.d[1]), "+f"(s.d[2]), "+f"(s.d[3])                                          \
                 : "r"(a[0]), "r"(a[1]), "r"(b[0]))
#define MMA_BODY_4_F16(PTX)                                                                                        \
    asm volatile(PTX " {%0,%1}, {%2,%3}, {%4}, {%0,%1};"                                                           \
                 : "+r"(s.d[0]), "+r"(s.d[1])                                                                      \
                 : "r"(a[0]), "r"(a[1]), "r"(b[0]))

#define MMA_OUT_F32 Fp32Sums<1>
#define MMA_OUT_F16 Fp16Sums<1>

#define MMA(NAME, OUT, WORDS, ELEMENT, ARCH, PTX)                                                                  \
    struct NAME {                                                                                                  \
        using Sums = MMA_OUT_##OUT;                                                                                \
        static constexpr const char *name = PTX;                                                                   \
        static constexpr int words = WORDS, element_bytes = ELEMENT, arch = ARCH;                                  \
        static __device__ void run(Sums &s, const uint32_t *a, const uint32_t *b) {                                \
            MMA_GUARD_##ARCH(MMA_BODY_##WORDS##_##OUT(PTX))                                                        \
        }                                                                                                          \
    };

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define MMA_GUARD_80(BODY) BODY;
#else
#define MMA_GUARD_80(BODY)
#endif
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
#define MMA_GUARD_89(BODY) BODY;
#else
#define MMA_GUARD_89(BODY)
#endif

MMA(MmaF16F32, F32, 8, 2, 80, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")
MMA(MmaF16F16, F16, 8, 2, 80, "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16")
MMA(MmaBf16F32, F32, 8, 2, 80, "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32")
MMA(MmaTf32F32, F32, 8, 4, 80, "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32")
MMA(MmaF16F32K8, F32, 4, 2, 80, "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32")
MMA(MmaF16F16K8, F16, 4, 2, 80, "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16")
MMA(MmaBf16F32K8, F32, 4, 2, 80, "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32")
MMA(MmaTf32F32K4, F32, 4, 4, 80, "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32")
MMA(MmaE4m3E4m3F32, F32, 8, 1, 89, "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32")
MMA(MmaE5m2E5m2F32, F32, 8, 1, 89, "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32")
MMA(MmaE4m3E5m2F32, F32, 8, 1, 89, "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32")
MMA(MmaE5m2E4m3F32, F32, 8, 1, 89, "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e4m3.f32")
MMA(MmaE4m3E4m3F16, F16, 8, 1, 89, "mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e4m3.f16")
MMA(MmaE5m2E5m2F16, F16, 8, 1, 89, "mma.sync.aligned.m16n8k32.row.col.f16.e5m2.e5m2.f16")
MMA(MmaE4m3E5m2F16, F16, 8, 1, 89, "mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e5m2.f16")
MMA(MmaE5m2E4m3F16, F16, 8, 1, 89, "mma.sync.aligned.m16n8k32.row.col.f16.e5m2.e4m3.f16")
MMA(MmaE4m3E4m3F32K16, F32, 4, 1, 89, "mma.sync.aligned.m16n8k16.row.col.f32.e4m3.e4m3.f32")
MMA(MmaE4m3E4m3F16K16, F16, 4, 1, 89, "mma.sync.aligned.m16n8k16.row.col.f16.e4m3.e4m3.f16")

template <class I>
__global__ void mma_dot(const uint32_t *a, const uint32_t *b, const typename I::Sums::Storage *c,
                        typename I::Sums::Storage *d, int64_t count, int steps, unsigned long long *unequal) {
    const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    const int64_t first = (int64_t(blockIdx.x) * (kThreads / 32) + threadIdx.x / 32) * kCases;
    if (first >= count) return;   // the whole warp
    const int64_t mine = min(first + g, count - 1);
    typename I::Sums s;
    s.fill(c[mine]);
    for (int step = 0; step < steps; step++) {
        const uint32_t *row = a + (mine * steps + step) * I::words;
        const uint32_t *column = b + (mine * steps + step) * I::words;
        uint32_t fa[I::words / 2], fb[I::words / 4];
        for (int i = 0; i < I::words / 4; i++) {
            fa[2 * i] = fa[2 * i + 1] = row[t + 4 * i];
            fb[i] = column[t + 4 * i];
        }
        I::run(s, fa, fb);
    }
    if (t == g / 2 && first + g < count) {
        d[first + g] = s.get(0, 0, g % 2);
        if (s.get(0, 0, g % 2) != s.get(0, 1, g % 2)) atomicAdd(unequal, 1ULL);
    }
}

// ---------------------------------------------------------------- warp-level binary64 instructions

// M rows of A, K elements: a thread holds columns t, t + 4, ... of row g, and of row g + 8 between them where M is 16.
template <int M, int K>
struct MmaF64;

template <>
struct MmaF64<8, 4> {
    static constexpr const char *name = "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64";
    static constexpr int arch = 80;
    static __device__ void run(double *d, const double *a, const double *b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
        asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
                     : "+d"(d[0]), "+d"(d[1])
                     : "d"(a[0]), "d"(b[0]));
#endif
    }
};

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define F64_ASM(...) asm volatile(__VA_ARGS__)
#else
#define F64_ASM(...)
#endif

template <>
struct MmaF64<16, 4> {
    static constexpr const char *name = "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64";
    static constexpr int arch = 90;
    static __device__ void run(double *d, const double *a, const double *b) {
        F64_ASM("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
                : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
                : "d"(a[0]), "d"(a[1]), "d"(b[0]));
    }
};

template <>
struct MmaF64<16, 8> {
    static constexpr const char *name = "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64";
    static constexpr int arch = 90;
    static __device__ void run(double *d, const double *a, const double *b) {
        F64_ASM("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
                "{%0,%1,%2,%3};"
                : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
                : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
    }
};

template <>
struct MmaF64<16, 16> {
    static constexpr const char *name = "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64";
    static constexpr int arch = 90;
    static __device__ void run(double *d, const double *a, const double *b) {
        F64_ASM("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7,%8,%9,%10,%11}, "
                "{%12,%13,%14,%15}, {%0,%1,%2,%3};"
                : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
                : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]), "d"(b[0]),
                  "d"(b[1]), "d"(b[2]), "d"(b[3]));
    }
};

template <int M, int K>
__global__ void mma_f64_dot(const double *a, const double *b, const double *c, double *d, int64_t count, int steps,
                            unsigned long long *unequal) {
    const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    const int64_t first = (int64_t(blockIdx.x) * (kThreads / 32) + threadIdx.x / 32) * kCases;
    if (first >= count) return;
    const int64_t mine = min(first + g, count - 1);
    constexpr int halves = M / 8;
    double s[2 * halves], fa[halves * K / 4], fb[K / 4];
    for (double &x : s) x = c[mine];
    for (int step = 0; step < steps; step++) {
        for (int i = 0; i < K / 4; i++) {
            for (int half = 0; half < halves; half++) fa[halves * i + half] = a[(mine * steps + step) * K + t + 4 * i];
            fb[i] = b[(mine * steps + step) * K + t + 4 * i];
        }
        MmaF64<M, K>::run(s, fa, fb);
    }
    if (t == g / 2 && first + g < count) {
        const double result = g % 2 ? s[1] : s[0];
        d[first + g] = result;
        if (halves == 2) {
            const double other = g % 2 ? s[2 * halves - 1] : s[2 * halves - 2];
            if (__double_as_longlong(result) != __double_as_longlong(other)) atomicAdd(unequal, 1ULL);
        }
    }
}

// ---------------------------------------------------------------- warpgroup-level instructions (wgmma)

// TYPES: what follows the shape. T_SS, T_RS: transpose arguments, which only 16-bit inputs have.
#define WGMMA_PTX(SHAPE_AND_TYPES) "wgmma.mma_async.sync.aligned." SHAPE_AND_TYPES
#define PREDICATED(P, TEXT) "{.reg .pred p; setp.ne.b32 p, " P ", 0; " TEXT "}"

#define WGMMA_BODIES_F32(PTX, T_SS, T_RS)                                                                          \
    static __device__ void shared(Sums &s, uint64_t a, uint64_t b, int use_c) {                                    \
        WGMMA_ASM(PREDICATED("%6", PTX " {%0,%1,%2,%3}, %4, %5, p, 1, 1" T_SS ";")                                 \
                  : "+f"(s.d[0]), "+f"(s.d[1]), "+f"(s.d[2]), "+f"(s.d[3])                                         \
                  : "l"(a), "l"(b), "r"(use_c));                                                                   \
    }                                                                                                              \
    static __device__ void registers(Sums &s, const uint32_t *a, uint64_t b, int use_c) {                          \
        WGMMA_ASM(PREDICATED("%9", PTX " {%0,%1,%2,%3}, {%4,%5,%6,%7}, %8, p, 1, 1" T_RS ";")                      \
                  : "+f"(s.d[0]), "+f"(s.d[1]), "+f"(s.d[2]), "+f"(s.d[3])                                         \
                  : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(use_c));                               \
    }
#define WGMMA_BODIES_F16(PTX, T_SS, T_RS)                                                                          \
    static __device__ void shared(Sums &s, uint64_t a, uint64_t b, int use_c) {                                    \
        WGMMA_ASM(PREDICATED("%4", PTX " {%0,%1}, %2, %3, p, 1, 1" T_SS ";")                                       \
                  : "+r"(s.d[0]), "+r"(s.d[1])                                                                     \
                  : "l"(a), "l"(b), "r"(use_c));                                                                   \
    }                                                                                                              \
    static __device__ void registers(Sums &s, const uint32_t *a, uint64_t b, int use_c) {                          \
        WGMMA_ASM(PREDICATED("%7", PTX " {%0,%1}, {%2,%3,%4,%5}, %6, p, 1, 1" T_RS ";")                            \
                  : "+r"(s.d[0]), "+r"(s.d[1])                                                                     \
                  : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(use_c));                               \
    }

// 64 columns: the same sums as 8, eight times over.
#define S4(X, N) X(s.d[N]), X(s.d[N + 1]), X(s.d[N + 2]), X(s.d[N + 3])
#define S16(X, N) S4(X, N), S4(X, N + 4), S4(X, N + 8), S4(X, N + 12)
#define P16 "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15"
#define P32 P16 ",%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
#define WGMMA_BODIES_WIDE_F32(PTX, T_SS, T_RS)                                                                     \
    static __device__ void shared(Sums &s, uint64_t a, uint64_t b, int use_c) {                                    \
        WGMMA_ASM(PREDICATED("%34", PTX " {" P32 "}, %32, %33, p, 1, 1" T_SS ";")                                  \
                  : S16("+f", 0), S16("+f", 16)                                                                    \
                  : "l"(a), "l"(b), "r"(use_c));                                                                   \
    }                                                                                                              \
    static __device__ void registers(Sums &, const uint32_t *, uint64_t, int) {}
#define WGMMA_BODIES_WIDE_F16(PTX, T_SS, T_RS)                                                                     \
    static __device__ void shared(Sums &s, uint64_t a, uint64_t b, int use_c) {                                    \
        WGMMA_ASM(PREDICATED("%18", PTX " {" P16 "}, %16, %17, p, 1, 1" T_SS ";")                                  \
                  : S16("+r", 0)                                                                                   \
                  : "l"(a), "l"(b), "r"(use_c));                                                                   \
    }                                                                                                              \
    static __device__ void registers(Sums &, const uint32_t *, uint64_t, int) {}

#define WGMMA_OUT_F32 Fp32Sums<1>
#define WGMMA_OUT_F16 Fp16Sums<1>
#define WGMMA_OUT_WIDE_F32 Fp32Sums<8>
#define WGMMA_OUT_WIDE_F16 Fp16Sums<8>

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define WGMMA_ASM(...) asm volatile(__VA_ARGS__)
#else
#define WGMMA_ASM(...)
#endif

#define WGMMA(NAME, OUT, ELEMENT, SHAPE_AND_TYPES, T_SS, T_RS)                                                     \
    struct NAME {                                                                                                  \
        using Sums = WGMMA_OUT_##OUT;                                                                              \
        static constexpr const char *name = WGMMA_PTX(SHAPE_AND_TYPES);                                            \
        static constexpr int words = 8, element_bytes = ELEMENT;                                                   \
        WGMMA_BODIES_##OUT(WGMMA_PTX(SHAPE_AND_TYPES), T_SS, T_RS)                                                 \
    };

WGMMA(WgF16F32, F32, 2, "m64n8k16.f32.f16.f16", ", 0, 0", ", 0")
WGMMA(WgF16F16, F16, 2, "m64n8k16.f16.f16.f16", ", 0, 0", ", 0")
WGMMA(WgBf16F32, F32, 2, "m64n8k16.f32.bf16.bf16", ", 0, 0", ", 0")
WGMMA(WgTf32F32, F32, 4, "m64n8k8.f32.tf32.tf32", "", "")
WGMMA(WgE4m3E4m3F32, F32, 1, "m64n8k32.f32.e4m3.e4m3", "", "")
WGMMA(WgE5m2E5m2F32, F32, 1, "m64n8k32.f32.e5m2.e5m2", "", "")
WGMMA(WgE4m3E5m2F32, F32, 1, "m64n8k32.f32.e4m3.e5m2", "", "")
WGMMA(WgE5m2E4m3F32, F32, 1, "m64n8k32.f32.e5m2.e4m3", "", "")
WGMMA(WgE4m3E4m3F16, F16, 1, "m64n8k32.f16.e4m3.e4m3", "", "")
WGMMA(WgE5m2E5m2F16, F16, 1, "m64n8k32.f16.e5m2.e5m2", "", "")
WGMMA(WgE4m3E5m2F16, F16, 1, "m64n8k32.f16.e4m3.e5m2", "", "")
WGMMA(WgE5m2E4m3F16, F16, 1, "m64n8k32.f16.e5m2.e4m3", "", "")
WGMMA(WgWideF16F32, WIDE_F32, 2, "m64n64k16.f32.f16.f16", ", 0, 0", "")
WGMMA(WgWideE4m3F32, WIDE_F32, 1, "m64n64k32.f32.e4m3.e4m3", "", "")
WGMMA(WgWideE4m3F16, WIDE_F16, 1, "m64n64k32.f16.e4m3.e4m3", "", "")

// Descriptor of a K-major matrix without swizzling: 8 rows of 16 bytes are contiguous (128 bytes); the next 16 bytes of
// the rows follow after 128 bytes, the next 8 rows after 256.
__device__ uint64_t descriptor(const void *matrix) {
    const uint64_t address = __cvta_generic_to_shared(matrix);
    return (address & 0x3ffff) >> 4 | uint64_t(128 >> 4) << 16 | uint64_t(256 >> 4) << 32;
}

template <class I, int STEPS, bool A_IN_REGISTERS>
__global__ void __launch_bounds__(kThreads, 1)
    wgmma_dot(const uint32_t *a, const uint32_t *b, const typename I::Sums::Storage *c, typename I::Sums::Storage *d,
              int64_t count, int use_c, unsigned long long *unequal) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    using Sums = typename I::Sums;
    constexpr int kRepeats = 64 / kCases, kMatrix = 2 * 32 * kRepeats;   // words of 64 rows of 32 bytes
    __shared__ __align__(128) uint32_t shared_a[STEPS * kMatrix];
    __shared__ __align__(128) uint32_t shared_b[STEPS * kMatrix];
    __shared__ typename Sums::Storage results[kRepeats][kCases];
    const int64_t first = int64_t(blockIdx.x) * kCases;
    for (int i = threadIdx.x; i < STEPS * kCases * I::words; i += kThreads) {
        const int step = i / (kCases * I::words), row = i / I::words % kCases, word = i % I::words;
        const int64_t from = (min(first + row, count - 1) * STEPS + step) * I::words + word;
        for (int repeat = 0; repeat < kRepeats; repeat++) {
            const int to = step * kMatrix + (2 * repeat + word / 4) * 32 + 4 * row + word % 4;
            shared_a[to] = a[from];
            shared_b[to] = b[from];
        }
    }
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    const int64_t mine = min(first + g, count - 1);
    uint32_t fa[STEPS][4];
    if (A_IN_REGISTERS) {
        for (int step = 0; step < STEPS; step++)
            for (int i = 0; i < 4; i++) fa[step][i] = a[(mine * STEPS + step) * I::words + t + 4 * (i / 2)];
    }
    Sums s;
    s.fill(c[mine]);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    s.pin();
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int step = 0; step < STEPS; step++) {
        const uint64_t db = descriptor(shared_b + step * kMatrix);
        if (A_IN_REGISTERS)
            I::registers(s, fa[step], db, use_c || step > 0);
        else
            I::shared(s, descriptor(shared_a + step * kMatrix), db, use_c || step > 0);
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    s.pin();
    if (t == g / 2) {
        for (int half = 0; half < 2; half++) results[2 * warp + half][g] = s.get(0, half, g % 2);
        for (int group = 1; group < Sums::groups; group++)
            for (int half = 0; half < 2; half++)
                if (s.get(group, half, g % 2) != s.get(0, half, g % 2)) atomicAdd(unequal, 1ULL);
    }
    __syncthreads();
    if (threadIdx.x < kCases && first + threadIdx.x < count) {
        d[first + threadIdx.x] = results[0][threadIdx.x];
        for (int repeat = 1; repeat < kRepeats; repeat++)
            if (results[repeat][threadIdx.x] != results[0][threadIdx.x]) atomicAdd(unequal, 1ULL);
    }
#endif
}

// ---------------------------------------------------------------- host

void check(cudaError_t error, const char *what) {
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "tensor_core_dot: %s: %s\n", what, cudaGetErrorString(error));
    std::exit(1);
}

[[noreturn]] void refuse(const std::string &message) {
    std::fprintf(stderr, "tensor_core_dot: %s\n", message.c_str());
    std::exit(2);
}

struct Job {
    const void *a, *b, *c;
    void *d;
    int64_t count;
    int steps;
    bool a_in_registers, use_c;
    unsigned long long *unequal;
};

struct Instruction {
    const char *name;
    int k, element_bytes, output_bytes;
    int arch;            // least compute capability, times 10
    bool warpgroup;      // wgmma: compute capability 9.0 alone
    void (*launch)(const Job &);
};

unsigned blocks(int64_t count, int cases) { return unsigned((count + cases - 1) / cases); }

template <class I>
void launch_mma(const Job &job) {
    using Storage = typename I::Sums::Storage;
    mma_dot<I><<<blocks(job.count, kCases * kThreads / 32), kThreads>>>(
        static_cast<const uint32_t *>(job.a), static_cast<const uint32_t *>(job.b),
        static_cast<const Storage *>(job.c), static_cast<Storage *>(job.d), job.count, job.steps, job.unequal);
}

template <int M, int K>
void launch_f64(const Job &job) {
    mma_f64_dot<M, K><<<blocks(job.count, kCases * kThreads / 32), kThreads>>>(
        static_cast<const double *>(job.a), static_cast<const double *>(job.b), static_cast<const double *>(job.c),
        static_cast<double *>(job.d), job.count, job.steps, job.unequal);
}

template <class I, int STEPS, bool A_IN_REGISTERS>
void launch_wgmma_steps(const Job &job) {
    using Storage = typename I::Sums::Storage;
    wgmma_dot<I, STEPS, A_IN_REGISTERS><<<blocks(job.count, kCases), kThreads>>>(
        static_cast<const uint32_t *>(job.a), static_cast<const uint32_t *>(job.b),
        static_cast<const Storage *>(job.c), static_cast<Storage *>(job.d), job.count, job.use_c, job.unequal);
}

template <class I>
void launch_wgmma(const Job &job) {
    if (job.a_in_registers && I::Sums::groups > 1) refuse("--a-registers: only with n8");
    switch (job.steps + (job.a_in_registers ? 100 : 0)) {
        case 1: return launch_wgmma_steps<I, 1, false>(job);
        case 2: return launch_wgmma_steps<I, 2, false>(job);
        case 4: return launch_wgmma_steps<I, 4, false>(job);
        case 101: return launch_wgmma_steps<I, 1, true>(job);
        case 102: return launch_wgmma_steps<I, 2, true>(job);
        case 104: return launch_wgmma_steps<I, 4, true>(job);
    }
    refuse("STEPS of wgmma is 1, 2 or 4");
}

template <class I>
constexpr Instruction mma() {
    return {I::name, I::words * 4 / I::element_bytes, I::element_bytes, int(sizeof(typename I::Sums::Storage)),
            I::arch, false, launch_mma<I>};
}

template <int M, int K>
constexpr Instruction f64() {
    return {MmaF64<M, K>::name, K, 8, 8, MmaF64<M, K>::arch, false, launch_f64<M, K>};
}

template <class I>
constexpr Instruction wgmma() {
    return {I::name, I::words * 4 / I::element_bytes, I::element_bytes, int(sizeof(typename I::Sums::Storage)), 90,
            true, launch_wgmma<I>};
}

const Instruction kInstructions[] = {
    mma<MmaF16F32>(), mma<MmaF16F16>(), mma<MmaBf16F32>(), mma<MmaTf32F32>(),
    mma<MmaF16F32K8>(), mma<MmaF16F16K8>(), mma<MmaBf16F32K8>(), mma<MmaTf32F32K4>(),
    mma<MmaE4m3E4m3F32>(), mma<MmaE5m2E5m2F32>(), mma<MmaE4m3E5m2F32>(), mma<MmaE5m2E4m3F32>(),
    mma<MmaE4m3E4m3F16>(), mma<MmaE5m2E5m2F16>(), mma<MmaE4m3E5m2F16>(), mma<MmaE5m2E4m3F16>(),
    mma<MmaE4m3E4m3F32K16>(), mma<MmaE4m3E4m3F16K16>(),
    f64<8, 4>(), f64<16, 4>(), f64<16, 8>(), f64<16, 16>(),
    wgmma<WgF16F32>(), wgmma<WgF16F16>(), wgmma<WgBf16F32>(), wgmma<WgTf32F32>(),
    wgmma<WgE4m3E4m3F32>(), wgmma<WgE5m2E5m2F32>(), wgmma<WgE4m3E5m2F32>(), wgmma<WgE5m2E4m3F32>(),
    wgmma<WgE4m3E4m3F16>(), wgmma<WgE5m2E5m2F16>(), wgmma<WgE4m3E5m2F16>(), wgmma<WgE5m2E4m3F16>(),
    wgmma<WgWideF16F32>(), wgmma<WgWideE4m3F32>(), wgmma<WgWideE4m3F16>(),
};

const Instruction &find(const char *name) {
    for (const Instruction &i : kInstructions)
        if (!std::strcmp(i.name, name)) return i;
    refuse(std::string("unknown instruction '") + name + "'; --list shows them");
}

std::vector<char> read_file(const char *path) {
    std::FILE *file = std::fopen(path, "rb");
    if (!file) refuse(std::string("cannot read ") + path);
    std::fseek(file, 0, SEEK_END);
    std::vector<char> bytes(size_t(std::ftell(file)));
    std::rewind(file);
    const size_t got = std::fread(bytes.data(), 1, bytes.size(), file);
    std::fclose(file);
    if (got != bytes.size()) refuse(std::string("cannot read all of ") + path);
    return bytes;
}

void write_file(const char *path, const std::vector<char> &bytes) {
    std::FILE *file = std::fopen(path, "wb");
    if (!file || std::fwrite(bytes.data(), 1, bytes.size(), file) != bytes.size() || std::fclose(file))
        refuse(std::string("cannot write ") + path);
}

int show_device() {
    cudaDeviceProp device;
    int driver = 0, runtime = 0;
    check(cudaGetDeviceProperties(&device, 0), "device");
    check(cudaDriverGetVersion(&driver), "driver version");
    check(cudaRuntimeGetVersion(&runtime), "runtime version");
    std::printf("%s, compute capability %d.%d, driver API %d.%d, runtime %d.%d, compiler %d.%d\n", device.name,
                device.major, device.minor, driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10,
                __CUDACC_VER_MAJOR__, __CUDACC_VER_MINOR__);
    return 0;
}

}  // namespace

int main(int argc, char **argv) {
    if (argc == 2 && !std::strcmp(argv[1], "--device")) return show_device();
    if (argc == 2 && !std::strcmp(argv[1], "--list")) {
        for (const Instruction &i : kInstructions) std::printf("%s\n", i.name);
        return 0;
    }
    if (argc < 5) refuse("usage: tensor_core_dot INSTRUCTION STEPS INPUT OUTPUT [--a-registers] [--no-c]");
    const Instruction &instruction = find(argv[1]);
    Job job{};
    job.steps = std::atoi(argv[2]);
    job.use_c = true;
    for (int i = 5; i < argc; i++) {
        if (!std::strcmp(argv[i], "--a-registers")) job.a_in_registers = true;
        else if (!std::strcmp(argv[i], "--no-c")) job.use_c = false;
        else refuse(std::string("unknown option ") + argv[i]);
    }
    if (job.steps < 1) refuse("STEPS is 1 or more");
    if (!instruction.warpgroup && (job.a_in_registers || !job.use_c)) refuse("that option is for wgmma");
    cudaDeviceProp device;
    check(cudaGetDeviceProperties(&device, 0), "device");
    const int arch = 10 * device.major + device.minor;
    if (arch < instruction.arch || (instruction.warpgroup && arch != 90))
        refuse(std::string(device.name) + " has no " + instruction.name);

    const std::vector<char> input = read_file(argv[3]);
    const size_t vector_bytes = size_t(job.steps) * instruction.k * instruction.element_bytes;
    const size_t case_bytes = 2 * vector_bytes + instruction.output_bytes;
    if (input.size() % case_bytes) refuse("INPUT does not hold a whole number of cases");
    job.count = int64_t(input.size() / case_bytes);
    std::vector<char> output(size_t(job.count) * instruction.output_bytes);
    unsigned long long unequal = 0;
    if (job.count > 0) {
        char *in = nullptr, *out = nullptr;
        check(cudaMalloc(&in, input.size()), "allocation");
        check(cudaMalloc(&out, output.size()), "allocation");
        check(cudaMalloc(&job.unequal, sizeof unequal), "allocation");
        check(cudaMemcpy(in, input.data(), input.size(), cudaMemcpyHostToDevice), "copy");
        check(cudaMemset(out, 0xa5, output.size()), "fill");
        check(cudaMemset(job.unequal, 0, sizeof unequal), "fill");
        job.a = in;
        job.b = in + vector_bytes * job.count;
        job.c = in + 2 * vector_bytes * job.count;
        job.d = out;
        instruction.launch(job);
        check(cudaGetLastError(), "launch");
        check(cudaDeviceSynchronize(), "kernel");
        check(cudaMemcpy(output.data(), out, output.size(), cudaMemcpyDeviceToHost), "copy");
        check(cudaMemcpy(&unequal, job.unequal, sizeof unequal, cudaMemcpyDeviceToHost), "copy");
    }
    write_file(argv[4], output);
    std::printf("%s x %d: %lld cases, %llu repetitions with other bits\n", instruction.name, job.steps,
                static_cast<long long>(job.count), unequal);
    return unequal ? 3 : 0;
}
