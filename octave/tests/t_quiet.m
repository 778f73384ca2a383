function t_quiet()
% A call prints nothing and changes nothing: warnings, path, random state, format, the last error.
A = [1 2; 3 4] / 3;
for u = toolbox_functions()
    formats = function_formats(u.name, 'fp16', 'fp32');
    before = state();
    text = evalc([u.name, '(1, A, A, 1, A, formats{:});']);
    check(isempty(text), '%s prints: %s', u.name, text);
    try
        feval(u.name, 1, A, {1}, 1, A, formats{:});
    catch
    end
    check(isequal(state(), before), '%s changes the state of the session', u.name);
end
in_other_modes();
end

function s = state()
s = {warning(), path(), rand('state'), rand('twister'), randn('state'), output_precision(), pwd(), ...
    getenv('MFMA_NUM_THREADS'), page_screen_output()};
end

function in_other_modes()
% --traditional, and with every warning that can be an error made one.
code = 'disp(MI300XMC(1, 2, 3, 1, 4, ''fp16'')), disp(H100TC(1, 2, 3, 1, 4, ''fp16'', ''fp32''))';
for mode = {'', '--traditional'}
    errors = ['w = warning(); for i = 1:numel(w), if ~strcmp(w(i).identifier, ''all''), ', ...
        'warning(''error'', w(i).identifier); end, end, '];
    for first = {'', errors}
        [status, output] = child([first{1}, code], mode{1});
        check(status == 0 && isequal(sscanf(output, '%d')', [10 10]), '%s %s: status %d, %s', mode{1}, first{1}, status, ...
            output);
    end
end
end
