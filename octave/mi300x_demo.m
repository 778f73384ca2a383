% What an MI300X computes, next to binary64 and to other AMD GPUs: run by `make demo`.
%
%     octave-cli octave/mi300x_demo.m
%
% Two matrices with a spread of magnitudes as in the layers of a neural network are multiplied by the models of three
% generations of AMD matrix cores. The program says how large the errors are, where the GPUs differ, and why.

1;  % a script, although functions come first

function [x, state] = uniform(state, n)
% n numbers in (0, 1) by the generator of Park and Miller: the same on every machine and in every version of Octave.
x = zeros(n, 1);
for i = 1:n
    state = mod(16807 * state, 2147483647);
    x(i) = state / 2147483647;
end
end

function [X, state] = spread_matrix(state, rows, cols, width)
% Normal numbers, each column scaled by 2^s with s normal of the given width.
[u, state] = uniform(state, 2 * rows * cols);
u = reshape(u, rows * cols, 2);
X = reshape(sqrt(-2 * log(u(:, 1))) .* cos(2 * pi * u(:, 2)), rows, cols);
[u, state] = uniform(state, 2 * cols);
u = reshape(u, cols, 2);
s = width * sqrt(-2 * log(u(:, 1))) .* cos(2 * pi * u(:, 2));
X = X .* repmat(2 .^ s', rows, 1);
end

function text = bits_of(x)
% Sign, exponent and fraction of a binary32 number.
b = dec2bin(double(typecast(single(x), 'uint32')), 32);
text = [b(1), ' ', b(2:9), ' ', b(10:32)];
end

function n = ulps_between(x, y)
% How many binary32 numbers x lies above y.
order = @(u) double(u) .* (u < 2^31) + (2^31 - double(u)) .* (u >= 2^31);
n = order(typecast(single(x(:)), 'uint32')) - order(typecast(single(y(:)), 'uint32'));
end

function histogram_of(name, n)
% One line for each distance in units in the last place.
limit = 4;
printf('\n  %s: results that lie n binary32 numbers above the exact product (rounded once)\n', name);
for k = -limit:limit
    if k == -limit
        count = sum(n <= k);
        label = sprintf('<= %d', k);
    elseif k == limit
        count = sum(n >= k);
        label = sprintf('>= %d', k);
    else
        count = sum(n == k);
        label = sprintf('%d', k);
    end
    printf('  %6s %5d %s\n', label, count, repmat('#', 1, round(60 * count / numel(n))));
end
printf('  below %d, equal %d, above %d\n', sum(n < 0), sum(n == 0), sum(n > 0));
end

more off
here = fileparts(mfilename('fullpath'));
addpath(fullfile(fileparts(here), 'matlab'));

state = 20260101;
[A, state] = spread_matrix(state, 64, 256, 1.5);   % activations: some columns much larger than others
[B, state] = spread_matrix(state, 256, 64, 0.5);   % weights
B = B / 16;

printf('mfma %s: D = A*B with A 64-by-256 and B 256-by-64, on models of GPU matrix units\n', mfma_version());
printf('|A| from %.1e to %.1e, |B| from %.1e to %.1e\n\n', min(abs(A(:))), max(abs(A(:))), min(abs(B(:))), max(abs(B(:))));

units = {'MI300X fp16', @MI300XMC, 'fp16'; ...
         'MI210  fp16', @MI210MC,  'fp16'; ...
         'MI100  fp16', @MI100MC,  'fp16'; ...
         'MI300X fp8',  @MI300XMC, 'fp8'};
exact = A * B;
started = tic;
D = cell(1, 4);
for i = 1:4
    D{i} = units{i, 2}(1, A, B, 0, [], units{i, 3});
end
seconds = toc(started);

% What the unit sees: a product with the identity rounds, and nothing else.
seen = cell(1, 4);
for i = 1:4
    rounded = @(X) units{i, 2}(1, X, eye(columns(X)), 0, [], units{i, 3});
    seen{i} = rounded(A) * rounded(B);
end

printf('Norm-wise error ||D - X|| / ||X|| (Frobenius)\n\n');
printf('                 X = A*B in binary64   X = the rounded A and B, multiplied in binary64\n');
for i = 1:4
    printf('  %-12s %18.2e %20.2e\n', units{i, 1}, norm(D{i} - exact, 'fro') / norm(exact, 'fro'), ...
        norm(D{i} - seen{i}, 'fro') / norm(seen{i}, 'fro'));
end
printf(['\n  Left: what a user loses, mostly by rounding A and B to the input format. Right: what the unit itself loses\n', ...
    '  while it adds, which is where the GPUs differ. (The products of 8-bit numbers are so short that the MI300X\n', ...
    '  adds them without error here.)\n']);

printf('\nThe same fp16 inputs on three GPUs: of %d results\n\n', numel(D{1}));
for pair = [1 1 2; 2 3 3]
    printf('  %5d differ between %s and %s\n', sum(D{pair(1)}(:) ~= D{pair(2)}(:)), units{pair(1), 1}, units{pair(2), 1});
end
printf('  %5d are the same on all three\n', sum(D{1}(:) == D{2}(:) & D{1}(:) == D{3}(:)));

% One element that all three compute differently, as near to the others as most are.
where = find(D{1} ~= D{2} & D{1} ~= D{3} & D{2} ~= D{3}, 1);
if isempty(where)
    where = find(D{1} ~= D{2}, 1);
end
[r, c] = ind2sub(size(exact), where);
printf('\nElement (%d, %d), bit for bit (sign, exponent, fraction)\n\n', r, c);
for i = 1:3
    printf('  %-12s %s   %.9g\n', units{i, 1}, bits_of(D{i}(where)), D{i}(where));
end
printf('  %-12s %s   %.9g\n', 'exact', bits_of(seen{1}(where)), seen{1}(where));

for i = 1:3
    histogram_of(units{i, 1}, ulps_between(D{i}, seen{1}));
end

printf(['\nWhy they differ\n\n', ...
    '  MI100   adds four products and what it has so far without error, and rounds once to nearest.\n', ...
    '  MI210   rounds every product, and every sum of two, to nearest; numbers below 2^-126 become zero.\n', ...
    '  MI300X  cuts eight products 24 bits below the largest, adds them, and rounds the smaller of their sum and\n', ...
    '          what it has so far down (toward minus infinity) when it aligns the two; then rounds to nearest.\n']);
printf('\nThe four products took %.3f seconds. Next: `help MI300XMC` in Octave, after `addpath matlab`.\n', seconds);
