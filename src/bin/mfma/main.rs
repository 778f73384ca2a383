//! `mfma`: the library from the command line. See docs/validate.md.
//!
//! One file a command. A command's arguments are a struct with a method `run`, which returns what the exit status says:
//!
//! * 0: done, and what was compared agrees
//! * 1: done, and what was compared differs (or no unit fits)
//! * 2: not done: wrong arguments, an unreadable or malformed file
//!
//! Results go to standard output, as text or (`--json`) as one JSON value; messages and progress go to standard error.

mod bound;
mod compare;
mod drawing;
mod explain;
mod gemm;
mod info;
mod matrix;
mod output;
mod params;
mod probe;
mod progress;
mod sample;
mod unit;
mod validate;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use output::{Failure, Outcome, Output};

/// What GPU matrix units compute, bit for bit.
#[derive(Parser)]
#[command(name = "mfma", version, about, after_help = EXIT_STATUS, max_term_width = 110)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    /// Print one JSON value instead of text.
    #[arg(long, global = true)]
    json: bool,
    /// Show no progress bar.
    #[arg(long, short, global = true)]
    quiet: bool,
    /// Threads to use [default: MFMA_NUM_THREADS, else all cores].
    #[arg(long, global = true, value_name = "N")]
    threads: Option<usize>,
}

const EXIT_STATUS: &str = "\
Exit status: 0 done, and what was compared agrees; 1 done, and it differs; 2 wrong arguments or an unreadable file.";

#[derive(Subcommand)]
enum Command {
    Info(info::Info),
    Gemm(gemm::Gemm),
    Sample(sample::Sample),
    Validate(validate::Validate),
    Compare(compare::Compare),
    Bound(bound::Bound),
    Probe(probe::Probe),
    Table3(probe::Table3),
    Explain(explain::Explain),
    Attribute(explain::Attribute),
    Separate(explain::Separate),
}

impl Command {
    fn run(self, output: &Output) -> Result<Outcome, Failure> {
        match self {
            Command::Info(command) => command.run(output),
            Command::Gemm(command) => command.run(output),
            Command::Sample(command) => command.run(output),
            Command::Validate(command) => command.run(output),
            Command::Compare(command) => command.run(output),
            Command::Bound(command) => command.run(output),
            Command::Probe(command) => command.run(output),
            Command::Table3(command) => command.run(output),
            Command::Explain(command) => command.run(output),
            Command::Attribute(command) => command.run(output),
            Command::Separate(command) => command.run(output),
        }
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let output = Output {
        json: arguments.json,
        quiet: arguments.quiet,
    };
    let outcome = match arguments.threads {
        Some(threads) => mfma::threads::set_num_threads(threads).map_err(Failure::from),
        None => Ok(()),
    }
    .and_then(|()| arguments.command.run(&output));
    match outcome {
        Ok(Outcome::Agree) => ExitCode::SUCCESS,
        Ok(Outcome::Differ) => ExitCode::from(1),
        Err(failure) => {
            eprintln!("mfma: {failure}");
            ExitCode::from(2)
        }
    }
}
