//! The kernel's numbers for processes and threads, kept apart.
//!
//! What user space calls a process id the kernel calls a *tgid*, and what the kernel calls a *pid* is the id of one
//! thread (gettid(2)). Confusing them works on every single-threaded program and fails on the others.

use std::fmt;

/// A process: a thread group, named by the id of its leader (`tgid` in the kernel). Positive where it came from the
/// kernel. Numbers are reused; a process is identified by its id *and* its start time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pid(pub i32);

/// One thread (`pid` in the kernel). The system calls that take one read 0 as the calling thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tid(pub i32);

impl Pid {
    /// The calling process.
    #[must_use]
    pub fn current() -> Pid {
        Pid(nix::unistd::getpid().as_raw())
    }

    /// The thread that leads the process. It can be a zombie while other threads of the process still run.
    #[must_use]
    pub fn leader(self) -> Tid {
        Tid(self.0)
    }
}

impl Tid {
    /// The calling thread.
    #[must_use]
    pub fn current() -> Tid {
        Tid(nix::unistd::gettid().as_raw())
    }

    /// Whether this thread leads the process `process`.
    #[must_use]
    pub fn leads(self, process: Pid) -> bool {
        self.0 == process.0
    }
}

impl fmt::Display for Pid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Tid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
