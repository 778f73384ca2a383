//! Plain observations, as section 4 of the paper states them, whatever unit gives them.

use super::BlackBox;
use super::session::Session;
use super::vector::{Case, Draft, Formats, Number, Split, negated};
use crate::error::Error;
use crate::format::{Class, Specials, decode, infinity, nan};

/// Something observed directly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// What was asked, such as "Inf * 0".
    pub question: &'static str,
    /// What came out, in words or hex.
    pub answer: String,
}

/// A question with the words for its answer.
struct Ask {
    question: &'static str,
    case: Case,
    /// Turns the result into words.
    words: fn(&Formats, u64) -> String,
}

fn hex(formats: &Formats, d: u64) -> String {
    let digits = formats.output.info().storage_bits as usize / 4;
    format!("{d:0digits$x}")
}

/// NaN with its sign, an infinity, or a number.
fn kind(formats: &Formats, d: u64) -> String {
    let value = decode(formats.output, d);
    let sign = if value.negative { "-" } else { "+" };
    match value.class {
        Class::Nan => format!("{sign}NaN ({})", hex(formats, d)),
        Class::Infinite => format!("{sign}Inf"),
        Class::Zero => format!("{sign}0"),
        Class::Finite => format!("finite ({})", hex(formats, d)),
    }
}

fn kept(_: &Formats, d: u64) -> String {
    if d == 0 { "flushed" } else { "kept" }.into()
}

/// Asks what needs no model to be understood.
pub fn ask<B: BlackBox>(session: &mut Session<B>) -> Result<Vec<Fact>, Error> {
    let questions = questions(
        &session.formats,
        session.options.fixed.then_some(session.options.k),
    );
    let cases: Vec<Case> = questions.iter().map(|ask| ask.case.clone()).collect();
    let answers = session.ask(&cases)?;
    let facts = questions.iter().zip(answers).map(|(ask, d)| Fact {
        question: ask.question,
        answer: (ask.words)(&session.formats, d),
    });
    Ok(facts.collect())
}

fn questions(formats: &Formats, fixed: Option<usize>) -> Vec<Ask> {
    let least = fixed.unwrap_or(1);
    let mut list = Vec::new();
    let one = super::vector::factors(formats, Number::power(0), Split::Plain).unwrap_or((0, 0));
    let mut push = |question, draft: Option<Draft>, words| {
        if let Some(draft) = draft {
            list.push(Ask {
                question,
                case: draft.case(least),
                words,
            });
        }
    };
    let draft = |terms: &[(u64, u64)], c: u64| {
        let mut draft = Draft::new(*formats);
        for (position, &(a, b)) in terms.iter().enumerate() {
            draft.factors(position, a, b);
        }
        draft.addend_bits(c);
        Some(draft)
    };
    let (a, b, d) = (formats.a.info(), formats.b.info(), formats.output.info());

    push(
        "a NaN factor",
        draft(&[(nan(formats.a, false), one.1)], 0),
        kind,
    );
    push("a NaN c", draft(&[one], nan(formats.output, false)), kind);
    if a.specials == Specials::Ieee {
        let inf = infinity(formats.a, false);
        push("Inf * 1", draft(&[(inf, one.1)], 0), kind);
        push("Inf * 0", draft(&[(inf, 0)], 0), kind);
        push(
            "Inf - Inf in the products",
            draft(&[(inf, one.1), (negated(formats.a, inf), one.1)], 0),
            kind,
        );
    }
    push(
        "c = -Inf",
        draft(&[one], infinity(formats.output, true)),
        kind,
    );
    push("c = max, two products of max", overflow(formats), kind);
    push("subnormal a", subnormal_factor(formats), kept);
    push(
        "subnormal c",
        draft(&[(0, 0)], 1 << (d.fraction_bits - 1)),
        kept,
    );
    push("subnormal result", subnormal_result(formats), kept);
    push(
        "products of 2^(emax+1) that cancel",
        cancelling(formats),
        kind,
    );
    if a.ignored_bits > 0 {
        // 1 + 2^-10 + 2^-11: cut to 1 + 2^-10, or rounded to 1 + 2^-9.
        let word = one.0 | 3 << (a.ignored_bits - 1);
        push(
            "a = 1 + 2^-10 + 2^-11 as tf32",
            draft(&[(word, one.1)], 0),
            |formats, d| {
                let info = formats.output.info();
                let fraction = d & ((1 << info.fraction_bits) - 1);
                match fraction << 11 >> info.fraction_bits {
                    2 => "1 + 2^-10: cut".into(),
                    4 => "1 + 2^-9: rounded".into(),
                    3 => "1 + 2^-10 + 2^-11: not reduced".into(),
                    _ => hex(formats, d),
                }
            },
        );
    }
    let _ = b;
    list
}

/// The largest finite c and products that push it over.
fn overflow(formats: &Formats) -> Option<Draft> {
    let d = formats.output.info();
    let mut draft = Draft::new(*formats);
    let (_, high) = formats.product_exponents();
    let exponent = high.min(d.max_exponent()) - 1;
    for position in 0..2 {
        draft.product(position, Number::power(exponent), Split::Plain)?;
    }
    draft.addend_bits(d.max_finite());
    Some(draft)
}

/// A subnormal a times a b that makes it an ordinary number.
fn subnormal_factor(formats: &Formats) -> Option<Draft> {
    let (a, b) = (formats.a.info(), formats.b.info());
    let x = 1 << (a.fraction_bits + a.ignored_bits - 1);
    let exponent = (-a.min_exponent()).clamp(b.min_exponent(), b.max_exponent() - 1);
    let y = Number::power(exponent).encode(formats.b)?;
    let mut draft = Draft::new(*formats);
    draft.factors(0, x, y);
    Some(draft)
}

/// A product of normal factors below the output's normal range.
fn subnormal_result(formats: &Formats) -> Option<Draft> {
    let exponent = formats.output.info().min_exponent() - 2;
    let mut draft = Draft::new(*formats);
    draft.product(0, Number::power(exponent), Split::Plain)?;
    Some(draft)
}

/// Two products past the output's range, of opposite signs.
fn cancelling(formats: &Formats) -> Option<Draft> {
    let number = Number::power(formats.output.info().max_exponent() + 1);
    let mut draft = Draft::new(*formats);
    draft.product(0, number, Split::Plain)?;
    draft.product(1, number.signed(true), Split::Plain)?;
    Some(draft)
}
