function D = CustomTC(alpha, A, B, beta, C, informat, outformat, params)
%CUSTOMTC  Matrix product as a matrix unit of the user's own design computes it.
%
%   D = CustomTC(alpha, A, B, beta, C, informat, outformat, params) returns
%
%       D = round(alpha*A) * round(B) + round(beta*C)
%
%   with every element of D as the unit that params describes computes it. alpha, A, B, beta and C are as for A100TC.
%   informat is one of 'fp16', 'bf16', 'tf32', 'fp8-e4m3', 'fp8-e5m2', 'fp32', 'fp64' or their other names, 'fp8' and
%   'bf8' among them; outformat is 'fp32', 'fp16' or 'fp64' or their other names; all in any letter case. With
%   params.fp8_fnuz = 1 the 8-bit formats are the FNUZ kinds of CDNA 3.
%
%   params is a struct. Fields (default in brackets; unknown fields are ignored, as the original toolbox ignores them;
%   the functions mfma_* refuse them):
%
%       fma                products in one block [8]; longer products run block after block
%       neab               fractional bits beyond 23 that are kept when terms are aligned [1]
%       frmode             final rounding: 'rne', 'rz', 'rd' or 'ru' ['rz']
%       armode             rounding of a late c, or of the sum of products, when one is aligned to the other ['rz']
%       stkbitenabled      1: one more bit remembers whether an aligned term lost anything [0]
%
%     How a block is added: the first of these that is 1 [global_alignment]
%       correct_rounding   products and c without error, one rounding (CDNA 1)
%       pair_wise_sum      products rounded, added in pairs, then to c, each step rounded (CDNA 2)
%       global_alignment   terms aligned to the largest exponent, cut, added (NVIDIA, CDNA 3)
%       odd_even_grouping  odd and even products aligned apart, c late (CDNA 3 with 8-bit inputs)
%
%       late_partial_sum   1: c is added after the products [0]
%       denorm_prd         1: products are not normalised before alignment [1]
%       min_exp_limit      the largest exponent is not taken below this [-1024: no limit]
%       c_min_exp_limit    1: a late c = 0 counts with exponent -126 [0]
%       prd_limit          1: a product beyond the output format's range is an infinity [0]
%       in_subnormals      1: subnormal inputs are kept, 0: they become zero [1]
%       out_subnormals     the same for c and results [1]
%       fp8_fnuz           1: 8-bit formats are the FNUZ kinds [0]
%
%     Fields that the original does not have
%       late_sum_bits      fractional bits of a sum of products that is aligned to a larger c [30 + neab, as the original]
%       late_total_bits    fractional bits to which the total is then rounded down before the final rounding [none]
%       drop_c_beyond      a late c so many binades below the products is dropped
%                          [25 with odd_even_grouping and armode 'rd', else none]
%       sequential_fma     1: one fused multiply-add after the other [0]
%       zero_c_exponent    the exponent with which a late c = 0 counts where c_min_exp_limit is 1 [-126]
%       interleave         1: a block is two half blocks, k mod 4 in {0,1} and {2,3} [0]
%       nan_after_cut      1: tf32 words are cut before NaNs are told from infinities, as on Hopper [0]
%       conventions        zero's sign, NaN's bits and c between blocks: 'amd', 'nvidia', 'toolbox' [as the scheme's vendor]
%
%   CDNA 3 is late_sum_bits = 32 and late_total_bits = 31; mfma_info gives the params of every unit.
%
%   Example
%       Two alignment bits more than the A100, and rounding to nearest:
%
%           params = struct('fma', 8, 'neab', 3, 'frmode', 'rne');
%           D = CustomTC(1, [1 2^-12 2^-13], [1; 2^-12; 2^-13], 0, [], 'fp16', 'fp32', params);
%           fprintf('%.17g\n', D)
%
%       prints
%
%           1.0000001192092896
%
%   Source: Accurate Models of AMD Matrix Cores, section 7; MATLAB Tensor Core v0.6, Generic_BFMA_TC.
%
%   GEMM and Generic_BFMA_TC are in the folder tools of this one, which must be on the path for them.
%
%   See also mfma_info, mfma_gemm, GEMM, Generic_BFMA_TC, A100TC, MI300MC.

if nargin < 8
    error('mfma:arg:count', ...
        'CustomTC: %d of 8 arguments given: alpha, A, B, beta, C, informat, outformat, params', nargin);
end
[unit.params, unit.fnuz] = custom_params(params, 'CustomTC');
if isnumeric(informat) && isempty(informat)
    error('mfma:arg:type', 'CustomTC: informat is empty; it must be text');
end
unit.format = informat;
unit.out = outformat;
unit.original = true;
unit.alpha = alpha;
unit.beta = beta;
D = mfma_mex('gemm', 'CustomTC', A, B, C, unit);
end

%!test
%! params = struct ('fma', 8, 'neab', 3, 'frmode', 'rne');
%! D = CustomTC (1, [1 2^-12 2^-13], [1; 2^-12; 2^-13], 0, [], 'fp16', 'fp32', params);
%! assert (D, 1.0000001192092896);
%!test  % the A100 by its parameters
%! A = magic (8) / 7;
%! params = struct ('fma', 8, 'neab', 1, 'min_exp_limit', -132);
%! assert (CustomTC (1, A, A, 2, A, 'fp16', 'fp32', params), A100TC (1, A, A, 2, A, 'fp16', 'fp32'));
%!test  % CDNA 3 by its parameters
%! A = magic (8) / 7;
%! params = struct ('fma', 8, 'frmode', 'rne', 'armode', 'rd', 'late_partial_sum', 1, 'c_min_exp_limit', 1, ...
%!   'prd_limit', 1, 'late_sum_bits', 32, 'late_total_bits', 31);
%! assert (CustomTC (1, A, A, 2, -A, 'bf16', 'fp32', params), MI300MC (1, A, A, 2, -A, 'bf16'));
%!error id=mfma:arg:count CustomTC (1, 1, 1, 1, 1, 'fp16', 'fp32')
%!error id=mfma:params:type CustomTC (1, 1, 1, 1, 1, 'fp16', 'fp32', 5)
%!error id=mfma:params:value CustomTC (1, 1, 1, 1, 1, 'fp16', 'fp32', struct ('frmode', 'xx'))
%!error id=mfma:params:value CustomTC (1, 1, 1, 1, 1, 'fp16', 'fp32', struct ('fma', 0))
%!error id=mfma:params:value CustomTC (1, 1, 1, 1, 1, 'fp16', 'fp32', struct ('fma', 1.5))
%!error id=mfma:params:value CustomTC (1, 1, 1, 1, 1, 'fp16', 'fp32', struct ('fma', 1e10))
%!error id=mfma:params:value CustomTC (1, 1, 1, 1, 1, 'fp16', 'fp32', struct ('min_exp_limit', NaN))
%!error id=mfma:params:type CustomTC (1, 1, 1, 1, 1, 'fp16', 'fp32', struct ('fp8_fnuz', {{}}))
%!error id=mfma:arg:type CustomTC (1, 1, 1, 1, 1, [], 'fp32', struct ('fma', 4))
%!error <informat> CustomTC (1, 1, 1, 1, 1, 'fp7', 'fp32', struct ('fma', 4))
%!error <outformat> CustomTC (1, 1, 1, 1, 1, 'fp16', 'fp7', struct ('fma', 4))
%!error <params.neab> CustomTC (1, 1, 1, 1, 1, 'fp16', 'fp32', struct ('neab', 19, 'late_partial_sum', 1))
%!test  % the names that the original's GEMM knows
%! params = struct ('fma', 8);
%! assert (CustomTC (1, 17, 1, 0, [], 'FP8', 'fp32', params), CustomTC (1, 17, 1, 0, [], 'e4m3', 'fp32', params));
%! assert (CustomTC (1, 17, 1, 0, [], 'bf8', 'fp32', params), CustomTC (1, 17, 1, 0, [], 'e5m2', 'fp32', params));
%! params.fp8_fnuz = 1;
%! assert (CustomTC (1, 300, 1, 0, [], 'fp8', 'fp32', params), 240);
