function t_golden()
% Golden dot products (golden/*.txt), every function, through the toolbox functions as users call them: all cases of the
% AMD functions, one in four of the others; all of them with MFMA_TEST_FULL=1.
folder = data_folder('golden');
if isempty(folder)
    printf('    NOT RUN: golden dot products; MFMA_TEST_DATA does not name the evidence\n');
    return
end
full = strcmp(getenv('MFMA_TEST_FULL'), '1');
files = dir(fullfile(folder, '*.txt'));
for i = 1:numel(files)
    step = 4;
    if full || strncmp(files(i).name, 'MI', 2)
        step = 1;
    end
    one_file(fullfile(folder, files(i).name), files(i).name, step);
end
end

function one_file(path, name, step)
set = read_cases(path, step);
f = str2func(set.function);
formats = function_formats(set.function, set.informat, set.outformat);
for i = 1:numel(set.d)
    d = f(1, set.a{i}, set.b{i}', 1, set.c(i), formats{:});
    check(same_bits(d, set.d(i)), '%s: K = %d, c = %.17g: %.17g instead of %.17g', name, numel(set.a{i}), set.c(i), ...
        d, set.d(i));
end
end
