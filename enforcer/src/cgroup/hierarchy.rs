//! Which hierarchy has CPU sets on this host.

use std::path::{Path, PathBuf};

use nix::sys::statfs::{CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC, FsType, statfs};

use super::{Group, Version};
use crate::error::KernelError;

/// Where CPU sets are to be had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hierarchy {
    /// Version 1.
    V1 {
        /// The root of the hierarchy with the `cpuset` controller.
        cpuset: PathBuf,
        /// The root of the one with the `freezer` controller, where it is mounted by itself.
        freezer: Option<PathBuf>,
    },
    /// Version 2, which freezes by itself.
    V2 {
        /// The root.
        root: PathBuf,
    },
    /// No `cpuset` controller is mounted here; only affinity is left.
    None,
}

/// Whether to believe file names alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Magic {
    /// Ask statfs(2) whether it is a control group file system, so that an ordinary directory cannot pose as one.
    Check,
    /// Do not ask, for a tree that a test made.
    Trust,
}

impl Hierarchy {
    /// Looks at what is mounted at and directly below `root`, usually `/sys/fs/cgroup`. The `cpuset` controller is in one
    /// hierarchy at most: version 2 at the root, version 1 in `cpuset` or at the root itself where it is the only mount,
    /// or version 2 in `unified`, where systemd mounts it beside version 1.
    #[must_use]
    pub fn detect(root: &Path, magic: Magic) -> Hierarchy {
        if has_cpuset_v2(root, magic) {
            return Hierarchy::V2 { root: root.to_owned() };
        }
        // The single mount first: below it, `cpuset` can only be an ordinary group of that name.
        if has_cpuset_v1(root, magic) {
            return Hierarchy::V1 { cpuset: root.to_owned(), freezer: None };
        }
        let cpuset = root.join("cpuset");
        if has_cpuset_v1(&cpuset, magic) {
            let freezer = Some(root.join("freezer")).filter(|freezer| {
                // The root group has no freezer.state, so the members' file must do.
                freezer.join("tasks").exists() && magic.is(freezer, CGROUP_SUPER_MAGIC)
            });
            return Hierarchy::V1 { cpuset, freezer };
        }
        let unified = root.join("unified");
        match has_cpuset_v2(&unified, magic) {
            true => Hierarchy::V2 { root: unified },
            false => Hierarchy::None,
        }
    }

    /// The version, where there is a hierarchy.
    #[must_use]
    pub fn version(&self) -> Option<Version> {
        match self {
            Hierarchy::V1 { .. } => Some(Version::V1),
            Hierarchy::V2 { .. } => Some(Version::V2),
            Hierarchy::None => None,
        }
    }

    /// Opens the root group for CPU sets; `None` where there is no hierarchy.
    ///
    /// # Errors
    /// As [`Group::open`].
    pub fn cpuset_root(&self) -> Result<Option<Group>, KernelError> {
        match self {
            Hierarchy::V1 { cpuset, .. } => Group::open(cpuset, Version::V1).map(Some),
            Hierarchy::V2 { root } => Group::open(root, Version::V2).map(Some),
            Hierarchy::None => Ok(None),
        }
    }

    /// Opens the root group for freezing; `None` where nothing can be frozen. On version 2 it is the same group as for CPU
    /// sets, on version 1 it is another tree, in which threads must be placed besides.
    ///
    /// # Errors
    /// As [`Group::open`].
    pub fn freezer_root(&self) -> Result<Option<Group>, KernelError> {
        match self {
            Hierarchy::V1 { freezer: Some(freezer), .. } => Group::open(freezer, Version::V1).map(Some),
            Hierarchy::V2 { root } => Group::open(root, Version::V2).map(Some),
            Hierarchy::V1 { freezer: None, .. } | Hierarchy::None => Ok(None),
        }
    }
}

impl Magic {
    fn is(self, path: &Path, wanted: FsType) -> bool {
        #[cfg(test)]
        if crate::fake::is_hierarchy(path) {
            return true;
        }
        self == Magic::Trust || statfs(path).is_ok_and(|found| found.filesystem_type() == wanted)
    }
}

fn has_cpuset_v1(root: &Path, magic: Magic) -> bool {
    root.join("cpuset.cpus").exists() && root.join("tasks").exists() && magic.is(root, CGROUP_SUPER_MAGIC)
}

fn has_cpuset_v2(root: &Path, magic: Magic) -> bool {
    let controllers = std::fs::read_to_string(root.join("cgroup.controllers")).unwrap_or_default();
    controllers.split_ascii_whitespace().any(|name| name == "cpuset") && magic.is(root, CGROUP2_SUPER_MAGIC)
}
