//! Options that say which random cases are meant.

use clap::Args;
use mfma::Model;
use mfma::validate::{Sampler, Sampling, default_length};

use crate::output::Failure;

/// Options that choose random cases.
#[derive(Args, Clone, Debug)]
pub struct DrawingArgs {
    /// How inputs are drawn: exponent-mantissa, subnormal-exponents, independent-bits (the paper's); any-bits, window, pairs,
    /// cancelled-by-c, gap, subnormal, limits, sparse, specials, ties, near-ties, only-c, or directed (these in turn); all.
    #[arg(long, value_name = "NAME", default_value = "all")]
    pub sampler: String,
    /// Seed; 0 is MATLAB's rng(0) in the paper's samplers.
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Number of the first case. Which case a number stands for does not depend on how a campaign is split.
    #[arg(long, default_value = "0", value_parser = count, value_name = "N")]
    pub first: u64,
    /// Number of cases, such as 1000000 or 1e6 [default: 1000000; of sample, 1000 to a file and 10 to standard output].
    #[arg(long, short = 'n', value_parser = count, value_name = "N")]
    pub count: Option<u64>,
    /// Length of the dot products [default: the longest of the unit's instructions].
    #[arg(long, short = 'k', value_parser = length, value_name = "K")]
    pub length: Option<usize>,
    /// Draw all cases of the paper's samplers from one generator, exactly Algorithm 3.
    #[arg(long)]
    pub one_stream: bool,
}

impl DrawingArgs {
    /// How inputs are drawn.
    pub fn sampling(&self) -> Result<Sampling, Failure> {
        Ok(Sampling {
            sampler: Sampler::from_name(&self.sampler)?,
            seed: self.seed,
            one_stream: self.one_stream,
        })
    }

    /// Length of the dot products for a unit.
    pub fn length(&self, model: &Model) -> usize {
        self.length.unwrap_or_else(|| default_length(model))
    }
}

/// A whole number, 1e6 and 2.5e6 included.
pub fn count(text: &str) -> Result<u64, String> {
    if let Ok(count) = text.parse() {
        return Ok(count);
    }
    let allowed = || format!("'{text}'; allowed: a whole number, such as 1000000 or 1e6");
    let number: f64 = text.parse().map_err(|_| allowed())?;
    if number.fract() != 0.0 || !(0.0..=9e15).contains(&number) {
        return Err(allowed());
    }
    Ok(number as u64)
}

/// A length, 1e3 included.
fn length(text: &str) -> Result<usize, String> {
    let length = count(text)?;
    usize::try_from(length).map_err(|_| format!("'{text}' is too long"))
}

#[cfg(test)]
mod tests {
    use super::{count, length};

    #[test]
    fn counts() {
        assert_eq!(count("12"), Ok(12));
        assert_eq!(count("2.5e6"), Ok(2_500_000));
        assert_eq!(length("1e3"), Ok(1000));
        assert!(count("1.5").is_err() && count("-1").is_err() && count("many").is_err());
    }
}
