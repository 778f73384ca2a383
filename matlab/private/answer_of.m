function bits = answer_of(who, f, raw, formats, a, b, c)
% What a function that stands for a unit gives for the cases a, b and c, all as encodings, in a row. `who` begins the
% messages. With `raw` the function works on encodings itself, else on the numbers of the formats, which are named in
% `formats`.

if raw
    bits = f(a, b, c);
    if ~isa(bits, class(c))
        error('mfma:arg:type', '%s: the function returns class %s; with raw it must return %s', who, class(bits), class(c));
    end
else
    numbers = f(mfma_decode(a, formats{1}), mfma_decode(b, formats{2}), mfma_decode(c, formats{3}));
    if ~isnumeric(numbers) || ~isreal(numbers)
        error('mfma:arg:type', '%s: the function returns class %s; it must return real numbers', who, class(numbers));
    end
    numbers = double(numbers);
    [rounded, bits] = mfma_mex('round', who, numbers, formats{3}, 'rne', 'ieee');
    strange = find(rounded ~= numbers & ~(isnan(rounded) & isnan(numbers)), 1);
    if ~isempty(strange)
        error('mfma:arg:value', '%s: the function returns %.17g, which is no number of %s', who, numbers(strange), formats{3});
    end
end
if numel(bits) ~= numel(c)
    error('mfma:arg:size', '%s: the function returns %d results for %d cases', who, numel(bits), numel(c));
end
bits = reshape(bits, 1, numel(c));
end
