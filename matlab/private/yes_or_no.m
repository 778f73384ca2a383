function yes = yes_or_no(who, value, name)
% An option that is true or false, as 1 or 0. `who` begins the message.
if ~(islogical(value) || isnumeric(value)) || numel(value) ~= 1
    error('mfma:arg:type', '%s: option %s must be true or false', who, name);
end
if ~(value == 0 || value == 1)
    error('mfma:arg:value', '%s: option %s is %g; it must be true or false', who, name, value);
end
yes = double(value);
end
