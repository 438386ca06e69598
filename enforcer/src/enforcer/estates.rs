//! What processes had been given, from which it is known what those have that they made.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use cotenant_compiler::CpuSet;

use crate::ids::{Pid, Tid};
use crate::member::{Member, Origin, Place};
use crate::thread::{Earlier, Touched, Wrote};

/// The estates of processes, kept when they have been put back or have ended.
#[derive(Default)]
pub(super) struct Estates {
    pub(super) processes: BTreeMap<Pid, Estate>,
    /// Groups of others, all in which is or was of one class.
    pub(super) groups: BTreeSet<PathBuf>,
}

/// What one process had been given, and so those have that it made.
#[derive(Clone, Default)]
pub(super) struct Estate {
    pub(super) start: u64,
    pub(super) place: Option<Place>,
    pub(super) placed_for: Option<String>,
    /// Threads that need not be asked after any more.
    pub(super) known: BTreeSet<Tid>,
    pub(super) given: Vec<Touched>,
}

impl Estate {
    /// What this process has been given.
    pub(super) fn of(member: &Member) -> Estate {
        Estate {
            start: member.start,
            place: member.place.clone(),
            placed_for: member.placed_for.clone().filter(|_| member.place.is_some()),
            known: member.threads.keys().copied().collect(),
            given: member.threads.values().cloned().collect(),
        }
    }

    /// The same, of whom another has it: ids of the maker's threads may be those of the other's by now.
    pub(super) fn for_another(self) -> Estate {
        Estate { known: BTreeSet::new(), ..self }
    }

    /// Adds that it has these CPUs, where it is in the group of that class, or may be. A child whose fork was under way when its
    /// parent was moved to the root has them as its own mask: `cpuset_fork` in `kernel/cgroup/cpuset.c`.
    pub(super) fn add_cpus(&mut self, class: &str, cpus: &CpuSet) {
        let may_be_there = self.placed_for.as_deref().is_none_or(|it| it == class);
        if !(matches!(self.place, Some(Place::Moved(_))) && may_be_there) {
            return;
        }
        let Some(first) = self.given.first() else { return };
        let earlier = Earlier { cpus: Some(cpus.clone()), ..Earlier::default() };
        let narrowed = Touched { wrote: Wrote { earlier, ..Wrote::default() }, ..first.clone() };
        self.given.push(narrowed);
    }
}

impl Estates {
    pub(super) fn of<'a>(members: impl IntoIterator<Item = (&'a Pid, &'a Member)>) -> Estates {
        let mut estates = Estates::default();
        members.into_iter().for_each(|(pid, member)| estates.add(*pid, member));
        estates
    }

    /// Adds what this process has been given.
    pub(super) fn add(&mut self, pid: Pid, member: &Member) {
        if let Some(Place::InPlace(path)) = &member.place {
            self.groups.insert(path.clone());
        }
        let (estate, new) = (self.processes.entry(pid).or_default(), Estate::of(member));
        if estate.start != new.start {
            *estate = new;
            return;
        }
        if new.place.is_some() {
            (estate.place, estate.placed_for) = (new.place, new.placed_for);
        }
        estate.known.extend(new.known);
        estate.given.extend(new.given);
    }

    /// Adds what a thread of this process has been given as well, at another time.
    pub(super) fn add_given(&mut self, pid: Pid, touched: &Touched) {
        self.processes.entry(pid).or_default().given.push(touched.clone());
    }

    /// Adds a group that had the CPUs of a class.
    pub(super) fn add_group(&mut self, path: &Path) {
        self.groups.insert(path.to_owned());
    }

    pub(super) fn get(&self, pid: Pid, start: u64) -> Option<&Estate> {
        self.processes.get(&pid).filter(|estate| estate.start == start)
    }

    /// What anybody was given.
    pub(super) fn of_all(&self) -> Estate {
        let given = self.processes.values().flat_map(|estate| estate.given.iter().cloned());
        Estate { given: given.map(Touched::of_nobody_in_particular).collect(), ..Estate::default() }
    }

    /// What somebody in the group of a class was given whose maker is not known: what others there were, before all else.
    pub(super) fn of_class(&self, class: &str) -> Estate {
        let is_there = |estate: &&Estate| estate.placed_for.as_deref() == Some(class);
        let (there, elsewhere): (Vec<_>, Vec<_>) = self.processes.values().partition(|estate| is_there(estate));
        Estate {
            place: Some(Place::Moved(Origin::roots())),
            placed_for: Some(class.to_owned()),
            given: there
                .into_iter()
                .chain(elsewhere)
                .flat_map(|estate| estate.given.iter().cloned().map(Touched::of_nobody_in_particular))
                .collect(),
            ..Estate::default()
        }
    }
}
