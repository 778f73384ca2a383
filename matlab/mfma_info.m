function info = mfma_info(arch, format, out)
%MFMA_INFO  What is known about each matrix unit, and how well.
%
%   MFMA_INFO without an output prints a table of all units, one line for each architecture and pair of formats.
%   MFMA_INFO(arch) prints those of one architecture or GPU, such as 'CDNA3', 'MI300X' or 'H100'.
%
%   info = MFMA_INFO(...) returns a struct array instead. info = MFMA_INFO(arch, format) and MFMA_INFO(arch, format,
%   out) choose the units with these input and output formats; where there is none, it is an error. Fields:
%
%       arch, a, b, out      architecture; formats of A, B and of C and D
%       fma                  products in one block, N_FMA
%       alignment_bits       fractional bits kept when terms are aligned; [] where nothing is aligned
%       rounding             final rounding: 'rne', 'rz', 'rd', 'ru'
%       subnormals           true where subnormal inputs and results are kept
%       params               all features, as CustomTC takes them; CustomTC with them is the unit
%       instruction          an instruction of the unit, and by_instruction: true where only its name reaches the unit
%                            (option 'instruction' of mfma_gemm)
%       evidence, source     'measured', 'paper', 'assumed' or 'no hardware' (only the original toolbox has the unit);
%                            where the features are from
%       measured, paper, directed, golden
%                            vectors that the unit has been checked against, by their origin; and mismatches
%       mismatch_bound       with probability 1 - 1e-6, the unit and its model differ on fewer than this share of random
%                            inputs (paper, section 5.4); 1 where nothing is known
%
%   Example
%       info = mfma_info('MI300X', 'fp16');
%       [info.fma, info.alignment_bits, info.params.late_sum_bits]
%
%   prints
%
%       ans =
%
%           8   24   32
%
%   Source: the catalogue of the library; docs/evidence.md lists the vectors by file.
%
%   See also CustomTC, mfma_gemm, mfma_version.

units = mfma_mex('info', 'mfma_info');
if nargin > 0
    units = units(strcmp({units.arch}, mfma_mex('name', 'mfma_info', arch)));
end
if nargin > 1
    [~, wanted] = mfma_mex('name', 'mfma_info', arch, format);
    units = units(strcmp({units.a}, wanted) & strcmp({units.b}, wanted));
end
if nargin > 2
    [~, wanted] = mfma_mex('name', 'mfma_info', arch, out);
    units = units(strcmp({units.out}, wanted));
end
if isempty(units)
    % The error that says what the architecture has.
    pair = struct('arch', arch, 'format', format);
    if nargin > 2
        pair.out = out;
    end
    mfma_mex('formats', 'mfma_info', pair);
end
if nargout == 0
    print_table(units);
    return
end

column = @(list) reshape(list, numel(list), 1);
empty = cell(numel(units), 1);
info = struct('arch', column({units.arch}), 'a', column({units.a}), 'b', column({units.b}), ...
    'out', column({units.out}), 'fma', empty, 'alignment_bits', empty, 'rounding', empty, 'subnormals', empty, ...
    'params', empty);
for i = 1:numel(units)
    p = units(i).params;
    info(i).fma = p.fma;
    if aligns(p)
        info(i).alignment_bits = p.alignment_bits;
    end
    info(i).rounding = p.rounding;
    info(i).subnormals = logical(p.in_subnormals && p.out_subnormals);
    info(i).params = toolbox_params(p);
    info(i).params.fp8_fnuz = double(~isempty(strfind([units(i).a, units(i).b], 'fnuz'))); %#ok<STREMP>
    for name = {'instruction', 'by_instruction', 'evidence', 'source', 'measured', 'paper', 'directed', 'golden', ...
            'mismatches', 'mismatch_bound'}
        info(i).(name{1}) = units(i).(name{1});
    end
end
end

function yes = aligns(p)
yes = any(strcmp(p.scheme, {'global_alignment', 'odd_even_grouping'}));
end

function print_table(units)
fprintf('%-14s %-9s %-9s %-5s %5s %5s %-4s %-10s %-12s %9s %9s %s\n', 'arch', 'A', 'B', 'out', 'N_FMA', 'bits', 'rnd', ...
    'subnormals', 'evidence', 'vectors', 'bound', 'instruction');
kept = {'flushed', 'kept'};
for i = 1:numel(units)
    u = units(i);
    p = u.params;
    bits = '-';
    if aligns(p)
        bits = sprintf('%d', p.alignment_bits);
    end
    bound = '-';
    if u.mismatch_bound < 1
        bound = sprintf('%.1e', u.mismatch_bound);
    end
    name = u.instruction;
    if u.by_instruction
        name = ['only ', name]; %#ok<AGROW>
    end
    fprintf('%-14s %-9s %-9s %-5s %5d %5s %-4s %-10s %-12s %9d %9s %s\n', u.arch, u.a, u.b, u.out, p.fma, bits, p.rounding, ...
        kept{1 + (p.in_subnormals && p.out_subnormals)}, u.evidence, u.measured + u.paper + u.directed + u.golden, bound, name);
end
end

%!test
%! info = mfma_info ('MI300X', 'fp16');
%! assert ([info.fma, info.alignment_bits, info.params.late_sum_bits], [8 24 32]);
%! assert (info.arch, 'CDNA3');
%!test  % every unit by its parameters
%! A = 1 + magic (6) / 7;
%! all_units = mfma_info ();
%! for u = all_units(! [all_units.by_instruction])'
%!   D = mfma_gemm (A, A', -A, 'arch', u.arch, 'format', {u.a, u.b}, 'out', u.out);
%!   assert (mfma_gemm (A, A', -A, 'params', u.params, 'format', {u.a, u.b}, 'out', u.out), D);
%! end
%!error id=mfma:format:unsupported mfma_info ('MI100', 'xf32')
%!error id=mfma:format:unsupported mfma_info ('V100', 'fp16', 'bf16')
%!error id=mfma:arch:unknown mfma_info ('MI1')
%!error id=mfma:format:unknown mfma_info ('MI100', 'fp7')
