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

/// Writes that a thread needs, decided before any is made so that the journal can tell of them first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Todo {
    sched: Option<(SchedState, SchedState)>,
    cpus: Option<CpuSet>,
}

impl Todo {
    /// Whether there is nothing to write.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Todo::default()
    }
}

impl Touched {
    /// Compares the thread with what a class wants of it, notes what will be written, and gives the writes to make. What
    /// an earlier class wrote and this one does not mention is undone. `cpus` is the mask the thread shall have of its
    /// own, where it shall have one.
    ///
    /// # Errors
    /// `ESRCH` where the thread has ended.
    pub fn intend(&mut self, tid: Tid, attributes: Attributes, cpus: Option<&CpuSet>) -> Result<Todo, KernelError> {
        Ok(Todo { sched: self.intend_sched(tid, attributes)?, cpus: self.intend_mask(tid, cpus)? })
    }

    /// [`Touched::intend`] for the mask alone.
    ///
    /// # Errors
    /// As [`Touched::intend`].
    pub fn intend_cpus(&mut self, tid: Tid, cpus: &CpuSet) -> Result<Todo, KernelError> {
        Ok(Todo { sched: None, cpus: self.intend_mask(tid, Some(cpus))? })
    }

    fn intend_sched(
        &mut self,
        tid: Tid,
        attributes: Attributes,
    ) -> Result<Option<(SchedState, SchedState)>, KernelError> {
        if attributes == Attributes::default() && self.wrote.sched.is_none() {
            return Ok(None);
        }
        let now = sched::get(tid)?;
        // Ours to replace where it stands as written; what somebody else set since is the base for this class's wishes.
        let ours = self.wrote.sched.is_some_and(|wrote| same(&now, &wrote));
        let wanted = wanted(if ours { &self.before.sched } else { &now }, attributes);
        self.wrote.sched = (!same(&wanted, &self.before.sched)).then_some(wanted);
        Ok((!same(&now, &wanted)).then_some((now, wanted)))
    }

    fn intend_mask(&mut self, tid: Tid, cpus: Option<&CpuSet>) -> Result<Option<CpuSet>, KernelError> {
        let Some(cpus) = cpus else { return Ok(None) };
        let as_wanted = affinity::get(tid)? == *cpus;
        // A mask that was right by itself is not ours to put back. The kernel tells it without CPUs that are offline, so a
        // mask read and written again would be narrower than it was.
        if !as_wanted || self.wrote.cpus.is_some() {
            self.wrote.cpus = Some(cpus.clone());
        }
        Ok((!as_wanted).then(|| cpus.clone()))
    }

    /// Makes the writes and reads them back.
    ///
    /// # Errors
    /// As [`sched::set`] and [`affinity::set`]; `EIO` where the kernel took a value and shows another.
    pub fn perform(tid: Tid, todo: &Todo) -> Result<(), KernelError> {
        if let Some(cpus) = &todo.cpus {
            write_mask(tid, cpus)?;
        }
        todo.sched.as_ref().map_or(Ok(()), |(now, wanted)| write_sched(tid, now, wanted))
    }

    /// Undoes the attributes, where they still stand as written.
    ///
    /// # Errors
    /// As [`sched::set`].
    pub fn restore_sched(&mut self, tid: Tid) -> Result<(), KernelError> {
        match self.intend_sched(tid, Attributes::default())? {
            Some((now, wanted)) => write_sched(tid, &now, &wanted),
            None => Ok(()),
        }
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

fn write_mask(tid: Tid, cpus: &CpuSet) -> Result<(), KernelError> {
    affinity::set(tid, cpus)?;
    let stands = affinity::get(tid)?;
    // The cpuset may be narrower than what was asked for; nothing outside may be left.
    match stands.is_subset(cpus) {
        true => Ok(()),
        false => {
            let error = KernelError::new(Object::Thread(tid), "sched_setaffinity", Errno::EIO);
            Err(error.with_value(format!("{cpus} (stands at {stands})")))
        }
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
        let one: CpuSet = all().first().into_iter().collect();
        let todo = touched.intend(tid, rt, Some(&one)).unwrap();
        Touched::perform(tid, &todo).unwrap();
        assert!(touched.intend(tid, rt, Some(&one)).unwrap().is_empty(), "nothing is written that holds already");
        assert_eq!(sched::get(tid).unwrap().policy, SchedPolicy::RoundRobin);
        assert_eq!(affinity::get(tid).unwrap(), one);
        touched.restore_sched(tid).unwrap();
        touched.restore_mask(tid, &all(), &all()).unwrap();
        assert_eq!(Before::read(tid, &all()).unwrap(), before);
    }

    #[test]
    fn a_mask_that_is_right_by_itself_is_not_ours_to_put_back() {
        let sleeper = Sleeper::start();
        let tid = sleeper.pid().leader();
        let mut touched = Touched { start: 0, before: Before::read(tid, &all()).unwrap(), wrote: Wrote::default() };
        assert!(touched.intend(tid, Attributes::default(), Some(&all())).unwrap().is_empty());
        assert_eq!(touched.wrote, Wrote::default());
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
        let todo = touched.intend(tid, Attributes { policy: None, nice: Some(5) }, None).unwrap();
        Touched::perform(tid, &todo).unwrap();
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
