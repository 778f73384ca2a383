#include "ask.h"

#include <stdint.h>
#include <string.h>

#include "arguments.h"
#include "interpreter.h"
#include "mfma.h"
#include "units.h"
#include "watch.h"

/* A text that the library wrote into a struct. */
static void set_text(mxArray *out, mwIndex i, const char *name, const char *text)
{
    mxSetField(out, i, name, mxCreateString(text));
}

static void set_number(mxArray *out, mwIndex i, const char *name, double number)
{
    mxSetField(out, i, name, mxCreateDoubleScalar(number));
}

/* A number, or [] where it is MFMA_NONE. */
static void set_optional(mxArray *out, mwIndex i, const char *name, int32_t number)
{
    mxSetField(out, i, name, number == MFMA_NONE ? mxCreateDoubleMatrix(0, 0, mxREAL) : mxCreateDoubleScalar(number));
}

/* ------------------------------------------------------------------------------------------------------------------
 * Probing
 * --------------------------------------------------------------------------------------------------------------- */

/* The function that stands for the unit, and the error that it raised. */
typedef struct {
    const mxArray *call;
    unit_formats formats;
    mxArray *problem;
} black_box;

static mxArray *filled(mwSize rows, mwSize cols, int bytes, const void *from)
{
    mxArray *out = encoding_array(rows, cols, bytes);
    if (rows * cols > 0)
        memcpy(mxGetData(out), from, rows * cols * (size_t)bytes);
    return out;
}

/* The library's callback. What it calls checks class and size of the answer (private/answer_of.m) and turns errors into
 * structs (private/tell.m). */
static int32_t ask(int64_t count, int64_t k, const void *a, const void *b, const void *c, void *d, void *user)
{
    black_box *box = (black_box *)user;
    const int bytes = mfma_format_bytes(box->formats.d);
    mxArray *args[4], *answer = NULL;
    int32_t stop;
    int i;
    if (interrupted())
        return 1;
    args[0] = (mxArray *)box->call;
    args[1] = filled((mwSize)k, (mwSize)count, mfma_format_bytes(box->formats.a), a);
    args[2] = filled((mwSize)k, (mwSize)count, mfma_format_bytes(box->formats.b), b);
    args[3] = filled(1, (mwSize)count, bytes, c);
    stop = call_inside(1, &answer, 4, args, "feval");
    for (i = 1; i < 4; i++)
        mxDestroyArray(args[i]);
    if (stop || !answer)
        return 1;
    if (mxIsStruct(answer)) {
        box->problem = answer;
        return 1;
    }
    stop = (int64_t)mxGetNumberOfElements(answer) != count || mxGetElementSize(answer) != (size_t)bytes;
    if (!stop)
        memcpy(d, mxGetData(answer), (size_t)count * (size_t)bytes);
    mxDestroyArray(answer);
    return stop;
}

static mxArray *units_array(const int64_t *units, int64_t count)
{
    mxArray *out = mxCreateDoubleMatrix(1, (mwSize)count, mxREAL);
    int64_t i;
    for (i = 0; i < count; i++)
        mxGetPr(out)[i] = (double)(units[i] + 1);
    return out;
}

/* What a probe found, one by one: features, then what was observed. */
static mxArray *findings_array(const mfma_finding *all, int64_t count, int observed)
{
    const char *features[] = {"name", "value", "decided", "values", "reason"}, *facts[] = {"question", "answer"};
    int64_t i, n = 0;
    mxArray *out;
    for (i = 0; i < count; i++)
        n += (all[i].kind == MFMA_FINDING_OBSERVED) == observed;
    out = mxCreateStructMatrix((mwSize)n, 1, observed ? 2 : 5, observed ? facts : features);
    for (i = n = 0; i < count; i++) {
        const mfma_finding *one = &all[i];
        if ((one->kind == MFMA_FINDING_OBSERVED) != observed)
            continue;
        set_text(out, (mwIndex)n, observed ? "question" : "name", one->name);
        set_text(out, (mwIndex)n, observed ? "answer" : "value", one->value);
        if (!observed) {
            mxSetField(out, (mwIndex)n, "decided", mxCreateLogicalScalar(one->kind == MFMA_FINDING_FEATURE));
            set_text(out, (mwIndex)n, "values", one->values);
            set_text(out, (mwIndex)n, "reason", one->reason);
        }
        n++;
    }
    return out;
}

void formats_of_options(const char *function, mxArray *plhs[], const mxArray *const *prhs)
{
    plhs[0] = format_names(formats_named(function, prhs[0]));
}

/* Once the library has returned: raises what the function raised, or the library's error. */
static void raise_problem(black_box *box, mfma_status status, const char *function)
{
    raise_kept();
    if (box->problem)
        mexCallMATLAB(0, NULL, 1, &box->problem, "error");
    check(status, function);
}

/* A probe of the unit that `call` computes, by the user's options. */
static mfma_probe_args probe_args(const char *function, const mxArray *options, const mxArray *call, black_box *box)
{
    mfma_probe_args args;
    memset(box, 0, sizeof *box);
    box->call = call;
    box->formats = formats_named(function, options);
    args.size = sizeof args;
    check(mfma_probe_args_default(&args), function);
    args.black_box = ask;
    args.black_box_user = box;
    args.a = box->formats.a;
    args.b = box->formats.b;
    args.d = box->formats.d;
    return args;
}

void order_of_unit(const char *function, mxArray *plhs[], const mxArray *const *prhs)
{
    enum { ROOM = 4096 };
    char *text = (char *)mxCalloc(ROOM, 1);
    const int64_t n = get_integer(prhs[2], 2, 64, (label){function, "order"});
    black_box box;
    const mfma_probe_args args = probe_args(function, prhs[0], prhs[1], &box);
    raise_problem(&box, mfma_summation_order(&args, n, text, ROOM, NULL), function);
    plhs[0] = mxCreateString(text);
    mxFree(text);
}

void probe_unit(const char *function, mxArray *plhs[], const mxArray *const *prhs)
{
    enum { TEXT = 1 << 20, FINDINGS = 100 };
    const char *names[] = {"params", "asked", "mismatches", "text", "units", "features", "observed"};
    const mxArray *u = prhs[0];
    const int64_t most = mfma_capability_count();
    black_box box;
    mfma_probe_args args;
    mfma_probe_report report;
    mfma_params params;
    mfma_status status;
    watch w = watch_new(function, field(u, "progress"));
    args = probe_args(function, u, prhs[1], &box);
    report.size = sizeof report;
    params.size = sizeof params;
    args.k = integer_option(u, "k", args.k, 4, 4096, function);
    args.fixed = (int32_t)integer_option(u, "fixed", 0, 0, 1, function);
    args.vectors = integer_option(u, "vectors", args.vectors, 20, 100000, function);
    args.seed = (uint64_t)integer_option(u, "seed", (int64_t)args.seed, 0, MOST_EXACT, function);
    args.text = (char *)mxCalloc(TEXT, 1);
    args.text_size = TEXT;
    args.units = (int64_t *)mxCalloc((mwSize)most + 1, sizeof *args.units);
    args.units_size = most;
    args.findings = (mfma_finding *)mxCalloc(FINDINGS, sizeof *args.findings);
    args.finding_size = sizeof *args.findings;
    args.findings_size = FINDINGS;
    args.progress = watch_tell;
    args.progress_user = &w;
    status = mfma_probe(&args, &params, &report);
    watch_end(&w);
    raise_problem(&box, status, function);
    plhs[0] = mxCreateStructMatrix(1, 1, sizeof names / sizeof *names, names);
    mxSetField(plhs[0], 0, "params", features_struct(&params));
    set_number(plhs[0], 0, "asked", (double)report.asked);
    set_number(plhs[0], 0, "mismatches", (double)report.mismatches);
    set_text(plhs[0], 0, "text", args.text);
    mxSetField(plhs[0], 0, "units", units_array(args.units, report.units));
    mxSetField(plhs[0], 0, "features", findings_array(args.findings, report.findings, 0));
    mxSetField(plhs[0], 0, "observed", findings_array(args.findings, report.findings, 1));
    mxFree(args.text);
    mxFree(args.units);
    mxFree(args.findings);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Explaining
 * --------------------------------------------------------------------------------------------------------------- */

/* Cases of a unit: encodings, a and b K-by-n, c 1-by-n. */
typedef struct {
    int64_t count, k;
    const void *a, *b, *c;
} cases;

static cases get_cases(const char *function, const unit_formats *formats, const mxArray *const *prhs)
{
    cases in;
    in.a = get_encodings(prhs[0], mfma_format_bytes(formats->a), (label){function, "a"});
    in.b = get_encodings(prhs[1], mfma_format_bytes(formats->b), (label){function, "b"});
    in.c = get_encodings(prhs[2], mfma_format_bytes(formats->d), (label){function, "c"});
    in.k = (int64_t)mxGetM(prhs[0]);
    in.count = (int64_t)mxGetN(prhs[0]);
    if ((int64_t)mxGetM(prhs[1]) != in.k || (int64_t)mxGetN(prhs[1]) != in.count)
        fail("mfma:arg:size", "%s: a is %.0f-by-%.0f and b is %.0f-by-%.0f; they must have the same size", function,
             (double)in.k, (double)in.count, (double)mxGetM(prhs[1]), (double)mxGetN(prhs[1]));
    if ((int64_t)mxGetNumberOfElements(prhs[2]) != in.count)
        fail("mfma:arg:size", "%s: c has %.0f elements; it must have one for each of the %.0f columns of a", function,
             (double)mxGetNumberOfElements(prhs[2]), (double)in.count);
    return in;
}

void check_encodings(const char *function, mxArray *plhs[], const mxArray *const *prhs, int nlhs)
{
    unit_formats formats;
    cases in;
    mfma_model_free(described_unit(function, prhs[0], &formats));
    in = get_cases(function, &formats, prhs + 1);
    plhs[0] = filled((mwSize)in.k, (mwSize)in.count, mfma_format_bytes(formats.a), in.a);
    if (nlhs > 1)
        plhs[1] = filled((mwSize)in.k, (mwSize)in.count, mfma_format_bytes(formats.b), in.b);
    if (nlhs > 2)
        plhs[2] = filled(1, (mwSize)in.count, mfma_format_bytes(formats.d), in.c);
}

static mxArray *steps_array(const mfma_step *steps, int64_t count, const mxArray *like)
{
    const char *names[] = {"kind", "item", "block", "exponent", "unit", "before", "after", "lost", "bits", "text"};
    const int bytes = (int)mxGetElementSize(like);
    mxArray *out = mxCreateStructMatrix((mwSize)count, 1, sizeof names / sizeof *names, names);
    int64_t i;
    for (i = 0; i < count; i++) {
        const mfma_step *one = &steps[i];
        set_text(out, (mwIndex)i, "kind", one->kind);
        set_text(out, (mwIndex)i, "item", one->item);
        set_number(out, (mwIndex)i, "block", (double)(one->block + 1));
        set_optional(out, (mwIndex)i, "exponent", one->exponent);
        set_optional(out, (mwIndex)i, "unit", one->unit);
        set_number(out, (mwIndex)i, "before", one->before);
        set_number(out, (mwIndex)i, "after", one->after);
        set_number(out, (mwIndex)i, "lost", one->lost);
        mxSetField(out, (mwIndex)i, "bits", encoding_scalar(one->has_bits ? &one->bits : NULL, bytes));
        set_text(out, (mwIndex)i, "text", one->text);
    }
    return out;
}

void explain_case(const char *function, mxArray *plhs[], const mxArray *const *prhs, int nlhs)
{
    unit_formats formats;
    mfma_model *model;
    mfma_status status;
    mfma_step *steps;
    size_t size = 0;
    int64_t count = 0;
    mxArray *d;
    cases in;
    char *text;
    mfma_model_free(described_unit(function, prhs[0], &formats));
    in = get_cases(function, &formats, prhs + 1);
    if (in.count != 1)
        fail("mfma:arg:size", "%s: a has %.0f columns; one dot product is explained at a time", function, (double)in.count);
    d = encoding_array(1, 1, mfma_format_bytes(formats.d));
    /* Sizes first: no model may live while memory is allocated. */
    model = described_unit(function, prhs[0], &formats);
    status = mfma_explain(model, in.k, in.a, in.b, in.c, NULL, 0, &size);
    if (status == MFMA_OK)
        status = mfma_explain_steps(model, in.k, in.a, in.b, in.c, 0, 0, NULL, &count);
    mfma_model_free(model);
    check(status, function);
    text = (char *)mxCalloc((mwSize)size, 1);
    steps = (mfma_step *)mxCalloc((mwSize)count + 1, sizeof *steps);
    model = described_unit(function, prhs[0], &formats);
    status = mfma_explain(model, in.k, in.a, in.b, in.c, text, size, &size);
    if (status == MFMA_OK)
        status = mfma_explain_steps(model, in.k, in.a, in.b, in.c, count, sizeof *steps, steps, &count);
    if (status == MFMA_OK)
        status = mfma_dot_batch(model, 1, in.k, in.a, in.b, in.c, mxGetData(d));
    mfma_model_free(model);
    check(status, function);
    plhs[0] = mxCreateString(text);
    if (nlhs > 1)
        plhs[1] = steps_array(steps, count, d);
    if (nlhs > 2)
        plhs[2] = d;
    mxFree(text);
    mxFree(steps);
}

/* Two units; neither may live while anything can fail for the user's sake, so both are described twice. */
static void two_units(const char *function, const mxArray *const *prhs, mfma_model **x, mfma_model **y)
{
    unit_formats formats;
    mfma_model_free(described_unit(function, prhs[0], &formats));
    mfma_model_free(described_unit(function, prhs[1], &formats));
    *x = described_unit(function, prhs[0], &formats);
    *y = described_unit(function, prhs[1], &formats);
}

void attribute_cases(const char *function, mxArray *plhs[], const mxArray *const *prhs, int nlhs)
{
    enum { MOST_CAUSES = 1000 };
    const char *names[] = {"features", "cases", "first"};
    mfma_cause *causes;
    mfma_model *x, *y;
    mfma_status status;
    unit_formats formats;
    int64_t found = 0, differing = 0, i;
    cases in;
    mfma_model_free(described_unit(function, prhs[0], &formats));
    in = get_cases(function, &formats, prhs + 2);
    causes = (mfma_cause *)mxCalloc(MOST_CAUSES, sizeof *causes);
    two_units(function, prhs, &x, &y);
    status = mfma_attribute(x, y, in.count, in.k, in.a, in.b, in.c, MOST_CAUSES, sizeof *causes, causes, &found, &differing);
    mfma_model_free(x);
    mfma_model_free(y);
    check(status, function);
    if (found > MOST_CAUSES)
        found = MOST_CAUSES;
    plhs[0] = mxCreateStructMatrix((mwSize)found, 1, sizeof names / sizeof *names, names);
    for (i = 0; i < found; i++) {
        set_text(plhs[0], (mwIndex)i, "features", causes[i].features);
        set_number(plhs[0], (mwIndex)i, "cases", (double)causes[i].cases);
        set_number(plhs[0], (mwIndex)i, "first", (double)(causes[i].first + 1));
    }
    if (nlhs > 1)
        plhs[1] = mxCreateDoubleScalar((double)differing);
    mxFree(causes);
}

void separate_units(const char *function, mxArray *plhs[], const mxArray *const *prhs, int nlhs)
{
    enum { ROOM = 4096 };
    const int64_t seed = get_integer(prhs[2], 0, MOST_EXACT, (label){function, "seed"});
    unit_formats formats;
    mfma_model *x, *y;
    mfma_status status;
    int64_t k = 0;
    void *a = mxCalloc(ROOM, 8), *b = mxCalloc(ROOM, 8), *c = mxCalloc(1, 8);
    mfma_model_free(described_unit(function, prhs[0], &formats));
    two_units(function, prhs, &x, &y);
    status = mfma_separate(x, y, (uint64_t)seed, ROOM, a, b, c, &k);
    mfma_model_free(x);
    mfma_model_free(y);
    check(status, function);
    if (k < 0 || k > ROOM)
        k = 0;
    plhs[0] = filled((mwSize)k, k > 0, mfma_format_bytes(formats.a), a);
    if (nlhs > 1)
        plhs[1] = filled((mwSize)k, k > 0, mfma_format_bytes(formats.b), b);
    if (nlhs > 2)
        plhs[2] = filled(k > 0, k > 0, mfma_format_bytes(formats.d), c);
    mxFree(a);
    mxFree(b);
    mxFree(c);
}
