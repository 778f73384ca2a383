function D = MI210MC(alpha, A, B, beta, C, informat)
%MI210MC  Matrix product as the matrix cores of the AMD Instinct MI210 (CDNA 2) compute it.
%
%   D = MI210MC(alpha, A, B, beta, C, informat) returns
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
%       'fp64'  'double'  'binary64'             binary64; D is then binary64 too
%
%   alpha*A and beta*C are formed in double precision and rounded once: A and B to nearest, ties to even, C
%   toward zero to binary32. Nothing else is rounded, printed or remembered.
%
%   Blocks of four products, in the order of k: every product is rounded to binary32, the four are added in
%   pairs, then to what has been summed before, each step rounded to nearest. Subnormal inputs, addends and
%   results become zero. 'bf16' means the instructions whose names end in _1k, with blocks of four. With
%   binary32 and binary64 inputs, one fused multiply-add follows the other.
%
%   Example
%       The smallest subnormal number of binary16 becomes zero:
%
%           D = MI210MC(1, 2^-24, 1, 0, [], 'fp16');
%           fprintf('%.17g\n', D)
%
%       prints
%
%           0
%
%       where the MI100 and MI300X give 2^-24.
%
%   Source: Accurate Models of AMD Matrix Cores (the paper of MATLAB Tensor Core v0.6), section 4.2 and Table 3.
%
%   See also MI250MC, MI100MC, MI300MC, CustomTC, mfma_gemm, mfma_info.

if nargin < 6
    error('mfma:arg:count', 'MI210MC: %d of 6 arguments given: alpha, A, B, beta, C, informat', nargin);
end
D = mfma_mex('unit', 'MI210MC', alpha, A, B, beta, C, informat, []);
end

%!test
%! D = MI210MC(1, 2^-24, 1, 0, [], 'fp16');
%! assert (D, 0);
%!assert (MI210MC (2, [1 2; 3 4], eye (2), -1, ones (2), 'fp16'), [1 3; 5 7])
%!assert (MI210MC (1, zeros (3, 0), zeros (0, 2), 1, 2 * ones (3, 2), 'BF16'), 2 * ones (3, 2))
%!error id=mfma:arg:count MI210MC (1, 1, 1, 1, 1)
%!error id=mfma:format:unknown MI210MC (1, 1, 1, 1, 1, 'fp7')
%!error id=mfma:arg:size MI210MC (1, ones (2, 3), ones (2, 3), 0, [], 'fp16')
%!error id=mfma:arg:type MI210MC (1, {1}, 1, 0, [], 'fp16')
