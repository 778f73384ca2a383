function other = unit_like(who, unit, named, argument)
% Another unit for the same formats as `unit`: `named` is an architecture or GPU, or a struct of features as CustomTC takes
% them. `who` begins the messages, `argument` is what they call it.
formats = mfma_mex('formats', who, unit);
other = struct('format', {formats(1:2)}, 'out', formats{3});
if isstruct(named)
    [other.params, other.fnuz] = custom_params(named, who);
else
    other.arch = named;
    other.called = argument;
end
end
