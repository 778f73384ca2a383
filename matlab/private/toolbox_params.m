function t = toolbox_params(p)
% The features of a unit as the original toolbox names them: the inverse of custom_params.
%
%   t = toolbox_params(p): p has the library's fields. CustomTC with t is the unit again. Fields that only mfma has are
%   there where they matter.

aligned = any(strcmp(p.scheme, {'global_alignment', 'odd_even_grouping'}));
late = strcmp(p.scheme, 'odd_even_grouping') || (aligned && p.late_c);
t.fma = p.fma;
t.neab = Inf;
if aligned
    t.neab = p.alignment_bits - 23;
end
t.frmode = p.rounding;
t.armode = p.alignment_rounding;
t.stkbitenabled = double(p.sticky);
t.global_alignment = double(strcmp(p.scheme, 'global_alignment'));
t.late_partial_sum = double(p.late_c);
t.odd_even_grouping = double(strcmp(p.scheme, 'odd_even_grouping'));
t.pair_wise_sum = double(strcmp(p.scheme, 'pairwise_sum'));
t.correct_rounding = double(strcmp(p.scheme, 'correct_rounding'));
t.sequential_fma = double(strcmp(p.scheme, 'sequential_fma'));
t.denorm_prd = double(p.denormal_products);
t.min_exp_limit = -1024;
if ~isempty(p.min_exponent)
    t.min_exp_limit = p.min_exponent;
end
t.c_min_exp_limit = double(~isempty(p.zero_c_exponent));
t.prd_limit = double(p.product_limit);
t.in_subnormals = double(p.in_subnormals);
t.out_subnormals = double(p.out_subnormals);
t.nan_after_cut = double(p.nan_after_cut);
t.interleave = double(p.interleave);
if late
    t.late_sum_bits = p.late_sum_bits;
    t.late_total_bits = p.late_total_bits;
    t.drop_c_beyond = p.drop_c_beyond;
end
if ~isempty(p.zero_c_exponent) && p.zero_c_exponent ~= -126
    t.zero_c_exponent = p.zero_c_exponent;
end
t.conventions = p.conventions;
end
