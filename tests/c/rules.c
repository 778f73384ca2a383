/* Every rule about arguments: NULL, sizes, leading dimensions, codes, combinations, overlap, zero sizes, D untouched. */
#include "check.h"

#include <stdlib.h>

#define BIG ((int64_t)1 << 62)

static double A[64], B[64], C[64], D[64];
static float Af[64], Bf[64], Cf[64], Df[64];

/* Products of a valid 3 x 4 x 5 problem with one argument changed. */
struct call {
    mfma_arch arch;
    mfma_format format, out;
    int64_t m, n, k, lda, ldb, ldc, ldd;
    double alpha, beta;
    double *a, *b, *c, *d;
    float *af, *bf, *cf, *df;
};

static struct call valid(void)
{
    struct call call = {MFMA_ARCH_CDNA3, MFMA_FMT_FP16, MFMA_FMT_FP32, 3, 4, 5, 3, 5, 3, 3, 1.0, 1.0,
                        A, B, C, D, Af, Bf, Cf, Df};
    return call;
}

static mfma_status run64(const struct call *x)
{
    return mfma_gemm_f64(x->arch, x->format, x->out, x->m, x->n, x->k, x->alpha, x->a, x->lda, x->b, x->ldb,
                         x->beta, x->c, x->ldc, x->d, x->ldd);
}

static mfma_status run32(const struct call *x)
{
    return mfma_gemm_f32(x->arch, x->format, x->m, x->n, x->k, (float)x->alpha, x->af, x->lda, x->bf, x->ldb,
                         (float)x->beta, x->cf, x->ldc, x->df, x->ldd);
}

static void fill(void)
{
    for (int i = 0; i < 64; i++) {
        A[i] = i % 7 - 3;
        B[i] = i % 5 - 2;
        C[i] = i % 3;
        D[i] = -1000 - i;
        Af[i] = (float)A[i];
        Bf[i] = (float)B[i];
        Cf[i] = (float)C[i];
        Df[i] = (float)D[i];
    }
}

static int untouched(void)
{
    for (int i = 0; i < 64; i++)
        if (D[i] != -1000 - i || Df[i] != (float)(-1000 - i))
            return 0;
    return 1;
}

#define BOTH(change, wanted, text)                                                        \
    do {                                                                                  \
        struct call call_ = valid();                                                      \
        struct call *x = &call_;                                                          \
        fill();                                                                           \
        change;                                                                           \
        EXPECT(run64(x), wanted, text);                                                   \
        EXPECT(run32(x), wanted, text);                                                   \
        if ((wanted) != MFMA_OK)                                                          \
            CHECK(untouched());                                                           \
    } while (0)

static void gemm_arguments(void)
{
    static const int64_t bad_sizes[] = {-1, INT64_MIN, -BIG};
    static const int64_t huge_sizes[] = {BIG, BIG - 1, INT64_MAX, (int64_t)1 << 60, (int64_t)1 << 50};
    BOTH((void)0, MFMA_OK, "");
    for (int i = 0; i < 3; i++) {
        int64_t s = bad_sizes[i];
        BOTH(x->m = s, MFMA_ERR_INVALID_SIZE, "m is -");
        BOTH(x->n = s, MFMA_ERR_INVALID_SIZE, "n is -");
        BOTH(x->k = s, MFMA_ERR_INVALID_SIZE, "k is -");
        BOTH(x->lda = s, MFMA_ERR_INVALID_LD, "lda");
        BOTH(x->ldb = s, MFMA_ERR_INVALID_LD, "ldb");
        BOTH(x->ldc = s, MFMA_ERR_INVALID_LD, "ldc");
        BOTH(x->ldd = s, MFMA_ERR_INVALID_LD, "ldd");
    }
    for (int i = 0; i < 5; i++) {
        int64_t s = huge_sizes[i];
        BOTH((x->m = s, x->lda = s, x->ldc = s, x->ldd = s), MFMA_ERR_INVALID_SIZE, "A ");
        BOTH(x->n = s, MFMA_ERR_INVALID_SIZE, "B ");
        BOTH((x->k = s, x->ldb = s), MFMA_ERR_INVALID_SIZE, "A ");
        BOTH((x->m = 0, x->lda = x->ldc = x->ldd = 1, x->k = s, x->ldb = s), MFMA_ERR_INVALID_SIZE, "B ");
        BOTH(x->lda = s, MFMA_ERR_INVALID_SIZE, "A ");
        BOTH(x->ldb = s, MFMA_ERR_INVALID_SIZE, "B ");
        BOTH(x->ldc = s, MFMA_ERR_INVALID_SIZE, "C ");
        BOTH(x->ldd = s, MFMA_ERR_INVALID_SIZE, "D ");
    }
    /* A02: one too small, and zero where there are no rows. */
    BOTH(x->lda = 2, MFMA_ERR_INVALID_LD, "lda is 2; allowed: at least max(1, m) = 3");
    BOTH(x->ldb = 4, MFMA_ERR_INVALID_LD, "ldb is 4; allowed: at least max(1, k) = 5");
    BOTH(x->ldc = 2, MFMA_ERR_INVALID_LD, "ldc is 2; allowed: at least max(1, m) = 3");
    BOTH(x->ldd = 2, MFMA_ERR_INVALID_LD, "ldd is 2; allowed: at least max(1, m) = 3");
    BOTH((x->m = 0, x->lda = 0), MFMA_ERR_INVALID_LD, "lda is 0");
    BOTH((x->k = 0, x->ldb = 0), MFMA_ERR_INVALID_LD, "ldb is 0");
    /* A03: NULL with elements. */
    BOTH((x->a = NULL, x->af = NULL), MFMA_ERR_NULL_POINTER, "A is NULL");
    BOTH((x->b = NULL, x->bf = NULL), MFMA_ERR_NULL_POINTER, "B is NULL");
    BOTH((x->c = NULL, x->cf = NULL), MFMA_ERR_NULL_POINTER, "C is NULL");
    BOTH((x->d = NULL, x->df = NULL), MFMA_ERR_NULL_POINTER, "D is NULL");
    BOTH((x->c = NULL, x->cf = NULL, x->beta = 0), MFMA_OK, "");
    BOTH((x->c = NULL, x->cf = NULL, x->beta = 0, x->ldc = 0), MFMA_OK, "");
    BOTH((x->c = NULL, x->cf = NULL, x->beta = -0.0), MFMA_OK, "");
    BOTH((x->beta = 0, x->ldc = 1), MFMA_ERR_INVALID_LD, "ldc");
    /* A05: codes. */
    static const int32_t codes[] = {-1, 9999, INT32_MIN, INT32_MAX, 100, 12};
    for (int i = 0; i < 6; i++) {
        BOTH(x->arch = codes[i], MFMA_ERR_UNKNOWN_ARCH, "arch is");
        BOTH(x->format = codes[i] == 12 ? 99 : codes[i], MFMA_ERR_UNKNOWN_FORMAT, "format is");
    }
    struct call call = valid();
    fill();
    call.out = 9999;
    EXPECT(run64(&call), MFMA_ERR_UNKNOWN_FORMAT, "out_format is 9999");
    call.out = MFMA_FMT_FP16;
    EXPECT(run64(&call), MFMA_ERR_UNSUPPORTED, "CDNA3 has no unit for fp16 x fp16 -> fp16; it has");
    call.out = MFMA_FMT_FP32;
    call.format = MFMA_FMT_E4M3;
    EXPECT(run64(&call), MFMA_ERR_UNSUPPORTED, "e4m3fnuz");
    EXPECT(run32(&call), MFMA_ERR_UNSUPPORTED, "e4m3fnuz");
    call.format = MFMA_FMT_FP64;
    EXPECT(run32(&call), MFMA_ERR_UNSUPPORTED, "fp64 x fp64 -> fp32");
    CHECK(untouched());
}

static void zero_sizes(void)
{
    for (int i = 0; i < 8; i++) {
        int64_t m = i & 1 ? 3 : 0, n = i & 2 ? 4 : 0, k = i & 4 ? 5 : 0;
        double *d = m && n ? D : NULL;
        if (m && n && k)
            continue;
        fill();
        EXPECT(mfma_gemm_f64(MFMA_ARCH_CDNA3, MFMA_FMT_FP16, MFMA_FMT_FP32, m, n, k, 1, m && k ? A : NULL, 3,
                             k && n ? B : NULL, 5, 0, NULL, 3, d, 3),
               MFMA_OK, "");
        if (m && n)
            for (int j = 0; j < 12; j++)
                CHECK(D[j] == 0);
        else /* Nothing is read, so that A and B may be NULL even where they would have elements. */
            EXPECT(mfma_gemm_f64(MFMA_ARCH_CDNA3, MFMA_FMT_FP16, MFMA_FMT_FP32, m, n, k, 1, NULL, 3, NULL, 5, 1, NULL, 3,
                                 NULL, 3),
                   MFMA_OK, "");
    }
    /* Very large where nothing is stored. */
    EXPECT(mfma_gemm_f64(MFMA_ARCH_CDNA3, MFMA_FMT_FP16, MFMA_FMT_FP32, 0, 0, BIG, 1, NULL, 1, NULL, BIG, 1, NULL, 1,
                         NULL, 1),
           MFMA_OK, "");
    EXPECT(mfma_gemm_f64(MFMA_ARCH_CDNA3, MFMA_FMT_FP16, MFMA_FMT_FP32, BIG, 0, 0, 1, NULL, BIG, NULL, 1, 1, NULL,
                         BIG, NULL, BIG),
           MFMA_OK, "");
    /* k = 0: D = round(beta*C), toward zero to binary32. */
    fill();
    C[0] = 1.0 + 3.0 / (1 << 24);
    EXPECT(mfma_gemm_f64(MFMA_ARCH_CDNA3, MFMA_FMT_FP16, MFMA_FMT_FP32, 3, 4, 0, 1, NULL, 3, NULL, 1, -2, C, 3, D, 3),
           MFMA_OK, "");
    CHECK(D[0] == -2.0 * (1.0 + 1.0 / (1 << 23)));
    for (int i = 1; i < 12; i++)
        CHECK(D[i] == -2 * C[i]);
}

static void beta_zero(void)
{
    /* A01: C full of NaN, or NULL, sizes 1 to 33. */
    static double a[33 * 33], b[33 * 33], c[33 * 33], with_zeros[33 * 33], with_nans[33 * 33], with_null[33 * 33];
    uint64_t nan = UINT64_C(0x7ff8000000000000);
    for (int i = 0; i < 33 * 33; i++) {
        a[i] = (i * 37 % 101 - 50) / 16.0;
        b[i] = (i * 53 % 89 - 44) / 32.0;
    }
    for (int64_t s = 1; s <= 33; s++) {
        memset(c, 0, sizeof c);
        mfma_status status = mfma_gemm_f64(MFMA_ARCH_CDNA3, MFMA_FMT_FP16, MFMA_FMT_FP32, s, s, s, 1, a, s, b, s, 1,
                                           c, s, with_zeros, s);
        for (int i = 0; i < 33 * 33; i++)
            memcpy(&c[i], &nan, sizeof nan);
        status |= mfma_gemm_f64(MFMA_ARCH_CDNA3, MFMA_FMT_FP16, MFMA_FMT_FP32, s, s, s, 1, a, s, b, s, 0, c, s,
                                with_nans, s);
        status |= mfma_gemm_f64(MFMA_ARCH_CDNA3, MFMA_FMT_FP16, MFMA_FMT_FP32, s, s, s, 1, a, s, b, s, 0, NULL, s,
                                with_null, s);
        CHECK(status == MFMA_OK);
        CHECK(memcmp(with_zeros, with_nans, (size_t)(s * s) * sizeof(double)) == 0);
        CHECK(memcmp(with_zeros, with_null, (size_t)(s * s) * sizeof(double)) == 0);
    }
}

static void overlap(void)
{
    /* A08. */
    double want[12];
    fill();
    struct call x = valid();
    EXPECT(run64(&x), MFMA_OK, "");
    memcpy(want, D, sizeof want);
    fill();
    x.d = C;
    EXPECT(run64(&x), MFMA_OK, "");
    CHECK(memcmp(C, want, sizeof want) == 0);
    static double array[400];
    for (int i = 0; i < 400; i++)
        array[i] = i;
    struct call y = valid();
    y.a = array, y.b = array + 100, y.c = array + 200;
    double *inside[] = {array, array + 14, array + 100, array + 119, array + 89};
    const char *names[] = {"A", "A", "B", "B", "B"};
    for (int i = 0; i < 5; i++) {
        char text[32];
        y.d = inside[i];
        if (i == 4)
            y.d = array + 100 - 11;
        snprintf(text, sizeof text, "D overlaps %s", names[i]);
        EXPECT(run64(&y), MFMA_ERR_OVERLAP, text);
    }
    y.d = array + 201;
    EXPECT(run64(&y), MFMA_ERR_OVERLAP, "D overlaps C");
    y.d = array + 200, y.ldd = 4;
    EXPECT(run64(&y), MFMA_ERR_OVERLAP, "D overlaps C");
    y.beta = 0; /* C is not read. */
    EXPECT(run64(&y), MFMA_OK, "");
    for (int i = 0; i < 400; i++)
        if (i < 200 || i >= 216)
            CHECK(array[i] == i);
    /* Just beside each other. */
    y = valid();
    y.a = array, y.c = array + 100, y.d = array + 15;
    EXPECT(run64(&y), MFMA_OK, "");
    y.a = array + 12, y.d = array;
    EXPECT(run64(&y), MFMA_OK, "");
    /* Blocks of one matrix whose columns alternate in memory: what an LU factorisation updates. */
    double *lu = array;
    for (int i = 0; i < 400; i++)
        array[i] = i % 9;
    EXPECT(mfma_gemm_f64(MFMA_ARCH_CDNA3, MFMA_FMT_FP16, MFMA_FMT_FP32, 15, 15, 5, -1, lu + 5, 20, lu + 100, 20, 1,
                         lu + 105, 20, lu + 105, 20),
           MFMA_OK, "");
    EXPECT(mfma_gemm_f64(MFMA_ARCH_CDNA3, MFMA_FMT_FP16, MFMA_FMT_FP32, 15, 15, 6, -1, lu + 5, 20, lu + 100, 20, 1,
                         lu + 105, 20, lu + 105, 20),
           MFMA_ERR_OVERLAP, "D overlaps A");
}

static void layout(void)
{
    /* A10: distinct integers, exact, column-major. */
    double a[6] = {1, 4, 2, 5, 3, 6}, b[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, d[8];
    static const double want[8] = {14, 32, 32, 77, 50, 122, 68, 167};
    EXPECT(mfma_gemm_f64(MFMA_ARCH_CDNA3, MFMA_FMT_FP16, MFMA_FMT_FP32, 2, 4, 3, 1, a, 2, b, 3, 0, NULL, 2, d, 2),
           MFMA_OK, "");
    CHECK(memcmp(d, want, sizeof want) == 0);
    /* Row-major through the general call: the same matrices, their transposes in memory. */
    double ar[6] = {1, 2, 3, 4, 5, 6}, br[12] = {1, 4, 7, 10, 2, 5, 8, 11, 3, 6, 9, 12}, dr[8];
    static const double want_rows[8] = {14, 32, 50, 68, 32, 77, 122, 167};
    mfma_model *model;
    EXPECT(mfma_model_new(MFMA_ARCH_CDNA3, MFMA_FMT_FP16, MFMA_FMT_FP16, MFMA_FMT_FP32, &model), MFMA_OK, "");
    mfma_gemm_args args;
    memset(&args, 0xee, sizeof args);
    args.size = sizeof args;
    EXPECT(mfma_gemm_args_default(&args), MFMA_OK, "");
    args.model = model;
    args.m = 2, args.n = 4, args.k = 3;
    args.order = MFMA_ORDER_ROW_MAJOR;
    args.a = ar, args.lda = 3, args.b = br, args.ldb = 4, args.d = dr, args.ldd = 4;
    EXPECT(mfma_gemm(&args), MFMA_OK, "");
    CHECK(memcmp(dr, want_rows, sizeof want_rows) == 0);
    mfma_model_free(model);
}

static int32_t stop(double done, void *user)
{
    (void)done;
    ++*(int *)user;
    return 1;
}

static void general_arguments(void)
{
    mfma_model *model;
    mfma_gemm_args args, good;
    EXPECT(mfma_model_new(MFMA_ARCH_HOPPER, MFMA_FMT_FP16, MFMA_FMT_FP16, MFMA_FMT_FP16, &model), MFMA_OK, "");
    EXPECT(mfma_gemm(NULL), MFMA_ERR_NULL_POINTER, "args is NULL");
    EXPECT(mfma_gemm_args_default(NULL), MFMA_ERR_NULL_POINTER, "args is NULL");
    memset(&good, 0, sizeof good);
    EXPECT(mfma_gemm(&good), MFMA_ERR_INVALID_ARGUMENT, "args->size is 0");
    EXPECT(mfma_gemm_args_default(&good), MFMA_ERR_INVALID_ARGUMENT, "args->size is 0");
    good.size = sizeof good - 1;
    EXPECT(mfma_gemm(&good), MFMA_ERR_INVALID_ARGUMENT, "args->size");
    good.size = sizeof good;
    EXPECT(mfma_gemm_args_default(&good), MFMA_OK, "");
    CHECK(good.size == sizeof good && good.alpha == 1 && good.beta == 0 && good.batch_count == 1 && good.a == NULL);
    EXPECT(mfma_gemm(&good), MFMA_ERR_NULL_POINTER, "model is NULL");
    good.model = model;
    good.m = 3, good.n = 4, good.k = 5;
    good.a = A, good.b = B, good.c = C, good.d = D, good.beta = 1;
    good.lda = 3, good.ldb = 5, good.ldc = 3, good.ldd = 3;
    EXPECT(mfma_gemm(&good), MFMA_OK, "");
#define WRONG(change, wanted, text)                                                       \
    do {                                                                                  \
        args = good;                                                                      \
        change;                                                                           \
        fill();                                                                           \
        EXPECT(mfma_gemm(&args), wanted, text);                                           \
        CHECK(untouched());                                                               \
    } while (0)
    WRONG(args.order = 2, MFMA_ERR_INVALID_ARGUMENT, "args->order is 2; allowed: 0 or 1");
    WRONG(args.trans_a = -1, MFMA_ERR_INVALID_ARGUMENT, "args->trans_a");
    WRONG(args.trans_b = 7, MFMA_ERR_INVALID_ARGUMENT, "args->trans_b");
    WRONG(args.storage_a = 3, MFMA_ERR_INVALID_ARGUMENT, "args->storage_a");
    WRONG(args.storage_b = -1, MFMA_ERR_INVALID_ARGUMENT, "args->storage_b");
    WRONG(args.storage_c = 99, MFMA_ERR_INVALID_ARGUMENT, "args->storage_c");
    WRONG(args.storage_d = 99, MFMA_ERR_INVALID_ARGUMENT, "args->storage_d");
    WRONG(args.threads = -1, MFMA_ERR_INVALID_ARGUMENT, "args->threads");
    WRONG(args.threads = 5000, MFMA_ERR_INVALID_ARGUMENT, "args->threads");
    WRONG(args.batch_count = -1, MFMA_ERR_INVALID_SIZE, "batch_count");
    WRONG((args.batch_count = 2, args.stride_a = -1), MFMA_ERR_INVALID_SIZE, "stride_a");
    WRONG((args.batch_count = BIG, args.stride_a = 15), MFMA_ERR_INVALID_SIZE, "A would end");
    WRONG((args.batch_count = 2, args.stride_d = BIG), MFMA_ERR_INVALID_SIZE, "D would end");
    WRONG((args.batch_count = 2, args.stride_d = 11), MFMA_ERR_OVERLAP, "overlap each other");
    WRONG((args.batch_count = 2, args.stride_d = 0), MFMA_ERR_OVERLAP, "overlap each other");
    /* So many results in one place are told without a list of them. */
    WRONG((args.batch_count = (int64_t)1 << 40, args.stride_d = 0), MFMA_ERR_OVERLAP, "overlap each other");
    WRONG((args.batch_count = BIG, args.beta = 0, args.stride_d = 0), MFMA_ERR_OVERLAP, "overlap each other");
    WRONG((args.beta = 0, args.storage_c = 3), MFMA_ERR_INVALID_ARGUMENT, "args->storage_c is 3");
    WRONG(args.lda = 2, MFMA_ERR_INVALID_LD, "max(1, m) = 3");
    WRONG(args.trans_a = 1, MFMA_ERR_INVALID_LD, "lda is 3; allowed: at least max(1, k) = 5");
    WRONG(args.order = 1, MFMA_ERR_INVALID_LD, "lda is 3; allowed: at least max(1, k) = 5");
    WRONG((args.storage_a = MFMA_STORAGE_RAW, args.alpha = 2), MFMA_ERR_INVALID_ARGUMENT, "alpha is 2");
    WRONG((args.storage_c = MFMA_STORAGE_RAW, args.beta = 2), MFMA_ERR_INVALID_ARGUMENT, "beta is 2");
    WRONG(args.a = NULL, MFMA_ERR_NULL_POINTER, "A is NULL");
    WRONG(args.c = NULL, MFMA_ERR_NULL_POINTER, "C is NULL");
    const void *list[2] = {A, NULL};
    WRONG((args.batch_count = 2, args.stride_d = 12, args.a_list = list), MFMA_ERR_NULL_POINTER, "A is NULL");
    void *twice[2] = {D, D + 5};
    WRONG((args.batch_count = 2, args.d_list = twice), MFMA_ERR_OVERLAP, "overlap each other");
    WRONG((args.batch_count = 2, args.c = D, args.stride_c = 0, args.stride_d = 12), MFMA_ERR_OVERLAP,
          "D overlaps C");
    WRONG((args.batch_count = 0, args.a = NULL, args.b = NULL, args.c = NULL, args.d = NULL), MFMA_OK, "");
    /* A struct of a later version: unknown fields must be zero. */
    struct {
        mfma_gemm_args args;
        int64_t later;
    } newer;
    memset(&newer, 0, sizeof newer);
    newer.args = good;
    newer.args.size = sizeof newer;
    EXPECT(mfma_gemm(&newer.args), MFMA_OK, "");
    newer.later = 1;
    EXPECT(mfma_gemm(&newer.args), MFMA_ERR_INVALID_ARGUMENT, "this version");
    EXPECT(mfma_gemm_args_default(&newer.args), MFMA_OK, "");
    CHECK(newer.later == 0 && newer.args.size == sizeof newer);
    mfma_model_free(model);
    /* Binary32 cannot hold a binary64 result. */
    EXPECT(mfma_model_new(MFMA_ARCH_HOPPER, MFMA_FMT_FP64, MFMA_FMT_FP64, MFMA_FMT_FP64, &model), MFMA_OK, "");
    good.model = model;
    WRONG((args.storage_d = MFMA_STORAGE_F32, args.d = Df), MFMA_ERR_UNSUPPORTED, "binary32");
    mfma_model_free(model);
}

static void cancelling(void)
{
    /* A product of seconds is cancelled by its first call of the callback. */
    enum { SIZE = 1200 };
    double *a = calloc((size_t)SIZE * SIZE, sizeof *a), *d = calloc((size_t)SIZE * SIZE, sizeof *d);
    mfma_model *model;
    mfma_params params;
    params.size = sizeof params;
    EXPECT(mfma_params_from_arch(MFMA_ARCH_CDNA3, MFMA_FMT_FP16, MFMA_FMT_FP16, MFMA_FMT_FP32, &params), MFMA_OK, "");
    params.fma = 7; /* A unit without a fast kernel. */
    EXPECT(mfma_model_from_params(&params, MFMA_FMT_FP16, MFMA_FMT_FP16, MFMA_FMT_FP32, &model), MFMA_OK, "");
    for (int i = 0; i < SIZE * SIZE; i++)
        a[i] = i % 17;
    int calls = 0;
    mfma_gemm_args args;
    args.size = sizeof args;
    mfma_gemm_args_default(&args);
    args.model = model;
    args.m = args.n = args.k = args.lda = args.ldb = args.ldd = SIZE;
    args.a = a, args.b = a, args.d = d;
    args.progress = stop, args.progress_user = &calls;
    EXPECT(mfma_gemm(&args), MFMA_ERR_CANCELLED, "cancelled");
    CHECK(calls == 1);
    mfma_model_free(model);
    free(a);
    free(d);
}

static void names(void)
{
    static const struct {
        const char *name;
        mfma_arch arch;
    } archs[] = {
        {"MI300X", MFMA_ARCH_CDNA3},       {"mi300a", MFMA_ARCH_CDNA3},
        {"CDNA3", MFMA_ARCH_CDNA3},        {"H100", MFMA_ARCH_HOPPER},
        {"hopper", MFMA_ARCH_HOPPER},      {"RTXPRO6000", MFMA_ARCH_RTX_BLACKWELL},
        {"A2", MFMA_ARCH_AMPERE},          {"GH200", MFMA_ARCH_HOPPER},
        {"T4", MFMA_ARCH_TURING},          {"cdna3-TOOLBOX", MFMA_ARCH_CDNA3_TOOLBOX},
        {"mi210", MFMA_ARCH_CDNA2},        {"Mi250", MFMA_ARCH_CDNA2},
        {"MI100", MFMA_ARCH_CDNA1},        {"v100", MFMA_ARCH_VOLTA},
        {"B200", MFMA_ARCH_BLACKWELL},     {"L40S", MFMA_ARCH_ADA},
    };
    for (size_t i = 0; i < sizeof archs / sizeof *archs; i++) {
        mfma_arch arch = -7;
        EXPECT(mfma_arch_from_name(archs[i].name, &arch), MFMA_OK, "");
        CHECK(arch == archs[i].arch);
    }
    static const struct {
        const char *name;
        mfma_format on_nvidia, on_cdna3;
    } formats[] = {
        {"fp16", MFMA_FMT_FP16, MFMA_FMT_FP16},      {"half", MFMA_FMT_FP16, MFMA_FMT_FP16},
        {"BINARY16", MFMA_FMT_FP16, MFMA_FMT_FP16},  {"bf16", MFMA_FMT_BF16, MFMA_FMT_BF16},
        {"bfloat16", MFMA_FMT_BF16, MFMA_FMT_BF16},  {"BrainFloat16", MFMA_FMT_BF16, MFMA_FMT_BF16},
        {"tf32", MFMA_FMT_TF32, MFMA_FMT_TF32},      {"TensorFloat32", MFMA_FMT_TF32, MFMA_FMT_TF32},
        {"xf32", MFMA_FMT_TF32, MFMA_FMT_TF32},      {"fp8-e4m3", MFMA_FMT_E4M3, MFMA_FMT_E4M3FNUZ},
        {"e4m3", MFMA_FMT_E4M3, MFMA_FMT_E4M3FNUZ},  {"FP8-E5M2", MFMA_FMT_E5M2, MFMA_FMT_E5M2FNUZ},
        {"e5m2", MFMA_FMT_E5M2, MFMA_FMT_E5M2FNUZ},  {"fp32", MFMA_FMT_FP32, MFMA_FMT_FP32},
        {"single", MFMA_FMT_FP32, MFMA_FMT_FP32},    {"binary32", MFMA_FMT_FP32, MFMA_FMT_FP32},
        {"fp64", MFMA_FMT_FP64, MFMA_FMT_FP64},      {"double", MFMA_FMT_FP64, MFMA_FMT_FP64},
        {"binary64", MFMA_FMT_FP64, MFMA_FMT_FP64},  {"fp8", -1, MFMA_FMT_E4M3FNUZ},
        {"BF8", -1, MFMA_FMT_E5M2FNUZ},
    };
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        mfma_format format = -7;
        EXPECT(mfma_format_from_name(MFMA_ARCH_CDNA3, formats[i].name, &format), MFMA_OK, "");
        CHECK(format == formats[i].on_cdna3);
        format = -7;
        if (formats[i].on_nvidia < 0) {
            EXPECT(mfma_format_from_name(MFMA_ARCH_HOPPER, formats[i].name, &format), MFMA_ERR_UNKNOWN_FORMAT, "fp16");
            CHECK(format == -7);
        } else {
            EXPECT(mfma_format_from_name(MFMA_ARCH_HOPPER, formats[i].name, &format), MFMA_OK, "");
            CHECK(format == formats[i].on_nvidia);
        }
    }
    mfma_arch arch = -7;
    mfma_format format = -7;
    static char huge[100000];
    memset(huge, 'x', sizeof huge - 1);
    const char *bad[] = {"", " ", "nothing", "MI300X\xff\xfe", "H100\n", huge};
    for (int i = 0; i < 6; i++) {
        EXPECT(mfma_arch_from_name(bad[i], &arch), MFMA_ERR_UNKNOWN_ARCH, "unknown architecture");
        EXPECT(mfma_format_from_name(MFMA_ARCH_CDNA3, bad[i], &format), MFMA_ERR_UNKNOWN_FORMAT, "unknown format");
    }
    EXPECT(mfma_arch_from_name(NULL, &arch), MFMA_ERR_NULL_POINTER, "name is NULL");
    EXPECT(mfma_arch_from_name("H100", NULL), MFMA_ERR_NULL_POINTER, "arch is NULL");
    EXPECT(mfma_format_from_name(MFMA_ARCH_CDNA3, NULL, &format), MFMA_ERR_NULL_POINTER, "name is NULL");
    EXPECT(mfma_format_from_name(MFMA_ARCH_CDNA3, "fp16", NULL), MFMA_ERR_NULL_POINTER, "format is NULL");
    EXPECT(mfma_format_from_name(-1, "fp16", &format), MFMA_ERR_UNKNOWN_ARCH, "arch is -1");
    CHECK(arch == -7 && format == -7);
    CHECK(strcmp(mfma_arch_name(MFMA_ARCH_CDNA3), "CDNA3") == 0);
    CHECK(strcmp(mfma_format_name(MFMA_FMT_E4M3FNUZ), "e4m3fnuz") == 0);
    CHECK(mfma_arch_name(-1) == NULL && mfma_arch_name(9999) == NULL);
    CHECK(mfma_format_name(-1) == NULL && mfma_format_name(9999) == NULL);
    CHECK(mfma_format_bytes(MFMA_FMT_TF32) == 4 && mfma_format_bytes(MFMA_FMT_FP64) == 8);
    CHECK(mfma_format_bytes(MFMA_FMT_E5M2) == 1 && mfma_format_bytes(-5) == 0);
}

static void models(void)
{
    mfma_model *model = NULL, *kept;
    EXPECT(mfma_model_new(MFMA_ARCH_CDNA3, MFMA_FMT_FP16, MFMA_FMT_FP16, MFMA_FMT_FP32, NULL), MFMA_ERR_NULL_POINTER,
           "model is NULL");
    EXPECT(mfma_model_new(-1, 3, 3, 1, &model), MFMA_ERR_UNKNOWN_ARCH, "arch is -1");
    EXPECT(mfma_model_new(MFMA_ARCH_CDNA3, 99, 3, 1, &model), MFMA_ERR_UNKNOWN_FORMAT, "a is 99");
    EXPECT(mfma_model_new(MFMA_ARCH_CDNA3, 3, 99, 1, &model), MFMA_ERR_UNKNOWN_FORMAT, "b is 99");
    EXPECT(mfma_model_new(MFMA_ARCH_CDNA3, 3, 3, 99, &model), MFMA_ERR_UNKNOWN_FORMAT, "d is 99");
    EXPECT(mfma_model_new(MFMA_ARCH_CDNA1, MFMA_FMT_TF32, MFMA_FMT_TF32, MFMA_FMT_FP32, &model),
           MFMA_ERR_UNSUPPORTED, "CDNA1 has no unit for tf32");
    CHECK(model == NULL);
    EXPECT(mfma_model_from_instruction("v_mfma_f32_32x32x8_f16", MFMA_ARCH_CDNA3, &model), MFMA_OK, "");
    mfma_model_free(model);
    EXPECT(mfma_model_from_instruction("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", MFMA_ARCH_HOPPER,
                                       &model),
           MFMA_OK, "");
    kept = model;
    mfma_format a = -1, b = -1, d = -1;
    EXPECT(mfma_model_formats(model, &a, &b, NULL), MFMA_ERR_NULL_POINTER, "d is NULL");
    EXPECT(mfma_model_formats(NULL, &a, &b, &d), MFMA_ERR_NULL_POINTER, "model is NULL");
    CHECK(a == -1 && b == -1);
    EXPECT(mfma_model_formats(model, &a, &b, &d), MFMA_OK, "");
    CHECK(a == MFMA_FMT_E4M3 && b == MFMA_FMT_E4M3 && d == MFMA_FMT_FP32);
    EXPECT(mfma_model_from_instruction("v_mfma_f32_32x32x8_f17", MFMA_ARCH_CDNA3, &model),
           MFMA_ERR_UNKNOWN_INSTRUCTION, "v_mfma_f32_32x32x8_f17");
    EXPECT(mfma_model_from_instruction("", MFMA_ARCH_CDNA3_TOOLBOX, &model), MFMA_ERR_UNKNOWN_INSTRUCTION, "");
    EXPECT(mfma_model_from_instruction(NULL, MFMA_ARCH_CDNA3, &model), MFMA_ERR_NULL_POINTER, "mnemonic is NULL");
    EXPECT(mfma_model_from_instruction("x", 77, &model), MFMA_ERR_UNKNOWN_ARCH, "arch is 77");
    EXPECT(mfma_model_from_instruction("x", MFMA_ARCH_CDNA3, NULL), MFMA_ERR_NULL_POINTER, "model is NULL");
    CHECK(model == kept);
    mfma_model_free(model);
    mfma_model_free(NULL);
}

static void custom(void)
{
    mfma_params params, other;
    mfma_model *model = NULL;
    memset(&params, 0, sizeof params);
    EXPECT(mfma_params_default(NULL), MFMA_ERR_NULL_POINTER, "params is NULL");
    EXPECT(mfma_params_default(&params), MFMA_ERR_INVALID_ARGUMENT, "params->size is 0");
    params.size = sizeof params;
    EXPECT(mfma_params_default(&params), MFMA_OK, "");
    CHECK(params.fma == 8 && params.alignment_bits == 24 && params.min_exponent == MFMA_NONE);
    EXPECT(mfma_params_from_arch(MFMA_ARCH_CDNA3, 3, 3, 3, &params), MFMA_ERR_UNSUPPORTED, "CDNA3");
    CHECK(params.fma == 8);
    EXPECT(mfma_params_from_arch(MFMA_ARCH_CDNA3, 3, 3, 1, &params), MFMA_OK, "");
    CHECK(params.scheme == MFMA_SCHEME_GLOBAL_ALIGNMENT && params.late_c == 1 && params.late_sum_bits == 32 &&
          params.late_total_bits == 31);
    EXPECT(mfma_model_from_params(&params, 3, 3, 1, &model), MFMA_OK, "");
    memset(&other, 0xaa, sizeof other);
    other.size = sizeof other;
    EXPECT(mfma_model_params(model, &other), MFMA_OK, "");
    CHECK(memcmp(&params, &other, sizeof params) == 0);
    mfma_model_free(model);
    model = NULL;
    EXPECT(mfma_model_params(NULL, &other), MFMA_ERR_NULL_POINTER, "model is NULL");
    EXPECT(mfma_model_from_params(NULL, 3, 3, 1, &model), MFMA_ERR_NULL_POINTER, "params is NULL");
    EXPECT(mfma_model_from_params(&params, 3, 3, 1, NULL), MFMA_ERR_NULL_POINTER, "model is NULL");
    EXPECT(mfma_model_from_params(&params, 3, 3, 4, &model), MFMA_ERR_INVALID_PARAMS, "output format is bf16");
    params.fma = 0;
    EXPECT(mfma_model_from_params(&params, 3, 3, 1, &model), MFMA_ERR_INVALID_PARAMS, "fma is 0");
    params.fma = INT32_MAX;
    EXPECT(mfma_model_from_params(&params, 3, 3, 1, &model), MFMA_ERR_INVALID_PARAMS, "fma is 2147483647");
    params.fma = 8;
    params.late_c = 2;
    EXPECT(mfma_model_from_params(&params, 3, 3, 1, &model), MFMA_ERR_INVALID_PARAMS, "params->late_c is 2");
    CHECK(model == NULL);

    mfma_capability unit;
    memset(&unit, 0, sizeof unit);
    EXPECT(mfma_capability_get(0, &unit), MFMA_ERR_INVALID_ARGUMENT, "capability->size is 0");
    unit.size = sizeof unit;
    EXPECT(mfma_capability_get(-1, &unit), MFMA_ERR_INVALID_ARGUMENT, "index is -1");
    EXPECT(mfma_capability_get(mfma_capability_count(), &unit), MFMA_ERR_INVALID_ARGUMENT, "index is");
    EXPECT(mfma_capability_get(0, NULL), MFMA_ERR_NULL_POINTER, "capability is NULL");
    CHECK(mfma_capability_count() > 50);
    for (int64_t i = 0; i < mfma_capability_count(); i++) {
        EXPECT(mfma_capability_get(i, &unit), MFMA_OK, "");
        EXPECT(mfma_capability_params(i, &params), MFMA_OK, "");
        CHECK(mfma_arch_name(unit.arch) != NULL && mfma_format_name(unit.a) != NULL && unit.source[0] != '\0');
        CHECK(unit.mismatches == 0 && unit.mismatch_bound > 0 && unit.mismatch_bound <= 1);
        if (!unit.by_instruction) {
            EXPECT(mfma_model_new(unit.arch, unit.a, unit.b, unit.d, &model), MFMA_OK, "");
            EXPECT(mfma_model_params(model, &other), MFMA_OK, "");
            CHECK(memcmp(&params, &other, sizeof params) == 0);
            mfma_model_free(model);
        }
    }
}

static void dots(void)
{
    mfma_model *model;
    uint16_t a[8] = {0x3c00, 0x4000, 0x4200, 0x4400, 0x3c00, 0x4000, 0x4200, 0x4400}, b[8];
    float c[4] = {1, 2, 3, 4}, d[4] = {-9, -9, -9, -9};
    memcpy(b, a, sizeof b);
    EXPECT(mfma_model_new(MFMA_ARCH_CDNA3, MFMA_FMT_FP16, MFMA_FMT_FP16, MFMA_FMT_FP32, &model), MFMA_OK, "");
    EXPECT(mfma_dot_batch(model, 2, 4, a, b, c, d), MFMA_OK, "");
    CHECK(d[0] == 31 && d[1] == 32 && d[2] == -9);
    EXPECT(mfma_dot_batch(model, 2, 4, a, b, c, c), MFMA_OK, "");
    CHECK(c[0] == 31 && c[1] == 32 && c[2] == 3);
    EXPECT(mfma_dot_batch(model, 4, 0, NULL, NULL, d, d), MFMA_OK, "");
    EXPECT(mfma_dot_batch(model, 0, 4, NULL, NULL, NULL, NULL), MFMA_OK, "");
    EXPECT(mfma_dot_batch(model, 0, BIG, NULL, NULL, NULL, NULL), MFMA_OK, "");
    for (int i = 0; i < 4; i++)
        d[i] = -9;
    EXPECT(mfma_dot_batch(NULL, 2, 4, a, b, c, d), MFMA_ERR_NULL_POINTER, "model is NULL");
    EXPECT(mfma_dot_batch(model, 2, 4, NULL, b, c, d), MFMA_ERR_NULL_POINTER, "a is NULL");
    EXPECT(mfma_dot_batch(model, 2, 4, a, NULL, c, d), MFMA_ERR_NULL_POINTER, "b is NULL");
    EXPECT(mfma_dot_batch(model, 2, 4, a, b, NULL, d), MFMA_ERR_NULL_POINTER, "c is NULL");
    EXPECT(mfma_dot_batch(model, 2, 4, a, b, c, NULL), MFMA_ERR_NULL_POINTER, "d is NULL");
    EXPECT(mfma_dot_batch(model, -1, 4, a, b, c, d), MFMA_ERR_INVALID_SIZE, "count is -1");
    EXPECT(mfma_dot_batch(model, 2, -4, a, b, c, d), MFMA_ERR_INVALID_SIZE, "k is -4");
    EXPECT(mfma_dot_batch(model, BIG, 1, a, b, c, d), MFMA_ERR_INVALID_SIZE, "a would end beyond the address space: count is ");
    EXPECT(mfma_dot_batch(model, BIG, 0, a, b, c, d), MFMA_ERR_INVALID_SIZE, "c would end beyond the address space: count is ");
    EXPECT(mfma_dot_batch(model, 1, BIG, a, b, c, d), MFMA_ERR_INVALID_SIZE, "a");
    EXPECT(mfma_dot_batch(model, BIG, BIG, a, b, c, d), MFMA_ERR_INVALID_SIZE, "a");
    EXPECT(mfma_dot_batch(model, 2, 4, a, b, c, a), MFMA_ERR_OVERLAP, "d overlaps a");
    EXPECT(mfma_dot_batch(model, 2, 4, a, b, c, b + 4), MFMA_ERR_OVERLAP, "d overlaps b");
    EXPECT(mfma_dot_batch(model, 2, 4, a, b, c, c + 1), MFMA_ERR_OVERLAP, "d overlaps c");
    CHECK(d[0] == -9 && d[1] == -9);
    mfma_model_free(model);
}

static void conversions(void)
{
    double in[5] = {1.0625000001, 300, 1e300, -0.0, 1.0 / 3}, same[5];
    unsigned char out[5] = {9, 9, 9, 9, 9};
    EXPECT(mfma_convert(MFMA_FMT_FP64, MFMA_FMT_E4M3, MFMA_ROUND_NEAREST_EVEN, MFMA_OVERFLOW_DEFAULT, 5, in, out),
           MFMA_OK, "");
    CHECK(out[0] == 0x39 && out[1] == 0x79 && out[2] == 0x7f && out[3] == 0x80);
    EXPECT(mfma_convert(MFMA_FMT_FP64, MFMA_FMT_E4M3, MFMA_ROUND_DOWN, MFMA_OVERFLOW_SATURATE, 5, in, out), MFMA_OK, "");
    CHECK(out[0] == 0x38 && out[2] == 0x7e);
    EXPECT(mfma_convert(MFMA_FMT_E4M3, MFMA_FMT_FP64, MFMA_ROUND_UP, 0, 5, out, same), MFMA_OK, "");
    CHECK(same[0] == 1 && same[2] == 448);
    memset(out, 9, sizeof out);
    EXPECT(mfma_convert(-1, 5, 0, 0, 5, in, out), MFMA_ERR_UNKNOWN_FORMAT, "from is -1");
    EXPECT(mfma_convert(0, 77, 0, 0, 5, in, out), MFMA_ERR_UNKNOWN_FORMAT, "to is 77");
    EXPECT(mfma_convert(0, 5, 4, 0, 5, in, out), MFMA_ERR_INVALID_ARGUMENT, "rounding is 4");
    EXPECT(mfma_convert(0, 5, 0, -1, 5, in, out), MFMA_ERR_INVALID_ARGUMENT, "overflow is -1");
    EXPECT(mfma_convert(0, 5, 0, 0, -5, in, out), MFMA_ERR_INVALID_SIZE, "count is -5");
    EXPECT(mfma_convert(0, 5, 0, 0, BIG, in, out), MFMA_ERR_INVALID_SIZE, "in would end");
    EXPECT(mfma_convert(0, 5, 0, 0, 5, NULL, out), MFMA_ERR_NULL_POINTER, "in is NULL");
    EXPECT(mfma_convert(0, 5, 0, 0, 5, in, NULL), MFMA_ERR_NULL_POINTER, "out is NULL");
    EXPECT(mfma_convert(0, 5, 0, 0, 0, NULL, NULL), MFMA_OK, "");
    EXPECT(mfma_convert(0, 1, 0, 0, 5, in, in), MFMA_ERR_OVERLAP, "out overlaps in");
    EXPECT(mfma_convert(0, 0, 0, 0, 5, in, in), MFMA_OK, "");
    for (int i = 0; i < 5; i++)
        CHECK(out[i] == 9);
    mfma_decoded decoded;
    memset(&decoded, 0, sizeof decoded);
    EXPECT(mfma_decode(MFMA_FMT_FP16, 0x3e00, &decoded), MFMA_ERR_INVALID_ARGUMENT, "decoded->size");
    EXPECT(mfma_decode(MFMA_FMT_FP16, 0x3e00, NULL), MFMA_ERR_NULL_POINTER, "decoded is NULL");
    decoded.size = sizeof decoded;
    EXPECT(mfma_decode(99, 0x3e00, &decoded), MFMA_ERR_UNKNOWN_FORMAT, "format is 99");
    EXPECT(mfma_decode(MFMA_FMT_FP16, 0x3e00, &decoded), MFMA_OK, "");
    CHECK(decoded.value == 1.5 && decoded.significand == 0x600 && decoded.exponent == -10 && !decoded.subnormal);
    EXPECT(mfma_decode(MFMA_FMT_FP16, 0x8001, &decoded), MFMA_OK, "");
    CHECK(decoded.negative == 1 && decoded.significand == 1 && decoded.exponent == -24 && decoded.subnormal == 1);
    EXPECT(mfma_decode(MFMA_FMT_E4M3FNUZ, 0x80, &decoded), MFMA_OK, "");
    CHECK(decoded.kind == MFMA_CLASS_NAN && decoded.value != decoded.value && decoded.exponent == 0);
}

static void information(void)
{
    CHECK(strcmp(mfma_version(), "1.0.0") == 0);
    CHECK(strcmp(mfma_status_string(MFMA_OK), "success") == 0);
    for (int32_t status = -3; status < 40; status++)
        CHECK(mfma_status_string(status) != NULL && mfma_error_id(status) != NULL);
    CHECK(strcmp(mfma_error_id(MFMA_ERR_INVALID_LD), "mfma:arg:leadingDimension") == 0);
    CHECK(mfma_status_string(INT32_MIN)[0] != '\0' && mfma_error_id(9999)[0] == '\0');
    CHECK(strstr("portable avx2 avx512 neon", mfma_cpu_features()) != NULL);
    int32_t before = mfma_get_num_threads();
    CHECK(before >= 1);
    EXPECT(mfma_set_num_threads(-1), MFMA_ERR_INVALID_ARGUMENT, "threads is -1; allowed: 0 (default) to 1024");
    EXPECT(mfma_set_num_threads(INT32_MAX), MFMA_ERR_INVALID_ARGUMENT, "threads is 2147483647");
    CHECK(mfma_get_num_threads() == before);
    EXPECT(mfma_set_num_threads(3), MFMA_OK, "");
    CHECK(mfma_get_num_threads() == 3);
    EXPECT(mfma_set_num_threads(0), MFMA_OK, "");
    CHECK(mfma_get_num_threads() == before);
}

/* Not in the header: a door for this test. */
mfma_status mfma_debug_panic(int32_t place);

static void panics(void)
{
    for (int i = 0; i < 3; i++) {
        EXPECT(mfma_debug_panic(0), MFMA_ERR_INTERNAL, "internal error: forced");
        EXPECT(mfma_debug_panic(1), MFMA_ERR_INTERNAL, "internal error: forced");
    }
    layout();
}

int main(void)
{
    CHECK(mfma_last_error()[0] == '\0');
    gemm_arguments();
    zero_sizes();
    beta_zero();
    overlap();
    layout();
    general_arguments();
    cancelling();
    names();
    models();
    custom();
    dots();
    conversions();
    information();
    panics();
    return check_result();
}
