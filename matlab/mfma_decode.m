function x = mfma_decode(bits, format)
%MFMA_DECODE  Numbers that encodings of a format stand for.
%
%   x = MFMA_DECODE(bits, format) returns the numbers, as double, that the encodings in the array bits stand for. bits is
%   of an integer class, or double with integers from 0 (below 2^53); format is as for mfma_round.
%
%   Example
%       mfma_decode(uint8([56 126 127]), 'e4m3')
%
%   prints
%
%       ans =
%
%            1   448   NaN
%
%   Source: OCP 8-bit Floating Point Specification 1.0, AMD CDNA 3 ISA (FNUZ formats), IEEE 754-2019.
%
%   See also mfma_round, mfma_dot.

if nargin < 2
    error('mfma:arg:count', 'mfma_decode: %d of 2 arguments given: bits, format', nargin);
end
x = mfma_mex('decode', 'mfma_decode', bits, format);
end

%!assert (mfma_decode (uint8 ([56 126 127]), 'e4m3'), [1 448 NaN])
%!test  % all of a format, and back
%! for f = {'fp16', 'bf16'}
%!   bits = uint16 (0:65535);
%!   x = mfma_decode (bits, f{1});
%!   [y, back] = mfma_round (x, f{1});
%!   number = ! isnan (x);
%!   assert (y(number), x(number));
%!   assert (back(number), bits(number));
%! end
%!error id=mfma:arg:value mfma_decode (256, 'e4m3')
%!error id=mfma:arg:value mfma_decode (-1, 'e4m3')
%!error id=mfma:arg:value mfma_decode (1.5, 'e4m3')
%!error id=mfma:format:unknown mfma_decode (1, 'fp7')
