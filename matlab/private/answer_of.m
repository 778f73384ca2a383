function bits = answer_of(who, f, raw, formats, a, b, c)
% What a function that stands for a unit gives for the cases a, b and c, all as encodings, in a row. `who` begins the
% messages. With `raw` the function works on encodings itself, else on the numbers of the formats, which are named in
% `formats`.

if raw
    bits = f(a, b, c);
    if ~isa(bits, class(c))
        error('mfma:arg:type', '%s: the function returns class %s; with raw it must return %s', who, class(bits), class(c));
    end
    check_size(who, bits, c);
else
    numbers = f(mfma_decode(a, formats{1}), mfma_decode(b, formats{2}), mfma_decode(c, formats{3}));
    if isnumeric(numbers) && ~isreal(numbers)
        error('mfma:arg:complex', '%s: the function returns complex numbers; matrix units compute with real ones', who);
    end
    if ~isnumeric(numbers)
        error('mfma:arg:type', '%s: the function returns class %s; it must return real numbers', who, class(numbers));
    end
    check_size(who, numbers, c);
    numbers = double(numbers);
    [rounded, bits] = mfma_mex('round', who, numbers, formats{3}, 'rne', 'ieee');
    strange = find(rounded ~= numbers & ~(isnan(rounded) & isnan(numbers)), 1);
    if ~isempty(strange)
        error('mfma:arg:value', '%s: the function returns %.17g, which is no number of %s', who, numbers(strange), formats{3});
    end
end
end

function check_size(who, results, c)
if ~isequal(size(results), size(c))
    error('mfma:arg:size', '%s: the function returns %s; it must return %s, a result for each column of a', who, ...
        by(results), by(c));
end
end

function text = by(x)
text = strjoin(arrayfun(@(n) sprintf('%d', n), size(x), 'UniformOutput', false), '-by-');
end
