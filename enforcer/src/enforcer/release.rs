//! The way back: everything touched becomes what it was, unless somebody else changed it since.

use std::collections::HashSet;
use std::path::Path;

use cotenant_compiler::CpuSet;

use super::in_place::give_back;
use super::{Enforcer, Pass};
use crate::error::KernelError;
use crate::ids::{Pid, Tid};
use crate::journal::Record;
use crate::member::{Member, Place};
use crate::sys::{affinity, sched};
use crate::thread::Touched;

impl Enforcer {
    /// Takes a process out of its class and puts it back.
    pub(super) fn leave(&mut self, pid: Pid, pass: &mut Pass) {
        let class = self.members.get(&pid).map(|member| member.class);
        if let Err(error) = self.undo(pid) {
            self.failed(pid, error, pass);
        }
        self.forget(pid);
        if let Some(class) = class {
            self.repin(class, pass);
        }
    }

    /// Undoes everything that was done to a process, which stays a member.
    pub(super) fn undo(&mut self, pid: Pid) -> Result<(), KernelError> {
        let Some(member) = self.members.get_mut(&pid) else { return Ok(()) };
        let mut threads = std::mem::take(&mut member.threads);
        member.placed_for = None;
        // Real-time priority goes before the CPUs do, and the masks last: they are part of what the groups allow.
        let mut refused = Vec::new();
        let mut each = |threads: &mut std::collections::BTreeMap<Tid, Touched>, restore: &mut Restore<'_>| {
            refused.extend(threads.iter_mut().filter_map(|(tid, touched)| restore(*tid, touched).err()));
        };
        each(&mut threads, &mut |tid, touched| touched.restore_sched(tid));
        let unplaced = self.unplace(pid);
        let cpuset = self.cpuset_of(pid, &self.everything());
        let possible = &self.possible;
        each(&mut threads, &mut |tid, touched| touched.restore_mask(tid, possible, &cpuset));
        unplaced?;
        refused.into_iter().find(|error| !error.is_gone()).map_or(Ok(()), Err)
    }

    /// Puts everything back and removes cotenant's groups. Afterwards nothing is managed.
    pub fn release_all(&mut self) -> Pass {
        let mut pass = Pass::default();
        for class in self.ground.classes() {
            // A stopped process cannot be moved on by anybody else.
            let thawed = self.ground.set_frozen(&class, false);
            drop(thawed);
        }
        let pids: Vec<Pid> = self.members.keys().copied().collect();
        // Groups before masks, which kernels before 6.2 forget when a cpuset changes; and real-time priority before both.
        for (tid, touched) in self.members.values_mut().flat_map(|member| &mut member.threads) {
            // What is refused here is refused again, and said, when its process is put back.
            drop(touched.restore_sched(*tid));
        }
        for path in self.held_groups() {
            if let Err(error) = self.let_go(&path) {
                self.failed(Pid(0), error, &mut pass);
            }
        }
        for pid in pids {
            pass.released += 1;
            self.leave(pid, &mut pass);
        }
        self.drop_empty_groups(&mut pass);
        if let Err(error) = self.ground.clear() {
            self.failed(Pid(0), error, &mut pass);
        }
        pass
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

    /// Puts back what an earlier run of this boot left behind.
    pub(super) fn recover(&mut self, records: Vec<Record>) -> Result<Pass, KernelError> {
        let mut pass = Pass::default();
        let given: Vec<Touched> = records.iter().filter_map(|record| record.touched().cloned()).collect();
        for record in &records {
            match record {
                Record::Process { pid, start, origin } if self.is_still(*pid, *start) => {
                    self.left_behind(*pid, *start).place = Some(Place::Moved(origin.clone()));
                }
                Record::Thread { pid, tid, touched } if self.is_thread_still(*pid, *tid, touched.start) => {
                    let Ok(stat) = self.procfs.stat(*pid) else { continue };
                    let mut touched = touched.clone();
                    // The mask may have been rewritten many times since; that it was written at all is what counts.
                    touched.wrote.cpus = touched.wrote.cpus.and_then(|_| affinity::get(*tid).ok());
                    self.left_behind(*pid, stat.start).threads.insert(*tid, touched);
                }
                Record::Group { path, before, wrote } => {
                    let group = self.ground.group_at(path);
                    if let Err(error) = group.and_then(|group| give_back(&group, before, wrote, &self.possible)) {
                        self.failed(Pid(0), error, &mut pass);
                    }
                }
                _ => {}
            }
        }
        self.ground.adopt_leftovers()?;
        for class in self.ground.classes() {
            self.ground.set_frozen(&class, false)?;
            for pid in self.ground.residents(&class)? {
                self.adopt_stray(pid, &given);
            }
        }
        let done = self.release_all();
        pass.add(done);
        self.journal.rewrite(std::iter::empty())?;
        Ok(pass)
    }

    /// A process in one of cotenant's groups that no record tells of: forked while nobody watched. It has what some
    /// recorded thread was given, and would have had what that one was before.
    fn adopt_stray(&mut self, pid: Pid, given: &[Touched]) {
        let Ok(stat) = self.procfs.stat(pid) else { return };
        let known: HashSet<Tid> =
            self.members.get(&pid).map_or_else(HashSet::new, |member| member.threads.keys().copied().collect());
        for tid in self.procfs.threads(pid).unwrap_or_default().into_iter().filter(|tid| !known.contains(tid)) {
            let (Ok(now), Ok(mask)) = (sched::get(tid), affinity::get(tid)) else { continue };
            let like = |touched: &&Touched| {
                touched.wrote.sched.is_some_and(|wrote| (wrote.policy, wrote.priority) == (now.policy, now.priority))
            };
            if let Some(parent) = given.iter().find(like).or_else(|| given.first()) {
                let mut touched = Touched { before: parent.before.inherited(), ..parent.clone() };
                touched.wrote.cpus = touched.wrote.cpus.map(|_| mask);
                self.left_behind(pid, stat.start).threads.insert(tid, touched);
            }
        }
        let member = self.left_behind(pid, stat.start);
        member.place.get_or_insert_with(|| {
            Place::Moved(crate::member::Origin { cpuset: "/".into(), freezer: Some("/".into()) })
        });
    }

    /// A member that stands for what an earlier run touched.
    fn left_behind(&mut self, pid: Pid, start: u64) -> &mut Member {
        self.members.entry(pid).or_insert_with(|| Member {
            start,
            class: usize::MAX,
            joined: crate::member::Joined::Matched,
            parent: Pid(0),
            place: None,
            placed_for: None,
            threads: Default::default(),
        })
    }

    fn is_still(&self, pid: Pid, start: u64) -> bool {
        self.procfs.stat(pid).is_ok_and(|stat| stat.start == start && !stat.is_zombie())
    }

    fn is_thread_still(&self, pid: Pid, tid: Tid, start: u64) -> bool {
        self.procfs.thread_stat(pid, tid).is_ok_and(|stat| stat.start == start)
    }

    /// The CPUs that the process's cpuset gives it now.
    fn cpuset_of(&self, pid: Pid, otherwise: &CpuSet) -> CpuSet {
        let cgroups = self.procfs.cgroups(pid).unwrap_or_default();
        let path = self.ground.path_of(&cgroups).unwrap_or(Path::new("/"));
        self.ground.cpus_at(path, otherwise)
    }

    /// Rewrites the journal when most of its lines no longer matter.
    pub(super) fn compact(&mut self) -> Result<(), KernelError> {
        let threads: usize = self.members.values().map(|member| member.threads.len()).sum();
        if self.journal.lines() < 1_000 + 4 * (threads + self.members.len()) {
            return Ok(());
        }
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
        self.journal.rewrite(&records)
    }
}

/// Undoes one thing of one thread.
type Restore<'a> = dyn FnMut(Tid, &mut Touched) -> Result<(), KernelError> + 'a;
