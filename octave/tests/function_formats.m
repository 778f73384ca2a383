function formats = function_formats(name, in, out)
%FUNCTION_FORMATS  The last arguments of the toolbox function `name` for these formats.
if strncmp(name, 'MI', 2)
    formats = {in};
elseif strcmp(name, 'V100TC')
    formats = {out};
else
    formats = {in, out};
end
end
