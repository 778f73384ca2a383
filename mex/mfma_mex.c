/* mfma_mex: the gateway between the functions of matlab/ and the C library.
 *
 *     [...] = mfma_mex(command, ...)
 *
 * It is private to matlab/: users call the functions there, which have the help texts. Every command goes through the
 * same five steps, each with its title below:
 *
 *     1  what MATLAB passes    arguments are checked, by name, and made columns of double
 *     2  what the library says its errors become MATLAB errors
 *     3  units                 the names of functions, architectures and formats become codes
 *     4  commands              the library computes, into arrays that MATLAB owns
 *     5  the command table     and the entry point
 *
 * Only the documented C Matrix API is used, and only calls that mean the same in both complex-storage modes, so that
 * the file compiles with `mex`, `mex -R2018a` and Octave's `mkoctfile --mex`. No complex array gets past step 1.
 */
#ifdef __APPLE__
#include <dlfcn.h>
#endif
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "mex.h"

#include "mfma.h"

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#endif

/* ------------------------------------------------------------------------------------------------------------------
 * 1  What MATLAB passes
 * --------------------------------------------------------------------------------------------------------------- */

/* Raises a MATLAB error; does not return. The MATLAB function `error` is called, because Octave puts the name of the
 * gateway before the texts of mexErrMsgIdAndTxt, which means nothing to a user. */
static void fail(const char *id, const char *format, ...)
{
    char text[2048];
    mxArray *args[3];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    args[0] = mxCreateString(id);
    args[1] = mxCreateString("%s");
    args[2] = mxCreateString(text);
    mexCallMATLAB(0, NULL, 3, args, "error");
    mexErrMsgIdAndTxt(id, "%s", text); /* not reached */
}

/* What the messages call an argument: the function that the user called, and the argument's name there. */
typedef struct {
    const char *function;
    const char *argument;
} label;

/* A matrix as the library takes it: column-major double. `copy` is the temporary behind it, if there is one. */
typedef struct {
    const double *data;
    double *copy;
    mwSize rows, cols;
} matrix;

#define COPY_AS(type)                                   \
    do {                                                \
        const type *from = (const type *)mxGetData(in); \
        for (i = 0; i < count; i++)                     \
            to[i] = (double)from[i];                    \
    } while (0)

/* The elements of a real array of any numeric class, as doubles. */
static void copy_elements(const mxArray *in, double *to)
{
    const mwSize count = mxGetNumberOfElements(in);
    mwSize i;
    switch (mxGetClassID(in)) {
    case mxDOUBLE_CLASS:  COPY_AS(double); break;
    case mxSINGLE_CLASS:  COPY_AS(float); break;
    case mxINT8_CLASS:    COPY_AS(int8_t); break;
    case mxUINT8_CLASS:   COPY_AS(uint8_t); break;
    case mxINT16_CLASS:   COPY_AS(int16_t); break;
    case mxUINT16_CLASS:  COPY_AS(uint16_t); break;
    case mxINT32_CLASS:   COPY_AS(int32_t); break;
    case mxUINT32_CLASS:  COPY_AS(uint32_t); break;
    case mxINT64_CLASS:   COPY_AS(int64_t); break;
    case mxUINT64_CLASS:  COPY_AS(uint64_t); break;
    case mxLOGICAL_CLASS: COPY_AS(mxLogical); break;
    default: break; /* check_class lets nothing else through */
    }
}

/* The elements of a sparse matrix (double or logical), the zeros among them. */
static void copy_sparse(const mxArray *in, double *to)
{
    const mwIndex *rows_of = mxGetIr(in), *columns = mxGetJc(in);
    const mwSize rows = mxGetM(in), cols = mxGetN(in);
    const double *doubles = (const double *)mxGetData(in);
    const mxLogical *logicals = (const mxLogical *)mxGetData(in);
    mwSize j;
    mwIndex at;
    for (j = 0; j < rows * cols; j++)
        to[j] = 0.0;
    for (j = 0; j < cols; j++)
        for (at = columns[j]; at < columns[j + 1]; at++)
            to[j * rows + rows_of[at]] = mxIsLogical(in) ? (double)logicals[at] : doubles[at];
}

/* Refuses what is not a real matrix of numbers, naming what it is. */
static void check_class(const mxArray *in, label name)
{
    if (!mxIsNumeric(in) && !mxIsLogical(in))
        fail("mfma:arg:type", "%s: %s is of class %s; allowed: double, single, integer or logical", name.function,
             name.argument, mxGetClassName(in));
    if (mxIsComplex(in))
        fail("mfma:arg:complex", "%s: %s is complex; matrix units compute with real numbers", name.function,
             name.argument);
    if (mxGetNumberOfDimensions(in) > 2)
        fail("mfma:arg:dims", "%s: %s has %d dimensions; it must be a matrix", name.function, name.argument,
             (int)mxGetNumberOfDimensions(in));
}

static matrix get_matrix(const mxArray *in, label name)
{
    matrix m;
    check_class(in, name);
    m.rows = mxGetM(in);
    m.cols = mxGetN(in);
    m.copy = NULL;
    if (mxIsDouble(in) && !mxIsSparse(in)) {
        m.data = (const double *)mxGetData(in);
    } else {
        m.copy = (double *)mxMalloc((m.rows * m.cols + 1) * sizeof(double));
        if (mxIsSparse(in))
            copy_sparse(in, m.copy);
        else
            copy_elements(in, m.copy);
        m.data = m.copy;
    }
    return m;
}

static void free_matrix(matrix *m)
{
    if (m->copy)
        mxFree(m->copy);
    m->copy = NULL;
}

static double get_scalar(const mxArray *in, label name)
{
    matrix m = get_matrix(in, name);
    double value;
    if (m.rows != 1 || m.cols != 1)
        fail("mfma:arg:scalar", "%s: %s is %.0f-by-%.0f; it must be a scalar", name.function, name.argument,
             (double)m.rows, (double)m.cols);
    value = m.data[0];
    free_matrix(&m);
    return value;
}

static int64_t get_integer(const mxArray *in, double least, double most, label name)
{
    const double value = get_scalar(in, name);
    if (!(value >= least && value <= most) || value != floor(value))
        fail("mfma:arg:value", "%s: %s is %g; it must be an integer from %.0f to %.0f", name.function, name.argument,
             value, least, most);
    return (int64_t)value;
}

/* A row of characters, or a string scalar of MATLAB's (read through the MATLAB function `char`, as the C Matrix API
 * does not know strings). The text lives until the gateway returns. */
static const char *get_text(const mxArray *in, label name)
{
    const mxArray *chars = in;
    char *text;
    if (mxIsClass(in, "string")) {
        mxArray *converted = NULL, *arg = (mxArray *)in;
        mxArray *exception = mexCallMATLABWithTrap(1, &converted, 1, &arg, "char");
        if (exception || !converted)
            fail("mfma:arg:text", "%s: %s must be one string", name.function, name.argument);
        chars = converted;
    }
    if (!mxIsChar(chars))
        fail("mfma:arg:type", "%s: %s is of class %s; it must be text, such as 'fp16'", name.function, name.argument,
             mxGetClassName(in));
    if (mxGetNumberOfDimensions(chars) > 2 || mxGetM(chars) != 1 || mxGetN(chars) == 0)
        fail("mfma:arg:text", "%s: %s must be one row of characters, not %.0f-by-%.0f", name.function, name.argument,
             (double)mxGetM(chars), (double)mxGetN(chars));
    /* Not mxArrayToString: what that returns is not freed when Octave leaves the gateway. */
    text = (char *)mxMalloc(mxGetN(chars) + 1);
    if (mxGetString(chars, text, mxGetN(chars) + 1) != 0 || strlen(text) != mxGetN(chars))
        fail("mfma:arg:text", "%s: %s has characters that no name has", name.function, name.argument);
    return text;
}

/* ------------------------------------------------------------------------------------------------------------------
 * 2  What the library says
 * --------------------------------------------------------------------------------------------------------------- */

/* Raises the MATLAB error that belongs to a status of the library; returns when there is none. */
static void check(mfma_status status, const char *function)
{
    if (status != MFMA_OK)
        fail(mfma_error_id(status), "%s: %s", function, mfma_last_error());
}

/* ------------------------------------------------------------------------------------------------------------------
 * 3  Units
 * --------------------------------------------------------------------------------------------------------------- */

/* Functions whose original ignores outformat for some inputs and always gives binary32. */
static const struct {
    const char *function;
    int tf32, fp8;
} BINARY32_ONLY[] = {
    {"A100TC", 1, 0}, {"A2TC", 1, 0},     {"A30TC", 1, 0},
    {"B200TC", 0, 1}, {"B200TCRN", 0, 1}, {"RTXPRO6000TC", 0, 1},
};

/* Output format of the toolbox function `function` for these inputs, when the user asked for `asked`. */
static mfma_format output_format(const char *function, mfma_format in, mfma_format asked)
{
    const int fp8 = in == MFMA_FMT_E4M3 || in == MFMA_FMT_E5M2;
    size_t i;
    for (i = 0; i < sizeof BINARY32_ONLY / sizeof *BINARY32_ONLY; i++)
        if (strcmp(BINARY32_ONLY[i].function, function) == 0)
            if ((BINARY32_ONLY[i].tf32 && in == MFMA_FMT_TF32) || (BINARY32_ONLY[i].fp8 && fp8))
                return MFMA_FMT_FP32;
    return asked;
}

/* ------------------------------------------------------------------------------------------------------------------
 * 4  Commands
 * --------------------------------------------------------------------------------------------------------------- */

typedef struct {
    int nlhs;
    mxArray **plhs;
    int nrhs;
    const mxArray **prhs;
} call;

static const double *nonempty(const matrix *m)
{
    return m->rows && m->cols ? m->data : NULL;
}

static int64_t leading(const matrix *m)
{
    return m->rows ? (int64_t)m->rows : 1;
}

/* The operands of D = alpha*A*B + beta*C, checked against each other. */
typedef struct {
    double alpha, beta;
    matrix a, b, c;
    int has_c;
} operands;

/* prhs[0..4]: alpha, A, B, beta, C. An empty C and a scalar 0 stand for zeros, as in the original toolbox. */
static operands get_operands(const mxArray **prhs, const char *function)
{
    operands o;
    o.alpha = get_scalar(prhs[0], (label){function, "alpha"});
    o.a = get_matrix(prhs[1], (label){function, "A"});
    o.b = get_matrix(prhs[2], (label){function, "B"});
    o.beta = get_scalar(prhs[3], (label){function, "beta"});
    o.c = get_matrix(prhs[4], (label){function, "C"});
    if (o.a.cols != o.b.rows)
        fail("mfma:arg:size", "%s: A is %.0f-by-%.0f and B is %.0f-by-%.0f; A must have as many columns as B has rows",
             function, (double)o.a.rows, (double)o.a.cols, (double)o.b.rows, (double)o.b.cols);
    o.has_c = o.c.rows * o.c.cols != 0 && !(o.c.rows * o.c.cols == 1 && o.c.data[0] == 0.0);
    if (o.has_c && (o.c.rows != o.a.rows || o.c.cols != o.b.cols))
        fail("mfma:arg:size", "%s: C is %.0f-by-%.0f and A*B is %.0f-by-%.0f; C must have the size of A*B, or be [] or 0",
             function, (double)o.c.rows, (double)o.c.cols, (double)o.a.rows, (double)o.b.cols);
    if (!o.has_c)
        o.beta = 0.0;
    return o;
}

static void free_operands(operands *o)
{
    free_matrix(&o->a);
    free_matrix(&o->b);
    free_matrix(&o->c);
}

/* D = mfma_mex('unit', function, alpha, A, B, beta, C, informat, outformat): a function of the toolbox, whose name is
 * also that of an architecture. An outformat of [] is binary32, or binary64 where informat is. */
static void unit(const char *function, call in)
{
    mfma_arch arch;
    mfma_format format, output = MFMA_FMT_FP32;
    operands o = get_operands(in.prhs, function);
    mxArray *d = mxCreateDoubleMatrix(o.a.rows, o.b.cols, mxREAL);
    check(mfma_arch_from_name(function, &arch), function);
    check(mfma_format_from_name(arch, get_text(in.prhs[5], (label){function, "informat"}), &format), function);
    if (!mxIsEmpty(in.prhs[6]) || mxIsChar(in.prhs[6]))
        check(mfma_format_from_name(arch, get_text(in.prhs[6], (label){function, "outformat"}), &output), function);
    else if (format == MFMA_FMT_FP64)
        output = format;
    output = output_format(function, format, output);
    check(mfma_gemm_f64(arch, format, output, (int64_t)o.a.rows, (int64_t)o.b.cols, (int64_t)o.a.cols, o.alpha,
                        nonempty(&o.a), leading(&o.a), nonempty(&o.b), leading(&o.b), o.beta,
                        o.has_c ? nonempty(&o.c) : NULL, leading(&o.a), (double *)mxGetData(d), leading(&o.a)),
          function);
    free_operands(&o);
    in.plhs[0] = d;
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

/* n = mfma_mex('threads', function [, n]): the number of threads before the call; sets it where n is given. */
static void threads(const char *function, call in)
{
    in.plhs[0] = mxCreateDoubleScalar((double)mfma_get_num_threads());
    if (in.nrhs > 0)
        check(mfma_set_num_threads((int32_t)get_integer(in.prhs[0], 0, 1024, (label){function, "n"})), function);
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
    {"version", 0, 0, version},
    {"threads", 0, 1, threads},
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

/* mfma_mex(command, function, ...): `function` is the name that messages begin with. */
void mexFunction(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    const char *command, *function;
    size_t i;
    stay_loaded();
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
