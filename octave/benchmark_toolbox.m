% How much faster than the original toolbox, in Octave on this machine:
%
%     octave-cli --no-gui octave/benchmark_toolbox.m PATH
%
% PATH is a checkout of MATLAB Tensor Core. A100TC with binary16 inputs and MI300XMC (here MI300MC, which is the same)
% run 16x16x16 and 256x256x256 products. The original would take days for the second; it runs 2 of the 65536 elements, and
% its time is multiplied. The original runs without CPFloat, with what Octave lacks from octave/standins.

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
A = mod((0:255)' * 37 + (0:255) * 91, 101) / 64 - 0.75;
small = A(1:16, 1:16);

addpath(mine);
[version_text, details] = mfma_version();
printf('mfma %s, %s kernel, %d threads, Octave %s\n', version_text, details.kernel, details.threads, version());
ours16 = fastest(@() A100TC(1, small, small, 1, small, 'fp16', 'fp32'), 1);
ours256 = fastest(@() A100TC(1, A, A, 1, A, 'fp16', 'fp32'), 2);
D16 = A100TC(1, small, small, 1, small, 'fp16', 'fp32');
rmpath(mine);

warning('off', 'all');
addpath(theirs{:});
rehash
t = tic;
said = evalc('E16 = A100TC(1, small, small, 1, small, ''fp16'', ''fp32'');');
theirs16 = toc(t);
t = tic;
said = evalc('A100TC(1, A(1, :), A(:, 1:2), 1, A(1, 1:2), ''fp16'', ''fp32'');');
theirs256 = toc(t) * 256 * 256 / 2;

printf('A100TC, fp16      mfma          original       factor\n');
printf('16x16x16      %10.2e s  %12.2e s %12.2e   (same results: %d)\n', ours16, theirs16, theirs16 / ours16, isequal(D16, E16));
printf('256x256x256   %10.2e s  %12.2e s %12.2e   (original: from 2 elements)\n', ours256, theirs256, theirs256 / ours256);
