//! Reading `/proc`: proc(5), one file of the kernel in one file here.
//!
//! Names, paths and arguments are bytes, as the kernel has them; nothing says that they are UTF-8. Everything read is a
//! moment's truth: a process can end between two reads, and then the error's [`KernelError::is_gone`] is true.

mod cgroup;
mod cmdline;
mod cpu_times;
mod exe;
mod namespace;
mod release;
mod scan;
mod schedstat;
mod stat;
mod status;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use nix::errno::Errno;

pub use cgroup::{Cgroups, Membership};
pub use cmdline::{CMDLINE_LIMIT, Cmdline};
pub use cpu_times::{CpuTimes, CpuTimesReader};
pub use exe::Exe;
pub use schedstat::SchedStat;
pub use stat::Stat;
pub(crate) use stat::{CLOCK_TICK, Whereabouts};
pub use status::Status;

use namespace::Namespace;

use crate::error::{KernelError, Object, errno_of};
use crate::ids::{Pid, Tid};

/// A process file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Procfs {
    root: PathBuf,
    namespace: Namespace,
}

impl Procfs {
    /// The one mounted at `root`, usually `/proc`.
    pub fn new(root: impl Into<PathBuf>) -> Procfs {
        Procfs { root: root.into(), namespace: Namespace::default() }
    }

    /// The same, which tells groups by their paths on the host, whose trees are mounted at `cgroup`, usually
    /// `/sys/fs/cgroup`. That matters in a container that has a cgroup namespace of its own.
    #[must_use]
    pub fn with_groups_of(self, cgroup: &Path) -> Procfs {
        let namespace = Namespace::find(&self, cgroup);
        Procfs { namespace, ..self }
    }

    /// Where it is mounted.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    fn of_process(&self, pid: Pid) -> Entry {
        Entry { directory: self.root.join(pid.to_string()) }
    }

    fn of_thread(&self, pid: Pid, tid: Tid) -> Entry {
        Entry { directory: self.root.join(format!("{pid}/task/{tid}")) }
    }
}

/// The directory of one process or thread.
struct Entry {
    directory: PathBuf,
}

impl Entry {
    /// Reads a whole file and hands it to `parse`, whose `None` becomes an error that shows the text.
    fn parse<T>(&self, file: &str, parse: impl FnOnce(&[u8]) -> Option<T>) -> Result<T, KernelError> {
        let path = self.directory.join(file);
        let text = self.read(&path, u64::MAX)?;
        parse(&text).ok_or_else(|| KernelError::unreadable(&path, &text))
    }

    fn read(&self, path: &Path, limit: u64) -> Result<Vec<u8>, KernelError> {
        #[cfg(test)]
        if let Some(played) = crate::fake::read_proc(path) {
            return played.map_err(|errno| self.error(path, "read", errno));
        }
        let file = File::open(path).map_err(|error| self.error(path, "open", errno_of(&error)))?;
        // Most files here are below 2 KiB and none says its size beforehand.
        let mut text = Vec::with_capacity(2048);
        file.take(limit).read_to_end(&mut text).map_err(|error| self.error(path, "read", errno_of(&error)))?;
        Ok(text)
    }

    /// A missing file means a process that ended only where its directory is missing too; else the kernel lacks the file.
    fn error(&self, path: &Path, operation: &'static str, errno: Errno) -> KernelError {
        let object = match errno == Errno::ENOENT && self.directory.exists() {
            true => Object::File(path.to_owned()),
            false => Object::ProcessFile(path.to_owned()),
        };
        KernelError::new(object, operation, errno)
    }
}

/// A number in decimal digits.
fn number<T: std::str::FromStr>(digits: &[u8]) -> Option<T> {
    std::str::from_utf8(digits).ok()?.trim().parse().ok()
}

/// A number of digits only, for what is read every tick.
fn digits(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0_u64, |number, byte| {
        let digit = byte.checked_sub(b'0').filter(|digit| *digit < 10)?;
        number.checked_mul(10)?.checked_add(u64::from(digit))
    })
}
