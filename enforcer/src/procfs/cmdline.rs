//! `/proc/PID/cmdline`: proc_pid_cmdline(5).

use super::Procfs;
use crate::error::KernelError;
use crate::ids::Pid;

/// How many bytes of the arguments are read: 128 KiB. A process may have megabytes, and names nobody's policy with them.
pub const CMDLINE_LIMIT: usize = 128 * 1024;

/// The arguments of a process. They are the process's own memory: it may have written anything over them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cmdline {
    /// The arguments, the program's name first. None for kernel threads and zombies, and for an instant during execve(2):
    /// the new memory stands then, and the arguments are not in it yet. When the exec event comes, they are.
    pub arguments: Vec<Vec<u8>>,
    /// Whether there were more than [`CMDLINE_LIMIT`] bytes; the last argument may be cut then.
    pub truncated: bool,
}

impl Cmdline {
    /// Divides at the NUL that ends each argument; a process that wrote over its arguments may have left out the last.
    pub(super) fn parse(text: &[u8], limit: usize) -> Cmdline {
        let (text, truncated) = match text.get(..limit) {
            Some(beginning) => (beginning, text.len() > limit),
            None => (text, false),
        };
        let arguments = match text.strip_suffix(b"\0").unwrap_or(text) {
            [] if text.is_empty() => Vec::new(),
            text => text.split(|byte| *byte == 0).map(<[u8]>::to_vec).collect(),
        };
        Cmdline { arguments, truncated }
    }
}

impl Procfs {
    /// The arguments of a process, [`CMDLINE_LIMIT`] bytes at most. The kernel reads them from the process's memory, so
    /// this waits while the process's memory map is locked or a page of it comes from a slow disk.
    ///
    /// # Errors
    /// Gone where the process has ended.
    pub fn cmdline(&self, pid: Pid) -> Result<Cmdline, KernelError> {
        let entry = self.of_process(pid);
        let text = entry.read(&entry.directory.join("cmdline"), CMDLINE_LIMIT as u64 + 1)?;
        Ok(Cmdline::parse(&text, CMDLINE_LIMIT))
    }
}
