//! Who is in a group, and moving processes and threads into it.

use nix::errno::Errno;

use super::{Group, Version};
use crate::error::KernelError;
use crate::ids::{Pid, Tid};

impl Group {
    /// `cgroup.procs`: the processes in the group, lowest id first; on version 1 those with any thread in it. Those
    /// outside this program's process namespace are left out.
    ///
    /// # Errors
    /// `EOPNOTSUPP` in a threaded group of version 2; `ENODEV` where the group was removed.
    pub fn procs(&self) -> Result<Vec<Pid>, KernelError> {
        Ok(self.ids("cgroup.procs")?.into_iter().map(Pid).collect())
    }

    /// The threads in the group, lowest id first: `tasks` on version 1, `cgroup.threads` on version 2.
    ///
    /// # Errors
    /// `ENODEV` where the group was removed.
    pub fn threads(&self) -> Result<Vec<Tid>, KernelError> {
        Ok(self.ids(self.threads_file())?.into_iter().map(Tid).collect())
    }

    /// Moves a process with all its threads here. Up to 11 ms.
    ///
    /// # Errors
    /// `ESRCH` where it has ended (the error is gone); `ENOSPC` in a version 1 cpuset without CPUs or memory nodes; `EINVAL`
    /// for some kernel threads; `EBUSY` in a version 2 group that hands out controllers; `EACCES` without permission.
    pub fn add_process(&self, pid: Pid) -> Result<(), KernelError> {
        self.add("cgroup.procs", pid.0)
    }

    /// Moves a single thread here.
    ///
    /// # Errors
    /// As [`Group::add_process`], and `EOPNOTSUPP` on version 2 outside the process's threaded subtree.
    pub fn add_thread(&self, tid: Tid) -> Result<(), KernelError> {
        self.add(self.threads_file(), tid.0)
    }

    fn threads_file(&self) -> &'static str {
        match self.version() {
            Version::V1 => "tasks",
            Version::V2 => "cgroup.threads",
        }
    }

    fn add(&self, file: &'static str, id: i32) -> Result<(), KernelError> {
        // 0 would move the caller, and no process has a negative id.
        if id <= 0 {
            return Err(KernelError::file(self.directory().join(file), "write", Errno::EINVAL).with_value(id));
        }
        self.write(file, &id.to_string())
    }

    /// The kernel sorts by chance only, may name a process twice, and writes 0 for one of another namespace.
    fn ids(&self, file: &'static str) -> Result<Vec<i32>, KernelError> {
        let parse = |text: &str| text.split_ascii_whitespace().map(|id| id.parse().ok()).collect::<Option<Vec<i32>>>();
        let mut ids = self.parse(file, parse)?;
        ids.retain(|id| *id > 0);
        ids.sort_unstable();
        ids.dedup();
        Ok(ids)
    }
}
