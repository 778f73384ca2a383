function unit = unit_options(who, names, list, before)
% Options of a function that works with a unit, as named_options takes them; `params` as the library takes them.
unit = named_options(who, names, list, before);
if isfield(unit, 'params')
    if isfield(unit, 'arch') || isfield(unit, 'instruction')
        error('mfma:arg:value', '%s: params stands in the place of arch and instruction; give one of them', who);
    end
    [unit.params, unit.fnuz] = custom_params(unit.params, who);
end
end
