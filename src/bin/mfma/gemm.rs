//! `mfma gemm`: a product of matrices in files.

use std::path::PathBuf;

use clap::Args;
use mfma::{MatMut, MatRef, Product};
use serde_json::json;

use crate::matrix::Matrix;
use crate::output::{Failure, Outcome, Output};
use crate::progress::Progress;
use crate::unit::{self, UnitArgs};

/// Multiply matrices from files through a unit: D = round(alpha A) round(B) + round(beta C).
///
/// Files are text (a row a line; numbers separated by spaces, commas or semicolons; # begins a comment) or NumPy's .npy
/// (binary32 or binary64).
#[derive(Args)]
pub struct Gemm {
    /// File with A.
    a: PathBuf,
    /// File with B.
    b: PathBuf,
    /// File with C [default: zeros].
    c: Option<PathBuf>,
    /// File for D, .npy or text [default: standard output].
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    unit: UnitArgs,
    /// Factor of A.
    #[arg(long, default_value_t = 1.0, allow_negative_numbers = true)]
    alpha: f64,
    /// Factor of C.
    #[arg(
        long,
        default_value_t = 1.0,
        allow_negative_numbers = true,
        requires = "c"
    )]
    beta: f64,
}

impl Gemm {
    pub fn run(self, output: &Output) -> Result<Outcome, Failure> {
        let model = self.unit.model()?;
        let a = Matrix::read(&self.a)?;
        let b = Matrix::read(&self.b)?;
        let c = self.c.as_deref().map(Matrix::read).transpose()?;
        if a.cols != b.rows {
            return Err(Failure::new(format!(
                "{} is {} x {} and {} is {} x {}; A must have as many columns as B has rows",
                self.a.display(),
                a.rows,
                a.cols,
                self.b.display(),
                b.rows,
                b.cols
            )));
        }
        let mut d = Matrix {
            rows: a.rows,
            cols: b.cols,
            data: vec![0.0; a.rows * b.cols],
        };
        let mut bar = Progress::new(output, "multiplying");
        let mut tell = |done| bar.tell(done);
        let mut product = Product::new(
            &model,
            MatRef::col_major(&a.data, a.rows, a.cols)?,
            MatRef::col_major(&b.data, b.rows, b.cols)?,
        )
        .alpha(self.alpha)
        .progress(&mut tell);
        if let Some(c) = &c {
            product = product.add(self.beta, MatRef::col_major(&c.data, c.rows, c.cols)?);
        }
        product.store(MatMut::col_major(&mut d.data, d.rows, d.cols)?)?;
        drop(bar);
        let said = match &self.output {
            Some(path) => {
                d.write(path)?;
                format!(
                    "{}: {} x {} in {}",
                    unit::title(&model),
                    d.rows,
                    d.cols,
                    path.display()
                )
            }
            None => d.to_text(),
        };
        output.print(
            || said,
            || {
                let rows: Vec<Vec<f64>> = (0..d.rows)
                    .map(|i| (0..d.cols).map(|j| d.data[i + j * d.rows]).collect())
                    .collect();
                json!({
                    "unit": unit::to_json(&model),
                    "rows": d.rows,
                    "cols": d.cols,
                    "d": if self.output.is_none() { json!(rows) } else { json!(null) },
                    "path": self.output.as_ref().map(|path| path.display().to_string()),
                })
            },
        )?;
        Ok(Outcome::Agree)
    }
}
