//! What sched_setattr(2), setpriority(2), sched_setaffinity(2) and prctl(2) do here, as `kernel/sched/syscalls.c` and
//! `kernel/sched/core_sched.c` do it.

use cotenant_compiler::CpuSet;
use nix::errno::Errno;

use super::{Kernel, Task};
use crate::ids::Tid;
use crate::sys::core_sched::Cookie;
use crate::sys::sched::{SchedPolicy, SchedState};

impl Kernel {
    pub(crate) fn task(&self, tid: Tid) -> Result<&Task, Errno> {
        self.tasks.get(&tid).ok_or(Errno::ESRCH)
    }

    pub(super) fn task_mut(&mut self, tid: Tid) -> Result<&mut Task, Errno> {
        self.tasks.get_mut(&tid).ok_or(Errno::ESRCH)
    }

    pub(crate) fn affinity(&self, tid: Tid) -> Result<CpuSet, Errno> {
        self.task(tid).map(|task| task.allowed.clone())
    }

    pub(crate) fn set_affinity(&mut self, tid: Tid, cpus: &CpuSet) -> Result<(), Errno> {
        self.story.push(format!("    {tid} is given CPUs {cpus}"));
        let cpuset = self.cpuset_of(self.task(tid)?);
        let allowed = cpus.intersection(&cpuset);
        if allowed.is_empty() {
            return Err(Errno::EINVAL);
        }
        let task = self.task_mut(tid)?;
        (task.asked, task.allowed) = (Some(cpus.clone()), allowed);
        Ok(())
    }

    /// A thread's cpuset is another, or has other CPUs: what it asked for is kept within it as far as that goes.
    pub(super) fn within_cpuset(&mut self, tid: Tid) {
        let Ok(cpuset) = self.task(tid).map(|task| self.cpuset_of(task)) else { return };
        let Ok(task) = self.task_mut(tid) else { return };
        task.allowed = match &task.asked {
            Some(asked) if asked.intersects(&cpuset) => asked.intersection(&cpuset),
            _ => cpuset,
        };
    }

    pub(crate) fn sched(&self, tid: Tid) -> Result<SchedState, Errno> {
        self.task(tid).map(|task| task.sched)
    }

    pub(crate) fn set_sched(&mut self, tid: Tid, wish: &SchedState) -> Result<(), Errno> {
        self.story.push(format!("    {tid} is given {wish}"));
        let task = self.task_mut(tid)?;
        let is_real_time = wish.policy.is_real_time();
        if is_real_time && !(1..=99).contains(&wish.priority) || wish.policy == SchedPolicy::Deadline {
            return Err(Errno::EINVAL);
        }
        let takes_nice = matches!(wish.policy, SchedPolicy::Other | SchedPolicy::Batch);
        task.sched = SchedState {
            priority: if is_real_time { wish.priority } else { 0 },
            nice: if takes_nice { wish.nice.clamp(-20, 19) } else { task.sched.nice },
            clamps: task.sched.clamps,
            slice: 0,
            ..*wish
        };
        Ok(())
    }

    pub(crate) fn set_nice(&mut self, tid: Tid, nice: i32) -> Result<(), Errno> {
        self.story.push(format!("    {tid} is given nice {nice}"));
        self.task_mut(tid)?.sched.nice = nice.clamp(-20, 19);
        Ok(())
    }

    fn has_cookies(&self) -> Result<(), Errno> {
        if self.has_core_scheduling { Ok(()) } else { Err(Errno::EINVAL) }
    }

    pub(crate) fn cookie(&self, tid: Tid) -> Result<Cookie, Errno> {
        self.has_cookies()?;
        match tid.0 < super::FIRST {
            true => Ok(self.own_cookies.get(&tid).copied().unwrap_or(Cookie::NONE)),
            false => self.task(tid).map(|task| task.cookie),
        }
    }

    pub(crate) fn create_cookie(&mut self, tid: Tid) -> Result<(), Errno> {
        self.has_cookies()?;
        self.last_cookie += 1;
        self.give_cookie(tid, Cookie(self.last_cookie))
    }

    pub(crate) fn share_cookie(&mut self, from: Tid, to: Tid) -> Result<(), Errno> {
        let cookie = self.cookie(from)?;
        self.give_cookie(to, cookie)
    }

    fn give_cookie(&mut self, tid: Tid, cookie: Cookie) -> Result<(), Errno> {
        match tid.0 < super::FIRST {
            true => drop(self.own_cookies.insert(tid, cookie)),
            false => self.task_mut(tid)?.cookie = cookie,
        }
        Ok(())
    }
}
