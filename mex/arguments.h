/* What MATLAB passes: arguments are checked, by name, and made columns of double. */
#ifndef MFMA_MEX_ARGUMENTS_H
#define MFMA_MEX_ARGUMENTS_H

#include <stdint.h>

#include "mex.h"

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

/* Raises a MATLAB error; does not return. */
void fail(const char *id, const char *format, ...);

/* A real matrix of any numeric class, sparse ones too. free_matrix releases what the conversion needed. */
matrix get_matrix(const mxArray *in, label name);

/* The same for an array of any number of dimensions, taken as a matrix. */
matrix get_array(const mxArray *in, label name);
void free_matrix(matrix *m);

double get_scalar(const mxArray *in, label name);

/* true or false, 1 or 0. */
int get_flag(const mxArray *in, label name);
int64_t get_integer(const mxArray *in, double least, double most, label name);

/* A row of characters, or a string scalar of MATLAB's. It lives until the gateway returns. */
const char *get_text(const mxArray *in, label name);

/* The place of a text in a list that NULL ends, in any letter case; -1 where it is not there. */
int place_of_text(const char *text, const char *const *list);

/* The texts of a list, in quotes and with commas between, for a message. */
const char *list_of(const char *const *list, char *out, size_t size);

/* Encodings of a format whose elements take so many bytes, unsigned integers of that size: the array's own, or a copy
 * that lives until the gateway returns. */
const void *get_encodings(const mxArray *in, int bytes, label name);

/* An array for encodings: uint8, uint16, uint32 or uint64. */
mxArray *encoding_array(mwSize rows, mwSize cols, int bytes);
mxArray *encoding_scalar(const uint64_t *bits, int bytes); /* NULL: an empty one */
mxArray *encodings_like(const mxArray *in, int bytes);

#endif
