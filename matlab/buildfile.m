function plan = buildfile
%BUILDFILE  Build plan for MATLAB's buildtool: compile the gateway, run the tests.
%
%   In this folder, with R2022b or later:
%
%       buildtool          compiles and tests
%       buildtool compile  compiles mfma_mex (as mfma_build does)
%       buildtool test     runs the test class mfmaTest
%
%   See also mfma_build, mfmaTest.

plan = buildplan(localfunctions);
plan('test').Dependencies = 'compile';
plan.DefaultTasks = 'test';
end

function compileTask(~)
% Compile the gateway.
mfma_build
end

function testTask(~)
% Run the tests.
assertSuccess(runtests('mfmaTest'));
end
