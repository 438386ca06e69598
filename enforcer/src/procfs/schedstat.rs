//! `/proc/PID/schedstat`: `Documentation/scheduler/sched-stats.rst`.

use super::{Procfs, digits};
use crate::error::KernelError;
use crate::ids::{Pid, Tid};

/// Time on a CPU and time waiting for one, since the thread began. All zero where the kernel was started without
/// accounting.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SchedStat {
    /// Nanoseconds on a CPU. What a running thread has used since the last tick of its CPU is not booked yet, and on a CPU
    /// without ticks (`nohz_full`) that is more.
    pub run: u64,
    /// Nanoseconds runnable and not running.
    pub wait: u64,
    /// How many times it was given a CPU.
    pub slices: u64,
}

impl SchedStat {
    /// Nanoseconds runnable, on a CPU or not.
    #[must_use]
    pub fn work(&self) -> u64 {
        self.run.saturating_add(self.wait)
    }

    pub(crate) fn parse(text: &[u8]) -> Option<SchedStat> {
        let mut fields = text.split(|byte| matches!(byte, b' ' | b'\n')).map(digits);
        Some(SchedStat { run: fields.next()??, wait: fields.next()??, slices: fields.next()?? })
    }
}

impl Procfs {
    /// The times of a process's leader; other threads are not in it.
    ///
    /// # Errors
    /// Gone where it has ended; `ENOENT` and not gone where the kernel lacks `CONFIG_SCHED_INFO`.
    pub fn schedstat(&self, pid: Pid) -> Result<SchedStat, KernelError> {
        self.of_process(pid).parse("schedstat", SchedStat::parse)
    }

    /// The times of one thread.
    ///
    /// # Errors
    /// As [`Procfs::schedstat`].
    pub fn thread_schedstat(&self, pid: Pid, tid: Tid) -> Result<SchedStat, KernelError> {
        self.of_thread(pid, tid).parse("schedstat", SchedStat::parse)
    }
}
