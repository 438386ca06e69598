//! Forks that are under way while a thread is put back.
//!
//! A fork copies how its thread is scheduled early and shows the child late (`copy_process` in `kernel/fork.c`). A thread that
//! was preempted in between may wait long for a CPU, and then there is a child with what its parent has no more. So whoever
//! looks for heirs waits until each thread was seen where no fork is: asleep, or with time enough on a CPU to be through.

use std::time::{Duration, Instant};

use super::Enforcer;
use crate::ids::{Pid, Tid};

/// Between two looks.
const LOOK: Duration = Duration::from_millis(1);

/// Time on a CPU in which a fork comes to its end, in nanoseconds: measured, 0.1 ms, and 1 ms for each 100 MB that a process has.
const FORK: u64 = 3_000_000;

/// How long is waited at most. Real-time threads of others may keep one from a CPU for most of each second (sched(7), "Limiting
/// the CPU usage of real-time and deadline processes").
const PATIENCE: Duration = Duration::from_secs(1);

impl Enforcer {
    /// Waits until no thread of these processes is in a fork that it was in before.
    pub(super) fn await_forks(&self, pids: &[Pid]) {
        let threads = |pid: &Pid| self.procfs.threads(*pid).unwrap_or_default();
        let each = pids.iter().flat_map(|pid| threads(pid).into_iter().map(|tid| (*pid, tid)));
        let mut left: Vec<(Pid, Tid, u64)> = each.filter_map(|(pid, tid)| self.may_fork(pid, tid, 0)).collect();
        let end = Instant::now() + PATIENCE;
        while !left.is_empty() && Instant::now() < end {
            std::thread::sleep(LOOK);
            left.retain(|(pid, tid, ran)| self.may_fork(*pid, *tid, *ran).is_some());
        }
    }

    /// Whether a thread that had `ran` for so long may still be where it was; a thread not asked before had not run.
    fn may_fork(&self, pid: Pid, tid: Tid, ran: u64) -> Option<(Pid, Tid, u64)> {
        let state = self.procfs.thread_stat(pid, tid).ok()?.state;
        let run = self.procfs.thread_schedstat(pid, tid).ok()?.run;
        let is_through = ran > 0 && run > ran + FORK;
        (matches!(state, b'R' | b'D') && !is_through).then_some((pid, tid, run.max(1)))
    }
}
