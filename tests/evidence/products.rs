//! Whole products D = alpha*A*B + beta*C as the toolbox computes them with CPFloat rounding its inputs (gemm/*.txt), next
//! to the C ABI's and the Rust interface's. Every element is the same, or one named rule of `docs/differences.md` says why not.

use std::collections::BTreeMap;
use std::path::Path;

use mfma::capi::{MFMA_OK, mfma_gemm_f64};
use mfma::format::{decode, from_f64, to_f64};
use mfma::reference::{Operand, dot};
use mfma::{Arch, Format, MatMut, MatRef, Model};

use crate::common::passes::last_error;
use crate::common::{evidence_folder, parse_file_name, say_absent, text_files};

/// A row-major matrix.
#[derive(Clone, Debug, Default)]
struct Matrix {
    rows: usize,
    cols: usize,
    elements: Vec<f64>,
}

impl Matrix {
    fn at(&self, i: usize, j: usize) -> f64 {
        self.elements[i * self.cols + j]
    }

    fn column_major(&self) -> Vec<f64> {
        let columns = (0..self.cols).flat_map(|j| (0..self.rows).map(move |i| (i, j)));
        columns.map(|(i, j)| self.at(i, j)).collect()
    }
}

struct Product {
    case: String,
    alpha: f64,
    beta: f64,
    a: Matrix,
    b: Matrix,
    c: Matrix,
    /// The toolbox's answer, or its complaint.
    d: Result<Matrix, String>,
}

fn bits(hex: &str) -> f64 {
    match hex {
        "nan" => f64::NAN,
        hex => f64::from_bits(u64::from_str_radix(hex, 16).unwrap()),
    }
}

/// `case i M N K alpha beta`, then a line each for A, B, C and D.
fn read_products(path: &Path) -> Vec<Product> {
    let text = std::fs::read_to_string(path).unwrap();
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    let product = |lines: &[&str]| {
        let head: Vec<&str> = lines[0].split(' ').collect();
        let size = |i: usize| head[i].parse::<usize>().unwrap();
        let (m, n, k) = (size(2), size(3), size(4));
        let matrix = |line: &str, name: &str, rows: usize, cols: usize| {
            let elements: Vec<f64> = line
                .strip_prefix(name)
                .unwrap()
                .split_whitespace()
                .map(bits)
                .collect();
            assert_eq!(elements.len(), rows * cols, "{}: {line}", path.display());
            Matrix {
                rows,
                cols,
                elements,
            }
        };
        Product {
            case: head[1].to_string(),
            alpha: bits(head[5]),
            beta: bits(head[6]),
            a: matrix(lines[1], "A", m, k),
            b: matrix(lines[2], "B", k, n),
            c: matrix(lines[3], "C", m, n),
            d: match lines[4].strip_prefix("D error: ") {
                Some(message) => Err(message.to_string()),
                None => Ok(matrix(lines[4], "D", m, n)),
            },
        }
    };
    lines.chunks(5).map(product).collect()
}

/// The product through the C ABI.
fn compute(arch: Arch, input: Format, output: Format, p: &Product) -> Matrix {
    let (m, n, k) = (p.a.rows, p.b.cols, p.a.cols);
    let code = |format: Format| format.info().code;
    let [a, b, c] = [&p.a, &p.b, &p.c].map(Matrix::column_major);
    let mut d = vec![f64::NAN; m * n];
    // SAFETY: column-major matrices with no gaps between columns.
    let status = unsafe {
        mfma_gemm_f64(
            arch.info().code,
            code(input),
            code(output),
            m as i64,
            n as i64,
            k as i64,
            p.alpha,
            a.as_ptr(),
            m as i64,
            b.as_ptr(),
            k.max(1) as i64,
            p.beta,
            c.as_ptr(),
            m as i64,
            d.as_mut_ptr(),
            m as i64,
        )
    };
    assert_eq!(status, MFMA_OK, "{}", last_error());
    let elements = (0..m)
        .flat_map(|i| (0..n).map(move |j| (i, j)))
        .map(|(i, j)| d[j * m + i])
        .collect();
    Matrix {
        rows: m,
        cols: n,
        elements,
    }
}

/// The product through the Rust interface; B is passed by columns, the others by rows.
fn compute_in_rust(model: &Model, p: &Product) -> Result<Matrix, mfma::Error> {
    let (m, n, k) = (p.a.rows, p.b.cols, p.a.cols);
    let mut elements = vec![f64::NAN; m * n];
    let (a, b) = (&p.a.elements, p.b.column_major());
    mfma::Product::new(
        model,
        MatRef::row_major(a, m, k)?,
        MatRef::col_major(&b, k, n)?,
    )
    .alpha(p.alpha)
    .add(p.beta, MatRef::row_major(&p.c.elements, m, n)?)
    .store(MatMut::row_major(&mut elements, m, n)?)?;
    Ok(Matrix {
        rows: m,
        cols: n,
        elements,
    })
}

/// One element of a product, as the unit sees it.
struct Element {
    model: Model,
    a: Vec<u64>,
    b: Vec<u64>,
    c: Operand,
    /// The factors as the user passed them.
    passed: Vec<f64>,
    ours: f64,
    theirs: f64,
}

impl Element {
    fn new(model: Model, p: &Product, i: usize, j: usize, ours: f64, theirs: f64) -> Element {
        let a: Vec<f64> = (0..p.a.cols).map(|q| p.alpha * p.a.at(i, q)).collect();
        let b: Vec<f64> = (0..p.a.cols).map(|q| p.b.at(q, j)).collect();
        let round = |format, x: &[f64]| -> Vec<u64> {
            x.iter()
                .map(|&x| from_f64(format, x, Model::input_rounding(format)))
                .collect()
        };
        let (format, rounding) = model.addend_format();
        let c = if p.beta == 0.0 {
            0.0
        } else {
            p.beta * p.c.at(i, j)
        };
        Element {
            model,
            a: round(model.a(), &a),
            b: round(model.b(), &b),
            c: Operand::new(format, from_f64(format, c, rounding)),
            passed: [a, b].concat(),
            ours,
            theirs,
        }
    }

    /// The result after the first `k` products, through another model if wanted.
    fn prefix(&self, model: Model, k: usize) -> f64 {
        let decoded = |format, x: &[u64]| -> Vec<_> {
            x[..k].iter().map(|&bits| decode(format, bits)).collect()
        };
        let (a, b) = (decoded(model.a(), &self.a), decoded(model.b(), &self.b));
        to_f64(model.output(), dot(model.unit(), &a, &b, self.c))
    }

    fn products(&self) -> impl Iterator<Item = f64> {
        let pairs = self.a.iter().zip(&self.b);
        pairs.map(|(&a, &b)| to_f64(self.model.a(), a) * to_f64(self.model.b(), b))
    }
}

fn same(x: f64, y: f64) -> bool {
    x.to_bits() == y.to_bits() || x.is_nan() && y.is_nan()
}

/// The first rule of `docs/differences.md` that holds for an element.
fn rule_of(e: &Element) -> Option<&'static str> {
    let model = e.model;
    let (input, output) = (model.a(), model.output());
    let arch = model.arch().unwrap();
    let largest = to_f64(output, output.info().max_finite());
    let blocks = (0..e.a.len()).step_by(model.params().fma as usize);
    let rules: [(&str, &dyn Fn() -> bool); 7] = [
        // The toolbox rounds a shifted sum once, to 31 bits: the variant gives its answer.
        ("rounding-steps", &|| {
            arch == Arch::Cdna3
                && Model::new(Arch::Cdna3Toolbox, input, input, output)
                    .is_ok_and(|variant| same(e.prefix(variant, e.a.len()), e.theirs))
        }),
        // The toolbox keeps no fraction bits of a binary16 result of 8-bit products.
        ("fp8-fp16-width", &|| {
            input.bytes() == 1
                && output == Format::Fp16
                && (!e.theirs.is_finite() || e.theirs == 0.0 || e.theirs.to_bits() << 12 == 0)
        }),
        // Above 464 lies no E4M3 number; CPFloat rounds to 480 or infinity.
        ("e4m3-overflow", &|| {
            input == Format::E4m3 && e.ours.is_nan() && e.passed.iter().any(|x| x.abs() > 464.0)
        }),
        // A finite number that the output format does not have.
        ("overflow", &|| {
            e.theirs.is_finite()
                && e.theirs.abs() > largest
                && e.ours.is_infinite()
                && e.ours.signum() == e.theirs.signum()
        }),
        // A product of magnitude 2^128 is an infinity of its own sign on AMD.
        ("product-overflow", &|| {
            arch.is_amd()
                && !e.ours.is_finite()
                && e.products()
                    .any(|x| x.is_finite() && x.abs() >= 2f64.powi(128))
        }),
        // The result between two blocks is an infinity or a NaN; the toolbox goes on with a finite number.
        ("inf-between-blocks", &|| {
            !e.ours.is_finite() && blocks.clone().any(|k| !e.prefix(model, k).is_finite())
        }),
        // What rounds to zero is +0 on NVIDIA.
        ("zero-sign", &|| {
            !arch.is_amd() && e.ours.to_bits() == 0 && e.theirs.to_bits() == 1 << 63
        }),
    ];
    rules
        .iter()
        .find(|(_, holds)| holds())
        .map(|(name, _)| *name)
}

/// What the toolbox refuses, and what is right instead.
fn rule_of_failure(message: &str, model: &Model, p: &Product, d: &Matrix) -> Option<&'static str> {
    // No block to take d from: the result is c, brought to the output format where it is wider.
    if message.starts_with("'d' undefined") && p.a.cols == 0 {
        let (format, rounding) = model.addend_format();
        let output = model.output();
        let wanted = |x: f64| {
            let c = to_f64(format, from_f64(format, p.beta * x, rounding));
            to_f64(output, from_f64(output, c, model.params().rounding))
        };
        let right = d
            .elements
            .iter()
            .zip(&p.c.elements)
            .all(|(&d, &x)| same(d, wanted(x)));
        return right.then_some("no-products");
    }
    // A format that the function's own list has, but CPFloat does not know.
    (message == "cpfloat: Invalid floating-point format specified.").then_some("names")
}

#[test]
fn whole_products() {
    let Some(folder) = evidence_folder() else {
        return say_absent("whole_products");
    };
    let mut rules: BTreeMap<&str, usize> = BTreeMap::new();
    let mut unexplained = Vec::new();
    let (mut files, mut elements) = (0, 0);
    for path in text_files(&folder.join("gemm")) {
        let (arch, input, output) = parse_file_name(&path);
        let file = path.file_stem().unwrap().to_str().unwrap();
        let model = Model::new(arch, input, input, output).unwrap();
        files += 1;
        for p in read_products(&path) {
            let d = compute(arch, input, output, &p);
            let in_rust = compute_in_rust(&model, &p).unwrap();
            assert!(
                d.elements
                    .iter()
                    .zip(&in_rust.elements)
                    .all(|(&x, &y)| x.to_bits() == y.to_bits()),
                "{file} case {}: the C ABI and Rust differ",
                p.case
            );
            let theirs = match &p.d {
                Ok(theirs) => theirs,
                Err(message) => {
                    match rule_of_failure(message, &model, &p, &d) {
                        Some(rule) => *rules.entry(rule).or_default() += 1,
                        None => unexplained.push(format!(
                            "{file} case {}: the toolbox says {message:?}, we {d:?}",
                            p.case
                        )),
                    }
                    continue;
                }
            };
            for (i, j) in (0..d.rows).flat_map(|i| (0..d.cols).map(move |j| (i, j))) {
                elements += 1;
                let (ours, theirs) = (d.at(i, j), theirs.at(i, j));
                if same(ours, theirs) {
                    continue;
                }
                let element = Element::new(model, &p, i, j, ours, theirs);
                assert!(
                    same(element.prefix(model, element.a.len()), ours),
                    "{file}: not what the reference gives"
                );
                match rule_of(&element) {
                    Some(rule) => *rules.entry(rule).or_default() += 1,
                    None => unexplained.push(format!(
                        "{file} case {} ({i}, {j}): {ours:e}, the toolbox {theirs:e}",
                        p.case
                    )),
                }
            }
        }
    }
    println!("{elements} elements of {files} files; differences by rule: {rules:?}");
    assert!(
        unexplained.is_empty(),
        "{} differences without a rule:\n{}",
        unexplained.len(),
        unexplained[..unexplained.len().min(40)].join("\n")
    );
    assert!(files >= 75 && elements > 10_000);
}
