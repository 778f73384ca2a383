function format = stored_format(name, fun)
%STORED_FORMAT  The format, as decode_bits names it, that the informat `name` means to the toolbox function `fun`.
name = strrep(lower(name), 'fp8-', '');
switch name
    case {'tensorfloat32', 'xf32'},         name = 'tf32';
    case {'fp8'},                           name = 'e4m3';
    case {'bf8'},                           name = 'e5m2';
    case {'binary32', 'single'},            name = 'fp32';
    case {'half', 'binary16'},              name = 'fp16';
    case {'bfloat16', 'brainfloat16'},      name = 'bf16';
end
if strncmp(fun, 'MI300', 5) && any(strcmp(name, {'e4m3', 'e5m2'}))
    name = [name, 'fnuz'];
end
format = name;
end
