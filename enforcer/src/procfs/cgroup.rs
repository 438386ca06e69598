//! `/proc/PID/cgroup`: cgroups(7), "/proc files".

use super::Procfs;
use crate::error::KernelError;
use crate::ids::{Pid, Tid};

/// The groups of one process, one in each hierarchy.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cgroups(
    /// In the file's order: newest version 1 hierarchy first, version 2 last.
    pub Vec<Membership>,
);

/// A process's place in one hierarchy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Membership {
    /// The controllers of a version 1 hierarchy, or its name such as `name=systemd`; empty for version 2.
    pub controllers: Vec<String>,
    /// The path from the hierarchy's root, `/` alone for the root; without the ` (deleted)` of a group removed since. It
    /// begins with `/..` for a group outside this program's cgroup namespace, unless [`Procfs::with_groups_of`] knows more.
    pub path: Vec<u8>,
}

impl Cgroups {
    /// The path in the version 2 hierarchy, where one is mounted.
    #[must_use]
    pub fn unified(&self) -> Option<&[u8]> {
        self.0.iter().find(|membership| membership.controllers.is_empty()).map(|membership| membership.path.as_slice())
    }

    /// The path in the version 1 hierarchy that has this controller, where there is one.
    #[must_use]
    pub fn controller(&self, name: &str) -> Option<&[u8]> {
        let has = |membership: &&Membership| membership.controllers.iter().any(|controller| controller == name);
        self.0.iter().find(has).map(|membership| membership.path.as_slice())
    }

    /// All distinct paths, in the file's order.
    #[must_use]
    pub fn paths(&self) -> Vec<&[u8]> {
        let mut paths = Vec::new();
        for membership in &self.0 {
            if !paths.contains(&membership.path.as_slice()) {
                paths.push(membership.path.as_slice());
            }
        }
        paths
    }

    pub(super) fn parse(text: &[u8]) -> Option<Cgroups> {
        // The kernel refuses line breaks in a group's name, but not colons: only the first two divide.
        let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        lines.map(Membership::parse).collect::<Option<Vec<_>>>().map(Cgroups)
    }
}

impl Membership {
    fn parse(line: &[u8]) -> Option<Membership> {
        let mut parts = line.splitn(3, |byte| *byte == b':');
        let (_hierarchy, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        let controllers = controllers.split(|byte| *byte == b',').filter(|name| !name.is_empty());
        Some(Membership {
            controllers: controllers.map(|name| String::from_utf8_lossy(name).into_owned()).collect(),
            path: path.strip_suffix(b" (deleted)").unwrap_or(path).to_vec(),
        })
    }
}

impl Procfs {
    /// The groups of a process, which are its leader's.
    ///
    /// # Errors
    /// Gone where it has ended; `EBADMSG` for a text that cannot be read.
    pub fn cgroups(&self, pid: Pid) -> Result<Cgroups, KernelError> {
        self.of_process(pid).parse("cgroup", Cgroups::parse).map(|cgroups| self.namespace.on_the_host(cgroups))
    }

    /// The groups of one thread, which can differ on version 1 and in threaded groups of version 2.
    ///
    /// # Errors
    /// As [`Procfs::cgroups`].
    pub fn thread_cgroups(&self, pid: Pid, tid: Tid) -> Result<Cgroups, KernelError> {
        self.of_thread(pid, tid).parse("cgroup", Cgroups::parse).map(|cgroups| self.namespace.on_the_host(cgroups))
    }
}
