function same = same_bits(x, y)
%SAME_BITS  Where two arrays of doubles are the same bits; every NaN is the same as every other.
same = (x == y & (x ~= 0 | 1 ./ x == 1 ./ y)) | (isnan(x) & isnan(y));
end
