function folder = data_folder(name)
%DATA_FOLDER  Folder of test vectors: the evidence that MFMA_TEST_DATA names, or the part of it that is kept here.
%
%   folder = data_folder(name): '' where neither has a folder `name`; the run then says what it left out.
here = fileparts(fileparts(fileparts(mfilename('fullpath'))));
candidates = {fullfile(here, 'tests', 'data')};
if ~isempty(getenv('MFMA_TEST_DATA'))
    candidates = [{getenv('MFMA_TEST_DATA')}, candidates];
end
folder = '';
for c = candidates
    if isempty(folder) && exist(fullfile(c{1}, name), 'dir')
        folder = fullfile(c{1}, name);
    end
end
end
