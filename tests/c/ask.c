/* A unit as a black box is probed from C, and one dot product explained; what is refused, and what a callback may do. */
#include "check.h"

#include <stdint.h>
#include <stdlib.h>

/* A unit that computes as a model does, and that may fail. */
struct box {
    const mfma_model *model;
    int64_t seen, fails;
};

static int32_t box_run(int64_t count, int64_t k, const void *a, const void *b, const void *c, void *d, void *user)
{
    struct box *box = user;
    if (box->fails >= 0 && box->seen >= box->fails)
        return 7;
    box->seen += count;
    return mfma_dot_batch(box->model, count, k, a, b, c, d) != MFMA_OK;
}

static mfma_model *unit(mfma_arch arch, mfma_format in)
{
    mfma_model *model = NULL;
    CHECK(mfma_model_new(arch, in, in, MFMA_FMT_FP32, &model) == MFMA_OK);
    return model;
}

static void explanation(void)
{
    mfma_model *mi300x = unit(MFMA_ARCH_CDNA3, MFMA_FMT_FP16);
    const uint16_t a[2] = {0x8c00, 0x8be0}, b[2] = {0x0c00, 0x0800};
    const uint32_t c = 0x3f800000;
    char text[4096], cut[10] = "xxxxxxxxx";
    size_t needed = 0, again = 0;
    CHECK(mfma_explain(mi300x, 2, a, b, &c, text, sizeof text, &needed) == MFMA_OK);
    CHECK(needed == strlen(text) + 1);
    CHECK(strstr(text, "3f7fffff") != NULL);
    CHECK(mfma_explain(mi300x, 2, a, b, &c, NULL, 0, &again) == MFMA_OK);
    CHECK(again == needed);
    CHECK(mfma_explain(mi300x, 2, a, b, &c, cut, 9, NULL) == MFMA_OK);
    CHECK(strlen(cut) == 8 && memcmp(cut, text, 8) == 0 && cut[9] == 0);
    CHECK(mfma_explain(mi300x, 0, NULL, NULL, &c, text, sizeof text, &needed) == MFMA_OK);
    again = 99;
    EXPECT(mfma_explain(NULL, 2, a, b, &c, text, sizeof text, &again), MFMA_ERR_NULL_POINTER, "model");
    EXPECT(mfma_explain(mi300x, 2, NULL, b, &c, text, sizeof text, &again), MFMA_ERR_NULL_POINTER, "a is NULL");
    EXPECT(mfma_explain(mi300x, 2, a, NULL, &c, text, sizeof text, &again), MFMA_ERR_NULL_POINTER, "b is NULL");
    EXPECT(mfma_explain(mi300x, 2, a, b, NULL, text, sizeof text, &again), MFMA_ERR_NULL_POINTER, "c is NULL");
    EXPECT(mfma_explain(mi300x, 2, a, b, &c, NULL, 5, &again), MFMA_ERR_NULL_POINTER, "buffer");
    EXPECT(mfma_explain(mi300x, -1, a, b, &c, text, sizeof text, &again), MFMA_ERR_INVALID_SIZE, "k is -1");
    CHECK(again == 99);
    mfma_model_free(mi300x);
}

static mfma_probe_args arguments(struct box *box)
{
    mfma_probe_args args;
    args.size = sizeof args;
    CHECK(mfma_probe_args_default(&args) == MFMA_OK);
    args.black_box = box_run;
    args.black_box_user = box;
    return args;
}

/* A probe finds parameters that give the unit's results, and the unit itself among those of the catalogue. */
static void finding(void)
{
    mfma_model *mi250 = unit(MFMA_ARCH_CDNA2, MFMA_FMT_FP16), *model = NULL;
    struct box box = {mi250, 0, -1};
    mfma_probe_args args = arguments(&box);
    mfma_probe_report report;
    mfma_params params, truth;
    mfma_validate_args compare;
    mfma_validate_report same;
    char text[32768];
    int64_t units[2], i;
    int found = 0;
    report.size = sizeof report;
    params.size = sizeof params;
    truth.size = sizeof truth;
    args.text = text;
    args.text_size = sizeof text;
    args.units = units;
    args.units_size = 2;
    CHECK(mfma_probe(&args, &params, &report) == MFMA_OK);
    CHECK(report.mismatches == 0 && report.asked > 1000 && report.asked <= box.seen);
    CHECK(report.text_size == strlen(text) + 1 && strstr(text, "CDNA2") != NULL);
    CHECK(mfma_params_from_arch(MFMA_ARCH_CDNA2, MFMA_FMT_FP16, MFMA_FMT_FP16, MFMA_FMT_FP32, &truth) == MFMA_OK);
    CHECK(params.scheme == truth.scheme && params.fma == truth.fma && params.in_subnormals == truth.in_subnormals);
    CHECK(report.units >= 1);
    for (i = 0; i < report.units && i < 2; i++) {
        mfma_capability capability;
        capability.size = sizeof capability;
        CHECK(mfma_capability_get(units[i], &capability) == MFMA_OK);
        CHECK(capability.a == MFMA_FMT_FP16 && capability.d == MFMA_FMT_FP32);
        found |= capability.arch == MFMA_ARCH_CDNA2;
    }
    CHECK(found);
    CHECK(mfma_model_from_params(&params, args.a, args.b, args.d, &model) == MFMA_OK);
    compare.size = sizeof compare;
    same.size = sizeof same;
    CHECK(mfma_validate_args_default(&compare) == MFMA_OK);
    compare.model = model;
    compare.other = mi250;
    compare.count = 20000;
    CHECK(mfma_validate(&compare, &same) == MFMA_OK && same.mismatches == 0);
    mfma_model_free(model);
    mfma_model_free(mi250);
}

static void refusals(void)
{
    mfma_model *mi100 = unit(MFMA_ARCH_CDNA1, MFMA_FMT_FP16);
    struct box box = {mi100, 0, 300};
    const mfma_probe_args good = arguments(&box);
    mfma_probe_args args = good;
    mfma_probe_report report;
    mfma_params params;
    report.size = sizeof report;
    report.asked = 99;
    params.size = sizeof params;
    EXPECT(mfma_probe(&args, &params, &report), MFMA_ERR_CANCELLED, "returned 7");
    CHECK(report.asked == 99 && box.seen >= 300);
    args.black_box = NULL;
    EXPECT(mfma_probe(&args, &params, &report), MFMA_ERR_NULL_POINTER, "black_box");
    EXPECT(mfma_probe(NULL, &params, &report), MFMA_ERR_NULL_POINTER, "args");
    EXPECT(mfma_probe(&good, NULL, &report), MFMA_ERR_NULL_POINTER, "params");
    EXPECT(mfma_probe(&good, &params, NULL), MFMA_ERR_NULL_POINTER, "report");
#define REFUSED(field, value, status, name)                                \
    do {                                                                   \
        args = good;                                                       \
        args.field = (value);                                              \
        EXPECT(mfma_probe(&args, &params, &report), (status), (name));     \
    } while (0)
    REFUSED(size, 8, MFMA_ERR_INVALID_ARGUMENT, "size");
    REFUSED(a, 99, MFMA_ERR_UNKNOWN_FORMAT, "a is 99");
    REFUSED(b, -1, MFMA_ERR_UNKNOWN_FORMAT, "b is -1");
    REFUSED(d, 99, MFMA_ERR_UNKNOWN_FORMAT, "d is 99");
    REFUSED(k, 3, MFMA_ERR_INVALID_ARGUMENT, "k is 3");
    REFUSED(k, -3, MFMA_ERR_INVALID_ARGUMENT, "k is -3");
    REFUSED(vectors, 5, MFMA_ERR_INVALID_ARGUMENT, "vectors is 5");
    REFUSED(fixed, 2, MFMA_ERR_INVALID_ARGUMENT, "fixed is 2");
    REFUSED(text_size, 5, MFMA_ERR_NULL_POINTER, "text");
    REFUSED(units_size, 5, MFMA_ERR_NULL_POINTER, "units");
    REFUSED(units_size, -5, MFMA_ERR_INVALID_ARGUMENT, "units_size is -5");
    CHECK(report.asked == 99);
    mfma_model_free(mi100);
}

int main(void)
{
    explanation();
    refusals();
    finding();
    return check_result();
}
