//! Control groups: which hierarchy has CPU sets here, and one group's files. See cgroups(7), cpuset(7),
//! `Documentation/admin-guide/cgroup-v1/` and `cgroup-v2.rst`.

mod cpuset;
mod freezer;
mod group;
mod hierarchy;
mod members;
#[cfg(test)]
mod tests;

pub use cpuset::MemoryNodes;
pub use freezer::FreezerState;
pub use group::Group;
pub use hierarchy::{Hierarchy, Magic};

/// The two kinds of control groups, whose files differ in name and meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Version {
    /// One hierarchy for each controller, threads placed singly.
    V1,
    /// One hierarchy, controllers enabled group by group, processes placed whole outside threaded subtrees.
    V2,
}
