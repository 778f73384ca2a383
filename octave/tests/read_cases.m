function set = read_cases(path, step)
%READ_CASES  Read a file of dot products, one a line: "K a=... b=... c=... d=...", hexadecimal encodings.
%
%   set = read_cases(path, step) takes every step-th line. set.function, set.informat and set.outformat come from the
%   header. Case i has the factors set.a{i} and set.b{i} (rows of numbers), the addend set.c(i) and the result set.d(i);
%   d is NaN where any NaN is right. set.toolbox{i} and set.why{i} are empty where the original toolbox gives d too.
text = fileread(path);
head = regexp(text, '^# function: (\S+)\s+informat: (\S+)\s+outformat: (\S+)', 'tokens', 'once', 'lineanchors');
set.function = head{1};
set.informat = head{2};
set.outformat = head{3};
rows = regexp(text, '^(\d+) a=(\S+) b=(\S+) c=(\S+) d=(\S+)(.*)$', 'tokens', 'lineanchors', 'dotexceptnewline');
rows = vertcat(rows{1:step:end});
in = stored_format(set.informat, set.function);
out = stored_format(set.outformat, set.function);
lengths = sscanf(strjoin(rows(:, 1)', ' '), '%d');
set.a = mat2cell(decode_bits(encodings(rows(:, 2)), in), 1, lengths);
set.b = mat2cell(decode_bits(encodings(rows(:, 3)), in), 1, lengths);
set.c = decode_bits(encodings(rows(:, 4)), out);
nan = strcmp(rows(:, 5), 'nan');
rows(nan, 5) = {'0'};
set.d = decode_bits(encodings(rows(:, 5)), out);
set.d(nan) = NaN;
set.toolbox = cell(size(lengths));
set.why = cell(size(lengths));
for i = find(~cellfun(@isempty, strfind(rows(:, 6), 'why=')))'
    extra = regexp(rows{i, 6}, 'toolbox=(\S+) why=(\S+)', 'tokens', 'once');
    set.toolbox{i} = extra{1};
    set.why{i} = extra{2};
end
end

function list = encodings(column)
list = sscanf(strrep(strjoin(column', ' '), ',', ' '), '%x')';
end
