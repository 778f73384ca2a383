#include "arguments.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Raises a MATLAB error; does not return. The MATLAB function `error` is called, because Octave puts the name of the
 * gateway before the texts of mexErrMsgIdAndTxt, which means nothing to a user. */
void fail(const char *id, const char *format, ...)
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

/* Refuses what is not a real array of numbers, naming what it is. */
static void check_class(const mxArray *in, label name)
{
    if (!mxIsNumeric(in) && !mxIsLogical(in))
        fail("mfma:arg:type", "%s: %s is of class %s; allowed: double, single, integer or logical", name.function,
             name.argument, mxGetClassName(in));
    if (mxIsComplex(in))
        fail("mfma:arg:complex", "%s: %s is complex; matrix units compute with real numbers", name.function,
             name.argument);
}

static void check_matrix(const mxArray *in, label name)
{
    check_class(in, name);
    if (mxGetNumberOfDimensions(in) > 2)
        fail("mfma:arg:dims", "%s: %s has %d dimensions; it must be a matrix", name.function, name.argument,
             (int)mxGetNumberOfDimensions(in));
}

matrix get_matrix(const mxArray *in, label name)
{
    check_matrix(in, name);
    return get_array(in, name);
}

matrix get_array(const mxArray *in, label name)
{
    matrix m;
    check_class(in, name);
    m.rows = mxGetM(in);
    m.cols = mxGetN(in); /* of all dimensions after the first */
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

void free_matrix(matrix *m)
{
    if (m->copy)
        mxFree(m->copy);
    m->copy = NULL;
}

double get_scalar(const mxArray *in, label name)
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

int get_flag(const mxArray *in, label name)
{
    const double value = get_scalar(in, name);
    if (value != 0.0 && value != 1.0)
        fail("mfma:arg:value", "%s: %s is %g; it must be true or false", name.function, name.argument, value);
    return value != 0.0;
}

int64_t get_integer(const mxArray *in, double least, double most, label name)
{
    const double value = get_scalar(in, name);
    if (!(value >= least && value <= most) || value != floor(value))
        fail("mfma:arg:value", "%s: %s is %g; it must be an integer from %.0f to %.0f", name.function, name.argument,
             value, least, most);
    return (int64_t)value;
}

/* A row of characters, or a string scalar of MATLAB's (read through the MATLAB function `char`, as the C Matrix API
 * does not know strings). The text lives until the gateway returns. */
const char *get_text(const mxArray *in, label name)
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
        fail("mfma:arg:type", "%s: %s is of class %s; it must be text", name.function, name.argument,
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

static int lower(char c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

int place_of_text(const char *text, const char *const *list)
{
    int i;
    for (i = 0; list[i]; i++) {
        const char *x = text, *y = list[i];
        while (*x && lower(*x) == lower(*y))
            x++, y++;
        if (*x == *y)
            return i;
    }
    return -1;
}

const char *list_of(const char *const *list, char *out, size_t size)
{
    size_t used = 0;
    int i;
    out[0] = '\0';
    for (i = 0; list[i] && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s'%s'", i ? ", " : "", list[i]);
    return out;
}

/* Element i of an array of encodings. */
static void put_encoding(void *array, mwSize i, uint64_t bits, int bytes)
{
    switch (bytes) {
    case 1:  ((uint8_t *)array)[i] = (uint8_t)bits; break;
    case 2:  ((uint16_t *)array)[i] = (uint16_t)bits; break;
    case 4:  ((uint32_t *)array)[i] = (uint32_t)bits; break;
    default: ((uint64_t *)array)[i] = bits; break;
    }
}

static mxClassID class_of(int bytes)
{
    return bytes == 1 ? mxUINT8_CLASS : bytes == 2 ? mxUINT16_CLASS : bytes == 4 ? mxUINT32_CLASS : mxUINT64_CLASS;
}

mxArray *encoding_array(mwSize rows, mwSize cols, int bytes)
{
    return mxCreateNumericMatrix(rows, cols, class_of(bytes), mxREAL);
}

mxArray *encoding_scalar(const uint64_t *bits, int bytes)
{
    mxArray *out = encoding_array(bits ? 1 : 0, bits ? 1 : 0, bytes);
    if (bits)
        put_encoding(mxGetData(out), 0, *bits, bytes);
    return out;
}

mxArray *encodings_like(const mxArray *in, int bytes)
{
    return mxCreateNumericArray(mxGetNumberOfDimensions(in), mxGetDimensions(in), class_of(bytes), mxREAL);
}

const void *get_encodings(const mxArray *in, int bytes, label name)
{
    const mwSize count = mxGetNumberOfElements(in);
    const double top = bytes == 8 ? 9007199254740992.0 : ldexp(1.0, 8 * bytes);
    double *numbers;
    unsigned char *out;
    mwSize i;
    check_class(in, name);
    if (mxGetClassID(in) == class_of(bytes) && !mxIsSparse(in))
        return mxGetData(in);
    numbers = (double *)mxMalloc((count + 1) * sizeof(double));
    out = (unsigned char *)mxMalloc((count + 1) * (size_t)bytes);
    if (mxIsSparse(in))
        copy_sparse(in, numbers);
    else
        copy_elements(in, numbers);
    for (i = 0; i < count; i++) {
        const double x = numbers[i];
        if (!(x >= 0 && x < top) || x != floor(x))
            fail("mfma:arg:value", "%s: %s has the element %.17g, which is no encoding of %d bits%s", name.function,
                 name.argument, x, 8 * bytes, bytes == 8 ? " that a double holds; pass uint64" : "");
        put_encoding(out, i, (uint64_t)x, bytes);
    }
    mxFree(numbers);
    return out;
}
