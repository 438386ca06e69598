//! Which CPUs each class may use now: every rule about SMT, as one pure function.
//!
//! # Problem
//! Classes with `prefer idle core` shall behave as if SMT were off while whole cores are free, and use siblings only as
//! overflow. Gated classes (`only when core idle`) shall stay off every core on which anybody else runs. The kernel knows
//! neither wish, but it keeps threads within sets of CPUs. So the question of one tick is: which set for which class?
//!
//! # Terms
//! * *reach*: every CPU the plan lets a class use; its *tiers* are the fronts and, behind them, the siblings.
//! * *demand* of a class: how many CPUs' worth of work it had since the last tick, running or waiting, rounded up.
//! * *occupied by others*, for a class: CPUs on which, since the last tick, a thread of another ungated class ran, or
//!   something that belongs to no class. Gated classes never count: they give way.
//! * A core is *idle* for a class when none of its CPUs is occupied by others, *quiet* for `n` when it has been so for `n`
//!   ticks.
//!
//! # Rules
//! 1. A class without overflow or gate has its whole reach. Nothing is computed for it.
//! 2. **Overflow.** Let `available` be the number of cores of the reach that are idle for the class. If taking `demand` of
//!    them leaves at least `below` idle, the class has its fronts and no sibling. Else it has its fronts and as many
//!    siblings as are missing, `demand + below - available`, but never more than it has work for: `demand`. Siblings of
//!    idle cores come first, open ones before closed ones, so that a choice once made stays.
//! 3. **Gate.** A core is closed at once when it is occupied by others, with all its CPUs, and opened when it has been quiet
//!    for [`OPEN_AFTER`] ticks. CPUs of the class's floor are always open. Where nothing is open the class is frozen.
//!    Overflow among what is open follows rule 2.
//! 4. **Hysteresis.** More siblings are given at once; fewer only when fewer would have done for [`CALM`] ticks, because
//!    taking a CPU away moves threads and giving one does not.
//!
//! # Edge cases
//! A set is never empty, because no cpuset with tasks can be: a frozen class keeps the set it had. Demand beyond the reach
//! opens all of it. A plan for another machine never meets a load of this one: hotplug makes a new plan, and a new
//! [`Assignment::initial`].

mod close;

pub use close::close;

use cotenant_compiler::plan::Placement;
use cotenant_compiler::topology::Topology;
use cotenant_compiler::{CpuSet, Plan};

/// Ticks for which a core must have been quiet before a gated class may use it again.
pub const OPEN_AFTER: u32 = 3;

/// Ticks for which fewer siblings must have been enough before some are taken back.
pub const CALM: u32 = 20;

/// What happened since the last tick.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Load {
    /// CPUs on which something ran that belongs to no class.
    pub foreign: CpuSet,
    /// CPUs of the cores on which a sensor saw anything for which gated classes make room; empty without one.
    pub used: CpuSet,
    /// One entry a class of the plan, in its order.
    pub classes: Vec<ClassLoad>,
}

/// What one class did since the last tick.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClassLoad {
    /// CPUs on which its threads ran.
    pub ran_on: CpuSet,
    /// CPUs' worth of work it had, running or waiting, rounded up.
    pub demand: usize,
}

/// The sets of CPUs in force, one entry a class of the plan, in its order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// None for unmanaged classes.
    pub classes: Vec<Option<Share>>,
}

/// What one class may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Share {
    /// Never empty.
    pub cpus: CpuSet,
    /// Whether its threads must not run at all; then `cpus` is what they come back to.
    pub frozen: bool,
    /// For how many ticks fewer siblings would have done.
    calm: u32,
    /// For how many ticks each core of the machine has been quiet, for gated classes; else empty.
    quiet: Vec<u32>,
}

impl Assignment {
    /// Before anything is known of the load: overflow is closed and gates are open.
    #[must_use]
    pub fn initial(plan: &Plan) -> Assignment {
        let share = |placement: &Placement| Share {
            cpus: match (placement.gate, placement.spill_below, placement.tiers.first()) {
                (None, Some(_), Some(fronts)) => fronts.clone(),
                _ => placement.reach(),
            },
            frozen: false,
            calm: 0,
            quiet: placement.gate.map_or_else(Vec::new, |_| vec![OPEN_AFTER; plan.topology.cores().len()]),
        };
        Assignment { classes: plan.classes.iter().map(|class| class.placement.as_ref().map(share)).collect() }
    }
}

/// The sets for the next tick. `load` and `previous` must be of the same plan; entries that are missing count as idle.
#[must_use]
pub fn decide(plan: &Plan, load: &Load, previous: &Assignment) -> Assignment {
    let classes = plan.classes.iter().zip(&previous.classes).enumerate().map(|(at, (class, before))| {
        let (placement, before) = (class.placement.as_ref()?, before.as_ref()?);
        if !placement.is_reactive() {
            return Some(before.clone());
        }
        let mut occupied = occupied_by_others(plan, load, at);
        if placement.gate.is_some() {
            occupied = occupied.union(&load.used);
        }
        let demand = load.classes.get(at).map_or(0, |class| class.demand);
        Some(share(placement, &plan.topology, &occupied, demand, before))
    });
    Assignment { classes: classes.collect() }
}

/// CPUs on which somebody ran for whom class `at` must make room.
fn occupied_by_others(plan: &Plan, load: &Load, at: usize) -> CpuSet {
    let others = plan.classes.iter().zip(&load.classes).enumerate().filter(|(other, (class, _))| {
        let gated = class.placement.as_ref().is_some_and(|placement| placement.gate.is_some());
        *other != at && !gated
    });
    others.fold(load.foreign.clone(), |all, (_, (_, load))| all.union(&load.ran_on))
}

fn share(placement: &Placement, topology: &Topology, occupied: &CpuSet, demand: usize, before: &Share) -> Share {
    let mut next = Share { frozen: false, ..before.clone() };
    let reach = placement.reach();
    let open = if placement.gate.is_some() {
        next.quiet = quiet(topology, occupied, &before.quiet);
        gate(placement, topology, &reach, &next.quiet)
    } else {
        reach
    };
    if open.is_empty() {
        next.frozen = true;
        return next;
    }
    let Some(below) = placement.spill_below else {
        next.cpus = open;
        return next;
    };
    let fronts = placement.tiers.first().map_or_else(CpuSet::new, |fronts| fronts.intersection(&open));
    let siblings = open.difference(&fronts);
    let given = before.cpus.intersection(&siblings).len();
    let wanted = overflow(topology, &open, occupied, demand, below as usize).min(siblings.len());
    next.calm = if wanted < given { before.calm + 1 } else { 0 };
    let count = if wanted >= given || next.calm > CALM { wanted } else { given };
    next.calm = if count == wanted { 0 } else { next.calm };
    next.cpus = fronts.union(&choose(topology, &siblings, occupied, &before.cpus, count));
    if next.cpus.is_empty() {
        // Only siblings are open and the load asks for none; an empty set is not possible, so the class has those.
        next.cpus = open;
    }
    next
}

/// Ticks of quiet for each core, one tick on.
fn quiet(topology: &Topology, occupied: &CpuSet, before: &[u32]) -> Vec<u32> {
    let cores = topology.cores().iter().enumerate();
    let count = |(at, core): (usize, &cotenant_compiler::topology::Core)| match core.cpus.intersects(occupied) {
        true => 0,
        false => before.get(at).copied().unwrap_or(0).saturating_add(1),
    };
    cores.map(count).collect()
}

/// What a gated class may use.
fn gate(placement: &Placement, topology: &Topology, reach: &CpuSet, quiet: &[u32]) -> CpuSet {
    let open = topology.cores().iter().zip(quiet).filter(|(_, quiet)| **quiet >= OPEN_AFTER);
    let open = open.fold(CpuSet::new(), |all, (core, _)| all.union(&core.cpus));
    open.union(&placement.floor).intersection(reach)
}

/// How many siblings the load asks for.
fn overflow(topology: &Topology, open: &CpuSet, occupied: &CpuSet, demand: usize, below: usize) -> usize {
    let idle = |core: &&cotenant_compiler::topology::Core| !core.cpus.intersects(occupied);
    let available = topology.cores().iter().filter(|core| core.cpus.intersects(open)).filter(idle).count();
    demand.saturating_add(below).saturating_sub(available).min(demand)
}

/// `count` of the siblings: those of idle cores first, open ones before closed ones, else in core order.
fn choose(topology: &Topology, siblings: &CpuSet, occupied: &CpuSet, open: &CpuSet, count: usize) -> CpuSet {
    if count == 0 {
        return CpuSet::new();
    }
    let of_core = |core: &'_ cotenant_compiler::topology::Core| {
        let busy = core.cpus.intersects(occupied);
        let threads: Vec<_> = core.threads.iter().copied().filter(|cpu| siblings.contains(*cpu)).collect();
        threads.into_iter().map(move |cpu| (busy, !open.contains(cpu), cpu))
    };
    let mut all: Vec<_> = topology.cores().iter().flat_map(of_core).collect();
    // Stable, so that equals stay in core order.
    all.sort_by_key(|(busy, closed, _)| (*busy, *closed));
    all.into_iter().take(count).map(|(.., cpu)| cpu).collect()
}

#[cfg(test)]
mod tests;
