/* A unit as a black box is probed from C, and one dot product explained; what is refused, and what a callback may do. */
#include "box.h"

#include <stdlib.h>

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

/* The steps as numbers: what they lose accounts for the result. */
static void steps(void)
{
    mfma_model *mi300x = unit(MFMA_ARCH_CDNA3, MFMA_FMT_FP16);
    const uint16_t a[2] = {0x8c00, 0x8be0}, b[2] = {0x0c00, 0x0800};
    const uint32_t c = 0x3f800000;
    mfma_step all[64], few[3];
    struct newer { mfma_step step; int64_t more; } newer[64];
    int64_t count = 0, again = 99, i, products = 0, lossy = 0;
    memset(few, 0x55, sizeof few);
    memset(newer, 0x55, sizeof newer);
    CHECK(mfma_explain_steps(mi300x, 2, a, b, &c, 64, sizeof *all, all, &count) == MFMA_OK);
    CHECK(count > 5 && count <= 64);
    for (i = 0; i < count; i++) {
        products += strcmp(all[i].kind, "product") == 0;
        lossy += all[i].lost != 0;
        CHECK(strlen(all[i].text) > 0 && all[i].block == 0);
    }
    CHECK(products == 2 && lossy > 0);
    CHECK(strcmp(all[0].kind, "block") == 0 && all[0].after == 1.0);
    CHECK(strcmp(all[count - 1].kind, "result") == 0 && strcmp(all[count - 1].item, "d") == 0);
    CHECK(all[count - 1].has_bits == 1 && all[count - 1].bits == 0x3f7fffff && all[count - 1].exponent == MFMA_NONE);
    CHECK(mfma_explain_steps(mi300x, 2, a, b, &c, 2, sizeof *few, few, &again) == MFMA_OK && again == count);
    CHECK(memcmp(few, all, 2 * sizeof *few) == 0 && few[2].block == 0x5555555555555555);
    CHECK(mfma_explain_steps(mi300x, 2, a, b, &c, 64, sizeof *newer, &newer[0].step, &again) == MFMA_OK);
    CHECK(memcmp(&newer[1].step, &all[1], sizeof *all) == 0 && newer[1].more == 0);
    CHECK(mfma_explain_steps(mi300x, 2, a, b, &c, 0, 0, NULL, &again) == MFMA_OK && again == count);
    again = 99;
    EXPECT(mfma_explain_steps(NULL, 2, a, b, &c, 64, sizeof *all, all, &again), MFMA_ERR_NULL_POINTER, "model");
    EXPECT(mfma_explain_steps(mi300x, 2, a, b, &c, 64, sizeof *all, NULL, &again), MFMA_ERR_NULL_POINTER, "steps");
    EXPECT(mfma_explain_steps(mi300x, 2, a, b, &c, -1, sizeof *all, all, &again), MFMA_ERR_INVALID_ARGUMENT, "room is -1");
    EXPECT(mfma_explain_steps(mi300x, 2, a, b, &c, 64, 8, all, &again), MFMA_ERR_INVALID_ARGUMENT, "step_size is 8");
    EXPECT(mfma_explain_steps(mi300x, 2, a, b, &c, 64, sizeof *all, all, NULL), MFMA_ERR_NULL_POINTER, "count");
    EXPECT(mfma_explain_steps(mi300x, 65537, a, b, &c, 64, sizeof *all, all, &again), MFMA_ERR_INVALID_SIZE, "k is 65537");
    CHECK(again == 99);
    mfma_model_free(mi300x);
}

/* A short input on which two units differ, and the features that are to blame. */
static void differences(void)
{
    mfma_model *volta = unit(MFMA_ARCH_VOLTA, MFMA_FMT_FP16), *hopper = unit(MFMA_ARCH_HOPPER, MFMA_FMT_FP16);
    mfma_model *bf16 = unit(MFMA_ARCH_HOPPER, MFMA_FMT_BF16), *almost = NULL;
    uint16_t a[256], b[256];
    uint32_t c = 7, x, y;
    int64_t k = 99, again = 99, found = 99, differing = 99;
    mfma_cause causes[4];
    mfma_params params;
    CHECK(mfma_separate(volta, hopper, 1, 256, a, b, &c, &k) == MFMA_OK && k >= 1 && k <= 256);
    CHECK(mfma_dot_batch(volta, 1, k, a, b, &c, &x) == MFMA_OK);
    CHECK(mfma_dot_batch(hopper, 1, k, a, b, &c, &y) == MFMA_OK);
    CHECK(x != y);
    CHECK(mfma_separate(volta, hopper, 1, 0, NULL, NULL, NULL, &again) == MFMA_OK && again == k);
    CHECK(mfma_attribute(volta, hopper, 1, k, a, b, &c, 4, sizeof *causes, causes, &found, &differing) == MFMA_OK);
    CHECK(differing == 1 && found >= 1 && causes[0].cases == 1 && causes[0].first == 0);
    /* One feature apart: that one is named, and cases on which the units agree do not count. */
    params.size = sizeof params;
    CHECK(mfma_model_params(hopper, &params) == MFMA_OK);
    params.alignment_bits = 23;
    CHECK(mfma_model_from_params(&params, MFMA_FMT_FP16, MFMA_FMT_FP16, MFMA_FMT_FP32, &almost) == MFMA_OK);
    {
        /* 1 - 2^-24, and 1 + 1 */
        const uint16_t p[2] = {0x8c00, 0x3c00}, q[2] = {0x0c00, 0x3c00};
        const uint32_t ones[2] = {0x3f800000, 0x3f800000};
        CHECK(mfma_attribute(hopper, almost, 2, 1, p, q, ones, 4, sizeof *causes, causes, &found, &differing) == MFMA_OK);
        CHECK(differing == 1 && found == 1 && strcmp(causes[0].features, "alignment_bits") == 0);
        found = differing = 99;
        EXPECT(mfma_attribute(NULL, almost, 2, 1, p, q, ones, 0, 0, NULL, &found, &differing), MFMA_ERR_NULL_POINTER, "x is");
        EXPECT(mfma_attribute(hopper, NULL, 2, 1, p, q, ones, 0, 0, NULL, &found, &differing), MFMA_ERR_NULL_POINTER, "y is");
        EXPECT(mfma_attribute(hopper, bf16, 2, 1, p, q, ones, 0, 0, NULL, &found, &differing), MFMA_ERR_INVALID_ARGUMENT,
               "formats");
        EXPECT(mfma_attribute(hopper, almost, -2, 1, p, q, ones, 0, 0, NULL, &found, &differing), MFMA_ERR_INVALID_SIZE,
               "count is -2");
        EXPECT(mfma_attribute(hopper, almost, 2, -1, p, q, ones, 0, 0, NULL, &found, &differing), MFMA_ERR_INVALID_SIZE,
               "k is -1");
        EXPECT(mfma_attribute(hopper, almost, (int64_t)1 << 61, 1, p, q, ones, 0, 0, NULL, &found, &differing),
               MFMA_ERR_OUT_OF_MEMORY, "not enough memory");
        EXPECT(mfma_attribute(hopper, almost, 2, 1, NULL, q, ones, 0, 0, NULL, &found, &differing), MFMA_ERR_NULL_POINTER,
               "a is");
        EXPECT(mfma_attribute(hopper, almost, 2, 1, p, q, ones, 4, sizeof *causes, NULL, &found, &differing),
               MFMA_ERR_NULL_POINTER, "causes");
        EXPECT(mfma_attribute(hopper, almost, 2, 1, p, q, ones, 4, 3, causes, &found, &differing), MFMA_ERR_INVALID_ARGUMENT,
               "cause_size");
        EXPECT(mfma_attribute(hopper, almost, 2, 1, p, q, ones, 0, 0, NULL, NULL, &differing), MFMA_ERR_NULL_POINTER, "found");
        EXPECT(mfma_attribute(hopper, almost, 2, 1, p, q, ones, 0, 0, NULL, &found, NULL), MFMA_ERR_NULL_POINTER, "differing");
        CHECK(found == 99 && differing == 99);
        CHECK(mfma_attribute(hopper, almost, 0, 1, NULL, NULL, NULL, 0, 0, NULL, &found, &differing) == MFMA_OK);
        CHECK(found == 0 && differing == 0);
    }
    c = 7;
    CHECK(mfma_separate(hopper, hopper, 1, 256, a, b, &c, &k) == MFMA_OK && k == -1 && c == 7);
    EXPECT(mfma_separate(NULL, hopper, 1, 256, a, b, &c, &k), MFMA_ERR_NULL_POINTER, "x is");
    EXPECT(mfma_separate(hopper, NULL, 1, 256, a, b, &c, &k), MFMA_ERR_NULL_POINTER, "y is");
    EXPECT(mfma_separate(hopper, bf16, 1, 256, a, b, &c, &k), MFMA_ERR_INVALID_ARGUMENT, "formats");
    EXPECT(mfma_separate(hopper, volta, 1, 256, NULL, b, &c, &k), MFMA_ERR_NULL_POINTER, "a is");
    EXPECT(mfma_separate(hopper, volta, 1, 256, a, b, NULL, &k), MFMA_ERR_NULL_POINTER, "c is");
    EXPECT(mfma_separate(hopper, volta, 1, -1, a, b, &c, &k), MFMA_ERR_INVALID_ARGUMENT, "room is -1");
    EXPECT(mfma_separate(hopper, volta, 1, 256, a, b, &c, NULL), MFMA_ERR_NULL_POINTER, "k is");
    CHECK(k == -1);
    mfma_model_free(volta);
    mfma_model_free(hopper);
    mfma_model_free(bf16);
    mfma_model_free(almost);
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
    struct box box = {mi250, 0, -1, -1};
    mfma_probe_args args = arguments(&box);
    mfma_probe_report report;
    mfma_params params, truth;
    mfma_validate_args compare;
    mfma_validate_report same;
    char text[32768];
    int64_t units[2], i;
    mfma_finding findings[60];
    int found = 0, observed = 0, scheme = 0;
    report.size = sizeof report;
    params.size = sizeof params;
    truth.size = sizeof truth;
    args.text = text;
    args.text_size = sizeof text;
    args.units = units;
    args.units_size = 2;
    args.findings = findings;
    args.finding_size = sizeof *findings;
    args.findings_size = 60;
    CHECK(mfma_probe(&args, &params, &report) == MFMA_OK);
    CHECK(report.mismatches == 0 && report.asked > 1000 && report.asked <= box.seen);
    CHECK(report.text_size == strlen(text) + 1 && strstr(text, "CDNA2") != NULL);
    CHECK(mfma_params_from_arch(MFMA_ARCH_CDNA2, MFMA_FMT_FP16, MFMA_FMT_FP16, MFMA_FMT_FP32, &truth) == MFMA_OK);
    CHECK(params.scheme == truth.scheme && params.fma == truth.fma && params.in_subnormals == truth.in_subnormals);
    CHECK(report.findings > 10 && report.findings <= 60);
    for (i = 0; i < report.findings; i++) {
        const int undecided = findings[i].kind == MFMA_FINDING_UNDECIDED;
        scheme |= strcmp(findings[i].name, "scheme") == 0 && strcmp(findings[i].value, "pairwise sum") == 0;
        observed |= findings[i].kind == MFMA_FINDING_OBSERVED && strcmp(findings[i].name, "subnormal a") == 0 &&
                    strcmp(findings[i].value, "flushed") == 0;
        CHECK(undecided == (findings[i].values[0] != 0));
        report.undecided -= undecided;
    }
    CHECK(scheme && observed && report.undecided == 0);
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

/* The order of additions, as text. */
static void order(void)
{
    mfma_model *mi250 = unit(MFMA_ARCH_CDNA2, MFMA_FMT_FP16);
    struct box box = {mi250, 0, -1, -1};
    mfma_probe_args args = arguments(&box);
    char text[200], cut[5];
    size_t needed = 0;
    CHECK(mfma_summation_order(&args, 4, text, sizeof text, &needed) == MFMA_OK);
    CHECK(strcmp(text, "(c + ((p1 + p2) + (p3 + p4)))") == 0 && needed == strlen(text) + 1);
    CHECK(mfma_summation_order(&args, 4, cut, sizeof cut, NULL) == MFMA_OK && strcmp(cut, "(c +") == 0);
    needed = 99;
    EXPECT(mfma_summation_order(&args, 1, text, sizeof text, &needed), MFMA_ERR_INVALID_ARGUMENT, "n is 1");
    EXPECT(mfma_summation_order(&args, 65, text, sizeof text, &needed), MFMA_ERR_INVALID_ARGUMENT, "n is 65");
    EXPECT(mfma_summation_order(NULL, 4, text, sizeof text, &needed), MFMA_ERR_NULL_POINTER, "args");
    EXPECT(mfma_summation_order(&args, 4, NULL, 5, &needed), MFMA_ERR_NULL_POINTER, "buffer");
    box.fails = 0;
    EXPECT(mfma_summation_order(&args, 4, text, sizeof text, &needed), MFMA_ERR_CANCELLED, "returned 7");
    args.black_box = NULL;
    EXPECT(mfma_summation_order(&args, 4, text, sizeof text, &needed), MFMA_ERR_NULL_POINTER, "black_box");
    CHECK(needed == 99);
    mfma_model_free(mi250);
}

static int32_t stop(double done, void *user)
{
    CHECK(done >= 0 && done <= 1);
    *(int *)user += 1;
    return 1;
}

/* The search between the questions is watched, too, and can be ended. */
static void stopping(void)
{
    mfma_model *mi300 = unit(MFMA_ARCH_CDNA3, MFMA_FMT_FP16);
    struct box box = {mi300, 0, -1, -1};
    mfma_probe_args args = arguments(&box);
    mfma_probe_report report;
    mfma_params params;
    int told = 0;
    report.size = sizeof report;
    params.size = sizeof params;
    args.progress = stop;
    args.progress_user = &told;
    EXPECT(mfma_probe(&args, &params, &report), MFMA_ERR_CANCELLED, "cancelled");
    CHECK(told == 1);
    mfma_model_free(mi300);
}

static void refusals(void)
{
    mfma_model *mi100 = unit(MFMA_ARCH_CDNA1, MFMA_FMT_FP16);
    struct box box = {mi100, 0, -1, 300};
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
    REFUSED(k, 3, MFMA_ERR_INVALID_ARGUMENT, "args->k is 3");
    REFUSED(k, -3, MFMA_ERR_INVALID_ARGUMENT, "args->k is -3");
    REFUSED(vectors, 5, MFMA_ERR_INVALID_ARGUMENT, "args->vectors is 5");
    REFUSED(fixed, 2, MFMA_ERR_INVALID_ARGUMENT, "fixed is 2");
    REFUSED(text_size, 5, MFMA_ERR_NULL_POINTER, "text");
    REFUSED(units_size, 5, MFMA_ERR_NULL_POINTER, "units");
    REFUSED(findings_size, 5, MFMA_ERR_NULL_POINTER, "findings");
    REFUSED(findings_size, -5, MFMA_ERR_INVALID_ARGUMENT, "findings_size is -5");
    REFUSED(units_size, -5, MFMA_ERR_INVALID_ARGUMENT, "units_size is -5");
    CHECK(report.asked == 99);
    mfma_model_free(mi100);
}

int main(void)
{
    explanation();
    steps();
    differences();
    stopping();
    refusals();
    order();
    finding();
    return check_result();
}
