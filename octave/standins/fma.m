function d = fma(x, y, z)
%FMA  Stand-in for MATLAB's fma, as far as MATLAB Tensor Core uses it: fma(x, 1, z) with binary32 numbers.
%
%   x*1 + z is formed in binary64 and rounded to binary32. The sum of two binary32 numbers that is first rounded to 53
%   bits comes out as if it had been rounded once, as 53 >= 2*24 + 2. Used by compare_toolbox only.
if any(y(:) ~= 1)
    error('fma: this stand-in adds only (y must be 1)');
end
d = double(x) + double(z);
if isa(x, 'single') || isa(z, 'single')
    d = single(d);
end
end
