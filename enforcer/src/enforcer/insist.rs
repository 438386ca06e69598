//! What somebody else changes of a placed process. It is theirs, unless the class insists: then it is set back at a look each
//! second, and less and less often where that becomes a tug-of-war.

use std::time::Instant;

use cotenant_compiler::plan::Placement;

use super::balance::LOOK;
use super::{Enforcer, Pass};
use crate::contest::Contest;
use crate::error::KernelError;
use crate::ids::Pid;
use crate::member::Place;
use crate::procfs::Cgroups;

/// A process that cotenant and somebody else set back in turns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contested {
    /// The process.
    pub pid: Pid,
    /// Its class's name.
    pub class: String,
}

impl Enforcer {
    /// Whether a class that insists has members, so that [`Enforcer::insist`] may have something to do.
    #[must_use]
    pub fn has_to_insist(&self) -> bool {
        self.needs.insistence
            && self.members.values().any(|member| self.placement(member.class).is_some_and(Placement::insists))
    }

    /// Sets back what somebody else changed of members of classes that insist, once a [`LOOK`].
    pub fn insist(&mut self, now: Instant) -> Pass {
        let mut pass = Pass::default();
        // With other classes to follow the clock rings more often.
        if self.insisted.is_some_and(|last| now.saturating_duration_since(last) < LOOK * 9 / 10) {
            return pass;
        }
        self.insisted = Some(now);
        self.contests.retain(|_, contest| !contest.is_over(now));
        let insists = |class: usize| self.placement(class).is_some_and(Placement::insists);
        let may = |pid: &Pid| self.contests.get(pid).is_none_or(|contest| contest.may(now));
        let due = self.members.iter().filter(|(pid, member)| insists(member.class) && may(pid));
        for pid in due.map(|(pid, _)| *pid).collect::<Vec<Pid>>() {
            match self.concede(pid) {
                Ok(true) => self.set_back(pid, now, &mut pass),
                Err(error) => self.failed(pid, error, &mut pass),
                Ok(false) => {}
            }
        }
        pass
    }

    fn set_back(&mut self, pid: Pid, now: Instant, pass: &mut Pass) {
        self.conform(pid, pass);
        let Some(member) = self.members.get(&pid) else { return };
        let (class, name) =
            (member.class, self.class(member.class).map(|class| class.name.clone()).unwrap_or_default());
        if let (Some(Place::InPlace(_)), Some(share)) = (&member.place, self.share(class).cloned())
            && let Err(error) = self.refresh_in_place(&name, &share.cpus, share.frozen)
        {
            self.failed(pid, error, pass);
        }
        let is_new = match self.contests.get_mut(&pid) {
            Some(contest) => contest.again(now),
            None => {
                self.contests.insert(pid, Contest::new(now));
                false
            }
        };
        if is_new {
            pass.contested.push(Contested { pid, class: name });
        }
    }

    /// Takes whatever somebody else changed of a process for what it was before, as if it had never been placed: that is what
    /// it will be again one day, and what the class wants is written anew. Returns whether there was anything.
    fn concede(&mut self, pid: Pid) -> Result<bool, KernelError> {
        let cgroups = match self.procfs.cgroups(pid) {
            Err(error) if error.is_gone() => return Ok(false),
            cgroups => cgroups?,
        };
        let cpuset = self.ground.cpus_of(&cgroups, self.plan.topology.online());
        let Some(member) = self.members.get_mut(&pid) else { return Ok(false) };
        let mut changed = false;
        for (tid, touched) in &mut member.threads {
            match touched.concede(&self.procfs, *tid, &cpuset) {
                Err(error) if !error.is_gone() => return Err(error),
                Ok(true) => {
                    changed = true;
                    // It is not on its CPU any more, where it had one.
                    for pins in self.pins.values_mut() {
                        pins.remove(tid);
                    }
                }
                _ => {}
            }
        }
        Ok(match member.place.clone() {
            Some(place @ Place::Moved(_)) => self.is_moved_on(&place, &cgroups) || changed,
            Some(Place::InPlace(path)) => match self.in_place.get_mut(&path) {
                Some(held) => held.concede()? || changed,
                None => changed,
            },
            _ => changed,
        })
    }

    /// Whether somebody else took a process out of its class's group, into one that is not cotenant's.
    pub(crate) fn is_moved_on(&self, place: &Place, cgroups: &Cgroups) -> bool {
        let is_elsewhere = self.ground.path_of(cgroups).is_some_and(|path| !self.ground.is_own(path));
        matches!(place, Place::Moved(_)) && is_elsewhere
    }

    /// Whether a process is contested.
    pub(crate) fn is_contested(&self, pid: Pid) -> bool {
        self.contests.get(&pid).is_some_and(Contest::is_contested)
    }
}
