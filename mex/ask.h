/* Questions to units: the commands behind mfma_probe and mfma_explain. */
#ifndef MFMA_MEX_ASK_H
#define MFMA_MEX_ASK_H

#include "mex.h"

/* found = mfma_mex('probe', function, options, f): the features of the unit that f computes; f is called as bits = f(a, b,
 * c) with encodings, a and b K-by-n, c 1-by-n, and returns those of the results, or a struct that is an error. `options` may
 * have the fields format, out, k, fixed, vectors and seed. */
void probe_unit(const char *function, mxArray *plhs[], const mxArray *const *prhs);

/* text = mfma_mex('order', function, options, f, n): in which order the unit that f computes adds n products. */
void order_of_unit(const char *function, mxArray *plhs[], const mxArray *const *prhs);

/* names = mfma_mex('formats_named', function, options): the formats that these options name, in a cell array. */
void formats_of_options(const char *function, mxArray *plhs[], const mxArray *const *prhs);

/* [a, b, c] = mfma_mex('encodings', function, unit, a, b, c): encodings as unsigned integers; a and b K-by-n, c 1-by-n. */
void check_encodings(const char *function, mxArray *plhs[], const mxArray *const *prhs, int nlhs);

/* [text, steps, d] = mfma_mex('explain', function, unit, a, b, c): one dot product of encodings. */
void explain_case(const char *function, mxArray *plhs[], const mxArray *const *prhs, int nlhs);

/* [causes, differing] = mfma_mex('attribute', function, unit, other, a, b, c): K-by-n encodings, c 1-by-n. */
void attribute_cases(const char *function, mxArray *plhs[], const mxArray *const *prhs, int nlhs);

/* [a, b, c] = mfma_mex('separate', function, unit, other, seed): encodings on which they differ; [] where there are none. */
void separate_units(const char *function, mxArray *plhs[], const mxArray *const *prhs, int nlhs);

#endif
