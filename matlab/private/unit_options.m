function unit = unit_options(who, names, list)
% Options of a function that works with a unit, in a list of names and values; `params` as the library takes them. `who`
% begins the messages.
unit = named_options(who, names, list);
if isfield(unit, 'params')
    if isfield(unit, 'arch') || isfield(unit, 'instruction')
        error('mfma:arg:value', '%s: params stands in the place of arch and instruction; give one of them', who);
    end
    [unit.params, unit.fnuz] = custom_params(unit.params, who);
end
end
