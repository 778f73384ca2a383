function D = V100TC(alpha, A, B, beta, C, outformat)
%V100TC  Matrix product as the tensor cores of the NVIDIA V100 (Volta) compute it.
%
%   D = V100TC(alpha, A, B, beta, C, outformat) returns
%
%       D = round(alpha*A) * round(B) + round(beta*C)
%
%   with every element of D as that unit computes it. A is M-by-K, B is K-by-N, C and D are M-by-N; alpha and
%   beta are scalars. C may be [] or 0, which stand for zeros; where beta is 0, C is not read. All may be
%   double, single, integer or logical. D is double; its elements are binary32 or binary16 numbers.
%
%   A and B are rounded to binary16, the one format that the V100 has.
%
%   outformat names the format of C and D: 'fp32', 'single', 'binary32' (also when left out or []), or 'fp16', 'half',
%   'binary16'.
%
%   alpha*A and beta*C are formed in double precision and rounded once: A and B to nearest, ties to even, C
%   toward zero to binary32, or to nearest to binary16 where the result is binary16. Nothing else is rounded,
%   printed or remembered.
%
%   Blocks of four products, in the order of k, and what has been summed before are aligned together to the
%   largest exponent, cut after 23 fractional bits and added; the result is rounded toward zero, or to nearest
%   where it is binary16.
%
%   Example
%       Two products below the last bit together:
%
%           A = [1 2^-12 2^-12];
%           D = V100TC(1, A, A', 0, [], 'fp32');
%           fprintf('%.17g\n', D)
%
%       prints
%
%           1
%
%       where the A100, with one bit more, gives 1 + 2^-23.
%
%   Source: F. A. Khattak and M. Mikaitis, Accurate Models of NVIDIA Tensor Cores, doi:10.1145/3830409; V100
%   measurements.
%
%   See also A100TC, H100TC, CustomTC, mfma_gemm, mfma_info.

if nargin < 5
    error('mfma:arg:count', 'V100TC: %d of 6 arguments given: alpha, A, B, beta, C, outformat', nargin);
end
if nargin < 6
    outformat = [];
end
D = mfma_mex('unit', 'V100TC', alpha, A, B, beta, C, 'fp16', outformat);
end

%!test
%! A = [1 2^-12 2^-12];
%! D = V100TC(1, A, A', 0, [], 'fp32');
%! assert (D, 1);
%!assert (V100TC (2, [1 2; 3 4], eye (2), -1, ones (2), 'fp16'), [1 3; 5 7])
%!assert (V100TC (1, zeros (3, 0), zeros (0, 2), 1, 2 * ones (3, 2), 'binary32'), 2 * ones (3, 2))
%!error id=mfma:arg:count V100TC (1, 1, 1, 1)
%!error id=mfma:format:unknown V100TC (1, 1, 1, 1, 1, 'fp7')
%!error id=mfma:arg:size V100TC (1, ones (2, 3), ones (2, 3), 0, [], 'fp32')
%!error id=mfma:arg:type V100TC (1, {1}, 1, 0, [], 'fp32')
