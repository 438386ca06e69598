//! What is left of a plan on a machine that has lost some of its CPUs.
//!
//! It stands in where the policy is wrong on the machine as it is now: the CPUs that are gone are taken out of every class,
//! and a class with none left may run anywhere, as the kernel itself would have it. It is made of the whole plan each time,
//! so that whatever comes back is given back.

use super::{Means, Placement, Plan, Strength};
use crate::CpuSet;
use crate::topology::Topology;

/// A class none of whose CPUs is online.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Astray {
    /// Its name.
    pub class: String,
    /// The CPUs it is due.
    pub due: CpuSet,
}

impl Plan {
    /// The plan as far as another state of its machine has what it names, and the classes for which that is nothing.
    #[must_use]
    pub fn left_on(&self, topology: &Topology) -> (Plan, Vec<Astray>) {
        let mut left = Plan { topology: topology.clone(), ..self.clone() };
        let mut astray = Vec::new();
        for class in &mut left.classes {
            let Some(placement) = &mut class.placement else { continue };
            let due = placement.zone.clone();
            placement.keep_to(topology);
            if !due.intersects(topology.online()) {
                astray.push(Astray { class: class.name.clone(), due });
            }
        }
        (left, astray)
    }
}

impl Placement {
    fn keep_to(&mut self, topology: &Topology) {
        let online = topology.online();
        let here = |set: &CpuSet| set.intersection(online);
        self.say_what_is_gone(online);
        self.floor = here(&self.floor);
        self.kept_for_others = here(&self.kept_for_others);
        self.zone = Some(here(&self.zone)).filter(|zone| !zone.is_empty()).unwrap_or_else(|| online.clone());
        self.tiers = self.tiers.iter().map(here).filter(|tier| !tier.is_empty()).collect();
        if self.tiers.is_empty() {
            self.tiers = vec![self.zone.clone()];
        }
        if !topology.has_smt() {
            // The kernel knows no cookies while no two threads share a core, and nobody is kept from anything.
            self.cookie = None;
        }
    }

    /// A plan says no more than is so. Where a class said nothing of where it runs, that is what there is.
    fn say_what_is_gone(&mut self, online: &CpuSet) {
        let (left, gone) = (self.zone.intersection(online), self.zone.difference(online).brief());
        let Some(clause) = self.clauses.iter_mut().find(|clause| clause.text == "on") else { return };
        if left.is_empty() {
            clause.effect = format!("every CPU, while {gone} are offline");
            (clause.means, clause.strength) = (Means::None, Strength::Refused);
        } else if left != self.zone {
            clause.effect = format!("CPUs {}, while {gone} are offline", left.brief());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Gate;
    use super::*;
    use crate::CpuId;
    use crate::topology::{CoreKind, CpuPlace};

    /// Four cores of two threads, some switched off.
    fn machine(offline: &str) -> Topology {
        let offline: CpuSet = offline.parse().unwrap();
        let place = |cpu: u32| CpuPlace {
            cpu: CpuId(cpu),
            online: !offline.contains(CpuId(cpu)),
            core: cpu / 2,
            llc: None,
            node: 0,
            package: 0,
            kind: CoreKind::Performance,
        };
        Topology::new(&(0..8).map(place).collect::<Vec<_>>())
    }

    fn plan(text: &str) -> Plan {
        crate::compile(cotenant_grammar::SourceSet::one("p", text), &machine("")).0.unwrap()
    }

    fn placement(plan: &Plan, class: usize) -> &Placement {
        plan.classes[class].placement.as_ref().unwrap()
    }

    fn tiers(plan: &Plan, class: usize) -> Vec<String> {
        placement(plan, class).tiers.iter().map(CpuSet::to_string).collect()
    }

    const TEXT: &str = "class web: match exe a, on cpus 4-7, prefer idle core; class far: match exe b, on cpus 6-7; \
                        batch: only when core idle;";

    #[test]
    fn what_is_offline_is_taken_out_and_a_class_with_nothing_left_may_run_anywhere() {
        let (left, astray) = plan(TEXT).left_on(&machine("6-7"));
        assert_eq!(tiers(&left, 0), ["4", "5"]);
        assert_eq!(tiers(&left, 1), ["0-5"]);
        assert_eq!((tiers(&left, 2), placement(&left, 2).gate), (vec!["0-5".to_owned()], Some(Gate::CoreIdle)));
        assert_eq!(astray, [Astray { class: "far".to_owned(), due: "6-7".parse().unwrap() }]);
        let on = |class| placement(&left, class).clauses.iter().find(|clause| clause.text == "on").unwrap();
        assert_eq!((on(0).effect.as_str(), on(0).strength), ("CPUs 4-5, while 6-7 are offline", Strength::Strict));
        assert_eq!((on(1).effect.as_str(), on(1).strength), ("every CPU, while 6-7 are offline", Strength::Refused));
    }

    #[test]
    fn of_a_machine_that_lost_nothing_everything_is_left() {
        let whole = plan(TEXT);
        let (left, astray) = whole.left_on(&machine(""));
        assert!(super::super::diff(&whole, &left).is_empty() && astray.is_empty());
        assert_eq!(left.classes, whole.classes);
    }

    #[test]
    fn without_siblings_fronts_are_all_there_is() {
        let (left, astray) = plan(TEXT).left_on(&machine("1,3,5,7"));
        assert_eq!((tiers(&left, 0), tiers(&left, 1)), (vec!["4,6".to_owned()], vec!["6".to_owned()]));
        assert!(astray.is_empty());
        // Without the fronts, and with nobody who knows that siblings are in their place.
        let (left, astray) =
            plan("class web: match exe a, on core 3, prefer idle core, never spill;").left_on(&machine("6"));
        assert_eq!((tiers(&left, 0), astray), (vec!["7".to_owned()], vec![]));
    }
}
