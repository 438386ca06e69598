//! Two spellings that differ only in case. One of them is usually a slip, and matching never forgives it.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use cotenant_grammar::Span;
use cotenant_grammar::tree::{Clause, Field, Name, Parsed, ProcessExpr, Statement};

use super::mistake::Lint;

/// The first place and spelling of each thing, by what it would be in lower case.
struct Spellings<'a, K> {
    what: &'static str,
    seen: HashMap<(K, String), Vec<(&'a Name, usize)>>,
}

impl<'a, K: Hash + Eq> Spellings<'a, K> {
    fn new(what: &'static str) -> Self {
        Spellings { what, seen: HashMap::new() }
    }

    /// The twin of `name`, if it is one and was not reported in this spelling. `owner` says what the name belongs to.
    fn twin(&mut self, kind: K, name: &'a Name, owner: usize) -> Option<(&'a Name, usize)> {
        let known = self.seen.entry((kind, name.value.to_lowercase())).or_default();
        let first = known.first().copied();
        if known.iter().any(|(other, _)| other.value == name.value) {
            return None;
        }
        known.push((name, owner));
        first
    }

    fn report(&self, first: &Name, again: &Name, report: &mut dyn FnMut(Lint)) {
        let site = |name: &Name| -> (Span, String) { (name.span, name.value.clone()) };
        report(Lint::CaseTwins { what: self.what, first: site(first), again: site(again) });
    }
}

/// Names first: where two classes are twins by name, that their patterns are twins too is no news.
pub(super) fn case_twins(parsed: &Parsed, report: &mut dyn FnMut(Lint)) {
    let mut told: HashSet<(usize, usize)> = HashSet::new();
    let (mut classes, mut zones) = (Spellings::new("class"), Spellings::new("zone"));
    let mut sets = Spellings::new("process set");
    for (at, statement) in parsed.statements.iter().enumerate() {
        let (spellings, name) = match statement {
            Statement::Class(class) if class.named => (&mut classes, &class.name),
            Statement::Zone(zone) => (&mut zones, &zone.name),
            Statement::Processes(set) => (&mut sets, &set.name),
            _ => continue,
        };
        if let Some((first, owner)) = spellings.twin((), name, at) {
            spellings.report(first, name, report);
            told.insert((owner, at));
        }
    }
    patterns(parsed, &told, report);
}

/// Literal patterns of one field. Whoever writes both spellings into one statement knows that there are two.
fn patterns(parsed: &Parsed, told: &HashSet<(usize, usize)>, report: &mut dyn FnMut(Lint)) {
    let mut fields: HashMap<Field, Spellings<'_, ()>> = HashMap::new();
    for (at, statement) in parsed.statements.iter().enumerate() {
        let mut literals = Vec::new();
        match statement {
            Statement::Class(class) => class.clauses.iter().for_each(|clause| {
                if let Clause::Match(expr) = &clause.value {
                    gather(expr, &mut literals);
                }
            }),
            Statement::Processes(set) => gather(&set.body, &mut literals),
            _ => {}
        }
        for (field, name) in literals {
            let spellings = fields.entry(field).or_insert_with(|| Spellings::new(field.word()));
            let twin = spellings.twin((), name, at).filter(|(_, owner)| *owner != at && !told.contains(&(*owner, at)));
            if let Some((first, _)) = twin {
                spellings.report(first, name, report);
            }
        }
    }
}

/// Arguments are left out: `-v` and `-V` are two things.
fn gather<'a>(expr: &'a ProcessExpr, literals: &mut Vec<(Field, &'a Name)>) {
    match expr {
        ProcessExpr::Predicate(field, text) if field.value != Field::Arg && is_literal(&text.value) => {
            literals.push((field.value, text));
        }
        ProcessExpr::Not(_, inner) | ProcessExpr::Relative(_, inner) => gather(inner, literals),
        ProcessExpr::All(parts) | ProcessExpr::Any(parts) => parts.iter().for_each(|part| gather(part, literals)),
        _ => {}
    }
}

fn is_literal(text: &str) -> bool {
    !text.contains(['*', '?', '[', '{'])
}
