//! Whether the kernel can admit the deadline classes of a policy.
//!
//! The kernel admits a deadline thread if the shares of all on the same CPUs, runtime ÷ period each, add up to no more
//! than those CPUs times the share that real-time threads may take: 95 % unless `kernel.sched_rt_runtime_us` says
//! otherwise. See sched(7). How many threads a class will have is not known here; one is the least that must be admitted.

use cotenant_grammar::Span;
use cotenant_grammar::tree::{At, ClassKind, Knob, Percent};

use crate::CpuSet;
use crate::mistake::{DeadlineMistake, Mistake};
use crate::policy::PolicyClass;
use crate::topology::Topology;

/// The kernel's default: 950 ms of each second.
const DEFAULT_SHARE: Percent = Percent(9_500);

/// One deadline class where it runs.
struct Candidate<'a> {
    class: &'a PolicyClass,
    zone: &'a CpuSet,
    /// Of one CPU, in hundredths of a per cent, rounded up.
    share: u64,
    at: Span,
}

/// Reports zones that the kernel refuses, and sums that are more than there is.
pub(super) fn check<'a>(
    classes: impl Iterator<Item = (&'a PolicyClass, Option<&'a CpuSet>)>,
    knobs: &[At<Knob>],
    topology: &Topology,
    report: &mut impl FnMut(Mistake),
) {
    let deadline = classes.filter(|(class, _)| class.kind.value == ClassKind::Deadline);
    let candidates: Vec<Candidate<'_>> = deadline.filter_map(|(class, zone)| candidate(class, zone?)).collect();
    let online = topology.online().len();
    for candidate in &candidates {
        if let Some((_, at)) = candidate.class.settings.on.as_ref().filter(|_| candidate.zone.len() < online) {
            report(DeadlineMistake::Zone { at: *at, cpus: candidate.zone.len(), online }.into());
        }
    }
    let knob = knobs.iter().find_map(|knob| match knob.value {
        Knob::RtRuntime(share) => Some((share.value, knob.span)),
        _ => None,
    });
    let per_cpu = knob.map_or(DEFAULT_SHARE, |(share, _)| share);
    // Where the classes inside one zone fit, and those inside every other, the kernel finds room for all of them.
    for (position, candidate) in candidates.iter().enumerate() {
        let inside = || candidates.iter().enumerate().filter(|(_, other)| other.zone.is_subset(candidate.zone));
        let asked: u64 = inside().map(|(_, other)| other.share).sum();
        let limit = Percent(per_cpu.0 * candidate.zone.len() as u64);
        // Classes of one zone share a verdict: the last of them, whose thread comes too many, is told.
        let is_last = inside().all(|(at, other)| at <= position || other.zone != candidate.zone);
        if asked > limit.0 && is_last {
            let others = inside().filter(|(at, _)| *at != position);
            let others = others.map(|(_, other)| (other.class.name.value.clone(), other.at)).collect();
            let (at, asked, cpus) = (candidate.at, Percent(asked), candidate.zone.len());
            report(DeadlineMistake::Overload { at, asked, cpus, limit, others, knob: knob.map(|it| it.1) }.into());
        }
    }
}

fn candidate<'a>(class: &'a PolicyClass, zone: &'a CpuSet) -> Option<Candidate<'a>> {
    let ([runtime, period], at) = class.settings.runtime?;
    let share = runtime.value.0.checked_mul(Percent::WHOLE.0)?.div_ceil(period.value.0.max(1));
    Some(Candidate { class, zone, share, at })
}
