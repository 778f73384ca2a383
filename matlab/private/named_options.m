function options = named_options(who, names, list, before)
% A struct of the options in a list of names and values; names in any letter case, each at most once. [] stands for the
% default, as if the option were not there. `before` has a row for each argument before the options, its name and its value:
% one that was left out has the name of an option in its place. `who` begins the messages.
options = struct();
given = false(size(names));
hint = '';
for i = 1:size(before, 1)
    [label, value] = before{i, :};
    if (ischar(value) && size(value, 1) == 1) || (isa(value, 'string') && isscalar(value))
        hint = sprintf('; ''%s'' stands in the place of %s', value, label);
        if strcmpi(label, 'c')
            hint = [hint, ', which may be [] for zeros']; %#ok<AGROW>
        end
        if any(strcmpi(value, names))
            error('mfma:arg:count', '%s: %s is missing%s', who, label, hint);
        end
    end
end
if mod(numel(list), 2) ~= 0
    if ischar(list{end}) && any(strcmpi(list{end}, names))
        error('mfma:arg:count', '%s: option ''%s'' has no value', who, list{end});
    end
    error('mfma:arg:count', '%s: options come in pairs, name and value%s', who, hint);
end
for i = 1:2:numel(list)
    name = list{i};
    if isa(name, 'string') && isscalar(name)
        name = char(name);
    end
    if ~ischar(name)
        error('mfma:arg:type', '%s: the name of an option must be text, not of class %s', who, class(name));
    end
    at = strcmpi(name, names);
    if ~any(at)
        error('mfma:arg:option', '%s: unknown option ''%s''; allowed: %s', who, name, strjoin(names, ', '));
    end
    if given(at)
        error('mfma:arg:option', '%s: option ''%s'' is given twice', who, names{at});
    end
    given(at) = true;
    value = list{i + 1};
    % Factors have no default that [] could mean: it is an empty matrix, and refused.
    if ~(isa(value, 'double') && isempty(value)) || any(strcmp(names{at}, {'alpha', 'beta'}))
        options.(names{at}) = value;
    end
end
end
