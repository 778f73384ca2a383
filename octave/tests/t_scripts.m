function t_scripts()
% Whole scripts in the style of the original's: functions at the end, clear all, scripts that call scripts, cpfloat from
% extras, the models by a relative path. Then the original's own, unchanged, where MFMA_TOOLBOX names a checkout.
here = fileparts(fileparts(fileparts(mfilename('fullpath'))));
base = tempname();
mkdir(base);
mkdir(fullfile(base, 'experiments'));
copyfile(fullfile(here, 'matlab'), fullfile(base, 'models'));
restore = onCleanup(@() remove(base));
script_in_the_same_style(here, base);

toolbox = getenv('MFMA_TOOLBOX');
if isempty(toolbox)
    printf('    NOT RUN: the original''s scripts; MFMA_TOOLBOX names no checkout\n');
    return
end
check(exist(fullfile(toolbox, 'model_validation'), 'dir') == 7, 'MFMA_TOOLBOX: no model_validation in %s', toolbox);
thin_validation(toolbox, base);
validation(here, base);
exceptional_cases(here, base);
if isempty(getenv('MFMA_TEST_FULL'))
    printf('    NOT RUN: experiments.m and experiments_CDNA.m, which take half an hour; MFMA_TEST_FULL is not set\n');
else
    experiments(here, toolbox, base);
end
end

function script_in_the_same_style(here, base)
write(fullfile(base, 'experiments', 'outer.m'), { ...
    'warning(''off'', ''all'');', 'clear all', 'addpath ../models/', 'addpath ../models/extras', ...
    'inopt.format = ''fp8-e5m2'';', 'kept = 0;', 'for p = 1:3', '    inner;', '    kept(end + 1) = total;', 'end', ...
    'printf(''%g '', [kept, square(3)]);', ...
    'function y = square(x)', '% the end of a comment', 'if x(end) > 0, y = x ^ 2; end', 'end'});
write(fullfile(base, 'experiments', 'inner.m'), { ...
    '% not other.m, ''other'' here and there', 'said = ''other'';', '[x, options] = cpfloat(p + 1/64, inopt);', 'total = add_up(x, options.params(1));', ...
    'function y = add_up(x, t)', 'y = 0;', 'for i = 1:2', '    y = MI300XMC(1, [x i], [1; 2^-t], 1, y, ''fp8-e5m2'');', 'end', 'end'});
% A script that is named, but not called; its function of the same name is not the one to call.
write(fullfile(base, 'experiments', 'other.m'), {'other = 1;', 'function y = add_up(x, t)', 'y = 0;', 'end'});
[status, output] = run_script(here, fullfile(base, 'experiments', 'outer.m'));
% The units' answers are exact here: sum over i of p + i * 2^-3.
wanted = [0, 2.375, 4.375, 6.375, 9];
check(status == 0 && isequal(sscanf(output, '%g')', wanted), 'status %d: %s', status, output);
end

function validation(here, base)
% Two sets of the original, B200 with 8-bit inputs, were not measured on the unit that its model describes.
[status, output] = run_script(here, fullfile(base, 'model_validation', 'Validate_TC_models.m'));
stopped = regexp(output, 'Error occurred in model (\w+) with format (\w+)', 'tokens', 'once');
if isempty(stopped)
    check(status == 0 && ~isempty(strfind(output, 'Model_GPU_error = 0')), 'Validate_TC_models: %s', output);
else
    check(isequal(stopped{1}, 'B200') && any(strcmp(stopped{2}, {'E5M2', 'E4M3'})), 'Validate_TC_models: %s', output);
end
end

function exceptional_cases(here, base)
[status, output] = run_script(here, fullfile(base, 'model_validation', 'ExceptionalCasesTest.m'), ...
    sprintf('addpath(''%s'');', fullfile(base, 'models'), fullfile(base, 'models', 'extras')));
check(status == 0 && numel(strfind(output, 'PASSED')) == 7, 'ExceptionalCasesTest: %s', output);
end

function experiments(here, toolbox, base)
% Errors of multiword products against the published ones: other random numbers, so the same magnitude. The published
% ones come from operands that were rounded with the options that the models left behind.
copyfile(fullfile(toolbox, 'experiments', '*.m'), fullfile(base, 'experiments'));
data = fullfile(base, 'experiments', 'data');
mkdir(data);
for name = {'experiments_CDNA', 'experiments'}
    [status, output] = run_script(here, fullfile(base, 'experiments', [name{1}, '.m']), ...
        [sprintf('addpath(''%s'');', fullfile(base, 'models'), fullfile(base, 'models', 'extras')), ' mfma_compat(''cpfloat'');']);
    check(status == 0, '%s: %s', name{1}, output(max(1, end - 2000):end));
end
files = dir(fullfile(data, '*.dat'));
% The published data has two curves more, which the scripts of today do not compute.
published = dir(fullfile(toolbox, 'experiments', 'data', '*.dat'));
missing = setdiff({published.name}, {files.name});
check(isequal(missing(:)', {'matmul_test_fp8-e5m2_binary32_words_2_model_mi300x.dat', ...
    'matmul_test_fp8-e5m2_binary32_words_3_model_mi300x.dat'}), 'no data for %s', strjoin(missing, ', '));
for f = files'
    ours = dlmread(fullfile(data, f.name), ' ', 1, 0);
    theirs = dlmread(fullfile(toolbox, 'experiments', 'data', f.name), ' ', 1, 0);
    ratio = median(ours(:, 2) ./ theirs(:, 2));
    check(isequal(ours(:, 1), theirs(:, 1)) && ratio > 1 / 4 && ratio < 4, '%s: median ratio %g', f.name, ratio);
end
end

function [status, output] = run_script(here, script, before)
if nargin < 3
    before = '';
end
[status, output] = child(sprintf('addpath(''%s''); %s run_matlab_script(''%s'');', fullfile(here, 'octave'), before, script));
end

function thin_validation(toolbox, base)
% The first 20 lines of every file: the original's reader takes minutes for a whole one in Octave.
from = fullfile(toolbox, 'model_validation');
to = fullfile(base, 'model_validation');
mkdir(to);
copyfile(fullfile(from, '*.m'), to);
for gpu = dir(from)'
    if gpu.isdir && gpu.name(1) ~= '.' && ~strcmp(gpu.name, 'CUDA')
        mkdir(fullfile(to, gpu.name));
        for format = dir(fullfile(from, gpu.name))'
            if format.name(1) ~= '.'
                mkdir(fullfile(to, gpu.name, format.name));
                for file = dir(fullfile(from, gpu.name, format.name, '*.txt'))'
                    thin(fullfile(from, gpu.name, format.name, file.name), fullfile(to, gpu.name, format.name, file.name));
                end
            end
        end
    end
end
end

function thin(from, to)
f = fopen(from, 'r');
lines = {};
while numel(lines) < 20 && ischar(line = fgetl(f))
    lines{end + 1} = line;
end
fclose(f);
write(to, lines);
end

function write(path, lines)
f = fopen(path, 'w');
fprintf(f, '%s\n', lines{:});
fclose(f);
end

function remove(base)
confirm_recursive_rmdir(false, 'local');
rmdir(base, 's');
end
