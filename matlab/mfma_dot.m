function [d, bits] = mfma_dot(a, b, c, varargin)
%MFMA_DOT  Many dot products at once, as a matrix unit computes them.
%
%   d = MFMA_DOT(a, b, c, name, value, ...): a and b are K-by-N, c is 1-by-N, a scalar, or [] for zeros; d(i) is c(i) +
%   a(:,i)' * b(:,i) as the unit computes it. The numbers are rounded to the unit's formats first, as by mfma_gemm.
%   Options are 'arch', 'format', 'out', 'instruction' and 'params', as for mfma_gemm, and
%
%       'raw'     true: a, b and c are encodings of the unit's formats (uint8, uint16, uint32, uint64, or double with
%                 integers): nothing is rounded. tf32 is a binary32 word of which the unit reads the first 19 bits [false]
%
%   [d, bits] = MFMA_DOT(...) also returns the encodings of d.
%
%   Example
%       a = hex2dec({'8c00'; '8be0'});  b = hex2dec({'0c00'; '0800'});
%       [d, bits] = mfma_dot(a, b, hex2dec('3f800000'), 'arch', 'MI300X', 'format', 'fp16', 'raw', true);
%       fprintf('%.9g %08x\n', d, bits)
%
%   prints
%
%       0.99999994 3f7fffff
%
%   Source: the catalogue of the library, see mfma_info.
%
%   See also mfma_gemm, mfma_info, mfma_round, mfma_decode.

if nargin < 2
    error('mfma:arg:count', 'mfma_dot: %d of at least 2 arguments given: a, b, c, name, value, ...', nargin);
end
if nargin < 3
    c = [];
end
names = {'arch', 'format', 'out', 'instruction', 'params', 'raw'};
unit = unit_options('mfma_dot', names, varargin, {'a', a; 'b', b; 'c', c});
[d, bits] = mfma_mex('dot', 'mfma_dot', a, b, c, unit);
end

%!test
%! a = hex2dec ({'8c00'; '8be0'});  b = hex2dec ({'0c00'; '0800'});
%! [d, bits] = mfma_dot (a, b, hex2dec ('3f800000'), 'arch', 'MI300X', 'format', 'fp16', 'raw', true);
%! assert (bits, uint32 (0x3f7fffff));
%! assert (d, double (typecast (bits, 'single')));
%!test  % the diagonal of a product
%! A = magic (9)(:, 1:5) / 7;  B = A / 3;
%! D = mfma_gemm (A', B, diag (1:5), 'arch', 'H100', 'format', 'bf16');
%! assert (mfma_dot (A, B, 1:5, 'arch', 'H100', 'format', 'bf16'), diag (D)');
%!test  % an instruction decides the formats
%! unit = {'arch', 'H100', 'instruction', 'wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3'};
%! [d, bits] = mfma_dot (uint8 ([56; 64]), uint8 ([56; 56]), uint32 (0x40400000), unit{:}, 'raw', true);
%! assert (d, 6);
%! assert (bits, uint32 (0x40c00000));
%!test  % CDNA 3, and as the original toolbox computes it
%! a = [0x1400; 0xd980];  b = [0x0400; 0x0008];  c = uint32 (0x43800001);
%! [~, bits] = mfma_dot (a, b, c, 'arch', 'MI300X', 'format', 'fp16', 'raw', true);
%! [~, theirs] = mfma_dot (a, b, c, 'arch', 'CDNA3-toolbox', 'format', 'fp16', 'raw', true);
%! assert ([bits, theirs], uint32 ([0x437ffffd, 0x437ffffc]));
%!assert (mfma_dot ([1; 2], [3; 4], [], 'arch', 'MI100'), 11)
%!assert (mfma_dot (zeros (0, 3), zeros (0, 3), 1:3, 'arch', 'MI100'), 1:3)
%!assert (size (mfma_dot (zeros (4, 0), zeros (4, 0), [], 'arch', 'MI100')), [1 0])
%!error id=mfma:arg:size mfma_dot (ones (2, 3), ones (3, 3), [], 'arch', 'MI100')
%!error id=mfma:arg:size mfma_dot (ones (2, 3), ones (2, 3), [1 2], 'arch', 'MI100')
%!error id=mfma:arg:option mfma_dot (1, 1, 1, 'nonsense', 5)
%!error id=mfma:arg:count mfma_dot (1, 1, 1)
