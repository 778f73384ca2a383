function varargout = mfma_mex(varargin) %#ok<STOUT>
%MFMA_MEX  Stands here until the compiled gateway of the same name does.
%
%   The functions of this folder prefer the compiled file that mfma_build puts into the folder private. This function
%   says what to do when there is none.
%
%   See also mfma_build.
error('mfma:setup:notBuilt', ['The compiled part of mfma is missing. Run mfma_build once; it compiles mfma_mex ' ...
    'into %s.'], fullfile(fileparts(mfilename('fullpath')), 'private'));
end
