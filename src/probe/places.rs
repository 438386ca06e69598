//! Which CPUs stand for which distance.

use cotenant_compiler::topology::{Core, Topology};
use cotenant_compiler::{CpuId, CpuSet};

use super::Distance;

/// Where a neighbour runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Spot {
    pub(crate) distance: Distance,
    pub(crate) cpu: CpuId,
}

/// The victim's CPU and the places around it, of CPUs that this program may use. The victim is on the core that has most
/// distances around it, the first of those, which is as good as any on machines whose parts are alike. None without two CPUs.
pub(crate) fn spots(machine: &Topology, allowed: &CpuSet) -> Option<(CpuId, Vec<Spot>)> {
    let cores: Vec<&Core> = machine.cores().iter().filter(|core| core.cpus.intersects(allowed)).collect();
    let around = |victim: &&Core| {
        let cpu = usable(victim, allowed).next()?;
        let nearest = |distance| Some(Spot { distance, cpu: find(&cores, victim, cpu, distance, allowed)? });
        let spots: Vec<Spot> = Distance::ALL.into_iter().filter_map(nearest).collect();
        (!spots.is_empty()).then_some((cpu, spots))
    };
    let all: Vec<(CpuId, Vec<Spot>)> = cores.iter().filter_map(around).collect();
    let most = all.iter().map(|(_, spots)| spots.len()).max()?;
    all.into_iter().find(|(_, spots)| spots.len() == most)
}

fn usable<'a>(core: &'a Core, allowed: &'a CpuSet) -> impl Iterator<Item = CpuId> + 'a {
    core.threads.iter().copied().filter(|cpu| allowed.contains(*cpu))
}

fn find(cores: &[&Core], victim: &Core, cpu: CpuId, distance: Distance, allowed: &CpuSet) -> Option<CpuId> {
    if distance == Distance::Sibling {
        return usable(victim, allowed).find(|other| *other != cpu);
    }
    // Where a machine reports no caches, all of a package has one.
    let same_cache = |core: &Core| match (core.llc, victim.llc) {
        (Some(theirs), Some(ours)) => theirs == ours,
        _ => core.package == victim.package,
    };
    let is_there = |core: &&&Core| match distance {
        Distance::Cache => core.cpus != victim.cpus && same_cache(core),
        Distance::Node => !same_cache(core) && core.node == victim.node,
        _ => core.node != victim.node,
    };
    cores.iter().find(is_there).and_then(|core| usable(core, allowed).next())
}

#[cfg(test)]
mod tests {
    use cotenant_compiler::topology::TopologySource;

    use super::*;

    fn found(machine: &str, allowed: &str) -> Option<(u32, Vec<(Distance, u32)>)> {
        let machine = Topology::load(&TopologySource::Synthetic(machine.to_owned())).unwrap();
        let (victim, spots) = spots(&machine, &allowed.parse().unwrap())?;
        Some((victim.0, spots.into_iter().map(|spot| (spot.distance, spot.cpu.0)).collect()))
    }

    #[test]
    fn every_distance_that_a_machine_has_is_found() {
        use Distance::{Cache, Elsewhere, Node, Sibling};
        let large = "node:2 l3:2 core:2 pu:2";
        assert_eq!(found(large, "0-15"), Some((0, vec![(Sibling, 1), (Cache, 2), (Node, 4), (Elsewhere, 8)])));
        assert_eq!(found("pack:1 core:4 pu:1", "0-3"), Some((0, vec![(Cache, 1)])));
        assert_eq!(found("pack:1 core:1 pu:2", "0-1"), Some((0, vec![(Sibling, 1)])));
    }

    #[test]
    fn only_cpus_that_may_be_used_are() {
        use Distance::{Cache, Elsewhere, Sibling};
        let large = "node:2 l3:2 core:2 pu:2";
        assert_eq!(found(large, "0,2,9"), Some((0, vec![(Cache, 2), (Elsewhere, 9)])));
        assert_eq!(found(large, "1,6-7"), Some((6, vec![(Sibling, 7), (Distance::Node, 1)])), "more than around CPU 1");
        assert_eq!(found("pack:1 core:2 pu:2", "1-3"), Some((2, vec![(Sibling, 3), (Cache, 1)])));
        assert_eq!(found(large, "3"), None);
    }
}
