function t_directed()
% Cases from problems that people met in public: numeric ones from directed_cases.txt, and those of the front end.
from_file();
conversions();
front_end();
end

function from_file()
folder = fullfile(fileparts(fileparts(fileparts(mfilename('fullpath')))), 'tests', 'data');
path = fullfile(folder, 'directed_cases.txt');
if ~exist(path, 'file')
    printf('    NOT RUN: %s is missing\n', path);
    return
end
rows = regexp(fileread(path), '^(\S+) (\S+) (\S+) \| \d+ a=(\S+) b=(\S+) c=(\S+) d=(\S+) \| (\S+)$', 'tokens', ...
    'lineanchors');
check(numel(rows) > 50, 'directed_cases.txt has only %d cases', numel(rows));
for i = 1:numel(rows)
    r = rows{i};
    name = [r{1}, 'TC'];
    if strncmp(r{1}, 'MI', 2)
        name = [r{1}, 'MC'];
    end
    informat = strrep(r{2}, 'fnuz', '');
    formats = function_formats(name, informat, r{3});
    in = stored_format(informat, name);
    numbers = @(text, format) decode_bits(sscanf(strrep(text, ',', ' '), '%x')', format);
    d = feval(name, 1, numbers(r{4}, in), numbers(r{5}, in)', 1, numbers(r{6}, r{3}), formats{:});
    wanted = NaN;
    if ~strcmp(r{7}, 'nan')
        wanted = numbers(r{7}, r{3});
    end
    check(same_bits(d, wanted), '%s: %.17g instead of %.17g', r{8}, d, wanted);
end
end

function conversions()
single_of = @(hex) double(typecast(uint32(hex2dec(hex)), 'single'));
amd = @(x, format) MI300MC(1, x, 1, 1, 0, format);
% F01: one rounding from binary64, never through binary32.
check(amd(hex2num('3ff0020040000000'), 'fp16') == single_of('3f802000'), 'F01: 1 + 2^-11 + 2^-30 to fp16');
check(amd(hex2num('3f0ffbfffffffffc'), 'fp16') == single_of('387fc000'), 'F01: below a tie of the subnormal numbers');
% F04: just above a tie.
for f = {@(x) amd(x, 'fp8-e4m3'), @(x) H100TC(1, x, 1, 0, [], 'e4m3', 'fp32')}
    check(f{1}(1.0625000001) == 1.125, 'F04: 1.0625000001 to e4m3');
end
% F05: a NaN stays one, the largest binary32 number is an infinity of bfloat16.
for f = {@MI100MC, @MI300MC}
    check(isnan(f{1}(1, single_of('7f800001'), 1, 0, [], 'bf16')), 'F05: NaN to bf16');
    check(f{1}(1, double(realmax('single')), 1, 0, [], 'bf16') == Inf, 'F05: realmax to bf16');
end
% F08: overflow and underflow of 8-bit formats.
check(amd(300, 'e4m3') == 240 && amd(2^-10, 'e4m3') == 2^-10 && amd(61440, 'e5m2') == 57344, 'F08: FNUZ');
for f = {@H100TC, @B200TC}
    nv = @(x, format) f{1}(1, x, 1, 1, 0, format, 'fp32');
    check(nv(300, 'e4m3') == 288 && nv(2^-10, 'e4m3') == 0 && nv(61440, 'e5m2') == Inf, 'F08: OCP');
    check(isnan(nv(465, 'e4m3')) && nv(464, 'e4m3') == 448, 'F08: above 464 e4m3 is NaN');
end
% F09: FNUZ has one zero, and one NaN.
check(same_bits(amd(-2^-12, 'e4m3'), 0) && same_bits(amd(-2^-19, 'e5m2'), 0), 'F09: -tiny is +0');
check(isnan(amd(NaN, 'e4m3')) && isnan(amd(Inf, 'e4m3')) && isnan(amd(-Inf, 'e5m2')), 'F09: NaN and Inf are NaN');
% N14: TensorFloat-32 is cut, not rounded.
for f = {@(x) amd(x, 'xf32'), @(x) A100TC(1, x, 1, 0, [], 'tf32', 'fp32'), @(x) H100TC(1, x, 1, 0, [], 'tf32', 'fp32')}
    got = cellfun(@(h) f{1}(single_of(h)), {'3f803000', 'bf803000', '3f801fff'});
    check(isequal(got, cellfun(single_of, {'3f802000', 'bf802000', '3f800000'})), 'N14: tf32 toward zero');
end
% N23: signs of zero.
for f = {@(a, b, c) MI300MC(1, a, b, 1, c, 'fp16'), @(a, b, c) H100TC(1, a, b, 1, c, 'fp16', 'fp32')}
    check(same_bits(f{1}([1 -1], [1; 1], 0), 0), 'N23: 1 - 1 is +0');
    check(same_bits(f{1}(-0, 1, -0), 0), 'N23: (-0)*1 + (-0) is +0');
end
end

function front_end()
% F14: A2TC takes beta and C in their order.
check(isequal(A2TC(1, [1 2; 3 4], eye(2), 1, 0, 'fp16', 'fp32'), [1 2; 3 4]), 'F14: A2TC with C = 0');
check(isequal(A2TC(1, [1 2; 3 4], eye(2), 1, [], 'fp16', 'fp32'), [1 2; 3 4]), 'F14: A2TC with C = []');
C = [5 6; 7 8];
check(isequal(A2TC(2, C, C, 3, C, 'bf16', 'fp32'), A100TC(2, C, C, 3, C, 'bf16', 'fp32')), 'F14: A2TC is A100TC');
% F15: the addend of an empty product is rounded like any other; a scalar C does not spread.
check(MI300MC(1, zeros(1, 0), zeros(0, 1), 1, 1 + 2^-30, 'fp16') == 1, 'F15: K = 0 rounds C toward zero');
check(A100TC(1, zeros(1, 0), zeros(0, 1), 3, 1 / 3, 'fp16', 'fp16') == 1, 'F15: K = 0 forms beta*C first');
check_error('mfma:arg:size', @() MI300MC(1, 1, [1 2], 1, 10, 'fp16'), 'C is 1-by-1');
% F16: what outformat means for 8-bit inputs.
a = [1 2^-6];
check(B200TC(1, a, a', 0, [], 'e4m3', 'fp16') == 1.000244140625, 'F16: B200TC gives binary32');
check(H100TC(1, a, a', 0, [], 'e4m3', 'fp16') == 1, 'F16: H100TC gives binary16');
% Toolbox functions whose result is binary32 whatever outformat says.
third = 1 / 3;
for f = {@A100TC, @A2TC, @A30TC}
    check(isequal(f{1}(1, third, 1, 0, [], 'TF32', 'fp16'), f{1}(1, third, 1, 0, [], 'tensorfloat32', 'fp32')), 'tf32');
end
for f = {@B200TC, @B200TCRN, @RTXPRO6000TC}
    check(f{1}(1, [1 2^-6], [1; 2^-6], 0, [], 'fp8-e4m3', 'half') == 1 + 2^-12, '8-bit inputs give binary32');
end
% M01: without an output, `ans` is set.
ans = 0; %#ok<NOANS>
MI300MC(1, 2, 3, 0, [], 'fp16');
check(isequal(ans, 6), 'M01: nlhs = 0 sets ans');
check_error('Octave:invalid-fun-call', @() two_outputs());
% O03: as Oct2Py calls it; a vector arrives as one row.
check(isequal(B200TC(1.0, [1 2; 3 4], [1 0; 0 1], 1.0, 0.0, 'fp16', 'fp32'), [1 2; 3 4]), 'O03');
check_error('mfma:arg:size', @() B200TC(1.0, [1 2; 3 4], [1 0], 1.0, 0.0, 'fp16', 'fp32'), 'B is 1-by-2');
end

function two_outputs()
[~, ~] = MI300MC(1, 2, 3, 0, [], 'fp16'); %#ok<ASGLU>
end
