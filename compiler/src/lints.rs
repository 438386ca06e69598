//! What a policy says that it probably did not mean, or that cannot work.
//!
//! A lint is one small function named for its code, and each stands in one of the lists below: what needs only the text, what
//! needs selectors, what needs a machine, what needs the host. They see whatever could be read and keep silent about what could
//! not, and about what they cannot decide.
//!
//! What keeps each clause is a note to be asked for by itself, [`kept_by`]: one for every class would bury what is worth
//! reading.

mod above_kernel_threads;
mod and_for_or;
mod case_twins;
mod class;
mod comparisons;
mod cover;
mod host;
mod joining;
mod kept_by;
mod launcher_without_descendants;
mod logic;
mod machine;
mod mistake;
mod never_matches;
mod no_smt;
mod redundant_match;
mod shadowed;

pub use host::{HostFacts, on_host};
pub use kept_by::kept_by;
pub(crate) use machine::ForMachine;

use cotenant_grammar::Diagnostics;
use cotenant_grammar::tree::{Clause, Parsed, ProcessExpr, Statement};

use crate::plan::Plan;
use crate::policy::Policy;
use crate::topology::Topology;
use class::Class;
use logic::Logic;
use mistake::Lint;

/// Claims of all classes together, a large process set being counted wherever it is named: some fifty megabytes.
const MOST_CLAIMS: usize = 1 << 20;

/// Lints of the text, before any name is looked up.
pub(crate) fn on_text(parsed: &Parsed, diagnostics: &mut Diagnostics) {
    let mut report = |lint: Lint| diagnostics.push(lint.into());
    case_twins::case_twins(parsed, &mut report);
    for_each_expression(parsed, &mut |expr| {
        comparisons::comparison(expr, &mut report);
        and_for_or::and_for_or(expr, &mut report);
    });
}

/// Lints of what classes match and ask for, on any machine; and what is to be asked of each.
pub(crate) fn on_policy(policy: &Policy, diagnostics: &mut Diagnostics) -> ForMachine {
    let mut report = |lint: Lint| diagnostics.push(lint.into());
    selectors(policy, &Logic::default(), &mut report);
    ForMachine::new(policy)
}

fn selectors(policy: &Policy, logic: &Logic, report: &mut dyn FnMut(Lint)) {
    let mut room = MOST_CLAIMS;
    let classes = policy.classes.iter().filter_map(|class| Class::new(class, logic, &mut room));
    let classes: Vec<Class<'_>> = classes.collect();
    for class in &classes {
        never_matches::never_matches(class.part, logic, report);
        if class.cases.as_ref().is_some_and(|cases| !cases.is_empty()) {
            redundant_match::redundant_match(class.part, logic, report);
        }
        joining::joining(class, report);
        launcher_without_descendants::launcher_without_descendants(class, report);
        above_kernel_threads::above_kernel_threads(class, report);
    }
    shadowed::shadowed(&classes, logic, report);
}

/// Lints of what the policy comes to on a machine; of a policy that has no plan there, less.
pub(crate) fn on_machine(asked: &ForMachine, plan: Option<&Plan>, topology: &Topology, diagnostics: &mut Diagnostics) {
    asked.find(plan, topology, &mut |lint: Lint| diagnostics.push(lint.into()));
}

/// Every set of processes in the text and every part of one, once each.
fn for_each_expression(parsed: &Parsed, visit: &mut dyn FnMut(&ProcessExpr)) {
    for statement in &parsed.statements {
        match statement {
            Statement::Class(class) => class.clauses.iter().for_each(|clause| {
                if let Clause::Match(expr) = &clause.value {
                    descend(expr, visit);
                }
            }),
            Statement::Processes(set) => descend(&set.body, visit),
            _ => {}
        }
    }
}

fn descend(expr: &ProcessExpr, visit: &mut dyn FnMut(&ProcessExpr)) {
    visit(expr);
    match expr {
        ProcessExpr::Not(_, inner) | ProcessExpr::Relative(_, inner) => descend(inner, visit),
        ProcessExpr::All(parts) | ProcessExpr::Any(parts) => parts.iter().for_each(|part| descend(part, visit)),
        _ => {}
    }
}

#[cfg(test)]
mod tests;
