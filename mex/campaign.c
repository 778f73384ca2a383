#include "campaign.h"

#include <stdint.h>
#include <string.h>

#include "arguments.h"
#include "mfma.h"
#include "units.h"
#include "watch.h"

void formats_of(const char *function, mxArray *plhs[], const mxArray *const *prhs)
{
    unit_formats formats;
    mfma_model_free(described_unit(function, prhs[0], &formats));
    plhs[0] = format_names(formats);
}

void sample_cases(const char *function, mxArray *plhs[], const mxArray *const *prhs, int nlhs)
{
    const mxArray *u = prhs[0];
    const int64_t n = get_integer(prhs[1], 0, 1e9, (label){function, "n"});
    const int64_t seed = integer_option(u, "seed", 0, 0, MOST_EXACT, function);
    const int64_t first = integer_option(u, "first", 0, 0, MOST_EXACT, function);
    const char *sampler = text_option(u, "sampler", function);
    int64_t k = integer_option(u, "k", -1, 0, 65536, function);
    unit_formats formats;
    mfma_model *model;
    mfma_status status = MFMA_OK;
    mxArray *a, *b, *c;
    if ((double)n > MOST_EXACT - (double)first)
        fail("mfma:arg:value", "%s: first + n is more than 2^53", function);
    model = described_unit(function, u, &formats);
    if (k < 0)
        status = mfma_sample_length(model, &k);
    mfma_model_free(model); /* no model may live while memory is allocated: that may end in an error */
    check(status, function);
    a = encoding_array((mwSize)k, (mwSize)n, mfma_format_bytes(formats.a));
    b = encoding_array((mwSize)k, (mwSize)n, mfma_format_bytes(formats.b));
    c = encoding_array(1, (mwSize)n, mfma_format_bytes(formats.d));
    model = described_unit(function, u, &formats);
    status = mfma_sample(model, sampler, (uint64_t)seed, first, n, k, mxGetData(a), mxGetData(b), mxGetData(c));
    mfma_model_free(model);
    check(status, function);
    plhs[0] = a;
    if (nlhs > 1)
        plhs[1] = b;
    if (nlhs > 2)
        plhs[2] = c;
}

/* The first `kept` elements of an array of encodings. */
static mxArray *first_of(const mxArray *all, int64_t kept, int bytes)
{
    mxArray *out = encoding_array(1, (mwSize)kept, bytes);
    if (kept > 0)
        memcpy(mxGetData(out), mxGetData(all), (size_t)kept * (size_t)bytes);
    return out;
}

void validate_unit(const char *function, mxArray *plhs[], const mxArray *const *prhs)
{
    const char *names[] = {"cases", "mismatches", "bound", "next", "index", "expected", "got"};
    const mxArray *u = prhs[0], *epsilon = field(u, "epsilon");
    const char *sampler = text_option(u, "sampler", function), *dump = text_option(u, "dump", function);
    const int64_t keep = integer_option(u, "keep", 5, 0, 1e6, function);
    watch w = watch_new(function, field(u, "progress"));
    unit_formats formats;
    mfma_validate_args args;
    mfma_validate_report report;
    mfma_model *model = NULL, *other = NULL;
    mfma_status status;
    mxArray *index = mxCreateNumericMatrix(1, (mwSize)keep, mxINT64_CLASS, mxREAL), *expected, *got;
    double *numbers;
    int64_t i;
    args.size = sizeof args;
    report.size = sizeof report;
    check(mfma_validate_args_default(&args), function);
    args.sampler = sampler;
    args.seed = (uint64_t)integer_option(u, "seed", 0, 0, MOST_EXACT, function);
    args.first = integer_option(u, "first", 0, 0, MOST_EXACT, function);
    args.count = integer_option(u, "count", 1000000, 0, MOST_EXACT, function);
    args.k = integer_option(u, "k", -1, 0, 65536, function);
    if ((double)args.count > MOST_EXACT - (double)args.first)
        fail("mfma:arg:value", "%s: first + count is more than 2^53", function);
    args.stop_after = integer_option(u, "stop_after", 0, 0, 1e6, function);
    args.keep = keep;
    args.any_nan = (int32_t)integer_option(u, "any_nan", 0, 0, 1, function);
    args.ignore_c = (int32_t)integer_option(u, "ignore_c", 0, 0, 1, function);
    args.threads = (int32_t)integer_option(u, "threads", 0, 0, 1024, function);
    if (epsilon)
        args.epsilon = get_scalar(epsilon, (label){function, "epsilon"});
    args.progress = watch_tell;
    args.progress_user = &w;
    /* What may fail for the user's sake comes before models live. */
    mfma_model_free(described_unit(function, u, &formats));
    expected = encoding_array(1, (mwSize)keep, mfma_format_bytes(formats.d));
    got = encoding_array(1, (mwSize)keep, mfma_format_bytes(formats.d));
    args.indices = (int64_t *)mxGetData(index);
    args.expected = mxGetData(expected);
    args.got = mxGetData(got);
    if (mxIsStruct(prhs[1])) {
        unit_formats same;
        mfma_model_free(described_unit(function, prhs[1], &same));
        other = described_unit(function, prhs[1], &same);
    }
    model = described_unit(function, u, &formats);
    args.model = model;
    args.other = other;
    status = dump ? mfma_compare_dump(&args, dump, &report) : mfma_validate(&args, &report);
    mfma_model_free(model);
    mfma_model_free(other);
    watch_end(&w);
    check(status, function);
    plhs[0] = mxCreateStructMatrix(1, 1, sizeof names / sizeof *names, names);
    mxSetField(plhs[0], 0, "cases", mxCreateDoubleScalar((double)report.cases));
    mxSetField(plhs[0], 0, "mismatches", mxCreateDoubleScalar((double)report.mismatches));
    mxSetField(plhs[0], 0, "bound", mxCreateDoubleScalar(report.bound));
    mxSetField(plhs[0], 0, "next", mxCreateDoubleScalar((double)report.next));
    mxSetField(plhs[0], 0, "index", mxCreateDoubleMatrix(1, (mwSize)report.kept, mxREAL));
    numbers = mxGetPr(mxGetField(plhs[0], 0, "index"));
    for (i = 0; i < report.kept; i++)
        numbers[i] = (double)args.indices[i];
    mxSetField(plhs[0], 0, "expected", first_of(expected, report.kept, mfma_format_bytes(formats.d)));
    mxSetField(plhs[0], 0, "got", first_of(got, report.kept, mfma_format_bytes(formats.d)));
}

void bound_of(const char *function, mxArray *plhs[], const mxArray *const *prhs)
{
    const int64_t cases = get_integer(prhs[0], 0, MOST_EXACT, (label){function, "cases"});
    const int64_t mismatches = get_integer(prhs[1], 0, MOST_EXACT, (label){function, "mismatches"});
    double bound;
    check(mfma_mismatch_bound(cases, mismatches, get_scalar(prhs[2], (label){function, "epsilon"}), &bound), function);
    plhs[0] = mxCreateDoubleScalar(bound);
}
