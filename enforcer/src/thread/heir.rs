//! What a thread has of the one that made it.

use cotenant_compiler::CpuSet;
use nix::errno::Errno;

use super::mask::stands;
use super::{Before, Mask, Touched, Wrote, forked, same, same_policy};
use crate::cookies::Given;
use crate::error::KernelError;
use crate::ids::Tid;
use crate::procfs::Procfs;
use crate::sys::sched::{SchedPolicy, SchedState};
use crate::sys::{affinity, core_sched, sched};

impl Touched {
    /// The record of a thread that a placed thread made: it has what some thread of `makers` was given, unless it asked
    /// for something of its own. `cpuset` is what its cpuset gives it.
    ///
    /// # Errors
    /// `ESRCH` where the thread has ended.
    pub fn inherited<'a>(
        procfs: &Procfs,
        tid: Tid,
        start: u64,
        makers: impl Iterator<Item = &'a Touched> + Clone,
        cpuset: &CpuSet,
    ) -> Result<Touched, KernelError> {
        let (now, mask) = (sched::get(tid)?, affinity::get(tid)?);
        // One that was made before its maker was given a mask has what that had asked for.
        let of =
            |maker: &'a Touched| maker.shows(&mask, cpuset).or_else(|| maker.asked_for(&mask, cpuset).then_some(None));
        let shown = makers.clone().filter_map(|maker| Some((maker, of(maker)?)));
        // One that was written first: nothing tells of a mask none of which is in the cpuset, and a mask that is put back
        // where it stands anyway does no harm.
        let of_maker = shown.clone().find(|(_, given)| given.is_some()).or_else(|| shown.clone().next());
        let (asked, cpus) = match of_maker {
            Some((maker, given)) => (maker.asked_before(given).clone(), given.cloned()),
            None => (Mask::read(procfs, tid, cpuset)?, None),
        };
        let before = Before { sched: now, mask: asked };
        let mut touched = Touched { start, before, wrote: Wrote { cpus, ..Wrote::default() } };
        let given = makers.clone().flat_map(Touched::given_to_child);
        let scheduled_so = given.clone().find(|(_, given)| same(&now, given));
        // Where somebody has changed the nice value since, the policy is of the class all the same.
        let has_policy = |(was, given): &(SchedState, SchedState)| same_policy(&now, given) && !same_policy(given, was);
        if let Some((was, given)) = scheduled_so.or_else(|| given.clone().find(has_policy)) {
            let before = SchedState { clamps: now.clamps, ..was };
            let nice = if scheduled_so.is_some() { before.nice } else { now.nice };
            touched.before.sched = SchedState { nice, ..before };
            touched.wrote.sched = Some(given);
        }
        // A cookie is inherited; where no maker was given one, the kernel need not even be asked.
        let mut given = makers.flat_map(|maker| maker.given_cookies()).peekable();
        if let Some(first) = given.peek().copied() {
            touched.wrote.cookie = match core_sched::get(tid) {
                Ok(now) => given.any(|given| given.stands(now)).then_some(Given::Common(now)),
                // It shows again when two threads of a core are online.
                Err(error) if error.errno() == Errno::ENODEV => Some(first.inherited()),
                Err(error) => return Err(error),
            };
        }
        Ok(touched)
    }

    /// What it was given, last or before, where that is how it is scheduled.
    #[must_use]
    pub fn given_sched(&self, now: &SchedState) -> Option<SchedState> {
        [self.wrote.sched, self.wrote.earlier.sched].into_iter().flatten().find(|given| same(now, given))
    }

    /// How a child was scheduled that it made after it was given something, last or before, and how it would have been.
    fn given_to_child(&self) -> impl Iterator<Item = (SchedState, SchedState)> + Clone + use<> {
        let was = self.wrote.earlier.was.as_ref().unwrap_or(&self.before);
        let given = [(self.before.sched, self.wrote.sched), (was.sched, self.wrote.earlier.sched)];
        given.into_iter().filter_map(|(was, given)| Some((forked(&was), forked(&given?))))
    }

    /// What it had asked for before it was given this mask.
    fn asked_before(&self, given: Option<&CpuSet>) -> &Mask {
        let is_last = given.is_none() || self.wrote.cpus.as_ref() == given;
        let was = self.wrote.earlier.was.as_ref().filter(|_| !is_last);
        &was.unwrap_or(&self.before).mask
    }

    /// What can be said of its children by what they show alone: that one has the defaults, as after a reset on
    /// fork, says nothing.
    #[must_use]
    pub fn of_nobody_in_particular(mut self) -> Touched {
        let tells = |given: &SchedState| !given.reset_on_fork && !same(given, &SchedState::of(SchedPolicy::Other));
        self.wrote.sched = self.wrote.sched.filter(tells);
        self.wrote.earlier.sched = self.wrote.earlier.sched.filter(tells);
        self
    }

    /// The cookies that it was given, last and before.
    fn given_cookies(&self) -> impl Iterator<Item = Given> + use<> {
        [self.wrote.cookie, self.wrote.earlier.cookie].into_iter().flatten()
    }

    /// The masks that it was given, last and before.
    fn given_cpus(&self) -> impl Iterator<Item = &CpuSet> {
        [&self.wrote.cpus, &self.wrote.earlier.cpus].into_iter().flatten()
    }

    /// The mask that it was given, last or before, where it still has that.
    ///
    /// # Errors
    /// `ESRCH` where the thread has ended.
    pub fn given_mask(&self, tid: Tid, cpuset: &CpuSet) -> Result<Option<CpuSet>, KernelError> {
        let now = affinity::get(tid)?;
        Ok(self.given_cpus().find(|given| now == **given || now == given.intersection(cpuset)).cloned())
    }

    /// The mask that it was given, last or before, where this is that one; the inner none where it was given none and this is
    /// the one it asked for.
    pub(super) fn shows(&self, mask: &CpuSet, cpuset: &CpuSet) -> Option<Option<&CpuSet>> {
        if let Some(given) = self.given_cpus().find(|given| stands(mask, given, cpuset)) {
            return Some(Some(given));
        }
        (self.wrote.cpus.is_none() && self.asked_for(mask, cpuset)).then_some(None)
    }

    /// Whether this is what the kernel makes of the mask that it asked for.
    fn asked_for(&self, mask: &CpuSet, cpuset: &CpuSet) -> bool {
        match &self.before.mask {
            // The kernel gives all of the cpuset where nothing of the mask is in it.
            Mask::Only(own) if !own.intersects(cpuset) => mask == cpuset,
            Mask::Only(own) => *mask == own.intersection(cpuset),
            Mask::Any => mask == cpuset,
        }
    }

    /// Takes what it was when it was first looked at for what its maker had been given, where it was the same: who that was is
    /// known only now. `cpuset` is what its cpuset gives it. Returns whether that was so.
    ///
    /// # Errors
    /// `ESRCH` where the thread has ended.
    pub fn credit<'a>(
        &mut self,
        tid: Tid,
        makers: impl Iterator<Item = &'a Touched> + Clone,
        cpuset: &CpuSet,
    ) -> Result<bool, KernelError> {
        let before = self.clone();
        let shows = |(_, given): &(SchedState, SchedState)| same(given, &self.before.sched);
        if let Some((was, given)) = makers.clone().flat_map(Touched::given_to_child).find(shows) {
            self.before.sched = was;
            if *self.wrote.sched.get_or_insert(given) != given {
                self.wrote.earlier.sched = Some(given);
            }
        }
        if let Mask::Only(own) = self.before.mask.clone() {
            if let Some(maker) = makers.clone().find(|maker| maker.was_given(&own)) {
                if *self.wrote.cpus.get_or_insert_with(|| own.clone()) != own {
                    self.wrote.earlier.cpus = Some(own.clone());
                }
                self.before.mask = maker.asked_before(Some(&own)).clone();
            } else if let Some(maker) = makers.clone().find(|maker| maker.asked_for(&own, cpuset)) {
                // Its cpuset showed less of what its maker had asked for.
                self.before.mask = maker.before.mask.clone();
            }
        }
        let mut given = makers.flat_map(|maker| maker.given_cookies()).peekable();
        if self.wrote.cookie.is_none() && given.peek().is_some() {
            let now = core_sched::get(tid)?;
            self.wrote.cookie = given.any(|given| given.stands(now)).then_some(Given::Common(now));
        }
        Ok(*self != before)
    }

    /// Whether it was given this mask, last or before.
    fn was_given(&self, cpus: &CpuSet) -> bool {
        self.given_cpus().any(|given| given == cpus)
    }

    /// Whether the thread has all that it was given.
    ///
    /// # Errors
    /// `ESRCH` where it has ended.
    pub fn stands(&self, tid: Tid, cpuset: &CpuSet) -> Result<bool, KernelError> {
        let has_cookie = match self.wrote.cookie {
            Some(given) => given.stands(core_sched::get(tid)?),
            None => true,
        };
        let has_mask = self.shows(&affinity::get(tid)?, cpuset).is_some();
        Ok(has_cookie && has_mask && self.is_scheduled_otherwise(tid)?.is_none())
    }

    /// Takes the record of a thread that has ended for this one's, where the kernel shows what that was given and not what this
    /// one was: it executed a program, and has this one's id since.
    pub fn give_way_to(&mut self, ended: &Touched, tid: Tid, cpuset: &CpuSet) {
        let is_here = |touched: &Touched| touched.stands(tid, cpuset).unwrap_or(false);
        if !is_here(self) && is_here(ended) {
            *self = Touched { start: self.start, ..ended.clone() };
        }
    }
}
