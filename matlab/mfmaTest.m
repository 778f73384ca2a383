classdef mfmaTest < matlab.unittest.TestCase
%MFMATEST  Tests of mfma for MATLAB: runtests('mfmaTest'). Octave's are in octave/run_tests.m.
%
%   The golden dot products of tests/data (or of the folder that the environment variable MFMA_TEST_DATA names), the
%   argument rules with their identifiers, strings, and that calls leave the session as it was.
%
%   See also buildfile, mfma_build.

    properties (TestParameter)
        unit = {'MI100MC', 'MI210MC', 'MI250MC', 'MI300MC', 'MI300AMC', 'MI300XMC', 'V100TC', 'A100TC', 'A2TC', ...
            'A30TC', 'AdaTC', 'L40STC', 'H100TC', 'H200TC', 'B200TC', 'B200TCRN', 'RTXPRO6000TC'};
        file = mfmaTest.goldenFiles();
    end

    methods (TestClassSetup)
        function path(test)
            here = fileparts(mfilename('fullpath'));
            import matlab.unittest.fixtures.PathFixture
            test.applyFixture(PathFixture(here));
            test.applyFixture(PathFixture(fullfile(here, 'tools')));
            test.applyFixture(PathFixture(fullfile(fileparts(here), 'octave', 'tests')));
        end
    end

    methods (Test)
        function golden(test, file)
            set = read_cases(file, 1);
            f = str2func(set.function);
            formats = function_formats(set.function, set.informat, set.outformat);
            d = zeros(size(set.d));
            for i = 1:numel(d)
                d(i) = f(1, set.a{i}, set.b{i}', 1, set.c(i), formats{:});
            end
            test.verifyTrue(all(same_bits(d, set.d)), file);
        end

        function strings(test, unit)
            [f, formats] = mfmaTest.handle(unit);
            A = magic(4) / 3;
            D = f(1, A, A, 1, A, formats{:});
            texts = cellfun(@string, formats, 'UniformOutput', false);
            test.verifyEqual(f(1, A, A, 1, A, texts{:}), D);
            texts{1} = ["fp16", "fp32"];
            test.verifyError(@() f(1, A, A, 1, A, texts{:}), 'mfma:arg:text');
        end

        function classes(test, unit)
            [f, formats] = mfmaTest.handle(unit);
            for c = {@double, @single, @int8, @uint8, @int16, @uint16, @int32, @uint32, @int64, @uint64}
                D = f(c{1}(2), c{1}([1 2; 3 4]), c{1}(eye(2)), c{1}(1), c{1}(2 * ones(2)), formats{:});
                test.verifyEqual(D, [4 6; 8 10]);
            end
            test.verifyEqual(f(1, sparse([1 2; 3 4]), sparse(eye(2)), 0, [], formats{:}), [1 2; 3 4]);
            test.verifyEqual(f(true, true(2), eye(2), 0, [], formats{:}), ones(2));
        end

        function refused(test, unit)
            [f, formats] = mfmaTest.handle(unit);
            A = ones(2);
            bad = {'x', 'type'; {1}, 'type'; struct('a', 1), 'type'; @sin, 'type'; "x", 'type'; ...
                complex(1, 1), 'complex'; complex(1, 0), 'complex'; ones(2, 2, 2), 'dims'};
            for i = 1:size(bad, 1)
                for j = 1:5
                    args = {1, A, A, 1, A};
                    args{j} = bad{i, 1};
                    test.verifyError(@() f(args{:}, formats{:}), ['mfma:arg:', bad{i, 2}]);
                end
            end
            test.verifyError(@() f(1, A, A, 1, ones(3), formats{:}), 'mfma:arg:size');
            test.verifyError(@() f(1, A, ones(3), 1, [], formats{:}), 'mfma:arg:size');
            test.verifyError(@() f([1 2], A, A, 1, [], formats{:}), 'mfma:arg:scalar');
            test.verifyError(@() f(1, A, A), 'mfma:arg:count');
        end

        function quiet(test, unit)
            [f, formats] = mfmaTest.handle(unit); %#ok<ASGLU>
            before = {warning(), path(), rng()};
            text = evalc('D = f(1, ones(3), ones(3), 0, [], formats{:});');
            test.verifyEmpty(text);
            test.verifyEqual({warning(), path(), rng()}, before);
            test.verifyClass(D, 'double');
        end

        function unloading(test)
            for i = 1:20
                test.verifyEqual(MI300XMC(1, ones(32), ones(32), 0, [], 'fp16'), 32 * ones(32));
                clear mex %#ok<CLMEX>
            end
        end

        function probing(test)
            gpu = @(a, b, c) mfma_dot(a, b, c, 'arch', 'MI100', 'format', 'bf16');
            report = mfma_probe(gpu, 'format', 'bf16');
            test.verifyEqual(report.mismatches, 0);
            test.verifyEqual(report.params.fma, 2);
            test.verifyTrue(any(strcmp({report.units.arch}, 'CDNA1')));
            test.verifyError(@() mfma_probe(@(a, b, c) error('its:own', 'no unit')), 'its:own');
        end

        function explaining(test)
            report = mfma_explain([1 2^-12], [1 2^-12], -1, 'arch', 'V100', 'against', 'H100');
            test.verifyEqual([report.d, report.other.d], [0, 2^-24]);
            test.verifyEqual(report.causes, {{'alignment_bits'}});
        end

        function custom(test)
            params = struct('fma', 8, 'neab', 1, 'min_exp_limit', -132);
            A = magic(8) / 7;
            D = A100TC(1, A, A, 2, A, 'fp16', 'fp32');
            test.verifyEqual(CustomTC(1, A, A, 2, A, 'fp16', 'fp32', params), D);
            test.verifyEqual(GEMM(1, A, A, 2, A, "fp16", "fp32", params), D);
        end
    end

    methods (Static)
        function files = goldenFiles()
            data = getenv('MFMA_TEST_DATA');
            if isempty(data)
                data = fullfile(fileparts(fileparts(mfilename('fullpath'))), 'tests', 'data');
            end
            list = dir(fullfile(data, 'golden', '*.txt'));
            files = fullfile({list.folder}, {list.name});
            if isempty(files)
                files = {''};
            end
        end

        function [f, formats] = handle(unit)
            f = str2func(unit);
            formats = {'fp16', 'fp32'};
            if strncmp(unit, 'MI', 2)
                formats = {'fp16'};
            elseif strcmp(unit, 'V100TC')
                formats = {'fp32'};
            end
        end
    end
end
