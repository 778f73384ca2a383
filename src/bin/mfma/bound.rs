//! `mfma bound`: how sure a campaign makes.

use clap::Args;
use mfma::validate::mismatch_bound;
use serde_json::json;

use crate::drawing::count;
use crate::output::{Failure, Outcome, Output};

/// The probability of a mismatch that a campaign leaves possible (paper, section 5.4), as for one that was split.
#[derive(Args)]
pub struct Bound {
    /// Random cases that were compared, such as 1e7.
    #[arg(value_parser = count)]
    cases: u64,
    /// Mismatches among them.
    #[arg(value_parser = count, default_value = "0")]
    mismatches: u64,
    /// The bound holds with probability 1 minus this.
    #[arg(long, default_value_t = 1e-6)]
    epsilon: f64,
}

impl Bound {
    pub fn run(self, output: &Output) -> Result<Outcome, Failure> {
        if self.mismatches > self.cases {
            return Err(Failure::new(format!(
                "{} mismatches in {} cases; allowed: at most as many as cases",
                self.mismatches, self.cases
            )));
        }
        if !(self.epsilon > 0.0 && self.epsilon < 1.0) {
            return Err(Failure::new(format!(
                "--epsilon is {}; allowed: between 0 and 1",
                self.epsilon
            )));
        }
        let bound = mismatch_bound(self.cases, self.mismatches, self.epsilon);
        output.print(
            || format!("{bound:.4e}"),
            || {
                json!({
                    "cases": self.cases,
                    "mismatches": self.mismatches,
                    "epsilon": self.epsilon,
                    "bound": bound,
                })
            },
        )?;
        Ok(Outcome::Agree)
    }
}
