function D = MI100MC(alpha, A, B, beta, C, informat)
%MI100MC  Matrix product as the matrix cores of the AMD Instinct MI100 (CDNA 1) compute it.
%
%   D = MI100MC(alpha, A, B, beta, C, informat) returns
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
%       'fp32'  'single'  'binary32'             binary32
%
%   alpha*A and beta*C are formed in double precision and rounded once: A and B to nearest, ties to even, C
%   toward zero to binary32. Nothing else is rounded, printed or remembered.
%
%   Elements are added by blocks, in the order of k: four products with binary16 inputs, two with bfloat16. The
%   products of a block and what has been summed before are added without error, and rounded once to binary32
%   (to nearest, ties to even). Subnormal numbers are kept. With binary32 inputs, one fused multiply-add follows
%   the other.
%
%   Example
%       The smallest subnormal number of binary16 is kept:
%
%           D = MI100MC(1, 2^-24, 1, 0, [], 'fp16');
%           fprintf('%.17g\n', D)
%
%       prints
%
%           5.9604644775390625e-08
%
%       where the MI210 gives 0.
%
%   Source: Accurate Models of AMD Matrix Cores (the paper of MATLAB Tensor Core v0.6), section 4.1 and Table 3.
%
%   See also MI210MC, MI300MC, CustomTC, mfma_gemm, mfma_info.

if nargin < 6
    error('mfma:arg:count', 'MI100MC: %d of 6 arguments given: alpha, A, B, beta, C, informat', nargin);
end
D = mfma_mex('unit', 'MI100MC', alpha, A, B, beta, C, informat, []);
end

%!test
%! D = MI100MC(1, 2^-24, 1, 0, [], 'fp16');
%! assert (D, 5.9604644775390625e-08);
%!assert (MI100MC (2, [1 2; 3 4], eye (2), -1, ones (2), 'fp16'), [1 3; 5 7])
%!assert (MI100MC (1, zeros (3, 0), zeros (0, 2), 1, 2 * ones (3, 2), 'BF16'), 2 * ones (3, 2))
%!error id=mfma:arg:count MI100MC (1, 1, 1, 1, 1)
%!error id=mfma:format:unknown MI100MC (1, 1, 1, 1, 1, 'fp7')
%!error id=mfma:arg:size MI100MC (1, ones (2, 3), ones (2, 3), 0, [], 'fp16')
%!error id=mfma:arg:type MI100MC (1, {1}, 1, 0, [], 'fp16')
