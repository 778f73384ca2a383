function D = MI300AMC(alpha, A, B, beta, C, informat)
%MI300AMC  Matrix product as the matrix cores of the AMD Instinct MI300A (CDNA 3) compute it.
%
%   D = MI300AMC(alpha, A, B, beta, C, informat) returns
%
%       D = round(alpha*A) * round(B) + round(beta*C)
%
%   with every element of D as that unit computes it. A is M-by-K, B is K-by-N, C and D are M-by-N; alpha and
%   beta are scalars. C may be [] or 0, which stand for zeros; where beta is 0, C is not read. All may be
%   double, single, integer or logical. D is double; its elements are binary32 numbers.
%
%   informat names the format of A and B, in any letter case:
%
%       'fp16'  'half'  'binary16'               binary16
%       'bf16'  'bfloat16'  'brainfloat16'       bfloat16
%       'xf32'  'tf32'  'tensorfloat32'          TensorFloat-32, which AMD calls xf32
%       'fp8'  'e4m3'  'fp8-e4m3'                8-bit E4M3, the FNUZ kind
%       'bf8'  'e5m2'  'fp8-e5m2'                8-bit E5M2, the FNUZ kind
%       'fp32'  'single'  'binary32'             binary32
%       'fp64'  'double'  'binary64'             binary64; D is then binary64 too
%
%   alpha*A and beta*C are formed in double precision and rounded once: A and B to nearest, ties to even (xf32
%   toward zero), C toward zero to binary32. Nothing else is rounded, printed or remembered.
%
%   Blocks of eight products (xf32: four), in the order of k, are aligned to the largest exponent, cut after 24
%   fractional bits and added; the smaller of this sum and what has been summed before is rounded down when it
%   is aligned to the larger; the result is rounded to nearest. With 8-bit inputs, of 16 products the first,
%   third, ... and the second, fourth, ... are added apart first. A product of magnitude 2^128 is an infinity.
%   With binary32 and binary64 inputs, one fused multiply-add follows the other.
%
%   Example
%       An addend far below the product, where rounding down shows:
%
%           D = MI300AMC(1, 1, 1, 1, -2^-40, 'fp16');
%           fprintf('%.17g\n', D)
%
%       prints
%
%           0.99999994039535522
%
%       where rounding to nearest, as on the MI100, gives 1.
%
%   Source: Accurate Models of AMD Matrix Cores (the paper of MATLAB Tensor Core v0.6), section 4.3 and Table 3.
%
%   See also MI300MC, MI300XMC, MI100MC, MI210MC, CustomTC, mfma_gemm, mfma_info.

if nargin < 6
    error('mfma:arg:count', 'MI300AMC: %d of 6 arguments given: alpha, A, B, beta, C, informat', nargin);
end
D = mfma_mex('unit', 'MI300AMC', alpha, A, B, beta, C, informat, []);
end

%!test
%! D = MI300AMC(1, 1, 1, 1, -2^-40, 'fp16');
%! assert (D, 0.99999994039535522);
%!assert (MI300AMC (2, [1 2; 3 4], eye (2), -1, ones (2), 'fp16'), [1 3; 5 7])
%!assert (MI300AMC (1, zeros (3, 0), zeros (0, 2), 1, 2 * ones (3, 2), 'BF16'), 2 * ones (3, 2))
%!error id=mfma:arg:count MI300AMC (1, 1, 1, 1, 1)
%!error id=mfma:format:unknown MI300AMC (1, 1, 1, 1, 1, 'fp7')
%!error id=mfma:arg:size MI300AMC (1, ones (2, 3), ones (2, 3), 0, [], 'fp16')
%!error id=mfma:arg:type MI300AMC (1, {1}, 1, 0, [], 'fp16')
