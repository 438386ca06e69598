//! `/proc/PID/exe`: proc_pid_exe(5).

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;

use nix::errno::Errno;

use super::Procfs;
use crate::error::{KernelError, errno_of};
use crate::ids::Pid;

/// The program that a process runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exe {
    /// The resolved path as the process's own root has it, without the kernel's ` (deleted)`.
    pub path: Vec<u8>,
    /// Whether the file was removed or replaced since, as after an upgrade. A file whose own name ends in ` (deleted)`
    /// cannot be told from that.
    pub deleted: bool,
}

impl Exe {
    pub(super) fn parse(mut link: Vec<u8>) -> Exe {
        let suffix = b" (deleted)";
        let deleted = link.ends_with(suffix);
        if deleted {
            link.truncate(link.len() - suffix.len());
        }
        Exe { path: link, deleted }
    }
}

impl Procfs {
    /// The program of a process; `None` where it has none, as a kernel thread or a zombie.
    ///
    /// # Errors
    /// Gone where the process has ended; `EACCES` without `CAP_SYS_PTRACE` on another user's.
    pub fn exe(&self, pid: Pid) -> Result<Option<Exe>, KernelError> {
        let entry = self.of_process(pid);
        let path = entry.directory.join("exe");
        #[cfg(test)]
        if let Some(played) = crate::fake::read_proc(&path) {
            return played.map(|link| Some(Exe::parse(link))).map_err(|errno| entry.error(&path, "readlink", errno));
        }
        match fs::read_link(&path) {
            Ok(link) => Ok(Some(Exe::parse(link.into_os_string().into_vec()))),
            Err(error) => match entry.error(&path, "readlink", errno_of(&error)) {
                error if error.errno() == Errno::ENOENT && !error.is_gone() => Ok(None),
                error => Err(error),
            },
        }
    }

    /// Whether what [`Procfs::exe`] says is the file that this process finds at that path, too, and not one that was mounted
    /// over it for that process alone, or there under another root. Of a file that was removed since, as by an upgrade, that
    /// it was root's alone says enough: nobody else could have removed it.
    ///
    /// # Errors
    /// As [`Procfs::exe`].
    pub fn is_its_exe(&self, pid: Pid) -> Result<bool, KernelError> {
        let entry = self.of_process(pid);
        let link = entry.directory.join("exe");
        let Some(exe) = self.exe(pid)? else { return Ok(false) };
        // Nothing is mounted over anything in a kernel that is played.
        #[cfg(test)]
        if crate::fake::installed().is_some() {
            return Ok(true);
        }
        // The link leads to the file itself, whatever stands at the path.
        let runs = fs::metadata(&link).map_err(|error| entry.error(&link, "stat", errno_of(&error)))?;
        if exe.deleted {
            return Ok(runs.nlink() == 0 && runs.uid() == 0 && runs.mode() & 0o022 == 0);
        }
        let here = fs::metadata(OsStr::from_bytes(&exe.path));
        Ok(here.is_ok_and(|here| (here.dev(), here.ino()) == (runs.dev(), runs.ino())))
    }
}
