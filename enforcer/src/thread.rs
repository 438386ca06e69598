//! One thread: what it was before it was first touched, what was written to it, and the way back.
//!
//! Every write is compared with what holds already and left out where it would change nothing, and is read back. The way
//! back undoes only what still stands as it was written: what somebody else changed since is theirs.

mod cookie;
mod heir;
mod mask;

use cotenant_compiler::CpuSet;
use cotenant_compiler::plan::{Attributes, Scheduling};
use nix::errno::Errno;

use crate::cookies::Given;
use crate::error::{KernelError, Object};
use crate::ids::{Pid, Tid};
use crate::procfs::Procfs;
use crate::sys::sched::{SchedPolicy, SchedState};
use crate::sys::{affinity, sched};
use mask::write_mask;
pub use mask::{Mask, Room, forgets_masks};

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
    /// A core-scheduling cookie. Before, it had none: one that somebody else gave it is left alone.
    pub cookie: Option<Given>,
    /// What was written before that.
    pub earlier: Earlier,
}

/// What was written before, where it was something else. A child made then may not have been heard of yet, and a run that was
/// killed between its record and the write left this.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Earlier {
    /// As in [`Wrote`].
    pub sched: Option<SchedState>,
    /// As in [`Wrote`].
    pub cpus: Option<CpuSet>,
    /// As in [`Wrote`].
    pub cookie: Option<Given>,
    /// What the thread was before that, where it was something else: somebody changed it since.
    pub was: Option<Before>,
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
    pub fn read(procfs: &Procfs, tid: Tid, cpuset: &CpuSet) -> Result<Before, KernelError> {
        Ok(Before { sched: sched::get(tid)?, mask: Mask::read(procfs, tid, cpuset)? })
    }

    /// What a child or a new thread would have had of a parent that was never touched: the same, unless the parent asked
    /// for a reset on fork (sched(7), "The reset-on-fork flag").
    #[must_use]
    pub fn inherited(&self) -> Before {
        Before { sched: forked(&self.sched), mask: self.mask.clone() }
    }
}

/// How the child of a thread is scheduled that is scheduled so.
fn forked(parent: &SchedState) -> SchedState {
    let reset = SchedState::of(SchedPolicy::Other);
    match parent.policy {
        _ if !parent.reset_on_fork => *parent,
        SchedPolicy::Other | SchedPolicy::Batch | SchedPolicy::Idle => {
            SchedState { reset_on_fork: false, nice: parent.nice.max(0), ..*parent }
        }
        _ => SchedState { clamps: parent.clamps, ..reset },
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

/// The same but for the nice value.
fn same_policy(a: &SchedState, b: &SchedState) -> bool {
    (a.policy, a.priority, a.deadline) == (b.policy, b.priority, b.deadline)
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
    /// Keeps in mind what was written before, where something else is now. `former` is what was noted before.
    pub fn keep(&mut self, former: &Touched) {
        let (wrote, known, earlier) = (&self.wrote, &former.wrote, &former.wrote.earlier);
        let another = |differs: bool| differs.then_some(());
        let sched = another(wrote.sched != known.sched).and(known.sched).or(earlier.sched);
        let cpus = another(wrote.cpus != known.cpus).and(known.cpus.clone()).or(earlier.cpus.clone());
        let cookie = another(wrote.cookie != known.cookie).and(known.cookie).or(earlier.cookie);
        let was = earlier.was.as_ref().unwrap_or(&former.before);
        let was = Before {
            sched: if wrote.sched != known.sched && known.sched.is_some() { former.before.sched } else { was.sched },
            mask: if wrote.cpus != known.cpus && known.cpus.is_some() { &former.before.mask } else { &was.mask }
                .clone(),
        };
        let has_earlier = sched.is_some() || cpus.is_some();
        let was = Some(was).filter(|was| has_earlier && *was != self.before);
        self.wrote.earlier = Earlier { sched, cpus, cookie, was };
    }

    /// Compares the thread with what a class wants of it, notes what will be written, and gives the writes to make. What
    /// an earlier class wrote and this one does not mention is undone. What somebody else set after it was placed is
    /// theirs, until the class wants something new. `cpus` is the mask the thread shall have of its own, where it shall
    /// have one, and `cpuset` what its cpuset gives it.
    ///
    /// # Errors
    /// `ESRCH` where the thread has ended.
    pub fn intend(
        &mut self,
        tid: Tid,
        attributes: Attributes,
        cpus: Option<&CpuSet>,
        cpuset: &CpuSet,
    ) -> Result<Todo, KernelError> {
        Ok(Todo { sched: self.intend_sched(tid, attributes)?, cpus: self.intend_mask(tid, cpus, cpuset)? })
    }

    /// [`Touched::intend`] for the mask alone.
    ///
    /// # Errors
    /// As [`Touched::intend`].
    pub fn intend_cpus(&mut self, tid: Tid, cpus: &CpuSet, cpuset: &CpuSet) -> Result<Todo, KernelError> {
        Ok(Todo { sched: None, cpus: self.intend_mask(tid, Some(cpus), cpuset)? })
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
        let wrote = self.wrote.sched.unwrap_or(now);
        let wish = wanted(&self.before.sched, attributes);
        // Policy and nice value are two things: what somebody else did to one says nothing about the other.
        let (policy_is_theirs, nice_is_theirs) = (!same_policy(&now, &wrote), now.nice != wrote.nice);
        let nothing_new = attributes != Attributes::default() && self.wrote.sched.is_some();
        let policy_stays = policy_is_theirs && nothing_new && same_policy(&wish, &wrote);
        let nice_stays = nice_is_theirs && nothing_new && wish.nice == wrote.nice;
        // What stands is the base for what this class wishes.
        if self.wrote.sched.is_none() || policy_is_theirs && !policy_stays {
            self.before.sched = SchedState { nice: self.before.sched.nice, ..now };
        }
        if self.wrote.sched.is_none() || nice_is_theirs && !nice_stays {
            self.before.sched.nice = now.nice;
        }
        let given = wanted(&self.before.sched, attributes);
        let with_policy = if policy_stays { now } else { given };
        let target = SchedState { nice: if nice_stays { now.nice } else { given.nice }, ..with_policy };
        self.wrote.sched = (attributes != Attributes::default()).then_some(given);
        Ok((!same(&now, &target)).then_some((now, target)))
    }

    /// Makes the writes, reads them back and strikes them off the list. An id means a thread only while that lives, so it is
    /// asked afterwards whose it was: a stranger gets back what it had.
    ///
    /// # Errors
    /// As [`sched::set`] and [`affinity::set`]; `EIO` where the kernel took a value and shows another; `ESRCH` where the thread
    /// that was started then has ended.
    pub fn perform(procfs: &Procfs, of: (Pid, Tid, u64), todo: &mut Todo) -> Result<(), KernelError> {
        let (pid, tid, start) = of;
        let made = todo.clone();
        let mask = made.cpus.as_ref().map(|_| affinity::get(tid)).transpose()?;
        if let Some(cpus) = &todo.cpus {
            write_mask(tid, cpus)?;
            todo.cpus = None;
        }
        if let Some((now, wanted)) = &todo.sched {
            write_sched(tid, now, wanted)?;
            todo.sched = None;
        }
        if procfs.thread_stat(pid, tid)?.start == start {
            return Ok(());
        }
        if let Some((was, wrote)) = &made.sched {
            write_sched(tid, wrote, was)?;
        }
        mask.map_or(Ok(()), |mask| affinity::set(tid, &mask))?;
        Err(KernelError::new(Object::Thread(tid), "sched_setattr", Errno::ESRCH))
    }

    /// Takes back the note of writes that were refused, so that what stands is not taken for somebody else's doing. `known`
    /// is what was noted before, `left` what was not written.
    pub fn take_back(&mut self, tid: Tid, known: Wrote, left: &Todo) {
        if left.cpus.is_some() {
            self.wrote.cpus = known.cpus;
        }
        if left.sched.is_some() {
            let was = known.sched.unwrap_or(self.before.sched);
            // Policy and nice value are two writes, of which the first may have been made.
            let half = sched::get(tid).ok().filter(|now| !same(now, &was));
            self.wrote.sched = half.or(known.sched);
        }
    }

    /// Whether somebody else has set anything else than what was written. `cpuset` is what the thread's cpuset gives it.
    ///
    /// # Errors
    /// `ESRCH` where the thread has ended.
    pub fn is_changed(&self, tid: Tid, cpuset: &CpuSet) -> Result<bool, KernelError> {
        Ok(self.has_another_mask(tid, cpuset)? || self.is_scheduled_otherwise(tid)?.is_some())
    }

    /// Takes what somebody else set meanwhile for what the thread was, so that what a class wants is written anew. Returns
    /// whether there was anything.
    ///
    /// # Errors
    /// `ESRCH` where the thread has ended.
    pub fn concede(&mut self, procfs: &Procfs, tid: Tid, cpuset: &CpuSet) -> Result<bool, KernelError> {
        let another_mask = self.has_another_mask(tid, cpuset)?;
        if another_mask {
            self.yield_mask(procfs, tid, cpuset)?;
        }
        let otherwise = self.is_scheduled_otherwise(tid)?;
        if let Some(now) = otherwise {
            self.before.sched = now;
            self.wrote.sched = None;
        }
        Ok(another_mask || otherwise.is_some())
    }

    /// How the thread is scheduled, where that is not what was written.
    pub(super) fn is_scheduled_otherwise(&self, tid: Tid) -> Result<Option<SchedState>, KernelError> {
        let Some(wrote) = &self.wrote.sched else { return Ok(None) };
        let now = sched::get(tid)?;
        Ok((!same(&now, wrote)).then_some(now))
    }

    /// Undoes the attributes, where they still stand as written.
    ///
    /// # Errors
    /// As [`sched::set`].
    pub fn restore_sched(&mut self, tid: Tid) -> Result<(), KernelError> {
        let wrote = self.wrote.sched;
        match self.intend_sched(tid, Attributes::default())? {
            Some((now, wanted)) => write_sched(tid, &now, &wanted).inspect_err(|_| self.wrote.sched = wrote),
            None => Ok(()),
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
mod tests;
