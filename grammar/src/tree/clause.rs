//! Clauses of classes.

use super::{At, CpuExpr, Duration, Name, Percent, ProcessExpr, Quota};

/// One clause of a class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Clause {
    /// `match PROCESSES`
    Match(ProcessExpr),
    /// `on CPUS`
    On(CpuExpr),
    /// `prefer idle core`
    PreferIdleCore,
    /// `prefer idle cpu`
    PreferIdleCpu,
    /// `prefer last cpu`
    PreferLastCpu,
    /// `prefer CPUS`
    PreferCpus(CpuExpr),
    /// `spill to siblings [below N idle cores]`
    Spill {
        /// The N, where written.
        below: Option<At<u32>>,
    },
    /// `never spill`
    NeverSpill,
    /// `share core with …`, one or more
    ShareCore(Vec<At<Sharer>>),
    /// `only when … idle`
    OnlyWhenIdle(At<IdleUnit>),
    /// `wait at most T`
    WaitAtMost(At<Duration>),
    /// `push equal prio` or `hold equal prio`
    EqualPrio(EqualPrio),
    /// `at least N cores`
    AtLeastCores(At<u32>),
    /// `at most N cores`
    AtMostCores(At<u32>),
    /// `at most N% of cores`
    AtMostShare(At<Percent>),
    /// `priority N`
    Priority(At<i64>),
    /// `fifo`
    Fifo,
    /// `round robin`
    RoundRobin,
    /// `runtime T every T`
    Runtime {
        /// How long a thread may run.
        runtime: At<Duration>,
        /// In each stretch of this length.
        every: At<Duration>,
    },
    /// `deadline T`
    Deadline(At<Duration>),
    /// `nice N`
    Nice(At<i64>),
    /// `slice T`
    Slice(At<Duration>),
    /// `weight N`
    Weight(At<i64>),
    /// `quota N cpus`
    Quota(At<Quota>),
    /// `clamp N%-M%`
    Clamp {
        /// The first.
        low: At<Percent>,
        /// The second.
        high: At<Percent>,
    },
    /// `memory bandwidth at most N%`
    MemoryBandwidth(At<Percent>),
    /// `llc at most N%`
    LlcShare(At<Percent>),
    /// `with descendants`
    WithDescendants,
    /// `insist` or `yield`
    OnChange(OnChange),
    /// `place by …`
    PlaceBy(At<PlaceBy>),
}

/// What becomes of a waking real-time thread whose CPU runs an equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EqualPrio {
    /// One of the two may be moved to another CPU.
    Push,
    /// Both stay where they are.
    Hold,
}

/// Who may run on the other threads of a core at the same instant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sharer {
    /// `nobody`
    Nobody,
    /// `itself`
    Itself,
    /// `class NAME`
    Class(Name),
}

/// What must be idle for a class to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IdleUnit {
    /// One hardware thread.
    Cpu,
    /// A core with all its threads.
    Core,
    /// A last-level cache with all its cores.
    Llc,
    /// A NUMA node with all its cores.
    Node,
}

impl IdleUnit {
    /// The keyword.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            IdleUnit::Cpu => "cpu",
            IdleUnit::Core => "core",
            IdleUnit::Llc => "llc",
            IdleUnit::Node => "node",
        }
    }
}

/// What to do when somebody else changes a thread that is managed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OnChange {
    /// Change it back.
    Insist,
    /// Leave it, and say so.
    Yield,
}

impl OnChange {
    /// The keyword.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            OnChange::Insist => "insist",
            OnChange::Yield => "yield",
        }
    }
}

/// By what the processes of a class are kept on their CPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PlaceBy {
    /// `cpuset.cpus` of the control group they are in.
    Cgroup,
    /// The affinity of each thread.
    Affinity,
    /// Moving them to a control group of ours.
    Move,
}

impl PlaceBy {
    /// The keyword.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            PlaceBy::Cgroup => "cgroup",
            PlaceBy::Affinity => "affinity",
            PlaceBy::Move => "move",
        }
    }
}
