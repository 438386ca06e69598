//! Selectors with every process set put in place of its name.

use std::sync::Arc;

use cotenant_grammar::Span;
use cotenant_grammar::tree::{At, Field, Name, ProcessExpr};

use super::names::Names;
use crate::mistake::Mistake;
use crate::selector::{Account, Pattern, Scope, Selector};

/// Bytes of a name that the kernel keeps (`TASK_COMM_LEN` less the final zero; see proc_pid_comm(5)).
const COMM_BYTES: usize = 15;

type Sets = Names<ProcessExpr, Selector>;

pub(super) fn selector(expr: &ProcessExpr, sets: &mut Sets, report: &mut dyn FnMut(Mistake)) -> Option<Selector> {
    match expr {
        ProcessExpr::Predicate(field, text) => predicate(*field, text, report),
        ProcessExpr::Policy(_, policy) => Some(Selector::Policy(policy.value)),
        ProcessExpr::Relative(relation, inner) => {
            Some(Selector::Relative(relation.value, Box::new(selector(inner, sets, report)?)))
        }
        ProcessExpr::Set(name) => set(name, sets, report),
        ProcessExpr::Not(_, inner) => Some(Selector::Not(Box::new(selector(inner, sets, report)?))),
        ProcessExpr::All(parts) => Some(Selector::All(selectors(parts, sets, report)?)),
        ProcessExpr::Any(parts) => Some(Selector::Any(selectors(parts, sets, report)?)),
        ProcessExpr::Damaged(_) => None,
    }
}

/// Every part is looked at, so that two unknown names give two findings.
fn selectors(parts: &[ProcessExpr], sets: &mut Sets, report: &mut dyn FnMut(Mistake)) -> Option<Vec<Selector>> {
    let parts: Vec<_> = parts.iter().map(|part| selector(part, sets, report)).collect();
    parts.into_iter().collect()
}

fn set(name: &Name, sets: &mut Sets, report: &mut dyn FnMut(Mistake)) -> Option<Selector> {
    // The table keeps each set wrapped, so that looking it up again copies a pointer and not a tree.
    fn shared(expr: &ProcessExpr, sets: &mut Sets, report: &mut dyn FnMut(Mistake)) -> Option<Selector> {
        Some(Selector::Set(String::new(), Arc::new(selector(expr, sets, report)?)))
    }
    match sets.look_up("process set", name, shared, report)? {
        Selector::Set(_, inner) => Some(Selector::Set(name.value.clone(), inner)),
        other => Some(other),
    }
}

fn predicate(field: At<Field>, text: &At<String>, report: &mut dyn FnMut(Mistake)) -> Option<Selector> {
    let At { value: word, span } = text;
    if word.is_empty() {
        report(Mistake::EmptyPattern { at: *span });
        return None;
    }
    if matches!(field.value, Field::User | Field::Group) {
        let account = Account::new(word);
        return Some(if field.value == Field::User { Selector::User(account) } else { Selector::Group(account) });
    }
    let path = field.value == Field::Cgroup || field.value == Field::Exe && word.contains('/');
    let pattern = match Pattern::new(word, if path { Scope::Path } else { Scope::Text }) {
        Ok(pattern) => pattern,
        Err(bad) => {
            report(Mistake::BadGlob { at: *span, reason: bad.to_string() });
            return None;
        }
    };
    can_match(field.value, word, *span, report).then_some(Selector::Pattern(field.value, pattern))
}

/// Reports values that no process can have.
fn can_match(field: Field, text: &str, at: Span, report: &mut dyn FnMut(Mistake)) -> bool {
    if text.ends_with([' ', '\t']) || text.starts_with([' ', '\t']) {
        report(Mistake::BlankAtEnd { at, text: text.to_owned() });
        return false;
    }
    // Only `*` stands for nothing; brackets and braces are left alone, where the shortest match takes counting.
    let shortest = text.bytes().filter(|byte| *byte != b'*').count();
    if matches!(field, Field::Comm | Field::Thread) && shortest > COMM_BYTES && !text.contains(['[', '{']) {
        report(Mistake::CommTooLong { at, text: text.to_owned(), limit: COMM_BYTES });
        return false;
    }
    true
}
