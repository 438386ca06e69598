//! Clauses about the second threads of cores, on a machine whose cores have none.
//!
//! `only when core idle` is none of them: without siblings it does what it says, on smaller cores, and the plan says so.

use cotenant_grammar::Span;
use cotenant_grammar::tree::Part;

use super::mistake::Lint;
use crate::policy::PolicyClass;
use crate::resolve::Cpus;

/// The clauses of one class that say what becomes of siblings, and without siblings nothing.
#[derive(Debug, Clone)]
pub(super) struct SmtClauses {
    class: String,
    clauses: Vec<Span>,
}

impl SmtClauses {
    /// None for a class without any.
    pub(super) fn of(class: &PolicyClass) -> Option<SmtClauses> {
        let it = &class.settings;
        let zone = it.on.as_ref().filter(|(cpus, _)| cpus.as_ref().is_some_and(names_siblings)).map(|(_, span)| *span);
        let clauses = [zone, it.prefer_idle_core, it.spill.map(|it| it.span), it.never_spill];
        let mut clauses: Vec<Span> = clauses.into_iter().flatten().collect();
        clauses.sort();
        (!clauses.is_empty()).then(|| SmtClauses { class: class.name.value.clone(), clauses })
    }

    /// One finding a class, whatever the number of clauses.
    pub(super) fn no_smt(&self, report: &mut dyn FnMut(Lint)) {
        report(Lint::NoSmt { class: self.class.clone(), clauses: self.clauses.clone() });
    }
}

/// Whether the expression itself speaks of siblings. A zone's definition is not this class's clause.
fn names_siblings(cpus: &Cpus) -> bool {
    match cpus {
        Cpus::Part(parts, inner) => parts.contains(&Part::Siblings) || names_siblings(inner),
        Cpus::Chain(first, rest) => names_siblings(first) || rest.iter().any(|(_, part)| names_siblings(part)),
        _ => false,
    }
}
