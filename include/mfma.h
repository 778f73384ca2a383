/* mfma 1.0.0: what GPU matrix units compute, bit for bit.
 *
 * Rules for every function: out-parameters are untouched on failure. NULL where memory is needed, sizes
 * that are negative or too large, leading dimensions below max(1, rows), unknown codes and combinations that
 * a unit does not have are errors; mfma_last_error() names the argument and says what is allowed. Zero sizes
 * succeed, with NULL pointers too. No function prints, exits, raises a signal or changes the floating-point
 * environment, and no result depends on it, on the number of threads or on the CPU. All functions may be
 * called from any number of threads at once.
 */
/* Made from src/capi by `cargo run --example gen_header`: change it there. */

#ifndef MFMA_H
#define MFMA_H

#include <stdint.h>

// A matrix unit, ready to compute. Immutable: any number of threads may use one at a time.
typedef struct mfma_model mfma_model;

// Outcome of a call: MFMA_OK, or what went wrong (MFMA_ERR_*). New values may be added.
typedef int32_t mfma_status;

// An architecture with matrix units (MFMA_ARCH_*).
typedef int32_t mfma_arch;

// A number format (MFMA_FMT_*).
typedef int32_t mfma_format;

// Success.
#define MFMA_OK 0
// A pointer that must not be NULL is NULL.
#define MFMA_ERR_NULL_POINTER 1
// A size is negative or too large.
#define MFMA_ERR_INVALID_SIZE 2
// A leading dimension or stride is too small.
#define MFMA_ERR_INVALID_LD 3
// No such architecture.
#define MFMA_ERR_UNKNOWN_ARCH 4
// No such format.
#define MFMA_ERR_UNKNOWN_FORMAT 5
// The unit does not have this combination of formats.
#define MFMA_ERR_UNSUPPORTED 6
// No such instruction on this architecture.
#define MFMA_ERR_UNKNOWN_INSTRUCTION 7
// The result overlaps an input.
#define MFMA_ERR_OVERLAP 8
// An argument has a value that is not allowed.
#define MFMA_ERR_INVALID_ARGUMENT 9
// The parameters of a custom unit contradict each other or are out of range.
#define MFMA_ERR_INVALID_PARAMS 10
// Not enough memory.
#define MFMA_ERR_OUT_OF_MEMORY 11
// The caller cancelled the computation.
#define MFMA_ERR_CANCELLED 12
// Internal error; please report it.
#define MFMA_ERR_INTERNAL 13

// NVIDIA Volta (V100).
#define MFMA_ARCH_VOLTA 0
// NVIDIA Turing (T4).
#define MFMA_ARCH_TURING 1
// NVIDIA Ampere (A100, A2, A30).
#define MFMA_ARCH_AMPERE 2
// NVIDIA Ada Lovelace (L40S).
#define MFMA_ARCH_ADA 3
// NVIDIA Hopper (H100, H200).
#define MFMA_ARCH_HOPPER 4
// NVIDIA Blackwell, data centre (B200).
#define MFMA_ARCH_BLACKWELL 5
// NVIDIA Blackwell, workstation and consumer (RTX PRO 6000).
#define MFMA_ARCH_RTX_BLACKWELL 6
// AMD CDNA 1 (MI100).
#define MFMA_ARCH_CDNA1 7
// AMD CDNA 2 (MI210, MI250).
#define MFMA_ARCH_CDNA2 8
// AMD CDNA 3 (MI300A, MI300X).
#define MFMA_ARCH_CDNA3 9
// CDNA 3 as MATLAB Tensor Core v0.6 computes it; no hardware does.
#define MFMA_ARCH_CDNA3_TOOLBOX 10
// Blackwell with results rounded to nearest even, the toolbox's B200TCRN; no hardware does this.
#define MFMA_ARCH_BLACKWELL_RN 11

// IEEE binary64.
#define MFMA_FMT_FP64 0
// IEEE binary32.
#define MFMA_FMT_FP32 1
// TensorFloat-32 (AMD: xf32): a binary32 word of which the unit reads the first 19 bits.
#define MFMA_FMT_TF32 2
// IEEE binary16.
#define MFMA_FMT_FP16 3
// bfloat16.
#define MFMA_FMT_BF16 4
// 8-bit E4M3 of the OCP standard (NVIDIA).
#define MFMA_FMT_E4M3 5
// 8-bit E5M2 of the OCP standard (NVIDIA).
#define MFMA_FMT_E5M2 6
// 8-bit E4M3 of AMD CDNA 3 ("fp8").
#define MFMA_FMT_E4M3FNUZ 7
// 8-bit E5M2 of AMD CDNA 3 ("bf8").
#define MFMA_FMT_E5M2FNUZ 8

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Version of the library, such as "1.0.0".
const char *mfma_version(void);

// What a status means, in one sentence. Never NULL, whatever the value.
const char *mfma_status_string(mfma_status status);

// Identifier of a status in MATLAB and Octave, such as "mfma:arg:size". Never NULL; "" for MFMA_OK and unknown values.
const char *mfma_error_id(mfma_status status);

// Message of this thread's last failed call, naming the argument and what is allowed. Never NULL; "" before the first
// failure. It stays until the next failed call of this thread.
const char *mfma_last_error(void);

// Name of an architecture, such as "CDNA3"; NULL if there is none with this number. Numbers run from 0 without a gap.
const char *mfma_arch_name(mfma_arch arch);

// Name of a format, such as "fp16"; NULL if there is none with this number. Numbers run from 0 without a gap.
const char *mfma_format_name(mfma_format format);

// Bytes that one raw element of a format takes; 0 if there is no such format.
int32_t mfma_format_bytes(mfma_format format);

// Sets how many threads, the calling one included, work on one call: 1 to 1024, or 0 for the default (the environment
// variable MFMA_NUM_THREADS, else all cores). Results never depend on it.
mfma_status mfma_set_num_threads(int32_t threads);

// How many threads, the calling one included, work on one call.
int32_t mfma_get_num_threads(void);

// Which kernel level is in use: "portable", "avx2", "avx512" or "neon". The environment variable MFMA_SIMD lowers it.
const char *mfma_cpu_features(void);

// Architecture that a name stands for: its own ("CDNA3", "hopper"), a GPU's ("MI300X", "H100", "T4") or that of a
// function of MATLAB Tensor Core ("MI300XMC"). Letter case, spaces, '-' and '_' do not matter.
mfma_status mfma_arch_from_name(const char *name, mfma_arch *arch);

// Format that a name means on an architecture, in any letter case: fp16 half binary16 bf16 bfloat16 brainfloat16 tf32
// tensorfloat32 xf32 fp8-e4m3 e4m3 fp8-e5m2 e5m2 fp32 single binary32 fp64 double binary64. On CDNA 3 fp8 and bf8 are
// AMD's names of E4M3FNUZ and E5M2FNUZ, and the names of the OCP kinds mean the FNUZ kinds.
mfma_status mfma_format_from_name(mfma_arch arch, const char *name, mfma_format *format);

// The unit of `arch` that multiplies elements of formats `a` and `b` and gives results of format `d`. Release it with
// mfma_model_free.
mfma_status mfma_model_new(mfma_arch arch, mfma_format a, mfma_format b, mfma_format d, mfma_model **model);

// The unit that an instruction runs on, by its name in the instruction set of `arch`: "v_mfma_f32_32x32x8_f16",
// "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", ... Release it with mfma_model_free.
mfma_status mfma_model_from_instruction(const char *mnemonic, mfma_arch arch, mfma_model **model);

// Releases a model. NULL is allowed.
void mfma_model_free(mfma_model *model);

// `count` independent dot products of length `k` on raw encodings: case i reads a[i*k] to a[i*k + k-1], b likewise,
// and c[i], and writes d[i]. c and d have the model's output format.
//
// One element takes 8 bytes for FP64, 4 for FP32 and TF32 (a binary32 word, truncated inside), 2 for FP16 and BF16, and
// 1 for 8-bit formats. Nothing is scaled or rounded on the way in. Pointers need not be aligned. d may be c; it must
// not overlap anything else.
mfma_status mfma_dot_batch(const mfma_model *model, int64_t count, int64_t k, const void *a, const void *b,
                           const void *c, void *d);

// D = round(alpha*A) round(B) + round(beta*C) through the unit of `arch` whose inputs have `format` and whose results
// are binary32. A is m x k, B k x n, C and D m x n, all column-major.
//
// alpha*A and beta*C are formed in binary64 and rounded once to the unit's formats. With beta == 0, C is not read and
// may be NULL (ldc is then not read either). Without elements, A, B, C or D may be NULL. k == 0 gives D = round(beta*C).
// D may be C, with ldd == ldc; it must not overlap anything else. On failure D is untouched.
mfma_status mfma_gemm_f32(mfma_arch arch, mfma_format format, int64_t m, int64_t n, int64_t k, float alpha,
                          const float *a, int64_t lda, const float *b, int64_t ldb, float beta,
                          const float *c, int64_t ldc, float *d, int64_t ldd);

// As mfma_gemm_f32, but for binary64 matrices, and with the unit's output format of the caller's choice: MFMA_FMT_FP32,
// MFMA_FMT_FP16 or MFMA_FMT_FP64, as the unit has it. The results are stored as binary64 numbers without error.
mfma_status mfma_gemm_f64(mfma_arch arch, mfma_format format, mfma_format out_format, int64_t m, int64_t n,
                          int64_t k, double alpha, const double *a, int64_t lda, const double *b, int64_t ldb,
                          double beta, const double *c, int64_t ldc, double *d, int64_t ldd);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* MFMA_H */
