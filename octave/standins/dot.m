function s = dot(x, y)
%DOT  Octave's dot, and 0 for empty vectors as in MATLAB. Used by compare_toolbox only.
if isempty(x) && isempty(y)
    s = 0;
else
    s = builtin('dot', x, y);
end
end
