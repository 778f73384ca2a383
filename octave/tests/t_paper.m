function t_paper()
% Every test vector of section 4 of the paper (AMD), through the toolbox functions. The rows whose words allow more than
% one reading are not judged here; the Rust tests state our reading of each.
here = fileparts(fileparts(fileparts(mfilename('fullpath'))));
lines = strsplit(fileread(fullfile(here, 'tests', 'data', 'paper_vectors.tsv')), sprintf('\n'));
lines = lines(~cellfun(@isempty, lines) & ~strncmp(lines, '#', 1));
column = struct();
names = strsplit(lines{1}, sprintf('\t'));
for i = 1:numel(names)
    column.(names{i}) = i;
end
functions = struct('CDNA1', @MI100MC, 'CDNA2', @MI210MC, 'CDNA3', @MI300XMC);
% bf16 instructions of CDNA 2 without _1k in their names: reached by name, on encodings.
group2 = {'arch', 'MI210', 'instruction', 'v_mfma_f32_32x32x4bf16', 'raw', true};
list = @(text) sscanf(strrep(text, ',', ' '), '%x')';
skipped = 0;
for i = 2:numel(lines)
    row = strsplit(lines{i}, sprintf('\t'), 'CollapseDelimiters', false);
    arch = row{column.arch};
    if strcmp(row{column.flag}, 'ambiguous')
        skipped = skipped + 1;
        continue
    end
    in = row{column.informat_encoding};
    if strcmp(arch, 'CDNA2-group2')
        d = mfma_dot(list(row{column.a})', list(row{column.b})', list(row{column.c}), group2{:});
    else
        d = functions.(arch)(1, decode_bits(list(row{column.a}), in), decode_bits(list(row{column.b}), in)', 1, ...
            decode_bits(list(row{column.c}), 'fp32'), row{column.informat});
    end
    wanted = row{column.expected};
    if strcmp(wanted, 'nan-negative')
        ok = isnan(d) && typecast(d, 'uint64') >= uint64(2^63);
    elseif strcmp(wanted, 'nan')
        ok = isnan(d);
    else
        ok = same_bits(d, decode_bits(list(wanted), 'fp32'));
    end
    check(ok, '%s (%s, %s): %.17g instead of %s', row{column.id}, row{column.section}, row{column.tag}, d, wanted);
end
printf('    %d rows; %d more are ambiguous\n', numel(lines) - 1 - skipped, skipped);
end
