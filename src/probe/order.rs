//! In which order does a unit add? A tree, from which small terms survive next to two large ones that cancel.
//!
//! With M at one place, -M at another and a small u at a third, the result is u when the two large terms meet before u
//! joins them, and 0 when u meets one of them alone, or in the same sum of limited width. Asked for all triples of
//! places, this gives the tree of additions, whatever the unit.

use std::ops::RangeInclusive;

use super::BlackBox;
use super::vector::{Case, Draft, Formats, Number, Split};
use crate::error::{Error, ErrorCode};
use crate::format::{Class, decode};

/// A tree of additions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Tree {
    /// c.
    Addend,
    /// A product, counted from 0.
    Product(usize),
    /// Terms that are added in one step: two, or more in a multi-term adder.
    Sum {
        /// Is nothing lost between the terms before the sum is rounded?
        exact: bool,
        /// What is added.
        terms: Vec<Tree>,
    },
}

impl Tree {
    /// Numbers of products that [`summation_order`] takes.
    pub const PRODUCTS: RangeInclusive<usize> = 2..=64;
}

impl std::fmt::Display for Tree {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Tree::Addend => f.write_str("c"),
            Tree::Product(i) => write!(f, "p{}", i + 1),
            Tree::Sum { exact, terms } => {
                // Binary sums in parentheses; sums of many terms in brackets, braces where they are exact.
                let (open, close) = match (terms.len(), exact) {
                    (2, _) => ("(", ")"),
                    (_, true) => ("{", "}"),
                    (_, false) => ("[", "]"),
                };
                f.write_str(open)?;
                for (i, term) in terms.iter().enumerate() {
                    if i > 0 {
                        f.write_str(" + ")?;
                    }
                    write!(f, "{term}")?;
                }
                f.write_str(close)
            }
        }
    }
}

/// The order in which a unit adds `n` products (2 to 64) and c. Sums that lose nothing over the widest distance that the
/// formats allow are called exact.
pub fn summation_order(formats: Formats, n: usize, mut unit: impl BlackBox) -> Result<Tree, Error> {
    let allowed = Tree::PRODUCTS;
    if !allowed.contains(&n) {
        return Err(Error::new(
            ErrorCode::InvalidArgument,
            format!(
                "n is {n}; allowed: {} to {}",
                allowed.start(),
                allowed.end()
            ),
        ));
    }
    let lost = Lost::ask(&formats, n, &mut unit)?;
    Ok(lost.tree(n))
}

/// A set of places: bit i for product i, bit n for c.
type Set = u128;

struct Lost {
    /// `sets[i][j]`: i, j, and the places whose u is lost when M is at i and -M at j.
    sets: Vec<Vec<Set>>,
}

fn bit(i: usize) -> Set {
    1 << i
}

impl Lost {
    // Places are indices on both sides.
    #[allow(clippy::needless_range_loop)]
    fn ask(formats: &Formats, n: usize, unit: &mut impl BlackBox) -> Result<Lost, Error> {
        let (low, high) = formats.product_exponents();
        let d = formats.output.info();
        let large = Number::power((high - 1).min(d.max_exponent() - 1).min(60));
        // u must show in the result, and lie as far below M as the formats allow.
        let small = Number::power(low.max(d.min_exponent()).max(-60));
        let put = |draft: &mut Draft, place: usize, number: Number| {
            if place == n {
                draft.addend(number)
            } else {
                draft.product(place, number, Split::Plain)
            }
        };
        let mut sets = vec![vec![0; n + 1]; n + 1];
        for i in 0..=n {
            let mut cases: Vec<Case> = Vec::new();
            let mut places = Vec::new();
            for j in (0..=n).filter(|&j| j != i) {
                sets[i][j] = bit(i) | bit(j);
                for k in (0..=n).filter(|&k| k != i && k != j) {
                    let mut draft = Draft::new(*formats);
                    let put = put(&mut draft, i, large)
                        .and_then(|()| put(&mut draft, j, large.signed(true)))
                        .and_then(|()| put(&mut draft, k, small));
                    if put.is_some() {
                        cases.push(draft.case(n));
                        places.push((j, k));
                    }
                }
            }
            let answers = unit.answer(&cases)?;
            if answers.len() != cases.len() {
                return Err(Error::new(
                    ErrorCode::InvalidArgument,
                    format!(
                        "the black box gave {} results for {} cases",
                        answers.len(),
                        cases.len()
                    ),
                ));
            }
            for ((j, k), answer) in places.into_iter().zip(answers) {
                if decode(formats.output, answer).class == Class::Zero {
                    sets[i][j] |= bit(k);
                }
            }
        }
        // M and -M may not change places without a difference (rounding down); count what is lost either way.
        for i in 0..=n {
            for j in 0..i {
                let both = sets[i][j] | sets[j][i];
                (sets[i][j], sets[j][i]) = (both, both);
            }
        }
        Ok(Lost { sets })
    }

    /// Places that are added to `i` without loss, `i` included, if they are all so among each other.
    fn clique(&self, i: usize) -> Set {
        let n = self.sets.len();
        let free = |x: usize, y: usize| x == y || self.sets[x][y] == bit(x) | bit(y);
        let members: Vec<usize> = (0..n).filter(|&j| free(i, j)).collect();
        let all = members.iter().all(|&x| members.iter().all(|&y| free(x, y)));
        if all {
            members.iter().map(|&j| bit(j)).sum()
        } else {
            bit(i)
        }
    }

    /// Is the clique a part of a larger exact sum: does a member survive where another is the large term?
    fn is_open(&self, clique: Set) -> bool {
        let n = self.sets.len();
        let inside = |x: usize| clique & bit(x) != 0;
        (0..n).any(|x| !inside(x) && (0..n).any(|i| inside(i) && clique & !self.sets[x][i] != 0))
    }

    fn tree(&self, n: usize) -> Tree {
        let cliques: Vec<Set> = (0..=n).map(|i| self.clique(i)).collect();
        let span = |i: usize, j: usize| self.sets[i][j] | cliques[i] | cliques[j];
        self.subtree((0..=n).map(bit).sum(), n, &cliques, &span)
    }

    fn subtree(
        &self,
        set: Set,
        n: usize,
        cliques: &[Set],
        span: &impl Fn(usize, usize) -> Set,
    ) -> Tree {
        let places: Vec<usize> = (0..=n).rev().filter(|&i| set & bit(i) != 0).collect();
        if let [place] = places[..] {
            return if place == n {
                Tree::Addend
            } else {
                Tree::Product(place)
            };
        }
        // Two places belong to the same part when they meet before the whole set does.
        let mut parts: Vec<Set> = Vec::new();
        for &i in &places {
            if parts.iter().any(|part| part & bit(i) != 0) {
                continue;
            }
            let with = places
                .iter()
                .filter(|&&j| j == i || span(i, j) & set != set && span(i, j) & !set == 0);
            parts.push(with.map(|&j| bit(j)).sum());
        }
        let mut exact = cliques[places[0]] == set;
        let mut terms = Vec::new();
        for part in parts {
            let first = part.trailing_zeros() as usize;
            // A part that is the whole cannot be divided further.
            let whole = part == set;
            if whole || part == cliques[first] && part.count_ones() > 1 && self.is_open(part) {
                exact |= !whole || cliques[first] == set;
                terms.extend(places.iter().filter(|&&j| part & bit(j) != 0).map(|&j| {
                    if j == n {
                        Tree::Addend
                    } else {
                        Tree::Product(j)
                    }
                }));
            } else {
                terms.push(self.subtree(part, n, cliques, span));
            }
        }
        // c and what was added before come first, then products in order.
        terms.sort_by_key(first_place);
        Tree::Sum { exact, terms }
    }
}

fn first_place(tree: &Tree) -> usize {
    match tree {
        Tree::Addend => 0,
        Tree::Product(i) => i + 1,
        Tree::Sum { terms, .. } => terms.iter().map(first_place).min().unwrap_or(0),
    }
}
