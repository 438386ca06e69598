//! Numbers that no machine can keep, and kernel settings that are made twice.

use std::collections::HashMap;

use cotenant_grammar::Span;
use cotenant_grammar::tree::{At, ClassKind, Duration, Knob, Percent, Quota};

use super::checks::Report;
use super::{Ceiling, PolicyClass};
use crate::mistake::{ClauseMistake, DeadlineMistake, HostMistake, Mistake};

/// What the kernel takes as a custom slice, `kernel/sched/syscalls.c`.
const SLICES: [Duration; 2] = [Duration::micros(100), Duration::millis(100)];
/// Below this no loop of ours looks often enough.
const SHORTEST_WAIT: Duration = Duration::millis(1);
/// 1 ms, the kernel's least, of the 100 ms over which a quota is kept. See cgroups(7), `cpu.max`.
const LEAST_QUOTA: Quota = Quota(10);
/// The least runtime: 1 << DL_SCALE nanoseconds, `kernel/sched/deadline.c`.
const LEAST_RUNTIME: Duration = Duration(1 << 10);
/// The kernel's defaults for `kernel.sched_deadline_period_min_us` and `…_max_us`.
const PERIODS: [Duration; 2] = [Duration::micros(100), Duration::micros(1 << 22)];

pub(super) fn quantities_are_in_range(class: &PolicyClass, report: Report<'_>) {
    let it = &class.settings;
    if let Some((at, _)) = it.slice.filter(|(at, _)| !(SLICES[0]..=SLICES[1]).contains(&at.value)) {
        report(ClauseMistake::SliceOutOfRange { at }.into());
    }
    if let Some((at, _)) = it.wait_at_most.filter(|(at, _)| at.value < SHORTEST_WAIT) {
        report(ClauseMistake::WaitOutOfRange { at }.into());
    }
    if let Some((at, _)) = it.quota.filter(|(at, _)| at.value < LEAST_QUOTA) {
        report(ClauseMistake::QuotaOutOfRange { at }.into());
    }
    let share = match it.at_most {
        Some((Ceiling::Share(share), _)) => Some(share),
        _ => None,
    };
    // No share at all would stop the class; a clamp of 0 % only says that nothing is asked for.
    let some = share.into_iter().chain(it.memory_bandwidth.map(|it| it.0)).chain(it.llc_share.map(|it| it.0));
    let clamps = it.clamp.map(|it| it.0).into_iter().flatten();
    let bounded = some.map(|at| (at, Percent(1))).chain(clamps.map(|at| (at, Percent(0))));
    for (at, lowest) in bounded.filter(|(at, lowest)| !(*lowest..=Percent::WHOLE).contains(&at.value)) {
        report(percent_out_of_range(at, lowest));
    }
}

fn percent_out_of_range(at: At<Percent>, lowest: Percent) -> Mistake {
    ClauseMistake::PercentOutOfRange { at, lowest }.into()
}

/// `runtime` ≤ `deadline` ≤ period, and each one the kernel takes.
pub(super) fn deadlines_are_possible(class: &PolicyClass, report: Report<'_>) {
    let Some(([runtime, period], _)) = class.settings.runtime else { return };
    if class.kind.value != ClassKind::Deadline {
        return;
    }
    let deadline = class.settings.deadline.map(|it| it.0);
    let mut in_order = |shorter: (At<Duration>, &'static str), longer: (At<Duration>, &'static str)| {
        if shorter.0.value > longer.0.value {
            let names = [shorter.1, longer.1];
            report(DeadlineMistake::OutOfOrder { longer: shorter.0, shorter: longer.0, names }.into());
        }
    };
    match deadline {
        Some(deadline) => {
            in_order((runtime, "runtime"), (deadline, "deadline"));
            in_order((deadline, "deadline"), (period, "period"));
        }
        None => in_order((runtime, "runtime"), (period, "period")),
    }
    let [lowest, highest] = PERIODS;
    for (at, what, lowest) in [(runtime, "runtime", LEAST_RUNTIME), (period, "period", lowest)] {
        if !(lowest..=highest).contains(&at.value) {
            report(DeadlineMistake::OutOfRange { at, what, lowest, highest }.into());
        }
    }
}

/// What a knob is called, and whether another sets it to the same.
fn name(knob: &Knob) -> String {
    match knob {
        Knob::Feature { name, .. } => format!("feature `{}`", name.value),
        Knob::RtRuntime(_) => "real-time share".to_owned(),
        Knob::Autogroup(_) => "autogroup".to_owned(),
    }
}

/// Each knob once; the first stands.
pub(super) fn knobs(knobs: Vec<At<Knob>>, report: Report<'_>) -> Vec<At<Knob>> {
    let mut seen: HashMap<String, (Knob, Span)> = HashMap::new();
    let mut kept = Vec::new();
    for knob in knobs {
        let what = name(&knob.value);
        if let Knob::RtRuntime(share) = &knob.value
            && share.value > Percent::WHOLE
        {
            report(percent_out_of_range(*share, Percent(0)));
        }
        match seen.get(&what) {
            Some((first, span)) if *first == knob.value => {
                report(HostMistake::RepeatedKnob { what, first: *span, again: knob.span }.into());
            }
            Some((_, span)) => report(HostMistake::KnobBothWays { what, first: *span, again: knob.span }.into()),
            None => {
                seen.insert(what, (knob.value.clone(), knob.span));
                kept.push(knob);
            }
        }
    }
    kept
}
