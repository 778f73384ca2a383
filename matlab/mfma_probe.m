function report = mfma_probe(subject, varargin)
%MFMA_PROBE  Find the features of a matrix unit from its answers alone.
%
%   report = MFMA_PROBE(subject, name, value, ...) asks a unit several thousand short dot products, chosen to show how it
%   adds, and returns what it is. subject is
%
%       a function handle   d = subject(a, b, c), the unit: hardware, another model. a and b are K-by-N, c is 1-by-N, d must
%                           be 1-by-N with d(i) = c(i) + a(:,i)' * b(:,i) as that unit computes it. It gets numbers of the
%                           input formats, and must return numbers of the output format
%       text                an architecture or GPU, as if nothing were known of it
%       a struct            features, as CustomTC takes them, likewise
%
%   Without an output it prints what it found. Options, in any order, are
%
%       'format'      format of a and b, or a cell array of two ['fp16']
%       'out'         format of c and d ['fp32', with 'fp64' inputs 'fp64']
%       'k'           longest vector, 4 to 4096; blocks of more than half as many products may not be found [64]
%       'fixed'       true: all vectors have that length, filled with zeros, for instructions of one length [false]
%       'vectors'     vectors of each kind in a round, 20 to 100000; 150 make 4000 to 6000 in all [150]
%       'seed'        seed of the vectors [1]
%       'order'       also find in which order so many products, 2 to 64, and c are added [none]
%       'raw'         true: the function gets and returns encodings (uint8 to uint64) [false]
%       'progress'    as for mfma_gemm: how much of the longest search is done; most end much sooner [false]
%
%   report has the fields
%
%       params        features that give every answer, as CustomTC takes them
%       mismatches    0, or on how many answers even the nearest features fail
%       asked         number of dot products
%       features      struct array: name and value of each feature that plays a part; decided: does no other value give
%                     every answer; else values: all that remain, and reason: why nothing tells them apart
%       observed      struct array: question and answer, such as 'Inf * 0'
%       units         units of the catalogue that give every answer, as mfma_info has them
%       order         with 'order': a text such as '(c + ((p1 + p2) + (p3 + p4)))'; sums of two are in parentheses, sums of
%                     several terms in brackets, or in braces where nothing is lost between the terms
%       text          all of this as text, with the unit as a column of the paper's Table 3
%
%   The sign of NaN counts, so the function should keep it. The function is called some hundred times.
%
%   Example
%       gpu = @(a, b, c) mfma_dot(a, b, c, 'arch', 'MI100', 'format', 'bf16');   % stands for a GPU
%       report = mfma_probe(gpu, 'format', 'bf16');
%       fprintf('%d products a block, %s\n', report.params.fma, report.units(1).arch)
%
%   prints
%
%       2 products a block, CDNA1
%
%   Source: the paper's section 4; docs/probe.md says how it works, and how well.
%
%   See also mfma_explain, mfma_validate, mfma_info, CustomTC.

who = 'mfma_probe';
if nargin < 1
    error('mfma:arg:count', '%s: %d of at least 1 argument given: subject, name, value, ...', who, nargin);
end
names = {'format', 'out', 'k', 'fixed', 'vectors', 'seed', 'order', 'raw', 'progress'};
options = named_options(who, names, varargin, {'subject', subject});
for name = {'raw', 'fixed'}
    if isfield(options, name{1})
        options.(name{1}) = yes_or_no(who, options.(name{1}), name{1});
    end
end
if isfield(options, 'progress') && isa(options.progress, 'function_handle')
    f = options.progress;
    options.progress = @(done) tell(f, done);
end
raw = isfield(options, 'raw') && options.raw;
if isa(subject, 'function_handle')
    formats = mfma_mex('formats_named', who, options);
elseif ischar(subject) || (isa(subject, 'string') && isscalar(subject)) || isstruct(subject)
    if isfield(options, 'raw')
        error('mfma:arg:value', '%s: option raw does nothing where subject is no function', who);
    end
    [subject, formats] = known_unit(who, options, subject);
    raw = true;
else
    error('mfma:arg:type', '%s: subject is of class %s; it must be a function handle, a name, or a struct of features', who, ...
        class(subject));
end
options.format = formats(1:2);
options.out = formats{3};
ask = @(a, b, c) tell(@answer_of, who, subject, raw, formats, a, b, c);
order = '';
if isfield(options, 'order')
    order = mfma_mex('order', who, options, ask, options.order);
end
found = mfma_mex('probe', who, options, ask);
if ~isempty(order)
    found.text = sprintf('%s\nOrder of addition\n  %s\n', found.text, order);
end
if nargout == 0
    fprintf('%s', found.text);
    return
end
report = struct('params', toolbox_params(found.params), 'mismatches', found.mismatches, 'asked', found.asked);
report.params.fp8_fnuz = double(any(strcmp(formats(1:2), 'e4m3fnuz') | strcmp(formats(1:2), 'e5m2fnuz')));
report.features = found.features;
report.observed = found.observed;
known = mfma_info();
report.units = known(found.units);
report.order = order;
report.text = found.text;
end

function [f, formats] = known_unit(who, options, named)
% A unit of the library as a function of encodings, and its formats as the library names them.
unit = struct();
for name = {'format', 'out'}
    if isfield(options, name{1})
        unit.(name{1}) = options.(name{1});
    end
end
if isstruct(named)
    [unit.params, unit.fnuz] = custom_params(named, who);
else
    unit.arch = named;
    unit.called = 'subject';
end
formats = mfma_mex('formats', who, unit);
unit.raw = true;
f = @(a, b, c) bits_of(who, unit, a, b, c);
end

function bits = bits_of(who, unit, a, b, c)
[~, bits] = mfma_mex('dot', who, a, b, c, unit);
end

%!test  % the example
%! gpu = @(a, b, c) mfma_dot (a, b, c, 'arch', 'MI100', 'format', 'bf16');
%! report = mfma_probe (gpu, 'format', 'bf16');
%! assert (sprintf ('%d products a block, %s\n', report.params.fma, report.units(1).arch), ...
%!         sprintf ("2 products a block, CDNA1\n"));
%! assert (report.mismatches, 0);
%!test  % what is found computes the same: numbers, encodings, a name, a struct of features
%! params = mfma_info ('H100', 'e5m2', 'fp32')(1).params;
%! params.neab = 4;
%! unit = {'params', params, 'format', 'e5m2', 'out', 'fp16'};
%! report = mfma_probe (params, unit{3:6}, 'seed', 5);
%! assert (report.mismatches, 0);  assert (report.params.neab, 4);  assert (isempty (report.units));
%! assert (mfma_validate (report.params, unit{:}, 'count', 20000).mismatches, 0);
%! report = mfma_probe ('MI300X', 'format', 'bf8', 'vectors', 40);
%! assert (report.params.fp8_fnuz, 1);  assert (any (strcmp ({report.units.arch}, 'CDNA3')));
%!error id=mfma:system:cancelled mfma_probe ('MI250X', 'progress', @(done) false)
%!error <stop here> mfma_probe ('MI250X', 'progress', @(done) error ('stop here'))
%!test
%! report = mfma_probe ('MI250X', 'order', 5);
%! assert (report.order, '((c + ((p1 + p2) + (p3 + p4))) + p5)');
%! assert (! isempty (strfind (report.text, report.order)));
%! assert (report.params.pair_wise_sum, 1);  assert (report.params.in_subnormals, 0);
%! assert (any (strcmp ({report.units.arch}, 'CDNA2')));
%! names = {report.features.name};
%! assert (report.features(strcmp (names, 'fma')).decided);
%! assert (report.features(strcmp (names, 'fma')).value, '4');
%! undecided = report.features(! [report.features.decided]);
%! assert (all (cellfun (@(x) numel (x) > 0, {undecided.values})));
%! at = strcmp ({report.observed.question}, 'subnormal a');
%! assert (report.observed(at).answer, 'flushed');
%! assert (! isempty (strfind (report.text, 'Consistent units of the catalogue')));
%!function d = counted (a, b, c)
%!  global lengths
%!  lengths(end + 1) = rows (a);
%!  assert (class (a), 'uint16');  assert (class (c), 'uint32');  assert (size (c), [1, columns(a)]);
%!  [~, d] = mfma_dot (a, b, c, 'arch', 'V100', 'raw', true);
%!endfunction
%!test  % encodings; vectors of one length
%! global lengths
%! lengths = [];
%! report = mfma_probe (@counted, 'raw', true, 'k', 8, 'fixed', true, 'vectors', 60);
%! assert (unique (lengths), 8);
%! assert (report.mismatches, 0);  assert (report.params.fma, 4);
%! clear -global lengths
%!test  % a unit that no features describe
%! odd = @(a, b, c) double (single (c + sum (a .* b, 1)) .* (abs (c) != 1));
%! report = mfma_probe (odd, 'vectors', 40);
%! assert (report.mismatches > 0);  assert (isempty (report.units));
%!error id=mfma:arg:count mfma_probe ()
%!error <mfma_probe: subject must be one row> mfma_probe ('')
%!error <mfma_probe: subject: unknown> mfma_probe ('MI1')
%!error <option 'k' is given twice> mfma_probe ('MI300X', 'k', 8, 'k', 8)
%!error <option fixed is 2> mfma_probe ('MI300X', 'fixed', 2)
%!error <params.sticky|params.stkbitenabled is 2> mfma_probe (struct ('stkbitenabled', 2))
%!error <returns complex numbers> mfma_probe (@(a, b, c) c + 1i)
%!error <it must return 1-by-> mfma_probe (@(a, b, c) c.')
%!error <it must return 1-by-> mfma_probe (@(a, b, c) uint32 (c.'), 'raw', true)
%!test  % [] is the default of every option
%! [x, y] = deal (mfma_probe ('MI100', 'k', [], 'order', [], 'fixed', [], 'vectors', 30), mfma_probe ('MI100', 'vectors', 30));
%! assert (x.asked, y.asked);  assert (isempty (x.order));
%!test  % what is allowed for a format does not depend on a unit that is not there
%! try
%!   mfma_probe (@(a, b, c) c, 'format', 'fp7');
%! catch problem
%!   assert (isempty (strfind (problem.message, 'Hopper')), problem.message);
%!   assert (! isempty (strfind (problem.message, 'e4m3fnuz')), problem.message);
%! end
%!error id=mfma:arg:type mfma_probe (5)
%!error id=mfma:arg:value mfma_probe ('MI300X', 'k', 3)
%!error id=mfma:arg:value mfma_probe ('MI300X', 'raw', true)
%!error id=mfma:arg:value mfma_probe ('MI300X', 'order', 65)
%!error id=mfma:arg:option mfma_probe ('MI300X', 'count', 3)
%!error id=mfma:arch:unknown mfma_probe ('MI1')
%!error id=mfma:format:unknown mfma_probe ('MI300X', 'format', 'fp7')
%!error id=mfma:format:unsupported mfma_probe ('MI100', 'format', 'e4m3')
%!error id=mfma:arg:size mfma_probe (@(a, b, c) 1)
%!error id=mfma:arg:type mfma_probe (@(a, b, c) 'x')
%!error id=mfma:arg:type mfma_probe (@(a, b, c) double (c), 'raw', true)
%!error id=mfma:arg:value mfma_probe (@(a, b, c) c + 1e-30)
%!error id=its:own mfma_probe (@(a, b, c) error ('its:own', 'no unit'))
