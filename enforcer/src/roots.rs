//! Where the kernel's file systems and the enforcer's own directory are.

use std::path::PathBuf;

/// The directories that everything in this crate works below. They are arguments, never constants, so that a test can
/// hand in a tree of its own and a container the host's tree where it is mounted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Roots {
    /// The process file system, `/proc` (proc(5)).
    pub proc: PathBuf,
    /// The device file system, `/sys` (sysfs(5)), for topology and hotplug.
    pub sys: PathBuf,
    /// The control groups, `/sys/fs/cgroup` (cgroups(7)): a version 2 tree, or the directory of the version 1 mounts.
    pub cgroup: PathBuf,
    /// The enforcer's own directory for journal, socket and lock, `/run/cotenant`. Lost at reboot, as what it describes is.
    pub run: PathBuf,
    /// The name of the control group, relative to a hierarchy's root, below which the enforcer makes its own groups.
    pub group: String,
}

impl Default for Roots {
    /// The places of an ordinary host.
    fn default() -> Roots {
        Roots {
            proc: PathBuf::from("/proc"),
            sys: PathBuf::from("/sys"),
            cgroup: PathBuf::from("/sys/fs/cgroup"),
            run: PathBuf::from("/run/cotenant"),
            group: String::from("cotenant"),
        }
    }
}
