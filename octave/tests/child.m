function [status, output] = child(code, flags)
%CHILD  Run code in a fresh Octave that has the toolbox on its path.
%
%   [status, output] = child(code, flags): the exit status, and what it wrote. flags is text for the command line.
if nargin < 2
    flags = '';
end
here = fileparts(fileparts(fileparts(mfilename('fullpath'))));
script = [tempname(), '.m'];
f = fopen(script, 'w');
fprintf(f, 'addpath(''%s'');\n%s\n', fullfile(here, 'matlab'), code);
fclose(f);
program = fullfile(OCTAVE_EXEC_HOME(), 'bin', 'octave-cli');
command = sprintf('"%s" --no-gui --no-init-file --no-history --quiet %s "%s" 2>&1', program, flags, script);
[status, output] = system(command);
delete(script);
end
