//! What there is to see of one class when a tick is over.

use cotenant_compiler::plan::{Gate, Placement};
use cotenant_compiler::topology::Core;

use super::*;

/// One class at one moment, with what several promises speak of.
pub(super) struct Scene<'a> {
    pub(super) plan: &'a Plan,
    pub(super) load: &'a Load,
    pub(super) now: &'a Assignment,
    pub(super) class: usize,
    pub(super) says: &'a Placement,
    /// Every CPU that the policy leaves the class.
    pub(super) reach: CpuSet,
    /// Where others ran for whom this class makes room: everybody but itself and gated classes.
    pub(super) others: CpuSet,
    /// The CPUs that its gate takes as one; empty without a gate.
    pub(super) units: Vec<CpuSet>,
    /// What is open to it, as far as that can be seen from outside: for a gated class, the units it uses.
    pub(super) open: CpuSet,
}

impl<'a> Scene<'a> {
    /// None for an unmanaged class, to which nothing is promised.
    pub(super) fn of(plan: &'a Plan, load: &'a Load, now: &'a Assignment, class: usize) -> Option<Scene<'a>> {
        let says = plan.classes[class].placement.as_ref()?;
        let in_the_way = |at: &usize| *at != class && !is_gated(plan, *at);
        let others = (0..plan.classes.len()).filter(in_the_way);
        let others = others.fold(load.foreign.clone(), |all, at| all.union(&load.classes[at].ran_on));
        let (units, reach) = (units(says.gate, &plan.topology), says.reach());
        let cpus = &now.classes[class].as_ref().unwrap().cpus;
        // Where nothing but the floor is used, no more need be open; a ceiling leaves no more than the cores that are used.
        let of_unit = |unit: &CpuSet| match unit.intersection(cpus).is_subset(&says.floor) {
            true => unit.intersection(&says.floor).intersection(&reach),
            false => unit.intersection(&reach),
        };
        let used = units.iter().filter(|unit| unit.intersects(cpus)).map(of_unit);
        let open = match (says.gate, says.most_cores) {
            (None, _) => reach.clone(),
            (Some(_), None) => used.fold(CpuSet::new(), |all, unit| all.union(&unit)),
            (Some(_), Some(_)) => {
                plan.topology.whole_cores(cpus).intersection(&used.fold(CpuSet::new(), |all, unit| all.union(&unit)))
            }
        };
        Some(Scene { plan, load, now, class, says, reach, others, units, open })
    }

    pub(super) fn has(&self, clause: &str) -> bool {
        self.says.clauses.iter().any(|kept| kept.text == clause)
    }

    pub(super) fn share(&self) -> &Share {
        self.now.classes[self.class].as_ref().unwrap()
    }

    /// What the class may use. Of a frozen one it is what it comes back to.
    pub(super) fn cpus(&self) -> &CpuSet {
        &self.share().cpus
    }

    pub(super) fn demand(&self) -> usize {
        self.load.classes[self.class].demand
    }

    pub(super) fn cores(&self) -> impl Iterator<Item = &Core> {
        self.plan.topology.cores().iter()
    }

    pub(super) fn cores_of(&self, cpus: &CpuSet) -> usize {
        self.cores().filter(|core| core.cpus.intersects(cpus)).count()
    }

    pub(super) fn most_on_one_core(&self) -> usize {
        self.cores().map(|core| core.cpus.intersection(self.cpus()).len()).max().unwrap_or(0)
    }

    /// By how much a class's demand exceeds the cores, or if it does not ask for cores the CPUs, of its own on which it ran.
    pub(super) fn lack(&self, class: usize) -> usize {
        let Some(placement) = &self.plan.classes[class].placement else { return 0 };
        let ClassLoad { ran_on, demand } = &self.load.classes[class];
        let demand = (*demand).min(self.plan.topology.online().len());
        let reach = placement.reach();
        if placement.spill_below.is_none() {
            return demand.saturating_sub(ran_on.intersection(&reach).len());
        }
        let has = self.cores().filter(|core| core.cpus.intersects(&reach) && core.cpus.intersects(ran_on)).count();
        // A core is as many units of a gate that takes each CPU for one.
        let units = match self.says.gate {
            Some(Gate::CpuIdle) => self.cores().map(|core| core.threads.len()).max().unwrap_or(1),
            _ => 1,
        };
        demand.saturating_sub(has) * units
    }

    /// What is open of the first CPUs of cores in the class's reach: where a thread has a core of its own.
    pub(super) fn fronts(&self) -> CpuSet {
        let first = |core: &Core| core.threads.iter().copied().find(|cpu| self.reach.contains(*cpu));
        self.cores().filter_map(first).filter(|cpu| self.open.contains(*cpu)).collect()
    }

    /// Siblings that the class may use.
    pub(super) fn overflow(&self) -> usize {
        match self.says.spill_below {
            None => 0,
            // Where no front is open, siblings are all there is.
            Some(_) if self.fronts().is_empty() => 0,
            Some(_) => self.cpus().difference(&self.fronts()).len(),
        }
    }

    /// Siblings that the load needs: one thread comes after another, and takes a core while enough are left idle.
    pub(super) fn needed_overflow(&self) -> usize {
        let Some(below) = self.says.spill_below.filter(|_| !self.fronts().is_empty()) else { return 0 };
        let fronts = self.fronts();
        let own = self.cores().filter(|core| core.cpus.intersects(&fronts) && !core.cpus.intersects(&self.others));
        let mut idle = own.count();
        let mut siblings = 0;
        let free = self.open.difference(&self.others);
        let mut free_siblings = free.difference(&fronts).len();
        let mut free_fronts = free.intersection(&fronts).len();
        for _ in 0..self.demand().min(self.open.len() + below as usize) {
            if idle >= below as usize && idle > 0 {
                (idle, free_fronts) = (idle - 1, free_fronts - 1);
            } else if free_siblings > 0 && below > 0 {
                (free_siblings, siblings) = (free_siblings - 1, siblings + 1);
            } else if free_fronts > 0 {
                // It has nobody on its own thread, which is better than a sibling on which somebody runs.
                free_fronts -= 1;
            } else if below > 0 {
                siblings += 1;
            }
        }
        siblings.min(self.open.difference(&fronts).len())
    }
}

pub(super) fn is_gated(plan: &Plan, class: usize) -> bool {
    plan.classes[class].placement.as_ref().is_some_and(|placement| placement.gate.is_some())
}

fn units(gate: Option<Gate>, topology: &Topology) -> Vec<CpuSet> {
    match gate {
        None => Vec::new(),
        Some(Gate::CpuIdle) => topology.online().iter().map(|cpu| [cpu].into_iter().collect()).collect(),
        Some(Gate::CoreIdle) => topology.cores().iter().map(|core| core.cpus.clone()).collect(),
        Some(Gate::LlcIdle) => topology.llcs().to_vec(),
        Some(Gate::NodeIdle) => topology.nodes().to_vec(),
    }
}

impl std::fmt::Display for Scene<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "foreign on {}", self.load.foreign)?;
        for (at, class) in self.plan.classes.iter().enumerate() {
            let ClassLoad { ran_on, demand } = &self.load.classes[at];
            let mark = if at == self.class { "→" } else { " " };
            writeln!(f, "{mark} {} ran on {ran_on}, demand {demand}: {:?}", class.name, self.now.classes[at])?;
        }
        let clauses = self.says.clauses.iter().map(|kept| kept.text.as_str());
        write!(f, "{}", clauses.collect::<Vec<_>>().join(", "))
    }
}
