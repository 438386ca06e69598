//! Sets of processes.

use pest::iterators::Pair;

use super::{Reader, Rule};
use crate::mistake::{Mistake, Place};
use crate::tree::{At, Field, ProcessExpr};

/// Every predicate, for suggestions.
pub(super) const FIELD_WORDS: &[&str] = &["exe", "comm", "arg", "user", "group", "cgroup", "unit", "slice"];

impl<'a> Reader<'a> {
    /// A `process_set` pair.
    pub(super) fn process_expr(&mut self, pair: Pair<'a, Rule>) -> ProcessExpr {
        let groups = pair.into_inner().filter(|part| part.as_rule() == Rule::all_of);
        let mut groups: Vec<ProcessExpr> = groups.map(|group| self.all_of(group)).collect();
        if groups.len() == 1 { groups.remove(0) } else { ProcessExpr::Any(groups) }
    }

    fn all_of(&mut self, pair: Pair<'a, Rule>) -> ProcessExpr {
        let terms = pair.into_inner().filter(|part| part.as_rule() == Rule::process_term);
        let mut terms: Vec<ProcessExpr> = terms.map(|term| self.process_term(term)).collect();
        if terms.len() == 1 { terms.remove(0) } else { ProcessExpr::All(terms) }
    }

    fn process_term(&mut self, pair: Pair<'a, Rule>) -> ProcessExpr {
        let mut nots = Vec::new();
        let mut expr = ProcessExpr::damaged(self.span(&pair));
        for inner in pair.into_inner() {
            match inner.as_rule() {
                Rule::KW_NOT => nots.push(At { value: (), span: self.span(&inner) }),
                Rule::process_set => expr = self.process_expr(inner),
                Rule::predicate => expr = self.predicate(inner),
                Rule::misspelt_predicate => expr = self.misspelt_predicate(inner),
                Rule::set_name => expr = ProcessExpr::Set(self.name(&inner)),
                _ => {}
            }
        }
        // `not not X` is X: pairs of them cancel, so that no number of them makes a deep tree.
        match nots.first() {
            Some(not) if nots.len() % 2 == 1 => ProcessExpr::Not(*not, Box::new(expr)),
            _ => expr,
        }
    }

    fn predicate(&mut self, pair: Pair<'a, Rule>) -> ProcessExpr {
        let span = self.span(&pair);
        let mut parts = pair.into_inner();
        match (parts.next(), parts.next()) {
            (Some(field), Some(pattern)) => {
                let at = self.span(&field);
                ProcessExpr::Predicate(At { value: field_of(field.as_str()), span: at }, self.pattern(pattern))
            }
            _ => ProcessExpr::damaged(span),
        }
    }

    fn misspelt_predicate(&mut self, pair: Pair<'a, Rule>) -> ProcessExpr {
        let span = self.span(&pair);
        if let Some(word) = pair.into_inner().next() {
            let (at, word) = (self.span(&word), word.as_str().to_owned());
            self.report(Mistake::UnknownWord { place: Place::Predicate, at, word, known: FIELD_WORDS.to_vec() });
        }
        ProcessExpr::damaged(span)
    }
}

fn field_of(word: &str) -> Field {
    match word {
        "exe" => Field::Exe,
        "comm" => Field::Comm,
        "arg" => Field::Arg,
        "user" => Field::User,
        "group" => Field::Group,
        "cgroup" => Field::Cgroup,
        "unit" => Field::Unit,
        _ => Field::Slice,
    }
}
