function [p, fnuz] = custom_params(params, who)
% The features of a custom unit, as the library names them, from a struct as the original toolbox takes it.
%
%   [p, fnuz] = custom_params(params, who): `who` begins the messages; fnuz: are 8-bit formats the FNUZ kinds? Missing
%   fields have the values of CustomTC's help text. The functions mfma_* refuse fields that are not known; those of the
%   original toolbox ignore them, as the original does. One that calls a function mfma_* adds the field original.

if ~isstruct(params) || numel(params) ~= 1
    error('mfma:params:type', '%s: params must be one struct, with fields such as fma, neab and frmode', who);
end

if strncmp(who, 'mfma_', 5) && ~isfield(params, 'original')
    refuse_unknown(params, who);
end

p.scheme = scheme_of(params, who);
grouped = strcmp(p.scheme, 'odd_even_grouping');
aligned = grouped || strcmp(p.scheme, 'global_alignment');

p.fma = whole(params, 'fma', 8, who);
p.interleave = flag(params, 'interleave', false, who);

% neab is infinite in the original's exact model, where it is not used.
p.alignment_bits = 24;
if aligned
    p.alignment_bits = 23 + whole(params, 'neab', 1, who);
end
p.sticky = flag(params, 'stkbitenabled', false, who);
p.late_c = flag(params, 'late_partial_sum', false, who);
p.denormal_products = flag(params, 'denorm_prd', true, who);
p.rounding = mode(params, 'frmode', 'rz', who);
p.alignment_rounding = mode(params, 'armode', 'rz', who);

% As the original computes, unless the paper's numbers are asked for: a shifted sum of products keeps seven bits more,
% and there is one rounding at the end.
late = grouped || (aligned && p.late_c);
if late && ~isfield(params, 'late_sum_bits') && p.alignment_bits + 7 > 48
    error('mfma:params:value', ['%s: params.neab is %d; with c added late a sum keeps 30 + neab bits, at most 48, so ', ...
        'that neab is at most 18, unless params.late_sum_bits is given'], who, p.alignment_bits - 23);
end
p.late_sum_bits = whole(params, 'late_sum_bits', p.alignment_bits + 7 * late, who);
p.late_total_bits = optional(params, 'late_total_bits', [], who);
drop = [];
if grouped && strcmp(p.alignment_rounding, 'rd')
    drop = 25;
end
p.drop_c_beyond = optional(params, 'drop_c_beyond', drop, who);

% The original writes -1024 for "no limit". (NaN is refused as no integer.)
limit = real_scalar(params, 'min_exp_limit', -Inf, who);
p.min_exponent = [];
if ~(limit <= -1024)
    p.min_exponent = whole(params, 'min_exp_limit', 0, who);
end
p.zero_c_exponent = [];
if flag(params, 'c_min_exp_limit', false, who)
    p.zero_c_exponent = optional(params, 'zero_c_exponent', -126, who);
end
p.product_limit = flag(params, 'prd_limit', false, who);
p.in_subnormals = flag(params, 'in_subnormals', true, who);
p.out_subnormals = flag(params, 'out_subnormals', true, who);
p.nan_after_cut = flag(params, 'nan_after_cut', false, who);

fnuz = flag(params, 'fp8_fnuz', false, who);

% Zero's sign and NaN's bits: as the vendor whose units add in this way.
p.conventions = 'amd';
if aligned && ~late
    p.conventions = 'nvidia';
end
if isfield(params, 'conventions')
    p.conventions = choice(params, 'conventions', {'amd', 'nvidia', 'toolbox'}, who);
end
end

function refuse_unknown(params, who)
known = {'fma', 'neab', 'frmode', 'armode', 'stkbitenabled', 'correct_rounding', 'pair_wise_sum', 'global_alignment', ...
    'odd_even_grouping', 'late_partial_sum', 'denorm_prd', 'min_exp_limit', 'c_min_exp_limit', 'prd_limit', ...
    'in_subnormals', 'out_subnormals', 'fp8_fnuz', 'late_sum_bits', 'late_total_bits', 'drop_c_beyond', ...
    'sequential_fma', 'zero_c_exponent', 'interleave', 'nan_after_cut', 'conventions'};
for name = fieldnames(params)'
    if ~any(strcmp(name{1}, known))
        error('mfma:params:value', '%s: params has no field ''%s''; allowed: %s', who, name{1}, strjoin(known, ', '));
    end
end
end

function name = scheme_of(params, who)
% The original looks at its flags in this order; all missing means global alignment.
order = {'sequential_fma', 'correct_rounding', 'pair_wise_sum', 'global_alignment', 'odd_even_grouping'};
names = {'sequential_fma', 'correct_rounding', 'pairwise_sum', 'global_alignment', 'odd_even_grouping'};
others = false;
for i = 1:numel(order)
    if flag(params, order{i}, false, who)
        name = names{i};
        return
    end
    others = others || (isfield(params, order{i}) && i == 4);
end
if others
    error('mfma:params:value', ['%s: none of params.correct_rounding, params.pair_wise_sum, ', ...
        'params.global_alignment and params.odd_even_grouping is 1, so the unit cannot add'], who);
end
name = 'global_alignment';
end

function value = real_scalar(params, name, missing, who)
value = missing;
if isfield(params, name)
    value = params.(name);
    if ~(isnumeric(value) || islogical(value)) || ~isreal(value) || numel(value) ~= 1
        error('mfma:params:type', '%s: params.%s must be a real scalar', who, name);
    end
    value = double(value);
end
end

function value = whole(params, name, missing, who)
value = real_scalar(params, name, missing, who);
if ~isfinite(value) || value ~= fix(value) || abs(value) > double(intmax('int32'))
    error('mfma:params:value', '%s: params.%s is %g; it must be an integer of at most 31 bits', who, name, value);
end
end

function value = optional(params, name, missing, who)
% An integer, or [] for "none".
value = missing;
if isfield(params, name) && ~isempty(params.(name))
    value = whole(params, name, 0, who);
elseif isfield(params, name)
    value = [];
end
end

function value = flag(params, name, missing, who)
value = real_scalar(params, name, double(missing), who);
if ~(value == 0 || value == 1)
    error('mfma:params:value', '%s: params.%s is %g; it must be 0 or 1', who, name, value);
end
value = value == 1;
end

function value = mode(params, name, missing, who)
value = missing;
if isfield(params, name)
    value = choice(params, name, {'rne', 'rz', 'rd', 'ru'}, who);
end
end

function value = choice(params, name, allowed, who)
value = params.(name);
if isa(value, 'string') && isscalar(value)
    value = char(value);
end
if ~ischar(value) || ~any(strcmpi(value, allowed))
    error('mfma:params:value', '%s: params.%s must be one of %s', who, name, sprintf('''%s'' ', allowed{:}));
end
value = lower(value);
end
