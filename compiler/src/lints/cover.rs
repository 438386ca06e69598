//! Which of many selectors is covered by the ones before it, without holding each against each.
//!
//! For a case to follow from another, whatever the other claims must follow from something the first claims of the same
//! field. So each case that was accepted is filed under one of its claims, the rarest of them, and each new case looks only
//! where its own claims lead: a word under itself, under the beginnings and under the ends that globs ask for. What
//! is filed nowhere in particular, such as `*x*`, goes to a short list that everybody looks at.
//!
//! Each look is bounded, and so is the work as a whole: it grows with the number of claims and not with its square. What a
//! bound cuts off is not reported.

use std::collections::{BTreeSet, HashMap};

use super::logic::{Atom, Case, Claim, Kind, Logic, Words};
use crate::selector::{Account, innermost_unit, slices, without_suffix};

/// Cases looked at in one place. Those that say the same are not filed twice, so only unlike cases crowd.
const MOST_IN_ONE_PLACE: usize = 16;

/// Where a case is filed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key<'a> {
    Word(Kind, &'a str),
    Start(Kind, &'a str),
    End(Kind, &'a str),
    User(&'a Account),
    Group(&'a Account),
    Other(String),
    Anywhere,
}

/// For each item, those before it that together cover all its cases; none where that is not proved. An item without cases
/// covers nothing and is covered by nothing.
pub(super) fn covered_by_earlier(logic: &Logic, items: &[&[Case<'_>]]) -> Vec<Option<Vec<usize>>> {
    let mut files = Files::new(items);
    let mut result = Vec::with_capacity(items.len());
    for (at, cases) in items.iter().copied().enumerate() {
        let covers: Option<Vec<usize>> = cases.iter().map(|case| files.find(logic, items, case)).collect();
        let covers = covers.filter(|covers| !covers.is_empty());
        if covers.is_none() {
            files.add(at, cases);
        }
        result.push(covers.map(|mut covers| {
            covers.sort_unstable();
            covers.dedup();
            covers
        }));
    }
    result
}

struct Files<'a> {
    /// Item and case, in the order in which they came.
    filed: HashMap<Key<'a>, Vec<(usize, usize)>>,
    /// How often each key could be chosen.
    frequency: HashMap<Key<'a>, u32>,
    /// How long the beginnings and ends are that globs were filed under.
    starts: HashMap<Kind, BTreeSet<usize>>,
    ends: HashMap<Kind, BTreeSet<usize>>,
}

impl<'a> Files<'a> {
    fn new(items: &[&[Case<'a>]]) -> Files<'a> {
        let mut frequency = HashMap::new();
        for claim in items.iter().flat_map(|cases| cases.iter()).flatten().filter(|claim| claim.holds) {
            *frequency.entry(key(claim)).or_default() += 1;
        }
        Files { filed: HashMap::new(), frequency, starts: HashMap::new(), ends: HashMap::new() }
    }

    fn add(&mut self, item: usize, cases: &[Case<'a>]) {
        for (at, case) in cases.iter().enumerate() {
            let keys = case.iter().filter(|claim| claim.holds).map(key).filter(|key| *key != Key::Anywhere);
            let rarest = keys.min_by_key(|key| self.frequency.get(key).copied());
            let key = rarest.unwrap_or(Key::Anywhere);
            match key {
                Key::Start(kind, text) => drop(self.starts.entry(kind).or_default().insert(text.len())),
                Key::End(kind, text) => drop(self.ends.entry(kind).or_default().insert(text.len())),
                _ => {}
            }
            self.filed.entry(key).or_default().push((item, at));
        }
    }

    /// The item with a case that follows from this one.
    fn find(&self, logic: &Logic, items: &[&[Case<'a>]], case: &Case<'a>) -> Option<usize> {
        let mut places = vec![Key::Anywhere];
        case.iter().filter(|claim| claim.holds).for_each(|claim| self.places(claim, &mut places));
        let filed = places.iter().filter_map(|key| self.filed.get(key));
        let candidates = filed.flat_map(|filed| filed.iter().take(MOST_IN_ONE_PLACE));
        let implied = |(item, at): &&(usize, usize)| {
            let covering = items.get(*item).and_then(|cases| cases.get(*at));
            covering.is_some_and(|covering| logic.case_implies(case, covering))
        };
        candidates.into_iter().find(implied).map(|(item, _)| *item)
    }

    /// Where something that follows from the claim would be filed.
    fn places(&self, claim: &Claim<'a>, places: &mut Vec<Key<'a>>) {
        let Atom::Text(kind, words) = claim.atom else { return places.push(key(claim)) };
        self.places_of(kind, words.one(), words.text(), places);
        let text = words.text();
        let behind_slash = text.rsplit('/').next().unwrap_or(text);
        match (kind, words.one()) {
            (Kind::ExePath, one) => self.places_of(Kind::ExeLast, one.map(|_| behind_slash), behind_slash, places),
            (Kind::Cgroup, Some(path)) => {
                let text = |bytes: &'a [u8]| std::str::from_utf8(bytes).ok();
                for part in path.split('/') {
                    let stem = text(without_suffix(part.as_bytes())).unwrap_or(part);
                    places.extend([Key::Word(Kind::Component, part), Key::Word(Kind::Component, stem)]);
                }
                let unit = innermost_unit(path.as_bytes()).and_then(text).map(|unit| (Kind::Unit, unit));
                let slices = slices(path.as_bytes()).filter_map(text).map(|slice| (Kind::Slice, slice));
                for (kind, name) in unit.into_iter().chain(slices) {
                    self.places_of(kind, Some(name), name, places);
                }
            }
            _ => {}
        }
    }

    fn places_of(&self, kind: Kind, word: Option<&'a str>, text: &'a str, places: &mut Vec<Key<'a>>) {
        let (start, end) = match word {
            Some(word) => (word, word),
            None => (start(text), end(text)),
        };
        places.extend(word.map(|word| Key::Word(kind, word)));
        let lengths = |of: &HashMap<Kind, BTreeSet<usize>>| of.get(&kind).cloned().unwrap_or_default();
        let starts = lengths(&self.starts).into_iter().filter_map(|length| start.get(..length));
        places.extend(starts.map(|start| Key::Start(kind, start)));
        let ends = lengths(&self.ends).into_iter().filter_map(|length| end.get(end.len().checked_sub(length)?..));
        places.extend(ends.map(|end| Key::End(kind, end)));
    }
}

fn key<'a>(claim: &Claim<'a>) -> Key<'a> {
    match &claim.atom {
        Atom::Text(kind, Words::One(word)) => Key::Word(*kind, word),
        Atom::Text(kind, Words::Glob(pattern)) => match (start(pattern.text()), end(pattern.text())) {
            ("", "") => Key::Anywhere,
            ("", end) => Key::End(*kind, end),
            (start, _) => Key::Start(*kind, start),
        },
        Atom::User(account) => Key::User(account),
        Atom::Group(account) => Key::Group(account),
        Atom::Opaque(selector) => Key::Other(selector.to_string()),
    }
}

/// What makes a text a glob; see [`Pattern`](crate::selector::Pattern).
const SPECIAL: [char; 5] = ['*', '?', '[', '{', '}'];

/// What every text begins with that the glob covers.
fn start(glob: &str) -> &str {
    glob.split(SPECIAL).next().unwrap_or("")
}

/// What every text ends with that the glob covers. `**/x` covers `x`, so a `/` behind `**` is no part of it.
fn end(glob: &str) -> &str {
    let end = glob.rsplit(SPECIAL).next().unwrap_or("");
    let end = end.rsplit(']').next().unwrap_or(end);
    if glob.contains("**/") { end.strip_prefix('/').unwrap_or(end) } else { end }
}
