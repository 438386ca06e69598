//! What `/proc` shows: proc(5).

use std::path::Path;

use nix::errno::Errno;

use super::Kernel;
use crate::cgroup::Version;
use crate::ids::{Pid, Tid};

/// `PF_FORKNOEXEC`, `include/linux/sched.h`.
const FORKED_NO_EXEC: u32 = 0x40;

impl Kernel {
    /// None where the path is not of a process.
    pub(crate) fn read_proc(&self, path: &Path) -> Option<Result<Vec<u8>, Errno>> {
        let below = path.strip_prefix(self.mounts.join("proc")).ok()?.to_str()?;
        let mut parts = below.split('/');
        let pid = Pid(parts.next()?.parse().ok()?);
        let (tid, file) = match (parts.next()?, parts.next(), parts.next()) {
            ("task", Some(tid), Some(file)) => (Tid(tid.parse().ok()?), file),
            (file, None, None) => (pid.leader(), file),
            _ => return None,
        };
        Some(self.show_process(pid, tid, file, below.contains("task")))
    }

    fn show_process(&self, pid: Pid, tid: Tid, file: &str, of_thread: bool) -> Result<Vec<u8>, Errno> {
        // Every thread has a directory by its id, too, though the list leaves it out.
        let task = self.tasks.get(&tid).ok_or(Errno::ENOENT)?;
        if of_thread && task.process != pid {
            return Err(Errno::ENOENT);
        }
        let process = self.processes.get(&task.process).ok_or(Errno::ENOENT)?;
        let text = match file {
            "stat" => {
                let state = if task.is_zombie { 'Z' } else { 'S' };
                let flags = if process.has_execed { 0 } else { FORKED_NO_EXEC };
                let (comm, parent, nice) = (&task.comm, process.parent, task.sched.nice);
                let (threads, start) = (process.threads.len(), task.start);
                format!(
                    "{tid} ({comm}) {state} {parent} 1 1 0 -1 {flags} 0 0 0 0 0 0 0 0 20 {nice} {threads} 0 {start} \
                     0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0\n"
                )
            }
            "status" => format!(
                "Name:\t{}\nTgid:\t{}\nUid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\nCpus_allowed_list:\t{}\n",
                task.comm, task.process, task.allowed
            ),
            "cmdline" if task.is_zombie => String::new(),
            "cmdline" => format!("{}\0", process.exe),
            "exe" if task.is_zombie => return Err(Errno::ENOENT),
            "exe" => process.exe.clone(),
            "cgroup" => match (self.version(), task.is_zombie) {
                (None, _) => String::new(),
                // A zombie is shown in the roots of version 1.
                (Some(Version::V1), true) => "2:cpuset:/\n1:freezer:/\n".to_owned(),
                (Some(Version::V1), false) => format!("2:cpuset:{}\n1:freezer:{}\n", task.cpuset, task.freezer),
                (Some(Version::V2), _) => format!("0::{}\n", task.cpuset),
            },
            _ => return Err(Errno::ENOENT),
        };
        Ok(text.into_bytes())
    }

    /// None where the path is neither the root nor a process's list of threads.
    pub(crate) fn list_proc(&self, path: &Path) -> Option<Result<Vec<i32>, Errno>> {
        let below = path.strip_prefix(self.mounts.join("proc")).ok()?.to_str()?;
        if below.is_empty() {
            return Some(Ok(self.processes.keys().map(|pid| pid.0).collect()));
        }
        let pid = Pid(below.strip_suffix("/task")?.parse().ok()?);
        let process = self.processes.get(&pid).ok_or(Errno::ENOENT);
        Some(process.map(|process| {
            let mut threads: Vec<i32> = process.threads.iter().map(|tid| tid.0).collect();
            threads.sort_unstable();
            threads
        }))
    }

    pub(crate) fn version(&self) -> Option<Version> {
        self.groups.version
    }
}
