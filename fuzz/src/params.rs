//! Custom units: what is accepted comes back as it was given, and its kernels agree with the reference.

use std::mem::MaybeUninit;

use mfma::Model;
use mfma::capi::*;
use mfma::format::FORMATS;
use mfma::model::{Conventions, Interleave, Params, Scheme};

use super::bytes::{Bytes, Unit, check_failure, message};
use super::dots;

pub fn run(data: &[u8]) {
    let x = &mut Bytes::new(data);
    let mut params = start(x);
    for _ in 0..x.below(6) {
        change(&mut params, x);
    }
    let formats = [
        x.code(FORMATS.len()),
        x.code(FORMATS.len()),
        *x.pick(&[MFMA_FMT_FP32, MFMA_FMT_FP16, MFMA_FMT_FP64]),
    ];
    let d = if x.rarely(30) {
        x.code(FORMATS.len())
    } else {
        formats[2]
    };
    let mut handle = std::ptr::null_mut();
    // SAFETY: `params` is as large as it says unless its size is refused, and `handle` is a variable.
    let status = unsafe { mfma_model_from_params(&params, formats[0], formats[1], d, &mut handle) };
    let expected = features(&params).and_then(|features| {
        let format = |code| {
            FORMATS
                .iter()
                .find(|row| row.code == code)
                .map(|row| row.format)
        };
        Model::from_params(
            features,
            format(formats[0])?,
            format(formats[1])?,
            format(d)?,
        )
        .ok()
    });
    let Some(model) = expected else {
        check_failure(status);
        assert!(handle.is_null());
        return;
    };
    assert_eq!(status, MFMA_OK, "{}", message());
    // What comes back is what went in.
    let mut back = params;
    // SAFETY: the model has just been made; `back` has its size.
    assert_eq!(unsafe { mfma_model_params(handle, &mut back) }, MFMA_OK);
    assert!(bytes(&back) == bytes(&params), "{model:?}");
    dots::compute(&Unit { handle, model }, x);
    // SAFETY: handed out above, and not used any more.
    unsafe { mfma_model_free(handle) };
}

/// The features of a unit of the catalogue, or of none.
fn start(x: &mut Bytes) -> mfma_params {
    let mut params = MaybeUninit::<mfma_params>::zeroed();
    let count = mfma_capability_count();
    // SAFETY: zero bytes are a valid struct, and its size is set before it is filled.
    unsafe {
        (*params.as_mut_ptr()).size = size_of::<mfma_params>();
        let index = i64::from(x.byte()) % (count + 1);
        let status = if index == 0 {
            mfma_params_default(params.as_mut_ptr())
        } else {
            mfma_capability_params(index - 1, params.as_mut_ptr())
        };
        assert_eq!(status, MFMA_OK);
        params.assume_init()
    }
}

fn change(params: &mut mfma_params, x: &mut Bytes) {
    let (field, kind) = (x.below(20), x.byte());
    let value = match kind {
        0..=199 => x.below(64) as i32,
        200..=214 => -(x.below(200) as i32),
        215..=229 => MFMA_NONE,
        230..=239 => x.below(256) as i32 * 17,
        _ => x.word() as i32,
    };
    let flag = if kind < 230 { value & 1 } else { value };
    match field {
        0 => params.scheme = if kind < 230 { value % 5 } else { value },
        1 => params.fma = value,
        2 => params.interleave = flag,
        3 => params.alignment_bits = value,
        4 => params.sticky = flag,
        5 => params.late_c = flag,
        6 => params.denormal_products = flag,
        7 => params.alignment_rounding = if kind < 230 { value & 3 } else { value },
        8 => params.late_sum_bits = value,
        9 => params.late_total_bits = value,
        10 => params.drop_c_beyond = value,
        11 => params.min_exponent = value,
        12 => params.zero_c_exponent = value,
        13 => params.product_limit = flag,
        14 => params.rounding = if kind < 230 { value & 3 } else { value },
        15 => params.in_subnormals = flag,
        16 => params.out_subnormals = flag,
        17 => params.nan_after_cut = flag,
        18 => params.conventions = if kind < 230 { value % 3 } else { value },
        // A size that is too small, or far too large to be read.
        _ if kind >= 250 => {
            params.size = if flag & 1 == 0 {
                x.below(88)
            } else {
                usize::MAX - x.below(99)
            }
        }
        _ if kind >= 240 => params.reserved = value,
        _ => {}
    }
}

fn bytes(params: &mfma_params) -> [u8; size_of::<mfma_params>()] {
    // SAFETY: the struct has no padding.
    unsafe { std::mem::transmute_copy(params) }
}

/// The features as Rust has them, by the header's text; none if a field has a value that means nothing.
fn features(params: &mfma_params) -> Option<Params> {
    let flag = |value| match value {
        0 => Some(false),
        1 => Some(true),
        _ => None,
    };
    let rounding = |value| {
        use mfma::Rounding::{Down, NearestEven, TowardZero, Up};
        [NearestEven, TowardZero, Down, Up]
            .get(usize::try_from(value).ok()?)
            .copied()
    };
    let natural = |value: i32| u32::try_from(value).ok();
    let bits = |value| {
        if value == MFMA_NONE {
            Some(None)
        } else {
            natural(value).map(Some)
        }
    };
    let exponent = |value| {
        if value == MFMA_NONE {
            None
        } else {
            Some(value)
        }
    };
    if params.size != size_of::<mfma_params>() || params.reserved != 0 {
        return None;
    }
    Some(Params {
        scheme: match params.scheme {
            MFMA_SCHEME_SEQUENTIAL_FMA => Scheme::SequentialFma,
            MFMA_SCHEME_CORRECT_ROUNDING => Scheme::CorrectRounding,
            MFMA_SCHEME_PAIRWISE_SUM => Scheme::PairwiseSum,
            MFMA_SCHEME_GLOBAL_ALIGNMENT => Scheme::GlobalAlignment,
            MFMA_SCHEME_ODD_EVEN_GROUPING => Scheme::OddEvenGrouping,
            _ => return None,
        },
        fma: natural(params.fma)?,
        interleave: if flag(params.interleave)? {
            Interleave::Mod4
        } else {
            Interleave::None
        },
        alignment_bits: natural(params.alignment_bits)?,
        sticky: flag(params.sticky)?,
        late_c: flag(params.late_c)?,
        denormal_products: flag(params.denormal_products)?,
        alignment_rounding: rounding(params.alignment_rounding)?,
        late_sum_bits: natural(params.late_sum_bits)?,
        late_total_bits: bits(params.late_total_bits)?,
        drop_c_beyond: bits(params.drop_c_beyond)?,
        min_exponent: exponent(params.min_exponent),
        zero_c_exponent: exponent(params.zero_c_exponent),
        product_limit: flag(params.product_limit)?,
        rounding: rounding(params.rounding)?,
        in_subnormals: flag(params.in_subnormals)?,
        out_subnormals: flag(params.out_subnormals)?,
        nan_after_cut: flag(params.nan_after_cut)?,
        conventions: match params.conventions {
            MFMA_CONVENTIONS_AMD => Conventions::Amd,
            MFMA_CONVENTIONS_NVIDIA => Conventions::Nvidia,
            MFMA_CONVENTIONS_TOOLBOX => Conventions::Toolbox,
            _ => return None,
        },
    })
}
