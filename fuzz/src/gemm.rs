//! `mfma_gemm`: what is refused and what is computed, told here a second time.

use std::ffi::c_void;
use std::sync::Once;
use std::thread::ThreadId;

use mfma::capi::*;
use mfma::format::{Class, decode, from_f32, from_f64, to_f64};
use mfma::reference::{Operand as Addend, dot};
use mfma::{Format, Model, Rounding};

use super::bytes::{Bytes, UNITS, Unit, check_failure, message};
use super::memory::{Layout, Memory, element, fill, touch};

/// Products that are really laid out; a larger batch must be refused.
const MOST_PRODUCTS: i64 = 64;

/// One of A, B, C, D.
#[derive(Clone)]
struct Operand {
    storage: i32,
    format: Format,
    rows_contiguous: bool,
    layout: Layout,
    stride: i64,
    listed: bool,
    /// This entry of the list, or the only pointer, is NULL.
    null: Option<usize>,
    /// Bytes from the start of the memory that several operands share; or memory of its own.
    shared: Option<usize>,
    misaligned: usize,
    /// Where the first matrix lies.
    address: usize,
}

/// Bytes of an element as it is stored.
fn bytes(storage: i32, format: Format) -> usize {
    match storage {
        MFMA_STORAGE_RAW => format.bytes(),
        MFMA_STORAGE_F32 => 4,
        _ => 8,
    }
}

impl Operand {
    fn new(
        x: &mut Bytes,
        format: Format,
        rows_contiguous: bool,
        [rows, cols]: [i64; 2],
        batch: i64,
    ) -> Operand {
        let storage = x.code(3);
        let element = bytes(storage, format);
        let (line, lines) = if rows_contiguous {
            (cols, rows)
        } else {
            (rows, cols)
        };
        let ld = match x.byte() {
            0..=239 => line.max(1).saturating_add(x.below(4) as i64),
            240..=247 => line.saturating_sub(1),
            _ => x.size(40),
        };
        let one = lines
            .saturating_sub(1)
            .saturating_mul(ld)
            .saturating_add(line)
            .max(0);
        let stride = match x.byte() {
            0..=149 => one.saturating_add(x.below(4) as i64),
            // Side by side, and in each other's gaps.
            150..=199 => line.max(0),
            200..=229 => 0,
            _ => x.size(60),
        };
        let listed = x.rarely(4) && (0..=MOST_PRODUCTS).contains(&batch) && stride >= 0;
        let step = i128::from(stride) * element as i128;
        let starts = if batch <= MOST_PRODUCTS {
            (0..batch.max(0))
                .map(|i| {
                    let jitter = if listed { i128::from(x.byte() % 8) } else { 0 };
                    i128::from(i) * step + jitter
                })
                .collect()
        } else {
            vec![0, i128::from(batch - 1).saturating_mul(step)]
        };
        Operand {
            storage,
            format,
            rows_contiguous,
            layout: Layout {
                line,
                lines,
                ld,
                element,
                starts,
            },
            stride,
            listed,
            null: x.rarely(40).then(|| x.below(4)),
            shared: x.rarely(3).then(|| x.below(256)),
            misaligned: x.below(9),
            address: 0,
        }
    }

    /// Where matrix `i` lies; NULL where it was to be.
    fn pointer(&self, i: usize) -> *mut u8 {
        let null = self
            .null
            .is_some_and(|null| if self.listed { null == i } else { i == 0 });
        if null {
            return std::ptr::null_mut();
        }
        let start = self.layout.starts.get(i).copied().unwrap_or(0);
        std::ptr::with_exposed_provenance_mut(self.address.wrapping_add(start as usize))
    }

    fn list(&self) -> Vec<*mut c_void> {
        (0..self.layout.starts.len())
            .map(|i| self.pointer(i).cast())
            .collect()
    }

    fn has_null(&self) -> bool {
        if self.listed {
            (0..self.layout.starts.len()).any(|i| self.pointer(i).is_null())
        } else {
            self.pointer(0).is_null()
        }
    }

    fn at(&self, i: usize, j: usize, batch: usize) -> usize {
        let (line, place) = if self.rows_contiguous { (i, j) } else { (j, i) };
        self.layout.at(batch, line, place)
    }

    /// An element times a factor, rounded as the unit takes it.
    fn rounded(&self, memory: &[u8], at: usize, factor: f64, (to, how): (Format, Rounding)) -> u64 {
        let bits = element(memory, at, self.layout.element);
        let single = f32::from_bits(bits as u32);
        match self.storage {
            MFMA_STORAGE_F32 if factor == 1.0 => from_f32(to, single, how),
            MFMA_STORAGE_F32 => from_f64(to, factor * f64::from(single), how),
            MFMA_STORAGE_F64 => from_f64(to, factor * f64::from_bits(bits), how),
            _ => bits,
        }
    }

    /// Are all products given the same matrix?
    fn is_one_for_all(&self) -> bool {
        !self.listed && self.stride == 0
    }
}

struct Case<'a> {
    unit: &'a Unit,
    sizes: [i64; 3],
    batch: i64,
    codes: [i32; 3],
    threads: i32,
    alpha: f64,
    beta: f64,
    a: Operand,
    b: Operand,
    c: Operand,
    d: Operand,
}

impl Case<'_> {
    /// Does the library have to compute this? The rules as the header states them.
    fn is_valid(&self) -> bool {
        let Case { a, b, c, d, .. } = self;
        let model = &self.unit.model;
        let [m, n, k] = self.sizes;
        let inputs: &[&Operand] = if self.beta == 0.0 {
            &[a, b]
        } else {
            &[a, b, c]
        };
        let storage = |x: &Operand| (0..3).contains(&x.storage);
        let codes = self.codes.iter().all(|code| (0..2).contains(code))
            && [a, b, c, d].into_iter().all(storage)
            && (0..=1024).contains(&self.threads);
        let sizes = [m, n, k, self.batch].iter().all(|&size| size >= 0);
        let checked = || inputs.iter().copied().chain([d]);
        let layouts = checked().all(|x| {
            x.layout.ld >= x.layout.line.max(1)
                && (x.listed || x.stride >= 0)
                && x.layout.fits()
                && !x.layout.is_beyond()
        });
        let raw = (a.storage != MFMA_STORAGE_RAW || self.alpha == 1.0)
            && (self.beta == 0.0 || c.storage != MFMA_STORAGE_RAW || self.beta == 1.0)
            && !(d.storage == MFMA_STORAGE_F32 && model.output() == Format::Fp64);
        if !(codes && sizes && layouts && raw) {
            return false;
        }
        if m == 0 || n == 0 || self.batch == 0 {
            return true;
        }
        self.batch <= MOST_PRODUCTS
            && checked().all(|x| !x.layout.has_elements() || !x.has_null())
            && !self.overlaps(inputs)
    }

    fn overlaps(&self, inputs: &[&Operand]) -> bool {
        let Case { c, d, .. } = self;
        let count = self.d.layout.starts.len();
        let pairs = || (0..count).flat_map(|i| (0..count).map(move |j| (i, j)));
        let touching = |x: &Operand, i, y: &Operand, j| {
            touch((&x.layout, i, x.address), (&y.layout, j, y.address))
        };
        let in_place = |x: &Operand, i: usize, j: usize| {
            std::ptr::eq(x, c)
                && i == j
                && x.pointer(j) == d.pointer(i)
                && x.layout.element == d.layout.element
                && (x.layout.ld == d.layout.ld || x.layout.lines == 1)
                && (count == 1 || !x.is_one_for_all())
        };
        pairs().any(|(i, j)| i < j && touching(d, i, d, j))
            || inputs
                .iter()
                .filter(|x| x.layout.has_elements())
                .any(|x| pairs().any(|(i, j)| !in_place(x, i, j) && touching(d, i, x, j)))
    }

    /// Element (i, j) of result `batch` as the reference has it, from what the memories held before.
    fn expected(&self, (i, j, batch): (usize, usize, usize), [a, b, c]: [&[u8]; 3]) -> u64 {
        let model = &self.unit.model;
        let unit = model.unit();
        let input = |format| (format, Model::input_rounding(format));
        let factors = |x: &Operand, memory: &[u8], format, factor, at: &dyn Fn(usize) -> usize| {
            (0..self.sizes[2] as usize)
                .map(|p| unit.factor(format, x.rounded(memory, at(p), factor, input(format))))
                .collect::<Vec<_>>()
        };
        let a = factors(&self.a, a, model.a(), self.alpha, &|p| {
            self.a.at(i, p, batch)
        });
        let b = factors(&self.b, b, model.b(), 1.0, &|p| self.b.at(p, j, batch));
        let at = |x: &Operand| x.at(i, j, batch);
        let c = if self.beta == 0.0 {
            Addend::new(model.output(), 0)
        } else if self.c.storage == MFMA_STORAGE_RAW {
            Addend::new(
                model.output(),
                element(c, at(&self.c), self.c.layout.element),
            )
        } else {
            let to = model.addend_format();
            Addend::new(to.0, self.c.rounded(c, at(&self.c), self.beta, to))
        };
        let bits = dot(unit, &a, &b, c);
        let value = to_f64(model.output(), bits);
        match self.d.storage {
            MFMA_STORAGE_F32 if model.output() == Format::Fp32 => bits,
            MFMA_STORAGE_F32 => from_f64(Format::Fp32, value, Rounding::NearestEven),
            MFMA_STORAGE_F64 if model.output() == Format::Fp64 => bits,
            MFMA_STORAGE_F64 => value.to_bits(),
            _ => bits,
        }
    }

    /// Equal, or both NaN where a factor may have made one of any sign.
    fn same(&self, got: u64, want: u64) -> bool {
        let format = match self.d.storage {
            MFMA_STORAGE_F32 => Format::Fp32,
            MFMA_STORAGE_F64 => Format::Fp64,
            _ => self.d.format,
        };
        let nan = |bits| decode(format, bits).class == Class::Nan;
        let made = !self.alpha.is_finite() || !self.beta.is_finite();
        got == want || (made && nan(got) && nan(want))
    }
}

struct Watch {
    owner: ThreadId,
    elsewhere: bool,
}

unsafe extern "C" fn watch(done: f64, user: *mut c_void) -> i32 {
    // SAFETY: `user` is the Watch of the call in progress, and nobody else uses it.
    let watch = unsafe { &mut *user.cast::<Watch>() };
    watch.elsewhere |= std::thread::current().id() != watch.owner || !(0.0..=1.0).contains(&done);
    0
}

pub fn run(data: &[u8]) {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| assert_eq!(mfma_set_num_threads(3), MFMA_OK));
    let x = &mut Bytes::new(data);
    let unit = x.pick(&UNITS);
    let model = &unit.model;
    let most = if x.rarely(50) { 90 } else { 17 };
    let sizes = [x.size(most), x.size(most), x.size(most)];
    let [m, n, k] = sizes;
    let batch = match x.byte() {
        0..=149 => 1,
        _ => x.size(4),
    };
    let codes = [x.code(2), x.code(2), x.code(2)];
    let contiguous = |transposed: i32| (codes[0] == 1) != (transposed == 1);
    let a = Operand::new(x, model.a(), contiguous(codes[1]), [m, k], batch);
    let b = Operand::new(x, model.b(), contiguous(codes[2]), [k, n], batch);
    let d = Operand::new(x, model.output(), contiguous(0), [m, n], batch);
    let mut c = Operand::new(x, model.output(), contiguous(0), [m, n], batch);
    if x.rarely(5) {
        c = Operand {
            shared: Some(0),
            ..d.clone()
        };
    }
    let in_place = c.shared == Some(0) && x.rarely(2);
    let mut case = Case {
        unit,
        sizes,
        batch,
        codes,
        threads: x.code(4),
        alpha: x.factor(1.0),
        beta: x.factor(0.0),
        a,
        b,
        c,
        d,
    };
    if in_place {
        case.d = Operand {
            misaligned: case.c.misaligned,
            ..case.c.clone()
        };
    }
    call(case, x);
}

fn call(mut case: Case, x: &mut Bytes) {
    let operands = [&mut case.a, &mut case.b, &mut case.c, &mut case.d];
    // The caller vouches for memory that could exist, so none may be missing.
    if operands
        .iter()
        .any(|operand| !operand.layout.fits() && !operand.layout.is_beyond())
    {
        return;
    }
    let span = |operand: &Operand| {
        if operand.layout.fits() {
            operand.layout.span() as usize
        } else {
            8
        }
    };
    let shared = operands
        .iter()
        .map(|o| o.shared.map_or(0, |offset| offset + span(o)))
        .max();
    let mut memories = vec![Memory::new(shared.unwrap_or(0), x.below(9))];
    fill(x, memories[0].bytes(), 4);
    // The number of the memory, and the offset there, of each operand.
    let mut places = Vec::new();
    for operand in operands {
        let (number, offset) = match operand.shared {
            Some(offset) => (0, offset),
            None => {
                memories.push(Memory::new(span(operand), operand.misaligned));
                let last = memories.len() - 1;
                fill(x, memories[last].bytes(), operand.layout.element);
                (last, 0)
            }
        };
        operand.address = memories[number]
            .start()
            .wrapping_add(offset)
            .expose_provenance();
        places.push((number, offset));
    }
    let before: Vec<Vec<u8>> = memories
        .iter_mut()
        .map(|memory| memory.bytes().to_vec())
        .collect();
    let lists =
        [&case.a, &case.b, &case.c, &case.d].map(|operand| operand.listed.then(|| operand.list()));
    let list = |which: usize| {
        lists[which]
            .as_ref()
            .map_or(std::ptr::null(), |list| list.as_ptr())
    };
    let mut seen = Watch {
        owner: std::thread::current().id(),
        elsewhere: false,
    };
    let mut args = mfma_gemm_args {
        size: size_of::<mfma_gemm_args>(),
        model: case.unit.handle,
        m: case.sizes[0],
        n: case.sizes[1],
        k: case.sizes[2],
        batch_count: case.batch,
        alpha: case.alpha,
        beta: case.beta,
        a: case.a.pointer(0).cast(),
        b: case.b.pointer(0).cast(),
        c: case.c.pointer(0).cast(),
        d: case.d.pointer(0).cast(),
        lda: case.a.layout.ld,
        ldb: case.b.layout.ld,
        ldc: case.c.layout.ld,
        ldd: case.d.layout.ld,
        stride_a: case.a.stride,
        stride_b: case.b.stride,
        stride_c: case.c.stride,
        stride_d: case.d.stride,
        a_list: list(0).cast(),
        b_list: list(1).cast(),
        c_list: list(2).cast(),
        d_list: list(3),
        order: case.codes[0],
        trans_a: case.codes[1],
        trans_b: case.codes[2],
        storage_a: case.a.storage,
        storage_b: case.b.storage,
        storage_c: case.c.storage,
        storage_d: case.d.storage,
        threads: case.threads,
        progress: None,
        progress_user: std::ptr::null_mut(),
    };
    if x.rarely(8) {
        args.progress = Some(watch);
        args.progress_user = (&raw mut seen).cast();
    }
    let no_model = x.rarely(60);
    if no_model {
        args.model = std::ptr::null();
    }
    let (status, readable) = submit(args, x);
    assert!(!seen.elsewhere);
    let valid = readable && !no_model && case.is_valid();
    assert_eq!(status == MFMA_OK, valid, "status {status}: {}", message());
    let after: Vec<Vec<u8>> = memories
        .iter_mut()
        .map(|memory| memory.bytes().to_vec())
        .collect();
    let mut want = before.clone();
    if status != MFMA_OK {
        check_failure(status);
    } else if case.d.layout.has_elements() {
        let memory = |which: usize| {
            &before[places[which].0][places[which].1.min(before[places[which].0].len())..]
        };
        let inputs = [memory(0), memory(1), memory(2)];
        let (number, offset) = places[3];
        let size = case.d.layout.element;
        for batch in 0..case.batch as usize {
            for (i, j) in (0..case.sizes[0] as usize)
                .flat_map(|i| (0..case.sizes[1] as usize).map(move |j| (i, j)))
            {
                let at = offset + case.d.at(i, j, batch);
                let (got, mut bits) = (
                    element(&after[number], at, size),
                    case.expected((i, j, batch), inputs),
                );
                if case.same(got, bits) {
                    bits = got;
                }
                want[number][at..at + size].copy_from_slice(&bits.to_le_bytes()[..size]);
            }
        }
    }
    assert!(
        want == after,
        "{} {:?} x {}",
        describe(case.unit),
        case.sizes,
        case.batch
    );
}

/// Hands the arguments over in a struct of their own size or of another; says whether that can be read.
fn submit(args: mfma_gemm_args, x: &mut Bytes) -> (mfma_status, bool) {
    const OURS: usize = size_of::<mfma_gemm_args>();
    let (size, later) = match x.byte() {
        0..=219 => (OURS, 0),
        220..=229 => (OURS + x.below(40), 0),
        230..=234 => (OURS + 1 + x.below(40), 1),
        235..=244 => (x.below(OURS), 0),
        _ => (x.word() as usize, 0),
    };
    let room = if size > 1 << 20 { OURS } else { size.max(OURS) };
    // Words, so that pointers in the struct keep what they may point to; a struct need not be aligned either.
    let mut words = vec![std::mem::MaybeUninit::<u8>::zeroed(); room + 1].into_boxed_slice();
    let offset = x.below(2);
    let place = words.as_mut_ptr().wrapping_add(offset);
    // SAFETY: `words` has room for the struct at every such offset.
    unsafe {
        place
            .cast::<mfma_gemm_args>()
            .write_unaligned(mfma_gemm_args { size, ..args });
        if size > OURS && room == size {
            place.add(size - 1).cast::<u8>().write(later);
        }
        let status = mfma_gemm(place.cast());
        (status, (OURS..=1 << 20).contains(&size) && later == 0)
    }
}

fn describe(unit: &Unit) -> String {
    let model = &unit.model;
    format!(
        "{:?} {} x {} -> {}",
        model.arch(),
        model.a(),
        model.b(),
        model.output()
    )
}
