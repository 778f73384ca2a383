% How much faster than the original toolbox, in Octave on this machine:
%
%     octave-cli --no-gui octave/benchmark_toolbox.m PATH
%
% PATH is a checkout of MATLAB Tensor Core; with the MI300MC.m of commit b4bf135 put back it also times CDNA 3. Products of
% 16x16x16 and 256x256x256, and 10^6 dot products of K = 16. The original would take days for the larger ones: it runs a few
% elements, the last column says how many, and its time is multiplied. It runs without CPFloat, with what Octave lacks from
% octave/standins. The small product must have the same result in both.

1;  % a script, although functions come first

function seconds = fastest(f, least)
% The fastest of several runs, for `least` seconds in all.
seconds = Inf;
started = tic;
while toc(started) < least
    t = tic;
    f();
    seconds = min(seconds, toc(t));
end
end

more off
words = argv()';
if isempty(words) || ~exist(fullfile(words{1}, 'models', 'A100TC.m'), 'file')
    printf('usage: octave-cli octave/benchmark_toolbox.m PATH, a checkout of MATLAB Tensor Core\n');
    exit(2);
end
here = fileparts(mfilename('fullpath'));
mine = fullfile(fileparts(here), 'matlab');
theirs = {fullfile(here, 'standins'), fullfile(words{1}, 'models'), fullfile(words{1}, 'models', 'tools')};
warning('off', 'all');
A = mod((0:255)' * 37 + (0:255) * 91, 101) / 64 - 0.75;
small = A(1:16, 1:16);
count = 1e6;
a = mod((1:16)' * 91 + (1:count) * 37, 101) / 64 - 0.75;
b = mod((1:16)' * 17 + (1:count) * 53, 89) / 32 - 1.25;
c = mod((1:count) * 29, 97) / 16 - 3;

addpath(mine);
[version_text, details] = mfma_version();
printf('mfma %s, %s kernel, %d threads, Octave %s\n', version_text, details.kernel, details.threads, version());
rmpath(mine);
printf('%-10s %-12s %12s %14s %10s\n', 'function', 'work', 'mfma', 'original', 'factor');
for f = {'A100TC', 'MI210MC', 'MI300MC'}
    name = f{1};
    if ~exist(fullfile(words{1}, 'models', [name, '.m']), 'file')
        printf('%-10s not in this checkout\n', name);
        continue
    end
    formats = {'fp16', 'fp32'}(1:1 + strcmp(name, 'A100TC'));
    arch = strrep(strrep(name, 'TC', ''), 'MC', '');

    addpath(mine);
    unit = str2func(name);
    ours = [fastest(@() unit(1, small, small, 1, small, formats{:}), 0.5), ...
        fastest(@() unit(1, A, A, 1, A, formats{:}), 1), ...
        fastest(@() mfma_dot(a, b, c, 'arch', arch, 'format', 'fp16'), 1)];
    D = unit(1, small, small, 1, small, formats{:});
    rmpath(mine);

    addpath(theirs{:});
    rehash
    original = str2func(name);
    t = tic;
    said = evalc('E = original(1, small, small, 1, small, formats{:});');
    took = toc(t);
    t = tic;
    said = evalc('original(1, A(1, :), A(:, 1:2), 1, A(1, 1:2), formats{:});');
    took(2) = toc(t) * 256 * 256 / 2;
    t = tic;
    said = evalc('for i = 1:20, original(1, a(:, i)'', b(:, i), 1, c(i), formats{:}); end');
    took(3) = toc(t) * count / 20;
    rmpath(theirs{:});

    work = {'16x16x16', '256x256x256', '10^6 dots'};
    notes = {sprintf('same results: %d', isequal(D, E)), 'original: from 2 elements', 'original: from 20'};
    for i = 1:3
        printf('%-10s %-12s %10.2e s %12.2e s %10.2e   (%s)\n', name, work{i}, ours(i), took(i), took(i) / ours(i), notes{i});
    end
end
