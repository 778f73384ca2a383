function D = H100TC(alpha, A, B, beta, C, informat, outformat)
%H100TC  Matrix product as the tensor cores of the NVIDIA H100 (Hopper) compute it.
%
%   D = H100TC(alpha, A, B, beta, C, informat, outformat) returns
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
%       'fp64'  'double'  'binary64'             binary64; D is then binary64 too
%
%   outformat names the format of C and D: 'fp32', 'single', 'binary32' (also when left out or []), or 'fp16', 'half',
%   'binary16'.
%
%   alpha*A and beta*C are formed in double precision and rounded once: A and B to nearest, ties to even (tf32
%   toward zero), C toward zero to binary32, or to nearest to binary16 where the result is binary16 and the
%   inputs are binary16 or 8-bit. Nothing else is rounded, printed or remembered.
%
%   Blocks of 16 products (tf32: 8, 8-bit: 32), in the order of k, and what has been summed before are aligned
%   together to the largest exponent, cut after 25 fractional bits (8-bit inputs: 13) and added; the result is
%   rounded toward zero, or to nearest where it is binary16. No hardware has bf16 or tf32 inputs with a binary16
%   result; D is then what the original toolbox computes. 8-bit inputs are those of the wgmma instructions; for
%   mma.sync see the option 'instruction' of mfma_gemm.
%
%   Example
%       Four products of a quarter of the last bit together:
%
%           A = [1 2^-12 2^-12 2^-12 2^-12]; B = [1; 2^-13; 2^-13; 2^-13; 2^-13];
%           D = H100TC(1, A, B, 0, [], 'fp16', 'fp32');
%           fprintf('%.17g\n', D)
%
%       prints
%
%           1.0000001192092896
%
%       where the A100, with one bit less, gives 1.
%
%   Source: F. A. Khattak and M. Mikaitis, Accurate Models of NVIDIA Tensor Cores, doi:10.1145/3830409; H100
%   measurements.
%
%   See also H200TC, A100TC, B200TC, CustomTC, mfma_gemm, mfma_info.

if nargin < 6
    error('mfma:arg:count', 'H100TC: %d of 7 arguments given: alpha, A, B, beta, C, informat, outformat', nargin);
end
if nargin < 7
    outformat = [];
end
D = mfma_mex('unit', 'H100TC', alpha, A, B, beta, C, informat, outformat);
end

%!test
%! A = [1 2^-12 2^-12 2^-12 2^-12]; B = [1; 2^-13; 2^-13; 2^-13; 2^-13];
%! D = H100TC(1, A, B, 0, [], 'fp16', 'fp32');
%! assert (D, 1.0000001192092896);
%!assert (H100TC (2, [1 2; 3 4], eye (2), -1, ones (2), 'FP16', 'fp16'), [1 3; 5 7])
%!assert (H100TC (1, zeros (3, 0), zeros (0, 2), 1, 2 * ones (3, 2), 'half', 'binary32'), 2 * ones (3, 2))
%!error id=mfma:arg:count H100TC (1, 1, 1, 1)
%!error id=mfma:format:unknown H100TC (1, 1, 1, 1, 1, 'fp16', 'fp7')
%!error id=mfma:arg:size H100TC (1, ones (2, 3), ones (2, 3), 0, [], 'fp16', 'fp32')
%!error id=mfma:arg:type H100TC (1, {1}, 1, 0, [], 'fp16', 'fp32')
