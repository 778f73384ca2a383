function t_unload()
% The gateway can be cleared between calls, and the session ends well, with the library's threads alive.
% Large enough for several threads.
big = 'mfma_threads(3); A = ones(250); D = MI300XMC(1, A, A, 0, [], ''fp32''); assert(D(end) == 250); ';
% (`clear mex` clears the gateway in MATLAB; Octave takes mex for the name of a variable.)
for what = {'clear all', 'clear functions', 'clear mex'}
    [status, output] = child(['for i = 1:200, ', big, what{1}, '; end, disp(123)']);
    check(status == 0 && strcmp(strtrim(output), '123'), '200 times %s: status %d, %s', what{1}, status, output);
end
[status, output] = child([big, 'clear all; exit(0)']);
check(status == 0 && isempty(strtrim(output)), 'exit after clear all: status %d, %s', status, output);
% No thread outlives the cleared gateway, and new ones come when they are needed.
if exist('/proc/self/status', 'file')
    count = 'n(end + 1) = str2double(regexp(fileread(''/proc/self/status''), ''Threads:\s*(\d+)'', ''tokens''){1}{1}); ';
    few = 'A = ones(2); MI300XMC(1, A, A, 0, [], ''fp32''); ';
    [status, output] = child(['n = []; ', few, count, big, count, 'clear functions; ', count, big, count, 'disp(n - n(1))']);
    check(status == 0 && isequal(sscanf(output, '%d')', [0 2 0 2]), 'threads after clear functions: %s', output);
end
[status, output] = child([big, 'exit(7)']);
check(status == 7, 'the exit status is the caller''s: %d, %s', status, output);
end
