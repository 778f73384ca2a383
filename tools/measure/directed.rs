//! Cases that each ask one question: signs of zeros, NaN encodings, where bits are cut, which elements meet first.

use mfma::format::{FormatInfo, Rounding, from_f64, infinity, nan, to_f64, zero};

use crate::samplers::Case;
use crate::suites::Suite;

/// A case and the question that it asks.
pub type Question = (&'static str, Case);

/// 2^`exponent`, also where it is subnormal.
fn power(exponent: i32) -> f64 {
    if exponent < -1022 {
        f64::from_bits(1 << (exponent + 1074))
    } else {
        f64::from_bits(((exponent + 1023) as u64) << 52)
    }
}

struct Builder<'a> {
    suite: &'a Suite,
    a: &'static FormatInfo,
    b: &'static FormatInfo,
    out: &'static FormatInfo,
    questions: Vec<Question>,
}

/// All questions of a suite, in a fixed order.
pub fn questions(suite: &Suite) -> Vec<Question> {
    let mut builder = Builder {
        suite,
        a: suite.a.info(),
        b: suite.b.info(),
        out: suite.output.info(),
        questions: Vec::new(),
    };
    builder.zero_signs();
    builder.specials();
    builder.subnormal_results();
    builder.cut_below_products();
    builder.cut_below_c();
    builder.short_c();
    builder.rounding();
    builder.overflow();
    builder.unnormalised_products();
    builder.smallest_terms();
    builder.order_of_elements();
    builder.ignored_bits();
    builder.questions
}

impl Builder<'_> {
    fn add(&mut self, what: &'static str, products: &[(usize, u64, u64)], c: u64) {
        let mut case = Case {
            a: vec![0; self.suite.length()],
            b: vec![0; self.suite.length()],
            c,
        };
        for &(i, a, b) in products {
            // Where a dot product is shorter than the question, its last elements take the rest.
            let i = i.min(self.suite.length() - 1);
            (case.a[i], case.b[i]) = (a, b);
        }
        self.questions.push((what, case));
    }

    fn in_a(&self, x: f64) -> u64 {
        from_f64(self.a.format, x, Rounding::NearestEven)
    }

    fn in_b(&self, x: f64) -> u64 {
        from_f64(self.b.format, x, Rounding::NearestEven)
    }

    fn in_c(&self, x: f64) -> u64 {
        from_f64(self.out.format, x, Rounding::NearestEven)
    }

    fn lowest(info: &FormatInfo) -> i32 {
        info.min_exponent() - info.fraction_bits as i32
    }

    /// Factors with product +-2^exponent, if the formats have such; normal numbers where that is possible.
    fn factors(&self, negative: bool, exponent: i32) -> Option<(u64, u64)> {
        let half = exponent.div_euclid(2);
        let mut ea = half.clamp(self.a.min_exponent(), self.a.max_exponent());
        let eb = (exponent - ea).clamp(Self::lowest(self.b), self.b.max_exponent());
        ea = (exponent - eb).clamp(Self::lowest(self.a), self.a.max_exponent());
        if ea + eb != exponent {
            return None;
        }
        let sign = if negative { self.a.sign_bit() } else { 0 };
        Some((self.in_a(power(ea)) | sign, self.in_b(power(eb))))
    }

    fn lowest_product(&self) -> i32 {
        Self::lowest(self.a) + Self::lowest(self.b)
    }

    /// All-zero sums, and sums that cancel.
    fn zero_signs(&mut self) {
        let (one, minus_one) = (self.in_a(1.0), self.in_a(-1.0));
        let (one_b, c_one) = (self.in_b(1.0), self.in_c(1.0));
        let minus_zero = |info: &FormatInfo| zero(info.format, true);
        for c_negative in [false, true] {
            let c = zero(self.out.format, c_negative);
            self.add("zero sign: no products", &[], c);
            for (b, what) in [
                (one_b, "zero sign: one product -0"),
                (self.in_b(-1.0), "zero sign: one product (-0)(-1)"),
            ] {
                self.add(what, &[(0, minus_zero(self.a), b)], c);
            }
            let all: Vec<_> = (0..self.suite.length())
                .map(|i| (i, minus_zero(self.a), one_b))
                .collect();
            self.add("zero sign: all products -0", &all, c);
            let all: Vec<_> = (0..self.suite.length())
                .map(|i| (i, minus_zero(self.a), 0))
                .collect();
            self.add("zero sign: all products (-0)(+0)", &all, c);
            self.add(
                "zero sign: 1 - 1",
                &[(0, one, one_b), (1, minus_one, one_b)],
                c,
            );
            self.add(
                "zero sign: -1 + 1",
                &[(0, minus_one, one_b), (1, one, one_b)],
                c,
            );
        }
        self.add("zero sign: -1 + c", &[(0, minus_one, one_b)], c_one);
        let c_minus_one = c_one | self.out.sign_bit();
        self.add("zero sign: 1 - c", &[(0, one, one_b)], c_minus_one);
        self.add("c alone", &[], c_minus_one);
    }

    /// Infinities and NaNs in every place.
    fn specials(&mut self) {
        let (a, b, out) = (self.a, self.b, self.out);
        let (one, one_b) = (self.in_a(1.0), self.in_b(1.0));
        let last = self.suite.length() - 1;
        let middle = self.suite.length() / 2;
        for negative in [false, true] {
            let inf_a = infinity(a.format, negative);
            let inf_b = infinity(b.format, negative);
            let inf_c = infinity(out.format, negative);
            let opposite = infinity(out.format, !negative);
            let minus_a = infinity(a.format, !negative);
            for i in [0, 1, middle, last] {
                self.add("inf * 1", &[(i, inf_a, one_b)], 0);
                self.add("1 * inf", &[(i, one, inf_b)], self.in_c(-3.0));
                self.add("inf * 0", &[(i, inf_a, 0)], 0);
                self.add("0 * inf", &[(i, 0, inf_b)], self.in_c(1.0));
                self.add("inf * -0", &[(i, inf_a, zero(b.format, true))], 0);
                self.add("inf * 1 + opposite c", &[(i, inf_a, one_b)], opposite);
                self.add("inf * 1 + same c", &[(i, inf_a, one_b)], inf_c);
                let nan_a = nan(a.format, negative);
                self.add("nan * 1", &[(i, nan_a, one_b)], 0);
                self.add("nan * 0", &[(i, nan_a, 0)], self.in_c(2.0));
                let nan_b = nan(b.format, negative);
                self.add("1 * nan, inf c", &[(i, one, nan_b)], inf_c);
            }
            self.add("inf - inf", &[(0, inf_a, one_b), (last, minus_a, one_b)], 0);
            self.add("inf - inf", &[(0, inf_a, one_b), (1, minus_a, one_b)], 0);
            self.add(
                "inf in first and second half",
                &[(0, inf_a, one_b), (middle, inf_a, one_b)],
                0,
            );
            self.add("inf c", &[], inf_c);
            self.add("inf c", &[(0, one, one_b)], inf_c);
            let sign = if negative { out.sign_bit() } else { 0 };
            let fraction_bits = out.fraction_bits;
            for payload in [
                1,
                2,
                (1 << fraction_bits) - 1,
                1 << (fraction_bits - 1),
                (1 << (fraction_bits - 1)) + 5,
            ] {
                let c = infinity(out.format, false) | sign | payload;
                self.add("nan c, no products", &[], c);
                self.add("nan c", &[(0, one, one_b)], c);
                self.add("nan c and inf", &[(0, inf_a, one_b)], c);
            }
            let bits = a.fraction_bits + a.ignored_bits;
            for payload in [1, 2, 1 << (bits - 1), (1 << bits) - 1] {
                let x = inf_a | payload;
                self.add("nan payload in a", &[(0, x, one_b)], self.in_c(1.0));
            }
            let bits = b.fraction_bits + b.ignored_bits;
            for payload in [1, 2, 1 << (bits - 1), (1 << bits) - 1] {
                self.add("nan payload in b", &[(0, one, inf_b | payload)], 0);
            }
        }
    }

    /// Single products and sums around and below the smallest numbers of the output format.
    fn subnormal_results(&mut self) {
        let low = self.lowest_product().max(Self::lowest(self.out) - 30);
        for exponent in (low..self.out.min_exponent() + 3).rev() {
            for negative in [false, true] {
                let Some((x, y)) = self.factors(negative, exponent) else {
                    continue;
                };
                self.add("one small product", &[(0, x, y)], 0);
                let minus_zero = zero(self.out.format, true);
                self.add("one small product, c = -0", &[(1, x, y)], minus_zero);
                self.add("small product and smallest c", &[(0, x, y)], 1);
                let c = self.out.sign_bit() | 3;
                self.add("small product and subnormal c", &[(0, x, y)], c);
                let all: Vec<_> = (0..self.suite.length()).map(|i| (i, x, y)).collect();
                self.add("many small products", &all, 0);
            }
        }
        if self.a.fraction_bits == 10 && self.b.fraction_bits == 10 && self.out.fraction_bits == 10
        {
            // 2^-24 + 2^-25 - 2^-42: the last term is lost where c counts with the exponent -14.
            let products = [(0, 0x0c00, 0x0800), (1, 0x0008, 0x8008)];
            self.add("exponent of subnormal c", &products, 1);
        }
        // Which exponent a subnormal c counts with: the products 2^e and -2^-j about a tie of the last bit.
        let tie = Self::lowest(self.out) - 1;
        for below in 1..34 {
            for negative in [false, true] {
                let (Some(half), Some(small)) = (
                    self.factors(false, tie),
                    self.factors(negative, tie - below),
                ) else {
                    continue;
                };
                let products = [(0, half.0, half.1), (1, small.0, small.1)];
                self.add("exponent of subnormal c", &products, 1);
                self.add("exponent of subnormal c", &products, 2);
                self.add("exponent of c = 0", &products, 0);
            }
        }
    }

    /// Two large products cancel and leave what was kept of a small one.
    fn cut_below_products(&mut self) {
        for center in [0, 6, -6, self.a.max_exponent() + self.b.max_exponent() - 2] {
            for gap in 1..60 {
                for negative in [false, true] {
                    let (Some(large), Some(opposite), Some(small)) = (
                        self.factors(false, center),
                        self.factors(true, center),
                        self.factors(negative, center - gap),
                    ) else {
                        continue;
                    };
                    for order in [[0, 1, 2], [2, 0, 1], [0, 2, 1]] {
                        let products = [
                            (order[0], large.0, large.1),
                            (order[1], opposite.0, opposite.1),
                            (order[2], small.0, small.1),
                        ];
                        self.add("bits kept of a small product", &products, 0);
                    }
                    let sign = if negative { -1.0 } else { 1.0 };
                    let c = self.in_c(sign * power((center - gap).max(-1074)) * 1.9375);
                    let products = [(0, large.0, large.1), (1, opposite.0, opposite.1)];
                    self.add("bits kept of a small c", &products, c);
                }
            }
        }
    }

    /// c is large and cancelled by a product, or stays.
    fn cut_below_c(&mut self) {
        for center in [0, 5] {
            for gap in 1..60 {
                for negative in [false, true] {
                    let (Some(opposite), Some(small)) = (
                        self.factors(true, center),
                        self.factors(negative, center - gap),
                    ) else {
                        continue;
                    };
                    let c = self.in_c(power(center));
                    let products = [(0, opposite.0, opposite.1), (1, small.0, small.1)];
                    self.add("bits kept below c, cancelled", &products, c);
                    self.add("bits kept below c", &[(1, small.0, small.1)], c);
                    let four: Vec<_> = (0..4).map(|i| (i, small.0, small.1)).collect();
                    self.add("four products below c", &four, c);
                }
            }
        }
    }

    /// How many significand bits of c reach the result, alone and beside products.
    fn short_c(&mut self) {
        let (one, minus) = (self.factors(false, 0), self.factors(true, 0));
        let (Some(one), Some(minus)) = (one, minus) else {
            return;
        };
        for bit in 0..=self.out.fraction_bits as i32 {
            for base in [1.0, -1.0, 1.5] {
                let c = self.in_c(base * (1.0 + power(-bit)));
                self.add("last bits of c, no products", &[], c);
                self.add(
                    "last bits of c, 1 - 1",
                    &[(0, one.0, one.1), (1, minus.0, minus.1)],
                    c,
                );
                self.add("last bits of c, + 1", &[(0, one.0, one.1)], c);
                self.add("last bits of c, - 1", &[(0, minus.0, minus.1)], c);
                if let Some(tiny) = self.factors(false, -12) {
                    self.add("last bits of c, tiny product", &[(3, tiny.0, tiny.1)], c);
                }
            }
        }
        for c in [
            self.out.max_finite(),
            self.out.sign_bit() | self.out.max_finite(),
        ] {
            self.add("largest c alone", &[], c);
            self.add("largest c and 1", &[(0, one.0, one.1)], c);
        }
    }

    /// Results that need rounding: just below, at and above a tie, on both sides of an even neighbour.
    fn rounding(&mut self) {
        let ulp = -(self.out.fraction_bits as i32);
        for negative in [false, true] {
            for odd in [false, true] {
                let sign = if negative { -1.0 } else { 1.0 };
                let c = self.in_c(sign * (1.0 + if odd { power(ulp) } else { 0.0 }));
                for (half, rest) in [(false, true), (true, false), (true, true)] {
                    for rest_negative in [false, true] {
                        let mut products = Vec::new();
                        if let (true, Some(x)) = (half, self.factors(negative, ulp - 1)) {
                            products.push((0, x.0, x.1));
                        }
                        if let (true, Some(x)) = (rest, self.factors(rest_negative, ulp - 2)) {
                            products.push((1, x.0, x.1));
                        }
                        self.add("rounding", &products, c);
                    }
                }
            }
        }
    }

    /// Sums around the largest number of the output format.
    fn overflow(&mut self) {
        let top = self.out.max_exponent();
        let ulp = top - self.out.fraction_bits as i32;
        for negative in [false, true] {
            let sign = if negative { self.out.sign_bit() } else { 0 };
            for c in [self.out.max_finite(), self.out.max_finite() - 1] {
                for exponent in [
                    ulp - 3,
                    ulp - 2,
                    ulp - 1,
                    ulp,
                    ulp + 1,
                    top - 1,
                    top,
                    top + 1,
                    top + 5,
                ] {
                    for opposite in [false, true] {
                        if let Some(x) = self.factors(negative != opposite, exponent) {
                            self.add("largest c and a product", &[(0, x.0, x.1)], c | sign);
                        }
                    }
                }
            }
            let max_a = self.a.max_finite() | if negative { self.a.sign_bit() } else { 0 };
            let max_b = self.b.max_finite();
            let all: Vec<_> = (0..self.suite.length())
                .map(|i| (i, max_a, max_b))
                .collect();
            self.add("largest products", &all, 0);
            self.add("largest products and c", &all, self.out.max_finite() | sign);
            let half = self.suite.length() / 2;
            let mixed: Vec<_> = (0..self.suite.length())
                .map(|i| {
                    (
                        i,
                        if i < half {
                            max_a
                        } else {
                            max_a ^ self.a.sign_bit()
                        },
                        max_b,
                    )
                })
                .collect();
            self.add("largest products cancel", &mixed, 0);
            let mixed: Vec<_> = (0..self.suite.length())
                .map(|i| {
                    (
                        i,
                        if i % 2 == 0 {
                            max_a
                        } else {
                            max_a ^ self.a.sign_bit()
                        },
                        max_b,
                    )
                })
                .collect();
            self.add("largest products cancel in turn", &mixed, self.in_c(1.0));
            for (first, second) in [
                (top, top),
                (top + 1, top + 1),
                (top, top + 1),
                (top + 3, top - 2),
            ] {
                if let (Some(x), Some(y)) = (
                    self.factors(negative, first),
                    self.factors(!negative, second),
                ) {
                    self.add(
                        "large product, part cancelled",
                        &[(0, x.0, x.1), (1, y.0, y.1)],
                        0,
                    );
                }
                if let Some(x) = self.factors(negative, first) {
                    let c = self.in_c(if negative { 1.0 } else { -1.0 } * power(top));
                    self.add("large product, cancelled by c", &[(0, x.0, x.1)], c);
                }
            }
        }
    }

    /// A product of 2 or more does not count with a larger exponent than 2^(e_a + e_b).
    fn unnormalised_products(&mut self) {
        for x in [1.5, 1.75, 1.25] {
            let (x_a, x_b) = (self.in_a(x), self.in_b(x));
            let minus = x_a | self.a.sign_bit();
            for gap in 8..40 {
                if let Some(small) = self.factors(false, -gap) {
                    let products = [(0, x_a, x_b), (1, minus, x_b), (2, small.0, small.1)];
                    self.add("product of 2 or more", &products, 0);
                    let c = self.in_c(-x * x);
                    self.add(
                        "product of 2 or more",
                        &[(0, x_a, x_b), (2, small.0, small.1)],
                        c,
                    );
                }
            }
        }
    }

    /// The largest exponent is not taken below a limit: a term 2^-j beside a tie, as small as the formats go.
    fn smallest_terms(&mut self) {
        let base = Self::lowest(self.out);
        for first in [base - 1, base, base + 1, base + 2] {
            for below in 1..40 {
                let (Some(large), Some(small)) = (
                    self.factors(false, first),
                    self.factors(false, first - below),
                ) else {
                    continue;
                };
                let minus = small.0 | self.a.sign_bit();
                self.add(
                    "smallest terms, plus",
                    &[(0, large.0, large.1), (1, small.0, small.1)],
                    0,
                );
                self.add(
                    "smallest terms, minus",
                    &[(0, large.0, large.1), (1, minus, small.1)],
                    0,
                );
                let all: Vec<_> = (0..self.suite.length())
                    .map(|i| {
                        if i == 2 {
                            (i, large.0, large.1)
                        } else {
                            (i, small.0, small.1)
                        }
                    })
                    .collect();
                self.add("smallest terms, many", &all, 0);
            }
        }
        let smallest: Vec<_> = (0..self.suite.length())
            .map(|i| (i, 1 << self.a.ignored_bits, 1 << self.b.ignored_bits))
            .collect();
        for count in 1..=smallest.len() {
            self.add("smallest products alone", &smallest[..count], 0);
        }
    }

    /// A large product at i, c = minus it, a small one at j: whether they meet in one block, and in which order.
    fn order_of_elements(&mut self) {
        let gaps: &[i32] = if self.out.storage_bits == 64 {
            &[54]
        } else {
            &[13, 24, 26]
        };
        let length = self.suite.length();
        let stride = (length / 32).max(1);
        for &gap in gaps {
            let Some(small) = self.factors(false, 2 - gap) else {
                continue;
            };
            let (Some(large), Some(minus)) = (self.factors(false, 2), self.factors(true, 2)) else {
                continue;
            };
            for i in (0..length).step_by(stride) {
                for j in (0..length).step_by(stride).filter(|&j| j != i) {
                    let c = self.in_c(-4.0);
                    let products = [(i, large.0, large.1), (j, small.0, small.1)];
                    self.add("order: large, small, c", &products, c);
                }
            }
            for i in 0..length {
                let j = (i * 7 + 3) % length;
                let k = (i * 5 + 1) % length;
                if i == j || j == k || i == k {
                    continue;
                }
                let products = [
                    (i, large.0, large.1),
                    (j, minus.0, minus.1),
                    (k, small.0, small.1),
                ];
                self.add("order: large, -large, small", &products, 0);
            }
        }
    }

    /// Bits that the unit does not read (tf32).
    fn ignored_bits(&mut self) {
        if self.a.ignored_bits == 0 {
            return;
        }
        let one_b = self.in_b(1.0);
        for low in [0, 1, 0xfff, 0x1000, 0x1001, 0x1fff] {
            for x in [
                0.0,
                1.0,
                -1.0,
                1.5,
                power(-126),
                power(-127),
                to_f64(self.a.format, self.a.max_finite()),
            ] {
                let bits = self.in_a(x) | low;
                self.add("unread bits in a", &[(0, bits, one_b)], 0);
                self.add("unread bits in b", &[(0, one_b, bits)], 0);
                self.add("unread bits in both", &[(0, bits, bits)], 0);
            }
            let inf = infinity(self.a.format, false) | low;
            self.add("unread bits of an infinity", &[(0, inf, one_b)], 0);
            self.add("unread bits of an infinity times 0", &[(0, inf, 0)], 0);
            self.add(
                "unread bits of a number times inf",
                &[(0, low, infinity(self.a.format, false))],
                0,
            );
        }
    }
}
