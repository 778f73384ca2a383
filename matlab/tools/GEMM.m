function D = GEMM(alpha, A, B, beta, C, informat, outformat, params)
%GEMM  Matrix product as a matrix unit of the user's own design computes it, under the original toolbox's name.
%
%   D = GEMM(alpha, A, B, beta, C, informat, outformat, params) is CustomTC(alpha, A, B, beta, C, informat, outformat,
%   params); see its help for the fields of params. The folder above this one must be on the path.
%
%   Example
%       D = GEMM(1, [1 2], [3; 4], 1, 5, 'fp16', 'fp32', struct('fma', 4, 'neab', 2))
%
%   prints
%
%       D = 16
%
%   Source: Accurate Models of AMD Matrix Cores, section 7; MATLAB Tensor Core v0.6, GEMM.
%
%   See also CustomTC, Generic_BFMA_TC, mfma_gemm.

if nargin < 8
    error('mfma:arg:count', ...
        'GEMM: %d of 8 arguments given: alpha, A, B, beta, C, informat, outformat, params', nargin);
end
if ~exist('CustomTC', 'file')
    error('mfma:setup:path', 'GEMM: the folder above %s must be on the path too', fileparts(mfilename('fullpath')));
end
try
    D = CustomTC(alpha, A, B, beta, C, informat, outformat, params);
catch problem
    error(problem.identifier, '%s', regexprep(problem.message, '^CustomTC', 'GEMM'));
end
end

%!assert (GEMM (1, [1 2], [3; 4], 1, 5, 'fp16', 'fp32', struct ('fma', 4, 'neab', 2)), 16)
%!error id=mfma:arg:count GEMM (1, 1, 1, 1, 1, 'fp16', 'fp32')
%!error <^GEMM: informat: > GEMM (1, 1, 1, 1, 1, 'fp7', 'fp32', struct ('fma', 4))
%!error id=mfma:format:unknown GEMM (1, 1, 1, 1, 1, 'fp7', 'fp32', struct ('fma', 4))
