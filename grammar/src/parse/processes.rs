//! Sets of processes.

use pest::iterators::Pair;

use super::{Reader, Rule};
use crate::mistake::{Mistake, Place};
use crate::nearest;
use crate::tree::{At, Field, InitialPolicy, ProcessExpr, Relation};

/// Every word that begins a predicate.
pub const PREDICATE_WORDS: &[&str] = &[
    "exe",
    "comm",
    "thread",
    "script",
    "arg",
    "user",
    "group",
    "cgroup",
    "unit",
    "slice",
    "container",
    "parent",
    "ancestor",
    "policy",
    "not",
];

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
                Rule::misspelt_not => self.misspelt_not(&inner),
                Rule::process_set => expr = self.process_expr(inner),
                Rule::relative => expr = self.relative(inner),
                Rule::first_policy => expr = self.first_policy(inner),
                Rule::misspelt_relative => {
                    self.misspelt(&inner, Place::Predicate, &["parent", "ancestor", "not"]);
                    expr = ProcessExpr::damaged(self.span(&inner));
                }
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

    fn relative(&mut self, pair: Pair<'a, Rule>) -> ProcessExpr {
        let span = self.span(&pair);
        let mut parts = pair.into_inner();
        match (parts.next(), parts.find(|part| part.as_rule() == Rule::process_set)) {
            (Some(word), Some(inner)) => {
                let value = if word.as_str() == "parent" { Relation::Parent } else { Relation::Ancestor };
                ProcessExpr::Relative(At { value, span: self.span(&word) }, Box::new(self.process_expr(inner)))
            }
            _ => ProcessExpr::damaged(span),
        }
    }

    fn first_policy(&mut self, pair: Pair<'a, Rule>) -> ProcessExpr {
        let span = self.span(&pair);
        let mut parts = pair.into_inner();
        match (parts.next(), parts.next()) {
            (Some(word), Some(policy)) => {
                let value = policy_of(policy.as_str());
                let policy = At { value, span: self.span(&policy) };
                ProcessExpr::Policy(At { value: (), span: self.span(&word) }, policy)
            }
            _ => ProcessExpr::damaged(span),
        }
    }

    /// `nto exe nginx`, or a set's name and a predicate with no `and` between them.
    fn misspelt_not(&mut self, pair: &Pair<'a, Rule>) {
        if nearest(pair.as_str().trim(), ["not"]).is_some() {
            return self.misspelt(pair, Place::Inside, &["not"]);
        }
        let at = self.word_at(pair.as_span().end());
        let found = self.text.get(at.start as usize..at.end as usize).unwrap_or_default().to_owned();
        self.report(Mistake::Unexpected { at, found, expected: vec!["`and`", "`or`"] });
    }

    fn misspelt_predicate(&mut self, pair: Pair<'a, Rule>) -> ProcessExpr {
        self.misspelt(&pair, Place::Predicate, PREDICATE_WORDS);
        ProcessExpr::damaged(self.span(&pair))
    }
}

fn field_of(word: &str) -> Field {
    match word {
        "exe" => Field::Exe,
        "comm" => Field::Comm,
        "thread" => Field::Thread,
        "script" => Field::Script,
        "arg" => Field::Arg,
        "user" => Field::User,
        "group" => Field::Group,
        "cgroup" => Field::Cgroup,
        "unit" => Field::Unit,
        "container" => Field::Container,
        _ => Field::Slice,
    }
}

fn policy_of(word: &str) -> InitialPolicy {
    match word {
        "batch" => InitialPolicy::Batch,
        "idle" => InitialPolicy::Idle,
        "fifo" => InitialPolicy::Fifo,
        "rr" => InitialPolicy::RoundRobin,
        "deadline" => InitialPolicy::Deadline,
        _ => InitialPolicy::Other,
    }
}
