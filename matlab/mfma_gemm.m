function D = mfma_gemm(A, B, C, varargin)
%MFMA_GEMM  Matrix product by any unit of the catalogue, any instruction, or a unit of the user's own.
%
%   D = mfma_gemm(A, B, C, name, value, ...) returns
%
%       D = round(alpha*A) * round(B) + round(beta*C)
%
%   with every element of D as the unit computes it. C may be [] or 0, which stand for zeros. Options, in any order:
%
%       'arch'         architecture or GPU: 'CDNA3', 'MI300X', 'hopper', 'H100', 'T4', ... see mfma_info. 'CDNA3-toolbox'
%                      is CDNA 3 as MATLAB Tensor Core v0.6 computes it
%       'format'       format of A and B, or a cell array of two; ['fp16']
%       'out'          format of C and D: 'fp32', 'fp16' or 'fp64' ['fp32'; 'fp64' where the inputs are]
%       'instruction'  name of an instruction of arch, such as 'v_mfma_f32_32x32x4bf16' or
%                      'mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32'; it decides the formats,
%                      with which 'format' and 'out' must agree where they are given
%       'params'       struct of features as CustomTC takes it, instead of arch
%       'alpha'        factor of A [1]
%       'beta'         factor of C [1]; with 0, C is not read
%       'transA'       true: A is transposed first [false]
%       'transB'       true: B is transposed first [false]
%       'threads'      threads that work on this call [as mfma_threads says]
%       'progress'     true: after two seconds, tell how far the product is; or a function that is called with the part that
%                      is done, from 0 to 1, about ten times a second, and returns whether to go on [false]
%
%   Ctrl-C stops a long product. Names of options and formats may have any letter case.
%
%   Example
%       The MI210's bf16 instructions with _1k in their names add four products at a time, the others two:
%
%           A = [2^-12 0 2^-12 0];
%           four = mfma_gemm(A, A', 1, 'arch', 'MI210', 'format', 'bf16');
%           two = mfma_gemm(A, A', 1, 'arch', 'MI210', 'instruction', 'v_mfma_f32_32x32x4bf16');
%           fprintf('%.17g\n', four, two)
%
%       prints
%
%           1.0000001192092896
%           1
%
%   Source: the catalogue of the library, see mfma_info.
%
%   See also mfma_info, mfma_dot, CustomTC, MI300XMC, H100TC.

if nargin < 2
    error('mfma:arg:count', 'mfma_gemm: %d of at least 2 arguments given: A, B, C, name, value, ...', nargin);
end
if nargin < 3
    C = [];
end
names = {'arch', 'format', 'out', 'instruction', 'params', 'alpha', 'beta', 'transA', 'transB', 'threads', 'progress'};
unit = unit_options('mfma_gemm', names, varargin, {'A', A; 'B', B; 'C', C});
if isfield(unit, 'transA') && yes_or_no('mfma_gemm', unit.transA, 'transA')
    A = transposed(A, 'A');
end
if isfield(unit, 'transB') && yes_or_no('mfma_gemm', unit.transB, 'transB')
    B = transposed(B, 'B');
end
if isfield(unit, 'progress') && isa(unit.progress, 'function_handle')
    f = unit.progress;
    unit.progress = @(done) tell(f, done);
end
D = mfma_mex('gemm', 'mfma_gemm', A, B, C, unit);
end

function X = transposed(X, name)
if ~(isnumeric(X) || islogical(X))
    error('mfma:arg:type', 'mfma_gemm: %s is of class %s; allowed: double, single, integer or logical', name, class(X));
elseif ndims(X) > 2 %#ok<ISMAT>
    error('mfma:arg:dims', 'mfma_gemm: %s has %d dimensions; it must be a matrix', name, ndims(X));
end
X = X.';
end

%!test
%! A = [2^-12 0 2^-12 0];
%! assert (mfma_gemm (A, A', 1, 'arch', 'MI210', 'format', 'bf16'), 1 + 2^-23);
%! assert (mfma_gemm (A, A', 1, 'arch', 'MI210', 'instruction', 'v_mfma_f32_32x32x4bf16'), 1);
%!test  % the toolbox functions are special cases
%! A = magic (7)(:, 1:4) / 3;
%! D = mfma_gemm (A, A, ones (7), 'arch', 'H100', 'format', 'e4m3', 'out', 'fp32', 'alpha', 2, 'beta', -1, 'transB', true);
%! assert (D, H100TC (2, A, A', -1, ones (7), 'e4m3', 'fp32'));
%! assert (mfma_gemm (A, A, [], 'ARCH', 'MI300X', 'transa', true), MI300XMC (1, A', A, 0, [], 'fp16'));
%!test  % mixed formats
%! D = mfma_gemm (1 + 2^-3, 1 + 2^-3, [], 'arch', 'MI300X', 'format', {'fp8', 'bf8'});
%! assert (D, 1 + 2^-3);
%!test  % a callback sees the product, and stops it
%! A = ones (600);
%! D = mfma_gemm (A, A, [], 'arch', 'MI300X', 'progress', @(f) f >= 0 && f <= 1, 'threads', 1);
%! assert (D, 600 * A);
%!error <my own text> mfma_gemm (ones (1500), ones (1500), [], 'arch', 'MI300X', 'threads', 1, 'progress', @(f) error ('my:id', 'my own text'))
%!error id=my:id mfma_gemm (ones (1500), ones (1500), [], 'arch', 'MI300X', 'threads', 1, 'progress', @(f) error ('my:id', 'my own text'))
%!error id=mfma:arg:value mfma_gemm (1, 1, 1, 'arch', 'MI300X', 'instruction', 'v_mfma_f32_32x32x8_f16', 'format', 'bf16')
%!error id=mfma:arg:value mfma_gemm (1, 1, 1, 'arch', 'MI300X', 'instruction', 'v_mfma_f32_32x32x8_f16', 'out', 'fp16')
%!error id=mfma:arg:value mfma_gemm (1, 1, 1, 'arch', 'MI300X', 'transA', NaN)
%!error id=mfma:arg:dims mfma_gemm (ones (2, 2, 2), 1, 1, 'arch', 'MI300X', 'transA', true)
%!error id=mfma:arg:count mfma_gemm (1)
%!error id=mfma:arg:count mfma_gemm (1, 1)
%!error id=mfma:arg:option mfma_gemm (1, 1, 1, 'arc', 'MI300X')
%!error id=mfma:arg:type mfma_gemm (1, 1, 1, 5, 'MI300X')
%!error id=mfma:arch:unknown mfma_gemm (1, 1, 1, 'arch', 'MI1')
%!error id=mfma:arch:instruction mfma_gemm (1, 1, 1, 'arch', 'MI300X', 'instruction', 'v_nothing')
%!error id=mfma:arg:value mfma_gemm (1, 1, 1, 'arch', 'MI300X', 'params', struct ())
%!error id=mfma:arg:scalar mfma_gemm (1, 1, 1, 'arch', 'MI300X', 'alpha', [])
%!error id=mfma:arg:value mfma_gemm (1, 1, 1, 'arch', 'MI300X', 'threads', -1)
%!error id=mfma:arg:value mfma_gemm (1, 1, 1, 'arch', 'MI300X', 'format', {'fp8', 'bf8', 'bf8'})
%!error id=mfma:arg:type mfma_gemm (1, 1, 1, 'arch', 'MI300X', 'progress', 'yes')
