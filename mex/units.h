/* Units: names of architectures and formats, and structs of features, become models of the library; its errors become
 * MATLAB errors. */
#ifndef MFMA_MEX_UNITS_H
#define MFMA_MEX_UNITS_H

#include "mex.h"

#include "arguments.h"
#include "mfma.h"

/* Raises the MATLAB error that belongs to a status of the library; returns when there is none. */
void check(mfma_status status, const char *function);

/* The same for a name that the user gave, naming the argument. */
void check_name(mfma_status status, label what);

/* A field of a struct; NULL where it is missing or []. */
const mxArray *field(const mxArray *options, const char *name);

/* The same as a number, or `missing`; and as text, or NULL. */
int64_t integer_option(const mxArray *options, const char *name, int64_t missing, double least, double most,
                       const char *function);
const char *text_option(const mxArray *options, const char *name, const char *function);

/* Doubles count exactly up to here. */
#define MOST_EXACT 9007199254740992.0

/* What the toolbox function `function` computes for these names of formats; `out` is NULL when the user gave none. */
typedef struct {
    mfma_arch arch;
    mfma_format in, out;
} toolbox_formats;
toolbox_formats toolbox_formats_of(const char *function, const char *in, const char *out);
mfma_model *toolbox_unit(const char *function, toolbox_formats formats);

/* The unit that a struct describes, with the fields (all optional, but one of arch and params)
 *     arch          name of an architecture or GPU
 *     format        name of the input format, or a cell array of two names
 *     out           name of the output format
 *     instruction   mnemonic of an instruction of arch, which decides the formats; format and out must agree
 *     params        struct of features, as mfma_params names them
 *     fnuz          1: 8-bit names mean the FNUZ kinds, where there is no arch
 *     called        what messages call arch: the user's argument */
typedef struct {
    mfma_format a, b, d;
} unit_formats;
mfma_model *described_unit(const char *function, const mxArray *unit, unit_formats *formats);

/* The formats that the fields format and out name, of a unit that is not known. */
unit_formats formats_named(const char *function, const mxArray *options);

/* A format by any name; the OCP kinds of 8-bit formats, unless the name says FNUZ. */
mfma_format format_of_no_unit(const char *name, label what);

/* Names of formats, in a cell array. */
mxArray *format_names(unit_formats formats);

/* Features as a struct with the fields of mfma_params. */
mxArray *features_struct(mfma_params *params);

/* A struct array of all units of the catalogue. */
mxArray *catalogue(const char *function);

#endif
