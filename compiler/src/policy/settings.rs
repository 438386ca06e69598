//! From a list of clauses to at most one of each.

use cotenant_grammar::Span;
use cotenant_grammar::tree::{At, Clause, IdleUnit, ProcessExpr};

use super::{Ceiling, PolicyClass, Prefer, Settings};
use crate::mistake::{ClauseMistake, Mistake};
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
    mistake: impl Fn(At<i64>) -> Mistake,
    report: &mut impl FnMut(Mistake),
) -> Option<N> {
    let fits = range.contains(&at.value).then(|| N::try_from(at.value).ok()).flatten();
    if fits.is_none() {
        report(mistake(at));
    }
    fits
}

const PREFERS: &str = "what it prefers";

fn prefer(set: &mut Settings, value: Prefer, span: Span, report: &mut impl FnMut(Mistake)) {
    match &set.prefer {
        Some(first) if std::mem::discriminant(&first.value) != std::mem::discriminant(&value) => {
            let why = "a class prefers one thing";
            report(Mistake::Contradiction { first: first.span, second: span, why });
        }
        _ => once(&mut set.prefer, At { value, span }, |it| it.span, PREFERS, report),
    }
}

/// The core has a place of its own: what it comes to depends on whether cores have siblings.
fn only_when_idle(set: &mut Settings, unit: IdleUnit, span: Span, report: &mut impl FnMut(Mistake)) {
    let first = set.core_idle.map(|span| At { value: IdleUnit::Core, span }).or(set.unit_idle);
    let what = "when it may run";
    match first {
        Some(first) if first.value == unit => report(Mistake::RepeatedClause { what, first: first.span, again: span }),
        Some(first) => {
            report(Mistake::Contradiction { first: first.span, second: span, why: "a class waits for one thing" });
        }
        None if unit == IdleUnit::Core => set.core_idle = Some(span),
        None => set.unit_idle = Some(At { value: unit, span }),
    }
}

pub(super) fn gather(class: ResolvedClass, report: &mut impl FnMut(Mistake)) -> PolicyClass {
    let ResolvedClass { syntax, selectors, zones } = class;
    let (mut selectors, mut zones) = (selectors.into_iter(), zones.into_iter());
    let mut matched: Option<(Option<Selector>, Span, ProcessExpr)> = None;
    let mut settings = Box::new(Settings::default());
    for At { value, span } in syntax.clauses {
        let set = &mut *settings;
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
            Clause::PreferIdleCore => once(&mut set.prefer_idle_core, span, whole, PREFERS, report),
            Clause::PreferIdleCpu => prefer(set, Prefer::IdleCpu, span, report),
            Clause::PreferLastCpu => prefer(set, Prefer::LastCpu, span, report),
            Clause::PreferCpus(_) => {
                let Some((cpus, _)) = zones.next() else { continue };
                prefer(set, Prefer::Cpus(cpus), span, report);
            }
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
            Clause::ShareCore(sharers) => {
                once(&mut set.share_core, (sharers, span), |it| it.1, "with whom it shares a core", report);
            }
            Clause::OnlyWhenIdle(unit) => only_when_idle(set, unit.value, span, report),
            Clause::WaitAtMost(at) => once(&mut set.wait_at_most, (at, span), |it| it.1, "how long it waits", report),
            Clause::AtLeastCores(number) => once(&mut set.at_least, (number, span), |it| it.1, "its floor", report),
            Clause::AtMostCores(number) => {
                once(&mut set.at_most, (Ceiling::Cores(number), span), |it| it.1, "its ceiling", report);
            }
            Clause::AtMostShare(share) => {
                once(&mut set.at_most, (Ceiling::Share(share), span), |it| it.1, "its ceiling", report);
            }
            Clause::Fifo => once(&mut set.fifo, span, whole, "`fifo`", report),
            Clause::RoundRobin => once(&mut set.round_robin, span, whole, "`round robin`", report),
            Clause::Priority(at) => {
                let priority = within(at, 1..=99, |at| Mistake::PriorityOutOfRange { at }, report);
                // A value out of range still counts as said.
                once(&mut set.priority, (priority.unwrap_or(1), span), |it| it.1, "its priority", report);
            }
            Clause::Runtime { runtime, every } => {
                once(&mut set.runtime, ([runtime, every], span), |it| it.1, "its runtime", report);
            }
            Clause::Deadline(at) => once(&mut set.deadline, (at, span), |it| it.1, "its deadline", report),
            Clause::Slice(at) => once(&mut set.slice, (at, span), |it| it.1, "its slice", report),
            Clause::Weight(at) => {
                let mistake = |at| ClauseMistake::WeightOutOfRange { at }.into();
                let weight = within(at, 1..=10_000, mistake, report);
                once(&mut set.weight, (weight.unwrap_or(100), span), |it| it.1, "its weight", report);
            }
            Clause::Quota(at) => once(&mut set.quota, (at, span), |it| it.1, "its quota", report),
            Clause::Clamp { low, high } => once(&mut set.clamp, ([low, high], span), |it| it.1, "its clamp", report),
            Clause::MemoryBandwidth(at) => {
                once(&mut set.memory_bandwidth, (at, span), |it| it.1, "its memory bandwidth", report);
            }
            Clause::LlcShare(at) => once(&mut set.llc_share, (at, span), |it| it.1, "its share of the cache", report),
            Clause::OnChange(value) => match &set.on_change {
                Some(first) if first.value != value => report(Mistake::Contradiction {
                    first: first.span,
                    second: span,
                    why: "a class insists or it yields",
                }),
                _ => once(&mut set.on_change, At { value, span }, |it| it.span, "what it does on changes", report),
            },
            Clause::PlaceBy(place) => {
                once(&mut set.place_by, (place.value, span), |it| it.1, "by what it is placed", report);
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
