function x = decode_bits(bits, format)
%DECODE_BITS  Numbers that encodings stand for, computed here, not by the library.
%
%   x = decode_bits(bits, format): bits is an array of non-negative integers, format 'fp32', 'tf32', 'fp16', 'bf16',
%   'e4m3', 'e5m2', 'e4m3fnuz' or 'e5m2fnuz'.
switch format
    case {'fp32', 'tf32'}, e = 8; f = 23; bias = 127; kind = 'ieee';
    case 'fp16',           e = 5; f = 10; bias = 15;  kind = 'ieee';
    case 'bf16',           e = 8; f = 7;  bias = 127; kind = 'ieee';
    case 'e4m3',           e = 4; f = 3;  bias = 7;   kind = 'ocp';
    case 'e5m2',           e = 5; f = 2;  bias = 15;  kind = 'ieee';
    case 'e4m3fnuz',       e = 4; f = 3;  bias = 8;   kind = 'fnuz';
    case 'e5m2fnuz',       e = 5; f = 2;  bias = 16;  kind = 'fnuz';
    otherwise, error('decode_bits: unknown format %s', format);
end
bits = double(bits);
negative = floor(bits / 2^(e + f)) == 1;
exponent = mod(floor(bits / 2^f), 2^e);
fraction = mod(bits, 2^f);
x = (fraction + 2^f * (exponent > 0)) .* 2 .^ (max(exponent, 1) - bias - f);
x(negative) = -x(negative);
top = exponent == 2^e - 1;
switch kind
    case 'ieee'
        x(top & fraction == 0) = Inf;
        x(top & fraction == 0 & negative) = -Inf;
        x(top & fraction ~= 0) = NaN;
    case 'ocp'
        x(top & fraction == 2^f - 1) = NaN;
    case 'fnuz'
        x(bits == 2^(e + f)) = NaN;
end
end
