//! The files of the `cpuset` controller: cpuset(7), `cgroup-v2.rst` under "Cpuset".

use std::fmt;

use cotenant_compiler::CpuSet;

use super::{Group, Version};
use crate::error::KernelError;

/// A set of memory nodes in the kernel's list format. It is only ever handed from one group to another.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MemoryNodes(pub String);

impl fmt::Display for MemoryNodes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Group {
    /// Whether the group has the files below. On version 2 it has them only where its parent's `cgroup.subtree_control`
    /// enables the controller, and the root group has no `cpuset.cpus` at all.
    #[must_use]
    pub fn has_cpuset(&self) -> bool {
        self.has("cpuset.cpus")
    }

    /// `cpuset.cpus`: the CPUs asked for. Empty on version 2 means what the parent has.
    ///
    /// # Errors
    /// `ENOENT` without [`Group::has_cpuset`]; `ENODEV` where the group was removed.
    pub fn cpus(&self) -> Result<CpuSet, KernelError> {
        self.parse("cpuset.cpus", |text| text.parse().ok())
    }

    /// Sets `cpuset.cpus`; the kernel moves the group's threads at once. About 1 µs a thread.
    ///
    /// # Errors
    /// `ERANGE` for numbers this kernel does not know; `EINVAL` for what is not online or overlaps an exclusive sibling; and on version 1 `EACCES` for what the parent
    /// lacks and on the root group, `EBUSY` for what a child group has, `ENOSPC` for nothing while threads are in it.
    pub fn set_cpus(&self, cpus: &CpuSet) -> Result<(), KernelError> {
        self.write("cpuset.cpus", &cpus.to_string())
    }

    /// The CPUs that the group's threads may use in fact: what was asked for, within the parent's, online.
    /// `cpuset.effective_cpus` on version 1, `cpuset.cpus.effective` on version 2.
    ///
    /// # Errors
    /// As [`Group::cpus`].
    pub fn effective_cpus(&self) -> Result<CpuSet, KernelError> {
        let file = match self.version() {
            Version::V1 => "cpuset.effective_cpus",
            Version::V2 => "cpuset.cpus.effective",
        };
        self.parse(file, |text| text.parse().ok())
    }

    /// `cpuset.mems`: the memory nodes asked for.
    ///
    /// # Errors
    /// As [`Group::cpus`].
    pub fn mems(&self) -> Result<MemoryNodes, KernelError> {
        self.parse("cpuset.mems", |text| Some(MemoryNodes(text.to_owned())))
    }

    /// Sets `cpuset.mems`. On version 2, memory that threads have elsewhere is moved, which can take long.
    ///
    /// # Errors
    /// As [`Group::set_cpus`].
    pub fn set_mems(&self, nodes: &MemoryNodes) -> Result<(), KernelError> {
        self.write("cpuset.mems", &nodes.0)
    }

    /// Gives the group the CPUs and memory nodes of its parent, without which a version 1 group takes no threads.
    ///
    /// # Errors
    /// As [`Group::cpus`] and [`Group::set_cpus`].
    pub fn copy_cpuset_from(&self, parent: &Group) -> Result<(), KernelError> {
        self.set_mems(&parent.mems()?)?;
        self.set_cpus(&parent.cpus()?)
    }
}
