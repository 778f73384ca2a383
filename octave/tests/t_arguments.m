function t_arguments()
% What users pass: classes, sizes, names, and what is refused, for every function, with identifiers.
for u = toolbox_functions()
    f = str2func(u.name);
    formats = function_formats(u.name, 'fp16', 'fp32');
    call = @(alpha, A, B, beta, C) f(alpha, A, B, beta, C, formats{:});
    classes(call, u.name);
    addends(call, u.name);
    refused(call, u.name);
    names(u);
    counts(f, u.name, formats);
end
unknown_fields();
vectors();
missing();
no_such_unit();
end

function classes(call, name)
A = [1 2; 3 4];
wanted = [4 6; 8 10];  % 2*A*eye(2) + 2
for make = {@double, @single, @int8, @uint8, @int16, @uint16, @int32, @uint32, @int64, @uint64}
    m = make{1};
    D = call(m(2), m(A), m(eye(2)), m(1), m(2 * ones(2)));
    check(isequal(D, wanted) && isa(D, 'double'), '%s: arguments of class %s', name, func2str(m));
end
D = call(true, logical(eye(2)), A, false, true(2));
check(isequal(D, A), '%s: logical arguments', name);
check(isequal(call(1, sparse(A), sparse(eye(2)), 1, sparse([0 1; 0 0])), [1 3; 3 4]), '%s: sparse matrices', name);
check(isequal(call(1, sparse(A > 1), eye(2), 0, []), double(A > 1)), '%s: sparse logical matrices', name);
check(isequal(call(1, 1:3, (1:3)', 0, []), 14), '%s: ranges', name);
check(isequal(call(1, A, eye(2), 0, []), A), '%s: diagonal matrices', name);
end

function addends(call, name)
A = [1 2; 3 4];
check(isequal(call(1, A, A, 1, []), A * A), '%s: C = []', name);
check(isequal(call(1, A, A, 1, 0), A * A), '%s: C = 0', name);
check(isequal(call(1, A, A, 1, single(0)), A * A), '%s: C = single(0)', name);
check(isequal(call(1, A, A, 0, NaN(2)), A * A), '%s: beta = 0 does not read C', name);
check(isequal(call(1, A, A, 2, ones(2)), A * A + 2), '%s: beta*C', name);
check(isequal(call(1, 1:2, (1:2)', 3, 10), 35), '%s: C of size 1-by-1', name);
check(isnan(call(1, 1, 1, Inf, 0)), '%s: C = 0 of size 1-by-1 is an addend', name);
% Empty products.
check(isequal(call(1, zeros(2, 0), zeros(0, 2), 1, ones(2)), ones(2)), '%s: K = 0', name);
check(isequal(call(1, zeros(2, 0), zeros(0, 2), 1, []), zeros(2)), '%s: K = 0 without C', name);
check(isequal(call(1, zeros(0, 2), ones(2), 1, []), zeros(0, 2)), '%s: M = 0', name);
check(isequal(call(1, ones(2), zeros(2, 0), 1, []), zeros(2, 0)), '%s: N = 0', name);
check(isequal(call(1, zeros(0, 2), zeros(2, 0), 1, zeros(0, 0)), zeros(0, 0)), '%s: M = N = 0', name);
end

function refused(call, name)
A = ones(2);
bad = {'x', 'arg:type'; {1}, 'arg:type'; struct('a', 1), 'arg:type'; @sin, 'arg:type'; ...
    complex(1, 1), 'arg:complex'; ones(2, 2, 2), 'arg:dims'};
labels = {'alpha', 'A', 'B', 'beta', 'C'};
for i = 1:rows(bad)
    for j = 1:5
        args = {1, A, A, 1, A};
        args{j} = bad{i, 1};
        check_error(['mfma:', bad{i, 2}], @() call(args{:}), labels{j});
    end
end
for j = [1 4]
    for value = {[], [1 2], ones(2)}
        args = {1, A, A, 1, A};
        args{j} = value{1};
        check_error('mfma:arg:scalar', @() call(args{:}), labels{j});
    end
end
check_error('mfma:arg:size', @() call(1, ones(2, 3), A, 0, []), 'B');
check_error('mfma:arg:size', @() call(1, A, ones(1, 2), 0, []), 'A');
for C = {ones(3), ones(2, 3), ones(1, 4), 10, NaN}
    check_error('mfma:arg:size', @() call(1, A, A, 1, C{1}), 'C');
end
check(true, '%s', name);
end

function names(u)
% Every name, in any case; and what is no name.
f = str2func(u.name);
synonyms = struct('fp16', {{'fp16', 'half', 'binary16'}}, 'bf16', {{'bf16', 'bfloat16', 'brainfloat16'}}, ...
    'tf32', {{'tf32', 'tensorfloat32', 'xf32'}}, 'e4m3', {{'e4m3', 'fp8-e4m3'}}, 'e5m2', {{'e5m2', 'fp8-e5m2'}}, ...
    'fp32', {{'fp32', 'single', 'binary32'}});
if strncmp(u.name, 'MI300', 5)
    synonyms.e4m3{end + 1} = 'fp8';
    synonyms.e5m2{end + 1} = 'bf8';
end
A = [1 1/3; -7/5 1e-4];
for in = u.in
    first = {};
    for out = u.out
        for i = synonyms.(in{1})
            for o = synonyms.(out{1})
                for change = {@lower, @upper, @(x) [upper(x(1)), x(2:end)]}
                    formats = function_formats(u.name, change{1}(i{1}), change{1}(o{1}));
                    D = f(1, A, A', 0, [], formats{:});
                    if isempty(first) || ~strcmp(first{1}, out{1})
                        first = {out{1}, D};
                    end
                    check(isequal(D, first{2}), '%s: name %s, %s', u.name, i{1}, o{1});
                end
            end
        end
    end
end
last = numel(function_formats(u.name, 'fp16', 'fp32'));
for wrong = {'', ' fp16', 'fp16 ', 'fp7', 'fp16x', 5, {'fp16'}, ['fp16'; 'bf16'], @sin, true, ['fp16', char(0)], {}, struct([])}
    id = 'mfma:format:unknown';
    if ~ischar(wrong{1})
        id = 'mfma:arg:type';
    elseif rows(wrong{1}) ~= 1 || any(wrong{1} == 0)
        id = 'mfma:arg:text';
    end
    for place = 1:last
        formats = function_formats(u.name, 'fp16', 'fp32');
        formats{place} = wrong{1};
        check_error(id, @() f(1, A, A, 0, [], formats{:}));
    end
end
formats = function_formats(u.name, 'fp16', 'bf16');
if ~strncmp(u.name, 'MI', 2)
    check_error('mfma:format:unsupported', @() f(1, A, A, 0, [], formats{:}));
end
if ~strcmp(u.name, 'V100TC') && ~any(strcmp(u.in, 'e4m3'))
    formats = function_formats(u.name, 'e4m3', 'fp32');
    check_error('mfma:format:unsupported', @() f(1, A, A, 0, [], formats{:}));
end
end

function counts(f, name, formats)
% Too few arguments, too many, and outputs.
args = {1, 2, 3, 1, 4, formats{:}};
least = 5 + any(strcmp(name, toolbox_names_with_informat()));
for n = 0:least - 1
    check_error('mfma:arg:count', @() f(args{1:n}), name);
end
check_error('Octave:invalid-fun-call', @() f(args{:}, 1, 1));
check(f(args{:}) == 10, '%s: 2*3 + 4', name);
if numel(args) > least
    check(f(args{1:least}) == 10, '%s: without outformat', name);
    check(f(args{1:least}, []) == 10, '%s: with an empty outformat', name);
end
end

function list = toolbox_names_with_informat()
all_functions = toolbox_functions();
list = setdiff({all_functions.name}, {'V100TC'});
end

function unknown_fields()
% A misspelt field of params: an error of the functions mfma_*, which names it and lists what there is; the functions of the
% original toolbox ignore it.
unit = {'arch', 'V100'};
for name = {'fam', 'neba', 'FMA', 'NoExpBitsIn'}
    p = struct('fma', 4, name{1}, 1);
    calls = {@() mfma_gemm(1, 1, [], 'params', p), @() mfma_dot(1, 1, [], 'params', p), @() mfma_sample(1, 'params', p), ...
        @() mfma_validate('reference', 'params', p, 'count', 1), @() mfma_validate(p, unit{:}, 'count', 1), ...
        @() mfma_probe(p, 'vectors', 20), @() mfma_explain(1, 1, 1, 'params', p), @() mfma_explain(1, 1, 1, unit{:}, 'against', p)};
    for call = calls
        check_error('mfma:params:value', call{1}, ['''', name{1}, '''']);
    end
    check(CustomTC(1, 2, 3, 1, 4, 'fp16', 'fp32', p) == 10, 'CustomTC: the field %s is ignored', name{1});
end
folder = fullfile(fileparts(which('CustomTC')), 'tools');
addpath(folder);
p = struct('fma', 4, 'fam', 1, 'NoExpBitsIn', 5, 'NoExpBitsOut', 8, 'NoManBitsOut', 23);
check(GEMM(1, 2, 3, 1, 4, 'fp16', 'fp32', p) == 10, 'GEMM: unknown fields are ignored');
check(Generic_BFMA_TC(2, 3, 4, p) == 10, 'Generic_BFMA_TC: unknown fields are ignored');
rmpath(folder);
% The list has all fields that are read, and no others.
try
    mfma_gemm(1, 1, [], 'params', struct('fam', 8));
    listed = {};
catch e
    listed = strsplit(regexprep(e.message, '^.*allowed: ', ''), ', ');
end
text = fileread(fullfile(fileparts(which('CustomTC')), 'private', 'custom_params.m'));
used = regexp(text, '\(params, ''(\w+)''', 'tokens');
order = regexp(text, 'order = \{([^}]*)\}', 'tokens', 'once');
used = setdiff([used{:}, strsplit(strrep(order{1}, '''', ''), ', ')], {'original'});
check(isequal(sort(listed), used), 'the fields that are listed are not those that are read: %s', ...
    strjoin(setxor(listed, used), ', '));
% What mfma_info and mfma_probe return is taken.
for u = mfma_info()'
    check(all(ismember(fieldnames(u.params), listed)), '%s: params has fields that are refused', u.arch);
end
end

function vectors()
% mfma_explain explains one dot product: no matrices, no arrays.
explain = @(a, b, c) mfma_explain(a, b, c, 'arch', 'V100');
wrong = {ones(2), 'arg:size'; ones(2, 3), 'arg:size'; ones(1, 2, 2), 'arg:dims'; ones(2, 2, 2), 'arg:dims'};
for i = 1:rows(wrong)
    x = wrong{i, 1};
    id = ['mfma:', wrong{i, 2}];
    y = ones(numel(x), 1);
    check_error(id, @() explain(x, y, 0), 'a ');
    check_error(id, @() explain(y, x, 0), 'b ');
    check_error(id, @() explain(x, x, 0), 'a ');
    check_error(id, @() explain(1, 1, x), 'c ');
end
check_error('mfma:arg:size', @() explain(1, 1, [1 2]), 'c');
for a = {1:3, (1:3)', sparse(1:3)}
    for b = {1:3, (1:3)'}
        check(explain(a{1}, b{1}, 1).d == 15, 'mfma_explain: rows and columns');
    end
end
check(explain([], zeros(1, 0), 5).d == 5, 'mfma_explain: K = 0');
end

function missing()
% Options in the place of an argument: the message says which one is missing.
unit = {'arch', 'V100'};
cases = {@() mfma_validate(unit{:}), 'subject is missing'; @() mfma_validate(unit{:}, 'count', 5), 'subject is missing'; ...
    @() mfma_probe('format', 'fp16'), 'subject is missing'; @() mfma_probe('K', 8), 'subject is missing'; ...
    @() mfma_sample(unit{:}), 'n is missing'; @() mfma_sample('arch'), 'n is missing'; ...
    @() mfma_gemm(1, 1, unit{:}), 'C is missing'; @() mfma_gemm(1, 1, unit{:}, 'alpha', NaN), 'C is missing'; ...
    @() mfma_gemm(1, 1, 'arch'), 'C is missing'; @() mfma_gemm(1, unit{:}), 'B is missing'; ...
    @() mfma_gemm(unit{:}), 'A is missing'; @() mfma_gemm(1, 1, 'transA', true, unit{:}), 'C is missing'; ...
    @() mfma_gemm(1, 1, 'gpu', 'V100'), 'place of C'; @() mfma_dot(1, 1, 'Raw', true, unit{:}), 'c is missing'; ...
    @() mfma_dot(1, unit{:}), 'b is missing'; @() mfma_dot(unit{:}), 'a is missing'; ...
    @() mfma_explain(), 'a and b are missing'; @() mfma_explain(1, unit{:}), 'b is missing'; ...
    @() mfma_explain(1, 2, 3, 4, unit{:}), '4 arguments'};
for i = 1:rows(cases)
    check_error('mfma:arg:count', cases{i, 1}, cases{i, 2});
    if any(strcmp(cases{i, 2}, {'C is missing', 'c is missing', 'place of C'}))
        check_error('mfma:arg:count', cases{i, 1}, '[] for zeros');
    end
end
end

function no_such_unit()
% mfma_info refuses what mfma_gemm refuses, in the same words.
for u = {{'V100', 'bf16'}, {'MI100', 'xf32'}, {'V100', 'fp16', 'fp64'}, {'MI300X', 'fp16', 'fp16'}}
    options = [{'arch'; 'format'; 'out'}(1:numel(u{1})), u{1}']';
    try
        mfma_gemm(1, 1, [], options{:});
        wanted = '';
    catch e
        wanted = strrep(e.message, 'mfma_gemm', 'mfma_info');
    end
    check_error('mfma:format:unsupported', @() mfma_info(u{1}{:}), wanted);
end
end
