//! Every level's binary64 operations against the scalar ones.

use super::super::level::Level;
use super::*;

/// Numbers of all sizes, and the special ones.
fn numbers(count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let special = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        f64::from(f32::MAX),
        f64::from(f32::MIN_POSITIVE),
        1.401298464324817e-45,
        0.7006492321624085e-45,
        3.402823567797337e38,
    ];
    let mut draw = || {
        let bits = next();
        match bits % 16 {
            0 => special[next() as usize % special.len()],
            // Ties and neighbours of ties between numbers of 24 bits.
            1..=4 => {
                let low = [1 << 28, (1 << 28) + 1, (1 << 28) - 1, 0][next() as usize % 4];
                let exponent = 1023 - 150 + next() % 290;
                f64::from_bits(bits & (1 << 63 | 0xf_ffff_e000_0000) | exponent << 52 | low)
            }
            _ => {
                let exponent = 1023 - 160 + next() % 300;
                f64::from_bits(bits & !(0x7ff << 52) | exponent << 52)
            }
        }
    };
    (0..count).map(|_| draw()).collect()
}

fn same(x: f64, y: f64) -> bool {
    x.to_bits() == y.to_bits() || x.is_nan() && y.is_nan()
}

/// Every operation of a level against scalar arithmetic.
unsafe fn compare<L: Doubles>() {
    const COUNT: usize = 1 << 16;
    let (x, y, z) = (numbers(COUNT, 1), numbers(COUNT, 2), numbers(COUNT, 3));
    let finite: Vec<f64> = x
        .iter()
        .map(|&x| if x.is_finite() { x } else { 1.0 })
        .collect();
    let mut got = vec![0.0f64; 16];
    let mut check = |name: &str, at: usize, vector: L::D, want: &dyn Fn(usize) -> f64| {
        // SAFETY: sixteen numbers have room for any vector.
        unsafe { L::store_d(got.as_mut_ptr(), vector) };
        for lane in 0..L::WIDTH {
            let (got, want) = (got[lane], want(at + lane));
            let of = (x[at + lane], y[at + lane], z[at + lane]);
            assert!(same(got, want), "{name} of {of:?}: {got:e}, not {want:e}");
        }
    };
    for at in (0..COUNT).step_by(L::WIDTH) {
        // SAFETY: the vectors lie in the arrays; the caller runs this where the machine has the level.
        unsafe {
            let a = L::load_d(x.as_ptr().add(at));
            let b = L::load_d(y.as_ptr().add(at));
            let c = L::load_d(z.as_ptr().add(at));
            check("add", at, L::add_d(a, b), &|i| x[i] + y[i]);
            check("sub", at, L::sub_d(a, b), &|i| x[i] - y[i]);
            check("mul", at, L::mul_d(a, b), &|i| x[i] * y[i]);
            check("splat", at, L::splat_d(x[at]), &|_| x[at]);
            check("fused", at, L::fused_d(a, b, c), &|i| {
                x[i].mul_add(y[i], z[i])
            });
            check("special_or", at, L::special_or(a, b), &|i| {
                if x[i].is_finite() { y[i] } else { x[i] }
            });
            let bounded = L::load_d(finite.as_ptr().add(at));
            check("to_24_bits", at, L::to_24_bits(bounded), &|i| {
                // Where binary32 has no end of its exponents: scaled into its normal range.
                let x = finite[i];
                let exponent = ((x.to_bits() >> 52 & 0x7ff) as i32 - 1023).clamp(-900, 900);
                let (down, up) = (2f64.powi(-exponent), 2f64.powi(exponent));
                f64::from((x * down) as f32) * up + 0.0
            });
            let (sum, error) = two_sum::<L>(a, b);
            check("to_odd", at, L::to_odd(sum, error), &|i| {
                odd_sum(x[i], y[i])
            });
        }
    }
    let single: Vec<f32> = x.iter().map(|&x| x as f32).collect();
    for at in (0..COUNT).step_by(L::WIDTH) {
        let mut narrow = [0.0f32; 16];
        // SAFETY: as above.
        unsafe {
            L::narrow(narrow.as_mut_ptr(), L::load_d(x.as_ptr().add(at)));
            check("widen", at, L::widen(single.as_ptr().add(at)), &|i| {
                single[i].into()
            });
        }
        for lane in 0..L::WIDTH {
            let (got, want) = (narrow[lane], single[at + lane]);
            assert!(
                same(got.into(), want.into()),
                "narrow of {:e}",
                x[at + lane]
            );
        }
    }
    let other: Vec<f32> = y.iter().map(|&y| y as f32).collect();
    let third: Vec<f32> = z.iter().map(|&z| z as f32).collect();
    for at in (0..COUNT).step_by(L::COUNT) {
        let mut got = [0.0f32; 16];
        // SAFETY: as above.
        unsafe {
            let load = |from: &[f32]| L::load(from.as_ptr().add(at));
            L::store(
                got.as_mut_ptr(),
                L::fused(load(&single), load(&other), load(&third)),
            );
        }
        for lane in 0..L::COUNT {
            let (x, y, z) = (single[at + lane], other[at + lane], third[at + lane]);
            let want = x.mul_add(y, z);
            let got = got[lane];
            assert!(
                same(got.into(), want.into()),
                "fused of {x:e}, {y:e}, {z:e}: {got:e}"
            );
        }
    }
}

/// x + y rounded to odd: the sum toward zero, last bit set if anything is left.
fn odd_sum(x: f64, y: f64) -> f64 {
    let sum = x + y;
    let (large, small) = if x.abs() >= y.abs() { (x, y) } else { (y, x) };
    let error = small - (sum - large);
    if !sum.is_finite() || error == 0.0 {
        return sum;
    }
    let cut = if (error < 0.0) == (sum < 0.0) {
        sum
    } else {
        f64::from_bits(sum.to_bits() - 1)
    };
    f64::from_bits(cut.to_bits() | 1)
}

#[test]
fn every_operation_on_every_level() {
    // SAFETY: every machine has the portable level; the others are asked for.
    unsafe {
        compare::<super::super::portable::Portable>();
        #[cfg(target_arch = "aarch64")]
        compare::<super::super::neon::Neon>();
        #[cfg(target_arch = "x86_64")]
        {
            if Level::Avx2.available() {
                compare::<super::super::avx2::Avx2>();
            } else {
                println!("avx2: this machine has it not, so it is not tested");
            }
            if Level::Avx512.available() {
                compare::<super::super::avx512::Avx512>();
            } else {
                println!("avx512: this machine has it not, so it is not tested");
            }
        }
    }
}

#[test]
fn flushing_keeps_signs() {
    for (x, want) in [
        (-1e-40f32, -0.0f32),
        (1e-40, 0.0),
        (f32::MIN_POSITIVE, f32::MIN_POSITIVE),
        (-0.0, -0.0),
    ] {
        assert_eq!(scalar::flush(x).to_bits(), want.to_bits());
    }
    assert!(scalar::flush(f32::NAN).is_nan());
}
