function d = Generic_BFMA_TC(a_block, b_block, c, model_params)
%GENERIC_BFMA_TC  One block of a matrix unit of the user's own design, under the original toolbox's name.
%
%   d = Generic_BFMA_TC(a_block, b_block, c, model_params) adds the products of two vectors and c, all as one block,
%   whatever model_params.fma says. The fields of model_params are those of CustomTC's params, and the widths that the
%   original's GEMM adds to them:
%
%       NoExpBitsIn, NoManBitsIn     exponent and stored significand bits of the inputs: 5 and 10 (fp16), 8 and 7 (bf16),
%                                    8 and 10 (tf32), 4 and 3 (e4m3), 5 and 2 (e5m2), 8 and 23 (fp32). Without
%                                    NoManBitsIn the widest of these is meant
%       NoExpBitsOut, NoManBitsOut   the same of c and d: 8 and 23 (fp32) or 5 and 10 (fp16); NoManBitsOut may be smaller
%                                    by -neab where neab is negative
%
%   The inputs should be numbers of their formats; others are rounded, as by mfma_dot. The folder above this one must be
%   on the path.
%
%   Example
%       p = struct('neab', 1, 'NoExpBitsIn', 5, 'NoManBitsIn', 10, 'NoExpBitsOut', 8, 'NoManBitsOut', 23);
%       d = Generic_BFMA_TC([1 2^-12 2^-12], [1 2^-12 2^-12], 0, p);
%       fprintf('%.17g\n', d)
%
%   prints
%
%       1.0000001192092896
%
%   Source: Accurate Models of AMD Matrix Cores, section 7; MATLAB Tensor Core v0.6, Generic_BFMA_TC.
%
%   See also GEMM, CustomTC, mfma_dot.

if nargin < 4
    error('mfma:arg:count', 'Generic_BFMA_TC: %d of 4 arguments given: a_block, b_block, c, model_params', nargin);
end
if ~exist('mfma_dot', 'file')
    error('mfma:setup:path', 'Generic_BFMA_TC: the folder above %s must be on the path too', ...
        fileparts(mfilename('fullpath')));
end
if ~isstruct(model_params) || numel(model_params) ~= 1
    error('mfma:params:type', 'Generic_BFMA_TC: model_params must be one struct');
end
if numel(a_block) ~= numel(b_block)
    error('mfma:arg:size', 'Generic_BFMA_TC: a_block has %d elements and b_block %d', numel(a_block), numel(b_block));
end

in = input_format(model_params);
out = output_format(model_params);
a = a_block(:);
b = b_block(:);
% One block: zero products fill it up where the way of adding needs an even number, or a power of two.
count = 2^nextpow2(max(numel(a), 2));
if ~(isfield(model_params, 'pair_wise_sum') && any(model_params.pair_wise_sum))
    count = 2 * ceil(max(numel(a), 1) / 2);
end
a(end + 1:count, 1) = 0;
b(end + 1:count, 1) = 0;
model_params.fma = count;
model_params.original = true; % fields that are not known are ignored
try
    d = mfma_dot(a, b, c, 'params', model_params, 'format', in, 'out', out);
catch problem
    message = regexprep(problem.message, '^mfma_dot: ([ab]) ', 'mfma_dot: $1_block ');
    error(problem.identifier, '%s', regexprep(message, '^mfma_dot', 'Generic_BFMA_TC'));
end
end

function format = input_format(p)
e = width(p, 'NoExpBitsIn', []);
switch e
    case 4,    known = {3, 'e4m3'};
    case 5,    known = {10, 'fp16'; 2, 'e5m2'};
    case 8,    known = {23, 'fp32'; 10, 'tf32'; 7, 'bf16'};
    otherwise, known = {};
end
m = width(p, 'NoManBitsIn', -1);
for i = 1:size(known, 1)
    if m == -1 || m == known{i, 1}
        format = known{i, 2};
        return
    end
end
error('mfma:params:value', 'Generic_BFMA_TC: no input format has %d exponent and %d significand bits', e, m);
end

function format = output_format(p)
e = width(p, 'NoExpBitsOut', []);
m = width(p, 'NoManBitsOut', []);
fewer = 0;
if isfield(p, 'neab') && p.neab < 0
    fewer = p.neab;
end
if e == 8 && (m == 23 || m == 23 + fewer)
    format = 'fp32';
elseif e == 5 && (m == 10 || m == 10 + fewer)
    format = 'fp16';
else
    error('mfma:params:value', 'Generic_BFMA_TC: no output format has %d exponent and %d significand bits', e, m);
end
end

function value = width(p, name, missing)
value = missing;
if isfield(p, name)
    value = p.(name);
end
if ~isnumeric(value) || numel(value) ~= 1
    error('mfma:params:value', 'Generic_BFMA_TC: model_params.%s must be a number of bits', name);
end
value = double(value);
end

%!test
%! p = struct ('neab', 1, 'NoExpBitsIn', 5, 'NoManBitsIn', 10, 'NoExpBitsOut', 8, 'NoManBitsOut', 23);
%! assert (Generic_BFMA_TC ([1 2^-12 2^-12], [1 2^-12 2^-12], 0, p), 1.0000001192092896);
%! assert (Generic_BFMA_TC ([], [], 5, p), 5);
%!test  % CDNA 2 and CDNA 3's ways of adding, with any number of elements
%! p = struct ('NoExpBitsIn', 8, 'NoExpBitsOut', 8, 'NoManBitsOut', 23, 'frmode', 'rne', 'pair_wise_sum', 1);
%! assert (Generic_BFMA_TC (1:5, ones (1, 5), 1, p), 16);
%! p = struct ('NoExpBitsIn', 4, 'NoExpBitsOut', 8, 'NoManBitsOut', 23, 'frmode', 'rne', 'armode', 'rd', ...
%!   'global_alignment', 0, 'odd_even_grouping', 1, 'fp8_fnuz', 1);
%! assert (Generic_BFMA_TC (1:5, ones (1, 5), 1, p), 16);
%!error id=mfma:params:value Generic_BFMA_TC (1, 1, 1, struct ('NoExpBitsIn', 6))
%!error <^Generic_BFMA_TC: a_block is > Generic_BFMA_TC ({1}, 1, 1, struct ('NoExpBitsIn', 5, 'NoExpBitsOut', 8, 'NoManBitsOut', 23))
%!error id=mfma:arg:size Generic_BFMA_TC (1, [1 2], 1, struct ('NoExpBitsIn', 5))
%!error id=mfma:arg:count Generic_BFMA_TC (1, 1, 1)
