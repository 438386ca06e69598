//! The way back: everything touched becomes what it was, unless somebody else changed it since.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use cotenant_compiler::CpuSet;

use super::estates::Estates;
use super::{Enforcer, Pass};
use crate::error::KernelError;
use crate::ids::{Pid, Tid};
use crate::journal::{Record, moving};
use crate::member::{NO_CLASS, Place};
use crate::procfs::Cgroups;
use crate::thread::{Room, Touched};

/// Looks for heirs while everything is put back, should they come and come.
const LOOKS: usize = 16;

impl Enforcer {
    /// Takes a process out of its class and puts it back.
    pub(super) fn leave(&mut self, pid: Pid, pass: &mut Pass) {
        let class = self.members.get(&pid).map(|member| member.class);
        self.members.get(&pid).into_iter().for_each(|member| self.late.add_leaver(pid, member, &self.ground));
        if self.put_back(pid, pass) {
            self.forget(pid);
        }
        if let Some(class) = class {
            self.repin(class, pass);
        }
    }

    /// Undoes everything that was done to a process. Where something is refused, it is a member of no class, stays in the
    /// journal, and every pass tries again; returns false then.
    fn put_back(&mut self, pid: Pid, pass: &mut Pass) -> bool {
        self.dismiss_threads(pid);
        match self.undo(pid) {
            Err(error) if !error.is_gone() => {
                self.failed(pid, error, pass);
                if let Some(member) = self.members.get_mut(&pid) {
                    member.class = NO_CLASS;
                }
                false
            }
            _ => true,
        }
    }

    /// Undoes everything that was done to a process, which stays a member.
    pub(super) fn undo(&mut self, pid: Pid) -> Result<(), KernelError> {
        let Some(member) = self.members.get_mut(&pid) else { return Ok(()) };
        let mut threads = std::mem::take(&mut member.threads);
        member.placed_for = None;
        threads.retain(|tid, touched| self.procfs.is_thread_still(pid, *tid, touched.start));
        // Real-time priority goes before the CPUs do, and the masks last: they are part of what the groups allow.
        let mut refused = BTreeMap::new();
        let mut each = |restore: &mut Restore<'_>| {
            for (tid, touched) in &mut threads {
                if let Some(error) = restore(*tid, touched).err().filter(|error| !error.is_gone()) {
                    refused.insert(*tid, error);
                }
            }
        };
        // Cookies first of all: under another policy they would take turns with others.
        each(&mut |tid, touched| touched.restore_cookie(tid));
        each(&mut |tid, touched| touched.restore_sched(tid));
        let unplaced = self.unplace(pid);
        let cpuset = self.cpuset_of(pid);
        let (procfs, offline) = (&self.procfs, self.offline_for(pid));
        let room = Room { possible: &self.possible, cpuset: &cpuset, offline: &offline, forgets: self.forgets_masks };
        each(&mut |tid, touched| touched.restore_mask(procfs, tid, &room));
        threads.retain(|tid, _| refused.contains_key(tid));
        if let Some(member) = self.members.get_mut(&pid) {
            member.threads = threads;
        }
        unplaced?;
        refused.into_values().next().map_or(Ok(()), Err)
    }

    /// Puts everything back and removes cotenant's groups. Afterwards nothing is managed.
    pub fn release_all(&mut self) -> Pass {
        let estates = Estates::of(&self.members);
        self.release_estates(estates)
    }

    /// [`Enforcer::release_all`], where it is known what members were given.
    pub(super) fn release_estates(&mut self, mut estates: Estates) -> Pass {
        let mut pass = Pass::default();
        // Nobody is moved any more, so that the masks read now are those that threads asked for.
        self.sensor = None;
        // What is still refused is to be said, though it may have been said before.
        self.failures.clear();
        for class in self.ground.classes() {
            // A stopped process cannot be moved on by anybody else.
            let thawed = self.ground.set_frozen(&class, false);
            drop(thawed);
        }
        // All that can be found is in the journal before anything goes back.
        self.find_heirs(&mut estates, &mut pass);
        // Groups before masks, which are part of what the groups allow and which kernels before 6.2 forget when a cpuset changes;
        // and real-time priority before both.
        let mut next: Vec<Pid> = self.members.keys().copied().collect();
        self.calm(&next);
        for path in self.held_groups() {
            if let Err(error) = self.let_go(&path) {
                self.failed(Pid(0), error, &mut pass);
            }
        }
        self.ground.widen();
        let mut released = BTreeSet::new();
        for _ in 0..LOOKS {
            if next.is_empty() {
                break;
            }
            // A child has what its parent had when the fork began. Where all come to their ends before anybody is moved, those
            // whose parents end at once are still in the class's group.
            self.calm(&next);
            self.await_forks(&next);
            for pid in &next {
                if self.put_back(*pid, &mut pass) {
                    released.insert(*pid);
                }
            }
            self.await_forks(&next);
            next = self.find_heirs(&mut estates, &mut pass);
        }
        pass.released += released.len();
        // Not before the last of them is found: what its makers had been given tells what a heir was.
        released.into_iter().for_each(|pid| self.forget(pid));
        if let Err(error) = self.ground.adopt_leftovers() {
            self.failed(Pid(0), error, &mut pass);
        }
        self.drop_empty_groups(&mut pass);
        if let Err(error) = self.ground.clear() {
            self.failed(Pid(0), error, &mut pass);
        }
        if let Err(error) = moving::mend(&self.roots.run, &self.procfs) {
            self.failed(Pid(0), error, &mut pass);
        }
        pass
    }

    /// Takes cookies and scheduling from these processes, where they stay. What is refused is refused again, and said, when the
    /// process is put back.
    fn calm(&mut self, pids: &[Pid]) {
        for pid in pids {
            let threads = self.members.get_mut(pid).into_iter().flat_map(|member| &mut member.threads);
            for (tid, touched) in threads {
                if self.procfs.is_thread_still(*pid, *tid, touched.start) {
                    drop(touched.restore_cookie(*tid).and_then(|()| touched.restore_sched(*tid)));
                }
            }
        }
    }

    fn find_heirs(&mut self, estates: &mut Estates, pass: &mut Pass) -> Vec<Pid> {
        let found = self.living().and_then(|living| self.adopt_heirs(&living, estates));
        found.unwrap_or_else(|error| {
            self.failed(Pid(0), error, pass);
            Vec::new()
        })
    }

    /// Removes groups of classes that have no process in them.
    pub(super) fn drop_empty_groups(&mut self, pass: &mut Pass) {
        for class in self.ground.classes() {
            let done = match self.ground.residents(&class) {
                Ok(residents) if !residents.is_empty() => continue,
                Ok(_) => self.ground.drop_class(&class),
                Err(error) => Err(error),
            };
            if let Err(error) = done {
                self.failed(Pid(0), error, pass);
            }
        }
    }

    /// The groups of a process. The kernel shows a leader that has ended in the roots of version 1, wherever the threads are
    /// that outlived it.
    pub(super) fn cgroups_of(&self, pid: Pid) -> Result<Cgroups, KernelError> {
        let cgroups = self.procfs.cgroups(pid)?;
        let is_in_root = self.ground.path_of(&cgroups).is_some_and(|path| path == Path::new("/"));
        if !(is_in_root && self.ground.takes_moves() && self.procfs.stat(pid)?.is_zombie()) {
            return Ok(cgroups);
        }
        match self.procfs.living_thread(pid) {
            Some(tid) => self.procfs.thread_cgroups(pid, tid),
            None => Ok(cgroups),
        }
    }

    /// The CPUs that the process's cpuset gives it now.
    pub(crate) fn cpuset_of(&self, pid: Pid) -> CpuSet {
        self.cpuset_in(&self.cgroups_of(pid).unwrap_or_default())
    }

    /// The CPUs that these groups give now to who is in them.
    pub(crate) fn cpuset_in(&self, cgroups: &Cgroups) -> CpuSet {
        self.ground.cpus_of(cgroups, self.plan.topology.online())
    }

    /// The group in the hierarchy with CPU sets, from its root.
    pub(crate) fn group_of(&self, cgroups: &Cgroups) -> Option<PathBuf> {
        self.ground.path_of(cgroups).map(Path::to_owned)
    }

    /// The CPUs that the process lacks because they are offline, and would not get back by itself: in the root cpuset the kernel
    /// leaves masks alone.
    pub(super) fn offline_for(&self, pid: Pid) -> CpuSet {
        let offline = self.plan.topology.offline();
        if offline.is_empty() {
            return CpuSet::new();
        }
        let cgroups = self.cgroups_of(pid).unwrap_or_default();
        let is_in_root = self.ground.path_of(&cgroups).is_none_or(|path| path == Path::new("/"));
        if is_in_root { offline.clone() } else { CpuSet::new() }
    }

    /// Rewrites the journal when most of its lines no longer matter: every exec adds to it.
    ///
    /// # Errors
    /// Where the new one cannot be written; the old one stays, which says the same.
    pub(super) fn compact(&mut self) -> Result<(), KernelError> {
        if !self.journal.has_grown() {
            return Ok(());
        }
        let records = self.records();
        self.journal.rewrite(&records)
    }

    /// All that is to be undone.
    pub(super) fn records(&self) -> Vec<Record> {
        let mut records = Vec::new();
        for (pid, member) in &self.members {
            if let Some(Place::Moved(origin)) = &member.place {
                records.push(Record::Process { pid: *pid, start: member.start, origin: origin.clone() });
            }
            let thread =
                |(tid, touched): (&Tid, &Touched)| Record::Thread { pid: *pid, tid: *tid, touched: touched.clone() };
            records.extend(member.threads.iter().map(thread));
        }
        records.extend(self.in_place.iter().map(|(path, held)| held.record(path)));
        records
    }
}

/// Undoes one thing of one thread.
type Restore<'a> = dyn FnMut(Tid, &mut Touched) -> Result<(), KernelError> + 'a;
