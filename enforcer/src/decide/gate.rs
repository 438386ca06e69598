//! Where gated classes may run: what is quiet, what must be left free for others, and whose turn it is.

use std::time::Duration;

use cotenant_compiler::plan::Gate;
use cotenant_compiler::{CpuId, CpuSet};

use super::occupancy::{Busy, Occupancy};
use super::rules::{Rule, Rules};
use super::{Load, OPEN_AFTER, Share, TURN};

/// A class that waited long enough, running although its gate is closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Turn {
    /// Where.
    pub(super) part: CpuSet,
    lasted: Duration,
    ticks: u32,
}

/// Ticks of quiet for each CPU, one tick on.
pub(super) fn quiet(rules: &Rules, load: &Load, occupancy: &Occupancy, before: &[u8]) -> Vec<u8> {
    if !rules.gates {
        return Vec::new();
    }
    let busy = occupancy.for_gated();
    let noisy = busy.cpus.union(&room(rules, load, occupancy, &busy, before));
    let mut quiet: Vec<u8> = before.iter().map(|ticks| ticks.saturating_add(1).min(OPEN_AFTER)).collect();
    noisy.iter().for_each(|cpu| quiet.get_mut(cpu.0 as usize).into_iter().for_each(|ticks| *ticks = 0));
    quiet
}

/// CPUs on which it is not quiet yet.
fn noisy(rules: &Rules, quiet: &[u8]) -> CpuSet {
    let is_noisy = |cpu: &CpuId| quiet.get(cpu.0 as usize).is_none_or(|ticks| *ticks < OPEN_AFTER);
    rules.online.iter().filter(is_noisy).collect()
}

/// What ungated classes lack: whole cores for those that want nobody beside their threads, CPUs for others. Cores that are
/// closed already come first, so that a choice once made stays.
fn room(rules: &Rules, load: &Load, occupancy: &Occupancy, busy: &Busy, before: &[u8]) -> CpuSet {
    let (mut used, mut closed, mut room) = (busy.cpus.clone(), busy.cores.clone(), CpuSet::new());
    let mut closed_before = None;
    let movable = |cores: bool| {
        let classes = rules.classes.iter().zip(&load.classes).enumerate();
        classes.filter_map(move |(at, (rule, class))| {
            let rule = rule.as_ref().filter(|rule| rule.is_movable && rule.wants_cores() == cores)?;
            Some((at, rule, class))
        })
    };
    // Who takes single CPUs takes what is left.
    for (at, rule, class) in movable(true).chain(movable(false)) {
        let Some((ran_on, around)) = occupancy.own(at) else { continue };
        // What it ran on outside its reach, as before it was placed, it has no longer.
        let has = match rule.wants_cores() {
            true => around.intersection(&rule.fronts).len(),
            false => ran_on.intersection(&rule.reach).len(),
        };
        let mut lacks = class.demand.saturating_sub(has);
        if !rule.wants_cores() && lacks > 0 {
            let beside = rule.reach.intersection(&closed).difference(&used).difference(&rules.floors);
            // Closed with their cores, but not for who waits for single CPUs.
            let taken: CpuSet = beside.iter().take(lacks).collect();
            lacks -= taken.len();
            (used, room) = (used.union(&taken), room.union(&taken));
        }
        if lacks == 0 {
            continue;
        }
        let closed_before = closed_before.get_or_insert_with(|| noisy(rules, before));
        // A floor that stays open leaves no room on its core.
        let there = rule.reach.difference(&closed).difference(&rules.beside_floors);
        let tiers = rule.tiers.iter().map(|tier| tier.intersection(&there));
        let in_order = tiers.flat_map(|tier| [tier.intersection(closed_before), tier.difference(closed_before)]);
        for cpu in in_order.flat_map(|set| set.iter().collect::<Vec<_>>()) {
            if lacks == 0 {
                break;
            }
            let Some(core) = rules.core(cpu).filter(|_| !closed.contains(cpu)) else { continue };
            let wanted = |cpu: &CpuId| rule.wants_cores() || rule.reach.contains(*cpu);
            let most = if rule.wants_cores() { usize::MAX } else { lacks };
            let mut taken = 0;
            for cpu in core.iter().filter(wanted).take(most) {
                used.insert(cpu);
                room.insert(cpu);
                taken += 1;
            }
            core.iter().for_each(|cpu| closed.insert(cpu));
            lacks -= if rule.wants_cores() { 1 } else { taken };
        }
    }
    room
}

/// What is closed for each kind of gate.
pub(super) struct Gates {
    cpus: CpuSet,
    cores: CpuSet,
    llcs: CpuSet,
    nodes: CpuSet,
}

impl Gates {
    /// None where no class is gated.
    pub(super) fn of(rules: &Rules, quiet: &[u8]) -> Option<Gates> {
        if !rules.gates {
            return None;
        }
        let cpus = noisy(rules, quiet);
        let all = |units: &[CpuSet]| {
            units.iter().filter(|unit| unit.intersects(&cpus)).fold(CpuSet::new(), |all, unit| all.union(unit))
        };
        Some(Gates { cores: rules.whole_cores(&cpus), llcs: all(&rules.llcs), nodes: all(&rules.nodes), cpus })
    }

    /// What is open for a class, its ceiling aside.
    pub(super) fn open(&self, rule: &Rule) -> CpuSet {
        let closed = match rule.gate {
            None => return rule.reach.clone(),
            Some(Gate::CpuIdle) => &self.cpus,
            Some(Gate::CoreIdle) => &self.cores,
            Some(Gate::LlcIdle) => &self.llcs,
            Some(Gate::NodeIdle) => &self.nodes,
        };
        rule.reach.difference(closed).union(&rule.floor)
    }
}

/// As much of `open` as the class's ceiling allows: its floor, what it prefers, what it had before, and then the rest.
pub(super) fn within_ceiling(rules: &Rules, rule: &Rule, open: CpuSet, before: &CpuSet) -> CpuSet {
    let Some(most) = rule.most_cores.filter(|most| rules.count_cores(&open) > *most) else { return open };
    let preferred = rule.tiers.first().map_or_else(CpuSet::new, |tier| tier.intersection(&open));
    let had = open.intersection(before);
    let in_order = [rule.floor.intersection(&open), preferred.intersection(&had), preferred, had, open.clone()];
    let mut within = CpuSet::new();
    let mut left = most;
    for cpu in in_order.iter().flat_map(CpuSet::iter) {
        if left > 0
            && !within.contains(cpu)
            && let Some(core) = rules.core(cpu)
        {
            within = within.union(&core.intersection(&open));
            left -= 1;
        }
    }
    within
}

/// How long a class with nothing open has waited, and its turn if it has waited long enough or is in the middle of one.
pub(super) fn wait(
    rules: &Rules,
    rule: &Rule,
    busy: &Busy,
    elapsed: Duration,
    before: &Share,
) -> (Duration, Option<Turn>) {
    let Some(longest) = rule.longest_wait else { return (Duration::ZERO, None) };
    if let Some(turn) = &before.turn {
        let (lasted, ticks) = (turn.lasted.saturating_add(elapsed), turn.ticks.saturating_add(1));
        let goes_on = lasted < longest / 10 || ticks < TURN;
        return (Duration::ZERO, goes_on.then(|| Turn { part: turn.part.clone(), lasted, ticks }));
    }
    // It was let run until this tick.
    let waited = if before.frozen { before.waited.saturating_add(elapsed) } else { Duration::ZERO };
    match waited >= longest && before.frozen {
        true => {
            (waited, Some(Turn { part: least_occupied(rules, rule, &busy.cpus), lasted: Duration::ZERO, ticks: 0 }))
        }
        false => (waited, None),
    }
}

fn least_occupied(rules: &Rules, rule: &Rule, occupied: &CpuSet) -> CpuSet {
    let cpus: Vec<CpuSet>;
    let units = match rule.gate {
        Some(Gate::LlcIdle) => &rules.llcs,
        Some(Gate::NodeIdle) => &rules.nodes,
        Some(Gate::CpuIdle) => {
            cpus = rule.reach.iter().map(|cpu| [cpu].into_iter().collect()).collect();
            &cpus
        }
        Some(Gate::CoreIdle) | None => &rules.cores,
    };
    let of_class = units.iter().filter(|unit| unit.intersects(&rule.reach));
    let least = of_class.min_by_key(|unit| unit.intersection(occupied).len());
    least.map_or_else(|| rule.reach.clone(), |unit| unit.intersection(&rule.reach))
}
