/* Units of the tests, and a black box that computes as one does. */
#ifndef MFMA_TESTS_BOX_H
#define MFMA_TESTS_BOX_H

#include "check.h"

#include <stdint.h>

static mfma_model *unit(mfma_arch arch, mfma_format in)
{
    mfma_model *model = NULL;
    CHECK(mfma_model_new(arch, in, in, MFMA_FMT_FP32, &model) == MFMA_OK);
    return model;
}

/* A unit that computes as a model does, but for one case (-1: none), and that may fail after some (-1: never). */
struct box {
    const mfma_model *model;
    int64_t seen, wrong, fails;
};

static int32_t box_run(int64_t count, int64_t k, const void *a, const void *b, const void *c, void *d, void *user)
{
    struct box *box = user;
    if (box->fails >= 0 && box->seen >= box->fails)
        return 7;
    if (mfma_dot_batch(box->model, count, k, a, b, c, d) != MFMA_OK)
        return 1;
    if (box->wrong >= box->seen && box->wrong < box->seen + count)
        ((uint32_t *)d)[box->wrong - box->seen] ^= 1;
    box->seen += count;
    return 0;
}

#endif
