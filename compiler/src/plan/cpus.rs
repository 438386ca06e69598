//! What a set of CPUs comes to on a machine.

use cotenant_grammar::tree::{At, CoreKind, CpuOperator, Part, Unit, Units};

use super::{Placement, Preference};
use crate::mistake::{ClauseMistake, Mistake};
use crate::policy::{PolicyClass, Prefer};
use crate::resolve::Cpus;
use crate::topology::{self, Topology};
use crate::{CpuId, CpuSet};

/// The online CPUs that the expression means here. Units the machine lacks contribute nothing; [`missing`] reports them.
pub(super) fn evaluate(cpus: &Cpus, topology: &Topology) -> CpuSet {
    match cpus {
        Cpus::All => topology.online().clone(),
        Cpus::Units(units) => numbered(units.value, topology),
        Cpus::KindCores(CoreKind::Performance) => topology.of_kind(topology::CoreKind::Performance),
        Cpus::KindCores(CoreKind::Efficiency) => topology.of_kind(topology::CoreKind::Efficiency),
        Cpus::Part(parts, inner) => parts.iter().rev().fold(evaluate(inner, topology), |set, part| match part {
            Part::Fronts => topology.fronts(&set),
            Part::Siblings => topology.siblings(&set),
        }),
        Cpus::Chain(first, rest) => rest.iter().fold(evaluate(first, topology), |left, (operator, right)| {
            let right = evaluate(right, topology);
            match operator {
                CpuOperator::And => left.union(&right),
                CpuOperator::Within => left.intersection(&right),
                CpuOperator::Except => left.difference(&right),
            }
        }),
        Cpus::Zone(inner) => evaluate(inner, topology),
    }
}

fn numbered(units: Units, topology: &Topology) -> CpuSet {
    let union = |sets: &mut dyn Iterator<Item = &CpuSet>| {
        let chosen = sets.skip(units.first as usize).take((units.last - units.first) as usize + 1);
        chosen.fold(CpuSet::new(), |all, set| all.union(set))
    };
    match units.unit {
        Unit::Cpu => {
            let within = |cpu: &CpuId| (units.first..=units.last).contains(&cpu.0);
            topology.online().iter().filter(within).collect()
        }
        Unit::Core => union(&mut topology.cores().iter().map(|core| &core.cpus)),
        Unit::Llc => union(&mut topology.llcs().iter()),
        Unit::Node => union(&mut topology.nodes().iter()),
        Unit::Package => union(&mut topology.packages().iter()),
    }
}

/// Reports every numbered unit that the machine lacks or has switched off. Returns whether all are there.
pub(super) fn missing(cpus: &Cpus, topology: &Topology, report: &mut impl FnMut(Mistake)) -> bool {
    let mut units = Vec::new();
    cpus.units(&mut units);
    let mistakes: Vec<Mistake> = units.iter().filter_map(|units| absent(*units, topology)).collect();
    let complete = mistakes.is_empty();
    mistakes.into_iter().for_each(report);
    complete
}

fn absent(units: At<Units>, topology: &Topology) -> Option<Mistake> {
    let At { value: Units { unit, first, last }, span: at } = units;
    if unit == Unit::Cpu {
        // A range may span CPUs that the machine does not have between two that it has; each number counts.
        let known = topology.online().union(topology.offline());
        let highest = known.iter().last().map(|cpu| cpu.0);
        let missing = (first..=last).find(|cpu| !topology.online().contains(CpuId(*cpu)))?;
        return Some(match topology.offline().contains(CpuId(missing)) {
            true => Mistake::Offline { at, cpu: missing },
            false => Mistake::NotHere { at, what: "cpu", missing, last: highest },
        });
    }
    let count = match unit {
        Unit::Core => topology.cores().len(),
        Unit::Llc => topology.llcs().len(),
        Unit::Node => topology.nodes().len(),
        Unit::Cpu | Unit::Package => topology.packages().len(),
    } as u32;
    let missing = first.max(count);
    (last >= count).then_some(Mistake::NotHere { at, what: unit.word(), missing, last: count.checked_sub(1) })
}

/// Reports a preference for CPUs that the machine lacks, or that lie outside the zone.
pub(super) fn preference(
    class: &PolicyClass,
    placement: &Placement,
    topology: &Topology,
    report: &mut impl FnMut(Mistake),
) {
    let Some(At { value: Prefer::Cpus(Some(expr)), span: at }) = &class.settings.prefer else { return };
    let Some(Preference::Cpus(preferred)) = &placement.demands.preference else { return };
    if !missing(expr, topology, report) {
        return;
    }
    if preferred.is_empty() {
        report(Mistake::EmptyCpuSet { at: *at });
    } else if !preferred.intersects(&placement.zone) {
        let zone = class.settings.on.as_ref().map(|on| on.1);
        report(ClauseMistake::PreferredOutsideZone { at: *at, zone }.into());
    }
}
