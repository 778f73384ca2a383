function [y, bits] = mfma_round(x, format, rounding, overflow)
%MFMA_ROUND  Round numbers to a format of matrix units.
%
%   y = MFMA_ROUND(x, format) returns the numbers of the format that are nearest to those of x, ties to even. x is an
%   array of any size, double, single, integer or logical; y is double.
%
%   format is, in any letter case, 'fp64', 'fp32', 'tf32', 'fp16', 'bf16', 'e4m3', 'e5m2' (OCP), 'e4m3fnuz', 'e5m2fnuz'
%   (CDNA 3), or another name of them, such as 'half' or 'fp8-e4m3'.
%
%   y = MFMA_ROUND(x, format, rounding): 'rne' to nearest, ties to even; 'rz' toward zero; 'rd' down; 'ru' up.
%
%   y = MFMA_ROUND(x, format, rounding, overflow): what lies beyond the largest finite number becomes
%       'default'    as the matrix functions round what they are given: the FNUZ formats saturate, the others are 'ieee'
%       'ieee'       what IEEE 754 says for the rounding, with NaN in the place of infinity where a format has none
%       'saturate'   the largest finite number
%       'infinity'   an infinity, whatever the rounding
%
%   [y, bits] = MFMA_ROUND(...) also returns the encodings, as uint8, uint16, uint32 or uint64.
%
%   Each number is rounded once, and subnormal numbers are kept.
%
%   Example
%       [y, bits] = mfma_round([1/3, 70000, 300], 'fp16');
%       fprintf('%.17g %04x\n', [y; double(bits)])
%
%   prints
%
%       0.333251953125 3555
%       Inf 7c00
%       300 5cb0
%
%   Source: OCP 8-bit Floating Point Specification 1.0, AMD CDNA 3 ISA (FNUZ formats), IEEE 754-2019; input rounding of
%   MATLAB Tensor Core v0.6.
%
%   See also mfma_decode, mfma_gemm, mfma_dot.

if nargin < 2
    error('mfma:arg:count', 'mfma_round: %d of at least 2 arguments given: x, format, rounding, overflow', nargin);
end
if nargin < 3
    rounding = 'rne';
end
if nargin < 4
    overflow = 'default';
end
[y, bits] = mfma_mex('round', 'mfma_round', x, format, rounding, overflow);
end

%!test
%! [y, bits] = mfma_round ([1/3, 70000, 300], 'fp16');
%! assert (y, [0.333251953125, Inf, 300]);
%! assert (bits, uint16 ([0x3555, 0x7c00, 0x5cb0]));
%!test
%! x = [-1 1] * (1 + 2^-11 + 2^-30);
%! assert (mfma_round (x, 'FP16', 'rz'), [-1 1]);
%! assert (mfma_round (x, 'half', 'rd'), [-1 - 2^-10, 1]);
%! assert (mfma_round (x, 'binary16', 'ru'), [-1, 1 + 2^-10]);
%!test
%! assert (mfma_round (1e6, 'fp16', 'rne', 'saturate'), 65504);
%! assert (mfma_round (1e6, 'fp16', 'rz', 'ieee'), 65504);
%! assert (mfma_round (1e6, 'fp16', 'rz', 'infinity'), Inf);
%! assert (mfma_round ([464 465 -Inf], 'e4m3'), [448 NaN NaN]);
%! assert (mfma_round ([1000 Inf], 'e4m3fnuz'), [240 NaN]);
%!assert (size (mfma_round (ones (2, 3, 4), 'bf16')), [2 3 4])
%!assert (mfma_round (int32 (257), 'bf16'), 256)
%!error id=mfma:arg:count mfma_round (1)
%!error id=mfma:format:unknown mfma_round (1, 'fp7')
%!error id=mfma:arg:value mfma_round (1, 'fp16', 'xx')
%!error id=mfma:arg:value mfma_round (1, 'fp16', 'rne', 'xx')
%!error id=mfma:arg:type mfma_round ({1}, 'fp16')
%!error id=mfma:arg:complex mfma_round (1i, 'fp16')
