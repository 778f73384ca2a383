//! Makes inputs for `tensor_core_dot`, compares its outputs with this library, and writes them as test vectors.
//!
//! See tools/measure/README.md. Inputs follow from suite, seed and case number alone: outputs are all that has to be
//! kept.

mod directed;
mod neighbours;
mod samplers;
mod suites;
mod text;

use std::collections::BTreeMap;
use std::fs;
use std::process::ExitCode;

use mfma::reference::dot_raw;
use mfma::{Arch, Format, Model};
use rayon::prelude::*;

use directed::questions;
use samplers::{Case, random_case, sampler};
use suites::{SUITES, Suite};

const USAGE: &str = "\
gpu_vectors list
gpu_vectors job SUITE                              instruction and steps, as tensor_core_dot takes them
gpu_vectors options SUITE                          options of tensor_core_dot
gpu_vectors generate SUITE SEED COUNT INPUT        directed cases first, then COUNT random ones
gpu_vectors expect SUITE ARCH SEED COUNT OUTPUT    what this library computes, as OUTPUT of tensor_core_dot
gpu_vectors check SUITE ARCH SEED OUTPUT [SHOW]    compares OUTPUT with this library; shows up to SHOW differences
gpu_vectors neighbours SUITE ARCH SEED OUTPUT      how many results tell units that differ in one feature
gpu_vectors text SUITE ARCH SEED OUTPUT Q N R      test vectors: Q of each directed question, N that tell each such
                                                   unit, R random ones";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&arguments) {
        Ok(code) => code,
        Err(message) => {
            eprintln!("gpu_vectors: {message}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &[&str]) -> Result<ExitCode, String> {
    match arguments {
        ["list"] => {
            for suite in SUITES {
                println!("{}", suite.name);
            }
            Ok(ExitCode::SUCCESS)
        }
        ["job", suite] => {
            let suite = find(suite)?;
            println!("{} {}", suite.instruction, suite.steps);
            Ok(ExitCode::SUCCESS)
        }
        ["options", suite] => {
            println!("{}", find(suite)?.options);
            Ok(ExitCode::SUCCESS)
        }
        ["generate", suite, seed, count, path] => {
            let cases = Cases::new(find(suite)?, number(seed)?);
            let count = cases.directed.len() as u64 + number(count)?;
            fs::write(path, cases.pack(count)).map_err(|e| format!("{path}: {e}"))?;
            Ok(ExitCode::SUCCESS)
        }
        ["expect", suite, arch, seed, count, path] => {
            let cases = Cases::new(find(suite)?, number(seed)?);
            let count = cases.directed.len() as u64 + number(count)?;
            let bytes = expected(&cases, &unit(&cases, arch)?, count);
            fs::write(path, bytes).map_err(|e| format!("{path}: {e}"))?;
            Ok(ExitCode::SUCCESS)
        }
        ["check", suite, arch, seed, path, rest @ ..] => {
            let show = rest.first().map_or(Ok(0), |show| number(show))?;
            let cases = Cases::new(find(suite)?, number(seed)?);
            check(&cases, arch, path, show as usize)
        }
        ["neighbours", suite, arch, seed, path] => {
            let cases = Cases::new(find(suite)?, number(seed)?);
            tell_neighbours(&cases, &unit(&cases, arch)?, path)
        }
        [
            "text",
            suite,
            arch,
            seed,
            path,
            of_a_question,
            of_a_neighbour,
            random,
        ] => {
            let cases = Cases::new(find(suite)?, number(seed)?);
            let results = read_results(path, cases.suite.output)?;
            let model = unit(&cases, arch)?;
            let share = text::Share {
                of_a_question: number(of_a_question)? as usize,
                of_a_neighbour: number(of_a_neighbour)? as usize,
                random: number(random)? as usize,
            };
            let chosen = text::choose(&cases, &model, &results, &share);
            text::print(&cases, &results, &chosen);
            Ok(ExitCode::SUCCESS)
        }
        _ => Err(format!("usage:\n{USAGE}")),
    }
}

fn find(name: &str) -> Result<&'static Suite, String> {
    Suite::find(name)
        .ok_or_else(|| format!("unknown suite '{name}'; `gpu_vectors list` shows them"))
}

fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("not a number: '{text}'"))
}

/// The cases of a suite: directed ones first, then random ones without end.
struct Cases {
    suite: &'static Suite,
    seed: u64,
    directed: Vec<directed::Question>,
}

impl Cases {
    fn new(suite: &'static Suite, seed: u64) -> Cases {
        Cases {
            suite,
            seed,
            directed: questions(suite),
        }
    }

    fn get(&self, index: u64) -> Case {
        match self.directed.get(index as usize) {
            Some((_, case)) => case.clone(),
            None => random_case(self.suite, self.seed, index - self.directed.len() as u64),
        }
    }

    /// Where a case comes from.
    fn origin(&self, index: u64) -> &'static str {
        match self.directed.get(index as usize) {
            Some((question, _)) => question,
            None => sampler(index - self.directed.len() as u64).0,
        }
    }

    /// All a, then all b, then all c, as the measuring program reads them.
    fn pack(&self, count: u64) -> Vec<u8> {
        let (a, b, out) = (self.suite.a, self.suite.b, self.suite.output);
        let chunks: Vec<[Vec<u8>; 3]> = (0..count.div_ceil(1 << 16))
            .into_par_iter()
            .map(|chunk| {
                let mut bytes = [Vec::new(), Vec::new(), Vec::new()];
                for index in (chunk << 16)..count.min((chunk + 1) << 16) {
                    let case = self.get(index);
                    case.a.iter().for_each(|&x| push(&mut bytes[0], a, x));
                    case.b.iter().for_each(|&x| push(&mut bytes[1], b, x));
                    push(&mut bytes[2], out, case.c);
                }
                bytes
            })
            .collect();
        (0..3)
            .flat_map(|part| chunks.iter().map(move |chunk| chunk[part].as_slice()))
            .collect::<Vec<_>>()
            .concat()
    }
}

/// A case as a test vector.
fn hex_case(suite: &Suite, case: &Case, d: u64) -> String {
    let list = |format: Format, x: &[u64]| {
        let words: Vec<String> = x.iter().map(|&bits| hex(format, bits)).collect();
        words.join(",")
    };
    format!(
        "{} a={} b={} c={} d={}",
        suite.length(),
        list(suite.a, &case.a),
        list(suite.b, &case.b),
        hex(suite.output, suite.addend(case.c)),
        hex(suite.output, d)
    )
}

fn push(bytes: &mut Vec<u8>, format: Format, x: u64) {
    bytes.extend_from_slice(&x.to_le_bytes()[..format.bytes()]);
}

fn hex(format: Format, bits: u64) -> String {
    format!("{bits:0width$x}", width = 2 * format.bytes())
}

/// Results in a file of the measuring program.
fn read_results(path: &str, format: Format) -> Result<Vec<u64>, String> {
    let bytes = fs::read(path).map_err(|e| format!("{path}: {e}"))?;
    Ok(bytes
        .chunks_exact(format.bytes())
        .map(|word| {
            let mut wide = [0; 8];
            wide[..word.len()].copy_from_slice(word);
            u64::from_le_bytes(wide)
        })
        .collect())
}

fn expected(cases: &Cases, model: &Model, count: u64) -> Vec<u8> {
    let suite = cases.suite;
    let results: Vec<u64> = (0..count)
        .into_par_iter()
        .map(|index| {
            let case = cases.get(index);
            dot_raw(model.unit(), &case.a, &case.b, suite.addend(case.c))
        })
        .collect();
    let mut bytes = Vec::new();
    results
        .iter()
        .for_each(|&d| push(&mut bytes, suite.output, d));
    bytes
}

fn check(cases: &Cases, arch: &str, path: &str, show: usize) -> Result<ExitCode, String> {
    let suite = cases.suite;
    let model = unit(cases, arch)?;
    let results = read_results(path, suite.output)?;
    let wrong: Vec<(u64, u64)> = results
        .par_iter()
        .enumerate()
        .filter_map(|(index, &d)| {
            let case = cases.get(index as u64);
            let expected = dot_raw(model.unit(), &case.a, &case.b, suite.addend(case.c));
            (expected != d).then_some((index as u64, expected))
        })
        .collect();
    println!(
        "{}: {} cases, {} differ",
        suite.name,
        results.len(),
        wrong.len()
    );
    let mut by_origin: BTreeMap<&str, usize> = BTreeMap::new();
    for &(index, _) in &wrong {
        *by_origin.entry(cases.origin(index)).or_default() += 1;
    }
    for (origin, count) in by_origin {
        println!("  {count} of '{origin}'");
    }
    for &(index, expected) in wrong.iter().take(show) {
        let line = hex_case(suite, &cases.get(index), results[index as usize]);
        println!(
            "  {line} expected={} case={index} '{}'",
            hex(suite.output, expected),
            cases.origin(index)
        );
    }
    Ok(if wrong.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn unit(cases: &Cases, arch: &str) -> Result<Model, String> {
    let arch = Arch::from_name(arch).map_err(|e| e.to_string())?;
    cases.suite.model(arch).map_err(|e| e.to_string())
}

/// For each feature: how many results a unit without it would have got wrong.
fn tell_neighbours(cases: &Cases, model: &Model, path: &str) -> Result<ExitCode, String> {
    let suite = cases.suite;
    let results = read_results(path, suite.output)?;
    println!("{}: {} cases", suite.name, results.len());
    for neighbour in neighbours::neighbours(model, suite.length()) {
        let told = results.par_iter().enumerate().filter(|&(index, &d)| {
            let case = cases.get(index as u64);
            dot_raw(
                neighbour.model.unit(),
                &case.a,
                &case.b,
                suite.addend(case.c),
            ) != d
        });
        println!("  {:8} tell {}", told.count(), neighbour.change);
    }
    Ok(ExitCode::SUCCESS)
}
