function t_cpfloat()
% Beside CPFloat: the same bits with and without a cpfloat on the path, its options left alone, or left behind as the
% original toolbox leaves them (mfma_compat). extras/cpfloat stands for CPFloat.
extras = fullfile(fileparts(fileparts(fileparts(mfilename('fullpath')))), 'matlab', 'extras');
A = (magic(6) - 18) / 7;
for u = toolbox_functions()
    f = str2func(u.name);
    for in = u.in
        for out = u.out
            formats = function_formats(u.name, in{1}, out{1});
            alone = f(2, A, A', -1, A, formats{:});
            addpath(extras);
            cpfloat(1, struct('format', 'bf16', 'round', 2, 'saturation', 0));
            [~, before] = cpfloat([]);
            beside = f(2, A, A', -1, A, formats{:});
            [~, after] = cpfloat([]);
            check(isequaln(alone, beside), '%s %s %s: other bits beside cpfloat', u.name, in{1}, out{1});
            check(isequal(before, after), '%s %s %s: cpfloat''s options changed', u.name, in{1}, out{1});
            mfma_compat('cpfloat');
            compatible = f(2, A, A', -1, A, formats{:});
            mfma_compat('off');
            [~, after] = cpfloat([]);
            check(isequaln(alone, compatible), '%s %s %s: other bits with mfma_compat', u.name, in{1}, out{1});
            check(isequal(after, left_behind(u.name, in{1}, out{1})), '%s %s %s: options left behind', u.name, in{1}, out{1});
            rmpath(extras);
        end
    end
end
end

function o = left_behind(name, in, out)
fp8 = any(strcmp(in, {'e4m3', 'e5m2'}));
always32 = fp8 && any(strcmp(name, {'B200TC', 'B200TCRN', 'RTXPRO6000TC'}));
o = struct('format', 'fp32', 'params', [24 -126 127], 'explim', 1, 'infinity', 1, 'round', 4, 'saturation', 0, ...
    'subnormal', 1, 'flip', 0, 'p', 0.5);
if strcmp(out, 'fp16') && (fp8 || strcmp(in, 'fp16')) && ~always32
    o.format = 'fp16';
    o.params = [11 -14 15];
    o.round = 1;
end
if fp8 && strncmp(name, 'MI300', 5)
    o.saturation = 1;
end
end
