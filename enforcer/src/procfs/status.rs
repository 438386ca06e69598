//! `/proc/PID/status`: proc_pid_status(5).

use cotenant_compiler::CpuSet;

use super::{Procfs, number};
use crate::error::KernelError;
use crate::ids::{Pid, Tid};

/// Who a thread is and where it may run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// The process it belongs to.
    pub process: Pid,
    /// The effective user id, in the initial user namespace where this program runs there.
    pub user: u32,
    /// The effective group id.
    pub group: u32,
    /// The CPUs it may run on: its own mask within its cpuset, with offline CPUs where the cpuset has them.
    pub cpus: CpuSet,
}

impl Status {
    pub(super) fn parse(text: &[u8]) -> Option<Status> {
        let (mut process, mut user, mut group, mut cpus) = (None, None, None, None);
        for line in text.split(|byte| *byte == b'\n') {
            // The name line comes first and the kernel escapes line breaks in it, so no name can pose as another line.
            let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
            let (key, value) = (line.get(..colon)?, line.get(colon + 1..)?.trim_ascii());
            match key {
                b"Tgid" => process = Some(Pid(number(value)?)),
                // Real, effective, saved, file system.
                b"Uid" => user = Some(number(value.split(u8::is_ascii_whitespace).nth(1)?)?),
                b"Gid" => group = Some(number(value.split(u8::is_ascii_whitespace).nth(1)?)?),
                b"Cpus_allowed_list" => cpus = Some(std::str::from_utf8(value).ok()?.parse().ok()?),
                _ => {}
            }
        }
        Some(Status { process: process?, user: user?, group: group?, cpus: cpus? })
    }
}

impl Procfs {
    /// The status of a process, which is its leader's.
    ///
    /// # Errors
    /// Gone where it has ended; `EBADMSG` for a text that cannot be read.
    pub fn status(&self, pid: Pid) -> Result<Status, KernelError> {
        self.of_process(pid).parse("status", Status::parse)
    }

    /// The status of one thread.
    ///
    /// # Errors
    /// As [`Procfs::status`].
    pub fn thread_status(&self, pid: Pid, tid: Tid) -> Result<Status, KernelError> {
        self.of_thread(pid, tid).parse("status", Status::parse)
    }
}
