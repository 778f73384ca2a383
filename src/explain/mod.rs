//! Why is this the result? One dot product step by step, which features make two units differ, and short inputs on which
//! they do.
//!
//! ```
//! use mfma::probe::{Case, Formats};
//! use mfma::explain::{attribute, explain, separate};
//! use mfma::{Arch, Format, Model};
//!
//! let model = |arch| Model::new(arch, Format::Fp16, Format::Fp16, Format::Fp32);
//! let (v100, mi300) = (model(Arch::Volta)?, model(Arch::Cdna3)?);
//!
//! // A short input on which the two differ, ...
//! let found = separate(&v100, &mi300, 1)?.expect("they are different units");
//! // ... why each gives what it gives, ...
//! println!("{}{}", explain(&v100, &found.case)?, explain(&mi300, &found.case)?);
//! // ... and which features are to blame.
//! let blame = attribute(&v100, &mi300, &[found.case])?;
//! assert_eq!(blame.differing, 1);
//! # Ok::<(), mfma::Error>(())
//! ```

mod attribute;
mod separate;
mod steps;
mod tell_apart;

pub use attribute::{Attribution, Cause, attribute};
pub use separate::{Separation, separate};
pub use steps::{Explanation, Record, RecordKind, explain};
pub use tell_apart::{SeparatingSet, Unit, separate_all, separate_catalogue};

use crate::error::{Error, ErrorCode};
use crate::model::Model;
use crate::probe::{Case, Formats};

fn formats_of(model: &Model) -> Formats {
    Formats {
        a: model.a(),
        b: model.b(),
        output: model.output(),
    }
}

/// The formats that two units share.
fn shared_formats(x: &Model, y: &Model) -> Result<Formats, Error> {
    let (of_x, of_y) = (formats_of(x), formats_of(y));
    if of_x == of_y {
        return Ok(of_x);
    }
    Err(Error::new(
        ErrorCode::InvalidArgument,
        format!(
            "the units have different formats, {} x {} -> {} and {} x {} -> {}; both must take the same encodings",
            of_x.a, of_x.b, of_x.output, of_y.a, of_y.b, of_y.output
        ),
    ))
}

/// Vectors of a case must be equally long.
fn check_case(case: &Case) -> Result<(), Error> {
    if case.a.len() == case.b.len() {
        return Ok(());
    }
    Err(Error::new(
        ErrorCode::InvalidSize,
        format!(
            "a has {} elements and b has {}; they must have equally many",
            case.a.len(),
            case.b.len()
        ),
    ))
}
