function s = string(x)
%STRING  Stand-in for MATLAB's string, as far as MATLAB Tensor Core uses it: the rows of a character matrix.
%
%   The result is a cell array of rows, which can be indexed with braces as a string array can. Used by
%   compare_toolbox only.
if iscellstr(x)
    s = x(:);
else
    s = mat2cell(x, ones(1, rows(x)), columns(x));
end
end
