#include "units.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>

#include "arguments.h"

void check(mfma_status status, const char *function)
{
    if (status != MFMA_OK)
        fail(mfma_error_id(status), "%s: %s", function, mfma_last_error());
}

void check_name(mfma_status status, label what)
{
    if (status != MFMA_OK)
        fail(mfma_error_id(status), "%s: %s: %s", what.function, what.argument, mfma_last_error());
}

const mxArray *field(const mxArray *options, const char *name)
{
    const mxArray *value = mxGetField(options, 0, name);
    return value && !(mxIsDouble(value) && mxIsEmpty(value)) ? value : NULL;
}

int64_t integer_option(const mxArray *options, const char *name, int64_t missing, double least, double most,
                       const char *function)
{
    const mxArray *value = field(options, name);
    return value ? get_integer(value, least, most, (label){function, name}) : missing;
}

const char *text_option(const mxArray *options, const char *name, const char *function)
{
    const mxArray *value = field(options, name);
    return value ? get_text(value, (label){function, name}) : NULL;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Features: one row a field of mfma_params
 * --------------------------------------------------------------------------------------------------------------- */

typedef enum { NUMBER, OPTIONAL, FLAG, SCHEME, ROUNDING, CONVENTIONS } kind;

static const struct {
    const char *name;
    size_t offset;
    kind kind;
} FIELDS[] = {
    {"scheme", offsetof(mfma_params, scheme), SCHEME},
    {"fma", offsetof(mfma_params, fma), NUMBER},
    {"interleave", offsetof(mfma_params, interleave), FLAG},
    {"alignment_bits", offsetof(mfma_params, alignment_bits), NUMBER},
    {"sticky", offsetof(mfma_params, sticky), FLAG},
    {"late_c", offsetof(mfma_params, late_c), FLAG},
    {"denormal_products", offsetof(mfma_params, denormal_products), FLAG},
    {"alignment_rounding", offsetof(mfma_params, alignment_rounding), ROUNDING},
    {"late_sum_bits", offsetof(mfma_params, late_sum_bits), NUMBER},
    {"late_total_bits", offsetof(mfma_params, late_total_bits), OPTIONAL},
    {"drop_c_beyond", offsetof(mfma_params, drop_c_beyond), OPTIONAL},
    {"min_exponent", offsetof(mfma_params, min_exponent), OPTIONAL},
    {"zero_c_exponent", offsetof(mfma_params, zero_c_exponent), OPTIONAL},
    {"product_limit", offsetof(mfma_params, product_limit), FLAG},
    {"rounding", offsetof(mfma_params, rounding), ROUNDING},
    {"in_subnormals", offsetof(mfma_params, in_subnormals), FLAG},
    {"out_subnormals", offsetof(mfma_params, out_subnormals), FLAG},
    {"nan_after_cut", offsetof(mfma_params, nan_after_cut), FLAG},
    {"conventions", offsetof(mfma_params, conventions), CONVENTIONS},
};
enum { FIELD_COUNT = sizeof FIELDS / sizeof *FIELDS };

/* Names of the values, in the order of their numbers. */
static const char *const SCHEMES[] = {"sequential_fma", "correct_rounding", "pairwise_sum", "global_alignment",
                                      "odd_even_grouping", NULL};
static const char *const ROUNDINGS[] = {"rne", "rz", "rd", "ru", NULL};
static const char *const CONVENTION_NAMES[] = {"amd", "nvidia", "toolbox", NULL};

static const char *const *names_of(kind kind)
{
    return kind == SCHEME ? SCHEMES : kind == ROUNDING ? ROUNDINGS : kind == CONVENTIONS ? CONVENTION_NAMES : NULL;
}

static int32_t *place(mfma_params *params, int i)
{
    return (int32_t *)(void *)((char *)params + FIELDS[i].offset);
}

static int32_t number_of(const char *name, const char *const *names, label what)
{
    const int place = place_of_text(name, names);
    char allowed[256];
    if (place < 0)
        fail("mfma:params:value", "%s: params.%s is '%s'; allowed: %s", what.function, what.argument, name,
             list_of(names, allowed, sizeof allowed));
    return place;
}

static mfma_params read_params(const mxArray *in, const char *function)
{
    mfma_params params;
    int i;
    params.size = sizeof params;
    check(mfma_params_default(&params), function);
    if (!mxIsStruct(in))
        fail("mfma:params:type", "%s: params must be a struct", function);
    for (i = 0; i < FIELD_COUNT; i++) {
        const label what = {function, FIELDS[i].name};
        const mxArray *value = field(in, FIELDS[i].name);
        const char *const *names = names_of(FIELDS[i].kind);
        if (value && names)
            *place(&params, i) = number_of(get_text(value, what), names, what);
        else if (value)
            *place(&params, i) = (int32_t)get_integer(value, INT_MIN + 1.0, INT_MAX, what);
        else if (FIELDS[i].kind == OPTIONAL && mxGetField(in, 0, FIELDS[i].name))
            *place(&params, i) = MFMA_NONE;
    }
    return params;
}

mxArray *features_struct(mfma_params *params)
{
    const char *names[FIELD_COUNT];
    mxArray *out;
    int i;
    for (i = 0; i < FIELD_COUNT; i++)
        names[i] = FIELDS[i].name;
    out = mxCreateStructMatrix(1, 1, FIELD_COUNT, names);
    for (i = 0; i < FIELD_COUNT; i++) {
        const int32_t value = *place(params, i);
        const char *const *texts = names_of(FIELDS[i].kind);
        mxArray *shown;
        if (texts)
            shown = mxCreateString(texts[value]);
        else if (FIELDS[i].kind == OPTIONAL && value == MFMA_NONE)
            shown = mxCreateDoubleMatrix(0, 0, mxREAL);
        else
            shown = mxCreateDoubleScalar(value);
        mxSetField(out, 0, names[i], shown);
    }
    return out;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Units
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
static mfma_format toolbox_output(const char *function, mfma_format in, mfma_format asked)
{
    const int fp8 = in == MFMA_FMT_E4M3 || in == MFMA_FMT_E5M2;
    size_t i;
    for (i = 0; i < sizeof BINARY32_ONLY / sizeof *BINARY32_ONLY; i++)
        if (strcmp(BINARY32_ONLY[i].function, function) == 0)
            if ((BINARY32_ONLY[i].tf32 && in == MFMA_FMT_TF32) || (BINARY32_ONLY[i].fp8 && fp8))
                return MFMA_FMT_FP32;
    return asked;
}

/* The output format that is meant when none is named. */
static mfma_format usual_output(mfma_format in)
{
    return in == MFMA_FMT_FP64 ? MFMA_FMT_FP64 : MFMA_FMT_FP32;
}

toolbox_formats toolbox_formats_of(const char *function, const char *in, const char *out)
{
    toolbox_formats f;
    check(mfma_arch_from_name(function, &f.arch), function);
    check_name(mfma_format_from_name(f.arch, in, &f.in), (label){function, "informat"});
    f.out = usual_output(f.in);
    if (out)
        check_name(mfma_format_from_name(f.arch, out, &f.out), (label){function, "outformat"});
    f.out = toolbox_output(function, f.in, f.out);
    return f;
}

mfma_model *toolbox_unit(const char *function, toolbox_formats f)
{
    mfma_model *model;
    check(mfma_model_new(f.arch, f.in, f.in, f.out, &model), function);
    return model;
}

/* What a function calls the formats of its inputs and of its output: the toolbox's own ones as the original does. */
static label input_label(const char *function)
{
    return (label){function, strncmp(function, "mfma_", 5) == 0 ? "format" : "informat"};
}

static label output_label(const char *function)
{
    return (label){function, strncmp(function, "mfma_", 5) == 0 ? "out" : "outformat"};
}

mfma_format format_of_no_unit(const char *name, label what)
{
    mfma_format format = 0;
    const mfma_status status = mfma_format_from_name(MFMA_ARCH_HOPPER, name, &format);
    if (status != MFMA_OK)
        fail(mfma_error_id(status),
             "%s: %s: unknown format '%s'; allowed: fp64 fp32 tf32 fp16 bf16 e4m3 e5m2 e4m3fnuz e5m2fnuz, and their "
             "other names",
             what.function, what.argument, name);
    return format;
}

/* A format by its name on a unit. `custom`: on one of the user's own, whose 8-bit formats are those of `arch`. */
static mfma_format format_of_unit(const char *name, mfma_arch arch, int custom, label what)
{
    mfma_format format;
    if (!custom)
        check_name(mfma_format_from_name(arch, name, &format), what);
    else if (mfma_format_from_name(arch, name, &format) != MFMA_OK)
        format = format_of_no_unit(name, what);
    return format;
}

/* A format of A or B. The original's GEMM knows AMD's names of the 8-bit formats for any unit of the user's own. */
static mfma_format input_format(const mxArray *in, mfma_arch arch, int custom, label what)
{
    static const char *const amd[] = {"fp8", "bf8", NULL};
    const char *name = get_text(in, what);
    const int place = custom ? place_of_text(name, amd) : -1;
    return format_of_unit(place == 0 ? "e4m3" : place == 1 ? "e5m2" : name, arch, custom, what);
}

/* The formats of A and B: one name, or a cell array of two. */
static void input_formats(const mxArray *in, mfma_arch arch, int custom, label what, unit_formats *formats)
{
    if (mxIsCell(in)) {
        if (mxGetNumberOfElements(in) != 2 || !mxGetCell(in, 0) || !mxGetCell(in, 1))
            fail("mfma:arg:value", "%s: %s is a cell array of %.0f elements; allowed: one name, or two in a cell array",
                 what.function, what.argument, (double)mxGetNumberOfElements(in));
        formats->a = input_format(mxGetCell(in, 0), arch, custom, what);
        formats->b = input_format(mxGetCell(in, 1), arch, custom, what);
    } else {
        formats->a = formats->b = input_format(in, arch, custom, what);
    }
}

/* The formats that the options name, or those that are meant where they name none. */
static unit_formats named_formats(const char *function, const mxArray *unit, mfma_arch arch, int custom)
{
    const mxArray *in = field(unit, "format"), *out = field(unit, "out");
    const label what = output_label(function);
    unit_formats f = {MFMA_FMT_FP16, MFMA_FMT_FP16, MFMA_FMT_FP32};
    if (in)
        input_formats(in, arch, custom, input_label(function), &f);
    f.d = usual_output(f.a);
    if (out)
        f.d = format_of_unit(get_text(out, what), arch, custom, what);
    return f;
}

unit_formats formats_named(const char *function, const mxArray *options)
{
    return named_formats(function, options, MFMA_ARCH_HOPPER, 1);
}

mxArray *format_names(unit_formats formats)
{
    mxArray *out = mxCreateCellMatrix(1, 3);
    mxSetCell(out, 0, mxCreateString(mfma_format_name(formats.a)));
    mxSetCell(out, 1, mxCreateString(mfma_format_name(formats.b)));
    mxSetCell(out, 2, mxCreateString(mfma_format_name(formats.d)));
    return out;
}

/* The unit of an instruction. Formats that are named beside it must be its own. */
static mfma_model *unit_of_instruction(const char *function, const mxArray *unit, mfma_arch arch, unit_formats *formats)
{
    const label what = {function, "instruction"};
    const char *name = get_text(field(unit, "instruction"), what);
    const unit_formats named = named_formats(function, unit, arch, 0);
    mfma_model *model;
    check_name(mfma_model_from_instruction(name, arch, &model), what);
    check(mfma_model_formats(model, &formats->a, &formats->b, &formats->d), function);
    if ((field(unit, "format") && (named.a != formats->a || named.b != formats->b)) ||
        (field(unit, "out") && named.d != formats->d)) {
        mfma_model_free(model);
        fail("mfma:arg:value", "%s: instruction %s multiplies %s by %s to %s, and format or out says otherwise", function,
             name, mfma_format_name(formats->a), mfma_format_name(formats->b), mfma_format_name(formats->d));
    }
    return model;
}

mfma_model *described_unit(const char *function, const mxArray *unit, unit_formats *formats)
{
    const mxArray *params = field(unit, "params"), *name = field(unit, "arch"), *fnuz = field(unit, "fnuz");
    const mxArray *called = field(unit, "called");
    const label what = {function, called ? get_text(called, (label){function, "called"}) : "arch"};
    /* Without an architecture, one whose names of 8-bit formats are the ones that are meant. */
    mfma_arch arch = fnuz && get_flag(fnuz, (label){function, "fnuz"}) ? MFMA_ARCH_CDNA3 : MFMA_ARCH_HOPPER;
    mfma_model *model;
    if (name)
        check_name(mfma_arch_from_name(get_text(name, what), &arch), what);
    else if (!params)
        fail("mfma:arg:count", "%s: one of the options arch and params is needed", function);
    if (field(unit, "instruction"))
        return unit_of_instruction(function, unit, arch, formats);
    *formats = named_formats(function, unit, arch, params != NULL);
    if (params) {
        const mfma_params features = read_params(params, function);
        check(mfma_model_from_params(&features, formats->a, formats->b, formats->d, &model), function);
    } else {
        check(mfma_model_new(arch, formats->a, formats->b, formats->d, &model), function);
    }
    return model;
}

/* ------------------------------------------------------------------------------------------------------------------
 * The catalogue
 * --------------------------------------------------------------------------------------------------------------- */

static const char *const EVIDENCE[] = {"measured", "paper", "assumed", "no hardware"};

mxArray *catalogue(const char *function)
{
    const char *names[] = {"arch",     "a",     "b",        "out",    "params",     "instruction", "by_instruction", "evidence",
                           "source",   "measured", "paper", "directed", "golden",   "mismatches",  "mismatch_bound"};
    const int64_t count = mfma_capability_count();
    mxArray *out = mxCreateStructMatrix((mwSize)count, 1, sizeof names / sizeof *names, names);
    int64_t i;
    for (i = 0; i < count; i++) {
        mfma_capability unit;
        mfma_params params;
        unit.size = sizeof unit;
        params.size = sizeof params;
        check(mfma_capability_get(i, &unit), function);
        check(mfma_capability_params(i, &params), function);
        mxSetField(out, (mwIndex)i, "arch", mxCreateString(mfma_arch_name(unit.arch)));
        mxSetField(out, (mwIndex)i, "a", mxCreateString(mfma_format_name(unit.a)));
        mxSetField(out, (mwIndex)i, "b", mxCreateString(mfma_format_name(unit.b)));
        mxSetField(out, (mwIndex)i, "out", mxCreateString(mfma_format_name(unit.d)));
        mxSetField(out, (mwIndex)i, "params", features_struct(&params));
        mxSetField(out, (mwIndex)i, "instruction", mxCreateString(unit.instruction));
        mxSetField(out, (mwIndex)i, "by_instruction", mxCreateLogicalScalar(unit.by_instruction != 0));
        mxSetField(out, (mwIndex)i, "evidence", mxCreateString(EVIDENCE[unit.evidence]));
        mxSetField(out, (mwIndex)i, "source", mxCreateString(unit.source));
        mxSetField(out, (mwIndex)i, "measured", mxCreateDoubleScalar((double)unit.measured));
        mxSetField(out, (mwIndex)i, "paper", mxCreateDoubleScalar((double)unit.paper));
        mxSetField(out, (mwIndex)i, "directed", mxCreateDoubleScalar((double)unit.directed));
        mxSetField(out, (mwIndex)i, "golden", mxCreateDoubleScalar((double)unit.golden));
        mxSetField(out, (mwIndex)i, "mismatches", mxCreateDoubleScalar((double)unit.mismatches));
        mxSetField(out, (mwIndex)i, "mismatch_bound", mxCreateDoubleScalar(unit.mismatch_bound));
    }
    return out;
}
