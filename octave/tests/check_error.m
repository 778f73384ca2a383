function check_error(id, f, what)
%CHECK_ERROR  Check that f() raises an error whose identifier is id, and which names what.
%
%   check_error(id, f, what): `what` must occur in the message; it is the argument, or the value, that is wrong.
try
    f();
catch e
    check(strcmp(e.identifier, id), '%s: identifier %s instead of %s (%s)', func2str(f), e.identifier, id, e.message);
    if nargin > 2
        check(~isempty(strfind(e.message, what)), '%s: the message does not name %s: %s', func2str(f), what, e.message);
    end
    return
end
check(false, '%s: no error instead of %s', func2str(f), id);
end
