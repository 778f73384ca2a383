function t_package()
% The package: made, installed into an empty place, loaded, tested, unloaded, uninstalled.
here = fileparts(fileparts(fileparts(mfilename('fullpath'))));
folder = tempname();
mkdir(folder);
[status, output] = system(sprintf('bash "%s" "%s" 2>&1', fullfile(here, 'octave', 'make_package.sh'), folder));
check(status == 0, 'make_package.sh: %s', output);
tarball = dir(fullfile(folder, 'mfma-*.tar.gz'));
if status ~= 0 || isempty(tarball)
    return
end
% A home of its own, so that nothing of the user's is touched.
code = { ...
    sprintf('cd %s', folder), ...
    sprintf('pkg prefix %s/pkg %s/arch', folder, folder), ...
    sprintf('pkg local_list %s/list', folder), ...
    sprintf('pkg install -local %s', fullfile(folder, tarball.name)), ...
    'pkg load mfma', ...
    'printf(''value %d\n'', MI300XMC(1, 2, 3, 1, 4, ''fp16''))', ...
    'printf(''custom %d\n'', GEMM(1, 2, 3, 1, 4, ''fp16'', ''fp32'', struct(''fma'', 4)))', ...
    'pkg test mfma', ...
    'pkg unload mfma', ...
    'printf(''unloaded %d\n'', exist(''MI300XMC'', ''file''))', ...
    'pkg uninstall -local mfma', ...
    'printf(''left %d\n'', numel(pkg(''list'')))'};
script = fullfile(folder, 'run.m');
f = fopen(script, 'w');
fprintf(f, '%s\n', code{:});
fclose(f);
program = fullfile(OCTAVE_EXEC_HOME(), 'bin', 'octave-cli');
[status, output] = system(sprintf('HOME="%s" "%s" --no-gui --no-init-file --no-history --quiet "%s" 2>&1', folder, program, ...
    script));
check(status == 0, 'installing and testing the package: status %d, %s', status, output);
if status ~= 0
    return
end
for wanted = {'value 10', 'custom 10', 'unloaded 0', 'left 0'}
    check(~isempty(strfind(output, wanted{1})), 'the package: no "%s" in %s', wanted{1}, output);
end
failures = regexp(output, 'FAIL\s+(\d+)', 'tokens', 'once');
check(~isempty(failures) && strcmp(failures{1}, '0'), 'pkg test: %s', output);
confirm_recursive_rmdir(false, 'local');
rmdir(folder, 's');
end
