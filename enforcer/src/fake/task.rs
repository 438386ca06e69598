//! One thread and one process of the played kernel.

use cotenant_compiler::CpuSet;

use crate::ids::{Pid, Tid};
use crate::sys::core_sched::Cookie;
use crate::sys::sched::{SchedPolicy, SchedState};

/// A thread: `struct task_struct`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Task {
    pub(crate) process: Pid,
    /// In clock ticks since boot.
    pub(crate) start: u64,
    pub(crate) comm: String,
    pub(crate) sched: SchedState,
    /// What it asked for itself, `user_cpus_ptr`.
    pub(crate) asked: Option<CpuSet>,
    /// Where it may run, `cpus_mask`.
    pub(crate) allowed: CpuSet,
    pub(crate) cookie: Cookie,
    /// Its group in the tree with CPU sets, as a path from the root.
    pub(crate) cpuset: String,
    /// Its group in the freezer's tree of version 1.
    pub(crate) freezer: String,
    pub(crate) is_zombie: bool,
}

/// A thread group: `struct signal_struct` and what all its threads share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) parent: Pid,
    pub(crate) exe: String,
    pub(crate) has_execed: bool,
    /// It was another program before this one, or what it was forked from was.
    pub(crate) has_changed: bool,
    pub(crate) threads: Vec<Tid>,
    /// Its parent became another program or ended, so that nothing tells any more what it was forked from.
    pub(crate) is_estranged: bool,
    /// It, or what it was forked from, was changed by hand after a daemon had started.
    pub(crate) is_meddled: bool,
    /// Its fork, or that of what it was forked from, was told to nobody.
    pub(crate) is_unheard: bool,
    /// Threads of it are set up differently, and nothing tells which of them made another or took over the leader's id.
    pub(crate) is_mistakable: bool,
}

impl Task {
    /// What a fork or a new thread has of it: `sched_fork()`, `cgroup_fork()`.
    pub(super) fn copy(&self, process: Pid, start: u64) -> Task {
        let mut sched = self.sched;
        if sched.reset_on_fork {
            if sched.policy.is_real_time() || sched.policy == SchedPolicy::Deadline {
                sched = SchedState { clamps: sched.clamps, ..SchedState::of(SchedPolicy::Other) };
            }
            sched.nice = sched.nice.max(0);
            sched.reset_on_fork = false;
        }
        Task { process, start, sched, is_zombie: false, ..self.clone() }
    }
}
