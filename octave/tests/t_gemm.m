function t_gemm()
% Whole products as the original toolbox computes them (gemm/*.txt), with CPFloat rounding the inputs. Every element is
% the same here, or one of the rules below says why not; a difference without a rule is a failure.
folder = data_folder('gemm');
if isempty(folder)
    printf('    NOT RUN: products of the original toolbox; MFMA_TEST_DATA does not name the evidence\n');
    return
end
files = dir(fullfile(folder, '*.txt'));
tally = struct();
same = 0;
for i = 1:numel(files)
    set = read_products(fullfile(folder, files(i).name));
    for s = set.cases
        [same_here, rules] = one_case(set, s, files(i).name);
        same = same + same_here;
        for r = rules
            if ~isfield(tally, r{1})
                tally.(r{1}) = 0;
            end
            tally.(r{1}) = tally.(r{1}) + 1;
        end
    end
end
printf('    %d elements are the same; those that are not, by rule:\n', same);
for r = fieldnames(tally)'
    printf('      %-20s %5d\n', r{1}, tally.(r{1}));
end
end

function [same, rules] = one_case(set, s, name)
f = str2func(set.function);
formats = function_formats(set.function, set.informat, set.outformat);
D = f(s.alpha, s.A, s.B, s.beta, s.C, formats{:});
rules = {};
same = 0;
if ~isempty(s.error)
    [rule, wanted] = explain_failure(set, s);
    ok = ~isempty(rule) && isequaln(D, wanted);
    check(ok, '%s: the toolbox fails (%s), and no rule says what is right', name, s.error);
    rules = {rule};
    return
end
check(isequal(size(D), size(s.D)), '%s: size of D', name);
differ = ~same_bits(D, s.D);
same = sum(~differ(:));
for k = find(differ(:))'
    [i, j] = ind2sub(size(D), k);
    e.ours = D(k);
    e.theirs = s.D(k);
    e.a = s.alpha * s.A(i, :);
    e.b = s.B(:, j)';
    e.prefix = @(n) f(s.alpha, s.A(i, 1:n), s.B(1:n, j), s.beta, s.C(i, j), formats{:});
    rule = explain_difference(set, e);
    check(~isempty(rule), '%s: element (%d, %d), K = %d: %.17g here, %.17g in the toolbox, and no rule says why', name, ...
        i, j, numel(e.a), e.ours, e.theirs);
    rules{end + 1} = rule;
end
check(true);
end

function [rule, wanted] = explain_failure(set, s)
% Products that the toolbox does not compute, and what they are.
f = str2func(set.function);
rule = '';
wanted = [];
if ~isempty(strfind(s.error, '''d'' undefined')) && isempty(s.A)
    % K = 0: the toolbox has no block to take d from. D = round(beta*C), as with one product of zeros (8-bit units may
    % keep fewer bits of it then, so binary16 products are taken).
    rule = 'no_products';
    in = set.informat;
    if any(strcmp(stored_format(in, ''), {'e4m3', 'e5m2'}))
        in = 'fp16';
    end
    formats = function_formats(set.function, in, set.outformat);
    wanted = f(1, zeros(rows(s.A), 1), zeros(1, columns(s.B)), s.beta, s.C, formats{:});
elseif ~isempty(strfind(s.error, 'Invalid floating-point format'))
    % A name that the function's own list has, but CPFloat does not know.
    rule = 'names';
    known = struct('tensorfloat32', 'tf32', 'xf32', 'tf32', 'fp8', 'fp8-e4m3', 'bf8', 'fp8-e5m2', ...
        'brainfloat16', 'bf16');
    formats = function_formats(set.function, known.(set.informat), set.outformat);
    wanted = f(s.alpha, s.A, s.B, s.beta, s.C, formats{:});
end
end

function rule = explain_difference(set, e)
% The first rule of docs/differences.md that holds for an element.
in = stored_format(set.informat, set.function);
out = stored_format(set.outformat, set.function);
fp8 = any(strcmp(in, {'e4m3', 'e5m2'}));
largest = realmax('single');
if strcmp(out, 'fp16')
    largest = 65504;
end
products = e.a .* e.b;
rule = '';
if fp8 && strcmp(out, 'fp16') && (e.theirs == 0 || ~isfinite(e.theirs) || log2(abs(e.theirs)) == fix(log2(abs(e.theirs))))
    % The toolbox keeps no significand bits: its result is a power of two.
    rule = 'fp8_fp16_width';
elseif strcmp(in, 'e4m3') && isnan(e.ours) && any(abs([e.a, e.b]) > 464)
    % E4M3 has no infinity: what lies above 464 is NaN. CPFloat rounds up to 480, and to infinity.
    rule = 'e4m3_overflow';
elseif isfinite(e.theirs) && abs(e.theirs) > largest && ~isfinite(e.ours)
    % The toolbox returns a finite number that the output format does not have.
    rule = 'overflow';
elseif strncmp(set.function, 'MI', 2) && ~isfinite(e.ours) && any(isfinite(products) & abs(products) >= 2^127)
    % A product of magnitude 2^128 is an infinity of its own sign; the toolbox takes +Inf, or loses it. (2^127, as the
    % factors are not rounded here.)
    rule = 'product_overflow';
elseif ~isfinite(e.ours) && any(~isfinite(arrayfun(e.prefix, 1:numel(e.a) - 1)))
    % The sum overflows before the last block; the toolbox carries on with a finite number.
    rule = 'inf_between_blocks';
elseif e.ours == 0 && e.theirs == 0 && ~strncmp(set.function, 'MI', 2)
    % A result that rounds to zero is +0 on NVIDIA hardware.
    rule = 'zero_sign';
end
end
