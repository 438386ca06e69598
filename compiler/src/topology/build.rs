//! Makes a [`Topology`] from one record a CPU.

use super::{Core, CoreKind, Topology};
use crate::{CpuId, CpuSet};

/// Where one CPU sits. Records are given in hwloc's logical order; group keys may be any numbers that are equal within a
/// group and different between groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CpuPlace {
    /// The operating system's number.
    pub cpu: CpuId,
    /// Whether it is switched on.
    pub online: bool,
    /// Key of its core.
    pub core: u32,
    /// Key of its last-level cache, where there is one.
    pub llc: Option<u32>,
    /// Key of its NUMA node.
    pub node: u32,
    /// Key of its package.
    pub package: u32,
    /// Performance or efficiency.
    pub kind: CoreKind,
}

/// Numbers groups from 0 in the order in which their keys are first seen, and collects their CPUs.
#[derive(Default)]
struct Groups {
    keys: Vec<u32>,
    sets: Vec<CpuSet>,
}

impl Groups {
    fn place(&mut self, key: u32, cpu: CpuId) -> usize {
        let at = self.keys.iter().position(|known| *known == key).unwrap_or_else(|| {
            self.keys.push(key);
            self.sets.push(CpuSet::new());
            self.keys.len() - 1
        });
        if let Some(set) = self.sets.get_mut(at) {
            set.insert(cpu);
        }
        at
    }
}

impl Topology {
    /// Builds the machine. Groups without an online CPU are left out and take no number.
    #[must_use]
    pub fn new(places: &[CpuPlace]) -> Topology {
        let (mut cores, mut llcs, mut nodes, mut packages) =
            (Groups::default(), Groups::default(), Groups::default(), Groups::default());
        let mut list: Vec<Core> = Vec::new();
        let mut core_of = Vec::new();
        for place in places.iter().filter(|place| place.online) {
            let at = cores.place(place.core, place.cpu);
            let llc = place.llc.map(|key| llcs.place(key, place.cpu));
            let node = nodes.place(place.node, place.cpu);
            let package = packages.place(place.package, place.cpu);
            if at == list.len() {
                let (threads, cpus) = (Vec::new(), CpuSet::new());
                list.push(Core { threads, cpus, kind: place.kind, llc, node, package });
            }
            if let Some(core) = list.get_mut(at) {
                core.threads.push(place.cpu);
                core.cpus.insert(place.cpu);
            }
            let slot = place.cpu.0 as usize;
            if core_of.len() <= slot {
                core_of.resize(slot + 1, None);
            }
            if let Some(entry) = core_of.get_mut(slot) {
                *entry = Some(at as u32);
            }
        }
        let pick = |online: bool| places.iter().filter(|place| place.online == online).map(|place| place.cpu).collect();
        Topology {
            online: pick(true),
            offline: pick(false),
            fronts: list.iter().filter_map(|core| core.threads.first().copied()).collect(),
            cores: list,
            llcs: llcs.sets,
            nodes: nodes.sets,
            packages: packages.sets,
            core_of,
        }
    }
}
