function t_interrupt()
% Ctrl-C during a long product: the prompt is back soon, and the next call is right. In an interactive Octave of its own.
if ~isunix()
    printf('    NOT RUN: signals are sent by a shell\n');
    return
end
here = fileparts(fileparts(fileparts(mfilename('fullpath'))));
base = tempname();
program = fullfile(OCTAVE_EXEC_HOME(), 'bin', 'octave-cli');
% The shell feeds the commands, waits until the product has begun, interrupts, and lets Octave go on.
f = fopen([base, '.sh'], 'w');
% With job control (set -m) the shell does not make Octave ignore the signal.
fprintf(f, 'set -m\nmkfifo %s.in\n', base);
fprintf(f, '"%s" --no-gui --no-init-file --no-history --quiet --interactive < %s.in > %s.out 2>&1 &\npid=$!\nexec 3> %s.in\n', ...
    program, base, base, base);
fprintf(f, 'echo "addpath(''%s''); mfma_threads(1); A = rand(1000);" >&3\n', fullfile(here, 'matlab'));
fprintf(f, 'echo "f = fopen(''%s.begun'', ''w''); fclose(f); D = MI300XMC(1, A, repmat(A, 1, 40), 0, [], ''bf16'');" >&3\n', base);
fprintf(f, 'for i in $(seq 100); do [ -e %s.begun ] && break; sleep 0.1; done\nsleep 1\nkill -INT $pid\nstart=$(date +%%s%%N)\n', base);
fprintf(f, 'echo "printf(''next %%d, D %%d\\n'', MI300XMC(1, 2, 3, 1, 4, ''fp16''), exist(''D'')); exit(0)" >&3\nexec 3>&-\n');
fprintf(f, 'for i in $(seq 600); do kill -0 $pid 2>/dev/null || break; sleep 0.1; done\n');
fprintf(f, 'end=$(date +%%s%%N)\nkill -9 $pid 2>/dev/null\nwait $pid\necho "status $?" >> %s.out\n', base);
fprintf(f, 'echo "milliseconds $(( (end - start) / 1000000 ))" >> %s.out\n', base);
fclose(f);
system(sprintf('bash %s.sh 2>/dev/null', base));
output = fileread([base, '.out']);
check(~isempty(strfind(output, 'next 10, D 0')), 'the product stopped, and the call after it: %s', output);
check(~isempty(strfind(output, 'status 0')), 'the session ends well: %s', output);
time = regexp(output, 'milliseconds (\d+)', 'tokens', 'once');
printf('    %s ms from Ctrl-C to the end of the session\n', time{1});
delete([base, '.*']);
end
