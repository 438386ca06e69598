//! One thread: what it was before it was first touched, what was written to it, and the way back.
//!
//! Every write is compared with what holds already and left out where it would change nothing, and is read back. The way
//! back undoes only what still stands as it was written: what somebody else changed since is theirs.

use cotenant_compiler::CpuSet;
use cotenant_compiler::plan::{Attributes, Scheduling};
use nix::errno::Errno;

use crate::error::{KernelError, Object};
use crate::ids::Tid;
use crate::sys::sched::{SchedPolicy, SchedState};
use crate::sys::{affinity, sched};

/// The CPUs a thread asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mask {
    /// All that its cpuset gives, now and later.
    Any,
    /// These. The kernel tells only the effective mask, so CPUs that its cpuset withheld at that moment are missing.
    Only(CpuSet),
}

/// What a thread was before it was first touched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Before {
    /// How it was scheduled.
    pub sched: SchedState,
    /// Where it asked to run.
    pub mask: Mask,
}

/// What was written to a thread and stands, unless somebody else changed it since.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wrote {
    /// Policy, priority or nice value.
    pub sched: Option<SchedState>,
    /// Its own affinity mask.
    pub cpus: Option<CpuSet>,
}

/// A thread of a managed process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Touched {
    /// Start time in clock ticks since boot; with the id it tells the thread from a later one.
    pub start: u64,
    /// What it was.
    pub before: Before,
    /// What was written.
    pub wrote: Wrote,
}

impl Before {
    /// Reads a thread that nobody has touched. `cpuset` is what the thread's cpuset gives it.
    ///
    /// # Errors
    /// `ESRCH` where the thread has ended.
    pub fn read(tid: Tid, cpuset: &CpuSet) -> Result<Before, KernelError> {
        let mask = affinity::get(tid)?;
        let mask = if cpuset.is_subset(&mask) { Mask::Any } else { Mask::Only(mask) };
        Ok(Before { sched: sched::get(tid)?, mask })
    }

    /// What a child or a new thread would have had of a parent that was never touched: the same, unless the parent asked
    /// for a reset on fork (sched(7), "The reset-on-fork flag").
    #[must_use]
    pub fn inherited(&self) -> Before {
        let mut child = self.clone();
        if self.sched.reset_on_fork {
            let reset = SchedState::of(SchedPolicy::Other);
            child.sched = match self.sched.policy {
                SchedPolicy::Other | SchedPolicy::Batch | SchedPolicy::Idle => {
                    SchedState { reset_on_fork: false, nice: self.sched.nice.max(0), ..self.sched }
                }
                _ => SchedState { clamps: self.sched.clamps, ..reset },
            };
        }
        child
    }
}

/// What a class wants of a thread that is scheduled like `now`.
#[must_use]
pub fn wanted(now: &SchedState, attributes: Attributes) -> SchedState {
    let mut wanted = *now;
    if let Some(policy) = attributes.policy {
        wanted = SchedState { deadline: None, priority: u32::from(policy.priority()), ..wanted };
        wanted.policy = match policy {
            Scheduling::Fifo(_) => SchedPolicy::Fifo,
            Scheduling::RoundRobin(_) => SchedPolicy::RoundRobin,
            Scheduling::Idle => SchedPolicy::Idle,
        };
    }
    if let Some(nice) = attributes.nice {
        wanted.nice = i32::from(nice);
    }
    wanted
}

/// Whether two states are the same as far as anything here writes them.
fn same(a: &SchedState, b: &SchedState) -> bool {
    (a.policy, a.priority, a.nice, a.deadline) == (b.policy, b.priority, b.nice, b.deadline)
}

impl Touched {
    /// Gives the thread the attributes of a class. Returns whether anything had to be written.
    ///
    /// # Errors
    /// As [`sched::set`]; `EIO` where the kernel took the value and shows another.
    pub fn schedule(&mut self, tid: Tid, attributes: Attributes) -> Result<bool, KernelError> {
        if attributes == Attributes::default() {
            return Ok(false);
        }
        let now = sched::get(tid)?;
        let wanted = wanted(&now, attributes);
        if same(&now, &wanted) {
            // Inherited from a parent that was placed: ours to undo, though not written to this thread.
            if self.wrote.sched.is_none() && !same(&self.before.sched, &now) {
                self.wrote.sched = Some(now);
            }
            return Ok(false);
        }
        write_sched(tid, &now, &wanted)?;
        self.wrote.sched = Some(wanted);
        Ok(true)
    }

    /// Sets the thread's own mask. Returns whether it had to be written.
    ///
    /// # Errors
    /// As [`affinity::set`].
    pub fn confine(&mut self, tid: Tid, cpus: &CpuSet) -> Result<bool, KernelError> {
        if affinity::get(tid)? == *cpus {
            if self.wrote.cpus.is_none() && self.before.mask != Mask::Only(cpus.clone()) {
                self.wrote.cpus = Some(cpus.clone());
            }
            return Ok(false);
        }
        affinity::set(tid, cpus)?;
        self.wrote.cpus = Some(cpus.clone());
        let stands = affinity::get(tid)?;
        // The cpuset may be narrower than what was asked for; nothing outside may be left.
        if !stands.is_subset(cpus) {
            let error = KernelError::new(Object::Thread(tid), "sched_setaffinity", Errno::EIO);
            return Err(error.with_value(format!("{cpus} (stands at {stands})")));
        }
        Ok(true)
    }

    /// Undoes the attributes, where they still stand as written.
    ///
    /// # Errors
    /// As [`sched::set`].
    pub fn restore_sched(&mut self, tid: Tid) -> Result<(), KernelError> {
        let Some(wrote) = self.wrote.sched.take() else { return Ok(()) };
        let now = sched::get(tid)?;
        if !same(&now, &wrote) || same(&now, &self.before.sched) {
            return Ok(());
        }
        write_sched(tid, &now, &self.before.sched)
    }

    /// Undoes the mask, where it still stands as written. `all` is every CPU of the machine and `cpuset` what the thread's
    /// cpuset gives it now; the thread must be back in the cpuset it came from.
    ///
    /// # Errors
    /// As [`affinity::set`].
    pub fn restore_mask(&mut self, tid: Tid, all: &CpuSet, cpuset: &CpuSet) -> Result<(), KernelError> {
        let wrote = self.wrote.cpus.take();
        let now = affinity::get(tid)?;
        let before = match &self.before.mask {
            Mask::Any => all,
            Mask::Only(cpus) => cpus,
        };
        let stands = match &wrote {
            Some(wrote) => now == *wrote || now == wrote.intersection(cpuset),
            // Kernels before 6.2 forget a thread's own mask when its cpuset changes, and leave it with all of the cpuset.
            None => now == *cpuset && now != before.intersection(cpuset),
        };
        if !stands {
            return Ok(());
        }
        affinity::set(tid, before)
    }
}

fn write_sched(tid: Tid, now: &SchedState, wanted: &SchedState) -> Result<(), KernelError> {
    if (now.policy, now.priority, now.deadline) != (wanted.policy, wanted.priority, wanted.deadline) {
        sched::set(tid, wanted)?;
    }
    // A policy that takes no nice value keeps the old one in store; and a nice value alone needs no sched_setattr.
    let stored = sched::get(tid)?;
    if stored.nice != wanted.nice {
        sched::set_nice(tid, wanted.nice)?;
    }
    let stands = sched::get(tid)?;
    match same(&stands, wanted) {
        true => Ok(()),
        false => {
            let error = KernelError::new(Object::Thread(tid), "sched_setattr", Errno::EIO);
            Err(error.with_value(format!("{wanted} (stands at {stands})")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Sleeper, is_root};

    fn all() -> CpuSet {
        affinity::get(Tid::current()).unwrap()
    }

    #[test]
    fn a_thread_comes_back_as_it_was() {
        if !is_root() {
            return;
        }
        let sleeper = Sleeper::start();
        let tid = sleeper.pid().leader();
        sched::set_nice(tid, 7).unwrap();
        let before = Before::read(tid, &all()).unwrap();
        let mut touched = Touched { start: 0, before: before.clone(), wrote: Wrote::default() };
        let rt = Attributes { policy: Some(Scheduling::RoundRobin(3)), nice: None };
        assert!(touched.schedule(tid, rt).unwrap());
        assert!(!touched.schedule(tid, rt).unwrap(), "nothing is written that holds already");
        assert_eq!(sched::get(tid).unwrap().policy, SchedPolicy::RoundRobin);
        let one: CpuSet = all().first().into_iter().collect();
        touched.confine(tid, &one).unwrap();
        assert_eq!(affinity::get(tid).unwrap(), one);
        touched.restore_sched(tid).unwrap();
        touched.restore_mask(tid, &all(), &all()).unwrap();
        assert_eq!(Before::read(tid, &all()).unwrap(), before);
    }

    #[test]
    fn what_somebody_else_changed_is_theirs() {
        if !is_root() {
            return;
        }
        let sleeper = Sleeper::start();
        let tid = sleeper.pid().leader();
        let before = Before::read(tid, &all()).unwrap();
        let mut touched = Touched { start: 0, before, wrote: Wrote::default() };
        touched.schedule(tid, Attributes { policy: None, nice: Some(5) }).unwrap();
        sched::set_nice(tid, 9).unwrap();
        touched.restore_sched(tid).unwrap();
        assert_eq!(sched::get(tid).unwrap().nice, 9);
    }

    #[test]
    fn children_of_a_thread_with_reset_on_fork_would_have_been_reset() {
        let rt = SchedState { reset_on_fork: true, priority: 4, ..SchedState::of(SchedPolicy::Fifo) };
        let before = Before { sched: rt, mask: Mask::Any };
        assert_eq!(before.inherited().sched, SchedState::of(SchedPolicy::Other));
    }
}
