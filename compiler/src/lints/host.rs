//! What only the host itself can say: which accounts it knows, and how its kernel is set.

use cotenant_grammar::tree::{Clause, Field, Knob, Parsed, ProcessExpr, Statement};
use cotenant_grammar::{Diagnostics, SourceSet};

use super::mistake::Lint;
use crate::selector::Account;

/// Facts about the host that a policy is checked on. What is not known is not reported.
pub struct HostFacts<'a> {
    /// Whether the kernel groups threads by session (`kernel.sched_autogroup_enabled`).
    pub autogroup: bool,
    /// Whether there is such a user.
    pub user: &'a dyn Fn(&Account) -> Option<bool>,
    /// Whether there is such a group.
    pub group: &'a dyn Fn(&Account) -> Option<bool>,
}

/// Everything that this host makes of the text and another might not. The text is read once more, so that this can be asked
/// beside any compilation, or of several hosts.
#[must_use]
pub fn on_host(sources: SourceSet, facts: &HostFacts<'_>) -> Diagnostics {
    let (parsed, _) = cotenant_grammar::parse(sources);
    let mut diagnostics = Diagnostics::default();
    let mut report = |lint: Lint| diagnostics.push(lint.into());
    nice_under_autogroup(&parsed, facts, &mut report);
    super::for_each_expression(&parsed, &mut |expr| unknown_account(expr, facts, &mut report));
    diagnostics
}

fn nice_under_autogroup(parsed: &Parsed, facts: &HostFacts<'_>, report: &mut dyn FnMut(Lint)) {
    let knobs = parsed.statements.iter().filter_map(|statement| match statement {
        Statement::Kernel(knobs) => Some(knobs),
        _ => None,
    });
    let switched_off = knobs.flatten().any(|knob| knob.value == Knob::Autogroup(false));
    let classes =
        parsed.statements.iter().filter(|_| facts.autogroup && !switched_off).filter_map(|statement| match statement {
            Statement::Class(class) => Some(class),
            _ => None,
        });
    let nice = classes.flat_map(|class| &class.clauses).filter(|clause| matches!(clause.value, Clause::Nice(_)));
    nice.for_each(|clause| report(Lint::NiceUnderAutogroup { at: clause.span }));
}

fn unknown_account(expr: &ProcessExpr, facts: &HostFacts<'_>, report: &mut dyn FnMut(Lint)) {
    let ProcessExpr::Predicate(field, text) = expr else { return };
    let (what, known) = match field.value {
        Field::User => ("user", facts.user),
        Field::Group => ("group", facts.group),
        _ => return,
    };
    let account = Account::new(&text.value);
    if matches!(account, Account::Name(_)) && known(&account) == Some(false) {
        report(Lint::UnknownAccount { what, name: text.value.clone(), at: text.span });
    }
}
