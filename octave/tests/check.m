function counts = check(ok, varargin)
%CHECK  Count one check of the test run; report it where it fails.
%
%   check(ok, format, ...) counts a check, and prints the formatted text where ok is false (the first ten times).
%   counts = check() gives [passed, failed] so far, and allows ten more reports.
persistent passed failed reported
if isempty(passed)
    passed = 0;
    failed = 0;
    reported = 0;
end
if nargin > 0
    if isequal(logical(ok), true)
        passed = passed + 1;
    else
        failed = failed + 1;
        reported = reported + 1;
        if reported <= 10
            printf('    FAILED: %s\n', sprintf(varargin{:}));
        elseif reported == 11
            printf('    ... more failures of this kind are counted, not shown\n');
        end
    end
else
    reported = 0;
end
counts = [passed, failed];
end
