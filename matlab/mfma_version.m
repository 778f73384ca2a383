function [v, details] = mfma_version()
%MFMA_VERSION  Version of mfma, and the papers to cite.
%
%   MFMA_VERSION without an output prints the version and the papers behind the models.
%
%   v = MFMA_VERSION returns the version as text, such as '1.0.0'.
%
%   [v, details] = MFMA_VERSION also returns a struct: details.kernel is the level that the library computes with on
%   this machine ('portable', 'avx2', 'avx512', 'neon'; results never depend on it), details.threads the number of
%   threads, and details.cite a cell array of papers.
%
%   Example
%       [~, d] = mfma_version();
%       d.cite{1}(1:35)
%
%   prints
%
%       ans = Accurate Models of AMD Matrix Cores
%
%   Source: the papers that it prints.
%
%   See also mfma_info, mfma_threads.

details = mfma_mex('version', 'mfma_version');
details.threads = mfma_mex('threads', 'mfma_version');
details.cite = { ...
    ['Accurate Models of AMD Matrix Cores. With MATLAB Tensor Core v0.6, ', ...
    'https://github.com/north-numerical-computing/MATLAB-tensor-core'], ...
    ['F. A. Khattak, M. Mikaitis: Accurate Models of NVIDIA Tensor Cores. ACM Transactions on Architecture and Code ', ...
    'Optimization. doi:10.1145/3830409'], ...
    ['F. A. Khattak, M. Mikaitis: Generalized Methodology for Determining Numerical Features of Hardware ', ...
    'Floating-Point Matrix Multipliers: Part I. IEEE HPEC 2025.']};
if nargout > 0
    v = details.version;
    return
end
fprintf('mfma %s (%s, %d threads)\nPlease cite:\n', details.version, details.kernel, details.threads);
fprintf('  %s\n', details.cite{:});
end

%!test
%! [v, d] = mfma_version ();
%! assert (v, d.version);
%! assert (regexp (v, '^\d+\.\d+\.\d+$'), 1);
%! assert (d.threads >= 1);
%! assert (d.cite{1}(1:35), 'Accurate Models of AMD Matrix Cores');
%!error mfma_version (1)
