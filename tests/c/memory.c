/* Memory: guard pages behind every operand, padding, pointers that are not aligned, allocation that fails. */
#define _DEFAULT_SOURCE
#include "check.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* Memory that ends where an inaccessible page begins, or begins where one ends. */
struct region {
    unsigned char *data;
    void *map;
    size_t length;
};

static struct region region(size_t bytes, int before_guard)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t pages = (bytes + page - 1) / page * page;
    struct region region;
    region.length = pages + page;
    region.map = mmap(NULL, region.length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (region.map == MAP_FAILED)
        exit(2);
    char *start = region.map;
    char *guard = before_guard ? start + pages : start;
    region.data = (unsigned char *)(before_guard ? guard - bytes : start + page);
    if (mprotect(guard, page, PROT_NONE) != 0)
        exit(2);
    return region;
}

static void forget(struct region region)
{
    munmap(region.map, region.length);
}

struct unit {
    mfma_arch arch;
    mfma_format in, out;
};

static const struct unit units[] = {
    {MFMA_ARCH_CDNA3, MFMA_FMT_FP16, MFMA_FMT_FP32},     {MFMA_ARCH_CDNA3, MFMA_FMT_E4M3FNUZ, MFMA_FMT_FP32},
    {MFMA_ARCH_CDNA3, MFMA_FMT_TF32, MFMA_FMT_FP32},     {MFMA_ARCH_CDNA2, MFMA_FMT_BF16, MFMA_FMT_FP32},
    {MFMA_ARCH_CDNA1, MFMA_FMT_FP16, MFMA_FMT_FP32},     {MFMA_ARCH_HOPPER, MFMA_FMT_FP16, MFMA_FMT_FP16},
    {MFMA_ARCH_HOPPER, MFMA_FMT_E5M2, MFMA_FMT_FP32},    {MFMA_ARCH_AMPERE, MFMA_FMT_FP64, MFMA_FMT_FP64},
    {MFMA_ARCH_AMPERE, MFMA_FMT_TF32, MFMA_FMT_FP32},
};

/* Tight and padded matrices of every storage that end right before, or begin right after, forbidden pages. */
static void guard_pages(void)
{
    static const int64_t sizes[] = {1, 3, 17, 64, 65, 70};
    for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
        mfma_model *model;
        EXPECT(mfma_model_new(units[u].arch, units[u].in, units[u].in, units[u].out, &model), MFMA_OK, "");
        for (int storage = 0; storage < 3; storage++) {
            size_t in = storage == MFMA_STORAGE_F64 ? 8 : storage == MFMA_STORAGE_F32 ? 4 : 0;
            size_t out = in;
            if (in == 0) {
                in = (size_t)mfma_format_bytes(units[u].in);
                out = (size_t)mfma_format_bytes(units[u].out);
            }
            if (storage == MFMA_STORAGE_F32 && units[u].out == MFMA_FMT_FP64)
                continue;
            for (int s = 0; s < 36; s++) {
                int64_t m = sizes[s % 6], n = sizes[s / 6], k = sizes[(s + s / 6) % 6];
                int64_t pad = s % 3;
                size_t a_bytes = (size_t)((k - 1) * (m + pad) + m) * in;
                size_t b_bytes = (size_t)((n - 1) * (k + pad) + k) * in;
                size_t d_bytes = (size_t)((n - 1) * (m + pad) + m) * out;
                struct region a = region(a_bytes, s % 2), b = region(b_bytes, s % 2);
                struct region c = region(d_bytes, s % 2), d = region(d_bytes, s % 2);
                memset(d.data, 0x5a, d_bytes);
                mfma_gemm_args args;
                args.size = sizeof args;
                mfma_gemm_args_default(&args);
                args.model = model;
                args.m = m, args.n = n, args.k = k, args.beta = 1;
                args.a = a.data, args.b = b.data, args.c = c.data, args.d = d.data;
                args.lda = args.ldc = args.ldd = m + pad, args.ldb = k + pad;
                args.storage_a = args.storage_b = args.storage_c = args.storage_d = storage;
                EXPECT(mfma_gemm(&args), MFMA_OK, "");
                int wrong = 0;
                for (size_t i = 0; i < d_bytes; i++) {
                    int64_t row = (int64_t)(i / out) % (m + pad);
                    wrong += d.data[i] != (row < m ? 0 : 0x5a);
                }
                CHECK(wrong == 0);
                forget(a), forget(b), forget(c), forget(d);
            }
        }
        /* The same for the batch of dot products. */
        for (int64_t k = 0; k < 70; k += 3) {
            int64_t count = 1 + k % 40;
            size_t in = (size_t)mfma_format_bytes(units[u].in), out = (size_t)mfma_format_bytes(units[u].out);
            size_t a_bytes = (size_t)(count * k) * in, d_bytes = (size_t)count * out;
            struct region a = region(a_bytes + 1, 1), b = region(a_bytes + 1, 1);
            struct region c = region(d_bytes, 1), d = region(d_bytes, 1);
            EXPECT(mfma_dot_batch(model, count, k, a.data + 1, b.data + 1, c.data, d.data), MFMA_OK, "");
            forget(a), forget(b), forget(c), forget(d);
        }
        mfma_model_free(model);
    }
}

/* Nothing is touched between columns: each ends where a forbidden page begins, or begins where one ends. */
static void between_columns(void)
{
    static const int sizes[] = {3, 17, 37};
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
        mfma_model *model;
        EXPECT(mfma_model_new(units[u].arch, units[u].in, units[u].in, units[u].out, &model), MFMA_OK, "");
        for (int way = 0; way < 24; way++) {
            const int storage = way % 3, behind = way / 3 % 2, trans_a = way / 6 % 2, trans_b = way / 12;
            const int m = sizes[way % 3], n = sizes[(way / 2 + (int)u) % 3], k = sizes[way / 5 % 3];
            const int rows[4] = {trans_a ? k : m, trans_b ? n : k, m, m};
            const int cols[4] = {trans_a ? m : k, trans_b ? k : n, n, n};
            if (storage == MFMA_STORAGE_F32 && units[u].out == MFMA_FMT_FP64)
                continue;
            char *map[4], *start[4];
            int64_t ld[4];
            for (int i = 0; i < 4; i++) {
                size_t bytes = storage == MFMA_STORAGE_F64 ? 8 : 4;
                if (storage == MFMA_STORAGE_RAW)
                    bytes = (size_t)mfma_format_bytes(i < 2 ? units[u].in : units[u].out);
                ld[i] = (int64_t)(2 * page / bytes);
                map[i] = mmap(NULL, 2 * page * (size_t)cols[i] + page, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                if (map[i] == MAP_FAILED)
                    exit(2);
                for (int j = 0; j < cols[i] + !behind; j++)
                    if (mprotect(map[i] + (2 * (size_t)j + (size_t)behind) * page, page, PROT_NONE) != 0)
                        exit(2);
                start[i] = map[i] + page - (behind ? bytes * (size_t)rows[i] : 0);
            }
            mfma_gemm_args args;
            args.size = sizeof args;
            mfma_gemm_args_default(&args);
            args.model = model;
            args.m = m, args.n = n, args.k = k, args.beta = 1;
            args.a = start[0], args.b = start[1], args.c = start[2], args.d = start[3];
            args.lda = ld[0], args.ldb = ld[1], args.ldc = ld[2], args.ldd = ld[3];
            args.trans_a = trans_a, args.trans_b = trans_b;
            args.storage_a = args.storage_b = args.storage_c = args.storage_d = storage;
            EXPECT(mfma_gemm(&args), MFMA_OK, "");
            for (int i = 0; i < 4; i++)
                munmap(map[i], 2 * page * (size_t)cols[i] + page);
        }
        mfma_model_free(model);
    }
}

/* Every byte offset of every operand gives the same bits. */
static void alignment(void)
{
    enum { M = 37, N = 41, K = 43, ROOM = 64 * 64 * 8 + 64 };
    static char a[ROOM], b[ROOM], c[ROOM], d[ROOM];
    static double a0[M * K], b0[K * N], c0[M * N], want[M * N];
    for (int i = 0; i < M * K; i++)
        a0[i] = (i * 719 % 1013 - 500) / 64.0;
    for (int i = 0; i < K * N; i++)
        b0[i] = (i * 1049 % 997 - 490) / 128.0;
    for (int i = 0; i < M * N; i++)
        c0[i] = i / 3.0;
    EXPECT(mfma_gemm_f64(MFMA_ARCH_CDNA3, MFMA_FMT_BF16, MFMA_FMT_FP32, M, N, K, 0.7, a0, M, b0, K, 1.1, c0, M, want, M),
           MFMA_OK, "");
    mfma_model *model;
    EXPECT(mfma_model_new(MFMA_ARCH_CDNA3, MFMA_FMT_BF16, MFMA_FMT_BF16, MFMA_FMT_FP32, &model), MFMA_OK, "");
    for (int shift = 0; shift < 16; shift++) {
        char *pa = a + shift, *pb = b + shift * 3 % 16, *pc = c + shift * 5 % 16, *pd = d + shift * 7 % 16;
        memcpy(pa, a0, sizeof a0), memcpy(pb, b0, sizeof b0), memcpy(pc, c0, sizeof c0);
        mfma_gemm_args args;
        args.size = sizeof args;
        mfma_gemm_args_default(&args);
        args.model = model;
        args.m = args.lda = args.ldc = args.ldd = M, args.n = N, args.k = args.ldb = K;
        args.alpha = 0.7, args.beta = 1.1;
        args.a = pa, args.b = pb, args.c = pc, args.d = pd;
        EXPECT(mfma_gemm(&args), MFMA_OK, "");
        CHECK(memcmp(pd, want, sizeof want) == 0);
    }
    mfma_model_free(model);
}

/* With an address space that is nearly full, calls give an error code or the right result, and the process lives. */
static void allocation(void)
{
    enum { SIZE = 300 };
    double *a = malloc(SIZE * SIZE * sizeof *a), *d = malloc(SIZE * SIZE * sizeof *d);
    for (int i = 0; i < SIZE * SIZE; i++)
        a[i] = i % 13, d[i] = -1;
    struct rlimit before, tight;
    getrlimit(RLIMIT_AS, &before);
    FILE *file = fopen("/proc/self/statm", "r");
    long pages = 0;
    if (file == NULL || fscanf(file, "%ld", &pages) != 1) {
        printf("memory.c: NOT RUN, no /proc\n");
        return;
    }
    fclose(file);
    int failed = 0, succeeded = 0;
    /* Once without a limit first: what is set up once is set up. */
    EXPECT(mfma_set_num_threads(1), MFMA_OK, "");
    for (long extra = 0; extra < 12 << 20; extra += 1 << 18) {
        tight = before;
        tight.rlim_cur = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + (rlim_t)extra;
        setrlimit(RLIMIT_AS, &tight);
        for (int i = 0; i < SIZE * SIZE; i++)
            d[i] = -1;
        mfma_status status = mfma_gemm_f64(MFMA_ARCH_CDNA3, MFMA_FMT_FP16, MFMA_FMT_FP32, SIZE, SIZE, SIZE, 1, a, SIZE,
                                           a, SIZE, 0, NULL, SIZE, d, SIZE);
        setrlimit(RLIMIT_AS, &before);
        if (status == MFMA_OK) {
            succeeded++;
            CHECK(d[0] != -1 && d[SIZE * SIZE - 1] != -1);
        } else {
            failed++;
            int wrong = 0;
            for (int i = 0; i < SIZE * SIZE; i++)
                wrong += d[i] != -1;
            CHECK(status == MFMA_ERR_OUT_OF_MEMORY && wrong == 0 && strstr(mfma_last_error(), "memory") != NULL);
        }
    }
    printf("allocation failed %d times, succeeded %d times\n", failed, succeeded);
    CHECK(failed > 0 && succeeded > 0);
    /* No room for threads: the caller's does the work. */
    EXPECT(mfma_set_num_threads(64), MFMA_OK, "");
    tight.rlim_cur = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + (32 << 20);
    setrlimit(RLIMIT_AS, &tight);
    EXPECT(mfma_gemm_f64(MFMA_ARCH_CDNA3, MFMA_FMT_FP16, MFMA_FMT_FP32, SIZE, SIZE, SIZE, 1, a, SIZE, a, SIZE, 0, NULL,
                         SIZE, d, SIZE),
           MFMA_OK, "");
    setrlimit(RLIMIT_AS, &before);
    EXPECT(mfma_set_num_threads(0), MFMA_OK, "");
    free(a);
    free(d);
}

/* Dot products of custom units, which no kernel knows, need no memory that grows with k. */
static void long_dot_product(void)
{
    enum { K = 1 << 22 };
    mfma_params params;
    mfma_model *model = NULL;
    params.size = sizeof params;
    EXPECT(mfma_params_default(&params), MFMA_OK, "");
    params.fma = 7;
    params.sticky = 1;
    EXPECT(mfma_model_from_params(&params, MFMA_FMT_E5M2, MFMA_FMT_E5M2, MFMA_FMT_FP32, &model), MFMA_OK, "");
    unsigned char *a = calloc(K, 1);
    float c = 2.5f, d = 0;
    a[K - 1] = 0x3c;
    struct rlimit before, tight;
    getrlimit(RLIMIT_AS, &before);
    FILE *file = fopen("/proc/self/statm", "r");
    long pages = 0;
    if (file == NULL || fscanf(file, "%ld", &pages) != 1) {
        printf("memory.c: NOT RUN, no /proc\n");
        return;
    }
    fclose(file);
    tight = before;
    tight.rlim_cur = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + (16 << 20);
    setrlimit(RLIMIT_AS, &tight);
    EXPECT(mfma_set_num_threads(1), MFMA_OK, "");
    EXPECT(mfma_dot_batch(model, 1, K, a, a, &c, &d), MFMA_OK, "");
    setrlimit(RLIMIT_AS, &before);
    CHECK(d == 3.5f);
    EXPECT(mfma_set_num_threads(0), MFMA_OK, "");
    mfma_model_free(model);
    free(a);
}

int main(int count, char **arguments)
{
    guard_pages();
    between_columns();
    alignment();
    /* Tools that map much memory of their own cannot run this part. */
    if (count < 2 || strcmp(arguments[1], "without-limits") != 0) {
        allocation();
        long_dot_product();
    }
    return check_result();
}
