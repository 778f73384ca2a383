function report = mfma_validate(subject, varargin)
%MFMA_VALIDATE  Compare a matrix unit with something else on random inputs, and say how sure that makes.
%
%   report = MFMA_VALIDATE(subject, name, value, ...) compares the unit that the options describe with subject:
%
%       a function handle   d = subject(a, b, c), the unit under test: hardware, another model. a and b are K-by-N, c is
%                           1-by-N, d must be 1-by-N with d(i) = c(i) + a(:,i)' * b(:,i) as that unit computes it. It gets
%                           numbers of the unit's formats, and must return numbers of the output format
%       text                an architecture or GPU that has the same formats, or 'reference': the paper's algorithms step by
%                           step, with which the fast code of the library is compared
%       a struct            features, as CustomTC takes them
%       []                  with option 'dump': a file or folder of inputs and results
%
%   Without an output it prints what it found. Options, in any order, are 'arch', 'format', 'out', 'instruction', 'params',
%   as for mfma_gemm; 'sampler', 'seed', 'first' and 'k', as for mfma_sample; and
%
%       'count'       number of cases [1e5 for a function, else 1e6]
%       'stop_after'  end after so many mismatches [never]
%       'keep'        mismatches to return [5]
%       'raw'         true: the function gets and returns encodings (uint8 to uint64) [false]
%       'any_nan'     true: any two NaNs are equal [true for a function of numbers, else false]
%       'epsilon'     the bound holds with probability 1 - epsilon [1e-6]
%       'dump'        name of a file of test vectors, a binary dump, or a folder as MATLAB Tensor Core has them
%       'ignore_c'    true: take c as 0 whatever the dump has [false]
%       'progress'    as for mfma_gemm [false]
%
%   report has the fields
%
%       cases, mismatches    how many
%       bound, epsilon       a random case of this sampler is a mismatch with at most this probability (paper, section 5.4),
%                            with probability 1 - epsilon; 1 where stop_after ended it
%       next                 number of the next case: 'first' of a run that goes on
%       index                numbers of the first mismatches, from 0
%       a, b, c              their inputs as encodings, a column each (empty for dumps)
%       expected, got        results of the unit and of the subject, as encodings
%
%   Example
%       A unit that forgets its second rounding is found within some thousand cases:
%
%           unit = {'arch', 'MI300X', 'format', 'fp16'};
%           info = mfma_info('MI300X', 'fp16');
%           params = info.params;
%           params.late_total_bits = [];
%           report = mfma_validate(params, unit{:}, 'sampler', 'directed', 'stop_after', 1);
%           report.mismatches
%
%       prints
%
%           ans = 1
%
%   Source: the paper's section 5.
%
%   See also mfma_sample, mfma_info, mfma_dot.

who = 'mfma_validate';
if nargin < 1
    error('mfma:arg:count', '%s: %d of at least 1 argument given: subject, name, value, ...', who, nargin);
end
names = {'arch', 'format', 'out', 'instruction', 'params', 'sampler', 'seed', 'first', 'k', 'count', 'stop_after', 'keep', ...
    'raw', 'any_nan', 'epsilon', 'dump', 'ignore_c', 'progress'};
unit = unit_options(who, names, varargin, {'subject', subject});
for name = {'raw', 'any_nan', 'ignore_c'}
    if isfield(unit, name{1})
        unit.(name{1}) = yes_or_no(who, unit.(name{1}), name{1});
    end
end
mfma_mex('bound', who, 0, 0, option(unit, 'epsilon', 1e-6)); % refuses what is no probability, before any work
if isfield(unit, 'dump')
    if ~isempty(subject)
        error('mfma:arg:value', '%s: subject must be [] where there is a dump', who);
    end
    without(who, unit, {'sampler', 'seed', 'first', 'k', 'count', 'stop_after', 'raw'}, 'there is a dump');
    report = by_library(who, unit, []);
elseif isa(subject, 'function_handle')
    without(who, unit, {'ignore_c'}, 'there is no dump');
    report = by_function(who, unit, subject);
elseif isstruct(subject)
    without(who, unit, {'ignore_c', 'raw'}, 'subject is a struct');
    report = by_library(who, unit, unit_like(who, unit, subject, 'subject'));
elseif ischar(subject) || (isa(subject, 'string') && isscalar(subject))
    without(who, unit, {'ignore_c', 'raw'}, 'subject is a name');
    if any(strcmpi(subject, 'reference'))
        report = by_library(who, unit, []);
    else
        report = by_library(who, unit, unit_like(who, unit, subject, 'subject'));
    end
else
    error('mfma:arg:type', ['%s: subject is of class %s; it must be a function handle, a name, a struct of features, or [] ', ...
        'with the option dump'], who, class(subject));
end
if nargout == 0
    show(report);
    clear report
end
end

function without(who, unit, names, why)
% Refuses options that would do nothing.
for name = names
    if isfield(unit, name{1})
        error('mfma:arg:value', '%s: option %s does nothing where %s', who, name{1}, why);
    end
end
end

function report = by_library(who, unit, other)
if isfield(unit, 'progress') && isa(unit.progress, 'function_handle')
    f = unit.progress;
    unit.progress = @(done) tell(f, done);
end
found = mfma_mex('validate', who, unit, other);
report = completed(found.cases, found.mismatches, found.bound, unit);
report.next = found.next;
report.index = found.index;
report.expected = found.expected;
report.got = found.got;
if ~isfield(unit, 'dump')
    [report.a, report.b, report.c] = inputs(who, unit, found.index);
end
end

function [a, b, c] = inputs(who, unit, index)
% Cases by their numbers.
[a, b, c] = mfma_mex('sample', who, unit, 0);
for i = 1:numel(index)
    unit.first = index(i);
    [a(:, i), b(:, i), c(i)] = mfma_mex('sample', who, unit, 1);
end
end

function report = by_function(who, unit, subject)
raw = option(unit, 'raw', 0);
any_nan = option(unit, 'any_nan', ~raw);
count = whole(who, unit, 'count', 1e5);
keep = whole(who, unit, 'keep', 5);
stop_after = whole(who, unit, 'stop_after', 0);
first = whole(who, unit, 'first', 0);
if count > 2^53 - first
    error('mfma:arg:value', '%s: first + count is more than 2^53', who);
end
formats = mfma_mex('formats', who, unit);
[a, b, c] = mfma_mex('sample', who, unit, 0);
report = completed(0, 0, 1, unit);
[report.a, report.b, report.c, report.expected, report.got] = deal(a, b, c, c, c);
report.index = zeros(1, 0);
stopped = false;
done = 0;
while done < count && ~stopped
    n = min(16384, count - done);
    unit.first = first + done;
    [a, b, c] = mfma_mex('sample', who, unit, n);
    as_raw = unit;
    as_raw.raw = true;
    [~, expected] = mfma_mex('dot', who, a, b, c, as_raw);
    got = answer_of(who, subject, raw, formats, a, b, c);
    wrong = got ~= expected;
    if any_nan
        wrong(wrong) = ~(isnan(mfma_decode(got(wrong), formats{3})) & isnan(mfma_decode(expected(wrong), formats{3})));
    end
    at = find(wrong);
    if stop_after > 0 && report.mismatches + numel(at) >= stop_after
        at = at(1:stop_after - report.mismatches);
        n = at(end);
        stopped = true;
    end
    report.mismatches = report.mismatches + numel(at);
    at = at(1:min(end, keep - numel(report.index)));
    report.index = [report.index, first + done + at - 1];
    report.a = [report.a, a(:, at)];
    report.b = [report.b, b(:, at)];
    report.c = [report.c, c(at)];
    report.expected = [report.expected, expected(at)];
    report.got = [report.got, got(at)];
    done = done + n;
    if ~goes_on(who, unit, done / count)
        break
    end
end
report.cases = done;
report.next = first + done;
if ~stopped
    report.bound = mfma_mex('bound', who, done, report.mismatches, report.epsilon);
end
end

function yes = goes_on(who, unit, done)
% Tells the progress option how far it is.
yes = true;
if ~isfield(unit, 'progress') || isempty(unit.progress)
    return
end
if isa(unit.progress, 'function_handle')
    yes = logical(unit.progress(done));
elseif unit.progress
    fprintf('%s: %d %% done\n', who, floor(100 * done));
end
end

function value = option(unit, name, missing)
value = missing;
if isfield(unit, name) && ~isempty(unit.(name))
    value = unit.(name);
end
end

function value = whole(who, unit, name, missing)
value = option(unit, name, missing);
if ~isnumeric(value) || numel(value) ~= 1 || value ~= fix(value) || value < 0 || value > 2^53
    error('mfma:arg:value', '%s: option %s must be an integer, 0 or more', who, name);
end
value = double(value);
end

function report = completed(cases, mismatches, bound, unit)
report = struct('cases', cases, 'mismatches', mismatches, 'bound', bound, 'epsilon', option(unit, 'epsilon', 1e-6), ...
    'next', 0, 'index', [], 'a', [], 'b', [], 'c', [], 'expected', [], 'got', []);
end

function show(report)
fprintf('%.0f cases, %.0f mismatches; probability of one at most %.3g (but for %.3g)\n', report.cases, report.mismatches, ...
    report.bound, report.epsilon);
for i = 1:numel(report.index)
    fprintf('case %.0f: expected %s, got %s\n', report.index(i), hex_words(report.expected(i)), hex_words(report.got(i)));
    if ~isempty(report.a)
        fprintf('  a=%s\n  b=%s\n  c=%s\n', hex_words(report.a(:, i)), hex_words(report.b(:, i)), hex_words(report.c(i)));
    end
end
end

%!test  % the example
%! unit = {'arch', 'MI300X', 'format', 'fp16'};
%! params = mfma_info ('MI300X', 'fp16').params;
%! params.late_total_bits = [];
%! report = mfma_validate (params, unit{:}, 'sampler', 'directed', 'stop_after', 1);
%! assert (report.mismatches, 1);  assert (report.cases < 1e6);  assert (report.bound, 1);
%! [~, e] = mfma_dot (report.a, report.b, report.c, unit{:}, 'raw', true);
%! [~, g] = mfma_dot (report.a, report.b, report.c, 'params', params, 'raw', true);
%! assert ([report.expected, report.got], [e, g]);
%!test  % the reference, and the bound of Table 2
%! report = mfma_validate ('reference', 'arch', 'MI300X', 'format', 'bf16', 'count', 20000);
%! assert ([report.cases, report.mismatches, report.next], [20000, 0, 20000]);
%! assert (report.bound, 1 - 1e-6 ^ (1 / 20001), 1e-15);
%!test  % another unit
%! report = mfma_validate ('MI100', 'arch', 'MI300X', 'count', 10000, 'keep', 3);
%! assert (report.mismatches > 10);  assert (size (report.a), [16 3]);
%!test  % a function of numbers: the unit itself, and one that forgets c
%! unit = {'arch', 'H100', 'format', 'e4m3', 'count', 3000};
%! report = mfma_validate (@(a, b, c) mfma_dot (a, b, c, unit{1:4}), unit{:});
%! assert ([report.cases, report.mismatches], [3000 0]);
%! report = mfma_validate (@(a, b, c) mfma_dot (a, b, 0 * c, unit{1:4}), unit{:}, 'sampler', 'exponent-mantissa');
%! assert (report.mismatches > 1000);  assert (numel (report.index), 5);
%!function d = bits_of (a, b, c)
%!  [~, d] = mfma_dot (a, b, c, 'arch', 'MI100', 'raw', true);
%!  d(7) = bitxor (d(7), uint32 (1));
%!endfunction
%!test  % a function of encodings
%! report = mfma_validate (@bits_of, 'arch', 'MI100', 'raw', true, 'count', 100, 'first', 50);
%! assert (report.mismatches, 1);  assert (report.index, 56);
%! assert (report.got, bitxor (report.expected, uint32 (1)));
%!test  % parts add up
%! run = @(first, count) mfma_validate ('MI100', 'arch', 'MI300X', 'first', first, 'count', count).mismatches;
%! assert (run (0, 9000), run (0, 1234) + run (1234, 9000 - 1234));
%!test  % a dump
%! file = [tempname(), '.txt'];
%! fid = fopen (file, 'w');  fprintf (fid, '2 a=3c00,3c00 b=3c00,4000 c=00000000 d=40400000\n1 a=3c00 b=3c00 c=00000000 d=00000000\n');  fclose (fid);
%! report = mfma_validate ([], 'arch', 'MI300X', 'dump', file);
%! assert ([report.cases, report.mismatches, report.index], [2 1 1]);
%! assert ([report.expected, report.got], uint32 ([0x3f800000, 0]));
%! delete (file);
%!error id=mfma:file:io mfma_validate ([], 'arch', 'MI300X', 'dump', 'no such file.txt')
%!error id=mfma:arg:count mfma_validate ()
%!error <mfma_validate: subject must be one row> mfma_validate ('', 'arch', 'MI100')
%!error <mfma_validate: subject: unknown> mfma_validate ('MI1', 'arch', 'MI100')
%!error <returns complex numbers> mfma_validate (@(a, b, c) c + 1i, 'arch', 'MI100')
%!error <returns 2-by-1; it must return 1-by-2> mfma_validate (@(a, b, c) c.', 'arch', 'MI100', 'count', 2)
%!error <option 'count' is given twice> mfma_validate ('reference', 'arch', 'MI100', 'count', 2, 'Count', 3)
%!error <option any_nan is 2> mfma_validate ('reference', 'arch', 'MI100', 'any_nan', 2)
%!assert (mfma_validate ('reference', 'arch', 'MI100', 'count', 10, 'k', [], 'raw', [], 'sampler', []).cases, 10)
%!error id=mfma:arg:type mfma_validate (5, 'arch', 'MI100')
%!error id=mfma:arg:value mfma_validate (@(a, b, c) c + 1e-30, 'arch', 'MI100', 'sampler', 'exponent-mantissa')
%!error id=mfma:arg:size mfma_validate (@(a, b, c) 1, 'arch', 'MI100')
%!error id=mfma:arg:type mfma_validate (@(a, b, c) 'x', 'arch', 'MI100')
%!error id=mfma:arg:value mfma_validate ('reference', 'arch', 'MI100', 'sampler', 'nice')
%!error id=mfma:arg:value mfma_validate ('reference', 'arch', 'MI100', 'epsilon', 2)
%!error id=mfma:arg:value mfma_validate (@(a, b, c) error ('asked'), 'arch', 'MI100', 'epsilon', 2)
%!error id=mfma:arg:value mfma_validate ([], 'arch', 'MI300X', 'dump', 'any.txt', 'seed', 3)
%!error id=mfma:arg:value mfma_validate ('reference', 'arch', 'MI300X', 'raw', true)
%!error id=mfma:arg:value mfma_validate (@(a, b, c) c, 'arch', 'MI300X', 'first', 2^53, 'count', 1)
%!error id=mfma:arg:value mfma_validate ('reference', 'arch', 'MI300X', 'first', 2^53 - 5, 'count', 6)
%!error id=mfma:format:unsupported mfma_validate ('MI100', 'arch', 'MI300X', 'format', 'fp8')
