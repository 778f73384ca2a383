function y = bitshift(x, n)
%BITSHIFT  Octave's bitshift with MATLAB's meaning of large shifts: all bits are lost.
%
%   Octave shifts by n modulo 64, and doubles as integers of 53 bits; MATLAB takes doubles as 64 bits. Used by
%   compare_toolbox only.
if isempty(x) || isempty(n)
    y = x(1:0);
    return
end
n = double(n);
if ~isinteger(x)
    y = floor(x .* 2 .^ n);
    y(y >= 2^64) = 0;
    return
end
lost = abs(n) >= 8 * sizeof(x(1));
n(lost) = 0;
y = builtin('bitshift', x, n);
if isscalar(lost)
    lost = repmat(lost, size(y));
end
y(lost) = 0;
end
