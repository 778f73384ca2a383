function [a, b, c] = mfma_sample(n, varargin)
%MFMA_SAMPLE  Random inputs for a matrix unit, drawn to show what it does.
%
%   [a, b, c] = MFMA_SAMPLE(n, name, value, ...) returns n cases: a and b are K-by-n, c is 1-by-n; case i is the dot product
%   a(:,i)' * b(:,i) + c(i). Options, in any order, are 'arch', 'format', 'out', 'instruction' and 'params', as for
%   mfma_gemm, and
%
%       'sampler'  how inputs are drawn:
%                  'exponent-mantissa', 'subnormal-exponents'  significands and exponents uniform (paper, Algorithm 3), over
%                                 normal or subnormal exponents
%                  'independent-bits'  every bit at random, without infinities and NaNs (paper, section 5.2)
%                  'any-bits', 'window', 'pairs', 'cancelled-by-c', 'gap', 'subnormal', 'limits', 'sparse', 'specials',
%                  'ties', 'near-ties', 'only-c'  directed at one thing that units do
%                  'directed'     all of these in turn
%                  'all'          all of the above in turn ['all']
%       'seed'     seed; with 0 the paper's samplers begin as rng(0) does [0]
%       'first'    number of the first case, from 0. Which case a number stands for depends on sampler, seed, unit and K
%                  alone, so a long run can be split [0]
%       'k'        K, the length of the dot products [that of the unit's longest instruction]
%       'raw'      true: a, b and c are encodings, uint8 to uint64, as mfma_dot takes them; false: numbers [false]
%
%   No random state of the session is used or changed.
%
%   Example
%       [a, b, c] = mfma_sample(2, 'arch', 'MI300X', 'sampler', 'exponent-mantissa', 'k', 2, 'raw', true);
%       fprintf('%04x %04x  %04x %04x  %08x\n', [double([a; b]); double(c)])
%
%   prints
%
%       667d 129c  ce70 19ff  7a6e05de
%       1787 e37c  e5ba 36a6  656b4296
%
%   Source: the paper's section 5; docs/validate.md describes the samplers and how seeds derive.
%
%   See also mfma_validate, mfma_dot, mfma_gemm.

if nargin < 1
    error('mfma:arg:count', 'mfma_sample: %d of at least 1 argument given: n, name, value, ...', nargin);
end
names = {'arch', 'format', 'out', 'instruction', 'params', 'sampler', 'seed', 'first', 'k', 'raw'};
unit = unit_options('mfma_sample', names, varargin, {'n', n});
raw = false;
if isfield(unit, 'raw')
    raw = yes_or_no('mfma_sample', unit.raw, 'raw');
    unit = rmfield(unit, 'raw');
end
[a, b, c] = mfma_mex('sample', 'mfma_sample', unit, n);
if ~raw
    formats = mfma_mex('formats', 'mfma_sample', unit);
    a = mfma_decode(a, formats{1});
    b = mfma_decode(b, formats{2});
    c = mfma_decode(c, formats{3});
end
end

%!test  % the example
%! [a, b, c] = mfma_sample (2, 'arch', 'MI300X', 'sampler', 'exponent-mantissa', 'k', 2, 'raw', true);
%! shown = sprintf ('%04x %04x  %04x %04x  %08x\n', [double([a; b]); double(c)]);
%! assert (shown, sprintf ('667d 129c  ce70 19ff  7a6e05de\n1787 e37c  e5ba 36a6  656b4296\n'));
%!test  % numbers are those of the encodings
%! unit = {'arch', 'MI300X', 'format', 'bf16'};
%! [a, b, c] = mfma_sample (50, unit{:});
%! [ra, rb, rc] = mfma_sample (50, unit{:}, 'raw', true);
%! assert (size (a), [16 50]);  assert (size (c), [1 50]);
%! assert (class (ra), 'uint16');  assert (class (rc), 'uint32');
%! assert (isequaln (a, mfma_decode (ra, 'bf16')) && isequaln (b, mfma_decode (rb, 'bf16')));
%! assert (isequaln (c, double (typecast (rc, 'single'))));
%!test  % any split has the same cases
%! unit = {'arch', 'H100', 'format', 'e4m3', 'sampler', 'gap', 'seed', 7, 'k', 3, 'raw', true};
%! [a, b, c] = mfma_sample (9, unit{:});
%! [x, y, z] = mfma_sample (4, unit{:}, 'first', 5);
%! assert (a(:, 6:9), x);  assert (b(:, 6:9), y);  assert (c(6:9), z);
%!test  % the first numbers of rng(0) are 0.8147 and 0.9058 (Algorithm 3)
%! a = mfma_sample (1, 'arch', 'MI300X', 'sampler', 'exponent-mantissa');
%! exact = (-1 + 2 * 0.905791937075619) * (2 - 2^-10) * 2^(-14 + floor (0.814723686393179 * 30));
%! assert (abs (a(1) - exact) <= 2^-11 * abs (exact));
%!test  % MATLAB's random state is left alone
%! rand ('seed', 5);  x = rand ();  rand ('seed', 5);  mfma_sample (3, 'arch', 'MI100');
%! assert (rand (), x);
%!assert (size (mfma_sample (0, 'arch', 'MI100')), [16 0])
%!error id=mfma:arg:count mfma_sample ()
%!error id=mfma:arg:count mfma_sample (3)
%!error id=mfma:arg:value mfma_sample (3, 'arch', 'MI100', 'sampler', 'nice')
%!error id=mfma:arg:option mfma_sample (3, 'arch', 'MI100', 'samples', 'all')
%!error id=mfma:arg:type mfma_sample (3, 'arch', 'MI100', 'raw', 'yes')
%!error id=mfma:arg:value mfma_sample (3, 'arch', 'MI100', 'first', 2^53 - 2)
%!error id=mfma:arch:unknown mfma_sample (3, 'arch', 'MI1')
