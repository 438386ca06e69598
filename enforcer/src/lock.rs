//! One enforcer a run directory.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};

use crate::error::{KernelError, errno_of};
use crate::ids::Pid;

/// Holds the run directory until it is dropped. The kernel lets go of it when the holder ends, however it ends
/// (flock(2)), so there are no stale locks.
#[derive(Debug)]
pub struct RunLock {
    _held: Flock<File>,
}

/// Why the directory cannot be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Busy {
    /// Another enforcer has it.
    #[error("another cotenant (process {}) works in `{directory}`", holder.map_or_else(|| "unknown".to_owned(), |pid| pid.to_string()))]
    Held {
        /// Its process.
        holder: Option<Pid>,
        /// The run directory.
        directory: String,
    },
    /// The lock file cannot be used.
    #[error(transparent)]
    Kernel(#[from] KernelError),
}

impl RunLock {
    /// Takes the directory, which is made if need be.
    ///
    /// # Errors
    /// Where another process holds it, or it cannot be made or trusted.
    pub fn take(run: &Path) -> Result<RunLock, Busy> {
        crate::journal::prepare_directory(run)?;
        let path = run.join("lock");
        let mut options = OpenOptions::new();
        let flags = libc::O_NOFOLLOW | libc::O_CLOEXEC;
        options.read(true).write(true).create(true).truncate(false).mode(0o600).custom_flags(flags);
        let file = options.open(&path).map_err(|error| KernelError::file(&path, "open", errno_of(&error)))?;
        match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(mut held) => {
                let write = held.set_len(0).and_then(|()| held.write_all(std::process::id().to_string().as_bytes()));
                write.map_err(|error| KernelError::file(&path, "write", errno_of(&error)))?;
                Ok(RunLock { _held: held })
            }
            Err((mut file, Errno::EWOULDBLOCK)) => {
                let mut text = String::new();
                let holder = file.read_to_string(&mut text).ok().and_then(|_| text.trim().parse().ok()).map(Pid);
                Err(Busy::Held { holder, directory: run.display().to_string() })
            }
            Err((_, errno)) => Err(KernelError::file(&path, "flock", errno).into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_is_told_of_the_first() {
        let run = tempfile::tempdir().unwrap();
        let first = RunLock::take(run.path()).unwrap();
        let busy = RunLock::take(run.path()).unwrap_err();
        assert_eq!(busy, Busy::Held { holder: Some(Pid::current()), directory: run.path().display().to_string() });
        drop(first);
        RunLock::take(run.path()).unwrap();
    }
}
