//! The Rust interface: matrices as slices, a product as a builder.

use std::marker::PhantomData;

use super::batch::{DotBatch, run_dots};
use super::call::Call;
use super::control::Progress;
use super::operand::{Operand, Starts};
use super::problem::{Storage, View};
use crate::error::{Error, ErrorCode};
use crate::format::{Format, Overflow, Rounding};
use crate::model::Model;
use crate::threads::Workers;

mod sealed {
    pub trait Sealed {}
}

/// What the elements of a slice can be: `f32` and `f64` are numbers, rounded to the unit's format inside the call;
/// `u8`, `u16`, `u32` and `u64` are encodings of the unit's format, whose storage size must be that of the type.
pub trait Element: Copy + sealed::Sealed {
    #[doc(hidden)]
    const STORAGE: Storage;
}

macro_rules! elements {
    ($($type:ty: $storage:ident),*) => {$(
        impl sealed::Sealed for $type {}
        impl Element for $type {
            const STORAGE: Storage = Storage::$storage;
        }
    )*};
}

elements!(f32: F32, f64: F64, u8: Raw, u16: Raw, u32: Raw, u64: Raw);

/// Where the elements of a matrix lie in a slice.
#[derive(Clone, Copy, Debug)]
struct Shape {
    start: *mut u8,
    storage: Storage,
    bytes: usize,
    rows: usize,
    cols: usize,
    ld: usize,
    rows_contiguous: bool,
}

impl Shape {
    fn new<T: Element>(
        start: *mut T,
        elements: usize,
        [rows, cols]: [usize; 2],
        ld: usize,
        rows_contiguous: bool,
    ) -> Result<Shape, Error> {
        let (line, lines) = if rows_contiguous {
            (cols, rows)
        } else {
            (rows, cols)
        };
        if ld < line.max(1) {
            return Err(Error::new(
                ErrorCode::InvalidLeadingDimension,
                format!(
                    "the leading dimension is {ld}; allowed: at least {}",
                    line.max(1)
                ),
            ));
        }
        let needed = match (line, lines) {
            (0, _) | (_, 0) => Some(0),
            _ => (lines - 1)
                .checked_mul(ld)
                .and_then(|n| n.checked_add(line)),
        };
        if needed.is_none_or(|needed| needed > elements) {
            return Err(Error::new(
                ErrorCode::InvalidSize,
                format!(
                    "the slice has {elements} elements; a {rows} x {cols} matrix with leading dimension {ld} needs more"
                ),
            ));
        }
        Ok(Shape {
            start: start.cast(),
            storage: T::STORAGE,
            bytes: size_of::<T>(),
            rows,
            cols,
            ld,
            rows_contiguous,
        })
    }

    fn operand(&self, name: &'static str, format: Format) -> Result<Operand, Error> {
        check_raw(name, self.storage, self.bytes, format)?;
        Ok(Operand {
            name,
            storage: self.storage,
            format,
            rows_contiguous: self.rows_contiguous,
            ld: self.ld as i64,
            starts: Starts::Strided {
                first: self.start,
                stride: 0,
            },
        })
    }

    fn check_size(&self, name: &str, rows: usize, cols: usize) -> Result<(), Error> {
        if (self.rows, self.cols) == (rows, cols) {
            return Ok(());
        }
        Err(Error::new(
            ErrorCode::InvalidSize,
            format!(
                "{name} is {} x {}; allowed: {rows} x {cols}",
                self.rows, self.cols
            ),
        ))
    }
}

fn check_raw(name: &str, storage: Storage, bytes: usize, format: Format) -> Result<(), Error> {
    if storage == Storage::Raw && bytes != format.bytes() {
        return Err(Error::new(
            ErrorCode::InvalidArgument,
            format!(
                "{name} has elements of {bytes} bytes; encodings of {format} have {}",
                format.bytes()
            ),
        ));
    }
    Ok(())
}

macro_rules! constructors {
    ($slice:ty, $start:ident) => {
        /// `rows` x `cols`, columns one after the other: the convention of BLAS, MATLAB and Fortran.
        pub fn col_major(data: $slice, rows: usize, cols: usize) -> Result<Self, Error> {
            Self::col_major_with(data, rows, cols, rows.max(1))
        }

        /// `rows` x `cols`, rows one after the other: the convention of C and NumPy.
        pub fn row_major(data: $slice, rows: usize, cols: usize) -> Result<Self, Error> {
            Self::row_major_with(data, rows, cols, cols.max(1))
        }

        /// The same with `ld` elements from one column to the next.
        pub fn col_major_with(
            data: $slice,
            rows: usize,
            cols: usize,
            ld: usize,
        ) -> Result<Self, Error> {
            let (start, elements) = (data.$start(), data.len());
            let shape = Shape::new(start.cast::<T>(), elements, [rows, cols], ld, false)?;
            Ok(Self {
                shape,
                data: PhantomData,
            })
        }

        /// The same with `ld` elements from one row to the next.
        pub fn row_major_with(
            data: $slice,
            rows: usize,
            cols: usize,
            ld: usize,
        ) -> Result<Self, Error> {
            let (start, elements) = (data.$start(), data.len());
            let shape = Shape::new(start.cast::<T>(), elements, [rows, cols], ld, true)?;
            Ok(Self {
                shape,
                data: PhantomData,
            })
        }
    };
}

/// A matrix that is read.
#[derive(Clone, Copy, Debug)]
pub struct MatRef<'a, T> {
    shape: Shape,
    data: PhantomData<&'a [T]>,
}

impl<'a, T: Element> MatRef<'a, T> {
    constructors!(&'a [T], as_ptr_mut);

    /// The transposed matrix; nothing is moved.
    pub fn transposed(self) -> Self {
        let shape = self.shape;
        MatRef {
            shape: Shape {
                rows: shape.cols,
                cols: shape.rows,
                rows_contiguous: !shape.rows_contiguous,
                ..shape
            },
            data: PhantomData,
        }
    }
}

/// `as_ptr`, with the type that [`Shape`] keeps. A [`MatRef`] is never written through.
trait AsPtrMut<T> {
    fn as_ptr_mut(&self) -> *mut T;
}

impl<T> AsPtrMut<T> for [T] {
    fn as_ptr_mut(&self) -> *mut T {
        self.as_ptr().cast_mut()
    }
}

/// A matrix that is written.
#[derive(Debug)]
pub struct MatMut<'a, T> {
    shape: Shape,
    data: PhantomData<&'a mut [T]>,
}

impl<'a, T: Element> MatMut<'a, T> {
    constructors!(&'a mut [T], as_mut_ptr);
}

/// D = round(alpha A) round(B) + round(beta C) through a unit.
///
/// alpha A and beta C are formed in binary64 and rounded once to the unit's formats: A and B to nearest, ties to even (tf32
/// toward zero); C toward zero, or to nearest where it is binary16 and the inputs are binary16 or 8-bit, as MATLAB Tensor
/// Core rounds it. Raw elements are taken as they are
/// and need a factor of 1.
///
/// ```
/// use mfma::{Arch, Format, MatMut, MatRef, Model, Product};
///
/// let mi300x = Model::new(Arch::Cdna3, Format::Fp16, Format::Fp16, Format::Fp32)?;
/// let a = [1.0, 3.0, 2.0, 4.0]; // columns (1, 3) and (2, 4)
/// let identity = [1.0, 0.0, 0.0, 1.0];
/// let mut d = [0.0; 4];
/// Product::new(&mi300x, MatRef::col_major(&a, 2, 2)?, MatRef::col_major(&identity, 2, 2)?)
///     .alpha(10.0)
///     .store(MatMut::row_major(&mut d, 2, 2)?)?;
/// assert_eq!(d, [10.0, 20.0, 30.0, 40.0]);
/// # Ok::<(), mfma::Error>(())
/// ```
pub struct Product<'a> {
    model: Model,
    alpha: f64,
    beta: f64,
    a: Shape,
    b: Shape,
    c: Option<Shape>,
    threads: usize,
    progress: Option<&'a mut Progress<'a>>,
    data: PhantomData<&'a ()>,
}

impl<'a> Product<'a> {
    /// A times B.
    pub fn new<T: Element, U: Element>(
        model: &Model,
        a: MatRef<'a, T>,
        b: MatRef<'a, U>,
    ) -> Product<'a> {
        Product {
            model: *model,
            alpha: 1.0,
            beta: 0.0,
            a: a.shape,
            b: b.shape,
            c: None,
            threads: 0,
            progress: None,
            data: PhantomData,
        }
    }

    /// Multiplies A by this.
    pub fn alpha(self, alpha: f64) -> Self {
        Product { alpha, ..self }
    }

    /// Adds beta times C. With beta = 0, C is not read.
    pub fn add<T: Element>(self, beta: f64, c: MatRef<'a, T>) -> Self {
        Product {
            beta,
            c: Some(c.shape),
            ..self
        }
    }

    /// Uses at most this many threads, the caller's included; 0 means as many as
    /// [`threads::num_threads`](crate::threads::num_threads) says.
    pub fn threads(self, threads: usize) -> Self {
        Product { threads, ..self }
    }

    /// Calls `progress` on this thread at least ten times a second with the part of the work that is done, until it
    /// returns false: that cancels the computation.
    pub fn progress(self, progress: &'a mut Progress<'a>) -> Self {
        Product {
            progress: Some(progress),
            ..self
        }
    }

    /// Computes D. Fails, leaving D as it is, when sizes or elements do not fit; D's contents are unspecified after
    /// [`ErrorCode::Cancelled`].
    pub fn store<T: Element>(self, d: MatMut<T>) -> Result<(), Error> {
        self.run(d.shape)
    }

    /// Computes D = round(alpha A) round(B) + round(beta D) in place of D.
    ///
    /// ```
    /// # use mfma::{Arch, Format, MatMut, MatRef, Model, Product};
    /// let h100 = Model::new(Arch::Hopper, Format::Fp16, Format::Fp16, Format::Fp32)?;
    /// let (a, b, mut d) = ([2.0f32], [3.0f32], [10.0f32]);
    /// Product::new(&h100, MatRef::col_major(&a, 1, 1)?, MatRef::col_major(&b, 1, 1)?)
    ///     .alpha(-1.0)
    ///     .update(0.5, MatMut::col_major(&mut d, 1, 1)?)?;
    /// assert_eq!(d, [-1.0]);
    /// # Ok::<(), mfma::Error>(())
    /// ```
    pub fn update<T: Element>(self, beta: f64, d: MatMut<T>) -> Result<(), Error> {
        let c = Some(d.shape);
        Product { beta, c, ..self }.run(d.shape)
    }

    fn run(self, d: Shape) -> Result<(), Error> {
        let (m, n, k) = (self.a.rows, self.b.cols, self.a.cols);
        self.b.check_size("B", k, n)?;
        d.check_size("D", m, n)?;
        let model = self.model;
        let c = match self.c {
            Some(c) => {
                c.check_size("C", m, n)?;
                Some(c.operand("C", model.output())?)
            }
            None => None,
        };
        let call = Call {
            model,
            m: m as i64,
            n: n as i64,
            k: k as i64,
            batch: 1,
            alpha: self.alpha,
            a: self.a.operand("A", model.a())?,
            b: self.b.operand("B", model.b())?,
            beta: self.beta,
            c,
            d: d.operand("D", model.output())?,
            workers: Workers::new(self.threads),
            progress: self.progress,
        };
        // SAFETY: the constructors of the matrices have checked that the slices, borrowed until now, hold them.
        unsafe { call.run() }
    }
}

/// Independent dot products on encodings: case i multiplies elements `i * k` to `i * k + k - 1` of `a` and `b` and adds
/// `c[i]`. Without C, of zeros and in binary64, see [`Product`].
///
/// ```
/// use mfma::{Arch, Format, Model};
///
/// let mi100 = Model::new(Arch::Cdna1, Format::Fp16, Format::Fp16, Format::Fp32)?;
/// let (one, two) = (0x3c00u16, 0x4000u16);
/// let mut d = [0u32; 2];
/// mfma::dot_batch(&mi100, 2, &[one, one, two, two], &[two, one, two, one], &[0u32; 2], &mut d)?;
/// assert_eq!(d.map(f32::from_bits), [3.0, 6.0]);
/// # Ok::<(), mfma::Error>(())
/// ```
pub fn dot_batch<T: Element, U: Element, V: Element>(
    model: &Model,
    k: usize,
    a: &[T],
    b: &[U],
    c: &[V],
    d: &mut [V],
) -> Result<(), Error> {
    let count = d.len();
    let expect = |name: &str, storage, bytes, length: usize, wanted: Option<usize>, format| {
        if storage != Storage::Raw {
            return Err(Error::new(
                ErrorCode::InvalidArgument,
                format!("{name} has numbers; allowed: encodings (u8, u16, u32, u64)"),
            ));
        }
        if wanted != Some(length) {
            return Err(Error::new(
                ErrorCode::InvalidSize,
                format!(
                    "{name} has {length} elements; {count} dot products of length {k} need another number"
                ),
            ));
        }
        check_raw(name, storage, bytes, format)
    };
    let (all, output) = (count.checked_mul(k), model.output());
    expect("a", T::STORAGE, size_of::<T>(), a.len(), all, model.a())?;
    expect("b", U::STORAGE, size_of::<U>(), b.len(), all, model.b())?;
    expect(
        "c",
        V::STORAGE,
        size_of::<V>(),
        c.len(),
        Some(count),
        output,
    )?;
    expect("d", V::STORAGE, size_of::<V>(), count, Some(count), output)?;
    let view = |start: *mut u8, format, stride: usize| {
        // SAFETY: the slices have the elements that k and count name.
        unsafe { View::new(start, Storage::Raw, format, stride as isize, 1) }
    };
    run_dots(&DotBatch {
        model: *model,
        count,
        k,
        a: view(a.as_ptr_mut().cast(), model.a(), k),
        b: view(b.as_ptr_mut().cast(), model.b(), k),
        c: view(c.as_ptr_mut().cast(), output, 1),
        d: view(d.as_mut_ptr().cast(), output, 1),
    })
}

/// [`dot_batch`] on bytes: elements of any format as they lie in memory, one after the other, aligned or not.
pub fn dot_batch_bytes(
    model: &Model,
    k: usize,
    a: &[u8],
    b: &[u8],
    c: &[u8],
    d: &mut [u8],
) -> Result<(), Error> {
    let output = model.output();
    let count = d.len() / output.bytes();
    let expect = |name: &str, length: usize, elements: Option<usize>, format: Format| {
        if elements.and_then(|n| n.checked_mul(format.bytes())) != Some(length) {
            return Err(Error::new(
                ErrorCode::InvalidSize,
                format!(
                    "{name} has {length} bytes; {count} dot products of length {k} need another number"
                ),
            ));
        }
        Ok(())
    };
    let all = count.checked_mul(k);
    expect("a", a.len(), all, model.a())?;
    expect("b", b.len(), all, model.b())?;
    expect("c", c.len(), Some(count), output)?;
    expect("d", d.len(), Some(count), output)?;
    let view = |start: *const u8, format, stride: usize| {
        // SAFETY: the slices have the elements that k and count name; only d's are written.
        unsafe { View::new(start.cast_mut(), Storage::Raw, format, stride as isize, 1) }
    };
    run_dots(&DotBatch {
        model: *model,
        count,
        k,
        a: view(a.as_ptr(), model.a(), k),
        b: view(b.as_ptr(), model.b(), k),
        c: view(c.as_ptr(), output, 1),
        d: view(d.as_mut_ptr(), output, 1),
    })
}

/// Rounds encodings of one format to another, each once.
///
/// ```
/// use mfma::{Format, Overflow, Rounding};
///
/// let mut fp8 = [0u8; 2];
/// let x = [1.0625000001f64, 300.0].map(f64::to_bits);
/// mfma::convert(Format::Fp64, &x, Format::E4m3, &mut fp8, Rounding::NearestEven, Overflow::Ieee)?;
/// assert_eq!(fp8, [0x39, 0x79]); // 1.125 and 288
/// # Ok::<(), mfma::Error>(())
/// ```
pub fn convert<T: Element, U: Element>(
    from: Format,
    input: &[T],
    to: Format,
    output: &mut [U],
    rounding: Rounding,
    overflow: Overflow,
) -> Result<(), Error> {
    for (name, storage, bytes, format) in [
        ("input", T::STORAGE, size_of::<T>(), from),
        ("output", U::STORAGE, size_of::<U>(), to),
    ] {
        let encodings = match storage {
            Storage::Raw => true,
            Storage::F32 => format == Format::Fp32,
            Storage::F64 => format == Format::Fp64,
        };
        if !encodings {
            return Err(Error::new(
                ErrorCode::InvalidArgument,
                format!("{name} has numbers, but its format is {format}; allowed: encodings"),
            ));
        }
        check_raw(name, Storage::Raw, bytes, format)?;
    }
    if input.len() != output.len() {
        return Err(Error::new(
            ErrorCode::InvalidSize,
            format!(
                "output has {} elements; allowed: as many as input, {}",
                output.len(),
                input.len()
            ),
        ));
    }
    let source = (from, input.as_ptr().cast());
    let target = (to, output.as_mut_ptr().cast());
    // SAFETY: both slices have that many elements of the formats' sizes.
    unsafe { super::convert::convert(source, target, rounding, overflow, input.len()) }
}
