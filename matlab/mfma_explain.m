function report = mfma_explain(varargin)
%MFMA_EXPLAIN  Why a dot product has the result that it has, and why two units differ.
%
%   report = MFMA_EXPLAIN(a, b, c, name, value, ...) computes c + a' * b step by step, as a matrix unit does: products,
%   what they are aligned to, what each step loses, roundings. a and b are vectors of K elements, c is a scalar, or [] for
%   0. Without an output it prints the steps. Options, in any order, are 'arch', 'format', 'out', 'instruction' and
%   'params', as for mfma_gemm, and
%
%       'raw'      true: a, b and c are encodings, as mfma_dot takes them; false: numbers, rounded to the formats [false]
%       'against'  another unit for the same formats, whose result is explained too, with the features that make the
%                  difference: an architecture or GPU, or a struct of features as CustomTC takes them; missing ones have
%                  the defaults there
%       'seed'     seed of the search, where a, b and c are left out [1]
%
%   report = MFMA_EXPLAIN(name, value, ..., 'against', other), without a, b and c, searches for a short dot product on which
%   the two units differ, and explains that one.
%
%   report has the fields
%
%       d, bits       the result, and its encoding
%       text          the steps as text
%       steps         struct array, one element a step:
%                     kind ('block', 'product', 'max_exponent', 'aligned', 'sum', 'rounded', 'result', ...); item ('p3' is
%                     the third product, 'c', 'sum', 'total', 'd', ...); block, from 1; exponent, where one is involved; unit,
%                     the weight of the last bit that is kept, as a power of two; value before and after; lost, their
%                     difference; bits, the encoding of the result; the step in words, text
%       a, b, c       the inputs as encodings
%       other         with 'against': d, bits, text and steps of the other unit
%       causes        with 'against': a cell array; each element is a cell array of features (names as in docs/probe.md) that,
%                     taken over from the other unit, give its result; empty where the results are the same
%
%   Example
%       report = mfma_explain([1 2^-12], [1 2^-12], -1, 'arch', 'V100', 'against', 'H100');
%       fprintf('%g or %g: %s\n', report.d, report.other.d, strjoin(report.causes{1}, ', '))
%
%   prints
%
%       0 or 5.96046e-08: alignment_bits
%
%   Source: the steps are those of the paper's algorithms, as the library computes them; docs/probe.md.
%
%   See also mfma_probe, mfma_validate, mfma_dot, mfma_info.

who = 'mfma_explain';
given = find(cellfun(@(x) ischar(x) || isa(x, 'string'), varargin), 1) - 1;
if isempty(given)
    given = nargin;
end
if nargin == 0
    error('mfma:arg:count', '%s: a and b are missing, or options with against among them', who);
elseif given == 1
    error('mfma:arg:count', '%s: b is missing; a, b and c come before the options, c = [] for 0', who);
elseif given > 3
    error('mfma:arg:count', '%s: %d arguments come before the options; only a, b and c do', who, given);
end
names = {'arch', 'format', 'out', 'instruction', 'params', 'raw', 'against', 'seed'};
unit = unit_options(who, names, varargin(given + 1:end), {});
raw = isfield(unit, 'raw') && yes_or_no(who, unit.raw, 'raw');
other = [];
if isfield(unit, 'against')
    if ~(ischar(unit.against) || isa(unit.against, 'string') || isstruct(unit.against))
        error('mfma:arg:type', '%s: option against is of class %s; it must be a name or a struct of features', who, ...
            class(unit.against));
    end
    other = unit_like(who, unit, unit.against, 'against');
elseif given == 0
    error('mfma:arg:count', '%s: a, b and c are needed where there is no option against', who);
end
if given == 0
    seed = 1;
    if isfield(unit, 'seed')
        seed = unit.seed;
    end
    [a, b, c] = mfma_mex('separate', who, unit, other, seed);
else
    if isfield(unit, 'seed')
        error('mfma:arg:value', '%s: option seed does nothing where a, b and c are given', who);
    end
    [a, b, c] = inputs(who, unit, raw, varargin{1:given});
end
report = struct('d', [], 'bits', [], 'text', '', 'steps', [], 'a', a, 'b', b, 'c', c);
if isempty(c)
    report.text = sprintf('No dot product was found on which the two units differ.\n');
else
    report = explained(who, report, unit);
end
if ~isempty(other)
    report = compared(who, report, unit, other);
end
if nargout == 0
    fprintf('%s', report.text);
    if ~isempty(other) && ~isempty(c)
        fprintf('\n%s\n%s', report.other.text, blame(report));
    end
    clear report
end
end

function [a, b, c] = inputs(who, unit, raw, a, b, c)
% The user's case as encodings.
if nargin < 6 || (isnumeric(c) && isempty(c))
    c = 0;
end
for each = {'a', 'b', 'c'; a, b, c}
    if ~(isnumeric(each{2}) || islogical(each{2}))
        error('mfma:arg:type', '%s: %s is of class %s; allowed: double, single, integer or logical', who, each{1}, class(each{2}));
    elseif ndims(each{2}) > 2 %#ok<ISMAT>
        error('mfma:arg:dims', '%s: %s has %d dimensions; a and b must be vectors, c a scalar', who, each{1}, ndims(each{2}));
    elseif ~any(size(each{2}) == 1) && ~isequal(size(each{2}), [0 0])
        error('mfma:arg:size', '%s: %s is %d-by-%d; a and b must be vectors, c a scalar', who, each{1}, size(each{2}));
    end
end
if numel(a) ~= numel(b) || numel(c) ~= 1
    error('mfma:arg:size', '%s: a has %d elements, b has %d and c has %d; a and b must have the same number, and c one', who, ...
        numel(a), numel(b), numel(c));
end
a = a(:);
b = b(:);
if raw
    % Checked, and made unsigned integers.
    [a, b, c] = mfma_mex('encodings', who, unit, a, b, c);
else
    [a, b, c] = unit_encodings(who, unit, a, b, c);
end
end

function report = explained(who, report, unit)
formats = mfma_mex('formats', who, unit);
[report.text, report.steps, report.bits] = mfma_mex('explain', who, unit, report.a, report.b, report.c);
report.d = mfma_decode(report.bits, formats{3});
end

function report = compared(who, report, unit, other)
part = struct('d', [], 'bits', [], 'text', '', 'steps', []);
report.other = part;
report.causes = {};
if isempty(report.c)
    return
end
[part.a, part.b, part.c] = deal(report.a, report.b, report.c);
report.other = rmfield(explained(who, part, other), {'a', 'b', 'c'});
causes = mfma_mex('attribute', who, unit, other, report.a, report.b, report.c);
report.causes = cellfun(@(names) strsplit(names, ' '), {causes.features}, 'UniformOutput', false);
end

function text = blame(report)
if isempty(report.causes)
    text = sprintf('The results are the same.\n');
    return
end
ways = cellfun(@(names) strjoin(names, ' with '), report.causes, 'UniformOutput', false);
text = sprintf('What makes the difference: %s\n', strjoin(ways, '; or '));
end

%!test  % the example
%! report = mfma_explain ([1 2^-12], [1 2^-12], -1, 'arch', 'V100', 'against', 'H100');
%! assert (sprintf ('%g or %g: %s\n', report.d, report.other.d, strjoin (report.causes{1}, ', ')), ...
%!         sprintf ("0 or 5.96046e-08: alignment_bits\n"));
%!test  % steps
%! a = hex2dec ({'8c00'; '8be0'});  b = hex2dec ({'0c00'; '0800'});
%! report = mfma_explain (a, b, hex2dec ('3f800000'), 'arch', 'MI300X', 'format', 'fp16', 'raw', true);
%! assert (report.bits, uint32 (0x3f7fffff));  assert (report.a, uint16 (a));
%! kinds = {report.steps.kind};
%! assert (sum (strcmp (kinds, 'product')), 2);
%! products = report.steps(strcmp (kinds, 'product'));
%! assert ([products.after], -[2^-24, 2^-25 * (2^-1 + 2^-6 * 31) ] .* [1 1] , 1e-9);
%! assert ({products.item}, {'p1', 'p2'});
%! assert (report.steps(end).bits, report.bits);  assert (isempty (report.steps(1).exponent));
%! lines = strsplit (strtrim (report.text), "\n");
%! assert (numel (lines), numel (report.steps) + 1);
%! assert (strtrim (lines{end}), report.steps(end).text);
%!test  % a second unit by its features; no difference
%! params = mfma_info ('H100', 'fp16').params;
%! report = mfma_explain (1:4, 1:4, 0.5, 'arch', 'H100', 'against', params);
%! assert (report.d, 30.5);  assert (report.other.d, 30.5);  assert (isempty (report.causes));
%! params.neab = 0;
%! report = mfma_explain ([1 2^-12], [1 2^-12], -1, 'arch', 'H100', 'against', params);
%! assert (report.causes, {{'alignment_bits'}});
%!test  % inputs that tell two units apart
%! unit = {'arch', 'MI300X', 'format', 'bf16'};
%! report = mfma_explain (unit{:}, 'against', 'CDNA3-toolbox');
%! [~, x] = mfma_dot (report.a, report.b, report.c, unit{:}, 'raw', true);
%! [~, y] = mfma_dot (report.a, report.b, report.c, 'arch', 'CDNA3-toolbox', 'format', 'bf16', 'raw', true);
%! assert (x != y);  assert ([report.bits, report.other.bits], [x, y]);
%! assert (! isempty (report.causes));
%! again = mfma_explain (unit{:}, 'against', 'CDNA3-toolbox', 'seed', 1);
%! assert (again.a, report.a);
%! assert (isempty (mfma_explain ('arch', 'MI300A', 'against', 'MI300X').c));
%!test  % every pair of formats is rounded as the products are
%! units = mfma_info ();
%! a = [1/3; 1 + 2^-11 + 2^-30; -2/7; 1e-7];  b = [3; 1/7; 1/9; 1];  c = 1/3 + 2^-26;
%! for u = units(! [units.by_instruction])'
%!   unit = {'arch', u.arch, 'format', {u.a, u.b}, 'out', u.out};
%!   assert (mfma_explain (a, b, c, unit{:}).d, mfma_dot (a, b, c, unit{:}));
%! end
%!test
%! text = evalc ("mfma_explain (1, 1, [], 'arch', 'MI100')");
%! assert (strtrim (strsplit (strtrim (text), "\n"){end}), 'd = 3f800000 (1.0)');
%!error <mfma_explain: a is complex> mfma_explain (1i, 1, 1, 'arch', 'MI100')
%!error <mfma_explain: b is of class cell> mfma_explain (1, {1}, 1, 'arch', 'MI100')
%!error <mfma_explain: c is of class cell> mfma_explain (1, 1, {}, 'arch', 'MI100')
%!error <mfma_explain: against must be one row> mfma_explain (1, 1, 1, 'arch', 'MI100', 'against', '')
%!error <mfma_explain: against: unknown> mfma_explain (1, 1, 1, 'arch', 'MI100', 'against', 'MI1')
%!error <option 'arch' is given twice> mfma_explain (1, 1, 1, 'arch', 'MI100', 'ARCH', 'MI200')
%!error <option raw is 2> mfma_explain (1, 1, 1, 'arch', 'MI100', 'raw', 2)
%!error id=mfma:arg:count mfma_explain ()
%!error id=mfma:arg:count mfma_explain (1, 'arch', 'MI100')
%!error id=mfma:arg:count mfma_explain ('arch', 'MI100')
%!error id=mfma:arg:count mfma_explain (1, 1, 1)
%!error id=mfma:arg:size mfma_explain ([1 2], 1, 1, 'arch', 'MI100')
%!error id=mfma:arg:size mfma_explain (1, 1, [1 2], 'arch', 'MI100')
%!error id=mfma:arg:value mfma_explain (1, 1, 1, 'arch', 'MI100', 'seed', 4)
%!error id=mfma:arg:value mfma_explain (1.5, 1, 1, 'arch', 'MI100', 'raw', true)
%!error id=mfma:arg:type mfma_explain (1, 1, 1, 'arch', 'MI100', 'against', 5)
%!error id=mfma:arch:unknown mfma_explain (1, 1, 1, 'arch', 'MI100', 'against', 'MI1')
%!error id=mfma:format:unsupported mfma_explain (1, 1, 1, 'arch', 'MI300X', 'format', 'xf32', 'against', 'MI100')
