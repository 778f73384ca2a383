% Compares mfma with a live checkout of the original MATLAB Tensor Core toolbox, on fresh random inputs:
%
%     octave-cli --no-gui octave/compare_toolbox.m PATH [cases of a kind] [seed] [function ...]
%
% PATH is the checkout (the folder that has models/). For every function and every pair of formats, dot products of all
% sampling kinds are computed here and by the original, which runs in an Octave of its own, one for each set, without
% CPFloat, on inputs that the formats have. What Octave lacks (string, fma) or does otherwise than MATLAB (bitshift, dot
% of nothing) is supplied by octave/standins.
%
% Every result is the same, or a rule of docs/differences.md explains it: the rule says what the original computes
% instead, and that is computed here too wherever it can be. The exit status is 1 when a difference is not explained.

1;  % a script, although functions come first

function s = next(s)
% Park and Miller's generator: the same numbers everywhere.
s = mod(16807 * s, 2147483647);
end

function [bits, s] = random_bits(n, width, s)
% n integers of `width` bits.
bits = zeros(1, n);
for i = 1:n
    s = next(s);
    high = floor(s / 2^9);
    s = next(s);
    bits(i) = mod(high * 2^16 + floor(s / 2^12), 2^width);
end
end

function [x, s] = uniform(n, s)
x = zeros(1, n);
for i = 1:n
    s = next(s);
    x(i) = s / 2147483647;
end
end

function f = layout(format)
% Exponent bits, fraction bits, bias, and the largest exponent field of finite numbers.
switch format
    case 'fp32',     f = [8 23 127 254];
    case 'tf32',     f = [8 10 127 254];
    case 'fp16',     f = [5 10 15 30];
    case 'bf16',     f = [8 7 127 254];
    case 'e4m3',     f = [4 3 7 15];
    case 'e5m2',     f = [5 2 15 30];
    case 'e4m3fnuz', f = [4 3 8 15];
    case 'e5m2fnuz', f = [5 2 16 31];
end
end

function [x, s] = numbers(kind, format, n, s)
% n numbers of a format: 'any' exponent, 'bits' of any kind, 'sub'normal range, 'normal' distribution, 'sparse' few bits.
f = layout(format);
[e, s] = random_bits(n, f(1), s);
[m, s] = random_bits(n, f(2), s);
[sign, s] = random_bits(n, 1, s);
e = min(e, f(4));
if strcmp(format, 'e4m3')
    m(e == 15) = min(m(e == 15), 6);
end
switch kind
    case 'any'
    case 'bits'
        [u, s] = uniform(n, s);
        e(u < 0.05) = 0;
        m(u < 0.03) = 0;
    case 'sub'
        [e, s] = random_bits(n, 2, s);
    case 'sparse'
        [keep, s] = random_bits(n, 2, s);
        m(keep > 0) = 0;
    case 'normal'
        [u, s] = uniform(2 * n, s);
        x = sqrt(-2 * log(u(1:n))) .* cos(2 * pi * u(n + 1:end));
        % Cut to the format: exponent and significand of f(2) + 1 bits.
        [~, p] = log2(abs(x));
        unit = 2 .^ (max(p - 1, 1 - f(3)) - f(2));
        x = fix(x ./ unit) .* unit;
        return
end
x = (m + 2^f(2) * (e > 0)) .* 2 .^ (max(e, 1) - f(3) - f(2)) .* (1 - 2 * sign);
end

function [cases, s] = sample(kinds, per_kind, in, out, block, s)
% Dot products: a, b (rows), c (numbers), and the kind of each.
cases = struct('a', {}, 'b', {}, 'c', {}, 'kind', {});
for k = kinds
    for i = 1:per_kind
        [u, s] = uniform(4, s);
        K = [1 2 block ceil(block / 2) block + 1 2 * block](1 + floor(6 * u(1)));
        one.kind = k{1};
        switch k{1}
            case 'exponents'
                [one.a, s] = numbers('any', in, K, s);
                [one.b, s] = numbers('any', in, K, s);
                [one.c, s] = numbers('any', out, 1, s);
            case 'bits'
                [one.a, s] = numbers('bits', in, K, s);
                [one.b, s] = numbers('bits', in, K, s);
                [one.c, s] = numbers('bits', out, 1, s);
            case 'subnormal'
                [one.a, s] = numbers('sub', in, K, s);
                [one.b, s] = numbers('any', in, K, s);
                [one.c, s] = numbers('sub', out, 1, s);
            case 'normal'
                [one.a, s] = numbers('normal', in, K, s);
                [one.b, s] = numbers('normal', in, K, s);
                [one.c, s] = numbers('normal', out, 1, s);
            case 'aligned'
                % Few bits each, c near a power of two, 20 to 36 binades from the largest product.
                [one.a, s] = numbers('sparse', in, K, s);
                [one.b, s] = numbers('sparse', in, K, s);
                [one.c, s] = numbers('any', out, 1, s);
                f = layout(out);
                top = max([abs(one.a .* one.b), realmin]);
                e = floor(log2(top)) + round((2 * u(2) - 1) * 36);
                e = max(min(e, f(4) - f(3)), 1 - f(3));
                one.c = sign(u(3) - 0.5) * 2^e * (1 + sign(u(4) - 0.5) * 2^(-f(2)));
                if e == f(4) - f(3) || e == 1 - f(3)
                    one.c = sign(u(3) - 0.5) * 2^e;
                end
                if u(4) < 0.5 && abs(one.c) > 2^(1 - f(3))
                    one.c = sign(one.c) * 2^e * (1 - 2^(-f(2) - 1));
                end
            case 'ties'
                % c near a power of two; products near half its last bit, and one of a bit far below them.
                f = layout(out);
                g = layout(in);
                K = block;
                e = round((2 * u(2) - 1) * 6);
                [j, s] = random_bits(3, 2, s);
                [signs, s] = random_bits(4, 1, s);
                one.c = (1 - 2 * signs(1)) * 2^e * (1 + (j(1) - 1) * 2^(-f(2) - (j(1) == 0)));
                signs(2:4) = xor(signs(1), [1 1 signs(4)]);
                low = e - f(2) - [j(2), j(3), 8 + (u(3) < 0.7) + 2 * (u(4) < 0.2)];
                low = max(low, 2 * (1 - g(3) - g(2)));
                half = floor(low / 2);
                one.a = zeros(1, K);
                one.b = zeros(1, K);
                places = [1, 2, K];
                one.a(places) = (1 - 2 * signs(2:4)) .* 2 .^ half;
                one.b(places) = 2 .^ (low - half);
            case 'cancelling'
                [one.a, s] = numbers('any', in, K, s);
                [one.b, s] = numbers('sparse', in, K, s);
                if K > 1
                    half = floor(K / 2);
                    one.a(half + 1:2 * half) = -one.a(1:half);
                    one.b(half + 1:2 * half) = one.b(1:half);
                end
                [one.c, s] = numbers('sub', out, 1, s);
            case 'zeros'
                [one.a, s] = numbers('any', in, K, s);
                [one.b, s] = numbers('any', in, K, s);
                [z, s] = random_bits(K, 1, s);
                one.a(z == 1) = 0;
                [one.c, s] = numbers('any', out, 1, s);
                if u(2) < 0.3
                    one.c = 0;
                end
            case 'infinities'
                [one.a, s] = numbers('normal', in, K, s);
                [one.b, s] = numbers('normal', in, K, s);
                [one.c, s] = numbers('normal', out, 1, s);
                special = [Inf -Inf NaN];
                if any(strcmp(in, {'e4m3', 'e4m3fnuz', 'e5m2fnuz'}))
                    special = NaN;
                end
                one.a(ceil(K * u(2))) = special(1 + floor(numel(special) * u(3)));
        end
        cases(end + 1) = orderfields(one, {'a', 'b', 'c', 'kind'});
    end
end
end

function [d, failed] = run_original(folders, call_text, cases, params)
% The original's answers, computed by an Octave of its own. failed(i) is true where it raised an error. The text of the
% call may use a, b, c and params.
base = tempname();
x.cases = cases;
x.params = params;
save('-binary', [base, '.in'], '-struct', 'x');
f = fopen([base, '.m'], 'w');
fprintf(f, 'warning(''off'', ''all'');\n');
fprintf(f, 'addpath(''%s'');\n', folders{end:-1:1});
fprintf(f, 'load(''%s.in'');\nd = NaN(1, numel(cases)); failed = false(size(d));\n', base);
fprintf(f, 'for i = 1:numel(cases)\n    a = cases(i).a; b = cases(i).b''; c = cases(i).c; D = [];\n');
fprintf(f, '    try\n        said = evalc(''D = %s;'');\n        d(i) = double(D);\n', strrep(call_text, '''', ''''''));
fprintf(f, '    catch\n        failed(i) = true;\n    end\nend\n');
fprintf(f, 'save(''-binary'', ''%s.out'', ''d'', ''failed'');\n', base);
fclose(f);
program = fullfile(OCTAVE_EXEC_HOME(), 'bin', 'octave-cli');
[status, text] = system(sprintf('"%s" --no-gui --no-init-file --no-history --quiet "%s.m" 2>&1', program, base));
if ~exist([base, '.out'], 'file')
    error('mfma:compare:run', 'the original toolbox does not run (status %d): %s', status, text);
end
y = load([base, '.out']);
d = y.d;
failed = y.failed;
delete([base, '.in'], [base, '.out'], [base, '.m']);
end

function [rule, exact] = explain(u, in, out, one, ours, theirs, failed, again)
% The rule of docs/differences.md behind a difference, '' if there is none. `exact`: the rule's own answer was computed
% and is the original's. again(function, a, b, c, formats) computes here.
rule = '';
exact = false;
products = one.a .* one.b;
amd = strncmp(u.name, 'MI', 2);
cdna3 = strncmp(u.name, 'MI300', 5);
cdna2 = strncmp(u.name, 'MI2', 3);
largest = realmax('single');
smallest = realmin('single');
if strcmp(out, 'fp16')
    largest = 65504;
    smallest = 2^-14;
end
if failed
    if cdna3 && any_block_of_zeros(products, block_of(u.name, in))
        rule = 'zero products';          % the original fails on a block of zero products
    end
    return
end
if cdna3 && same_bits(again('CDNA3-toolbox', one, in, ''), theirs)
    rule = 'rounding steps';             % it rounds once, at 31 bits
    exact = true;
elseif strcmp(u.name, 'A2TC') && ~same_bits(ours, theirs) && same_bits(again('A2TC', swap(one), in, out), theirs)
    rule = 'beta and C swapped';
    exact = true;
elseif any(strcmp(in, {'e4m3', 'e5m2'})) && strcmp(out, 'fp16') && ...
        (theirs == 0 || ~isfinite(theirs) || log2(abs(theirs)) == fix(log2(abs(theirs))))
    rule = 'no significand bits';        % 8-bit inputs, binary16 result
elseif ours == 0 && theirs == 0 && ~amd
    rule = 'sign of zero';
elseif isfinite(theirs) && abs(theirs) > largest && ~isfinite(ours)
    rule = 'overflow';                   % a finite result outside the output format
elseif (cdna2 || cdna3) && ~isfinite(ours) && any(isfinite(products) & abs(products) >= 2^128)
    rule = 'product overflow';           % +Inf for a negative product, or lost
elseif ~isfinite(ours) && block_overflows(one, block_of(u.name, in), @(x) again(u.name, x, in, out))
    rule = 'infinity between blocks';
elseif strcmp(out, 'fp16') && subnormal_addend(one, block_of(u.name, in), @(x) again(u.name, x, in, out), smallest)
    rule = 'subnormal binary16 addend';  % it keeps the exponent of a normalised c
end
end

function one = swap(one)
% A2TC of the original calls A100TC with beta and C exchanged: c becomes beta, which is ignored without CPFloat, and the
% addend is 1. Where c is 0 or empty, nothing changes.
one.c = 1;
end

function n = block_of(name, in)
fp8 = any(strcmp(in, {'e4m3', 'e5m2', 'e4m3fnuz', 'e5m2fnuz'}));
tf32 = strcmp(in, 'tf32');
switch name
    case 'MI100MC',                              n = 4 - 2 * strcmp(in, 'bf16');
    case {'MI210MC', 'MI250MC', 'V100TC'},       n = 4;
    case {'MI300MC', 'MI300AMC', 'MI300XMC', 'A100TC', 'A2TC', 'A30TC', 'AdaTC', 'L40STC'}
        n = 8 - 4 * tf32 + 8 * fp8;
    otherwise
        n = 16 - 8 * tf32 + 16 * fp8;
end
end

function yes = any_block_of_zeros(products, n)
products(end + 1:n * ceil(numel(products) / n)) = 0;
yes = any(all(reshape(products, n, []) == 0, 1));
end

function yes = block_overflows(one, n, again)
% Is the sum not finite before the last block?
yes = false;
for k = n:n:numel(one.a) - 1
    part = one;
    part.a = one.a(1:k);
    part.b = one.b(1:k);
    yes = yes || ~isfinite(again(part));
end
end

function yes = subnormal_addend(one, n, again, smallest)
% Is c, or the sum after a block, subnormal?
yes = one.c ~= 0 && abs(one.c) < smallest;
for k = n:n:numel(one.a) - 1
    part = one;
    part.a = one.a(1:k);
    part.b = one.b(1:k);
    c = again(part);
    yes = yes || (c ~= 0 && abs(c) < smallest);
end
end

function d = compute(name, one, in, out)
% The same dot product here. in is a format as decode_bits names it.
in = strrep(in, 'fnuz', '');
if strcmp(name, 'CDNA3-toolbox')
    d = mfma_gemm(one.a, one.b', one.c, 'arch', name, 'format', in);
    return
end
formats = function_formats(name, in, out);
d = feval(name, 1, one.a, one.b', 1, one.c, formats{:});
end

function wrong = compare_variant(u, format, out, cases, theirs, failed)
% CDNA3-toolbox against the original's CDNA 3: the same, or the original fails or loses an infinity; no other rule.
n = struct('same', 0, 'explained', 0, 'unexplained', 0);
for i = 1:numel(cases)
    ours = compute('CDNA3-toolbox', cases(i), format, out);
    if ~failed(i) && same_bits(ours, theirs(i))
        n.same = n.same + 1;
        continue
    end
    rule = explain(u, format, out, cases(i), ours, theirs(i), failed(i), @compute);
    if any(strcmp(rule, {'zero products', 'overflow', 'product overflow', 'infinity between blocks'}))
        n.explained = n.explained + 1;
    else
        n.unexplained = n.unexplained + 1;
        printf('  UNEXPLAINED: CDNA3-toolbox %.17g, the original %.17g, c = %.17g\n', ours, theirs(i), cases(i).c);
    end
end
printf('%-14s %-6s %-6s %6d %6d %10d %12d\n', 'CDNA3-toolbox', format, out, numel(cases), n.same, n.explained, n.unexplained);
wrong = n.unexplained;
end

function by_rule = counted(by_rule, rule, exact)
at = find(strcmp(rule, {by_rule.name}));
if isempty(at)
    at = numel(by_rule) + 1;
    by_rule(at) = struct('name', rule, 'count', 0, 'exact', 0);
end
by_rule(at).count = by_rule(at).count + 1;
by_rule(at).exact = by_rule(at).exact + exact;
end

function text = described(params)
% Name the way of adding, and what is not usual.
names = {'global_alignment', 'late_partial_sum', 'odd_even_grouping', 'pair_wise_sum', 'correct_rounding', 'stkbitenabled', ...
    'prd_limit', 'c_min_exp_limit'};
on = names(cellfun(@(n) params.(n) ~= 0, names));
text = sprintf('fma %d neab %d fr %s ar %s denorm %d lim %d in %d out %d %s', params.fma, params.neab, params.frmode, ...
    params.armode, params.denorm_prd, params.min_exp_limit, params.in_subnormals, params.out_subnormals, strjoin(on, ' '));
end

function [params, in, out, s] = random_params(s)
% Parameters of a custom unit that the original accepts, and formats.
[u, s] = uniform(16, s);
pick = @(list, x) list{1 + floor(numel(list) * x)};
scheme = pick({'global_alignment', 'global_alignment', 'late', 'odd_even_grouping', 'correct_rounding', 'pair_wise_sum'}, u(1));
params = struct('fma', pick({4, 8, 16}, u(2)), 'neab', pick({0, 1, 2, 3}, u(3)), ...
    'frmode', pick({'rz', 'rne', 'rd', 'ru'}, u(4)), 'armode', pick({'rd', 'ru', 'rne', 'rz'}, u(5)), ...
    'stkbitenabled', 0, 'global_alignment', 0, 'late_partial_sum', 0, 'odd_even_grouping', 0, 'pair_wise_sum', 0, ...
    'correct_rounding', 0, 'denorm_prd', double(u(6) < 0.7), 'min_exp_limit', pick({-1024, -1024, -133, -20}, u(7)), ...
    'c_min_exp_limit', double(u(8) < 0.5), 'prd_limit', double(u(9) < 0.3), 'in_subnormals', double(u(10) < 0.8), ...
    'out_subnormals', double(u(11) < 0.8));
in = pick({'fp16', 'bf16', 'tf32', 'e5m2', 'e4m3'}, u(12));
out = pick({'fp32', 'fp32', 'fp16'}, u(13));
if any(strcmp(scheme, {'late', 'odd_even_grouping'})) && u(15) < 0.8
    % The original fails with armode 'rz' in most of these.
    params.armode = strrep(params.armode, 'rz', 'rd');
end
switch scheme
    case 'late'
        params.global_alignment = 1;
        params.late_partial_sum = 1;
        out = 'fp32';
    case 'odd_even_grouping'
        out = 'fp32';
        params.odd_even_grouping = 1;
    case 'global_alignment'
        params.global_alignment = 1;
        params.stkbitenabled = double(u(14) < 0.3);
    case 'pair_wise_sum'
        params.pair_wise_sum = 1;
        out = 'fp32';
    case 'correct_rounding'
        params.correct_rounding = 1;
end
end

function [rule, exact] = explain_custom(params, in, out, one, ours, theirs, failed)
% As explain, for custom units.
rule = '';
exact = false;
products = one.a .* one.b;
late = params.late_partial_sum || params.odd_even_grouping;
if failed
    if late && strcmp(params.armode, 'rz')
        rule = 'armode rz with a late c';    % the original fails where something is shifted
    elseif late
        rule = 'zero products';
    end
    return
end
other = params;
other.conventions = 'toolbox';
as_theirs = mfma_gemm(one.a, one.b', one.c, 'params', other, 'format', in, 'out', out);
largest = realmax('single');
if strcmp(out, 'fp16')
    largest = 65504;
end
if same_bits(as_theirs, theirs)
    rule = 'conventions of the toolbox'; % zero's sign, binary32 between blocks
    exact = true;
elseif isfinite(theirs) && abs(theirs) > largest && ~isfinite(ours)
    rule = 'overflow';
elseif (params.prd_limit || params.pair_wise_sum) && ~isfinite(ours) && any(isfinite(products) & abs(products) > largest)
    rule = 'product overflow';
elseif ~isfinite(ours) && block_overflows(one, params.fma, @(x) mfma_gemm(x.a, x.b', x.c, 'params', params, 'format', in, 'out', out))
    rule = 'infinity between blocks';
elseif late && strcmp(params.armode, 'rne') && distant_terms(one)
    rule = 'armode rne, distant terms'; % the original adds one to a term that is shifted by 65 bits or more
elseif params.odd_even_grouping && params.min_exp_limit > -1024 && any(products == 0)
    rule = 'zero group with min_exp_limit'; % the original gives a group of zeros the limit as its exponent
end
end

function yes = distant_terms(one)
% Do exponents of products and c lie 60 or more apart?
e = log2(abs([one.a .* one.b, one.c]));
e = e(isfinite(e));
yes = numel(e) > 1 && max(e) - min(e) >= 60;
end

% ----------------------------------------------------------------------------------------------------------------------

more off
given = argv()';
if isempty(given) || ~exist(fullfile(given{1}, 'models', 'A100TC.m'), 'file')
    printf('usage: octave-cli octave/compare_toolbox.m PATH [cases of a kind] [seed] [function ...]\n');
    printf('PATH: a checkout of MATLAB Tensor Core, the folder that has models/A100TC.m\n');
    exit(2);
end
original = make_absolute_filename(given{1});
per_kind = 6;
seed = 20260101;
if numel(given) > 1
    per_kind = str2double(given{2});
end
if numel(given) > 2
    seed = str2double(given{3});
end
only = given(4:end);
here = fileparts(mfilename('fullpath'));
addpath(fullfile(fileparts(here), 'matlab'));
addpath(fullfile(here, 'tests'));

% The checkout lacks MI300MC.m at its head, which MI300AMC and MI300XMC call; its history has it.
extra = tempname();
mkdir(extra);
if ~exist(fullfile(original, 'models', 'MI300MC.m'), 'file')
    [status, text] = system(sprintf('git -C "%s" show b4bf135:models/MI300MC.m 2>/dev/null', original));
    if status == 0
        f = fopen(fullfile(extra, 'MI300MC.m'), 'w');
        fputs(f, text);
        fclose(f);
    else
        printf('MI300MC.m is neither in the checkout nor in its history: CDNA 3 is not compared.\n');
    end
end
folders = {fullfile(here, 'standins'), extra, fullfile(original, 'models'), fullfile(original, 'models', 'tools')};
has_cdna3 = exist(fullfile(extra, 'MI300MC.m'), 'file') || exist(fullfile(original, 'models', 'MI300MC.m'), 'file');

kinds = {'exponents', 'bits', 'subnormal', 'normal', 'aligned', 'ties', 'cancelling', 'zeros', 'infinities'};
total = struct('cases', 0, 'same', 0, 'explained', 0, 'unexplained', 0);
by_rule = struct('name', {}, 'count', {}, 'exact', {});
printf('mfma %s against %s; %d cases of each of %d kinds; seed %d\n', mfma_version(), given{1}, per_kind, numel(kinds), ...
    seed);
printf('%-14s %-6s %-6s %6s %6s %10s %12s\n', 'function', 'in', 'out', 'cases', 'same', 'explained', 'unexplained');
for u = toolbox_functions()
    if (~isempty(only) && ~any(strcmp(u.name, only))) || (strncmp(u.name, 'MI300', 5) && ~has_cdna3)
        continue
    end
    for in = u.in
        for out = u.out
            format = stored_format(in{1}, u.name);
            out_format = out{1};
            forced = (any(strcmp(u.name, {'A100TC', 'A2TC', 'A30TC'})) && strcmp(in{1}, 'tf32')) || ...
                (any(strcmp(u.name, {'B200TC', 'B200TCRN', 'RTXPRO6000TC'})) && any(strcmp(in{1}, {'e4m3', 'e5m2'})));
            if forced
                out_format = 'fp32';
            end
            [cases, seed] = sample(kinds, per_kind, format, out_format, block_of(u.name, format), seed);
            spelled = {strrep(strrep(in{1}, 'e4m3', 'fp8-e4m3'), 'e5m2', 'fp8-e5m2'), out{1}};
            formats = function_formats(u.name, spelled{:});
            call_text = sprintf('%s(1, a, b, 1, c%s)', u.name, sprintf(', ''%s''', formats{:}));
            [theirs, failed] = run_original(folders, call_text, cases, []);
            n = struct('cases', numel(cases), 'same', 0, 'explained', 0, 'unexplained', 0);
            for i = 1:numel(cases)
                ours = compute(u.name, cases(i), format, out{1});
                if ~failed(i) && same_bits(ours, theirs(i))
                    n.same = n.same + 1;
                    continue
                end
                [rule, exact] = explain(u, format, out_format, cases(i), ours, theirs(i), failed(i), @compute);
                if isempty(rule)
                    n.unexplained = n.unexplained + 1;
                    printf('  UNEXPLAINED (%s): %s here, %s there\n    a = [%s]\n    b = [%s]\n    c = %.17g\n', cases(i).kind, ...
                        sprintf('%.17g', ours), sprintf('%.17g', theirs(i)), sprintf('%.17g ', cases(i).a), ...
                        sprintf('%.17g ', cases(i).b), cases(i).c);
                    continue
                end
                n.explained = n.explained + 1;
                by_rule = counted(by_rule, rule, exact);
            end
            printf('%-14s %-6s %-6s %6d %6d %10d %12d\n', u.name, in{1}, out{1}, n.cases, n.same, n.explained, n.unexplained);
            if strcmp(u.name, 'MI300MC')
                n.unexplained = n.unexplained + compare_variant(u, format, out{1}, cases, theirs, failed);
            end
            for name = fieldnames(n)'
                total.(name{1}) = total.(name{1}) + n.(name{1});
            end
        end
    end
end
if isempty(only) || any(strcmp('CustomTC', only))
    for set = 1:30
        [params, in, out, seed] = random_params(seed);
        % No infinities: with custom units the original handles them in ways that no rule describes.
        [cases, seed] = sample(setdiff(kinds, {'infinities'}, 'stable'), ceil(per_kind / 2), in, out, params.fma, seed);
        spelled = strrep(strrep(in, 'e4m3', 'fp8-e4m3'), 'e5m2', 'fp8-e5m2');
        call_text = sprintf('CustomTC(1, a, b, 1, c, ''%s'', ''%s'', params)', spelled, out);
        [theirs, failed] = run_original(folders, call_text, cases, params);
        n = struct('cases', numel(cases), 'same', 0, 'explained', 0, 'unexplained', 0);
        for i = 1:numel(cases)
            ours = CustomTC(1, cases(i).a, cases(i).b', 1, cases(i).c, in, out, params);
            if ~failed(i) && same_bits(ours, theirs(i))
                n.same = n.same + 1;
                continue
            end
            [rule, exact] = explain_custom(params, in, out, cases(i), ours, theirs(i), failed(i));
            if isempty(rule)
                n.unexplained = n.unexplained + 1;
                printf('  UNEXPLAINED (%s): %.17g here, %.17g there, failed %d\n    a = [%s]\n    b = [%s]\n    c = %.17g\n', ...
                    cases(i).kind, ours, theirs(i), failed(i), sprintf('%.17g ', cases(i).a), sprintf('%.17g ', cases(i).b), ...
                    cases(i).c);
                continue
            end
            n.explained = n.explained + 1;
            by_rule = counted(by_rule, rule, exact);
        end
        printf('%-14s %-6s %-6s %6d %6d %10d %12d  %s\n', 'CustomTC', in, out, n.cases, n.same, n.explained, n.unexplained, ...
            described(params));
        for name = fieldnames(n)'
            total.(name{1}) = total.(name{1}) + n.(name{1});
        end
    end
end
confirm_recursive_rmdir(false);
rmdir(extra, 's');
printf('\nExplained differences, by rule (and of these, computed here as the original does, to the bit)\n');
for r = by_rule
    printf('  %-28s %6d (%d)\n', r.name, r.count, r.exact);
end
printf('\n%d cases: %d the same, %d explained, %d unexplained\n', total.cases, total.same, total.explained, total.unexplained);
exit(total.unexplained > 0);
