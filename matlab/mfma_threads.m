function n = mfma_threads(m)
%MFMA_THREADS  How many threads work on one call.
%
%   n = MFMA_THREADS returns the number of threads.
%
%   n = MFMA_THREADS(m) sets it to m, from 1 to 1024, and returns what it was. MFMA_THREADS(0) sets the default: the
%   environment variable MFMA_NUM_THREADS, else the number of processor cores. Results never depend on it.
%
%   Example
%       before = mfma_threads(1);
%       mfma_threads()
%       mfma_threads(before);
%
%   prints
%
%       ans = 1
%
%   Source: one pool of threads in the library; docs/capi.md, Threads.
%
%   See also mfma_version, mfma_gemm.

if nargin == 0
    n = mfma_mex('threads', 'mfma_threads');
else
    n = mfma_mex('threads', 'mfma_threads', m);
end
end

%!test
%! before = mfma_threads (1);
%! assert (mfma_threads (), 1);
%! A = magic (64) / 3;
%! one = MI300XMC (1, A, A, 1, A, 'fp16');
%! mfma_threads (3);
%! assert (MI300XMC (1, A, A, 1, A, 'fp16'), one);
%! mfma_threads (0);
%! assert (mfma_threads () >= 1);
%! mfma_threads (before);
%!error id=mfma:arg:value mfma_threads (-1)
%!error id=mfma:arg:value mfma_threads (1.5)
%!error id=mfma:arg:type mfma_threads ('x')
