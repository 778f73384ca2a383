function [y, options] = cpfloat(x, fpopts)
%CPFLOAT  Round numbers to a format of low precision, as CPFloat does, where CPFloat is not installed.
%
%   [y, options] = CPFLOAT(x, fpopts) rounds the elements of x, single or double, to the format that fpopts describes.
%   It covers what scripts written for MATLAB Tensor Core use of CPFloat (https://github.com/north-numerical-computing/cpfloat);
%   the original is faster and does more (random rounding, bit flips). This folder is not on the path unless the user
%   puts it there; mfma itself never calls cpfloat.
%
%   Fields of fpopts:
%       format      'fp8-e4m3', 'E4M3', 'q43'; 'fp8-e5m2', 'E5M2', 'q52'; 'bf16', 'bfloat16', 'b'; 'fp16', 'half',
%                   'binary16', 'h'; 'tf32', 'TensorFloat-32', 't'; 'fp32', 'single', 'binary32', 's'; 'fp64', 'double',
%                   'binary64', 'd'; or 'custom', 'c', with params
%       params      [p, emin, emax]: significand bits with the leading one, and the exponents of the smallest normal and
%                   the largest finite number
%       round       -1 nearest, ties away; 0 nearest, ties toward zero; 1 nearest, ties to even; 2 up; 3 down; 4 toward zero
%       infinity    1: what overflows is an infinity, 0: NaN (the default of E4M3)
%       saturation  1: what overflows, and infinity, is the largest finite number
%       subnormal   1: subnormal numbers exist, 0: they become 0 or the smallest normal number, as the rounding says
%                   (the default of bfloat16)
%       explim      0: exponents are not limited
%
%   As in CPFloat, options stay as they are until they are set again, but for infinity and subnormal, which have their
%   format's default in a call that sets options and not them. options.params is [p, emin, emax] of the format.
%
%   E4M3 is taken as CPFloat takes it, with numbers up to 480.
%
%   Example
%       opts.format = 'fp16';
%       y = cpfloat([1/3, 70000], opts);
%       fprintf('%.17g\n', y)
%
%   prints
%
%       0.333251953125
%       Inf
%
%   Source: M. Fasi, M. Mikaitis: CPFloat: A C Library for Simulating Low-precision Arithmetic. ACM Transactions on
%   Mathematical Software, 2023. The function is written anew.
%
%   See also mfma_round, mfma_compat.

persistent o
if isempty(o)
    o = struct('format', 'h', 'params', [11 -14 15], 'explim', 1, 'infinity', 1, 'round', 1, 'saturation', 0, ...
        'subnormal', 1, 'flip', 0, 'p', 0.5);
end
if nargin > 1 && ~isempty(fpopts)
    if ~isstruct(fpopts)
        error('mfma:arg:type', 'cpfloat: the second argument must be a struct');
    end
    o = update(o, fpopts);
end
if nargin < 1
    x = [];
end
if ~isfloat(x) || ~isreal(x) || ndims(x) > 2 %#ok<ISMAT>
    error('mfma:arg:type', 'cpfloat: x must be a real matrix, double or single');
end
y = x;
y(:) = round_to(double(x), o);
options = o;
end

function o = update(o, new)
if isfield(new, 'format')
    o.format = new.format;
    if isempty(o.format)
        o.format = 'h';
    end
end
o.infinity = 1;
o.subnormal = 1;
switch o.format
    case {'q43', 'fp8-e4m3', 'E4M3'}
        o.params = [4 -6 8];
        o.infinity = 0;
    case {'q52', 'fp8-e5m2', 'E5M2'}
        o.params = [3 -14 15];
    case {'b', 'bfloat16', 'bf16'}
        o.params = [8 -126 127];
        o.subnormal = 0;
    case {'h', 'half', 'binary16', 'fp16'}
        o.params = [11 -14 15];
    case {'t', 'TensorFloat-32', 'tf32'}
        o.params = [11 -126 127];
    case {'s', 'single', 'binary32', 'fp32'}
        o.params = [24 -126 127];
    case {'d', 'double', 'binary64', 'fp64'}
        o.params = [53 -1022 1023];
    case {'c', 'custom'}
        if ~isfield(new, 'params') || numel(new.params) < 3
            error('mfma:arg:value', 'cpfloat: format ''custom'' needs params = [p, emin, emax]');
        end
        o.params = reshape(double(new.params(1:3)), 1, 3);
    otherwise
        error('mfma:format:unknown', 'cpfloat: unknown format ''%s''', o.format);
end
defaults = struct('explim', 1, 'infinity', 1, 'round', 1, 'saturation', 0, 'subnormal', 1, 'flip', 0, 'p', 0.5);
for name = {'explim', 'infinity', 'round', 'saturation', 'subnormal', 'flip', 'p'}
    if isfield(new, name{1})
        o.(name{1}) = new.(name{1});
        if isempty(o.(name{1}))
            o.(name{1}) = defaults.(name{1});
        end
    end
end
if o.flip ~= 0 || o.round > 4
    error('mfma:arg:value', 'cpfloat: bit flips and the rounding modes above 4 need CPFloat itself');
end
end

function y = round_to(x, o)
p = o.params(1);
smallest = 2^o.params(2);
largest = 2^o.params(3) * (2 - 2^(1 - p));
if ~o.explim
    largest = 2^1023 * (2 - 2^(1 - p));
end
[~, e] = log2(abs(x));
e = e - 1;
if o.explim
    e = max(e, o.params(2));
end
% The unit in the last place, in two factors, as it may lie below the smallest double.
unit = 2.^(e - p + 1);
y = to_integer(x ./ unit, o.round) .* unit;
y(x == 0 | ~isfinite(x)) = x(x == 0 | ~isfinite(x));
if any(o.round == [2 3])
    y(x == 0) = 0; % CPFloat loses the sign of -0 there
end
if ~o.subnormal && o.explim
    below = abs(x) < smallest & x ~= 0;
    % As if there were only the numbers 0 and +-smallest.
    y(below) = to_integer(x(below) / smallest, o.round) * smallest;
end
zero = y == 0 & x ~= 0;
y(zero) = 0;
if o.round ~= 2
    y(zero & x < 0) = -0;
end
beyond = abs(y) > largest & ~isnan(x);
if any(beyond(:))
    y(beyond) = overflow(x(beyond), largest, o);
end
end

function q = to_integer(q, mode)
switch mode
    case -1
        q = round(q);
    case 0
        q = sign(q) .* ceil(abs(q) - 0.5);
    case 1
        up = floor(q + 0.5);
        tie = up - q == 0.5 & mod(up, 2) ~= 0;
        q = up - tie;
    case 2
        q = ceil(q);
    case 3
        q = floor(q);
    case 4
        q = fix(q);
end
end

function y = overflow(x, largest, o)
toward_largest = o.round == 4 | (o.round == 2 & x < 0) | (o.round == 3 & x > 0);
y = x;
y(:) = Inf;
if ~o.infinity
    y(:) = NaN;
end
y(x < 0) = -y(x < 0);
cut = toward_largest & (isfinite(x) | ~o.infinity);
if o.saturation
    cut(:) = true;
end
y(cut) = sign(x(cut)) * largest;
end

%!test
%! [y, o] = cpfloat ([1/3, 70000, 2^-25, -1e-9], struct ('format', 'fp16', 'round', 1));
%! assert (y, [0.333251953125, Inf, 0, 0]);
%! assert (o.params, [11 -14 15]);
%!assert (cpfloat (300, struct ('format', 'c', 'params', [4 -7 7], 'saturation', 1, 'round', 1)), 240)
%!test  % saturation stays, and infinity does not
%! cpfloat (1, struct ('format', 'fp32', 'saturation', 1, 'infinity', 0));
%! assert (cpfloat (1e6, struct ('format', 'fp16')), 65504);
%! assert (cpfloat (1e6, struct ('format', 'fp16', 'saturation', 0)), Inf);
%!assert (cpfloat ([1 -1] * (1 + 2^-11 + 2^-20), struct ('format', 'fp16', 'round', 2)), [1 + 2^-10, -1])
%!assert (1 ./ cpfloat (-0, struct ('format', 'fp16', 'round', 3)), Inf)
%!assert (1 ./ cpfloat (-0, struct ('format', 'fp16', 'round', 1)), -Inf)
%!assert (cpfloat ([1 -1] * 2^-127, struct ('format', 'bf16', 'round', 4)), [0 0])
%!error id=mfma:format:unknown cpfloat (1, struct ('format', 'fp7'))
%!error id=mfma:arg:type cpfloat ({1}, struct ('format', 'fp16'))
