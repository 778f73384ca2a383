% Runs the Octave tests of mfma:
%
%     octave-cli --no-gui --no-init-file octave/run_tests.m [name ...]
%
% All functions t_*.m of octave/tests, or those named. Ends with a line "N passed, N failed"; the exit status is 1 where
% something failed. Evidence is looked for in the folder that MFMA_TEST_DATA names, else in tests/data.

more off
here = fileparts(mfilename('fullpath'));
addpath(fullfile(fileparts(here), 'matlab'));
addpath(fullfile(here, 'tests'));

names = argv()';
names = names(strncmp(names, 't_', 2));
if isempty(names)
    files = dir(fullfile(here, 'tests', 't_*.m'));
    names = strrep({files.name}, '.m', '');
end
printf('mfma %s in Octave %s\n', mfma_version(), version());
for i = 1:numel(names)
    before = check();
    started = tic;
    try
        feval(names{i});
    catch problem
        check(false, '%s stopped: %s', names{i}, problem.message);
        for s = problem.stack(1:min(3, end))'
            printf('        in %s, line %d\n', s.name, s.line);
        end
    end
    counts = check() - before;
    printf('%-14s %7d passed, %d failed  (%.1f s)\n', names{i}, counts, toc(started));
end
counts = check();
printf('%d passed, %d failed\n', counts);
exit(counts(2) > 0);
