//! What the probe found, as a value and as text.

use std::fmt::Write;

use super::BlackBox;
use super::facts::Fact;
use super::feature::Feature;
use super::identify::{Identified, Unidentified};
use super::session::Session;
use super::table::Column;
use super::vector::{Case, Formats};
use crate::format::Format;
use crate::model::{Params, Reach, Row, catalogue};

/// The features of a black box.
#[derive(Clone, Debug)]
pub struct Probed {
    /// Formats around it.
    pub formats: Formats,
    /// Parameters that give its answers.
    pub params: Params,
    /// On how many answers they do not: 0, unless the unit has a feature that [`Params`] does not know.
    pub mismatches: usize,
    /// The first of these: the case, the black box's answer, the parameters' answer.
    pub differences: Vec<(Case, u64, u64)>,
    /// Number of vectors asked.
    pub asked: usize,
    /// Features that no vector decides, with all values that remain.
    pub unidentified: Vec<Unidentified>,
    /// Parameters of other ways of adding that give every answer too.
    pub alternatives: Vec<Params>,
    /// Rows of the catalogue for these formats that give every answer.
    pub rows: Vec<&'static Row>,
    /// Plain observations.
    pub facts: Vec<Fact>,
}

pub fn report<B: BlackBox>(
    session: &Session<B>,
    identified: Identified,
    facts: Vec<Fact>,
) -> Probed {
    let formats = session.formats;
    let evidence = &session.evidence;
    let rows = catalogue().filter(|row| {
        row.output == formats.output
            && row.inputs.contains(&formats.inputs())
            && evidence.agrees(&row.params)
    });
    Probed {
        formats,
        params: identified.params,
        mismatches: identified.mismatches,
        differences: evidence.differences(&identified.params, 8),
        asked: evidence.len(),
        unidentified: identified.unidentified,
        alternatives: identified.alternatives,
        rows: rows.collect(),
        facts,
    }
}

impl Probed {
    /// Is the value of this feature certain? Features that the unit does not use are not.
    pub fn identified(&self, feature: Feature) -> bool {
        let Formats { output, .. } = self.formats;
        self.mismatches == 0
            && feature.applies(&self.params, self.formats.inputs(), output)
            && !self
                .unidentified
                .iter()
                .any(|entry| entry.feature == feature)
    }

    /// The unit as a column of the paper's Table 3.
    pub fn column(&self) -> Column {
        let Formats { a, b, output } = self.formats;
        let input = if a == b {
            a.to_string()
        } else {
            format!("{a} x {b}")
        };
        Column::of("unit", &input, &self.params, [a, b], output)
    }
}

fn vector(format: Format, x: &[u64]) -> String {
    let digits = format.info().storage_bits as usize / 4;
    let words: Vec<String> = x.iter().map(|bits| format!("{bits:0digits$x}")).collect();
    words.join(",")
}

impl Case {
    /// The case with a result, in the text form of test vectors.
    pub fn text(&self, formats: &Formats, d: u64) -> String {
        format!(
            "{} a={} b={} c={} d={}",
            self.a.len(),
            vector(formats.a, &self.a),
            vector(formats.b, &self.b),
            vector(formats.output, &[self.c]),
            vector(formats.output, &[d]),
        )
    }
}

impl std::fmt::Display for Probed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Formats { a, b, output } = self.formats;
        writeln!(f, "{a} x {b} -> {output}, {} vectors asked", self.asked)?;
        if self.mismatches > 0 {
            writeln!(
                f,
                "NO parameters give all answers; the nearest differ on {} vectors, such as",
                self.mismatches
            )?;
            for (case, d, ours) in &self.differences {
                writeln!(
                    f,
                    "  {} (parameters: {})",
                    case.text(&self.formats, *d),
                    vector(output, &[*ours])
                )?;
            }
        }
        writeln!(f, "\nFeatures")?;
        for feature in Feature::ALL {
            if !feature.applies(&self.params, self.formats.inputs(), output) {
                continue;
            }
            let value = feature.text(feature.get(&self.params));
            match self
                .unidentified
                .iter()
                .find(|entry| entry.feature == feature)
            {
                None => writeln!(f, "  {:<20} {value}", feature.name())?,
                Some(entry) => writeln!(
                    f,
                    "  {:<20} {value}   not identifiable: {} ({})",
                    feature.name(),
                    entry.values(),
                    entry.reason
                )?,
            }
        }
        for other in &self.alternatives {
            let mut text = String::new();
            for feature in Feature::ALL {
                if feature.applies(other, self.formats.inputs(), output) {
                    let value = feature.text(feature.get(other));
                    write!(text, " {}={value};", feature.name())?;
                }
            }
            writeln!(f, "  or:{text}")?;
        }
        writeln!(f, "\nAs in Table 3 of the paper")?;
        let column = self.column();
        for (label, cell) in Column::labels().iter().zip(&column.cells) {
            writeln!(f, "  {label:<20} {cell}")?;
        }
        writeln!(f, "\nObserved")?;
        for fact in &self.facts {
            writeln!(f, "  {:<36} {}", fact.question, fact.answer)?;
        }
        writeln!(f, "\nConsistent units of the catalogue")?;
        if self.rows.is_empty() {
            writeln!(f, "  none")?;
        }
        for row in &self.rows {
            let only = match row.reach {
                Reach::Formats => "",
                Reach::Instruction => " (by instruction)",
            };
            writeln!(f, "  {}{only} {}", row.arch, row.instruction)?;
        }
        Ok(())
    }
}
