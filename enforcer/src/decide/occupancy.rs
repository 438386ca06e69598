//! Who is in whose way: the CPUs on which others ran, as each class sees them.

use cotenant_compiler::CpuSet;

use super::{Load, Rules};

/// Ungated classes and what belongs to none, on CPUs and on the cores around them.
pub(super) struct Occupancy {
    cpus: Crowd,
    cores: Crowd,
    /// What a sensor saw in use, for gated classes; whole cores.
    seen: CpuSet,
    /// For each class what it ran on, with the cores around; none for gated ones, which are in nobody's way.
    own: Vec<Option<(CpuSet, CpuSet)>>,
}

/// How many are where: nobody, one, or so many that each of them has another beside it.
#[derive(Default)]
struct Crowd {
    any: CpuSet,
    many: CpuSet,
}

/// What others occupy, as one class sees it.
pub(super) struct Busy {
    pub(super) cpus: CpuSet,
    /// Every CPU of the cores that are not idle.
    pub(super) cores: CpuSet,
}

impl Crowd {
    fn join(&mut self, set: &CpuSet) {
        self.many = self.many.union(&self.any.intersection(set));
        self.any = self.any.union(set);
    }

    fn but(&self, own: &CpuSet) -> CpuSet {
        self.any.difference(own).union(&self.many)
    }
}

impl Occupancy {
    pub(super) fn of(rules: &Rules, load: &Load) -> Occupancy {
        let foreign = load.foreign.intersection(&rules.online);
        let around = rules.whole_cores(&foreign);
        // What belongs to no class is in everybody's way.
        let mut cpus = Crowd { many: foreign.clone(), any: foreign };
        let mut cores = Crowd { many: around.clone(), any: around };
        let mut own = Vec::with_capacity(load.classes.len());
        for (rule, class) in rules.classes.iter().zip(&load.classes) {
            if rule.as_ref().is_some_and(|rule| rule.gate.is_some()) {
                own.push(None);
                continue;
            }
            if class.ran_on.is_empty() {
                own.push(Some((CpuSet::new(), CpuSet::new())));
                continue;
            }
            let ran_on = class.ran_on.intersection(&rules.online);
            let around = rules.whole_cores(&ran_on);
            cpus.join(&ran_on);
            cores.join(&around);
            own.push(Some((ran_on, around)));
        }
        let seen = if rules.coarse { CpuSet::new() } else { rules.whole_cores(&load.used.intersection(&rules.online)) };
        Occupancy { cpus, cores, seen, own }
    }

    /// What class `at` has to make room for, if it is not gated.
    pub(super) fn for_class(&self, at: usize) -> Busy {
        match self.own.get(at) {
            Some(Some((cpus, cores))) => Busy { cpus: self.cpus.but(cpus), cores: self.cores.but(cores) },
            _ => self.for_gated(),
        }
    }

    /// What every gated class has to make room for.
    pub(super) fn for_gated(&self) -> Busy {
        Busy { cpus: self.cpus.any.union(&self.seen), cores: self.cores.any.union(&self.seen) }
    }

    /// What class `at` ran on and the cores around, if it is not gated.
    pub(super) fn own(&self, at: usize) -> Option<&(CpuSet, CpuSet)> {
        self.own.get(at)?.as_ref()
    }
}
