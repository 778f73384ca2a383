function answer = tell(f, varargin)
% What a callback of the user's answers; where it raises an error, a struct of its message, identifier and stack, which the
% gateway raises again when the library has returned.
try
    answer = f(varargin{:});
catch problem
    answer = struct('message', problem.message, 'identifier', problem.identifier, 'stack', problem.stack);
end
end
