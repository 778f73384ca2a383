function t_interrupt()
% Ctrl-C during a long computation: the prompt is back soon, and the next call is right. In an interactive Octave of its own.
if ~isunix()
    printf('    NOT RUN: signals are sent by a shell\n');
    return
end
one('A = rand(1000); B = repmat(A, 1, 40);', 'for i = 1:1000, D = MI300XMC(1, A, B, 0, [], ''bf16''); end');
one('A = rand(2000, 40000);', 'for i = 1:1000, D = mfma_dot(A, A, [], ''arch'', ''CDNA1'', ''format'', ''fp16''); end');
% In the user's own function: what Octave raises there must not pass through the library.
one('A = rand(1000);', ['for i = 1:1000, D = mfma_gemm(A, A, [], ''arch'', ''MI300X'', ''progress'', ', ...
    '@(f) f + sum(sin(1:1e7)) < Inf); end']);
one('', 'for i = 1:1000, r = mfma_probe(@(a, b, c) c + 0 * sum(sin(1:1e6))); end');
[status, output] = child('mfma_probe(@(a, b, c) exit(3));');
check(status == 3, 'exit in a black box: status %d, %s', status, output);
[status, output] = child('mfma_gemm(ones(1500), ones(1500), [], ''arch'', ''MI300X'', ''threads'', 1, ''progress'', @(f) exit(3));');
check(status == 3, 'exit in a callback: status %d, %s', status, output);
end

function one(before, work)
here = fileparts(fileparts(fileparts(mfilename('fullpath'))));
base = tempname();
program = fullfile(OCTAVE_EXEC_HOME(), 'bin', 'octave-cli');
% The shell feeds the commands, waits until the product has begun, interrupts, and lets Octave go on.
f = fopen([base, '.sh'], 'w');
% With job control (set -m) the shell does not make Octave ignore the signal.
fprintf(f, 'set -m\nmkfifo %s.in\n', base);
fprintf(f, '"%s" --no-gui --no-init-file --no-history --quiet --interactive < %s.in > %s.out 2>&1 &\npid=$!\nexec 3> %s.in\n', ...
    program, base, base, base);
fprintf(f, 'echo "addpath(''%s''); mfma_threads(1); %s" >&3\n', fullfile(here, 'matlab'), before);
fprintf(f, 'echo "f = fopen(''%s.begun'', ''w''); fclose(f); %s; done = 1;" >&3\n', base, work);
fprintf(f, 'for i in $(seq 100); do [ -e %s.begun ] && break; sleep 0.1; done\nsleep 1\nkill -INT $pid\nstart=$(date +%%s%%N)\n', base);
fprintf(f, 'echo "printf(''next %%d, done %%d\\n'', MI300XMC(1, 2, 3, 1, 4, ''fp16''), exist(''done'')); exit(0)" >&3\nexec 3>&-\n');
fprintf(f, 'for i in $(seq 600); do kill -0 $pid 2>/dev/null || break; sleep 0.1; done\n');
fprintf(f, 'end=$(date +%%s%%N)\nkill -9 $pid 2>/dev/null\nwait $pid\necho "status $?" >> %s.out\n', base);
fprintf(f, 'echo "milliseconds $(( (end - start) / 1000000 ))" >> %s.out\n', base);
fclose(f);
system(sprintf('bash %s.sh 2>/dev/null', base));
output = fileread([base, '.out']);
check(~isempty(strfind(output, 'next 10, done 0')), '%s stopped, and the call after it: %s', work, output);
check(~isempty(strfind(output, 'status 0')), '%s: the session ends well: %s', work, output);
time = regexp(output, 'milliseconds (\d+)', 'tokens', 'once');
printf('    %s ms from Ctrl-C to the end of the session\n', time{1});
delete([base, '.*']);
end
