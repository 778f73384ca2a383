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

#include <stddef.h>
#include <stdint.h>

// One fused multiply-add after the other.
#define MFMA_SCHEME_SEQUENTIAL_FMA 0
// Products of a block and c added without error, rounded once (CDNA 1).
#define MFMA_SCHEME_CORRECT_ROUNDING 1
// Products rounded and added two by two, c last, every step rounded (CDNA 2).
#define MFMA_SCHEME_PAIRWISE_SUM 2
// Products aligned to the largest exponent, cut, added, rounded once (NVIDIA, CDNA 3).
#define MFMA_SCHEME_GLOBAL_ALIGNMENT 3
// The same with odd and even products aligned apart (CDNA 3, 8-bit inputs).
#define MFMA_SCHEME_ODD_EVEN_GROUPING 4

// Elements of a block in their order.
#define MFMA_INTERLEAVE_NONE 0
// Two half blocks, k mod 4 in {0, 1} and {2, 3}; c added last (8-bit inputs of mma.sync on Hopper and Blackwell).
#define MFMA_INTERLEAVE_MOD4 1

// NaN has its sign bit set; a nonzero sum that becomes zero keeps its sign.
#define MFMA_CONVENTIONS_AMD 0
// NaN has all bits but the sign set; a zero result is +0.
#define MFMA_CONVENTIONS_NVIDIA 1
// As MATLAB Tensor Core computes format pairs that no hardware has: c is binary32 between blocks.
#define MFMA_CONVENTIONS_TOOLBOX 2

// "No such limit" or "no such step", in the fields of mfma_params that may have none.
#define MFMA_NONE -2147483648

// Vectors measured on the hardware.
#define MFMA_EVIDENCE_MEASURED 0
// The paper's algorithms and printed vectors.
#define MFMA_EVIDENCE_PAPER 1
// Vendor documentation or other public models only.
#define MFMA_EVIDENCE_ASSUMED 2
// No hardware has this unit: it is what MATLAB Tensor Core computes.
#define MFMA_EVIDENCE_NO_HARDWARE 3

// A feature that the answers decide.
#define MFMA_FINDING_FEATURE 0
// A feature of which several values give every answer.
#define MFMA_FINDING_UNDECIDED 1
// Something that was observed directly.
#define MFMA_FINDING_OBSERVED 2

// Columns one after the other: the convention of BLAS, MATLAB and Fortran.
#define MFMA_ORDER_COL_MAJOR 0
// Rows one after the other: the convention of C and NumPy.
#define MFMA_ORDER_ROW_MAJOR 1

// Encodings of the unit's format.
#define MFMA_STORAGE_RAW 0
// binary32 numbers, rounded to the unit's format inside the call.
#define MFMA_STORAGE_F32 1
// binary64 numbers, rounded to the unit's format inside the call.
#define MFMA_STORAGE_F64 2

// As the matrix functions round what they are given: FNUZ formats saturate, the others follow IEEE 754.
#define MFMA_OVERFLOW_DEFAULT 0
// As IEEE 754; NaN in the place of infinity in formats without infinities.
#define MFMA_OVERFLOW_IEEE 1
// The largest finite number.
#define MFMA_OVERFLOW_SATURATE 2
// Infinity whatever the rounding, as in the units themselves; NaN in formats without infinities.
#define MFMA_OVERFLOW_INFINITY 3

// Zero, of either sign.
#define MFMA_CLASS_ZERO 0
// Any other finite number.
#define MFMA_CLASS_FINITE 1
// An infinity.
#define MFMA_CLASS_INFINITE 2
// Not a number.
#define MFMA_CLASS_NAN 3

// A matrix unit, ready to compute. Immutable: any number of threads may use one at a time.
typedef struct mfma_model mfma_model;

// Outcome of a call: MFMA_OK, or what went wrong (MFMA_ERR_*). New values may be added.
typedef int32_t mfma_status;

// An architecture with matrix units (MFMA_ARCH_*).
typedef int32_t mfma_arch;

// A number format (MFMA_FMT_*).
typedef int32_t mfma_format;

// Told every now and then, at least ten times a second and always on the thread that called the library, which part of
// the work is done, 0 to 1. Anything but 0 cancels the computation. It must return: no longjmp, no exception.
typedef int32_t (*mfma_progress)(double done, void *user);

// Arguments of mfma_gemm. Set `size` to sizeof(mfma_gemm_args), let mfma_gemm_args_default fill the rest, then set the
// model, the sizes and the matrices.
typedef struct mfma_gemm_args {
    // sizeof(mfma_gemm_args).
    size_t size;
    // The unit.
    const mfma_model *model;
    // Rows of op(A), C and D.
    int64_t m;
    // Columns of op(B), C and D.
    int64_t n;
    // Columns of op(A), rows of op(B).
    int64_t k;
    // Number of products; default 1.
    int64_t batch_count;
    // Factor of A, applied in binary64 before rounding; default 1. Raw elements must have 1.
    double alpha;
    // Factor of C, applied in binary64 before rounding; default 0: C is not read. Raw elements must have 0 or 1.
    double beta;
    // A, m x k; k x m if transposed.
    const void *a;
    // B, k x n; n x k if transposed.
    const void *b;
    // C, m x n; may be NULL if beta is 0.
    const void *c;
    // D, m x n; may be C, with the same storage and leading dimension.
    void *d;
    // Elements from one column to the next (row-major: from one row to the next), of A as it is stored.
    int64_t lda;
    // The same of B.
    int64_t ldb;
    // The same of C.
    int64_t ldc;
    // The same of D.
    int64_t ldd;
    // Elements from one A of a batch to the next; 0: all products share it.
    int64_t stride_a;
    // The same of B.
    int64_t stride_b;
    // The same of C.
    int64_t stride_c;
    // The same of D; the results must not overlap.
    int64_t stride_d;
    // Not NULL: batch_count pointers, instead of a and stride_a.
    const void *const *a_list;
    // Not NULL: batch_count pointers, instead of b and stride_b.
    const void *const *b_list;
    // Not NULL: batch_count pointers, instead of c and stride_c.
    const void *const *c_list;
    // Not NULL: batch_count pointers, instead of d and stride_d.
    void *const *d_list;
    // MFMA_ORDER_COL_MAJOR (default) or MFMA_ORDER_ROW_MAJOR, for all matrices.
    int32_t order;
    // 1 to use the transpose of A; default 0.
    int32_t trans_a;
    // 1 to use the transpose of B; default 0.
    int32_t trans_b;
    // How A's elements are stored: MFMA_STORAGE_*; default MFMA_STORAGE_F64.
    int32_t storage_a;
    // The same of B.
    int32_t storage_b;
    // The same of C; raw elements have the unit's output format.
    int32_t storage_c;
    // The same of D; binary32 and binary64 hold the results without error.
    int32_t storage_d;
    // Most threads to use, the calling one included; 0 (default): as mfma_set_num_threads says. Never more than that.
    int32_t threads;
    // Not NULL: watches the computation, and may cancel it; D's contents are then unspecified.
    mfma_progress progress;
    // Handed to `progress`.
    void *progress_user;
} mfma_gemm_args;

// The features of a matrix unit. Set `size` to sizeof(mfma_params), fill the rest with mfma_params_default or
// mfma_params_from_arch, then change what is to be different. Flags are 0 or 1. In brackets: the name of the feature in
// MATLAB Tensor Core.
typedef struct mfma_params {
    // sizeof(mfma_params).
    size_t size;
    // How a block is summed: MFMA_SCHEME_*.
    int32_t scheme;
    // Products in one block, 1 to 4096; longer dot products run block after block (fma).
    int32_t fma;
    // Order of the elements in a block: MFMA_INTERLEAVE_*.
    int32_t interleave;
    // Fractional bits kept, relative to the largest exponent, when a term is aligned (23 + neab). Alignment schemes.
    int32_t alignment_bits;
    // Does one more bit remember whether a term lost anything (stkbitenabled)? Global alignment with early c.
    int32_t sticky;
    // Is c added after the products (late_partial_sum)? Global alignment.
    int32_t late_c;
    // Are products kept unnormalised, with a significand below 4 (denorm_prd)? Alignment schemes.
    int32_t denormal_products;
    // Rounding of a sum or of c when one is aligned to the other: MFMA_ROUND_* (armode). Late c.
    int32_t alignment_rounding;
    // Fractional bits kept of the sum of products when it is aligned to a larger c. Late c. The larger c keeps as many,
    // so that one with a longer fraction is rounded, too.
    int32_t late_sum_bits;
    // Fractional bits to which the total is then rounded down before the final rounding, or MFMA_NONE. Late c. Acts on c
    // alone where a block has no products.
    int32_t late_total_bits;
    // A late c more than this many binades below the products is dropped, or MFMA_NONE. Odd-even grouping.
    int32_t drop_c_beyond;
    // The largest exponent is not taken below this, or MFMA_NONE (min_exp_limit).
    int32_t min_exponent;
    // Exponent that c = 0 counts with when c is late, or MFMA_NONE (c_min_exp_limit).
    int32_t zero_c_exponent;
    // Is a product beyond the output format's range an infinity (prd_limit)?
    int32_t product_limit;
    // Final rounding: MFMA_ROUND_* (frmode).
    int32_t rounding;
    // Are subnormal inputs kept (in_subnormals)?
    int32_t in_subnormals;
    // Are subnormal c and results kept (out_subnormals)?
    int32_t out_subnormals;
    // Is a tf32 word cut to 19 bits before NaNs are told from infinities (Hopper)? tf32 inputs.
    int32_t nan_after_cut;
    // NaN's encoding and zero's sign: MFMA_CONVENTIONS_*.
    int32_t conventions;
    // 0. Makes the size a multiple of 8 without padding of unknown content.
    int32_t reserved;
} mfma_params;

// A unit of the catalogue for one pair of input formats. Set `size` to sizeof(mfma_capability).
typedef struct mfma_capability {
    // sizeof(mfma_capability).
    size_t size;
    // Architecture.
    mfma_arch arch;
    // Format of a's elements.
    mfma_format a;
    // Format of b's elements.
    mfma_format b;
    // Format of c and d.
    mfma_format d;
    // 1 if only mfma_model_from_instruction reaches the unit, 0 if mfma_model_new gives it for these formats.
    int32_t by_instruction;
    // Who says that it computes like this: MFMA_EVIDENCE_*. A pair without vectors of its own is assumed.
    int32_t evidence;
    // An instruction of the unit for this pair; "" if there is none. Static text.
    const char *instruction;
    // Where the features are from. Static text.
    const char *source;
    // Vectors measured on GPUs that the unit has been checked against.
    int64_t measured;
    // Vectors printed in the paper or following from its algorithms.
    int64_t paper;
    // Vectors drawn from problems that people met.
    int64_t directed;
    // Vectors computed by MATLAB Tensor Core.
    int64_t golden;
    // Vectors that the unit does not reproduce.
    int64_t mismatches;
    // The probability of a mismatch is below this with probability 1 - 1e-6 (paper, section 5.4); 1 if nothing is known.
    double mismatch_bound;
} mfma_capability;

// A unit to ask or to compare with: hardware, another program. It computes `count` dot products of length `k` as
// mfma_dot_batch does, case i from a[i*k], b[i*k] and c[i] to d[i], on encodings of the formats that were named. It is
// called on the thread that called the library, in the default floating-point environment (rounding to nearest, nothing
// flushed or trapped); it may call the library. Anything but 0 ends the campaign or probe. It must return: no longjmp, no
// exception.
typedef int32_t (*mfma_black_box)(int64_t count, int64_t k, const void *a, const void *b, const void *c,
                 void *d, void *user);

// Arguments of mfma_validate. Set `size` to sizeof(mfma_validate_args), let mfma_validate_args_default fill the rest, then
// set the model, `count`, and what it is compared with.
typedef struct mfma_validate_args {
    // sizeof(mfma_validate_args).
    size_t size;
    // The unit that is expected.
    const mfma_model *model;
    // Not NULL: a model of the same formats to compare with.
    const mfma_model *other;
    // Not NULL: a unit to compare with. Where neither is given, the model's fast kernels are compared with the paper's
    // algorithms step by step.
    mfma_black_box black_box;
    // Handed to `black_box`.
    void *black_box_user;
    // How inputs are drawn, see mfma_sampler_name; NULL (default): "all".
    const char *sampler;
    // Seed; default 0, which is MATLAB's rng(0) in the paper's samplers.
    uint64_t seed;
    // Number of the first case; default 0. Any split of a campaign has the same cases.
    int64_t first;
    // Number of cases.
    int64_t count;
    // Length of the dot products, 0 to 65536; -1 (default): as mfma_sample_length says.
    int64_t k;
    // End after so many mismatches; 0 (default): never.
    int64_t stop_after;
    // Mismatches that fit into the three arrays that follow; default 0.
    int64_t keep;
    // NULL, or room for `keep` numbers of cases; mfma_sample gives a case's inputs.
    int64_t *indices;
    // NULL, or room for `keep` results of the model, in its output format.
    void *expected;
    // NULL, or room for `keep` results of the other side.
    void *got;
    // The bound holds with probability 1 - epsilon; default 1e-6.
    double epsilon;
    // 1: draw all cases of the paper's samplers from one generator, exactly its Algorithm 3; default 0.
    int32_t one_stream;
    // 1: any two NaNs are equal; default 0: results are equal when their bits are.
    int32_t any_nan;
    // 1: take c as 0 whatever a dump has (mfma_compare_dump); default 0.
    int32_t ignore_c;
    // Most threads to use; 0 (default): as mfma_set_num_threads says.
    int32_t threads;
    // Not NULL: watches the campaign, and may cancel it; the report then covers what was done.
    mfma_progress progress;
    // Handed to `progress`.
    void *progress_user;
} mfma_validate_args;

// What a campaign found. Set `size` to sizeof(mfma_validate_report).
typedef struct mfma_validate_report {
    // sizeof(mfma_validate_report).
    size_t size;
    // Cases that were compared.
    int64_t cases;
    // Cases on which the sides differ.
    int64_t mismatches;
    // Mismatches that were put into the arrays, in order of their numbers.
    int64_t kept;
    // Number of the case after the last: where to go on.
    int64_t next;
    // A random case is a mismatch with at most this probability, with probability 1 - epsilon (paper, section 5.4). It is
    // 1 where the campaign ended at a certain number of mismatches.
    double bound;
} mfma_validate_report;

// One thing that a probe found.
typedef struct mfma_finding {
    // MFMA_FINDING_*.
    int32_t kind;
    // 0.
    int32_t reserved;
    // A feature as mfma_params names it, or what was asked, such as "Inf * 0".
    char name[56];
    // The feature's value in words, or what came out.
    char value[64];
    // Of an undecided feature: all values that remain.
    char values[128];
    // Of an undecided feature: why no vector tells them apart.
    char reason[256];
} mfma_finding;

// Arguments of mfma_probe. Set `size` to sizeof(mfma_probe_args), let mfma_probe_args_default fill the rest, then set the
// formats and the black box.
typedef struct mfma_probe_args {
    // sizeof(mfma_probe_args).
    size_t size;
    // The unit to ask. It is called some hundred times, with vectors of one length in each call; the encodings have the
    // formats a, b and d. Anything but 0 ends the probe with MFMA_ERR_CANCELLED.
    mfma_black_box black_box;
    // Handed to `black_box`.
    void *black_box_user;
    // Format of a's elements; default MFMA_FMT_FP16.
    mfma_format a;
    // Format of b's elements; default MFMA_FMT_FP16.
    mfma_format b;
    // Format of c and of results; default MFMA_FMT_FP32.
    mfma_format d;
    // 1: all vectors have `k` elements, filled with zeros, for hardware whose instructions have one length; default 0.
    int32_t fixed;
    // Longest vector, 4 to 4096; default 64. Blocks of more than half as many products may not be found.
    int64_t k;
    // Vectors of a family in each round, 20 to 100000; default 150, which makes 4000 to 6000 questions.
    int64_t vectors;
    // Seed of the vectors that are drawn; default 1.
    uint64_t seed;
    // NULL, or room for `text_size` bytes: the findings as text, which is cut if it does not fit and always ends with NUL.
    // Some thousand bytes are usual.
    char *text;
    // Bytes of `text`; default 0.
    size_t text_size;
    // NULL, or room for the numbers of `units_size` units of the catalogue, see mfma_capability_get.
    int64_t *units;
    // Numbers that fit into `units`; default 0.
    int64_t units_size;
    // NULL, or room for `findings_size` structs of `finding_size` bytes: what the text says, one by one.
    mfma_finding *findings;
    // sizeof(mfma_finding), where there are findings.
    size_t finding_size;
    // Structs that fit into `findings`; default 0. 60 are enough.
    int64_t findings_size;
    // NULL, or told several times a second, between questions, how much of the longest search is done. Anything but 0
    // ends the probe with MFMA_ERR_CANCELLED.
    mfma_progress progress;
    // Handed to `progress`.
    void *progress_user;
} mfma_probe_args;

// What a probe found. Set `size` to sizeof(mfma_probe_report).
typedef struct mfma_probe_report {
    // sizeof(mfma_probe_report).
    size_t size;
    // Dot products that the unit was asked.
    int64_t asked;
    // On how many of them the parameters give another result: 0, unless no parameters describe the unit.
    int64_t mismatches;
    // Features that no vector decides; the text names them, with the values that remain.
    int64_t undecided;
    // Units of the catalogue that give every answer; the first `units_size` are put into `units`.
    int64_t units;
    // Bytes that the whole text takes, NUL included.
    size_t text_size;
    // Findings; the first `findings_size` are put into `findings`.
    int64_t findings;
} mfma_probe_report;

// A step of mfma_explain_steps.
typedef struct mfma_step {
    // What it is about: "block" (one begins, its value is c), "half" (one of an interleaved block begins), "dropped" (c
    // is), "product", "special" (something is not finite), "max_exponent" (what terms are aligned to), "aligned", "sum",
    // "rounded", "block_result", "result".
    char kind[16];
    // The quantity: "p3" (the third product), "c", "sum", "odd sum", "even sum", "total", "d".
    char item[16];
    // Block, counted from 0.
    int64_t block;
    // The exponent involved, of a product or of an alignment; MFMA_NONE if there is none.
    int32_t exponent;
    // Weight of the last bit that is kept, as a power of two, where something is aligned or rounded; else MFMA_NONE.
    int32_t unit;
    // Value before the step.
    double before;
    // Value after it.
    double after;
    // What the step lost, before - after.
    double lost;
    // Encoding of the result, where there is one.
    uint64_t bits;
    // Is there one?
    int32_t has_bits;
    // 0.
    int32_t reserved;
    // The step in words.
    char text[200];
} mfma_step;

// Features that, given to one unit from the other, give it the other's result: see mfma_attribute.
typedef struct mfma_cause {
    // Names of the features as mfma_params has them, with a space between; one where a single one is to blame.
    char features[400];
    // On how many cases.
    int64_t cases;
    // Number of the first of these, from 0.
    int64_t first;
} mfma_cause;

// How a value between two neighbours of a format is rounded (MFMA_ROUND_*).
typedef int32_t mfma_rounding;

// What an encoding stands for. Set `size` to sizeof(mfma_decoded).
typedef struct mfma_decoded {
    // sizeof(mfma_decoded).
    size_t size;
    // Kind of number: MFMA_CLASS_*.
    int32_t kind;
    // Sign bit.
    int32_t negative;
    // Of a finite number: value = (-1)^negative * significand * 2^exponent; else 0.
    int32_t exponent;
    // Is a finite number below the format's normal range?
    int32_t subnormal;
    // Integer significand, hidden bit included.
    uint64_t significand;
    // The number as binary64; exact.
    double value;
} mfma_decoded;

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
// A file cannot be read or written.
#define MFMA_ERR_IO 14
// A file does not have the form that it should have.
#define MFMA_ERR_MALFORMED 15

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

// To nearest, ties to even.
#define MFMA_ROUND_NEAREST_EVEN 0
// Toward zero: cut.
#define MFMA_ROUND_TOWARD_ZERO 1
// Toward minus infinity.
#define MFMA_ROUND_DOWN 2
// Toward plus infinity.
#define MFMA_ROUND_UP 3

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

// Ends the threads that the library has started, and waits for them; the next call that needs threads starts new ones.
// For programs that unload code that the static library is linked into, such as a MEX file. No other call may be in
// progress.
void mfma_shutdown(void);

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

// Formats of a model: of a's elements, of b's, and of c and d.
mfma_status mfma_model_formats(const mfma_model *model, mfma_format *a, mfma_format *b, mfma_format *d);

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
// alpha*A and beta*C are formed in binary64 and rounded once to the unit's formats: A and B to nearest, ties to even
// (tf32 toward zero); C toward zero, or to nearest where it is binary16 and the inputs are binary16 or 8-bit, as MATLAB
// Tensor Core rounds it. With beta == 0, C is not read and may be NULL (then ldc may be anything). Matrices of which nothing is read or written (m, n or k is 0) may be NULL.
// k == 0 gives D = round(beta*C). D may be C, with ldd == ldc; it must not overlap anything else. On failure D is
// untouched.
mfma_status mfma_gemm_f32(mfma_arch arch, mfma_format format, int64_t m, int64_t n, int64_t k, float alpha,
                          const float *a, int64_t lda, const float *b, int64_t ldb, float beta,
                          const float *c, int64_t ldc, float *d, int64_t ldd);

// As mfma_gemm_f32, but for binary64 matrices, and with the unit's output format of the caller's choice: MFMA_FMT_FP32,
// MFMA_FMT_FP16 or MFMA_FMT_FP64, as the unit has it. The results are stored as binary64 numbers without error.
mfma_status mfma_gemm_f64(mfma_arch arch, mfma_format format, mfma_format out_format, int64_t m, int64_t n,
                          int64_t k, double alpha, const double *a, int64_t lda, const double *b, int64_t ldb,
                          double beta, const double *c, int64_t ldc, double *d, int64_t ldd);

// Fills `args` with the defaults. `args->size` must be set.
mfma_status mfma_gemm_args_default(mfma_gemm_args *args);

// D = round(alpha*op(A)) round(op(B)) + round(beta*C) through the unit `args->model`, or a batch of such products: raw,
// binary32 or binary64 storage for each matrix, transposes, row- or column-major order, progress and cancelling.
//
// Matrices of which nothing is read or written (m, n or k is 0) may be NULL. k == 0 gives D = round(beta*C). D may be C
// with the same storage and leading dimension; it must not overlap anything else. On failure D is untouched, but
// unspecified after MFMA_ERR_CANCELLED.
mfma_status mfma_gemm(const mfma_gemm_args *args);

// Fills `params` with a unit like the A100's for binary16 inputs. `params->size` must be set.
mfma_status mfma_params_default(mfma_params *params);

// Fills `params` with the features of the unit that mfma_model_new would give. `params->size` must be set.
mfma_status mfma_params_from_arch(mfma_arch arch, mfma_format a, mfma_format b, mfma_format d,
                                  mfma_params *params);

// A custom unit that multiplies elements of formats `a` and `b` and gives results of format `d` (MFMA_FMT_FP64, FP32 or
// FP16). Combinations of features that have no meaning are refused. Release it with mfma_model_free.
mfma_status mfma_model_from_params(const mfma_params *params, mfma_format a, mfma_format b, mfma_format d,
                                   mfma_model **model);

// Fills `params` with the features of a model. `params->size` must be set.
mfma_status mfma_model_params(const mfma_model *model, mfma_params *params);

// Number of units in the catalogue, counting each pair of input formats.
int64_t mfma_capability_count(void);

// Describes unit `index`, 0 to mfma_capability_count() - 1. `capability->size` must be set.
mfma_status mfma_capability_get(int64_t index, mfma_capability *capability);

// Fills `params` with the features of unit `index`. `params->size` must be set.
mfma_status mfma_capability_params(int64_t index, mfma_params *params);

// Fills `args` with the defaults that its fields name. `args->size` must be set.
mfma_status mfma_validate_args_default(mfma_validate_args *args);

// Compares a unit with another one, with a black box, or its fast kernels with the paper's algorithms, on random cases.
// `report->size` must be set. After MFMA_ERR_CANCELLED by `progress`, the report covers the cases up to then.
mfma_status mfma_validate(const mfma_validate_args *args, mfma_validate_report *report);

// Compares a dump of inputs and results (a file of test vectors, a binary dump, or a folder as MATLAB Tensor Core has them;
// `path` is UTF-8) with `args->model`. Of `args` it also uses keep and the three arrays (cases count from 0), any_nan,
// ignore_c, epsilon and progress.
mfma_status mfma_compare_dump(const mfma_validate_args *args, const char *path, mfma_validate_report *report);

// Inputs of cases `first` to `first + count - 1` of a campaign, laid out as mfma_dot_batch takes them. `sampler` may be NULL,
// which means "all"; `k`, at most 65536, may be -1, which means what mfma_sample_length says.
mfma_status mfma_sample(const mfma_model *model, const char *sampler, uint64_t seed, int64_t first,
                        int64_t count, int64_t k, void *a, void *b, void *c);

// The length at which the paper tests a unit: the longest of its instructions' (16 for CDNA 3's 8-bit inputs).
mfma_status mfma_sample_length(const mfma_model *model, int64_t *k);

// Name of sampler `index`, 0, 1, ...; NULL behind the last. Static text.
const char *mfma_sampler_name(int32_t index);

// The bound of the paper's section 5.4: after `cases` random cases with `mismatches` mismatches among them, the probability
// of a mismatch is at most `bound` with probability 1 - epsilon. 1 without cases.
mfma_status mfma_mismatch_bound(int64_t cases, int64_t mismatches, double epsilon, double *bound);

// Fills `args` with the defaults that its fields name. `args->size` must be set.
mfma_status mfma_probe_args_default(mfma_probe_args *args);

// Finds the features of a matrix unit from its answers alone: NaN's encoding and subnormals, the order of additions and
// where bits are lost. `params` become parameters that give every answer (mfma_model_from_params makes a model of them),
// or, where report->mismatches is not 0, the nearest that there are. `params->size` and `report->size` must be set.
//
// It takes seconds on top of what the black box takes, and a stack of 256 KiB.
mfma_status mfma_probe(const mfma_probe_args *args, mfma_params *params, mfma_probe_report *report);

// In which order does a unit add `n` products (2 to 64) and c? For any unit, also one that no parameters describe. Of `args`
// only the black box and the formats are used; it is asked some n^3 times. The order is a text such as "((c + p1) + p2)": sums of
// two are in parentheses, sums of several terms in brackets, or in braces where nothing is lost between the terms. It is written
// as mfma_explain writes its text.
mfma_status mfma_summation_order(const mfma_probe_args *args, int64_t n, char *buffer, size_t size,
                                 size_t *needed);

// Explains one dot product step by step, as text: products, alignments, sums and roundings, and what each of them lost. a
// and b have `k` elements (0 to 65536) and c one, encodings as mfma_dot_batch takes them.
//
// `buffer` has `size` bytes; it may be NULL if size is 0. A text that does not fit is cut; it always ends with NUL.
// `*needed` is the size that the whole text takes, NUL included; `needed` may be NULL.
mfma_status mfma_explain(const mfma_model *model, int64_t k, const void *a, const void *b, const void *c,
                         char *buffer, size_t size, size_t *needed);

// The same as numbers: `*count` steps, of which the first `room` are put into `steps`, an array of structs of `step_size` =
// sizeof(mfma_step) bytes. `steps` may be NULL if room is 0.
mfma_status mfma_explain_steps(const mfma_model *model, int64_t k, const void *a, const void *b,
                               const void *c, int64_t room, size_t step_size, mfma_step *steps,
                               int64_t *count);

// Names the features that make two units of the same formats differ on `count` cases, laid out as mfma_dot_batch takes
// them: features of `x` are switched to what `y` has, one at a time, then two, then three, until the result of `y` comes out.
//
// `*differing` is the number of cases on which the units differ, `*found` that of the causes, the most frequent first; a
// case may have several, each of which suffices alone. The first `room` are put into `causes`, an array of structs of
// `cause_size` = sizeof(mfma_cause) bytes; it may be NULL if room is 0.
mfma_status mfma_attribute(const mfma_model *x, const mfma_model *y, int64_t count, int64_t k, const void *a,
                           const void *b, const void *c, int64_t room, size_t cause_size, mfma_cause *causes,
                           int64_t *found, int64_t *differing);

// Searches for a short dot product on which two units of the same formats differ: several ten thousand vectors that are
// directed at what their features do. `*k` becomes its length, or -1 if none was found, as when the units are the same.
// Where that is no more than `room`, a, b (room for `room` elements each) and c (one) become its encodings; mfma_dot_batch
// gives the results. With room = 0 they may be NULL. One seed always gives the same answer.
mfma_status mfma_separate(const mfma_model *x, const mfma_model *y, uint64_t seed, int64_t room, void *a,
                          void *b, void *c, int64_t *k);

// Rounds `count` raw elements of format `from` to format `to`, each once: `rounding` is MFMA_ROUND_*, `overflow` is
// MFMA_OVERFLOW_*. Elements are stored as in mfma_dot_batch; arrays of floats and doubles are MFMA_FMT_FP32 and
// MFMA_FMT_FP64. NaN stays NaN; an infinity becomes NaN in formats that have none, or the largest number if saturating
// (in the FNUZ formats always NaN). `out` may be `in` if the elements are equally large.
mfma_status mfma_convert(mfma_format from, mfma_format to, mfma_rounding rounding, int32_t overflow,
                         int64_t count, const void *in, void *out);

// Describes the number that an encoding of `format` stands for. `decoded->size` must be set. Bits above the format's
// own are ignored.
mfma_status mfma_decode(mfma_format format, uint64_t bits, mfma_decoded *decoded);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* MFMA_H */
