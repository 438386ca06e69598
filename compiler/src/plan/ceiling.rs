//! The most that a class gets.

use cotenant_grammar::Span;
use cotenant_grammar::tree::Percent;

use super::Placement;
use crate::CpuSet;
use crate::mistake::{ClauseMistake, Mistake};
use crate::policy::{Ceiling, PolicyClass};
use crate::topology::Topology;

/// How many cores the ceiling allows; none without one. One that takes nothing away is reported.
pub(super) fn most_cores(
    class: &PolicyClass,
    zone: &CpuSet,
    topology: &Topology,
    report: &mut impl FnMut(Mistake),
) -> Option<usize> {
    let (ceiling, at) = class.settings.at_most?;
    let has = topology.cores_in(zone).len();
    let most = match ceiling {
        Ceiling::Cores(number) => number.value as usize,
        // Rounded down, but a class has a core.
        Ceiling::Share(share) => {
            (has * share.value.0.min(Percent::WHOLE.0) as usize / Percent::WHOLE.0 as usize).max(1)
        }
    };
    if most >= has && !matches!(ceiling, Ceiling::Share(share) if share.value > Percent::WHOLE) {
        let has = format!("{has} core{}", if has == 1 { "" } else { "s" });
        report(without_effect(class, at, "this ceiling", has));
    }
    Some(most.max(1))
}

/// `most` cores of `open`: those with a CPU in the first of `before`, then in the next, then the others in logical order.
pub(super) fn within(most: usize, open: &CpuSet, before: &[&CpuSet], topology: &Topology) -> CpuSet {
    let of = |core: usize| topology.cores().get(core).map_or_else(CpuSet::new, |core| core.cpus.intersection(open));
    let mut cores = topology.cores_in(open);
    // Stable, so that equals stay in logical order.
    cores.sort_by_key(|core| before.iter().position(|first| of(*core).intersects(first)).unwrap_or(before.len()));
    cores.into_iter().take(most).fold(CpuSet::new(), |all, core| all.union(&of(core)))
}

/// Reports a quota that the class cannot reach.
pub(super) fn limits_limit(class: &PolicyClass, placement: &Placement, report: &mut impl FnMut(Mistake)) {
    let cpus = placement.zone.len();
    if let Some((_, at)) = class.settings.quota.filter(|(quota, _)| quota.value.0 >= cpus as u64 * 1000) {
        report(without_effect(class, at, "this quota", format!("{cpus} CPU{}", if cpus == 1 { "" } else { "s" })));
    }
}

fn without_effect(class: &PolicyClass, at: Span, what: &'static str, has: String) -> Mistake {
    let zone = class.settings.on.as_ref().map(|on| on.1);
    ClauseMistake::LimitWithoutEffect { at, what, zone, has }.into()
}
