function t_unload()
% The gateway can be cleared between calls, and the session ends well, with the library's threads alive.
big = 'A = ones(64); D = MI300XMC(1, A, A, 0, [], ''fp16''); assert(D(end) == 64); ';
for what = {'clear all', 'clear mex'}
    [status, output] = child(['for i = 1:200, ', big, what{1}, '; end, disp(123)']);
    check(status == 0 && strcmp(strtrim(output), '123'), '200 times %s: status %d, %s', what{1}, status, output);
end
[status, output] = child([big, 'clear all; exit(0)']);
check(status == 0 && isempty(strtrim(output)), 'exit after clear all: status %d, %s', status, output);
[status, output] = child([big, 'exit(7)']);
check(status == 7, 'the exit status is the caller''s: %d, %s', status, output);
end
