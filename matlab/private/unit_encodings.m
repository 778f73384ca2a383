function [a, b, c] = unit_encodings(who, unit, a, b, c)
% Encodings of a unit's formats nearest to numbers, rounded as mfma_gemm rounds what it is given.
formats = mfma_mex('formats', who, unit);
a = rounded(who, a, formats{1}, 'a');
b = rounded(who, b, formats{2}, 'b');
mode = 'rz';
if strcmp(formats{3}, 'fp16') && ~any(strcmp(formats{1}, {'bf16', 'tf32'}))
    mode = 'rne';
end
[~, c] = mfma_mex('round', who, c, formats{3}, mode, 'default', 'c');
end

function bits = rounded(who, x, format, name)
mode = 'rne';
if strcmp(format, 'tf32')
    mode = 'rz';
end
[~, bits] = mfma_mex('round', who, x, format, mode, 'default', name);
end
