function mfma_build(option)
%MFMA_BUILD  Compile the part of mfma that MATLAB and Octave call.
%
%   MFMA_BUILD compiles mex/*.c, links them with the library (libmfma.a), and puts the result into matlab/private,
%   where the functions of this folder find it. It has to be done once, after the library has been built, and again
%   after an update. Where it cannot be done, the error says what is missing.
%
%   MFMA_BUILD quiet says nothing when all goes well. After an update Octave must be restarted, which cannot load a new
%   file of the same name.
%
%   The library is built by `make` (or `cargo build --release`) in the top folder of mfma, with a Rust toolchain. A
%   compiler is needed too: in Octave that which mkoctfile runs (Debian, Ubuntu: the packages octave-dev and gcc), in
%   MATLAB one that `mex -setup C` lists.
%
%   Example
%       mfma_build                 % in the folder matlab, once
%       MI300XMC(1, 2, 3, 1, 4, 'fp16')
%
%   prints, after the place of the compiled file,
%
%       ans = 10
%
%   Source: the files of the folder mex. The library is linked statically, so that the compiled file does not depend on
%   where it lies.
%
%   See also mfma_version, mfma_info.

quiet = false;
if nargin > 0
    if isa(option, 'string') && isscalar(option)
        option = char(option);
    end
    if ~ischar(option) || ~strcmpi(option, 'quiet')
        error('mfma:arg:value', 'mfma_build: the only option is ''quiet''');
    end
    quiet = true;
end

here = fileparts(mfilename('fullpath'));
top = fileparts(here);
source = must_exist(fullfile(top, 'mex', 'mfma_mex.c'), 'the source of the gateway', ...
    'This folder is not part of a complete copy of mfma.');
sources = source_files(fileparts(source));
header = must_exist(fullfile(top, 'include', 'mfma.h'), 'the C header', ...
    'This folder is not part of a complete copy of mfma.');
library = must_exist(find_library(top), 'the library', ...
    sprintf('Build it first: run `make` (or `cargo build --release`) in %s; that needs a Rust toolchain, see https://rustup.rs.', top));

% Compiled beside its place and renamed: a file that a running session has mapped must not be written over.
target = fullfile(here, 'private', ['mfma_mex.', mexext]);
update = exist(target, 'file') ~= 0;
stem = sprintf('mfma_mex_new_%d', feature_pid());
fresh = fullfile(here, 'private', [stem, '.', mexext]);
if ~exist(fileparts(target), 'dir')
    mkdir(fileparts(target));
end
clear mfma_mex
if exist('OCTAVE_VERSION', 'builtin')
    build_octave(sources, fileparts(header), library, fresh);
else
    build_matlab(sources, fileparts(header), library, fileparts(fresh), stem);
end
[ok, message] = movefile(fresh, target, 'f');
if ~ok
    error('mfma:setup:build', 'mfma_build: %s cannot be written: %s', target, message);
end
rehash

% Octave cannot load a file of the same name again, and would warn of it.
if update && exist('OCTAVE_VERSION', 'builtin')
    if ~quiet
        fprintf('mfma: %s is ready for new sessions; restart Octave if this one has used mfma.\n', target);
    end
    return
end
v = mfma_version;
if ~quiet
    fprintf('mfma %s: %s is ready.\n', v, target);
end
end

function files = source_files(folder)
% Those for MATLAB, or those for Octave.
if exist('OCTAVE_VERSION', 'builtin')
    found = [dir(fullfile(folder, '*.c')); dir(fullfile(folder, '*.cc'))];
    names = setdiff({found.name}, {'interpreter_matlab.c'});
else
    found = dir(fullfile(folder, '*.c'));
    names = {found.name};
end
files = fullfile(folder, names);
end

function path = must_exist(path, what, advice)
if isempty(path) || ~exist(path, 'file')
    if isempty(path)
        path = 'libmfma.a';
    end
    error('mfma:setup:missing', 'mfma_build: %s (%s) is missing. %s', what, path, advice);
end
end

function path = find_library(top)
% Where cargo puts it, or beside the header of an installed copy.
if ispc
    names = {'mfma.lib', 'libmfma.a'};
else
    names = {'libmfma.a'};
end
folders = {fullfile(top, 'target', 'release'), fullfile(top, 'lib')};
if ~isempty(getenv('CARGO_TARGET_DIR'))
    folders = [{fullfile(getenv('CARGO_TARGET_DIR'), 'release')}, folders];
end
path = '';
for f = folders
    for n = names
        if isempty(path) && exist(fullfile(f{1}, n{1}), 'file')
            path = fullfile(f{1}, n{1});
        end
    end
end
if isempty(path)
    path = fullfile(folders{1}, names{1});
end
end

function flags = system_libraries()
% What the Rust standard library inside libmfma.a needs.
if ispc
    flags = {'-lws2_32', '-luserenv', '-lntdll', '-lbcrypt', '-lkernel32'};
elseif ismac
    flags = {'-lpthread', '-lm'};
else
    flags = {'-lpthread', '-ldl', '-lm'};
end
end

function build_octave(sources, include, library, fresh)
link = {};
if isunix && ~ismac
    % The file stays mapped when it is cleared, as threads run in it; its symbols are its own.
    link = {'-Wl,-z,nodelete', '-Wl,--exclude-libs,ALL'};
end
libs = system_libraries();
try
    [text, failed] = mkoctfile('--mex', ['-I', include], '-o', fresh, sources{:}, library, link{:}, libs{:});
catch problem
    error('mfma:setup:build', ['mfma_build: Octave''s mkoctfile cannot run (%s). Install Octave''s development files and a ', ...
        'C compiler (Debian, Ubuntu: apt install octave-dev gcc).'], problem.message);
end
if failed || ~exist(fresh, 'file')
    error('mfma:setup:build', ['mfma_build: the compiler or the linker reported an error (see its own message)%s. Octave''s ', ...
        'development files and a C and a C++ compiler are needed (Debian, Ubuntu: apt install octave-dev gcc g++), and ', ...
        '%s must be complete.'], [': ', text](1:end * ~isempty(text)), library);
end
end

function build_matlab(sources, include, library, folder, stem)
flags = {};
libs = system_libraries();
if isunix && ~ismac
    flags = {'LDFLAGS=$LDFLAGS -Wl,-z,nodelete -Wl,--exclude-libs,ALL'};
end
try
    mex('-silent', '-R2018a', flags{:}, ['-I', include], '-outdir', folder, '-output', stem, sources{:}, library, libs{:});
catch problem
    error('mfma:setup:build', ['mfma_build: MATLAB''s mex failed:\n%s\nIf it found no compiler, install one that ', ...
        '`mex -setup C` lists.'], problem.message);
end
end

function id = feature_pid()
% The number of this process: two sessions may build at once.
if exist('OCTAVE_VERSION', 'builtin')
    id = getpid();
else
    id = feature('getpid');
end
end

%!error id=mfma:arg:value mfma_build ('loud')
%!error id=mfma:arg:value mfma_build (5)
