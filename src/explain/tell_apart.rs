//! As few inputs as possible that tell many units apart.

use super::separate::{Separation, candidates, separate};
use crate::error::Error;
use crate::model::{Model, Reach, capabilities};
use crate::probe::{Case, Family, Formats, Random, same_result};
use crate::reference::dot_raw;

/// A unit with its name.
#[derive(Clone, Debug)]
pub struct Unit {
    /// How it is called.
    pub name: String,
    /// The unit.
    pub model: Model,
}

/// Inputs that tell units of the same formats apart.
#[derive(Clone, Debug)]
pub struct SeparatingSet {
    /// The formats.
    pub formats: Formats,
    /// Names of the units, in groups whose members no input was found to tell apart.
    pub groups: Vec<Vec<String>>,
    /// The inputs, each with one result per group. Any two groups differ on one of them.
    pub cases: Vec<(Case, Vec<u64>)>,
    /// Is it certain that no smaller number of the inputs that were looked at suffices?
    pub smallest: bool,
}

/// For units of the same formats: groups that cannot be told apart, and a small set of inputs that tells the groups apart.
pub fn separate_all(units: &[Unit], seed: u64) -> Result<Option<SeparatingSet>, Error> {
    let Some(first) = units.first() else {
        return Ok(None);
    };
    let formats = super::formats_of(&first.model);
    let mut groups: Vec<(Model, Vec<String>)> = Vec::new();
    let mut pool: Vec<Case> = Vec::new();
    'units: for unit in units {
        for (model, names) in &mut groups {
            let known = pool
                .iter()
                .any(|case| differ(&formats, case, model, &unit.model));
            if known {
                continue;
            }
            match separate(model, &unit.model, seed)? {
                Some(Separation { case, .. }) => pool.push(case),
                None => {
                    names.push(unit.name.clone());
                    continue 'units;
                }
            }
        }
        groups.push((unit.model, vec![unit.name.clone()]));
    }
    let models: Vec<Model> = groups.iter().map(|group| group.0).collect();
    // More to choose from: vectors that divide the units into many parts.
    if let [x, .., y] = &models[..] {
        let mut rng = Random::new(seed);
        for family in Family::ALL {
            pool.extend(candidates(x, y, &formats, family, 150, &mut rng));
        }
    }
    let (cases, smallest) = cover(&formats, &models, &pool);
    let cases = cases.into_iter().map(|case| {
        let results = models.iter().map(|model| result(model, &case)).collect();
        (case, results)
    });
    Ok(Some(SeparatingSet {
        formats,
        cases: cases.collect(),
        groups: groups.into_iter().map(|group| group.1).collect(),
        smallest,
    }))
}

/// [`separate_all`] for every combination of formats in the catalogue.
pub fn separate_catalogue(seed: u64) -> Result<Vec<SeparatingSet>, Error> {
    let mut kinds: Vec<Formats> = Vec::new();
    let mut units: Vec<(Formats, Unit)> = Vec::new();
    for capability in capabilities() {
        let row = capability.row;
        let model = Model::from_params(row.params, capability.a, capability.b, row.output)?;
        let formats = super::formats_of(&model);
        let how = match row.reach {
            Reach::Formats => String::new(),
            Reach::Instruction => format!(" {}", row.instruction),
        };
        if !kinds.contains(&formats) {
            kinds.push(formats);
        }
        let name = format!("{}{how}", row.arch);
        units.push((formats, Unit { name, model }));
    }
    let mut sets = Vec::new();
    for formats in kinds {
        let of_kind = units.iter().filter(|unit| unit.0 == formats);
        let of_kind: Vec<Unit> = of_kind.map(|unit| unit.1.clone()).collect();
        sets.extend(separate_all(&of_kind, seed)?);
    }
    Ok(sets)
}

fn result(model: &Model, case: &Case) -> u64 {
    dot_raw(model.unit(), &case.a, &case.b, case.c)
}

fn differ(formats: &Formats, case: &Case, x: &Model, y: &Model) -> bool {
    !same_result(formats.output, result(x, case), result(y, case))
}

/// A bit for every pair of units.
type Pairs = Vec<u64>;

/// The smallest choice of cases that separates every pair, found by trying all of one, of two, ... distinct ones; by
/// taking the best next one where that takes too long.
fn cover(formats: &Formats, models: &[Model], pool: &[Case]) -> (Vec<Case>, bool) {
    let mut pairs = Vec::new();
    for i in 0..models.len() {
        pairs.extend((0..i).map(|j| (i, j)));
    }
    if pairs.is_empty() {
        return (Vec::new(), true);
    }
    let words = pairs.len().div_ceil(64);
    let mut options: Vec<(Pairs, &Case)> = Vec::new();
    for case in pool {
        let results: Vec<u64> = models.iter().map(|model| result(model, case)).collect();
        let mut set = vec![0; words];
        for (place, &(i, j)) in pairs.iter().enumerate() {
            if !same_result(formats.output, results[i], results[j]) {
                set[place / 64] |= 1 << (place % 64);
            }
        }
        // The shortest case of those that separate the same pairs.
        match options.iter_mut().find(|option| option.0 == set) {
            Some(option) if case.a.len() < option.1.a.len() => option.1 = case,
            Some(_) => {}
            None if set.iter().any(|&word| word != 0) => options.push((set, case)),
            None => {}
        }
    }
    // What another one contains is never needed.
    let contained = |x: &Pairs, y: &Pairs| x != y && x.iter().zip(y).all(|(x, y)| x & !y == 0);
    let useful: Vec<(Pairs, &Case)> = options
        .iter()
        .filter(|option| !options.iter().any(|other| contained(&option.0, &other.0)))
        .cloned()
        .collect();
    let all: Pairs = (0..words)
        .map(|word| {
            let used = (pairs.len() - 64 * word).min(64);
            u64::MAX >> (64 - used)
        })
        .collect();
    for size in 1..=3 {
        let tries = (0..size).fold(1usize, |n, i| {
            n.saturating_mul(useful.len().saturating_sub(i))
        });
        if tries > 3_000_000 {
            break;
        }
        let mut chosen = Vec::new();
        if exactly(&useful, 0, size, &vec![0; words], &all, &mut chosen) {
            return (
                chosen.into_iter().map(|i| useful[i].1.clone()).collect(),
                true,
            );
        }
    }
    (greedily(&useful, &all), false)
}

fn union(x: &Pairs, y: &Pairs) -> Pairs {
    x.iter().zip(y).map(|(x, y)| x | y).collect()
}

fn exactly(
    options: &[(Pairs, &Case)],
    from: usize,
    size: usize,
    covered: &Pairs,
    all: &Pairs,
    chosen: &mut Vec<usize>,
) -> bool {
    if covered == all {
        return true;
    }
    if size == 0 {
        return false;
    }
    for i in from..options.len() {
        chosen.push(i);
        if exactly(
            options,
            i + 1,
            size - 1,
            &union(covered, &options[i].0),
            all,
            chosen,
        ) {
            return true;
        }
        chosen.pop();
    }
    false
}

fn greedily(options: &[(Pairs, &Case)], all: &Pairs) -> Vec<Case> {
    let mut covered = vec![0; all.len()];
    let mut chosen = Vec::new();
    while covered != *all {
        let gain = |option: &&(Pairs, &Case)| -> u32 {
            let new = option
                .0
                .iter()
                .zip(&covered)
                .map(|(x, y)| (x & !y).count_ones());
            new.sum()
        };
        let Some(best) = options.iter().max_by_key(gain) else {
            break;
        };
        if gain(&best) == 0 {
            break;
        }
        covered = union(&covered, &best.0);
        chosen.push(best.1.clone());
    }
    chosen
}

impl std::fmt::Display for SeparatingSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Formats { a, b, output } = self.formats;
        writeln!(f, "{a} x {b} -> {output}")?;
        for (i, group) in self.groups.iter().enumerate() {
            writeln!(f, "  unit {}: {}", i + 1, group.join(" = "))?;
        }
        for (case, results) in &self.cases {
            let text = case.text(&self.formats, results[0]);
            let (inputs, _) = text.rsplit_once(" d=").unwrap_or((&text, ""));
            let digits = output.info().storage_bits as usize / 4;
            let results: Vec<String> = results.iter().map(|d| format!("{d:0digits$x}")).collect();
            writeln!(f, "  {inputs} d={}", results.join("|"))?;
        }
        Ok(())
    }
}
