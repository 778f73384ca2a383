/* Threads: eight at once, one only, small stacks, fork, shutdown, and the callers' floating-point environments. */
#define _GNU_SOURCE
#include "check.h"

#include <fenv.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

/* Not in the header: a door for tests. */
mfma_status mfma_debug_panic(int32_t place);

enum { M = 260, N = 130, K = 300 };

static double A[M * K], B[K * N], C[M * N], want[M * N];

static mfma_status product(double *d)
{
    return mfma_gemm_f64(MFMA_ARCH_CDNA3, MFMA_FMT_FP16, MFMA_FMT_FP32, M, N, K, 0.3, A, M, B, K, 1.7, C, M, d, M);
}

static int right(const double *d)
{
    return memcmp(d, want, sizeof want) == 0;
}

/* Threads of this process. */
static int threads_now(void)
{
    char line[256];
    int threads = -1;
    FILE *file = fopen("/proc/self/status", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "Threads: %d", &threads) == 1)
            break;
    if (file != NULL)
        fclose(file);
    return threads;
}

static void *caller(void *unused)
{
    (void)unused;
    double *d = malloc(sizeof want);
    intptr_t bad = 0;
    for (int i = 0; i < 20; i++) {
        bad += product(d) != MFMA_OK || !right(d);
        /* Messages belong to their threads. */
        bad += mfma_set_num_threads(-1 - i) != MFMA_ERR_INVALID_ARGUMENT;
        char text[32];
        snprintf(text, sizeof text, "threads is %d;", -1 - i);
        bad += strstr(mfma_last_error(), text) == NULL;
        if (i % 5 == 4)
            bad += mfma_set_num_threads(1 + i % 4) != MFMA_OK;
    }
    free(d);
    return (void *)bad;
}

static void eight_at_once(void)
{
    pthread_t threads[8];
    for (int i = 0; i < 8; i++)
        CHECK(pthread_create(&threads[i], NULL, caller, NULL) == 0);
    for (int i = 0; i < 8; i++) {
        void *bad;
        pthread_join(threads[i], &bad);
        CHECK(bad == NULL);
    }
    EXPECT(mfma_set_num_threads(0), MFMA_OK, "");
}

/* T01: the same bits for any number of threads. */
static void any_number(void)
{
    static const int32_t numbers[] = {1, 2, 3, 7, 16};
    double *d = malloc(sizeof want);
    for (int i = 0; i < 5; i++) {
        EXPECT(mfma_set_num_threads(numbers[i]), MFMA_OK, "");
        memset(d, 0, sizeof want);
        EXPECT(product(d), MFMA_OK, "");
        CHECK(right(d));
    }
    free(d);
}

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* T07: with one thread, only the caller's works. */
static void one_only(void)
{
    double *d = malloc(sizeof want);
    EXPECT(mfma_set_num_threads(1), MFMA_OK, "");
    int before = threads_now();
    double mine = seconds(CLOCK_THREAD_CPUTIME_ID), all = seconds(CLOCK_PROCESS_CPUTIME_ID);
    for (int i = 0; i < 20; i++)
        EXPECT(product(d), MFMA_OK, "");
    mine = seconds(CLOCK_THREAD_CPUTIME_ID) - mine;
    all = seconds(CLOCK_PROCESS_CPUTIME_ID) - all;
    CHECK(threads_now() == before);
    CHECK(all < 1.05 * mine + 0.01);
    EXPECT(mfma_set_num_threads(4), MFMA_OK, "");
    for (int i = 0; i < 3; i++)
        EXPECT(product(d), MFMA_OK, "");
    CHECK(threads_now() == before + 3);
    mfma_shutdown();
    CHECK(threads_now() == before);
    EXPECT(product(d), MFMA_OK, "");
    CHECK(right(d));
    mfma_shutdown();
    EXPECT(mfma_set_num_threads(0), MFMA_OK, "");
    free(d);
}

/* Every other function, and every unit, with little stack. */
static intptr_t everything(void)
{
    static uint64_t a[4096], b[4096], c[64], d[64];
    intptr_t bad = 0;
    for (int64_t i = 0; i < mfma_capability_count(); i++) {
        mfma_capability unit;
        mfma_params params;
        unit.size = sizeof unit, params.size = sizeof params;
        bad += mfma_capability_get(i, &unit) != MFMA_OK || mfma_capability_params(i, &params) != MFMA_OK;
        for (int custom = 0; custom < 3; custom++) {
            /* The unit itself, a neighbour, and one that no kernel knows. */
            if (custom == 1)
                params.alignment_bits -= params.alignment_bits > 1;
            if (custom == 2)
                params.min_exponent = -7, params.rounding = MFMA_ROUND_UP;
            mfma_model *model = NULL;
            bad += mfma_model_from_params(&params, unit.a, unit.b, unit.d, &model) != MFMA_OK;
            bad += mfma_dot_batch(model, 40, 50, a, b, c, d) != MFMA_OK;
            mfma_gemm_args args;
            args.size = sizeof args;
            bad += mfma_gemm_args_default(&args) != MFMA_OK;
            const void *list[2] = {a, b};
            args.model = model;
            args.m = args.lda = args.ldd = 3, args.n = 2, args.k = args.ldb = 9;
            args.batch_count = 2, args.stride_d = 6;
            args.a_list = args.b_list = list, args.d = d;
            args.storage_a = args.storage_b = MFMA_STORAGE_RAW;
            bad += mfma_gemm(&args) != MFMA_OK;
            bad += mfma_model_params(model, &params) != MFMA_OK;
            mfma_model_free(model);
        }
    }
    mfma_decoded decoded;
    decoded.size = sizeof decoded;
    for (mfma_format from = 0; mfma_format_name(from) != NULL; from++)
        for (mfma_format to = 0; mfma_format_name(to) != NULL; to++)
            bad += mfma_convert(from, to, MFMA_ROUND_DOWN, MFMA_OVERFLOW_IEEE, 500, a, b) != MFMA_OK ||
                   mfma_decode(from, 77, &decoded) != MFMA_OK;
    mfma_arch arch;
    mfma_model *model;
    bad += mfma_arch_from_name("nothing", &arch) != MFMA_ERR_UNKNOWN_ARCH;
    bad += mfma_model_from_instruction("nothing", MFMA_ARCH_HOPPER, &model) != MFMA_ERR_UNKNOWN_INSTRUCTION;
    bad += mfma_debug_panic(0) != MFMA_ERR_INTERNAL || mfma_debug_panic(1) != MFMA_ERR_INTERNAL;
    return bad;
}

static void *on_small_stack(void *d)
{
    intptr_t bad = product(d) != MFMA_OK || !right(d);
    mfma_model *model = NULL;
    bad += mfma_model_from_instruction("v_mfma_f32_32x32x8_f16", MFMA_ARCH_CDNA3, &model) != MFMA_OK;
    uint16_t a[64] = {0}, b[64] = {0};
    float c[4] = {0}, r[4];
    bad += mfma_dot_batch(model, 4, 16, a, b, c, r) != MFMA_OK;
    mfma_model_free(model);
    bad += mfma_gemm_f64(77, 3, 1, 1, 1, 1, 1, A, 1, B, 1, 0, C, 1, d, 1) != MFMA_ERR_UNKNOWN_ARCH;
    for (mfma_arch arch = 0; mfma_arch_name(arch) != NULL; arch++)
        for (mfma_format in = 0; mfma_format_name(in) != NULL; in++) {
            static double e[M * N];
            mfma_status status = mfma_gemm_f64(arch, in, in == MFMA_FMT_FP64 ? in : MFMA_FMT_FP32, 80, 70, 90, 0.3, A, M,
                                               B, K, 1.7, C, M, e, M);
            bad += status != MFMA_OK && status != MFMA_ERR_UNSUPPORTED;
        }
    return (void *)(bad + everything());
}

static void small_stacks(void)
{
    double *d = malloc(sizeof want);
    size_t bytes = 64 << 10;
    if (bytes < (size_t)PTHREAD_STACK_MIN)
        bytes = (size_t)PTHREAD_STACK_MIN;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    CHECK(pthread_attr_setstacksize(&attributes, bytes) == 0);
    for (int32_t threads = 1; threads < 4; threads++) {
        pthread_t thread;
        void *bad = NULL;
        EXPECT(mfma_set_num_threads(threads), MFMA_OK, "");
        CHECK(pthread_create(&thread, &attributes, on_small_stack, d) == 0);
        pthread_join(thread, &bad);
        CHECK(bad == NULL);
    }
    pthread_attr_destroy(&attributes);
    EXPECT(mfma_set_num_threads(0), MFMA_OK, "");
    free(d);
}

/* Calls from the destructors of a thread's data, in every round: also after the library's own data of that thread is gone. */
static pthread_key_t key;
static intptr_t rounds, bad_at_the_end;

static void at_the_end(void *round)
{
    double *d = malloc(sizeof want);
    rounds++;
    if (rounds == 3)
        mfma_shutdown(); /* New threads are started from here, too. */
    bad_at_the_end += product(d) != MFMA_OK || !right(d);
    bad_at_the_end += mfma_gemm(NULL) != MFMA_ERR_NULL_POINTER || strstr(mfma_last_error(), "args is NULL") == NULL;
    bad_at_the_end += mfma_debug_panic(0) != MFMA_ERR_INTERNAL || mfma_debug_panic(1) != MFMA_ERR_INTERNAL;
    free(d);
    if ((intptr_t)round < 4)
        pthread_setspecific(key, (char *)round + 1);
}

static void *ends(void *d)
{
    pthread_setspecific(key, (void *)1);
    return (void *)(intptr_t)(product(d) != MFMA_OK || !right(d));
}

static void ending_threads(void)
{
    double *d = malloc(sizeof want);
    CHECK(pthread_key_create(&key, at_the_end) == 0);
    EXPECT(mfma_set_num_threads(3), MFMA_OK, "");
    pthread_t thread;
    void *bad = NULL;
    CHECK(pthread_create(&thread, NULL, ends, d) == 0);
    pthread_join(thread, &bad);
    CHECK(bad == NULL && rounds > 1 && bad_at_the_end == 0);
    pthread_key_delete(key);
    EXPECT(mfma_set_num_threads(0), MFMA_OK, "");
    free(d);
}

/* The process ends while the pool lives, and a handler still calls. */
static void last_call(void)
{
    static double d[M * N];
    if (product(d) != MFMA_OK || !right(d))
        _exit(3);
}

/* A child of a process whose pool runs has no pool, and makes its own. */
static volatile int others_go_on;

static void *goes_on(void *unused)
{
    (void)unused;
    double *d = malloc(sizeof want);
    intptr_t bad = 0;
    while (others_go_on)
        bad += product(d) != MFMA_OK || !right(d);
    free(d);
    return (void *)bad;
}

static void forks(void)
{
    double *d = malloc(sizeof want);
    EXPECT(mfma_set_num_threads(3), MFMA_OK, "");
    EXPECT(product(d), MFMA_OK, "");
    /* Others call meanwhile: what they hold at that moment is held for ever in the child. */
    pthread_t others[2];
    others_go_on = 1;
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&others[i], NULL, goes_on, NULL) == 0);
    for (int i = 0; i < 12; i++) {
        pid_t child = fork();
        if (child == 0) {
            alarm(60);
            memset(d, 0, sizeof want);
            int bad = product(d) != MFMA_OK || !right(d);
            bad += mfma_set_num_threads(2) != MFMA_OK || product(d) != MFMA_OK || !right(d);
            mfma_shutdown();
            _exit(bad);
        }
        int status = -1;
        CHECK(waitpid(child, &status, 0) == child);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        EXPECT(product(d), MFMA_OK, "");
        CHECK(right(d));
    }
    others_go_on = 0;
    for (int i = 0; i < 2; i++) {
        void *bad = NULL;
        pthread_join(others[i], &bad);
        CHECK(bad == NULL);
    }
    EXPECT(mfma_set_num_threads(0), MFMA_OK, "");
    free(d);
}

static void environments(void)
{
    double *d = malloc(sizeof want);
    static const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO, FE_TONEAREST};
    for (int pool = 0; pool < 2; pool++)
        for (int i = 0; i < 4; i++) {
            if (pool == 0)
                mfma_shutdown(); /* The threads start while this mode is set. */
            fesetround(modes[i]);
            feclearexcept(FE_ALL_EXCEPT);
            feraiseexcept(FE_DIVBYZERO);
            memset(d, 0, sizeof want);
            mfma_status status = product(d);
            int mode = fegetround(), flags = fetestexcept(FE_ALL_EXCEPT);
            fesetround(FE_TONEAREST);
            CHECK(status == MFMA_OK && right(d));
            CHECK(mode == modes[i]);
            CHECK(flags == FE_DIVBYZERO);
        }
#if defined(__x86_64__)
    unsigned before = _mm_getcsr();
    /* Flush to zero, denormals are zeros, and exceptions that would trap. */
    static const unsigned words[] = {0x9fc0, 0x1f80, 0x1fc0, 0x9f80, 0x0000, 0x8040, 0xffc0};
    for (int pool = 0; pool < 2; pool++)
        for (int i = 0; i < 7; i++) {
            if (pool == 0)
                mfma_shutdown();
            memset(d, 0, sizeof want);
            _mm_setcsr(words[i]);
            mfma_status status = product(d);
            unsigned after = _mm_getcsr();
            _mm_setcsr(before);
            CHECK(status == MFMA_OK && right(d));
            CHECK(after == words[i]);
        }
    /* Numbers that such modes would change. */
    double tiny = 1e-39, one = 1, result = 0;
    _mm_setcsr(0x9fc0);
    mfma_status status =
        mfma_gemm_f64(MFMA_ARCH_CDNA3, MFMA_FMT_FP32, MFMA_FMT_FP32, 1, 1, 1, 1, &tiny, 1, &one, 1, 0, NULL, 1, &result, 1);
    _mm_setcsr(before);
    CHECK(status == MFMA_OK && result > 0.9e-39);
#endif
    free(d);
}

int main(void)
{
    for (int i = 0; i < M * K; i++)
        A[i] = (double)(i * 719 % 1013 - 500) / 64.0 * (i % 11 == 0 ? 1e-6 : 1.0);
    for (int i = 0; i < K * N; i++)
        B[i] = (double)(i * 1049 % 997 - 490) / 128.0;
    for (int i = 0; i < M * N; i++)
        C[i] = (i - 1000) / 3.0;
    EXPECT(mfma_set_num_threads(1), MFMA_OK, "");
    EXPECT(product(want), MFMA_OK, "");
    EXPECT(mfma_set_num_threads(0), MFMA_OK, "");
    atexit(last_call);
    any_number();
    one_only();
    ending_threads();
    small_stacks();
    forks();
    environments();
    eight_at_once();
    return check_result();
}
