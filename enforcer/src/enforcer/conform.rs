//! Brings one process to what its class wants: desired less observed, and nothing else.
//!
//! The order is the journal's: what a thing was is on disk before it is touched. Then the process is placed, so that no
//! thread runs with a real-time priority on CPUs that are not the class's; then its threads get their attributes. Threads
//! that came meanwhile are found by looking again until a look finds none.

use std::path::Path;
use std::sync::Arc;

use cotenant_compiler::CpuSet;
use cotenant_compiler::plan::Placement;
use cotenant_grammar::tree::EqualPrio;
use nix::errno::Errno;

use super::{Enforcer, Pass};
use crate::cgroup::Version;
use crate::error::{KernelError, Object};
use crate::ids::{Pid, Tid};
use crate::journal::Record;
use crate::member::{Member, Origin, Place};
use crate::procfs::Cgroups;
use crate::stay::Stay;
use crate::sys::affinity;
use crate::thread::{Mask, Room, Todo, Touched, Wrote};

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
        self.enrol_threads(pid);
        self.repin(class, pass);
    }

    /// Undoes what another class did to a process that is now unmanaged.
    fn let_be(&mut self, pid: Pid) -> Result<(), KernelError> {
        // One that only inherited was not placed.
        let has_been =
            |member: &Member| member.placed_for.is_some() || member.place.is_some() || !member.threads.is_empty();
        let placed = self.members.get(&pid).is_some_and(has_been);
        if !placed {
            return Ok(());
        }
        self.members.get(&pid).into_iter().for_each(|member| self.late.add_leaver(pid, member, &self.ground));
        self.undo(pid)
    }

    fn try_conform(&mut self, pid: Pid, class: &str, placement: &Placement) -> Result<(), KernelError> {
        let everywhere = placement.reach() == *self.plan.topology.online() && !placement.is_reactive();
        let nothing = everywhere && placement.attributes == Default::default() && placement.equal_prio.is_none();
        let nothing = nothing && placement.cookie.is_none();
        let placed = self.members.get(&pid).is_some_and(|member| member.placed_for.is_some());
        // While anything follows the load, the threads must be known all the same: others make room for them.
        if nothing && !placed && !self.plan.is_reactive() {
            return Ok(());
        }
        let mut cgroups = self.cgroups_of(pid)?;
        self.note_threads(pid, &cgroups)?;
        if self.settle(pid, class, placement, everywhere, &cgroups)? {
            cgroups = self.cgroups_of(pid)?;
        }
        for _ in 0..LOOKS {
            // The cookie last: without SCHED_IDLE it would take turns with others instead of giving way.
            let attended = self.attend_threads(pid, placement, None);
            self.attend_cookies(pid, placement, None).and(attended)?;
            if !self.note_threads(pid, &cgroups)? {
                break;
            }
        }
        Ok(())
    }

    /// Gives a new thread of a placed process its attributes.
    pub(super) fn conform_thread(&mut self, pid: Pid, tid: Tid, pass: &mut Pass) {
        let plan = Arc::clone(&self.plan);
        let Some(member) = self.members.get(&pid).filter(|member| !member.threads.contains_key(&tid)) else { return };
        let class = member.class;
        let Some(placement) = plan.classes.get(class).and_then(|class| class.placement.as_ref()) else { return };
        let cpuset = self.cpuset_of(pid);
        let noted = self.note(pid, &[tid], &cpuset);
        if let Err(error) = noted.and_then(|_| {
            let attended = self.attend_threads(pid, placement, Some(tid));
            self.attend_cookies(pid, placement, Some(tid)).and(attended)
        }) {
            self.failed(pid, error, pass);
        }
        self.enrol_threads(pid);
        self.repin(class, pass);
    }

    /// Reads what the threads are that have no record yet, and puts it into the journal. Returns whether there were any.
    pub(super) fn note_threads(&mut self, pid: Pid, cgroups: &Cgroups) -> Result<bool, KernelError> {
        let found = self.procfs.threads(pid)?;
        let cpuset = self.ground.cpus_of(cgroups, self.plan.topology.online());
        let Some(member) = self.members.get(&pid) else { return Ok(false) };
        let gone: Vec<Tid> = member.threads.keys().filter(|tid| found.binary_search(tid).is_err()).copied().collect();
        let new: Vec<Tid> = found.into_iter().filter(|tid| !member.threads.contains_key(tid)).collect();
        self.drop_threads(pid, &gone);
        self.note(pid, &new, &cpuset)
    }

    /// Drops threads that are not there any more, of whose end nothing was told yet.
    fn drop_threads(&mut self, pid: Pid, gone: &[Tid]) {
        let Some(member) = self.members.get_mut(&pid).filter(|_| !gone.is_empty()) else { return };
        self.late.add_ended(pid, member, gone);
        member.threads.retain(|tid, _| !gone.contains(tid));
    }

    pub(super) fn note(&mut self, pid: Pid, new: &[Tid], cpuset: &CpuSet) -> Result<bool, KernelError> {
        let Some(member) = self.members.get_mut(&pid) else { return Ok(false) };
        let mut records = Vec::new();
        for tid in new {
            let noted = self.procfs.thread_stat(pid, *tid).and_then(|stat| {
                let makers = member.threads.values();
                Touched::inherited(&self.procfs, *tid, stat.start, makers, cpuset).map(|it| (stat, it))
            });
            let touched = match noted {
                // Another process has the id by now.
                Ok((stat, _)) if tid.leads(pid) && stat.start != member.start => {
                    return Err(KernelError::new(Object::Process(pid), "read", Errno::ESRCH));
                }
                // A leader that other threads outlive is none to place.
                Ok((stat, _)) if stat.is_zombie() => continue,
                Ok((_, touched)) => touched,
                Err(error) if error.is_gone() => continue,
                Err(error) => return Err(error),
            };
            records.push(Record::Thread { pid, tid: *tid, touched: touched.clone() });
            member.threads.insert(*tid, touched);
        }
        self.journal.append(&records)?;
        Ok(!records.is_empty())
    }

    /// Puts the process where its class runs. Returns whether it was not there.
    fn settle(
        &mut self,
        pid: Pid,
        class: &str,
        placement: &Placement,
        everywhere: bool,
        cgroups: &Cgroups,
    ) -> Result<bool, KernelError> {
        let Some(member) = self.members.get(&pid) else { return Ok(false) };
        let (start, place) = (member.start, member.place.clone());
        let same_class = member.placed_for.as_deref() == Some(class);
        let path = self.ground.path_of(cgroups).unwrap_or(Path::new("/"));
        let stops = placement.may_stop();
        let stopped = self.ground.stops(cgroups, class, stops);
        let stands = match &place {
            Some(Place::Everywhere) => everywhere,
            Some(Place::Moved(_)) => !everywhere && self.ground.holds(cgroups, class, stops),
            Some(Place::InPlace(held)) => !everywhere && self.is_held_for(held, class) && held == path && stopped,
            Some(Place::Affinity(_)) => !everywhere && stopped,
            None => false,
        };
        // Where somebody else moved it on, it is theirs.
        let taken = matches!(place, Some(Place::Moved(_))) && !self.ground.is_own(path) && !placement.insists();
        if same_class && (stands || taken) {
            return Ok(false);
        }
        self.yield_masks(pid, cgroups)?;
        let cpus = self.share_of(pid).unwrap_or_else(|| placement.reach());
        let moves = !everywhere && self.ground.may_move() && (path == Path::new("/") || self.ground.is_own(path));
        if !(moves && matches!(place, Some(Place::Moved(_)))) {
            self.unplace(pid)?;
        }
        let next = if everywhere {
            Place::Everywhere
        } else if moves {
            let from = self.ground.origin(cgroups, stops);
            let origin = match place {
                Some(Place::Moved(origin)) => Origin { freezer: origin.freezer.or(from.freezer), ..origin },
                _ => from,
            };
            self.journal.append(&[Record::Process { pid, start, origin: origin.clone() }])?;
            // Known before it is done: where the second of two moves is refused, the first is undone with the rest.
            if let Some(member) = self.members.get_mut(&pid) {
                member.place = Some(Place::Moved(origin.clone()));
            }
            self.ground.take_in(pid, cgroups, class, &cpus, stops)?;
            self.assure(pid, start)?;
            Place::Moved(origin)
        } else {
            if stops && self.ground.may_move() {
                let origin = self.ground.origin(cgroups, stops);
                self.journal.append(&[Record::Process { pid, start, origin }])?;
                self.ground.take_in_to_stop(pid, cgroups, class, &cpus)?;
                self.assure(pid, start)?;
            }
            match self.hold_in_place(pid, path, &cpus)? {
                Ok(()) => Place::InPlace(path.to_owned()),
                Err(reason) => Place::Affinity(reason),
            }
        };
        if let Some(member) = self.members.get_mut(&pid) {
            (member.place, member.placed_for) = (Some(next), Some(class.to_owned()));
        }
        Ok(true)
    }

    /// Makes sure, after a process was moved, that it was the one that was started then: another that has its id now goes where
    /// its parent is, as it would have been.
    ///
    /// # Errors
    /// `ESRCH` where it was not.
    fn assure(&self, pid: Pid, start: u64) -> Result<(), KernelError> {
        let stat = self.procfs.stat(pid)?;
        if stat.start == start {
            return Ok(());
        }
        let home =
            self.procfs.cgroups(stat.parent).map(|cgroups| self.ground.origin(&cgroups, true)).unwrap_or_default();
        self.ground.give_back(pid, &self.procfs.cgroups(pid)?, &home)?;
        Err(KernelError::new(Object::Process(pid), "move", Errno::ESRCH))
    }

    /// What somebody else did to a process's masks since is where another class begins.
    pub(super) fn yield_masks(&mut self, pid: Pid, cgroups: &Cgroups) -> Result<(), KernelError> {
        let cpuset = self.ground.cpus_of(cgroups, self.plan.topology.online());
        let Some(member) = self.members.get_mut(&pid) else { return Ok(()) };
        let procfs = &self.procfs;
        let yielded = member.threads.iter_mut().map(|(tid, touched)| touched.yield_mask(procfs, *tid, &cpuset));
        yielded.filter_map(Result::err).find(|error| !error.is_gone()).map_or(Ok(()), Err)
    }

    /// Takes a process out of its place, but for its own mask.
    pub(super) fn unplace(&mut self, pid: Pid) -> Result<(), KernelError> {
        let place = self.members.get_mut(&pid).and_then(|member| member.place.take());
        let held = match &place {
            Some(Place::InPlace(path)) => self.let_go_unless_held(path),
            _ => Ok(()),
        };
        let origin = match &place {
            Some(Place::Moved(origin)) => origin.clone(),
            _ => Origin::default(),
        };
        let done = held.and_then(|()| match self.ground.takes_moves() {
            true => self.ground.give_back(pid, &self.cgroups_of(pid)?, &origin),
            false => Ok(()),
        });
        match done {
            Err(error) if !error.is_gone() => {
                if let Some(member) = self.members.get_mut(&pid) {
                    member.place = place;
                }
                Err(error)
            }
            _ => Ok(()),
        }
    }

    /// Gives every thread what is missing, or just one.
    pub(super) fn attend_threads(
        &mut self,
        pid: Pid,
        placement: &Placement,
        only: Option<Tid>,
    ) -> Result<(), KernelError> {
        let Some(share) = self.share_of(pid) else { return Ok(()) };
        let everything = self.everything();
        // Asking for the cpuset costs more than all the rest, and where a mask is the one that was written nothing hangs on it.
        let cpuset = if self.masks_stand(pid, only) { everything.clone() } else { self.cpuset_of(pid) };
        let stays =
            self.members.get(&pid).and_then(|member| self.stays.get(&member.class)).cloned().unwrap_or_default();
        let offline = self.offline_for(pid);
        let room = Room { possible: &self.possible, cpuset: &cpuset, offline: &offline, forgets: self.forgets_masks };
        let Some(member) = self.members.get_mut(&pid) else { return Ok(()) };
        let Some(place) = member.place.clone() else { return Ok(()) };
        let holds = placement.equal_prio == Some(EqualPrio::Hold);
        let (mut todos, mut records, mut refused) = (Vec::new(), Vec::new(), Vec::new());
        let attended = member.threads.iter_mut().filter(|(tid, _)| only.is_none_or(|only| only == **tid));
        for (tid, touched) in attended {
            let former = touched.clone();
            let known = former.wrote.clone();
            let wish = match stays.get(tid) {
                Some(Stay::On(cpu)) if share.contains(*cpu) => Ok(Some([*cpu].into_iter().collect())),
                _ => mask(placement, &place, &share, touched, *tid, &everything),
            };
            // What a thread asked for and cannot have where its class runs is given back when it leaves.
            let beyond = matches!(&touched.before.mask, Mask::Only(own) if !own.intersects(&cpuset));
            let wish = wish.map(|wish| match wish {
                None if beyond && !holds && touched.wrote.cpus.is_some() => Some(everything.clone()),
                wish => wish,
            });
            let intended = wish.and_then(|wish| {
                if wish.is_none() && !holds && touched.wrote.cpus.is_some() {
                    touched.restore_mask(&self.procfs, *tid, &room)?;
                }
                touched.intend(*tid, placement.attributes, wish.as_ref(), &cpuset)
            });
            match intended {
                Ok(todo) if todo.is_empty() => {}
                Ok(todo) => todos.push(((pid, *tid, touched.start), todo, known.clone())),
                Err(error) => refused.push((*tid, error)),
            }
            touched.keep(&former);
            if touched.wrote != known {
                records.push(Record::Thread { pid, tid: *tid, touched: touched.clone() });
            }
        }
        self.journal.append(&records)?;
        // What one thread refuses does not keep the others from theirs.
        for (of, mut todo, known) in todos {
            if let Err(error) = Touched::perform(&self.procfs, of, &mut todo) {
                refused.push((of.1, error));
                self.not_written(pid, of.1, known, &todo)?;
            }
        }
        let gone = |(tid, error): &(Tid, KernelError)| error.is_gone().then_some(*tid);
        let ended: Vec<Tid> = refused.iter().filter_map(gone).collect();
        self.drop_threads(pid, &ended);
        refused.into_iter().map(|(_, error)| error).find(|error| !error.is_gone()).map_or(Ok(()), Err)
    }

    /// Whether each thread, or just one, has exactly the mask that was written to it, and asked for none.
    fn masks_stand(&self, pid: Pid, only: Option<Tid>) -> bool {
        let threads = self.members.get(&pid).into_iter().flat_map(|member| &member.threads);
        let mut attended = threads.filter(|(tid, _)| only.is_none_or(|only| only == **tid));
        attended.all(|(tid, touched)| {
            let has_asked = touched.before.mask != Mask::Any;
            !has_asked && touched.wrote.cpus.is_some() && affinity::get(*tid).ok() == touched.wrote.cpus
        })
    }

    /// [`Touched::take_back`], in the journal too.
    pub(super) fn not_written(&mut self, pid: Pid, tid: Tid, known: Wrote, left: &Todo) -> Result<(), KernelError> {
        let touched = self.members.get_mut(&pid).and_then(|member| member.threads.get_mut(&tid));
        let Some(touched) = touched else { return Ok(()) };
        touched.take_back(tid, known, left);
        self.journal.append(&[Record::Thread { pid, tid, touched: touched.clone() }])
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
        Some(EqualPrio::Push) if touched.wrote.cpus.is_some() => Some(everything.clone()),
        // One that could run anywhere before has its mask from somebody since.
        Some(EqualPrio::Push) if touched.before.mask == Mask::Any => None,
        Some(EqualPrio::Push) => match share.is_subset(&affinity::get(tid)?) {
            true => None,
            false => Some(everything.clone()),
        },
        None if by_affinity => Some(match &touched.before.mask {
            Mask::Only(own) if own.intersects(share) => own.intersection(share),
            _ => share.clone(),
        }),
        None => None,
    })
}
