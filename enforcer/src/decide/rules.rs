//! What a plan says about the load, in the shape in which a tick asks for it: worked out once a plan.

use std::time::Duration;

use cotenant_compiler::plan::{Gate, Placement};
use cotenant_compiler::topology::Topology;
use cotenant_compiler::{CpuId, CpuSet, Plan};
use cotenant_grammar::tree::EqualPrio;
use smallvec::{SmallVec, smallvec};

use super::OPEN_AFTER;

/// A plan's rules, for [`decide`](super::decide).
#[derive(Debug, Clone)]
pub struct Rules {
    /// One entry a class of the plan; none for unmanaged ones.
    pub(super) classes: Vec<Option<Rule>>,
    /// Whether any class is gated.
    pub(super) gates: bool,
    /// Whether any is gated by more than a core. A sensor sees whatever runs for an instant, which would close such a gate for
    /// good, so that for these plans what it saw only counts at that instant.
    pub(super) coarse: bool,
    pub(super) online: CpuSet,
    /// Every core, in logical order.
    pub(super) cores: Vec<CpuSet>,
    /// The words of each core's set that are not zero, with their positions.
    masks: Vec<Vec<(usize, u64)>>,
    /// The position in `cores` of each online CPU, by its number.
    core_of: Vec<Option<usize>>,
    /// Parts that `only when llc idle` takes as one.
    pub(super) llcs: Vec<CpuSet>,
    pub(super) nodes: Vec<CpuSet>,
    /// CPUs that stay open for some gated class whatever happens.
    pub(super) floors: CpuSet,
    /// The same with the cores around.
    pub(super) beside_floors: CpuSet,
}

/// One class's.
#[derive(Debug, Clone)]
pub(super) struct Rule {
    /// Whether its share follows the load. That of a class that a sensor sees to does not, unless it leaves cores idle.
    pub(super) is_reactive: bool,
    /// All it may ever use.
    pub(super) reach: CpuSet,
    /// Its tiers, but for siblings that are overflow.
    pub(super) tiers: Vec<CpuSet>,
    /// The same in one set. Where siblings are overflow it has one CPU of each core.
    pub(super) fronts: CpuSet,
    /// What it has without work, if it is not gated: the first of them, and its floor.
    pub(super) at_rest: CpuSet,
    /// Siblings that are overflow: those that are the second thread of their core within the reach, then the third ones,
    /// and so on. Empty where none are.
    pub(super) overflow: Vec<CpuSet>,
    /// The same in one set.
    pub(super) siblings: CpuSet,
    /// Overflow starts when fewer cores than this are idle.
    pub(super) below: usize,
    pub(super) gate: Option<Gate>,
    /// Whether the kernel makes it give way where its gate is closed, so that it need not be stopped.
    pub(super) gives_way: bool,
    /// Always open.
    pub(super) floor: CpuSet,
    pub(super) most_cores: Option<usize>,
    pub(super) longest_wait: Option<Duration>,
    /// Whether its threads can go where there is room.
    pub(super) is_movable: bool,
}

impl Rules {
    /// The rules of a plan. They hold until there is another.
    #[must_use]
    pub fn of(plan: &Plan) -> Rules {
        let topology = &plan.topology;
        let rule = |placement: &Placement| Rule::of(placement, topology);
        let classes: Vec<Option<Rule>> = plan.classes.iter().map(|class| class.placement.as_ref().map(rule)).collect();
        let gated = || classes.iter().flatten().filter(|rule| rule.gate.is_some());
        let floors = gated().fold(CpuSet::new(), |all, rule| all.union(&rule.floor));
        let width = topology.online().iter().last().map_or(0, |cpu| cpu.0 as usize + 1);
        Rules {
            gates: gated().next().is_some(),
            coarse: gated().any(|rule| matches!(rule.gate, Some(Gate::LlcIdle | Gate::NodeIdle))),
            beside_floors: topology.whole_cores(&floors),
            floors,
            online: topology.online().clone(),
            masks: topology.cores().iter().map(|core| masks(&core.cpus)).collect(),
            cores: topology.cores().iter().map(|core| core.cpus.clone()).collect(),
            core_of: (0..width).map(|cpu| topology.core_index(CpuId(cpu as u32))).collect(),
            llcs: llcs(topology),
            nodes: topology.nodes().to_vec(),
            classes,
        }
    }

    /// Whether any class makes room for others, so that it matters what belongs to no class.
    #[must_use]
    pub fn make_room(&self) -> bool {
        self.classes.iter().flatten().any(|rule| rule.is_reactive)
    }

    /// Every CPU of the core of `cpu`.
    pub(super) fn core(&self, cpu: CpuId) -> Option<&CpuSet> {
        self.cores.get(self.core_index(cpu)?)
    }

    pub(super) fn core_index(&self, cpu: CpuId) -> Option<usize> {
        self.core_of.get(cpu.0 as usize).copied().flatten()
    }

    /// Every CPU of every core that has one in `set`. Asked for once a class and tick, so it goes word by word.
    pub(super) fn whole_cores(&self, set: &CpuSet) -> CpuSet {
        let mut whole: SmallVec<[u64; 4]> = smallvec![0; self.core_of.len().div_ceil(64)];
        for (at, bits) in set.words().iter().enumerate() {
            let mut rest = *bits;
            while rest != 0 {
                let cpu = at * 64 + rest.trailing_zeros() as usize;
                rest &= rest - 1;
                let core = self.core_of.get(cpu).copied().flatten();
                for (word, mask) in core.and_then(|core| self.masks.get(core)).into_iter().flatten() {
                    whole.get_mut(*word).into_iter().for_each(|bits| *bits |= mask);
                    // Its siblings in this word need not be asked.
                    rest &= if *word == at { !mask } else { u64::MAX };
                }
            }
        }
        CpuSet::from_words(whole)
    }

    /// How many cores have a CPU in `set`.
    pub(super) fn count_cores(&self, set: &CpuSet) -> usize {
        let mut seen = vec![false; self.cores.len()];
        let cores = set.iter().filter_map(|cpu| self.core_index(cpu));
        cores.filter(|core| seen.get_mut(*core).is_some_and(|seen| !std::mem::replace(seen, true))).count()
    }

    pub(super) fn all_quiet(&self) -> Vec<u8> {
        if self.gates { vec![OPEN_AFTER; self.core_of.len()] } else { Vec::new() }
    }
}

fn masks(cpus: &CpuSet) -> Vec<(usize, u64)> {
    cpus.words().iter().copied().enumerate().filter(|(_, bits)| *bits != 0).collect()
}

/// Last-level caches, and the rest of each node where some CPUs are below none.
fn llcs(topology: &Topology) -> Vec<CpuSet> {
    let cached = topology.llcs().iter().fold(CpuSet::new(), |all, llc| all.union(llc));
    let rest = topology.nodes().iter().map(|node| node.difference(&cached)).filter(|rest| !rest.is_empty());
    topology.llcs().iter().cloned().chain(rest).collect()
}

impl Rule {
    fn of(placement: &Placement, topology: &Topology) -> Rule {
        let reach = placement.reach();
        let overflows = placement.spill_below.is_some() || placement.spread;
        let (tiers, siblings) = match placement.tiers.split_last() {
            Some((siblings, fronts)) if overflows && !fronts.is_empty() => (fronts.to_vec(), siblings.clone()),
            _ => (placement.tiers.clone(), CpuSet::new()),
        };
        let floor = placement.floor.intersection(&reach);
        let first = tiers.iter().find(|tier| !tier.is_empty()).unwrap_or(&reach);
        let waits = placement.demands.wait_at_most.filter(|_| placement.gate.is_some());
        Rule {
            is_reactive: placement.is_reactive() && (placement.tiers.len() > 1 || placement.gate.is_some()),
            overflow: by_depth(&siblings, topology),
            below: placement.spill_below.unwrap_or(0) as usize,
            gate: placement.gate,
            gives_way: placement.gives_way(),
            at_rest: first.union(&floor.difference(&siblings)),
            floor,
            fronts: tiers.iter().fold(CpuSet::new(), |all, tier| all.union(tier)),
            most_cores: placement.most_cores,
            longest_wait: waits.map(|wait| Duration::from_nanos(wait.0)),
            is_movable: placement.equal_prio != Some(EqualPrio::Hold),
            reach,
            tiers,
            siblings,
        }
    }

    /// Whether a thread of it wants no other beside it while a core is free.
    pub(super) fn wants_cores(&self) -> bool {
        !self.overflow.is_empty()
    }
}

fn by_depth(siblings: &CpuSet, topology: &Topology) -> Vec<CpuSet> {
    let mut depths: Vec<CpuSet> = Vec::new();
    for core in topology.cores() {
        for (depth, cpu) in core.threads.iter().filter(|cpu| siblings.contains(**cpu)).enumerate() {
            if depths.len() <= depth {
                depths.push(CpuSet::new());
            }
            if let Some(of_depth) = depths.get_mut(depth) {
                of_depth.insert(*cpu);
            }
        }
    }
    depths
}
