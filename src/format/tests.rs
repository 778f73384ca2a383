//! Exhaustive tests of decoding and rounding for all formats of up to 16 bits, and tf32's 19.
//!
//! The oracle here is a sorted list of a format's numbers as binary64: it knows nothing of exponents and shifts, only
//! which two numbers of the list a value lies between. `tests/apfloat.rs` adds an oracle that somebody else wrote.

use super::convert::default_overflow;
use super::*;

/// The formats whose encodings can all be visited.
const SMALL: [Format; 7] = [
    Format::Tf32,
    Format::Fp16,
    Format::Bf16,
    Format::E4m3,
    Format::E5m2,
    Format::E4m3Fnuz,
    Format::E5m2Fnuz,
];

const ROUNDINGS: [Rounding; 4] = [
    Rounding::NearestEven,
    Rounding::TowardZero,
    Rounding::Down,
    Rounding::Up,
];

const OVERFLOWS: [Overflow; 3] = [Overflow::Ieee, Overflow::Saturate, Overflow::Infinity];

/// 2^`exponent` as a normal binary64 number.
fn pow2(exponent: i32) -> f64 {
    assert!((-1022..=1023).contains(&exponent));
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// The finite magnitudes of a format from zero up, each with its encoding, by the textbook formula.
fn magnitudes(format: Format) -> Vec<(f64, u64)> {
    // Exponent bits, fraction bits, bias, and how many encodings at the top are not finite.
    let (e, f, bias, not_finite) = match format {
        Format::Tf32 => (8, 10, 127, 1 << 10),
        Format::Fp16 => (5, 10, 15, 1 << 10),
        Format::Bf16 => (8, 7, 127, 1 << 7),
        Format::E4m3 => (4, 3, 7, 1),
        Format::E5m2 => (5, 2, 15, 1 << 2),
        Format::E4m3Fnuz => (4, 3, 8, 0),
        Format::E5m2Fnuz => (5, 2, 16, 0),
        _ => unreachable!(),
    };
    let position = if format == Format::Tf32 { 13 } else { 0 };
    (0..(1u64 << (e + f)) - not_finite)
        .map(|code| {
            let (field, fraction) = ((code >> f) as i32, (code & ((1 << f) - 1)) as f64);
            let value = if field == 0 {
                fraction * pow2(1 - bias - f)
            } else {
                (1.0 + fraction * pow2(-f)) * pow2(field - bias)
            };
            (value, code << position)
        })
        .collect()
}

/// The sign bit in place, or nothing for a zero of a format with only one.
fn with_sign(format: Format, code: u64, negative: bool) -> u64 {
    match (negative, format, code) {
        (false, ..) | (true, Format::E4m3Fnuz | Format::E5m2Fnuz, 0) => code,
        (true, Format::Tf32, _) => code | 1 << 31,
        (true, Format::Fp16 | Format::Bf16, _) => code | 1 << 15,
        (true, ..) => code | 1 << 7,
    }
}

fn is_nan(format: Format, code: u64) -> bool {
    decode(format, code).class == Class::Nan
}

#[test]
fn the_list_of_numbers_is_the_formats() {
    let largest: Vec<f64> = SMALL
        .iter()
        .map(|&format| magnitudes(format).last().unwrap().0)
        .collect();
    let tf32 = pow2(128) - pow2(117);
    let bf16 = pow2(128) - pow2(120);
    assert_eq!(
        largest,
        [tf32, 65504.0, bf16, 448.0, 57344.0, 240.0, 57344.0]
    );
    let smallest: Vec<f64> = SMALL
        .iter()
        .map(|&format| magnitudes(format)[1].0)
        .collect();
    let exponents = [-136, -24, -133, -9, -16, -10, -17];
    assert_eq!(smallest, exponents.map(pow2));
}

#[test]
fn every_encoding_decodes_to_its_number_and_encodes_back() {
    for format in SMALL {
        for (value, code) in magnitudes(format) {
            for negative in [false, true] {
                let signed = if negative { -value } else { value };
                let bits = with_sign(format, code, negative);
                let decoded = decode(format, bits);
                let class = if value == 0.0 {
                    Class::Zero
                } else {
                    Class::Finite
                };
                assert_eq!(decoded.class, class, "{format} {bits:x}");
                let unit = decoded.exponent - format.info().fraction_bits as i32;
                if class == Class::Finite {
                    let magnitude = decoded.significand as f64 * pow2(unit);
                    assert_eq!(magnitude, value, "{format} {bits:x}");
                    assert_eq!(decoded.negative, negative);
                }
                if format != Format::E4m3Fnuz && format != Format::E5m2Fnuz || value != 0.0 {
                    assert_eq!(
                        to_f64(format, bits).to_bits(),
                        signed.to_bits(),
                        "{format} {bits:x}"
                    );
                }
                for rounding in ROUNDINGS {
                    assert_eq!(
                        from_f64(format, signed, rounding),
                        bits,
                        "{format} {bits:x}"
                    );
                    for overflow in OVERFLOWS {
                        assert_eq!(
                            recode(format, format, bits, rounding, overflow),
                            bits,
                            "{format} {bits:x} {rounding:?} {overflow:?}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn encodings_outside_the_list_are_infinities_and_nans() {
    for format in SMALL {
        let info = format.info();
        let finite = magnitudes(format).len() as u64;
        let all = info.sign_bit() >> info.ignored_bits;
        for code in finite..all {
            for negative in [false, true] {
                let bits = with_sign(format, code << info.ignored_bits, negative);
                let decoded = decode(format, bits);
                let infinite = format != Format::E4m3 && code == finite;
                let class = if infinite {
                    Class::Infinite
                } else {
                    Class::Nan
                };
                assert_eq!(decoded.class, class, "{format} {bits:x}");
                assert_eq!(decoded.negative, negative);
                assert_eq!(to_f64(format, bits).is_nan(), !infinite);
            }
        }
    }
    for format in [Format::E4m3Fnuz, Format::E5m2Fnuz] {
        assert!(is_nan(format, 0x80));
        assert_eq!(nan(format, false), 0x80);
        assert_eq!(infinity(format, true), 0x80);
        assert_eq!(zero(format, true), 0);
    }
    assert_eq!(infinity(Format::E4m3, true), 0xff);
    assert_eq!(nan(Format::Fp32, true), 0xffc0_0000);
    assert_eq!(nan(Format::Tf32, false), 0x7fc0_0000);
    assert_eq!(zero(Format::Bf16, true), 0x8000);
}

#[test]
fn tf32_ignores_the_low_bits_of_a_word_after_telling_nan_from_infinity() {
    for (value, code) in magnitudes(Format::Tf32).into_iter().step_by(97) {
        for low in [1, 0x1000, 0x1fff] {
            assert_eq!(to_f64(Format::Tf32, code | low), value);
        }
    }
    assert!(is_nan(Format::Tf32, 0x7f80_0001));
    assert!(is_nan(Format::Tf32, 0xff80_1fff));
    assert_eq!(decode(Format::Tf32, 0x7f80_0000).class, Class::Infinite);
}

/// What a positive `x` between the list's numbers `i` and `i + 1` becomes, its sign given apart: an index of the list.
/// Of two neighbours, the one with an even index has the even significand.
fn nearer(list: &[(f64, u64)], i: usize, x: f64, negative: bool, rounding: Rounding) -> usize {
    let (below, above) = (list[i].0, list[i + 1].0);
    if x == below || x == above {
        return if x == below { i } else { i + 1 };
    }
    // Exact: all formats here are much narrower than binary64.
    let middle = (below + above) / 2.0;
    let up = match rounding {
        Rounding::NearestEven if x == middle => i % 2 == 1,
        Rounding::NearestEven => x > middle,
        Rounding::TowardZero => false,
        Rounding::Down => negative,
        Rounding::Up => !negative,
    };
    i + usize::from(up)
}

#[test]
fn every_midpoint_and_its_neighbours_round_as_they_should() {
    for format in SMALL {
        let list = magnitudes(format);
        for i in 0..list.len() - 1 {
            let (below, above) = (list[i].0, list[i + 1].0);
            let middle = (below + above) / 2.0;
            let points = [
                below.next_up(),
                middle.next_down(),
                middle,
                middle.next_up(),
                above.next_down(),
            ];
            for (x, negative) in points.into_iter().flat_map(|x| [(x, false), (x, true)]) {
                let signed = if negative { -x } else { x };
                for rounding in ROUNDINGS {
                    let code = list[nearer(&list, i, x, negative, rounding)].1;
                    assert_eq!(
                        from_f64(format, signed, rounding),
                        with_sign(format, code, negative),
                        "{format} {signed:e} {rounding:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn past_the_largest_number() {
    for format in SMALL {
        let list = magnitudes(format);
        let (largest, code) = *list.last().unwrap();
        let ulp = largest - list[list.len() - 2].0;
        // Where the next number would be. In a format with an even last encoding the tie stays (E4M3: 464 to 448).
        let middle = largest + ulp / 2.0;
        let tie_goes_up = list.len().is_multiple_of(2);
        let points = [
            largest.next_up(),
            middle.next_down(),
            middle,
            middle.next_up(),
            (largest + ulp).next_down(),
            largest + ulp,
            2.0 * (largest + ulp),
            f64::MAX,
        ];
        for (x, negative) in points.into_iter().flat_map(|x| [(x, false), (x, true)]) {
            let signed = if negative { -x } else { x };
            for rounding in ROUNDINGS {
                // Does the rounding, with exponents without end, leave the format's range?
                let outside = x >= largest + ulp
                    || match rounding {
                        Rounding::NearestEven => x > middle || x == middle && tie_goes_up,
                        Rounding::TowardZero => false,
                        Rounding::Down => negative,
                        Rounding::Up => !negative,
                    };
                let points_back = match rounding {
                    Rounding::NearestEven => false,
                    Rounding::TowardZero => true,
                    Rounding::Down => !negative,
                    Rounding::Up => negative,
                };
                for overflow in OVERFLOWS {
                    let stays = !outside
                        || match overflow {
                            Overflow::Ieee => points_back,
                            Overflow::Saturate => true,
                            Overflow::Infinity => false,
                        };
                    let result = recode(Format::Fp64, format, signed.to_bits(), rounding, overflow);
                    let context = format!("{format} {signed:e} {rounding:?} {overflow:?}");
                    if stays {
                        assert_eq!(result, with_sign(format, code, negative), "{context}");
                    } else {
                        assert_eq!(result, infinity(format, negative), "{context}");
                        let to_nan =
                            matches!(format, Format::E4m3 | Format::E4m3Fnuz | Format::E5m2Fnuz);
                        assert_eq!(is_nan(format, result), to_nan, "{context}");
                    }
                }
            }
        }
    }
}

#[test]
fn overflow_of_what_users_pass() {
    let rne = |format, x| from_f64(format, x, Rounding::NearestEven);
    assert_eq!(rne(Format::Fp16, 65519.99), 0x7bff);
    assert_eq!(rne(Format::Fp16, 65520.0), 0x7c00);
    assert_eq!(rne(Format::E5m2, 61439.9), 0x7b);
    assert_eq!(rne(Format::E5m2, -61440.0), 0xfc);
    assert_eq!(rne(Format::E4m3, 464.0), 0x7e);
    assert_eq!(rne(Format::E4m3, 464.0f64.next_up()), 0x7f);
    assert_eq!(rne(Format::E4m3, f64::NEG_INFINITY), 0xff);
    assert_eq!(rne(Format::E4m3Fnuz, 1e300), 0x7f);
    assert_eq!(rne(Format::E5m2Fnuz, -1e300), 0xff);
    assert_eq!(rne(Format::E4m3Fnuz, f64::INFINITY), 0x80);
    assert_eq!(rne(Format::E5m2Fnuz, f64::NEG_INFINITY), 0x80);
    let cut = |format, x| from_f64(format, x, Rounding::TowardZero);
    assert_eq!(cut(Format::Tf32, 1e300), 0x7f7f_e000);
    assert_eq!(cut(Format::Fp32, -1e300), 0xff7f_ffff);
    assert_eq!(cut(Format::Tf32, f64::INFINITY), 0x7f80_0000);
    assert_eq!(default_overflow(Format::E4m3), Overflow::Ieee);
    for format in SMALL {
        for sign in [1.0, -1.0] {
            assert!(is_nan(format, rne(format, f64::NAN.copysign(sign))));
        }
    }
}

#[test]
fn binary64_below_the_smallest_number() {
    for format in SMALL {
        let (smallest, code) = magnitudes(format)[1];
        for x in [f64::from_bits(1), f64::MIN_POSITIVE, smallest / 2.0] {
            let zeros = [zero(format, false), zero(format, true)];
            assert_eq!(from_f64(format, x, Rounding::NearestEven), zeros[0]);
            assert_eq!(from_f64(format, -x, Rounding::NearestEven), zeros[1]);
            assert_eq!(from_f64(format, x, Rounding::Up), code);
            assert_eq!(from_f64(format, x, Rounding::Down), zeros[0]);
            let signed = with_sign(format, code, true);
            assert_eq!(from_f64(format, -x, Rounding::Down), signed);
            assert_eq!(from_f64(format, -x, Rounding::Up), zeros[1]);
        }
    }
}

/// Binary32 numbers go the same way as the binary64 numbers equal to them.
#[test]
fn binary32_rounds_as_binary64() {
    for bits in (0..=u32::MAX).step_by(40_009) {
        let x = f32::from_bits(bits);
        for format in SMALL {
            for rounding in ROUNDINGS {
                let (single, double) = (
                    from_f32(format, x, rounding),
                    from_f64(format, x.into(), rounding),
                );
                assert_eq!(single, double, "{format} {x:e} {rounding:?}");
            }
        }
    }
}

/// Fewer fraction bits than the format has: the 13 bits of 8-bit units with binary32 output.
#[test]
fn rounding_to_part_of_the_fraction() {
    let exact = |significand: u128| Exact {
        negative: false,
        magnitude: significand,
        sticky: false,
        unit: -20,
    };
    let round = |significand, rounding| {
        let bits = round_pack_to(
            Format::Fp32,
            13,
            exact(significand),
            rounding,
            Overflow::Infinity,
        );
        f32::from_bits(bits as u32) as f64 * pow2(13)
    };
    for kept in [0x2000u128, 0x2001, 0x3ffe, 0x3fff] {
        for low in 0..128 {
            let significand = kept << 7 | low;
            let up = low > 64 || low == 64 && kept % 2 == 1;
            assert_eq!(round(significand, Rounding::TowardZero), kept as f64);
            let nearest = kept + u128::from(up);
            assert_eq!(round(significand, Rounding::NearestEven), nearest as f64);
        }
    }
}

/// Something below the last bit counts as any other bits there.
#[test]
fn a_sticky_part_is_a_bit_further_down() {
    for format in SMALL {
        for magnitude in (1u128 << 20..1 << 21).step_by(1021) {
            for (unit, rounding) in [-160, -148, -36, -30, -21, 90]
                .into_iter()
                .flat_map(|unit| ROUNDINGS.map(|rounding| (unit, rounding)))
            {
                let sticky = Exact {
                    negative: false,
                    magnitude,
                    sticky: true,
                    unit,
                };
                let longer = Exact {
                    magnitude: magnitude << 2 | 1,
                    sticky: false,
                    unit: unit - 2,
                    ..sticky
                };
                assert_eq!(
                    round_pack(format, sticky, rounding, Overflow::Ieee),
                    round_pack(format, longer, rounding, Overflow::Ieee),
                    "{format} {magnitude:x} {unit} {rounding:?}"
                );
            }
        }
    }
}

/// Cases from problems that people met with other libraries: the conversions.
mod met_in_public {
    use super::*;

    fn rne(format: Format, x: f64) -> u64 {
        from_f64(format, x, Rounding::NearestEven)
    }

    /// F01: just above a tie in binary64, exactly a tie after a detour through binary32.
    #[test]
    fn binary64_to_fp16_rounds_once() {
        let a = rne(Format::Fp16, f64::from_bits(0x3ff0_0200_4000_0000));
        assert_eq!(recode_to_single(Format::Fp16, a), 0x3f80_2000);
        let a = rne(Format::Fp16, f64::from_bits(0x3f0f_fbff_ffff_fffc));
        assert_eq!(recode_to_single(Format::Fp16, a), 0x387f_c000);
    }

    fn recode_to_single(format: Format, bits: u64) -> u64 {
        rne(Format::Fp32, to_f64(format, bits))
    }

    /// F04: the same with E4M3.
    #[test]
    fn binary64_to_e4m3_rounds_once() {
        for format in [Format::E4m3, Format::E4m3Fnuz] {
            assert_eq!(to_f64(format, rne(format, 1.062_500_000_1)), 1.125);
        }
    }

    /// F05: a NaN whose payload does not fit, and the largest binary32 number.
    #[test]
    fn binary32_to_bf16() {
        let from = |bits| from_f32(Format::Bf16, f32::from_bits(bits), Rounding::NearestEven);
        assert!(is_nan(Format::Bf16, from(0x7f80_0001)));
        assert_eq!(from(0x7f7f_ffff), 0x7f80);
    }

    /// F08: limits of the 8-bit formats.
    #[test]
    fn limits_of_8_bit_formats() {
        let through = |format, x| to_f64(format, rne(format, x));
        assert_eq!(through(Format::E4m3Fnuz, 300.0), 240.0);
        assert_eq!(through(Format::E4m3Fnuz, pow2(-10)), pow2(-10));
        assert_eq!(through(Format::E5m2Fnuz, 61440.0), 57344.0);
        assert_eq!(through(Format::E4m3, 300.0), 288.0);
        assert_eq!(through(Format::E4m3, pow2(-10)), 0.0);
        assert_eq!(through(Format::E5m2, 61440.0), f64::INFINITY);
    }

    /// F09: FNUZ formats have one zero and one NaN.
    #[test]
    fn zero_and_nan_of_fnuz_formats() {
        for format in [Format::E4m3Fnuz, Format::E5m2Fnuz] {
            assert_eq!(rne(format, -pow2(-19)), 0);
            assert_eq!(rne(format, -0.0), 0);
            assert_eq!(rne(format, f64::NAN), 0x80);
            assert!(to_f64(format, 0x80).is_nan());
        }
        assert_eq!(rne(Format::E4m3Fnuz, -pow2(-12)), 0);
    }
}
