//! One dot product, step by step.

use super::{check_case, formats_of};
use crate::error::Error;
use crate::format::{Class, Decoded, Format, decode, to_f64};
use crate::model::{Interleave, Model, Scheme};
use crate::probe::{Case, Formats, rounding_name};
use crate::reference::{Fixed, Item, Operand, Step, observed_dot};

/// What a record is about.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum RecordKind {
    /// A block begins; `before` and `after` are c.
    Block,
    /// A half of an interleaved block begins.
    Half,
    /// A subnormal c is taken as zero, or a c far below the products is dropped.
    Dropped,
    /// A product, exactly.
    Product,
    /// Something is not finite.
    Special,
    /// The exponent that terms are aligned to.
    MaxExponent,
    /// A term or sum was brought to another unit, perhaps losing bits.
    Aligned,
    /// A sum.
    Sum,
    /// A rounding: of a product, of a sum, of a fused multiply-add.
    Rounded,
    /// The block's result.
    BlockResult,
    /// The result.
    Result,
}

impl RecordKind {
    /// Name, as C and MATLAB see it.
    pub const fn name(self) -> &'static str {
        match self {
            RecordKind::Block => "block",
            RecordKind::Half => "half",
            RecordKind::Dropped => "dropped",
            RecordKind::Product => "product",
            RecordKind::Special => "special",
            RecordKind::MaxExponent => "max_exponent",
            RecordKind::Aligned => "aligned",
            RecordKind::Sum => "sum",
            RecordKind::Rounded => "rounded",
            RecordKind::BlockResult => "block_result",
            RecordKind::Result => "result",
        }
    }
}

/// A step, as numbers.
#[derive(Clone, PartialEq, Debug)]
pub struct Record {
    /// What it is about.
    pub kind: RecordKind,
    /// Block, counted from 0.
    pub block: usize,
    /// The quantity: "p3", "c", "sum", "odd sum", "even sum", "total", "d".
    pub item: String,
    /// The exponent involved, where there is one: of a product, of an alignment.
    pub exponent: Option<i32>,
    /// Weight of the last bit kept, as a power of two, where something is aligned or rounded.
    pub unit: Option<i32>,
    /// Value before the step; the value itself where nothing changes.
    pub before: f64,
    /// Value after the step.
    pub after: f64,
    /// What the step lost: before - after. 0 where nothing was.
    pub lost: f64,
    /// Encoding of the result, where there is one.
    pub bits: Option<u64>,
    /// The step in words.
    pub text: String,
}

/// A dot product explained.
#[derive(Clone, PartialEq, Debug)]
pub struct Explanation {
    /// The steps.
    pub records: Vec<Record>,
    /// Encoding of the result.
    pub d: u64,
    heading: String,
}

impl std::fmt::Display for Explanation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{}", self.heading)?;
        for record in &self.records {
            let indent = match record.kind {
                RecordKind::Block | RecordKind::Result => "",
                _ => "  ",
            };
            writeln!(f, "{indent}{}", record.text)?;
        }
        Ok(())
    }
}

/// Explains how a unit computes a case.
pub fn explain(model: &Model, case: &Case) -> Result<Explanation, Error> {
    check_case(case)?;
    let unit = model.unit();
    let read = |format: Format, x: &[u64]| -> Vec<Decoded> {
        x.iter().map(|&bits| unit.factor(format, bits)).collect()
    };
    let (a, b) = (read(model.a(), &case.a), read(model.b(), &case.b));
    let mut steps: Vec<Step> = Vec::new();
    let c = Operand::new(model.output(), case.c);
    let d = observed_dot(unit, &a, &b, c, &mut steps);
    let mut writer = Writer {
        model,
        case,
        records: Vec::new(),
        block: 0,
        first: 0,
        half: None,
        blocks: 0,
    };
    for step in &steps {
        writer.write(step);
    }
    Ok(Explanation {
        records: writer.records,
        d,
        heading: heading(model),
    })
}

fn heading(model: &Model) -> String {
    let Formats { a, b, output } = formats_of(model);
    let params = model.params();
    let arch = model
        .arch()
        .map_or("custom unit".into(), |arch| arch.to_string());
    let how = match params.scheme {
        Scheme::SequentialFma => "one fused multiply-add after the other".to_string(),
        Scheme::CorrectRounding => {
            format!("exact sum of {} products and c, one rounding", params.fma)
        }
        Scheme::PairwiseSum => format!("{} rounded products added in pairs, then c", params.fma),
        Scheme::GlobalAlignment | Scheme::OddEvenGrouping => {
            let groups = match (params.scheme, params.interleave) {
                (Scheme::OddEvenGrouping, _) => ", odd and even ones apart",
                (_, Interleave::Mod4) => ", in two interleaved halves",
                _ => "",
            };
            let c = if params.adds_c_late() {
                "late"
            } else {
                "early"
            };
            format!(
                "{} products{groups} aligned to {} fraction bits, c {c}",
                params.fma, params.alignment_bits
            )
        }
    };
    format!(
        "{arch}, {a} x {b} -> {output}: {how}; result {}",
        rounding_name(params.rounding)
    )
}

struct Writer<'a> {
    model: &'a Model,
    case: &'a Case,
    records: Vec<Record>,
    block: usize,
    blocks: usize,
    first: usize,
    half: Option<usize>,
}

/// `value` * 2^`unit` as binary64; exact while the value has no more than 53 bits and lies in range.
fn number(fixed: Fixed) -> f64 {
    // In two steps, so that neither overflows where the result does not.
    let half = fixed.unit / 2;
    fixed.value as f64 * 2f64.powi(half) * 2f64.powi(fixed.unit - half)
}

fn difference(x: Fixed, y: Fixed) -> f64 {
    if x.unit <= y.unit && y.unit - x.unit < 100 {
        let shifted = y.value.checked_mul(1 << (y.unit - x.unit));
        if let Some(lost) = shifted.and_then(|shifted| x.value.checked_sub(shifted)) {
            return number(Fixed {
                value: lost,
                unit: x.unit,
            });
        }
    }
    number(x) - number(y)
}

fn hex(format: Format, bits: u64) -> String {
    let digits = format.info().storage_bits as usize / 4;
    format!("{bits:0digits$x}")
}

fn shown(format: Format, bits: u64) -> String {
    let value = decode(format, bits);
    match value.class {
        Class::Nan => format!("{} (NaN)", hex(format, bits)),
        Class::Infinite => {
            let sign = if value.negative { "-" } else { "+" };
            format!("{} ({sign}Inf)", hex(format, bits))
        }
        _ => format!("{} ({:?})", hex(format, bits), to_f64(format, bits)),
    }
}

fn operand(x: &Operand) -> f64 {
    let value = &x.value;
    let magnitude = match value.class {
        Class::Nan => f64::NAN,
        Class::Infinite => f64::INFINITY,
        Class::Zero => 0.0,
        Class::Finite => number(Fixed {
            value: value.significand.into(),
            unit: value.exponent - x.format.info().fraction_bits as i32,
        }),
    };
    if value.negative {
        -magnitude
    } else {
        magnitude
    }
}

impl Writer<'_> {
    /// Index in the vectors of an element of the block.
    fn global(&self, index: usize) -> usize {
        match self.half {
            Some(first) => self.first + 4 * (index / 2) + first + index % 2,
            None => self.first + index,
        }
    }

    fn name(&self, item: Item) -> String {
        match item {
            Item::Product(index) => format!("p{}", self.global(index) + 1),
            Item::Addend => "c".into(),
            Item::Sum => "sum".into(),
            Item::OddSum => "odd sum".into(),
            Item::EvenSum => "even sum".into(),
            Item::Total => "total".into(),
        }
    }

    fn push(&mut self, record: Record) {
        self.records.push(record);
    }

    fn plain(&self, kind: RecordKind, item: &str, value: f64, text: String) -> Record {
        Record {
            kind,
            block: self.block,
            item: item.into(),
            exponent: None,
            unit: None,
            before: value,
            after: value,
            lost: 0.0,
            bits: None,
            text,
        }
    }

    fn carry(&self) -> Format {
        self.model.params().carry(self.model.output())
    }

    fn rounded(&self, item: &str, format: Format, before: f64, bits: u64, what: &str) -> Record {
        let after = to_f64(format, bits);
        let lost = if after.is_finite() {
            before - after
        } else {
            0.0
        };
        let change = if lost == 0.0 {
            "exact".into()
        } else {
            format!("{lost:?} lost")
        };
        Record {
            exponent: None,
            before,
            after,
            lost,
            bits: Some(bits),
            ..self.plain(
                RecordKind::Rounded,
                item,
                after,
                format!("{what} = {}: {change}", shown(format, bits)),
            )
        }
    }

    fn write(&mut self, step: &Step) {
        let output = self.model.output();
        let rounding = rounding_name(self.model.params().rounding);
        let record = match *step {
            Step::Block { first, count, c } => {
                self.block = self.blocks;
                self.blocks += 1;
                self.first = first;
                self.half = None;
                let value = operand(&c);
                let text = match count {
                    1 => format!(
                        "block {}: element {}, c = {value:?}",
                        self.block + 1,
                        first + 1
                    ),
                    _ => format!(
                        "block {}: elements {} to {}, c = {value:?}",
                        self.block + 1,
                        first + 1,
                        first + count
                    ),
                };
                self.plain(RecordKind::Block, "c", value, text)
            }
            Step::Half { first } => {
                self.half = Some(first);
                let text = format!("elements whose index mod 4 is {first} or {}", first + 1);
                self.plain(RecordKind::Half, "", 0.0, text)
            }
            Step::FlushedAddend => self.plain(
                RecordKind::Dropped,
                "c",
                0.0,
                "c is subnormal: taken as +0".into(),
            ),
            Step::DroppedAddend => self.plain(
                RecordKind::Dropped,
                "c",
                0.0,
                "c lies too far below the products: dropped".into(),
            ),
            Step::Product {
                index,
                value,
                exponent,
                ..
            } => self.product(index, value, exponent),
            Step::Special { result } => Record {
                bits: Some(result),
                ..self.plain(
                    RecordKind::Special,
                    "sum",
                    to_f64(self.carry(), result),
                    format!("a term is not finite: {}", shown(self.carry(), result)),
                )
            },
            Step::MaxExponent {
                item,
                exponent,
                limited,
            } => {
                let why = if limited { ", the unit's limit" } else { "" };
                let of = match item {
                    Item::OddSum => " of the odd products",
                    Item::EvenSum => " of the even products",
                    _ => "",
                };
                Record {
                    exponent: Some(exponent),
                    ..self.plain(
                        RecordKind::MaxExponent,
                        &self.name(item),
                        0.0,
                        format!("largest exponent{of}: {exponent}{why}"),
                    )
                }
            }
            Step::ZeroAddend { exponent } => Record {
                exponent: Some(exponent),
                ..self.plain(
                    RecordKind::MaxExponent,
                    "c",
                    0.0,
                    format!("c = 0 counts with exponent {exponent}"),
                )
            },
            Step::Aligned { item, from, to } => self.aligned(item, from, to),
            Step::Sum { item, value } => {
                let (name, sum) = (self.name(item), number(value));
                Record {
                    unit: Some(value.unit),
                    ..self.plain(RecordKind::Sum, &name, sum, format!("{name} = {sum:?}"))
                }
            }
            Step::ExactSum { value } => {
                let sum = exact(&value);
                let more = if value.sticky {
                    " and bits far below"
                } else {
                    ""
                };
                self.plain(
                    RecordKind::Sum,
                    "total",
                    sum,
                    format!("exact sum = {sum:?}{more}"),
                )
            }
            Step::RoundedProduct { index, result } => {
                let name = format!("p{}", self.global(index) + 1);
                let before = self.last_product(&name).unwrap_or(to_f64(output, result));
                let what = format!("{name} rounded to {output}");
                self.rounded(&name, output, before, result, &what)
            }
            Step::Added { x, y, result } => {
                let before = operand(&x) + operand(&y);
                let what = format!("{:?} + {:?}", operand(&x), operand(&y));
                self.rounded("sum", output, before, result, &what)
            }
            Step::Fused { index, result } => {
                let name = format!("p{}", self.global(index) + 1);
                let product = self.last_product(&name).unwrap_or(0.0);
                let sum = self.running();
                let what = format!("{sum:?} + {name}, {rounding}");
                self.rounded("sum", output, sum + product, result, &what)
            }
            Step::Rounded { value, result } => {
                let kept = self.model.params().result_bits(output);
                let what = format!("total rounded to {kept} fraction bits, {rounding}");
                self.rounded("d", self.carry(), exact(&value), result, &what)
            }
            Step::BlockResult { result } => {
                let carry = self.carry();
                Record {
                    bits: Some(result),
                    ..self.plain(
                        RecordKind::BlockResult,
                        "d",
                        to_f64(carry, result),
                        format!("block {} gives {}", self.block + 1, shown(carry, result)),
                    )
                }
            }
            Step::Result { result } => Record {
                bits: Some(result),
                ..self.plain(
                    RecordKind::Result,
                    "d",
                    to_f64(output, result),
                    format!("d = {}", shown(output, result)),
                )
            },
        };
        self.push(record);
    }

    fn product(&self, index: usize, value: Option<Fixed>, exponent: i32) -> Record {
        let place = self.global(index);
        let name = format!("p{}", place + 1);
        let Formats { a, b, .. } = formats_of(self.model);
        let factors = format!(
            "{} * {}",
            shown(a, self.case.a[place]),
            shown(b, self.case.b[place])
        );
        let Some(fixed) = value else {
            return self.plain(
                RecordKind::Product,
                &name,
                0.0,
                format!("{name} = {factors} = 0"),
            );
        };
        let value = number(fixed);
        Record {
            exponent: Some(exponent),
            unit: Some(fixed.unit),
            ..self.plain(
                RecordKind::Product,
                &name,
                value,
                format!("{name} = {factors} = {value:?}, exponent {exponent}"),
            )
        }
    }

    fn aligned(&self, item: Item, from: Fixed, to: Fixed) -> Record {
        let name = self.name(item);
        let (before, after, lost) = (number(from), number(to), difference(from, to));
        let change = if lost == 0.0 {
            "nothing lost".into()
        } else {
            format!("becomes {after:?}, {lost:?} lost")
        };
        Record {
            unit: Some(to.unit),
            before,
            after,
            lost,
            ..self.plain(
                RecordKind::Aligned,
                &name,
                after,
                format!("{name} aligned to 2^{}: {change}", to.unit),
            )
        }
    }

    /// The exact product of this name in the block at hand.
    fn last_product(&self, name: &str) -> Option<f64> {
        let mut back = self.records.iter().rev();
        back.find(|record| record.kind == RecordKind::Product && record.item == name)
            .map(|record| record.after)
    }

    /// The running sum of a chain.
    fn running(&self) -> f64 {
        let mut back = self.records.iter().rev();
        back.find(|record| matches!(record.kind, RecordKind::Rounded | RecordKind::Block))
            .map_or(0.0, |record| record.after)
    }
}

fn exact(value: &crate::format::Exact) -> f64 {
    let half = value.unit / 2;
    let magnitude = value.magnitude as f64 * 2f64.powi(half) * 2f64.powi(value.unit - half);
    if value.negative {
        -magnitude
    } else {
        magnitude
    }
}
