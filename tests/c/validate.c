/* Random validation from C: samples, campaigns against models and black boxes, dumps, and what is refused. */
#include "box.h"

#include <stdlib.h>

static int32_t stop_soon(double done, void *user)
{
    int *calls = user;
    CHECK(done >= 0 && done <= 1);
    return ++*calls >= 3;
}

static mfma_validate_args arguments(const mfma_model *model, int64_t count)
{
    mfma_validate_args args;
    args.size = sizeof args;
    CHECK(mfma_validate_args_default(&args) == MFMA_OK);
    args.model = model;
    args.count = count;
    return args;
}

static void campaigns(void)
{
    mfma_model *mi300x = unit(MFMA_ARCH_CDNA3, MFMA_FMT_FP16), *mi100 = unit(MFMA_ARCH_CDNA1, MFMA_FMT_FP16);
    mfma_validate_args args = arguments(mi300x, 30000);
    mfma_validate_report report;
    struct box box = {mi300x, 0, 20001, -1};
    int64_t indices[4], k;
    uint32_t expected[4], got[4], c, d;
    uint16_t a[16], b[16];
    report.size = sizeof report;

    /* The fast kernels against the reference. */
    EXPECT(mfma_validate(&args, &report), MFMA_OK, "");
    CHECK(report.cases == 30000 && report.mismatches == 0 && report.kept == 0 && report.next == 30000);
    CHECK(report.bound > 4.6e-4 && report.bound < 4.61e-4);

    /* Two units. A mismatch's inputs come back from its number. */
    args.other = mi100;
    args.keep = 4;
    args.indices = indices;
    args.expected = expected;
    args.got = got;
    EXPECT(mfma_validate(&args, &report), MFMA_OK, "");
    CHECK(report.mismatches > 4 && report.kept == 4);
    EXPECT(mfma_sample_length(mi300x, &k), MFMA_OK, "");
    CHECK(k == 16);
    EXPECT(mfma_sample(mi300x, NULL, 0, indices[3], 1, -1, a, b, &c), MFMA_OK, "");
    EXPECT(mfma_dot_batch(mi300x, 1, 16, a, b, &c, &d), MFMA_OK, "");
    CHECK(d == expected[3]);
    EXPECT(mfma_dot_batch(mi100, 1, 16, a, b, &c, &d), MFMA_OK, "");
    CHECK(d == got[3] && got[3] != expected[3]);
    args.stop_after = 2;
    EXPECT(mfma_validate(&args, &report), MFMA_OK, "");
    CHECK(report.mismatches == 2 && report.kept == 2 && report.next == indices[1] + 1 && report.bound == 1);

    /* A black box. */
    args = arguments(mi300x, 30000);
    args.black_box = box_run;
    args.black_box_user = &box;
    args.sampler = "directed";
    args.keep = 1;
    args.indices = indices;
    EXPECT(mfma_validate(&args, &report), MFMA_OK, "");
    CHECK(report.cases == 30000 && report.mismatches == 1 && indices[0] == 20001);
    CHECK(box.seen == 30000);
    box.seen = 0;
    box.fails = 9000;
    EXPECT(mfma_validate(&args, &report), MFMA_ERR_CANCELLED, "black box returned 7");

    /* Cancelled: the report covers what was done. */
    {
        int calls = 0;
        args = arguments(mi300x, INT64_C(1) << 40);
        args.progress = stop_soon;
        args.progress_user = &calls;
        EXPECT(mfma_validate(&args, &report), MFMA_ERR_CANCELLED, "cancelled after");
        CHECK(calls == 3 && report.cases > 0 && report.cases < args.count && report.next == report.cases);
    }
    mfma_model_free(mi300x);
    mfma_model_free(mi100);
}

static void dumps(const char *path)
{
    mfma_model *mi300x = unit(MFMA_ARCH_CDNA3, MFMA_FMT_FP16);
    mfma_validate_args args = arguments(mi300x, 0);
    mfma_validate_report report;
    int64_t index = -1;
    uint32_t got = 0;
    FILE *file = fopen(path, "w");
    CHECK(file != NULL);
    if (!file)
        return;
    fprintf(file, "# two cases\n2 a=3c00,3c00 b=3c00,4000 c=00000000 d=40400000\n1 a=3c00 b=3c00 c=00000000 d=00000005\n");
    fclose(file);
    report.size = sizeof report;
    args.keep = 1;
    args.indices = &index;
    args.got = &got;
    EXPECT(mfma_compare_dump(&args, path, &report), MFMA_OK, "");
    CHECK(report.cases == 2 && report.mismatches == 1 && report.kept == 1 && index == 1 && got == 5);
    file = fopen(path, "w");
    fprintf(file, "2 a=3c00 b=3c00,4000 c=00000000 d=00000000\n");
    fclose(file);
    EXPECT(mfma_compare_dump(&args, path, &report), MFMA_ERR_MALFORMED, ":1: a has 1 elements, but K is 2");
    remove(path);
    EXPECT(mfma_compare_dump(&args, path, &report), MFMA_ERR_IO, path);
    EXPECT(mfma_compare_dump(&args, NULL, &report), MFMA_ERR_NULL_POINTER, "path");
    mfma_model_free(mi300x);
}

static void refusals(void)
{
    mfma_model *model = unit(MFMA_ARCH_CDNA3, MFMA_FMT_FP16), *other = unit(MFMA_ARCH_CDNA3, MFMA_FMT_BF16);
    mfma_validate_args args = arguments(model, 10);
    mfma_validate_report report;
    double bound = -1;
    int64_t k;
    uint32_t c;
    report.size = sizeof report;
    EXPECT(mfma_validate(NULL, &report), MFMA_ERR_NULL_POINTER, "args");
    EXPECT(mfma_validate(&args, NULL), MFMA_ERR_NULL_POINTER, "report");
#define WRONG(field, value, text)                                             \
    do {                                                                      \
        args = arguments(model, 10);                                          \
        args.field = value;                                                   \
        EXPECT(mfma_validate(&args, &report), MFMA_ERR_INVALID_ARGUMENT, text); \
    } while (0)
    WRONG(count, -1, "args->count is -1");
    WRONG(first, -1, "args->first is -1");
    WRONG(first, INT64_MAX, "2^63");
    WRONG(k, -2, "args->k is -2");
    WRONG(k, 1 << 20, "k is 1048576");
    WRONG(keep, -1, "args->keep");
    WRONG(keep, INT64_MAX, "mismatches to keep");
    WRONG(stop_after, -1, "args->stop_after");
    WRONG(epsilon, 1.0, "epsilon is 1");
    WRONG(one_stream, 2, "args->one_stream is 2");
    WRONG(any_nan, -1, "args->any_nan is -1");
    WRONG(threads, -1, "args->threads is -1");
    WRONG(sampler, "nice", "unknown sampler 'nice'");
    WRONG(other, other, "bf16 x bf16");
    args = arguments(NULL, 10);
    EXPECT(mfma_validate(&args, &report), MFMA_ERR_NULL_POINTER, "model");
    args = arguments(model, 10);
    args.other = model;
    args.black_box = box_run;
    EXPECT(mfma_validate(&args, &report), MFMA_ERR_INVALID_ARGUMENT, "one of them");
    report.size = 3;
    args.black_box = NULL;
    EXPECT(mfma_validate(&args, &report), MFMA_ERR_INVALID_ARGUMENT, "report->size");

    EXPECT(mfma_sample(model, NULL, 0, 0, 0, -1, NULL, NULL, NULL), MFMA_OK, "");
    EXPECT(mfma_sample(model, NULL, 0, 0, 1, 0, NULL, NULL, &c), MFMA_OK, "");
    EXPECT(mfma_sample(model, NULL, 0, 0, 1, 2, NULL, NULL, &c), MFMA_ERR_NULL_POINTER, "a");
    {
        /* Sizes that no memory has: refused before anything is written. */
        uint16_t a[4] = {0}, b[4] = {0};
        EXPECT(mfma_sample(model, NULL, 0, 0, INT64_C(1) << 62, 16, a, b, &c), MFMA_ERR_INVALID_SIZE, "a");
        EXPECT(mfma_sample(model, NULL, 0, 0, INT64_C(1) << 62, 1, a, b, &c), MFMA_ERR_INVALID_SIZE, "");
        EXPECT(mfma_sample(model, NULL, 0, 0, INT64_C(1) << 60, -1, a, b, &c), MFMA_ERR_INVALID_SIZE, "");
        EXPECT(mfma_sample(model, NULL, 0, 0, INT64_MAX, 65536, a, b, &c), MFMA_ERR_INVALID_SIZE, "");
        EXPECT(mfma_sample(model, NULL, 0, 0, 1, INT64_C(1) << 40, a, b, &c), MFMA_ERR_INVALID_ARGUMENT, "k is 1099511627776");
        CHECK(a[0] == 0 && b[3] == 0);
    }
    EXPECT(mfma_sample(model, NULL, 0, 0, -1, 2, NULL, NULL, NULL), MFMA_ERR_INVALID_ARGUMENT, "count is -1");
    EXPECT(mfma_sample_length(NULL, &k), MFMA_ERR_NULL_POINTER, "model");
    EXPECT(mfma_sample_length(model, NULL), MFMA_ERR_NULL_POINTER, "k");
    EXPECT(mfma_mismatch_bound(10, 11, 0.5, &bound), MFMA_ERR_INVALID_ARGUMENT, "mismatches is 11");
    EXPECT(mfma_mismatch_bound(-1, 0, 0.5, &bound), MFMA_ERR_INVALID_ARGUMENT, "cases is -1");
    EXPECT(mfma_mismatch_bound(10, 1, 0.0, &bound), MFMA_ERR_INVALID_ARGUMENT, "epsilon is 0");
    EXPECT(mfma_mismatch_bound(10, 1, 0.5, NULL), MFMA_ERR_NULL_POINTER, "bound");
    CHECK(bound == -1);
    EXPECT(mfma_mismatch_bound(2, 1, 0.5, &bound), MFMA_OK, "");
    CHECK(bound > 0.4999999 && bound < 0.5000001);
    {
        int32_t i = 0;
        while (mfma_sampler_name(i))
            i++;
        CHECK(i >= 16 && strcmp(mfma_sampler_name(0), "exponent-mantissa") == 0);
        CHECK(mfma_sampler_name(-1) == NULL && mfma_sampler_name(i + 1) == NULL);
    }
    mfma_model_free(model);
    mfma_model_free(other);
}

int main(int argc, char **argv)
{
    campaigns();
    if (argc > 1)
        dumps(argv[1]);
    refusals();
    return check_result();
}
