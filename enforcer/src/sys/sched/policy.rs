//! The scheduling policies by name.

use std::fmt;

/// A scheduling policy; see sched(7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SchedPolicy {
    /// `SCHED_OTHER`, called `SCHED_NORMAL` in the kernel: fair shares by nice value.
    Other,
    /// `SCHED_BATCH`: fair, and assumed not to be interactive.
    Batch,
    /// `SCHED_IDLE`: fair with the least weight; a CPU that runs only these counts as idle when others wake.
    Idle,
    /// `SCHED_FIFO`: real-time, runs until it blocks.
    Fifo,
    /// `SCHED_RR`: real-time, takes turns with its equals.
    RoundRobin,
    /// `SCHED_DEADLINE`: a runtime every period, before a deadline.
    Deadline,
    /// Any other number, such as 7 for `SCHED_EXT`, kept so that it can be put back.
    Unknown(u32),
}

impl SchedPolicy {
    pub(crate) fn from_raw(number: u32) -> SchedPolicy {
        match number {
            0 => SchedPolicy::Other,
            1 => SchedPolicy::Fifo,
            2 => SchedPolicy::RoundRobin,
            3 => SchedPolicy::Batch,
            5 => SchedPolicy::Idle,
            6 => SchedPolicy::Deadline,
            other => SchedPolicy::Unknown(other),
        }
    }

    pub(crate) fn to_raw(self) -> u32 {
        match self {
            SchedPolicy::Other => 0,
            SchedPolicy::Fifo => 1,
            SchedPolicy::RoundRobin => 2,
            SchedPolicy::Batch => 3,
            SchedPolicy::Idle => 5,
            SchedPolicy::Deadline => 6,
            SchedPolicy::Unknown(number) => number,
        }
    }

    /// Whether it is one of the two with a static priority of 1 to 99.
    #[must_use]
    pub fn is_real_time(self) -> bool {
        matches!(self, SchedPolicy::Fifo | SchedPolicy::RoundRobin)
    }

    /// Whether sched_getattr(2) fills in the nice value.
    pub(super) fn reports_nice(self) -> bool {
        !self.is_real_time() && self != SchedPolicy::Deadline
    }

    /// Whether setting the policy sets nice and slice too (`fair_policy()` in the kernel; `SCHED_EXT` counts).
    pub(super) fn takes_nice(self) -> bool {
        matches!(self, SchedPolicy::Other | SchedPolicy::Batch | SchedPolicy::Unknown(_))
    }
}

impl fmt::Display for SchedPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SchedPolicy::Other => "SCHED_OTHER",
            SchedPolicy::Batch => "SCHED_BATCH",
            SchedPolicy::Idle => "SCHED_IDLE",
            SchedPolicy::Fifo => "SCHED_FIFO",
            SchedPolicy::RoundRobin => "SCHED_RR",
            SchedPolicy::Deadline => "SCHED_DEADLINE",
            SchedPolicy::Unknown(7) => "SCHED_EXT",
            SchedPolicy::Unknown(number) => return write!(f, "policy {number}"),
        })
    }
}
