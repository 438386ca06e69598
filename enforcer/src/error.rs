//! What the kernel refused: which object, which operation, which value, why, and what to do about it.

mod remedy;
#[cfg(test)]
mod tests;

use std::fmt::{self, Write};
use std::io;
use std::path::{Path, PathBuf};

use caps::Capability;
use nix::errno::Errno;

use crate::ids::{Pid, Tid};

/// What an operation was applied to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Object {
    /// A file or directory that belongs to no single process.
    File(PathBuf),
    /// A file below `/proc/PID` or `/proc/PID/task/TID`, which goes when the process goes.
    ProcessFile(PathBuf),
    /// A process, by a system call.
    Process(Pid),
    /// A thread, by a system call.
    Thread(Tid),
    /// The netlink socket that carries process events.
    Connector,
    /// The BPF program that watches switches.
    Sensor,
    /// A capability of this process, capabilities(7).
    Capability(Capability),
}

impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Object::File(path) | Object::ProcessFile(path) => write_line(f, &path.to_string_lossy()),
            Object::Process(pid) => write!(f, "process {pid}"),
            Object::Thread(tid) => write!(f, "thread {tid}"),
            Object::Connector => f.write_str("process connector"),
            Object::Sensor => f.write_str("the sensor's BPF program"),
            Object::Capability(capability) => capability.fmt(f),
        }
    }
}

/// Writes a text that others may have chosen, such as the name of a group, as part of one line that moves no cursor.
fn write_line(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    text.chars().try_for_each(|c| match c.is_control() {
        true => write!(f, "{}", c.escape_default()),
        false => f.write_char(c),
    })
}

/// A refusal by the kernel. Reads ``cannot write `0-3` to /…/cpuset.cpus: Invalid argument: `` and then the remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct KernelError {
    object: Object,
    operation: &'static str,
    value: Option<String>,
    #[source]
    errno: Errno,
}

impl KernelError {
    /// An operation without a value, such as a read.
    pub fn new(object: Object, operation: &'static str, errno: Errno) -> KernelError {
        KernelError { object, operation, value: None, errno }
    }

    /// The same on a path.
    pub(crate) fn file(path: impl Into<PathBuf>, operation: &'static str, errno: impl Into<Errno>) -> KernelError {
        KernelError::new(Object::File(path.into()), operation, errno.into())
    }

    /// A text from the kernel that this program cannot read. `EBADMSG` stands for it; the value shown is its beginning.
    pub(crate) fn unreadable(path: &Path, text: &[u8]) -> KernelError {
        let beginning: String = String::from_utf8_lossy(text).chars().take(80).collect();
        KernelError::file(path, "parse", Errno::EBADMSG).with_value(beginning.trim_end())
    }

    /// Adds the value that was to be set.
    #[must_use]
    pub fn with_value(mut self, value: impl fmt::Display) -> KernelError {
        self.value = Some(value.to_string());
        self
    }

    /// What was operated on.
    #[must_use]
    pub fn object(&self) -> &Object {
        &self.object
    }

    /// The operation: `open`, `read`, `write`, `parse`, or the name of a system call.
    #[must_use]
    pub fn operation(&self) -> &'static str {
        self.operation
    }

    /// The value that was to be set, where the operation has one.
    #[must_use]
    pub fn value(&self) -> Option<&str> {
        self.value.as_deref()
    }

    /// The kernel's reason, errno(3).
    #[must_use]
    pub fn errno(&self) -> Errno {
        self.errno
    }

    /// Whether the process or thread ended meanwhile: nothing is wrong then, there is only nothing left to do.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        self.errno == Errno::ESRCH || (self.errno == Errno::ENOENT && matches!(self.object, Object::ProcessFile(_)))
    }

    /// Whether the group was removed meanwhile, with all that could be undone in it.
    #[must_use]
    pub fn is_removed(&self) -> bool {
        matches!(self.object, Object::File(_)) && matches!(self.errno, Errno::ENOENT | Errno::ENODEV)
    }

    /// What to do about it, one lower-case clause; `None` where the kernel's reason says it all.
    #[must_use]
    pub fn remedy(&self) -> Option<&'static str> {
        remedy::of(self)
    }
}

impl fmt::Display for KernelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let KernelError { object, operation, value, errno } = self;
        match (value, object, *operation) {
            (Some(value), _, "write") => write!(f, "cannot write `{value}` to {object}")?,
            (Some(value), _, "parse") => write!(f, "cannot parse `{value}` from {object}")?,
            (Some(value), ..) => write!(f, "cannot {operation} `{value}` on {object}")?,
            (None, Object::Capability(_), "use") => write!(f, "{object} is missing")?,
            (None, Object::File(_) | Object::ProcessFile(_) | Object::Sensor, _) => {
                write!(f, "cannot {operation} {object}")?
            }
            (None, ..) => write!(f, "cannot {operation} on {object}")?,
        }
        if !matches!(object, Object::Capability(_)) {
            write!(f, ": {}", errno.desc())?;
        }
        match self.remedy() {
            Some(remedy) => write!(f, ": {remedy}"),
            None => Ok(()),
        }
    }
}

/// The kernel's number behind an error of the standard library. An error without one, such as a short write, is `EIO`.
pub(crate) fn errno_of(error: &io::Error) -> Errno {
    error.raw_os_error().map_or(Errno::EIO, Errno::from_raw)
}
