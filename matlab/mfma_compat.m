function before = mfma_compat(mode)
%MFMA_COMPAT  Behave beside CPFloat as the original toolbox does.
%
%   mfma_compat('cpfloat') leaves CPFloat's stored options, after every call of a toolbox function such as A100TC, as the
%   original toolbox leaves them: the format and rounding of C (fp32 and toward zero, or fp16 and to nearest), infinity 1,
%   and after 8-bit inputs on CDNA 3 also saturation 1. Scripts that were written for the original and call cpfloat
%   without naming a rounding get the numbers that were published with them. Results of mfma itself do not depend on it.
%
%   mfma_compat('off') leaves CPFloat alone, as at the start.
%
%   mode = mfma_compat() returns the mode; mfma_compat(mode) returns the one before.
%
%   Nothing happens where no cpfloat is on the path (extras/cpfloat is one).
%
%   Example
%       mfma_compat('cpfloat');
%       mode = mfma_compat('off')
%
%   prints
%
%       mode = cpfloat
%
%   Source: MATLAB Tensor Core v0.6, the calls of cpfloat in its models.
%
%   See also mfma_gemm, mfma_round.

if nargin == 0
    before = mfma_mex('compat', 'mfma_compat');
else
    before = mfma_mex('compat', 'mfma_compat', mode);
end
end

%!test
%! assert (mfma_compat ('cpfloat'), 'off');
%! assert (mfma_compat ('off'), 'cpfloat');
%! assert (mfma_compat (), 'off');
%!error id=mfma:arg:value mfma_compat ('on')
