//! From a list of clauses to at most one of each.

use cotenant_grammar::Span;
use cotenant_grammar::tree::{At, Clause, ProcessExpr};

use super::{PolicyClass, Settings};
use crate::mistake::Mistake;
use crate::resolve::ResolvedClass;
use crate::selector::Selector;

/// Sets a setting once; the second time is reported and the first stands.
fn once<T>(
    slot: &mut Option<T>,
    value: T,
    place: impl Fn(&T) -> Span,
    what: &'static str,
    report: &mut impl FnMut(Mistake),
) {
    match slot {
        Some(first) => report(Mistake::RepeatedClause { what, first: place(first), again: place(&value) }),
        None => *slot = Some(value),
    }
}

/// `value` in `range`, or a report.
fn within<N: TryFrom<i64>>(
    at: At<i64>,
    range: std::ops::RangeInclusive<i64>,
    mistake: fn(At<i64>) -> Mistake,
    report: &mut impl FnMut(Mistake),
) -> Option<N> {
    let fits = range.contains(&at.value).then(|| N::try_from(at.value).ok()).flatten();
    if fits.is_none() {
        report(mistake(at));
    }
    fits
}

pub(super) fn gather(class: ResolvedClass, report: &mut impl FnMut(Mistake)) -> PolicyClass {
    let ResolvedClass { syntax, selectors, zones } = class;
    let (mut selectors, mut zones) = (selectors.into_iter(), zones.into_iter());
    let mut matched: Option<(Option<Selector>, Span, ProcessExpr)> = None;
    let mut settings = Settings::default();
    for At { value, span } in syntax.clauses {
        let set = &mut settings;
        let whole = |span: &Span| *span;
        match value {
            Clause::Match(written) => {
                let Some((selector, span)) = selectors.next() else { continue };
                once(&mut matched, (selector, span, written), |it| it.1, "what it matches", report);
            }
            Clause::On(_) => {
                let Some(next) = zones.next() else { continue };
                once(&mut set.on, next, |it| it.1, "where it runs", report);
            }
            Clause::PreferIdleCore => once(&mut set.prefer_idle_core, span, whole, "what it prefers", report),
            Clause::Spill { below } => {
                once(&mut set.spill, At { value: below, span }, |it| it.span, "how it spills", report)
            }
            Clause::NeverSpill => once(&mut set.never_spill, span, whole, "that it never spills", report),
            Clause::EqualPrio(mode) => match &set.equal_prio {
                Some(first) if first.value != mode => report(Mistake::Contradiction {
                    first: first.span,
                    second: span,
                    why: "a thread is either pushed or held",
                }),
                _ => {
                    once(&mut set.equal_prio, At { value: mode, span }, |it| it.span, "what becomes of equals", report)
                }
            },
            Clause::OnlyWhenCoreIdle => once(&mut set.core_idle, span, whole, "when it may run", report),
            Clause::AtLeastCores(number) => once(&mut set.at_least, (number, span), |it| it.1, "its floor", report),
            Clause::Fifo => once(&mut set.fifo, span, whole, "`fifo`", report),
            Clause::RoundRobin => once(&mut set.round_robin, span, whole, "`round robin`", report),
            Clause::Priority(at) => {
                let priority = within(at, 1..=99, |at| Mistake::PriorityOutOfRange { at }, report);
                // A value out of range still counts as said.
                once(&mut set.priority, (priority.unwrap_or(1), span), |it| it.1, "its priority", report);
            }
            Clause::Nice(at) => {
                let nice = within(at, -20..=19, |at| Mistake::NiceOutOfRange { at }, report);
                once(&mut set.nice, (nice.unwrap_or(0), span), |it| it.1, "its nice value", report);
            }
            Clause::WithDescendants => {
                once(&mut set.descendants, span, whole, "`with descendants`", report);
            }
        }
    }
    let (selector, matched, written) = match matched {
        Some((selector, span, written)) => (selector, Some(span), Some(written)),
        None => (Some(Selector::Name(syntax.name.value.clone())), None, None),
    };
    PolicyClass {
        name: syntax.name,
        kind: syntax.kind,
        header: syntax.header.span,
        selector,
        matched,
        written,
        damaged: syntax.damaged,
        settings,
    }
}
