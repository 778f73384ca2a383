//! A small set of test vectors out of a large measurement.

use mfma::reference::dot_raw;
use rayon::prelude::*;

use crate::neighbours::neighbours;
use crate::{Cases, hex_case};

/// How many cases to keep.
pub struct Share {
    /// Of each directed question.
    pub of_a_question: usize,
    /// Of those that a neighbouring unit gets wrong, for each neighbour.
    pub of_a_neighbour: usize,
    /// Of the random ones.
    pub random: usize,
}

/// Chooses cases by number.
pub fn choose(cases: &Cases, model: &mfma::Model, results: &[u64], share: &Share) -> Vec<u64> {
    let directed = cases.directed.len();
    let mut chosen = Vec::new();
    let mut questions: Vec<(&str, usize)> = Vec::new();
    for (index, (question, _)) in cases.directed.iter().enumerate() {
        let at = questions.iter().position(|(q, _)| q == question);
        let at = at.unwrap_or_else(|| {
            questions.push((question, 0));
            questions.len() - 1
        });
        if questions[at].1 < share.of_a_question {
            questions[at].1 += 1;
            chosen.push(index as u64);
        }
    }
    for neighbour in neighbours(model, cases.suite.length()) {
        let told: Vec<u64> = (0..results.len().min(directed + 100_000) as u64)
            .into_par_iter()
            .filter(|&index| {
                let case = cases.get(index);
                let c = cases.suite.addend(case.c);
                dot_raw(neighbour.model.unit(), &case.a, &case.b, c) != results[index as usize]
            })
            .collect();
        // Spread over all that there are.
        let step = (told.len() / share.of_a_neighbour.max(1)).max(1);
        chosen.extend(told.iter().step_by(step).take(share.of_a_neighbour));
    }
    chosen.extend((directed as u64..results.len() as u64).take(share.random));
    chosen.sort_unstable();
    chosen.dedup();
    chosen
}

/// The chosen cases in the text form of test vectors.
pub fn print(cases: &Cases, results: &[u64], chosen: &[u64]) {
    let suite = cases.suite;
    println!("# instruction: {}", suite.instruction);
    println!("# instructions in a row: {}", suite.steps);
    println!("# formats: {} {} {}", suite.a, suite.b, suite.output);
    if !suite.options.is_empty() {
        println!("# options: {}", suite.options);
    }
    let mut last = "";
    for &index in chosen {
        let random = index >= cases.directed.len() as u64;
        let origin = if random {
            "random"
        } else {
            cases.origin(index)
        };
        if origin != last {
            println!("# {origin}");
            last = origin;
        }
        println!(
            "{}",
            hex_case(suite, &cases.get(index), results[index as usize])
        );
    }
}
