function text = hex_words(bits)
% Encodings in hexadecimal, with commas between.
digits = 2 * str2double(strrep(class(bits), 'uint', '')) / 8;
words = cell(1, numel(bits));
for i = 1:numel(bits)
    words{i} = sprintf('%0*x', digits, bits(i));
end
text = strjoin(words, ',');
end
