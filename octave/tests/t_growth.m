function t_growth()
% 1e5 failing calls leave no memory behind: every way to fail, after a warming-up.
if ~exist('/proc/self/status', 'file')
    printf('    NOT RUN: memory growth is read from /proc, which this system does not have\n');
    return
end
A = ones(4);
bad = {@() MI300XMC(1, A, {1}, 0, [], 'fp16'), @() MI300XMC(1, A, ones(3), 0, [], 'fp16'), ...
    @() MI300XMC(1, int8(A), sparse(A), 1, ones(3), 'fp16'), @() MI300XMC(1, single(A), A, 0, [], 'fp7'), ...
    @() H100TC(1, single(A), A, 0, [], 'fp16', 'bf16'), @() MI300XMC([1 2], A, A, 0, [], 'fp16'), ...
    @() MI300XMC(1, A, A, 0, 'text', 'fp16'), @() H100TC(1, A, A, 0, [], 5, 'fp32')};
fail_often(bad, 2000);
before = resident();
failures = fail_often(bad, 100000);
growth = resident() - before;
check(failures == 100000, '%d of 100000 calls failed', failures);
check(growth < 5000, 'memory grew by %d kB in 1e5 failing calls', growth);
end

function failures = fail_often(bad, times)
failures = 0;
for i = 1:times
    try
        bad{mod(i, numel(bad)) + 1}();
    catch
        failures = failures + 1;
    end
end
end

function kilobytes = resident()
text = fileread('/proc/self/status');
kilobytes = sscanf(regexp(text, 'VmRSS:\s*(\d+)', 'tokens', 'once'){1}, '%d');
end
