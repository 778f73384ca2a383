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
custom_units(extras, A);
end

function custom_units(extras, A)
addpath(extras, fullfile(extras, '..', 'tools'));
mfma_compat('cpfloat');
p = struct('fma', 8, 'neab', 1);
for f = {@CustomTC, @GEMM}
    for fnuz = 0:1
        p.fp8_fnuz = fnuz;
        for formats = {'fp16', 'fp32'; 'fp16', 'fp16'; 'bf16', 'fp32'; 'e4m3', 'fp32'; 'e5m2', 'fp16'}'
            cpfloat(1, struct('format', 'bf16', 'round', 2, 'saturation', 0));
            f{1}(1, A, A, 1, A, formats{:}, p);
            [~, after] = cpfloat([]);
            name = {'CustomTC', 'MI300MC'}{1 + (fnuz && formats{1}(1) == 'e')};
            check(isequal(after, left_behind(name, formats{:})), '%s %s %s, fnuz %d: options left behind', ...
                func2str(f{1}), formats{:}, fnuz);
        end
    end
end
mfma_compat('off');
rmpath(extras, fullfile(extras, '..', 'tools'));
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
