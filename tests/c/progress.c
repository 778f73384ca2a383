/* The progress callback: at least ten times a second whatever the shape of the product, on the calling thread only, and
 * once it has said no, the call ends and does not call it again. */
#define _GNU_SOURCE
#include "check.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

/* The least that the header promises, and how long a product is watched, in seconds. */
static const double PERIOD = 0.1, WATCHED = 0.8;

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

struct watch {
    pthread_t owner;
    /* Start, last call of the callback, and longest time without one: of the clock, and of this thread's own work. */
    double start, last, gap, last_cpu, gap_cpu, done, cancelled;
    int calls, wrong, after_cancel, inner;
};

static void look(struct watch *watch)
{
    const double time = now(CLOCK_MONOTONIC), cpu = now(CLOCK_THREAD_CPUTIME_ID);
    if (time - watch->last > watch->gap)
        watch->gap = time - watch->last;
    if (cpu - watch->last_cpu > watch->gap_cpu)
        watch->gap_cpu = cpu - watch->last_cpu;
    watch->last = time;
    watch->last_cpu = cpu;
}

static int32_t tell(double done, void *user)
{
    struct watch *watch = user;
    if (!pthread_equal(watch->owner, pthread_self())) {
        watch->wrong++; /* Nothing else may be touched from here. */
        return 0;
    }
    look(watch);
    watch->calls++;
    watch->wrong += !(done >= watch->done && done <= 1);
    watch->done = done;
    watch->after_cancel += watch->cancelled != 0;
    if (watch->inner) {
        /* The callback may use the library itself. */
        double a = 3, b = 5, d = 0;
        watch->wrong += mfma_gemm_f64(MFMA_ARCH_CDNA3, MFMA_FMT_FP16, MFMA_FMT_FP32, 1, 1, 1, 1, &a, 1, &b, 1, 0, NULL, 1,
                                      &d, 1) != MFMA_OK || d != 15;
        watch->wrong += mfma_gemm(NULL) != MFMA_ERR_NULL_POINTER;
        watch->wrong += mfma_set_num_threads(2 + watch->calls % 2) != MFMA_OK;
    }
    if (watch->last - watch->start > WATCHED) {
        watch->cancelled = watch->last;
        return 1 - 2 * (watch->calls % 2); /* Anything but zero. */
    }
    return 0;
}

/* Runs until it is done or has been watched long enough; what other programs do to the clock is excused a few times. */
static void watched(const char *what, mfma_gemm_args args, int inner)
{
    struct watch watch;
    for (int attempt = 0; attempt < 6; attempt++) {
        memset(&watch, 0, sizeof watch);
        watch.owner = pthread_self();
        watch.inner = inner;
        watch.start = watch.last = now(CLOCK_MONOTONIC);
        watch.last_cpu = now(CLOCK_THREAD_CPUTIME_ID);
        args.progress = tell;
        args.progress_user = &watch;
        mfma_status status = mfma_gemm(&args);
        look(&watch);
        if (watch.cancelled != 0)
            CHECK(status == MFMA_ERR_CANCELLED && (inner || strstr(mfma_last_error(), "cancelled") != NULL));
        else
            CHECK(status == MFMA_OK);
        CHECK(watch.wrong == 0 && watch.after_cancel == 0);
        /* Work of its own that takes longer than this is the library's fault. */
        CHECK(watch.gap_cpu <= PERIOD);
        if (watch.gap <= PERIOD)
            break;
    }
    printf("%-28s %3d calls in %.2f s, at most %.0f ms apart%s\n", what, watch.calls, watch.last - watch.start,
           1000 * watch.gap, watch.cancelled != 0 ? ", cancelled" : "");
    CHECK(watch.gap <= PERIOD);
    CHECK(watch.calls >= (int)(10 * (watch.last - watch.start)) - 1);
    EXPECT(mfma_set_num_threads(0), MFMA_OK, "");
}

static mfma_model *unit(mfma_arch arch, mfma_format format, int custom)
{
    mfma_model *model = NULL;
    mfma_params params;
    params.size = sizeof params;
    EXPECT(mfma_params_from_arch(arch, format, format, MFMA_FMT_FP32, &params), MFMA_OK, "");
    if (custom)
        params.fma = 7; /* No kernel knows such a unit. */
    EXPECT(mfma_model_from_params(&params, format, format, MFMA_FMT_FP32, &model), MFMA_OK, "");
    return model;
}

int main(void)
{
    enum { SIDE = 4000 };
    mfma_model *fast = unit(MFMA_ARCH_CDNA3, MFMA_FMT_E4M3FNUZ, 0), *slow = unit(MFMA_ARCH_HOPPER, MFMA_FMT_FP16, 1);
    /* Zeros that no memory is needed for, and real results. */
    const size_t room = (size_t)1 << 30;
    unsigned char *zeros = calloc(room, 1);
    float *d = malloc((size_t)SIDE * SIDE * sizeof *d);
    if (zeros == NULL || d == NULL)
        return 2;
    mfma_gemm_args raw, numbers;
    raw.size = sizeof raw;
    EXPECT(mfma_gemm_args_default(&raw), MFMA_OK, "");
    raw.a = raw.b = zeros, raw.d = d;
    raw.storage_d = MFMA_STORAGE_F32;
    numbers = raw;
    raw.storage_a = raw.storage_b = MFMA_STORAGE_RAW;
    raw.model = fast;
    numbers.model = slow;
    numbers.storage_a = numbers.storage_b = MFMA_STORAGE_F32;

    mfma_gemm_args args = raw;
    args.m = args.n = args.k = args.lda = args.ldb = args.ldd = SIDE;
    args.threads = 1;
    watched("square, one thread", args, 0);
    EXPECT(mfma_set_num_threads(4), MFMA_OK, "");
    args.threads = 0;
    watched("square, four threads", args, 0);
    EXPECT(mfma_set_num_threads(3), MFMA_OK, "");
    watched("callback calls the library", args, 1);

    args = raw;
    args.m = args.n = args.lda = args.ldd = 1;
    args.k = args.ldb = (int64_t)room;
    watched("one long dot product", args, 0);

    args = numbers;
    args.m = args.n = args.k = args.lda = args.ldb = args.ldd = 700;
    watched("custom unit", args, 0);
    args.m = args.n = args.lda = args.ldd = 1;
    args.k = args.ldb = (int64_t)room / 4;
    watched("long dot, custom unit", args, 0);

    args = raw;
    args.m = args.n = args.k = args.lda = args.ldb = args.ldd = 4;
    args.batch_count = (int64_t)SIDE * SIDE / 16;
    args.stride_d = 16;
    watched("a million small products", args, 0);
    numbers.stride_d = 100 * 100;
    numbers.m = numbers.n = numbers.k = numbers.lda = numbers.ldb = numbers.ldd = 100;
    numbers.batch_count = 1000;
    watched("a batch, custom unit", numbers, 0);
    numbers.batch_count = 1;
    args.batch_count = 20;
    args.stride_d = 800 * 800;
    args.m = args.n = args.k = args.lda = args.ldb = args.ldd = 800;
    watched("a batch of larger ones", args, 0);

    args = raw;
    args.storage_a = MFMA_STORAGE_F64;
    args.m = args.k = args.lda = args.ldb = args.ldd = 11000;
    args.n = 1;
    watched("a matrix times a vector", args, 0);

    args = numbers;
    args.storage_c = MFMA_STORAGE_F32;
    args.c = zeros;
    args.beta = 0.5;
    args.m = args.n = args.lda = args.ldc = args.ldd = SIDE;
    args.k = 0, args.ldb = 1;
    watched("nothing but C", args, 0);

    mfma_model_free(fast);
    mfma_model_free(slow);
    free(zeros);
    free(d);
    return check_result();
}
