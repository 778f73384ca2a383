/* mfma_mex: the gateway between the functions of matlab/ and the C library.
 *
 *     [...] = mfma_mex(command, function, ...)
 *
 * It is private to matlab/: users call the functions there, which have the help texts; `function` is the name of the one
 * that calls, and messages begin with it. Every command goes through the same five steps:
 *
 *     1  what MATLAB passes    arguments are checked, by name, and made columns of double (arguments.c)
 *     2  units                 names and features become a model of the library (units.c)
 *     3  the library computes  into arrays that MATLAB owns, watching for Ctrl-C (watch.c)
 *     4  commands              each puts the steps together
 *     5  the command table     and the entry point
 *
 * Only calls of the C Matrix API that mean the same in both complex-storage modes are used, so that the files compile
 * with `mex`, `mex -R2018a` and Octave's `mkoctfile --mex`. No complex array gets past step 1.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "mex.h"

#include "arguments.h"
#include "ask.h"
#include "campaign.h"
#include "mfma.h"
#include "units.h"
#include "watch.h"

#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#elif defined(__APPLE__)
#include <dlfcn.h>
#endif

/* ------------------------------------------------------------------------------------------------------------------
 * 1  What MATLAB passes
 * --------------------------------------------------------------------------------------------------------------- */

typedef struct {
    int nlhs;
    mxArray **plhs;
    int nrhs;
    const mxArray **prhs;
} call;

/* The operands of D = alpha*A*B + beta*C, checked against each other. */
typedef struct {
    double alpha, beta;
    matrix a, b, c;
} operands;

/* Refuses sizes that do not go together. An empty C and a scalar 0 stand for zeros, as in the original toolbox; beta is
 * 0 then, so that C is not read. */
static void check_sizes(operands *o, const char *function)
{
    const mwSize count = o->c.rows * o->c.cols;
    if (o->a.cols != o->b.rows)
        fail("mfma:arg:size", "%s: A is %.0f-by-%.0f and B is %.0f-by-%.0f; A must have as many columns as B has rows",
             function, (double)o->a.rows, (double)o->a.cols, (double)o->b.rows, (double)o->b.cols);
    if (o->c.rows == o->a.rows && o->c.cols == o->b.cols)
        return;
    if (count == 0 || (count == 1 && o->c.data[0] == 0.0))
        o->beta = 0.0;
    else
        fail("mfma:arg:size", "%s: C is %.0f-by-%.0f and A*B is %.0f-by-%.0f; C must have the size of A*B, or be [] or 0",
             function, (double)o->c.rows, (double)o->c.cols, (double)o->a.rows, (double)o->b.cols);
}

static void free_operands(operands *o)
{
    free_matrix(&o->a);
    free_matrix(&o->b);
    free_matrix(&o->c);
}

/* ------------------------------------------------------------------------------------------------------------------
 * 2  Units: see units.h
 * --------------------------------------------------------------------------------------------------------------- */

/* Nothing may raise an error while a model lives, or it is never released: what can fail for the user's sake comes
 * before. */

/* ------------------------------------------------------------------------------------------------------------------
 * 3  The library computes
 * --------------------------------------------------------------------------------------------------------------- */

static int64_t leading(const matrix *m)
{
    return m->rows ? (int64_t)m->rows : 1;
}

/* D, by `model`, which is released. */
static mxArray *product(mfma_model *model, const operands *o, int32_t threads, watch *w, const char *function)
{
    mxArray *d = mxCreateDoubleMatrix(o->a.rows, o->b.cols, mxREAL);
    mfma_gemm_args args;
    mfma_status status;
    args.size = sizeof args;
    status = mfma_gemm_args_default(&args);
    args.model = model;
    args.m = (int64_t)o->a.rows;
    args.n = (int64_t)o->b.cols;
    args.k = (int64_t)o->a.cols;
    args.alpha = o->alpha;
    args.beta = o->beta;
    args.a = o->a.data;
    args.b = o->b.data;
    args.c = o->c.data;
    args.d = mxGetData(d);
    args.lda = args.ldc = args.ldd = leading(&o->a);
    args.ldb = leading(&o->b);
    args.threads = threads;
    args.progress = watch_tell;
    args.progress_user = w;
    if (status == MFMA_OK)
        status = mfma_gemm(&args);
    mfma_model_free(model);
    watch_end(w);
    check(status, function);
    return d;
}

/* `count` dot products of length `k` on encodings (`raw`) or on numbers; d is encodings. */
typedef struct {
    int64_t count, k;
    const void *a, *b, *c; /* c: NULL stands for zeros */
    int raw;
    void *d;
} dots;

/* The dot products by `model`, which is released. */
static void run_dots(mfma_model *model, const dots *in, watch *w)
{
    mfma_gemm_args args;
    mfma_status status;
    args.size = sizeof args;
    status = mfma_gemm_args_default(&args);
    args.model = model;
    args.m = args.n = 1;
    args.k = in->k;
    args.batch_count = in->count;
    args.beta = in->c ? 1.0 : 0.0;
    args.a = in->a;
    args.b = in->b;
    args.c = in->c;
    args.d = in->d;
    args.lda = args.ldc = args.ldd = 1;
    args.ldb = in->k > 0 ? in->k : 1;
    args.stride_a = args.stride_b = in->k;
    args.stride_c = args.stride_d = 1;
    if (in->raw)
        args.storage_a = args.storage_b = args.storage_c = MFMA_STORAGE_RAW;
    args.storage_d = MFMA_STORAGE_RAW;
    args.progress = watch_tell;
    args.progress_user = w;
    if (status == MFMA_OK)
        status = mfma_gemm(&args);
    mfma_model_free(model);
    watch_end(w);
    check(status, w->function);
}

/* ------------------------------------------------------------------------------------------------------------------
 * 4  Commands
 * --------------------------------------------------------------------------------------------------------------- */

/* mfma_compat('cpfloat'): leave CPFloat's options behind as the original toolbox does. */
static int compatible;

/* After a function of the toolbox with these formats: what the original's last call of cpfloat, for C, leaves. */
static void leave_options(mfma_format in, mfma_format out)
{
    const int saturating = in == MFMA_FMT_E4M3FNUZ || in == MFMA_FMT_E5M2FNUZ;
    const int fp8 = in == MFMA_FMT_E4M3 || in == MFMA_FMT_E5M2 || saturating;
    const int narrow = out == MFMA_FMT_FP16 && (in == MFMA_FMT_FP16 || fp8);
    const char *names[] = {"format", "round", "infinity", "saturation"};
    mxArray *args[2], *known = NULL, *ignored[1] = {NULL};
    args[0] = mxCreateString("cpfloat");
    if (mexCallMATLABWithTrap(1, &known, 1, args, "exist") || !known || mxGetScalar(known) == 0)
        return;
    args[0] = mxCreateDoubleMatrix(0, 0, mxREAL);
    args[1] = mxCreateStructMatrix(1, 1, saturating ? 4 : 3, names);
    mxSetField(args[1], 0, "format", mxCreateString(narrow ? "fp16" : "fp32"));
    mxSetField(args[1], 0, "round", mxCreateDoubleScalar(narrow ? 1 : 4));
    mxSetField(args[1], 0, "infinity", mxCreateDoubleScalar(1));
    if (saturating)
        mxSetField(args[1], 0, "saturation", mxCreateDoubleScalar(1));
    mexCallMATLABWithTrap(1, ignored, 2, args, "cpfloat");
}

/* D = mfma_mex('unit', function, alpha, A, B, beta, C, informat, outformat): a function of the toolbox, whose name is
 * also that of an architecture. An outformat of [] is binary32, or binary64 where informat is. */
static void unit(const char *function, call in)
{
    watch w = watch_new(function, NULL);
    const char *informat = get_text(in.prhs[5], (label){function, "informat"}), *outformat = NULL;
    operands o;
    toolbox_formats formats;
    o.alpha = get_scalar(in.prhs[0], (label){function, "alpha"});
    o.a = get_matrix(in.prhs[1], (label){function, "A"});
    o.b = get_matrix(in.prhs[2], (label){function, "B"});
    o.beta = get_scalar(in.prhs[3], (label){function, "beta"});
    o.c = get_matrix(in.prhs[4], (label){function, "C"});
    if (!mxIsEmpty(in.prhs[6]) || !mxIsDouble(in.prhs[6]))
        outformat = get_text(in.prhs[6], (label){function, "outformat"});
    check_sizes(&o, function);
    formats = toolbox_formats_of(function, informat, outformat);
    in.plhs[0] = product(toolbox_unit(function, formats), &o, 0, &w, function);
    free_operands(&o);
    if (compatible)
        leave_options(formats.in, formats.out);
}

/* D = mfma_mex('gemm', function, A, B, C, unit): any unit; `unit` also has the fields alpha, beta, threads,
 * progress, and original: is it a function of the original toolbox's that calls? */
static void gemm(const char *function, call in)
{
    const mxArray *u = in.prhs[3], *threads = field(u, "threads");
    const mxArray *alpha = mxGetField(u, 0, "alpha"), *beta = mxGetField(u, 0, "beta"); /* [] is an error */
    const mxArray *original = field(u, "original");
    watch w = watch_new(function, field(u, "progress"));
    int32_t most = 0;
    unit_formats formats;
    operands o;
    o.alpha = alpha ? get_scalar(alpha, (label){function, "alpha"}) : 1.0;
    o.a = get_matrix(in.prhs[0], (label){function, "A"});
    o.b = get_matrix(in.prhs[1], (label){function, "B"});
    o.beta = beta ? get_scalar(beta, (label){function, "beta"}) : 1.0;
    o.c = get_matrix(in.prhs[2], (label){function, "C"});
    if (threads)
        most = (int32_t)get_integer(threads, 0, 1024, (label){function, "threads"});
    check_sizes(&o, function);
    in.plhs[0] = product(described_unit(function, u, &formats), &o, most, &w, function);
    free_operands(&o);
    if (compatible && original && get_flag(original, (label){function, "original"}))
        leave_options(formats.a, formats.d);
}

/* The elements of an argument of 'dot': numbers, or encodings of `format`; and its size. */
static const void *elements(const mxArray *in, int raw, mfma_format format, matrix *size, label name)
{
    *size = get_matrix(in, name);
    return raw ? get_encodings(in, mfma_format_bytes(format), name) : size->data;
}

/* One element, `count` times. */
static void *repeated(const void *element, size_t bytes, mwSize count)
{
    char *all = (char *)mxMalloc(bytes * count + 1);
    mwSize i;
    for (i = 0; i < count; i++)
        memcpy(all + i * bytes, element, bytes);
    return all;
}

/* [d, bits] = mfma_mex('dot', function, a, b, c, unit): many dot products; `unit` also has the field raw. */
static void dot(const char *function, call in)
{
    const mxArray *u = in.prhs[3], *raw_option = field(u, "raw");
    const int raw = raw_option && get_flag(raw_option, (label){function, "raw"});
    watch w = watch_new(function, NULL);
    unit_formats formats;
    matrix a, b, c;
    dots d;
    mxArray *bits;
    void *spread = NULL;
    mfma_model_free(described_unit(function, u, &formats));
    d.raw = raw;
    d.a = elements(in.prhs[0], raw, formats.a, &a, (label){function, "a"});
    d.b = elements(in.prhs[1], raw, formats.b, &b, (label){function, "b"});
    d.c = elements(in.prhs[2], raw, formats.d, &c, (label){function, "c"});
    if (a.rows != b.rows || a.cols != b.cols)
        fail("mfma:arg:size", "%s: a is %.0f-by-%.0f and b is %.0f-by-%.0f; they must have the same size", function,
             (double)a.rows, (double)a.cols, (double)b.rows, (double)b.cols);
    if (c.rows * c.cols == 0)
        d.c = NULL;
    else if (c.rows * c.cols == 1 && a.cols != 1)
        d.c = spread = repeated(d.c, raw ? (size_t)mfma_format_bytes(formats.d) : sizeof(double), a.cols);
    else if (c.rows * c.cols != a.cols)
        fail("mfma:arg:size", "%s: c has %.0f elements; it must have one for each of the %.0f columns of a, or one, or none",
             function, (double)(c.rows * c.cols), (double)a.cols);
    d.count = (int64_t)a.cols;
    d.k = (int64_t)a.rows;
    in.plhs[0] = mxCreateDoubleMatrix(1, a.cols, mxREAL);
    bits = encoding_array(1, a.cols, mfma_format_bytes(formats.d));
    d.d = mxGetData(bits);
    run_dots(described_unit(function, u, &formats), &d, &w);
    check(mfma_convert(formats.d, MFMA_FMT_FP64, MFMA_ROUND_NEAREST_EVEN, MFMA_OVERFLOW_IEEE, d.count, d.d,
                       mxGetData(in.plhs[0])),
          function);
    if (in.nlhs > 1)
        in.plhs[1] = bits;
    if (spread)
        mxFree(spread);
    free_matrix(&a);
    free_matrix(&b);
    free_matrix(&c);
}

/* The place of a word in a list, in any letter case. */
static int32_t word(const mxArray *in, const char *const *words, label name)
{
    const int32_t place = place_of_text(get_text(in, name), words);
    char allowed[256];
    if (place < 0)
        fail("mfma:arg:value", "%s: %s is '%s'; allowed: %s", name.function, name.argument, get_text(in, name),
             list_of(words, allowed, sizeof allowed));
    return place;
}

/* [y, bits] = mfma_mex('round', function, x, format, rounding, overflow [, name]): messages call x `name`. */
static void round_numbers(const char *function, call in)
{
    static const char *const roundings[] = {"rne", "rz", "rd", "ru", NULL};
    static const char *const overflows[] = {"default", "ieee", "saturate", "infinity", NULL};
    const char *called = in.nrhs > 4 ? get_text(in.prhs[4], (label){function, "name"}) : "x";
    matrix x = get_array(in.prhs[0], (label){function, called});
    const int64_t count = (int64_t)(x.rows * x.cols);
    const mfma_format format = format_of_no_unit(get_text(in.prhs[1], (label){function, "format"}), (label){function, "format"});
    const int32_t rounding = word(in.prhs[2], roundings, (label){function, "rounding"});
    const int32_t overflow = word(in.prhs[3], overflows, (label){function, "overflow"});
    mxArray *bits = encodings_like(in.prhs[0], mfma_format_bytes(format));
    in.plhs[0] = mxCreateNumericArray(mxGetNumberOfDimensions(in.prhs[0]), mxGetDimensions(in.prhs[0]), mxDOUBLE_CLASS, mxREAL);
    check(mfma_convert(MFMA_FMT_FP64, format, rounding, overflow, count, x.data, mxGetData(bits)), function);
    check(mfma_convert(format, MFMA_FMT_FP64, rounding, overflow, count, mxGetData(bits), mxGetData(in.plhs[0])), function);
    free_matrix(&x);
    if (in.nlhs > 1)
        in.plhs[1] = bits;
}

/* x = mfma_mex('decode', function, bits, format) */
static void decode(const char *function, call in)
{
    const mfma_format format = format_of_no_unit(get_text(in.prhs[1], (label){function, "format"}), (label){function, "format"});
    const void *bits = get_encodings(in.prhs[0], mfma_format_bytes(format), (label){function, "bits"});
    in.plhs[0] = mxCreateNumericArray(mxGetNumberOfDimensions(in.prhs[0]), mxGetDimensions(in.prhs[0]), mxDOUBLE_CLASS, mxREAL);
    check(mfma_convert(format, MFMA_FMT_FP64, MFMA_ROUND_NEAREST_EVEN, MFMA_OVERFLOW_IEEE,
                       (int64_t)mxGetNumberOfElements(in.prhs[0]), bits, mxGetData(in.plhs[0])),
          function);
}

/* s = mfma_mex('info', function): all units of the catalogue. */
static void info(const char *function, call in)
{
    in.plhs[0] = catalogue(function);
}

/* [arch, format] = mfma_mex('name', function, arch [, format]): the names that the catalogue has for these. */
static void name(const char *function, call in)
{
    mfma_arch arch;
    mfma_format format;
    const label first = {function, "arch"}, second = {function, "format"};
    check_name(mfma_arch_from_name(get_text(in.prhs[0], first), &arch), first);
    if (in.nrhs > 1) {
        check_name(mfma_format_from_name(arch, get_text(in.prhs[1], second), &format), second);
        if (in.nlhs > 1)
            in.plhs[1] = mxCreateString(mfma_format_name(format));
    }
    in.plhs[0] = mxCreateString(mfma_arch_name(arch));
}

/* mode = mfma_mex('compat', function [, mode]): what the mode was; sets it where one is given. */
static void compat(const char *function, call in)
{
    const int before = compatible;
    if (in.nrhs > 0) {
        static const char *const modes[] = {"off", "cpfloat", NULL};
        compatible = word(in.prhs[0], modes, (label){function, "mode"});
    }
    in.plhs[0] = mxCreateString(before ? "cpfloat" : "off");
}

/* s = mfma_mex('version', function): the version of the library and what it computes with. */
static void version(const char *function, call in)
{
    const char *fields[] = {"version", "kernel"};
    (void)function;
    in.plhs[0] = mxCreateStructMatrix(1, 1, 2, fields);
    mxSetField(in.plhs[0], 0, "version", mxCreateString(mfma_version()));
    mxSetField(in.plhs[0], 0, "kernel", mxCreateString(mfma_cpu_features()));
}

/* n = mfma_mex('threads', function [, m]): the number of threads before the call; sets it to m where m is given. */
static void threads(const char *function, call in)
{
    in.plhs[0] = mxCreateDoubleScalar((double)mfma_get_num_threads());
    if (in.nrhs > 0)
        check(mfma_set_num_threads((int32_t)get_integer(in.prhs[0], 0, 1024, (label){function, "m"})), function);
}

/* Random cases and campaigns: see campaign.h. */
static void sample(const char *function, call in)
{
    sample_cases(function, in.plhs, in.prhs, in.nlhs);
}

static void formats(const char *function, call in)
{
    formats_of(function, in.plhs, in.prhs);
}

static void validate(const char *function, call in)
{
    validate_unit(function, in.plhs, in.prhs);
}

static void bound(const char *function, call in)
{
    bound_of(function, in.plhs, in.prhs);
}

/* Questions to units: see ask.h. */
static void probe(const char *function, call in)
{
    probe_unit(function, in.plhs, in.prhs);
}

static void order(const char *function, call in)
{
    order_of_unit(function, in.plhs, in.prhs);
}

static void named(const char *function, call in)
{
    formats_of_options(function, in.plhs, in.prhs);
}

static void encodings(const char *function, call in)
{
    check_encodings(function, in.plhs, in.prhs, in.nlhs);
}

static void explain(const char *function, call in)
{
    explain_case(function, in.plhs, in.prhs, in.nlhs);
}

static void attribute(const char *function, call in)
{
    attribute_cases(function, in.plhs, in.prhs, in.nlhs);
}

static void separate(const char *function, call in)
{
    separate_units(function, in.plhs, in.prhs, in.nlhs);
}

/* ------------------------------------------------------------------------------------------------------------------
 * 5  The command table, and the entry point
 * --------------------------------------------------------------------------------------------------------------- */

static const struct {
    const char *command;
    int least, most; /* arguments after the command and the function's name */
    void (*run)(const char *function, call in);
} COMMANDS[] = {
    {"unit", 7, 7, unit},
    {"gemm", 4, 4, gemm},
    {"dot", 4, 4, dot},
    {"round", 4, 5, round_numbers},
    {"decode", 2, 2, decode},
    {"info", 0, 0, info},
    {"name", 1, 2, name},
    {"compat", 0, 1, compat},
    {"version", 0, 0, version},
    {"threads", 0, 1, threads},
    {"formats", 1, 1, formats},
    {"sample", 2, 2, sample},
    {"validate", 2, 2, validate},
    {"bound", 3, 3, bound},
    {"probe", 2, 2, probe},
    {"order", 3, 3, order},
    {"formats_named", 1, 1, named},
    {"encodings", 4, 4, encodings},
    {"explain", 4, 4, explain},
    {"attribute", 5, 5, attribute},
    {"separate", 3, 3, separate},
};

/* The library's threads live in this file's code, and `clear mex` would unmap it under them. On Linux a link flag
 * (see mfma_build.m) keeps it mapped; on macOS and Windows the file is pinned here, at the first call. */
static void stay_loaded(void)
{
#if defined(_WIN32)
    HMODULE self;
    GetModuleHandleExA(GET_MODULE_HANDLE_EX_FLAG_PIN | GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS,
                       (const char *)(void *)&stay_loaded, &self);
#elif defined(__APPLE__)
    Dl_info self;
    if (dladdr((const void *)&stay_loaded, &self))
        dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
#endif
}

/* Cleared, this file leaves no threads behind; they come back with the next call. Asked for at every call, for what is
 * loaded after `clear` is the same code in the same place, which MATLAB and Octave take for new. */
static void end_threads(void)
{
    mfma_shutdown();
}

void mexFunction(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    const char *command, *function;
    size_t i;
    stay_loaded();
    mexAtExit(end_threads);
    if (nrhs < 2)
        fail("mfma:arg:count", "mfma_mex: a command and the name of the calling function are needed");
    command = get_text(prhs[0], (label){"mfma_mex", "command"});
    function = get_text(prhs[1], (label){"mfma_mex", "function"});
    for (i = 0; i < sizeof COMMANDS / sizeof *COMMANDS; i++) {
        if (strcmp(COMMANDS[i].command, command) != 0)
            continue;
        if (nrhs - 2 < COMMANDS[i].least || nrhs - 2 > COMMANDS[i].most)
            fail("mfma:arg:count", "%s: command %s takes %d to %d arguments, not %d", function, command,
                 COMMANDS[i].least, COMMANDS[i].most, nrhs - 2);
        COMMANDS[i].run(function, (call){nlhs, plhs, nrhs - 2, prhs + 2});
        return;
    }
    fail("mfma:arg:value", "mfma_mex: unknown command '%s'", command);
}
