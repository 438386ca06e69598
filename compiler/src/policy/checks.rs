//! What can be wrong with one class on any machine. One check, one function, listed in [`class`].

use cotenant_grammar::Span;
use cotenant_grammar::tree::ClassKind;

use super::PolicyClass;
use crate::mistake::Mistake;

type Report<'a> = &'a mut dyn FnMut(Mistake);

/// Every check, in the order of its findings. `damaged` says that a clause could not be read: then nothing is concluded
/// from the absence of clauses.
pub(super) fn class(class: &PolicyClass, damaged: bool, report: Report<'_>) {
    clauses_fit_the_kind(class, report);
    spilling_is_not_contradicted(class, report);
    one_real_time_policy(class, report);
    floor_is_a_floor(class, report);
    if !damaged {
        unmanaged_says_what(class, report);
        matching_by_name_is_noted(class, report);
    }
}

fn clauses_fit_the_kind(class: &PolicyClass, report: Report<'_>) {
    let it = &class.settings;
    let real_time: [(Option<Span>, &str); 4] = [
        (it.priority.map(|it| it.1), "`priority`"),
        (it.fifo, "`fifo`"),
        (it.round_robin, "`round robin`"),
        (it.equal_prio.map(|it| it.span), "`equal prio`"),
    ];
    let placement: [(Option<Span>, &str); 7] = [
        (it.on.as_ref().map(|it| it.1), "`on`"),
        (it.prefer_idle_core, "`prefer idle core`"),
        (it.spill.map(|it| it.span), "`spill to siblings`"),
        (it.never_spill, "`never spill`"),
        (it.core_idle, "`only when core idle`"),
        (it.at_least.map(|it| it.1), "`at least … cores`"),
        (it.nice.map(|it| it.1), "`nice`"),
    ];
    let mut refuse = |clauses: &[(Option<Span>, &'static str)], fits: &'static str| {
        for (clause, what) in clauses {
            if let Some(clause) = *clause {
                report(Mistake::WrongKind { clause, what, kind: class.kind, fits });
            }
        }
    };
    match class.kind.value {
        ClassKind::Rt => refuse(&[(it.nice.map(|it| it.1), "`nice`")], "kind `fair`"),
        ClassKind::Fair => refuse(&real_time, "kind `rt`"),
        ClassKind::Batch => {
            refuse(&real_time, "kind `rt`");
            refuse(&[(it.nice.map(|it| it.1), "`nice`")], "kind `fair`");
        }
        ClassKind::Unmanaged => {
            refuse(&real_time, "no unmanaged class");
            refuse(&placement, "no unmanaged class");
        }
    }
}

fn spilling_is_not_contradicted(class: &PolicyClass, report: Report<'_>) {
    if let (Some(first), Some(second)) = (class.settings.never_spill, class.settings.spill) {
        let (first, second) = (first.min(second.span), first.max(second.span));
        report(Mistake::Contradiction { first, second, why: "a class spills to siblings or it never does" });
    }
}

fn one_real_time_policy(class: &PolicyClass, report: Report<'_>) {
    if let (Some(fifo), Some(round_robin)) = (class.settings.fifo, class.settings.round_robin) {
        let (first, second) = (fifo.min(round_robin), fifo.max(round_robin));
        report(Mistake::Contradiction { first, second, why: "a thread is scheduled by one policy" });
    }
}

fn floor_is_a_floor(class: &PolicyClass, report: Report<'_>) {
    if let Some((number, _)) = class.settings.at_least.filter(|(number, _)| number.value == 0) {
        report(Mistake::ZeroCores { at: number.span });
    }
}

fn unmanaged_says_what(class: &PolicyClass, report: Report<'_>) {
    if class.kind.value == ClassKind::Unmanaged && class.matched.is_none() && class.name.span == class.kind.span {
        report(Mistake::UnmanagedWithoutMatch { header: class.header });
    }
}

fn matching_by_name_is_noted(class: &PolicyClass, report: Report<'_>) {
    if class.matched.is_none() && (class.kind.value != ClassKind::Unmanaged || class.name.span != class.kind.span) {
        report(Mistake::MatchedByName { class: class.name.clone() });
    }
}
