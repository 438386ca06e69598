//! The machine as policies name it: an immutable value.
//!
//! Hardware threads are called CPUs and carry the operating system's numbers ([`CpuId`]). Everything above them (cores,
//! last-level caches, NUMA nodes, packages) is numbered from 0 in the order in which its first CPU appears in hwloc's
//! logical order; those are the numbers that `core 3` or `node 1` mean in a policy. Nothing here divides counts: every
//! core lists its own threads, because cores with 1, 2, 4 and 8 of them may stand side by side.

mod build;
mod describe;
mod environment;
mod error;
mod kinds;
mod load;
mod objects;
mod source;
#[cfg(test)]
mod tests;
mod xml;

pub use build::CpuPlace;
pub use describe::summary;
pub use error::TopologyError;
pub use source::TopologySource;

use crate::{CpuId, CpuSet};

/// What kind of core a hybrid processor calls it. On machines with one kind every core counts as performance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CoreKind {
    /// The fastest kind of the machine.
    Performance,
    /// Any slower kind.
    Efficiency,
}

/// One physical core and what is online of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Core {
    /// Its online threads, in hwloc's logical order; the first is the core's front, the others are its siblings.
    pub threads: Vec<CpuId>,
    /// The same as a set.
    pub cpus: CpuSet,
    /// Performance or efficiency.
    pub kind: CoreKind,
    /// Logical number of its last-level cache, where the machine reports caches.
    pub llc: Option<usize>,
    /// Logical number of its NUMA node.
    pub node: usize,
    /// Logical number of its package.
    pub package: usize,
}

/// A machine. Hotplug makes a new one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topology {
    online: CpuSet,
    offline: CpuSet,
    fronts: CpuSet,
    cores: Vec<Core>,
    llcs: Vec<CpuSet>,
    nodes: Vec<CpuSet>,
    packages: Vec<CpuSet>,
    /// Position in `cores` of each online CPU, by operating-system number.
    core_of: Vec<Option<u32>>,
}

impl Topology {
    /// Every online CPU.
    #[must_use]
    pub fn online(&self) -> &CpuSet {
        &self.online
    }

    /// CPUs that the machine has and that are switched off.
    #[must_use]
    pub fn offline(&self) -> &CpuSet {
        &self.offline
    }

    /// Cores with at least one online thread, in logical order.
    #[must_use]
    pub fn cores(&self) -> &[Core] {
        &self.cores
    }

    /// Last-level caches, in logical order; empty where the machine reports none.
    #[must_use]
    pub fn llcs(&self) -> &[CpuSet] {
        &self.llcs
    }

    /// NUMA nodes with online CPUs, in logical order.
    #[must_use]
    pub fn nodes(&self) -> &[CpuSet] {
        &self.nodes
    }

    /// Packages (sockets), in logical order.
    #[must_use]
    pub fn packages(&self) -> &[CpuSet] {
        &self.packages
    }

    /// The core that an online CPU belongs to.
    #[must_use]
    pub fn core_of(&self, cpu: CpuId) -> Option<&Core> {
        self.cores.get(self.core_index(cpu)?)
    }

    /// The logical number of the core that an online CPU belongs to.
    #[must_use]
    pub fn core_index(&self, cpu: CpuId) -> Option<usize> {
        self.core_of.get(cpu.0 as usize).copied().flatten().map(|core| core as usize)
    }

    /// Whether any core has more than one online thread.
    #[must_use]
    pub fn has_smt(&self) -> bool {
        self.cores.iter().any(|core| core.threads.len() > 1)
    }

    /// The CPUs of `set` that are the first online thread of their core.
    #[must_use]
    pub fn fronts(&self, set: &CpuSet) -> CpuSet {
        set.intersection(&self.fronts)
    }

    /// The CPUs of `set` that are not the first online thread of their core.
    #[must_use]
    pub fn siblings(&self, set: &CpuSet) -> CpuSet {
        set.difference(&self.fronts)
    }

    /// Logical numbers of the cores with a CPU in `set`, ascending.
    #[must_use]
    pub fn cores_in(&self, set: &CpuSet) -> Vec<usize> {
        (0..).zip(&self.cores).filter(|(_, core)| core.cpus.intersects(set)).map(|(at, _)| at).collect()
    }

    /// Every CPU of every core that has a CPU in `set`.
    #[must_use]
    pub fn whole_cores(&self, set: &CpuSet) -> CpuSet {
        let touched = self.cores.iter().filter(|core| core.cpus.intersects(set));
        touched.fold(CpuSet::new(), |all, core| all.union(&core.cpus))
    }

    /// Online CPUs of cores of that kind.
    #[must_use]
    pub fn of_kind(&self, kind: CoreKind) -> CpuSet {
        self.cores.iter().filter(|core| core.kind == kind).fold(CpuSet::new(), |all, core| all.union(&core.cpus))
    }
}
