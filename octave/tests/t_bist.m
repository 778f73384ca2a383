function t_bist()
% The test blocks in the functions themselves, and what every function must have.
folder = fullfile(fileparts(fileparts(fileparts(mfilename('fullpath')))), 'matlab');
files = [dir(fullfile(folder, '*.m')); dir(fullfile(folder, 'tools', '*.m')); dir(fullfile(folder, 'extras', '*.m'))];
names = {files.name};
without = {'Contents.m', 'mfma_mex.m', 'mfma_build.m', 'buildfile.m', 'mfmaTest.m'};
addpath(fullfile(folder, 'tools'), fullfile(folder, 'extras'));
for i = 1:numel(names)
    path = fullfile(files(i).folder, names{i});
    text = fileread(path);
    stem = names{i}(1:end - 2);
    if any(strcmp(names{i}, {'Contents.m', 'mfmaTest.m'}))
        continue
    end
    check(~isempty(regexp(text, ['^%', upper(stem), '  '], 'once', 'lineanchors')), '%s has no H1 line', names{i});
    code = regexprep(text, '^%!.*$', '', 'lineanchors', 'dotexceptnewline');
    check(isempty(regexp(code, '(\<string\(|\<contains\(|\<strings\(|\<fma\(|"|\<endif\>|\<endfunction\>|!=|\+=)', ...
        'once')) , '%s is not the language of both MATLAB R2018a and Octave 7', names{i});
    if any(strcmp(names{i}, without))
        continue
    end
    check(~isempty(strfind(text, '%   See also ')), '%s has no See also line', names{i});
    check(~isempty(strfind(text, sprintf('%%   Example'))), '%s has no example', names{i});
    [passed, total] = test(path, 'quiet', fopen(tempname(), 'w'));
    check(total > 0 && passed == total, '%s: %d of %d test blocks pass', names{i}, passed, total);
end
rmpath(fullfile(folder, 'tools'), fullfile(folder, 'extras'));
end
