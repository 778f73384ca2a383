//! From an instruction's name to its row.

use super::{Arch, Model, catalogue};
use crate::error::{Error, ErrorCode};

/// The unit that `mnemonic` runs on.
pub fn find(mnemonic: &str, arch: Arch) -> Result<Model, Error> {
    let row = catalogue()
        .find(|row| row.arch == arch && !mnemonic.is_empty() && row.instruction == mnemonic);
    match row {
        Some(row) => Ok(Model::from_row(row, row.inputs[0][0], row.inputs[0][1])),
        None => Err(Error::new(
            ErrorCode::UnknownInstruction,
            format!("{arch} has no matrix instruction '{mnemonic}'"),
        )),
    }
}
