//! The vectors of a level: what the kernels are written in. A level is one implementation of [`Lanes`].
//!
//! Kernels are generic functions marked `#[inline(always)]` over `L: Lanes`. [`Lanes::dispatch`] compiles them for the
//! level's instructions: it runs a [`Job`] inside a function with the level's target features, into which everything
//! is inlined. Closures handed to functions of the standard library (`array::from_fn`, `map`) may not be: one that is
//! left out calls every intrinsic as a function, which costs a factor of ten and more. Kernels use loops instead.

/// Work to be compiled for a level.
pub trait Job {
    /// Does the work. Implementations must be `#[inline(always)]`.
    ///
    /// # Safety
    /// The machine must have the level's instructions, and what the job says of its own.
    unsafe fn run<L: Lanes>(self);
}

/// Vectors of [`Lanes::COUNT`] 32-bit lanes, as binary32 numbers or as integers.
///
/// No operation may depend on the floating-point mode unless it says so. Arithmetic is otherwise IEEE in the mode that
/// is in place.
///
/// # Safety
/// Every function may only be called where the machine has the level's instructions, which [`Lanes::dispatch`]'s caller
/// promises; those with pointers also need COUNT elements there, at any alignment.
#[allow(clippy::missing_safety_doc)]
pub trait Lanes: Copy + Send + Sync + 'static {
    /// Lanes of a vector.
    const COUNT: usize;
    /// Does [`Lanes::to_float_cut`] need [`FpMode::TowardZero`](super::FpMode::TowardZero) in place?
    const CUT_BY_MODE: bool;
    /// binary32 lanes.
    type F: Copy;
    /// 32-bit integer lanes; also four times as many bytes.
    type I: Copy;
    /// Lanes' truth values.
    type M: Copy;
    /// Eight 32-bit integers to look up.
    type Table: Copy;

    /// Runs a job compiled for this level.
    unsafe fn dispatch<J: Job>(job: J);

    unsafe fn load(from: *const f32) -> Self::F;
    unsafe fn store(to: *mut f32, x: Self::F);
    unsafe fn splat(x: f32) -> Self::F;
    unsafe fn mul(x: Self::F, y: Self::F) -> Self::F;
    unsafe fn add(x: Self::F, y: Self::F) -> Self::F;
    /// x * y + z, rounded once or twice.
    unsafe fn mul_add(x: Self::F, y: Self::F, z: Self::F) -> Self::F;
    unsafe fn floor(x: Self::F) -> Self::F;
    /// Is |x| < y?
    unsafe fn abs_less(x: Self::F, y: Self::F) -> Self::M;
    /// Toward zero; every lane must be below 2^31 in magnitude.
    unsafe fn to_int_small(x: Self::F) -> Self::I;
    /// Toward zero; lanes that do not fit give any number.
    unsafe fn to_int(x: Self::F) -> Self::I;
    /// Rounded as the mode in place says: to nearest in the usual one.
    unsafe fn to_float(x: Self::I) -> Self::F;
    /// Rounded toward zero; in mode TowardZero only, if CUT_BY_MODE.
    unsafe fn to_float_cut(x: Self::I) -> Self::F;
    /// Rounded to binary16 (RNE, overflow to infinity, subnormal numbers kept) and back.
    unsafe fn through_half(x: Self::F) -> Self::F;

    /// `yes` where the sign bit of x is set.
    unsafe fn select_by_sign(x: Self::I, yes: Self::F, no: Self::F) -> Self::F;

    /// A magnitude with the sign of `sign`.
    #[inline(always)]
    unsafe fn copysign(magnitude: f32, sign: Self::F) -> Self::F {
        // SAFETY: promised by the caller.
        unsafe {
            let sign = Self::and(Self::bits(sign), Self::splat_i(i32::MIN));
            Self::from_bits(Self::or(sign, Self::splat_i(magnitude.to_bits() as i32)))
        }
    }

    unsafe fn bits(x: Self::F) -> Self::I;
    unsafe fn from_bits(x: Self::I) -> Self::F;

    unsafe fn load_i(from: *const i32) -> Self::I;
    unsafe fn store_i(to: *mut i32, x: Self::I);
    unsafe fn splat_i(x: i32) -> Self::I;
    unsafe fn add_i(x: Self::I, y: Self::I) -> Self::I;
    unsafe fn sub_i(x: Self::I, y: Self::I) -> Self::I;
    unsafe fn min_i(x: Self::I, y: Self::I) -> Self::I;
    unsafe fn max_i(x: Self::I, y: Self::I) -> Self::I;
    unsafe fn and(x: Self::I, y: Self::I) -> Self::I;
    unsafe fn or(x: Self::I, y: Self::I) -> Self::I;
    unsafe fn xor(x: Self::I, y: Self::I) -> Self::I;
    unsafe fn shl<const N: i32>(x: Self::I) -> Self::I;
    /// Logical.
    unsafe fn shr<const N: i32>(x: Self::I) -> Self::I;
    /// Logical, lane by lane; 32 and more give zero.
    unsafe fn shr_by(x: Self::I, count: Self::I) -> Self::I;
    /// Arithmetic, lane by lane; 32 and more give the sign.
    unsafe fn sar_by(x: Self::I, count: Self::I) -> Self::I;
    /// 1 where any bit is set.
    unsafe fn any_bit(x: Self::I) -> Self::I;
    unsafe fn greater(x: Self::I, y: Self::I) -> Self::M;
    unsafe fn equal(x: Self::I, y: Self::I) -> Self::M;
    unsafe fn select(mask: Self::M, yes: Self::I, no: Self::I) -> Self::I;
    /// Is any lane's sign bit set?
    unsafe fn any_negative(x: Self::I) -> bool;
    /// Is any lane of x greater than that of y? Signed.
    unsafe fn any_greater(x: Self::I, y: Self::I) -> bool;

    /// Nothing, but all four vectors are there when the next instruction comes: without it the compiler moves the steps
    /// of a loop about until it runs out of registers.
    unsafe fn pin(x: [Self::I; 4]) -> [Self::I; 4];

    /// Nothing, but the vector is computed here: without it the compiler computes it where it is used.
    unsafe fn compute_here(x: Self::I) -> Self::I {
        x
    }

    /// Entries from 0 to 255.
    unsafe fn table(entries: &[i32; 8]) -> Self::Table;
    /// Entries by the indices 0 to 7.
    unsafe fn look_up(table: Self::Table, index: Self::I) -> Self::I;

    /// Differences of exponent fields, at least 0: x and y are unsigned, and only their upper halves are used.
    unsafe fn sub_fields(x: Self::I, y: Self::I) -> Self::I;
    /// The smaller of two exponent fields: as for `sub_fields`.
    unsafe fn min_fields(x: Self::I, y: Self::I) -> Self::I;
    /// The larger one.
    unsafe fn max_fields(x: Self::I, y: Self::I) -> Self::I;

    /// The smaller of two exponent fields that may be negative numbers, but not both; nothing lies beside them, and no number
    /// passes 255 in magnitude.
    #[inline(always)]
    unsafe fn min_signed_fields(x: Self::I, y: Self::I) -> Self::I {
        // SAFETY: promised by the caller.
        unsafe { Self::min_i(x, y) }
    }
    /// The larger one, likewise.
    #[inline(always)]
    unsafe fn max_signed_fields(x: Self::I, y: Self::I) -> Self::I {
        // SAFETY: promised by the caller.
        unsafe { Self::max_i(x, y) }
    }

    /// COUNT / 4 pieces of sixteen bytes, `stride` bytes from one to the next.
    unsafe fn load_pieces(from: *const u8, stride: isize) -> Self::I;
    /// Of each sixteen bytes of x and y: the 16-bit words of the first eight bytes, by turns, and those of the last eight.
    unsafe fn zip_words(x: Self::I, y: Self::I) -> [Self::I; 2];
    /// 16-bit words, unsigned, as 32-bit lanes: the first COUNT and the last.
    unsafe fn widen_words(x: Self::I) -> [Self::I; 2];
    /// binary16 words as binary32 numbers, like [`Lanes::widen_words`]. A NaN may become another one.
    #[inline(always)]
    unsafe fn halves(x: Self::I) -> [Self::F; 2] {
        // SAFETY: promised by the caller.
        unsafe { Self::widen_words(x).map(|x| number::<Self, 13, 16>(x, 15, 0x7bff)) }
    }

    /// Unsigned sums, at most 255.
    unsafe fn add_bytes(x: Self::I, y: Self::I) -> Self::I;
    /// Unsigned.
    unsafe fn min_bytes(x: Self::I, y: Self::I) -> Self::I;
}

/// Encodings of a format narrower than binary16, or binary16, as numbers: UP is how far their fractions lie below binary32's, SIGN
/// how far their signs do. The exponent has the given bias; finite magnitudes end at `largest`, what lies above has the
/// fraction of an infinity or a NaN.
///
/// No operand is a subnormal number, which would cost time: those of the format are made as differences of normal ones.
#[inline(always)]
pub unsafe fn number<L: Lanes, const UP: i32, const SIGN: i32>(
    x: L::I,
    bias: i32,
    largest: i32,
) -> L::F {
    // SAFETY: the caller is compiled for the level.
    unsafe {
        let sign = L::and(L::shl::<SIGN>(x), L::splat_i(i32::MIN));
        let magnitude = L::and(L::shl::<UP>(x), L::splat_i((1 << (31 - SIGN + UP)) - 1));
        let least = (128 - bias) << 23;
        let subnormal = L::add(
            L::from_bits(L::add_i(magnitude, L::splat_i(least))),
            L::splat(-f32::from_bits(least as u32)),
        );
        let normal = L::add_i(magnitude, L::splat_i((127 - bias) << 23));
        let is_subnormal = L::greater(L::splat_i(1 << 23), magnitude);
        let finite = L::select(is_subnormal, L::bits(subnormal), normal);
        let is_special = L::greater(magnitude, L::splat_i(largest << UP));
        let special = L::or(normal, L::splat_i(0x7f80_0000));
        L::from_bits(L::or(L::select(is_special, special, finite), sign))
    }
}

/// Byte `B` of every 32-bit lane, moved to the exponent field of a binary32 number.
#[inline(always)]
pub unsafe fn byte_to_exponent<L: Lanes, const B: usize>(x: L::I) -> L::I {
    // SAFETY: the caller is compiled for the level.
    unsafe {
        let field = L::splat_i(0x7f80_0000);
        match B {
            0 => L::and(L::shl::<23>(x), field),
            1 => L::and(L::shl::<15>(x), field),
            2 => L::and(L::shl::<7>(x), field),
            _ => L::and(L::shr::<1>(x), field),
        }
    }
}
