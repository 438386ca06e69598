//! Brings one process to what its class wants: desired less observed, and nothing else.
//!
//! The order is the journal's: what a thing was is on disk before it is touched. Then the process is placed, so that no
//! thread runs with a real-time priority on CPUs that are not the class's; then its threads get their attributes. Threads
//! that came meanwhile are found by looking again until a look finds none.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use cotenant_compiler::plan::Placement;
use cotenant_compiler::{CpuId, CpuSet};
use cotenant_grammar::tree::EqualPrio;

use super::{Enforcer, Pass};
use crate::cgroup::Version;
use crate::error::KernelError;
use crate::hold;
use crate::ids::{Pid, Tid};
use crate::journal::Record;
use crate::member::{Origin, Place};
use crate::procfs::Cgroups;
use crate::sys::affinity;
use crate::thread::{Before, Mask, Touched, Wrote};

/// Looks for new threads of one process before the rest is left to the events about them.
const LOOKS: usize = 16;

impl Enforcer {
    /// Places a member and gives its threads their attributes; what is refused is noted.
    pub(super) fn conform(&mut self, pid: Pid, pass: &mut Pass) {
        let plan = Arc::clone(&self.plan);
        let Some(class) = self.members.get(&pid).map(|member| member.class) else { return };
        let Some(planned) = plan.classes.get(class) else { return };
        let done = match &planned.placement {
            Some(placement) => self.try_conform(pid, &planned.name, placement),
            None => self.let_be(pid),
        };
        match done {
            Ok(()) => drop(self.failures.remove(&pid)),
            Err(error) => self.failed(pid, error, pass),
        }
        self.repin(class, pass);
    }

    /// Undoes what another class did to a process that is now unmanaged.
    fn let_be(&mut self, pid: Pid) -> Result<(), KernelError> {
        let placed = self.members.get(&pid).is_some_and(|member| member.placed_for.is_some());
        if placed { self.undo(pid) } else { Ok(()) }
    }

    fn try_conform(&mut self, pid: Pid, class: &str, placement: &Placement) -> Result<(), KernelError> {
        let everywhere = placement.reach() == *self.plan.topology.online() && !placement.is_reactive();
        let nothing = everywhere && placement.attributes == Default::default() && placement.equal_prio.is_none();
        let placed = self.members.get(&pid).is_some_and(|member| member.placed_for.is_some());
        // While anything follows the load, the threads must be known all the same: others make room for them.
        if nothing && !placed && !self.plan.is_reactive() {
            return Ok(());
        }
        let cgroups = self.procfs.cgroups(pid)?;
        self.note_threads(pid, &cgroups)?;
        self.settle(pid, class, placement, everywhere, &cgroups)?;
        for _ in 0..LOOKS {
            self.attend_threads(pid, placement)?;
            if !self.note_threads(pid, &cgroups)? {
                break;
            }
        }
        Ok(())
    }

    /// Reads what the threads are that have no record yet, and puts it into the journal. Returns whether there were any.
    pub(super) fn note_threads(&mut self, pid: Pid, cgroups: &Cgroups) -> Result<bool, KernelError> {
        let found = self.procfs.threads(pid)?;
        let online = self.plan.topology.online().clone();
        let Some(member) = self.members.get_mut(&pid) else { return Ok(false) };
        member.threads.retain(|tid, _| found.contains(tid));
        let new: Vec<Tid> = found.into_iter().filter(|tid| !member.threads.contains_key(tid)).collect();
        let mut records = Vec::new();
        for tid in new {
            let placed = member.placed_for.is_some();
            let leader = member.threads.get(&pid.leader()).or_else(|| member.threads.values().next());
            let start = match self.procfs.thread_stat(pid, tid) {
                Ok(stat) => stat.start,
                Err(error) if error.is_gone() => continue,
                Err(error) => return Err(error),
            };
            let touched = match leader.filter(|_| placed) {
                // It was made by a thread that is placed and has what that one was given.
                Some(leader) => Touched { start, before: leader.before.inherited(), wrote: leader.wrote.clone() },
                None => {
                    let cpuset = self.ground.path_of(cgroups).map(|path| self.ground.cpus_at(path, &online));
                    match Before::read(tid, &cpuset.unwrap_or_else(|| online.clone())) {
                        Ok(before) => Touched { start, before, wrote: Wrote::default() },
                        Err(error) if error.is_gone() => continue,
                        Err(error) => return Err(error),
                    }
                }
            };
            records.push(Record::Thread { pid, tid, touched: touched.clone() });
            member.threads.insert(tid, touched);
        }
        self.journal.append(&records)?;
        Ok(!records.is_empty())
    }

    /// Puts the process where its class runs.
    fn settle(
        &mut self,
        pid: Pid,
        class: &str,
        placement: &Placement,
        everywhere: bool,
        cgroups: &Cgroups,
    ) -> Result<(), KernelError> {
        let Some(member) = self.members.get(&pid) else { return Ok(()) };
        let (start, place) = (member.start, member.place.clone());
        let same_class = member.placed_for.as_deref() == Some(class);
        let path = self.ground.path_of(cgroups).unwrap_or(Path::new("/"));
        let stands = match &place {
            Some(Place::Everywhere) => everywhere,
            Some(Place::Moved(_)) => !everywhere && self.ground.is_own(path),
            Some(Place::InPlace(held)) => !everywhere && self.in_place.contains_key(held),
            Some(Place::Affinity(_)) => !everywhere,
            None => false,
        };
        if stands && same_class {
            return Ok(());
        }
        let cpus = self.share_of(pid).unwrap_or_else(|| placement.reach());
        let stops = placement.gate.is_some();
        let origin = match &place {
            Some(Place::Moved(origin)) => origin.clone(),
            _ => self.ground.origin(cgroups, stops),
        };
        let moves = !everywhere && self.ground.takes_moves() && (path == Path::new("/") || self.ground.is_own(path));
        if !moves {
            self.unplace(pid)?;
        }
        let next = if everywhere {
            Place::Everywhere
        } else if moves {
            let from_freezer = self.ground.origin(cgroups, stops).freezer;
            let origin = Origin { freezer: origin.freezer.or(from_freezer), ..origin };
            self.journal.append(&[Record::Process { pid, start, origin: origin.clone() }])?;
            self.ground.take_in(pid, cgroups, class, &cpus, stops)?;
            Place::Moved(origin)
        } else {
            match self.hold_in_place(pid, path, &cpus)? {
                Ok(()) => Place::InPlace(path.to_owned()),
                Err(reason) => Place::Affinity(reason),
            }
        };
        if let Some(member) = self.members.get_mut(&pid) {
            (member.place, member.placed_for) = (Some(next), Some(class.to_owned()));
        }
        Ok(())
    }

    /// Takes a process out of its place, but for its own mask.
    pub(super) fn unplace(&mut self, pid: Pid) -> Result<(), KernelError> {
        let place = self.members.get_mut(&pid).and_then(|member| member.place.take());
        match place {
            Some(Place::Moved(origin)) => self.ground.give_back(pid, &origin),
            Some(Place::InPlace(path)) => self.let_go_unless_held(&path),
            Some(Place::Everywhere | Place::Affinity(_)) | None => Ok(()),
        }
    }

    /// Gives every thread what is missing.
    fn attend_threads(&mut self, pid: Pid, placement: &Placement) -> Result<(), KernelError> {
        let Some(share) = self.share_of(pid) else { return Ok(()) };
        let everything = self.everything();
        let Some(member) = self.members.get_mut(&pid) else { return Ok(()) };
        let Some(place) = member.place.clone() else { return Ok(()) };
        let holds = placement.equal_prio == Some(EqualPrio::Hold);
        let (mut todos, mut records, mut gone) = (Vec::new(), Vec::new(), Vec::new());
        for (tid, touched) in &mut member.threads {
            let known = touched.wrote.clone();
            let wish = mask(placement, &place, &share, touched, *tid, &everything);
            let intended = wish.and_then(|wish| {
                if wish.is_none() && !holds && touched.wrote.cpus.is_some() {
                    touched.restore_mask(*tid, &self.possible, &share)?;
                }
                touched.intend(*tid, placement.attributes, wish.as_ref())
            });
            match intended {
                Ok(todo) => todos.push((*tid, todo)),
                Err(error) if error.is_gone() => gone.push(*tid),
                Err(error) => return Err(error),
            }
            if touched.wrote != known {
                records.push(Record::Thread { pid, tid: *tid, touched: touched.clone() });
            }
        }
        member.threads.retain(|tid, _| !gone.contains(tid));
        self.journal.append(&records)?;
        for (tid, todo) in todos.iter().filter(|(_, todo)| !todo.is_empty()) {
            match Touched::perform(*tid, todo) {
                Err(error) if !error.is_gone() => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    /// For a class that holds equals: gives each of its threads one CPU.
    pub(super) fn repin(&mut self, class: usize, pass: &mut Pass) {
        let holds = self.placement(class).is_some_and(|placement| placement.equal_prio == Some(EqualPrio::Hold));
        let Some(cpus) = self.share(class).filter(|_| holds).map(|share| share.cpus.clone()) else { return };
        let of_class = |member: &crate::member::Member| member.class == class && member.place.is_some();
        let mut threads: Vec<(Tid, Pid)> = self
            .members
            .iter()
            .filter(|(_, member)| of_class(member))
            .flat_map(|(pid, member)| member.threads.keys().map(|tid| (*tid, *pid)))
            .collect();
        threads.sort_unstable();
        let tids: Vec<Tid> = threads.iter().map(|(tid, _)| *tid).collect();
        let before = self.pins.remove(&class).unwrap_or_default();
        let pins = hold::choose(&tids, &before, &cpus);
        for (tid, pid) in threads {
            let Some(cpu) = pins.get(&tid).copied() else { continue };
            if before.get(&tid) != Some(&cpu)
                && let Err(error) = self.pin(pid, tid, cpu)
            {
                self.failed(pid, error, pass);
            }
        }
        self.pins.insert(class, pins);
    }

    fn pin(&mut self, pid: Pid, tid: Tid, cpu: CpuId) -> Result<(), KernelError> {
        let one: CpuSet = [cpu].into_iter().collect();
        let touched = self.members.get_mut(&pid).and_then(|member| member.threads.get_mut(&tid));
        let Some(touched) = touched else { return Ok(()) };
        let todo = touched.intend_cpus(tid, &one)?;
        self.journal.append(&[Record::Thread { pid, tid, touched: touched.clone() }])?;
        Touched::perform(tid, &todo)
    }

    /// The CPUs of the process's class now, or where the class must stop and cannot, the one it is left with.
    pub(crate) fn share_of(&self, pid: Pid) -> Option<CpuSet> {
        let member = self.members.get(&pid)?;
        let share = self.share(member.class)?;
        let by_affinity = matches!(member.place, Some(Place::Affinity(_)));
        match share.frozen && by_affinity {
            true => Some(share.cpus.first().into_iter().collect()),
            false => Some(share.cpus.clone()),
        }
    }

    /// Every CPU there is, switched on or off: the mask of a thread that may run anywhere, now and later.
    pub(super) fn everything(&self) -> CpuSet {
        self.plan.topology.online().union(self.plan.topology.offline())
    }

    /// Whether single processes can be moved between groups here.
    #[must_use]
    pub fn version(&self) -> Option<Version> {
        self.ground.version()
    }

    /// The CPU that each thread of a class is held on.
    #[must_use]
    pub fn pins(&self, class: usize) -> Option<&HashMap<Tid, CpuId>> {
        self.pins.get(&class)
    }
}

/// The mask that the thread shall have of its own, if it shall have one. What a thread asked for itself is narrowed, not
/// widened, unless the class wants every thread movable.
fn mask(
    placement: &Placement,
    place: &Place,
    share: &CpuSet,
    touched: &Touched,
    tid: Tid,
    everything: &CpuSet,
) -> Result<Option<CpuSet>, KernelError> {
    let by_affinity = matches!(place, Place::Affinity(_));
    Ok(match placement.equal_prio {
        // Pins are given to all threads of the class at once.
        Some(EqualPrio::Hold) => None,
        Some(EqualPrio::Push) if by_affinity => Some(share.clone()),
        Some(EqualPrio::Push) => match touched.wrote.cpus.is_some() || !share.is_subset(&affinity::get(tid)?) {
            true => Some(everything.clone()),
            false => None,
        },
        None if by_affinity => Some(match &touched.before.mask {
            Mask::Only(own) if own.intersects(share) => own.intersection(share),
            _ => share.clone(),
        }),
        None => None,
    })
}
