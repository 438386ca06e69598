//! What sched_getattr(2) says of a thread, as a value that can be kept and put back.

use std::fmt;

use super::{Attributes, SchedPolicy, flag};

/// How a thread is scheduled. A value that was read and is set again leaves the thread as it was, but for one thing: a
/// slice read from the kernel counts as asked for afterwards, even where it was the kernel's default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SchedState {
    /// The policy.
    pub policy: SchedPolicy,
    /// The static priority: 1 to 99 for `SCHED_FIFO` and `SCHED_RR`, 0 for all others.
    pub priority: u32,
    /// The nice value, −20 to 19. It is set only with `SCHED_OTHER` and `SCHED_BATCH`; under the other policies it is
    /// read, and waits in the kernel for the return to those two.
    pub nice: i32,
    /// Whether children start with `SCHED_OTHER` and a nice value not below 0.
    pub reset_on_fork: bool,
    /// The slice of a fair thread in nanoseconds, 0.1 ms to 100 ms; 0 stands for the kernel's default when set, and is
    /// what kernels before 6.12 say. Unused by other policies.
    pub slice: u64,
    /// The parameters of `SCHED_DEADLINE`; `None` for all others.
    pub deadline: Option<Deadline>,
    /// The utilization clamps. Read only; [`super::set_clamps`] sets them.
    pub clamps: Clamps,
}

/// The parameters of a deadline thread, in nanoseconds: runtime ≤ deadline ≤ period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadline {
    /// How long it may run in each period; at least 1,024 ns.
    pub runtime: u64,
    /// By when, from the start of a period.
    pub deadline: u64,
    /// How often; 0 stands for the deadline when set.
    pub period: u64,
    /// Whether it may use what other deadline threads leave (`SCHED_FLAG_RECLAIM`).
    pub reclaim: bool,
    /// Whether it gets `SIGXCPU` when it runs over (`SCHED_FLAG_DL_OVERRUN`).
    pub overrun_signal: bool,
}

/// Utilization clamps, each 0 to 1,024 where 1,024 is the biggest CPU at its highest frequency. Both are 0 on a kernel
/// without `CONFIG_UCLAMP_TASK`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Clamps {
    /// The thread counts as at least this busy when a frequency and a CPU are chosen.
    pub min: u32,
    /// And as at most this busy.
    pub max: u32,
}

impl SchedState {
    /// A policy with everything else at the kernel's default: nice 0, no priority, default slice.
    #[must_use]
    pub fn of(policy: SchedPolicy) -> SchedState {
        let clamps = Clamps::default();
        SchedState { policy, priority: 0, nice: 0, reset_on_fork: false, slice: 0, deadline: None, clamps }
    }

    pub(super) fn from_raw(raw: &Attributes) -> SchedState {
        let policy = SchedPolicy::from_raw(raw.policy);
        let is_deadline = policy == SchedPolicy::Deadline;
        SchedState {
            policy,
            priority: raw.priority,
            nice: raw.nice,
            reset_on_fork: raw.flags & flag::RESET_ON_FORK != 0,
            slice: if is_deadline { 0 } else { raw.runtime },
            deadline: is_deadline.then_some(Deadline {
                runtime: raw.runtime,
                deadline: raw.deadline,
                period: raw.period,
                reclaim: raw.flags & flag::RECLAIM != 0,
                overrun_signal: raw.flags & flag::OVERRUN != 0,
            }),
            clamps: Clamps { min: raw.util_min, max: raw.util_max },
        }
    }

    pub(super) fn to_raw(self) -> Attributes {
        let mut raw = Attributes { policy: self.policy.to_raw(), ..Attributes::default() };
        if self.reset_on_fork {
            raw.flags |= flag::RESET_ON_FORK;
        }
        if self.policy.takes_nice() {
            raw.nice = self.nice;
            raw.runtime = self.slice;
        }
        if self.policy.is_real_time() {
            raw.priority = self.priority;
        }
        if let (SchedPolicy::Deadline, Some(deadline)) = (self.policy, self.deadline) {
            raw.runtime = deadline.runtime;
            raw.deadline = deadline.deadline;
            raw.period = deadline.period;
            raw.flags |= if deadline.reclaim { flag::RECLAIM } else { 0 };
            raw.flags |= if deadline.overrun_signal { flag::OVERRUN } else { 0 };
        }
        raw
    }
}

impl fmt::Display for SchedState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.policy.fmt(f)?;
        if self.policy.is_real_time() {
            write!(f, ", priority {}", self.priority)?;
        }
        if self.policy.takes_nice() {
            write!(f, ", nice {}", self.nice)?;
            if self.slice != 0 {
                write!(f, ", slice {} ns", self.slice)?;
            }
        }
        if let Some(Deadline { runtime, deadline, period, .. }) = self.deadline {
            write!(f, ", runtime {runtime} ns, deadline {deadline} ns, period {period} ns")?;
        }
        if self.reset_on_fork {
            f.write_str(", reset on fork")?;
        }
        Ok(())
    }
}

impl fmt::Display for Clamps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "clamp {}-{}", self.min, self.max)
    }
}
