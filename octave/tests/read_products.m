function set = read_products(path)
%READ_PRODUCTS  Read a file of whole products D = alpha*A*B + beta*C as the original toolbox computes them.
%
%   set.function, set.informat, set.outformat ('' for functions without); set.cases(i) has alpha, beta, A, B, C, D
%   (doubles), and error, the toolbox's message where it failed.
lines = strsplit(fileread(path), sprintf('\n'));
head = regexp(lines{1}, 'function=(\S+) informat=(\S+) outformat=(\S+)', 'tokens', 'once');
set.function = head{1};
set.informat = head{2};
set.outformat = head{3};
set.cases = struct('alpha', {}, 'beta', {}, 'A', {}, 'B', {}, 'C', {}, 'D', {}, 'error', {});
at = find(strncmp(lines, 'case ', 5));
for i = at
    f = strsplit(lines{i}, ' ');
    sizes = cellfun(@str2double, f(3:5));
    M = sizes(1);
    N = sizes(2);
    K = sizes(3);
    s.alpha = matrix_of(f(6), 1, 1);
    s.beta = matrix_of(f(7), 1, 1);
    s.A = matrix_of(strsplit(strtrim(lines{i + 1}), ' ')(2:end), M, K);
    s.B = matrix_of(strsplit(strtrim(lines{i + 2}), ' ')(2:end), K, N);
    s.C = matrix_of(strsplit(strtrim(lines{i + 3}), ' ')(2:end), M, N);
    s.D = [];
    s.error = '';
    if strncmp(lines{i + 4}, 'D error: ', 9)
        s.error = lines{i + 4}(10:end);
    else
        s.D = matrix_of(strsplit(strtrim(lines{i + 4}), ' ')(2:end), M, N);
    end
    set.cases(end + 1) = s;
end
end

function X = matrix_of(words, rows, cols)
% Row-major binary64 words; 'nan' is a NaN.
words(strcmp(words, 'nan')) = {'7ff8000000000000'};
x = hex2num(words(:));
X = reshape(x, cols, rows)';
end
