/* Random cases and campaigns: the commands behind mfma_sample and mfma_validate. */
#ifndef MFMA_MEX_CAMPAIGN_H
#define MFMA_MEX_CAMPAIGN_H

#include "mex.h"

/* [a, b, c] = mfma_mex('sample', function, unit, n): encodings, a and b K-by-n, c 1-by-n. `unit` describes the unit, see
 * units.h, and may have the fields sampler, seed, first and k. */
void sample_cases(const char *function, mxArray *plhs[], const mxArray *const *prhs, int nlhs);

/* names = mfma_mex('formats', function, unit): names of the formats of a, b and the result, in a cell array. */
void formats_of(const char *function, mxArray *plhs[], const mxArray *const *prhs);

/* report = mfma_mex('validate', function, unit, other): `unit` may also have the fields dump, count, keep, stop_after,
 * epsilon, any_nan, ignore_c, threads and progress; `other` describes another unit, or is []: the reference. */
void validate_unit(const char *function, mxArray *plhs[], const mxArray *const *prhs);

/* bound = mfma_mex('bound', function, cases, mismatches, epsilon) */
void bound_of(const char *function, mxArray *plhs[], const mxArray *const *prhs);

#endif
