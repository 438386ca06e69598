//! Which processes and threads there are.

use std::fs;
use std::io;
use std::path::Path;

use super::Procfs;
use crate::error::{KernelError, errno_of};
use crate::ids::{Pid, Tid};

impl Procfs {
    /// The processes, kernel threads among them, lowest id first. One that starts meanwhile may be missing; that is what
    /// a connector opened before the scan is for.
    ///
    /// # Errors
    /// Where the directory cannot be read.
    pub fn processes(&self) -> Result<Vec<Pid>, KernelError> {
        let numbers =
            numbers(&self.root).map_err(|error| KernelError::file(&self.root, "readdir", errno_of(&error)))?;
        Ok(numbers.into_iter().map(Pid).collect())
    }

    /// The threads of a process, lowest id first; the leader need not be. While threads start and end, the kernel may
    /// leave one out, so a caller that must have all reads until two readings agree.
    ///
    /// # Errors
    /// Gone where the process has ended.
    pub fn threads(&self, pid: Pid) -> Result<Vec<Tid>, KernelError> {
        let entry = self.of_process(pid);
        let path = entry.directory.join("task");
        let numbers = numbers(&path).map_err(|error| entry.error(&path, "readdir", errno_of(&error)))?;
        Ok(numbers.into_iter().map(Tid).collect())
    }

    /// Some thread of a process that has not ended, for one whose leader has.
    #[must_use]
    pub fn living_thread(&self, pid: Pid) -> Option<Tid> {
        let lives = |tid: &Tid| self.thread_stat(pid, *tid).is_ok_and(|stat| !stat.is_zombie());
        self.threads(pid).ok()?.into_iter().find(lives)
    }
}

/// The entries of a directory that are numbers, sorted.
fn numbers(directory: &Path) -> io::Result<Vec<i32>> {
    #[cfg(test)]
    if let Some(played) = crate::fake::list_proc(directory) {
        return played.map_err(io::Error::from);
    }
    let mut numbers = Vec::new();
    for entry in fs::read_dir(directory)? {
        numbers.extend(entry?.file_name().to_str().and_then(|name| name.parse::<i32>().ok()));
    }
    numbers.sort_unstable();
    Ok(numbers)
}
