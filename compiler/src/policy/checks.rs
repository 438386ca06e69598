//! What can be wrong with one class on any machine. One check, one function, listed in [`class`].

use cotenant_grammar::Span;
use cotenant_grammar::tree::{ClassKind, EqualPrio, Field, PlaceBy, Sharer};

use super::{Ceiling, PolicyClass, Prefer, kinds, limits};
use crate::mistake::{ClauseMistake, DeadlineMistake, Mistake};
use crate::selector::Selector;

pub(super) type Report<'a> = &'a mut dyn FnMut(Mistake);

/// Every check, in the order of its findings. `damaged` says that a clause could not be read: then nothing is concluded
/// from the absence of clauses.
pub(super) fn class(class: &PolicyClass, damaged: bool, report: Report<'_>) {
    kinds::clauses_fit_the_kind(class, report);
    one_preference(class, report);
    spilling_is_not_contradicted(class, report);
    a_core_of_its_own_has_no_siblings(class, report);
    one_real_time_policy(class, report);
    floor_and_ceiling_are_some(class, report);
    floor_is_below_the_ceiling(class, report);
    means_can_do_it(class, report);
    limits::quantities_are_in_range(class, report);
    limits::deadlines_are_possible(class, report);
    if !damaged {
        unmanaged_says_what(class, report);
        matching_by_name_is_noted(class, report);
        waiting_has_a_reason(class, report);
        deadline_class_has_a_runtime(class, report);
    }
}

/// Two clauses of one class, in the order in which they stand.
fn contradiction(one: Span, other: Span, why: &'static str) -> Mistake {
    Mistake::Contradiction { first: one.min(other), second: one.max(other), why }
}

fn one_preference(class: &PolicyClass, report: Report<'_>) {
    let settings = &class.settings;
    if let (Some(one), Some(other)) = (settings.prefer_idle_core, &settings.prefer) {
        report(contradiction(one, other.span, "a class prefers one thing"));
    }
    let last_cpu = settings.prefer.as_ref().filter(|it| matches!(it.value, Prefer::LastCpu));
    let pushed = settings.equal_prio.filter(|it| it.value == EqualPrio::Push);
    if let (Some(stays), Some(pushed)) = (last_cpu, pushed) {
        report(contradiction(stays.span, pushed.span, "a thread stays where it last ran or is pushed off an equal"));
    }
}

fn spilling_is_not_contradicted(class: &PolicyClass, report: Report<'_>) {
    let Some(spill) = class.settings.spill.map(|spill| spill.span) else { return };
    if let Some(never) = class.settings.never_spill {
        report(contradiction(never, spill, "a class spills to siblings or it never does"));
    }
    if let Some(prefer) = class.settings.prefer.as_ref().filter(|it| matches!(it.value, Prefer::IdleCpu)) {
        report(contradiction(prefer.span, spill, "any idle CPU means siblings from the first, not as overflow"));
    }
}

fn a_core_of_its_own_has_no_siblings(class: &PolicyClass, report: Report<'_>) {
    let Some((sharers, clause)) = &class.settings.share_core else { return };
    let Some(nobody) = sharers.iter().find(|sharer| sharer.value == Sharer::Nobody) else { return };
    if let Some(other) = sharers.iter().find(|sharer| sharer.value != Sharer::Nobody) {
        report(contradiction(nobody.span, other.span, "who shares with nobody shares with no one else"));
    }
    if let Some(spill) = class.settings.spill {
        report(contradiction(*clause, spill.span, "a thread that spills shares a core with its own class"));
    }
}

fn one_real_time_policy(class: &PolicyClass, report: Report<'_>) {
    if let (Some(fifo), Some(round_robin)) = (class.settings.fifo, class.settings.round_robin) {
        report(contradiction(fifo, round_robin, "a thread is scheduled by one policy"));
    }
}

fn floor_and_ceiling_are_some(class: &PolicyClass, report: Report<'_>) {
    let floor = class.settings.at_least.map(|(number, _)| number);
    let ceiling = class.settings.at_most.and_then(|(ceiling, _)| match ceiling {
        Ceiling::Cores(number) => Some(number),
        Ceiling::Share(_) => None,
    });
    for number in floor.into_iter().chain(ceiling).filter(|number| number.value == 0) {
        report(Mistake::ZeroCores { at: number.span });
    }
}

fn floor_is_below_the_ceiling(class: &PolicyClass, report: Report<'_>) {
    let (Some((floor, low)), Some((Ceiling::Cores(ceiling), high))) = (class.settings.at_least, class.settings.at_most)
    else {
        return;
    };
    if floor.value > ceiling.value && ceiling.value > 0 {
        report(contradiction(low, high, "the least is more than the most"));
    }
}

/// What the means asked for cannot do.
fn means_can_do_it(class: &PolicyClass, report: Report<'_>) {
    let settings = &class.settings;
    let Some((place, clause)) = settings.place_by else { return };
    let of_threads = |selector: &Selector| matches!(selector, Selector::Pattern(Field::Thread, _));
    let by_thread = class.selector.as_ref().is_some_and(|selector| selector.any(&of_threads));
    if let (true, PlaceBy::Cgroup | PlaceBy::Move, Some(matched)) = (by_thread, place, class.matched) {
        report(contradiction(
            matched,
            clause,
            "a control group holds whole processes, and `thread` takes parts of them",
        ));
    }
    let of_groups = [settings.weight.map(|it| it.1), settings.quota.map(|it| it.1), settings.clamp.map(|it| it.1)];
    for setting in of_groups.into_iter().flatten().filter(|_| place == PlaceBy::Affinity) {
        report(contradiction(setting, clause, "weight, quota and clamp are settings of a control group"));
    }
}

fn waiting_has_a_reason(class: &PolicyClass, report: Report<'_>) {
    let settings = &class.settings;
    if let (Some((_, clause)), None, None) = (settings.wait_at_most, settings.core_idle, settings.unit_idle) {
        report(ClauseMistake::WaitWithoutGate { clause }.into());
    }
}

fn deadline_class_has_a_runtime(class: &PolicyClass, report: Report<'_>) {
    if class.kind.value == ClassKind::Deadline && class.settings.runtime.is_none() {
        report(DeadlineMistake::WithoutRuntime { header: class.header }.into());
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
