function D = B200TCRN(alpha, A, B, beta, C, informat, outformat)
%B200TCRN  Matrix product as the tensor cores of the NVIDIA B200, were it to round to nearest compute it.
%
%   D = B200TCRN(alpha, A, B, beta, C, informat, outformat) returns
%
%       D = round(alpha*A) * round(B) + round(beta*C)
%
%   with every element of D as that unit computes it. A is M-by-K, B is K-by-N, C and D are M-by-N; alpha and
%   beta are scalars. C may be [] or 0, which stand for zeros; where beta is 0, C is not read. All may be
%   double, single, integer or logical. D is double; its elements are binary32 or binary16 numbers.
%
%   informat names the format of A and B, in any letter case:
%
%       'fp16'  'half'  'binary16'               binary16
%       'bf16'  'bfloat16'  'brainfloat16'       bfloat16
%       'tf32'  'tensorfloat32'  'xf32'          TensorFloat-32
%       'e4m3'  'fp8-e4m3'                       8-bit E4M3 (OCP)
%       'e5m2'  'fp8-e5m2'                       8-bit E5M2 (OCP)
%
%   outformat names the format of C and D: 'fp32', 'single', 'binary32' (also when left out or []), or 'fp16', 'half',
%   'binary16'.
%
%   alpha*A and beta*C are formed in double precision and rounded once: A and B to nearest, ties to even (tf32
%   toward zero), C toward zero to binary32, or to nearest to binary16 where the result is binary16 and the
%   inputs are binary16 or 8-bit. Nothing else is rounded, printed or remembered.
%
%   No such hardware exists: this is B200TC with results rounded to nearest, ties to even, where B200TC rounds
%   toward zero. Blocks of 16 products (tf32: 8, 8-bit: 32), in the order of k, and what has been summed before
%   are aligned together to the largest exponent, cut after 25 fractional bits and added; the result is rounded
%   to nearest. With 8-bit inputs the result is binary32, whatever outformat says (mfma_gemm gives binary16). No
%   hardware has bf16 or tf32 inputs with a binary16 result; D is then what the original toolbox computes.
%
%   Example
%       Products of 1 and 0.75 units in the last place:
%
%           A = [1 2^-12 2^-12]; B = [1; 2^-12; 2^-13];
%           D = B200TCRN(1, A, B, 0, [], 'fp16', 'fp32');
%           fprintf('%.17g\n', D)
%
%       prints
%
%           1.0000001192092896
%
%       where B200TC, which rounds toward zero, gives 1.
%
%   Source: F. A. Khattak and M. Mikaitis, Accurate Models of NVIDIA Tensor Cores, doi:10.1145/3830409; MATLAB
%   Tensor Core v0.6, B200TCRN.
%
%   See also B200TC, CustomTC, mfma_gemm, mfma_info.

if nargin < 6
    error('mfma:arg:count', 'B200TCRN: %d of 7 arguments given: alpha, A, B, beta, C, informat, outformat', nargin);
end
if nargin < 7
    outformat = [];
end
D = mfma_mex('unit', 'B200TCRN', alpha, A, B, beta, C, informat, outformat);
end

%!test
%! A = [1 2^-12 2^-12]; B = [1; 2^-12; 2^-13];
%! D = B200TCRN(1, A, B, 0, [], 'fp16', 'fp32');
%! assert (D, 1.0000001192092896);
%!assert (B200TCRN (2, [1 2; 3 4], eye (2), -1, ones (2), 'FP16', 'fp16'), [1 3; 5 7])
%!assert (B200TCRN (1, zeros (3, 0), zeros (0, 2), 1, 2 * ones (3, 2), 'half', 'binary32'), 2 * ones (3, 2))
%!error id=mfma:arg:count B200TCRN (1, 1, 1, 1)
%!error id=mfma:format:unknown B200TCRN (1, 1, 1, 1, 1, 'fp16', 'fp7')
%!error id=mfma:arg:size B200TCRN (1, ones (2, 3), ones (2, 3), 0, [], 'fp16', 'fp32')
%!error id=mfma:arg:type B200TCRN (1, {1}, 1, 0, [], 'fp16', 'fp32')
