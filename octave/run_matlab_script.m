function run_matlab_script(path)
%RUN_MATLAB_SCRIPT  Run a MATLAB script that has functions at its end, unchanged, in Octave.
%
%   run_matlab_script(path) runs the script in its own folder, in the base workspace. MATLAB knows a script's local
%   functions before it starts; Octave only when it has reached them. So this function first writes those of the script,
%   and of the scripts beside it which it calls, to files of a folder that is on the path while the script runs.
%
%   The original toolbox's experiments and validation scripts run this way, with mfma's folder matlab as their models:
%
%       addpath octave
%       run_matlab_script('MATLAB-tensor-core/experiments/experiments_CDNA.m')

if ~exist(path, 'file')
    error('mfma:arg:value', 'run_matlab_script: there is no file %s', path);
end
path = make_absolute_filename(path);
[folder, name] = fileparts(path);
functions = tempname();
mkdir(functions);
addpath(functions);
back = pwd();
restore = onCleanup(@() put_back(functions, back));

todo = {name};
done = {};
while ~isempty(todo)
    script = todo{1};
    todo(1) = [];
    done{end + 1} = script;
    text = fileread(fullfile(folder, [script, '.m']));
    write_local_functions(text, functions);
    todo = [todo, setdiff(called_scripts(text, folder), [done, todo])];
end

cd(folder);
evalin('base', sprintf('source(''%s'')', strrep(path, '''', '''''')));
end

function put_back(functions, back)
rmpath(functions);
confirm_recursive_rmdir(false, 'local');
rmdir(functions, 's');
cd(back);
end

function names = called_scripts(text, folder)
% Scripts of the folder whose names occur as words.
files = dir(fullfile(folder, '*.m'));
names = {};
lines = cellfun(@code_of, strsplit(text, sprintf('\n')), 'UniformOutput', false);
words = unique(regexp(strjoin(lines, sprintf('\n')), '[A-Za-z]\w*', 'match'));
for i = 1:numel(files)
    name = files(i).name(1:end - 2);
    if any(strcmp(name, words)) && isempty(regexp(fileread(fullfile(folder, files(i).name)), '^(\s*%[^\n]*\n|\s)*function\>', 'once'))
        names{end + 1} = name;
    end
end
end

function write_local_functions(text, folder)
lines = strsplit(text, sprintf('\n'), 'CollapseDelimiters', false);
i = 1;
while i <= numel(lines)
    name = regexp(lines{i}, '^\s*function\s+(?:[^=(%]*=\s*)?([A-Za-z]\w*)', 'tokens', 'once');
    if isempty(name)
        i = i + 1;
        continue
    end
    last = end_of_function(lines, i);
    path = fullfile(folder, [name{1}, '.m']);
    body = sprintf('%s\n', lines{i:last});
    if exist(path, 'file') && ~strcmp(fileread(path), body)
        error('mfma:arg:value', 'run_matlab_script: two scripts have functions of the name %s that differ', name{1});
    end
    f = fopen(path, 'w');
    fprintf(f, '%s', body);
    fclose(f);
    i = last + 1;
end
end

function last = end_of_function(lines, first)
% The line of the `end` that belongs to the `function` of line `first`: blocks are counted, and `end` in an index is not.
depth = 0;
brackets = 0;
for last = first:numel(lines)
    [tokens, brackets] = block_words(lines{last}, brackets);
    for t = tokens
        if strncmp(t{1}, 'end', 3)
            depth = depth - 1;
        else
            depth = depth + 1;
        end
    end
    if depth <= 0
        return
    end
end
end

function [tokens, brackets] = block_words(line, brackets)
% Words of a line that open or close blocks, outside strings, comments and brackets.
line = code_of(line);
[words, starts] = regexp(line, '(?<![\w.])(?:function|if|for|parfor|while|switch|try|end)(?!\w)', 'match', 'start');
change = (line == '(' | line == '[' | line == '{') - (line == ')' | line == ']' | line == '}');
level = brackets + cumsum(change);
tokens = {};
for i = 1:numel(words)
    if level(starts(i)) == 0
        tokens{end + 1} = words{i};
    end
end
if ~isempty(level)
    brackets = max(level(end), 0);
end
end

function line = code_of(line)
% A line without its strings and comments.
line = regexprep(line, '"[^"]*"', '0');
line = regexprep(line, '(^|[\s=(,;\[{~&|<>+*/^-])''(?:[^'']|'''')*''', '$10');
line = regexprep(line, '(%|\.\.\.).*', '');
end
