//! Groups of others that are used where they stand: every process in such a group is of one class, so the group's own set
//! of CPUs says all and nobody is moved.

use std::path::{Path, PathBuf};

use cotenant_compiler::CpuSet;
use nix::errno::Errno;

use super::{Enforcer, Pass};
use crate::cgroup::{Group, Version};
use crate::error::KernelError;
use crate::ids::Pid;
use crate::journal::{Journal, Record};
use crate::member::Place;

/// A group of somebody else's whose CPUs are those of a class.
pub(super) struct InPlace {
    /// The class, by name.
    pub(super) class: String,
    group: Group,
    /// What it had when it was taken, to which somebody has kept it: no more is ever written.
    room: CpuSet,
    /// What it was; empty on version 2 for what its parent has.
    before: CpuSet,
    wrote: CpuSet,
    frozen: bool,
}

impl Enforcer {
    /// Gives the group at `path` the CPUs of the process's class, if all in it belong to that class. The inner error says
    /// why the group cannot be used.
    pub(super) fn hold_in_place(
        &mut self,
        pid: Pid,
        path: &Path,
        cpus: &CpuSet,
    ) -> Result<Result<(), &'static str>, KernelError> {
        let Some(member) = self.members.get(&pid) else { return Ok(Err("it has ended")) };
        let class = member.class;
        let Some(name) = self.class(class).map(|class| class.name.clone()) else { return Ok(Err("it has no class")) };
        if self.ground.version().is_none() {
            return Ok(Err("this host has no cgroup tree with CPU sets"));
        }
        if path == Path::new("/") {
            return Ok(Err("it is in the root cgroup"));
        }
        if let Some(held) = self.in_place.get(path) {
            return Ok(if held.class == name { Ok(()) } else { Err("its cgroup holds processes of other classes") });
        }
        let Ok(group) = self.ground.group_at(path) else { return Ok(Err("its cgroup cannot be opened")) };
        if !group.has_cpuset() {
            return Ok(Err("its cgroup has no CPU set of its own"));
        }
        if !group.children().is_ok_and(|below| below.is_empty()) {
            return Ok(Err("its cgroup has groups below it"));
        }
        // A threaded group of version 2 does not even say which processes are in it.
        let there = group.procs().ok().filter(|there| there.iter().all(|pid| self.belongs_to(*pid, class)));
        let Some(there) = there else {
            return Ok(Err("its cgroup holds other processes as well"));
        };
        for pid in there {
            match self.note_before_narrowing(pid, class) {
                Err(error) if !error.is_gone() => return Err(error),
                _ => {}
            }
        }
        let before = group.cpus()?;
        let cpus = &within(cpus, &before);
        let record =
            Record::Group { path: path.to_owned(), before: before.clone(), wrote: cpus.clone(), frozen: false };
        self.journal.append(&[record])?;
        if group.set_cpus(cpus).and_then(|()| group.cpus()).ok().as_ref() != Some(cpus) {
            if group.cpus()? != before {
                put_back(&group, &before, &self.possible)?;
            }
            self.journal.append(&[Record::GroupGone { path: path.to_owned() }])?;
            return Ok(Err("its cgroup does not take these CPUs"));
        }
        let held = InPlace { class: name, group, room: before.clone(), before, wrote: cpus.clone(), frozen: false };
        self.in_place.insert(path.to_owned(), held);
        Ok(Ok(()))
    }

    /// Notes what a process of this class is whose group gets other CPUs next. Kernels before 6.2 forget a thread's own mask then,
    /// and none tells of a mask that has none of them: neither of what somebody set meanwhile nor of what one has from its maker
    /// whose fork is heard of later.
    fn note_before_narrowing(&mut self, pid: Pid, class: usize) -> Result<(), KernelError> {
        let stat = self.procfs.stat(pid)?;
        if !Self::is_exempt(pid, &stat) {
            self.adopt_unless_known(pid, &stat, class)?;
        }
        let cgroups = self.cgroups_of(pid)?;
        self.note_threads(pid, &cgroups)?;
        self.yield_masks(pid, &cgroups)
    }

    /// Whether a process is of that class, or will be when what it did is heard of: forked from one that is, or executed.
    fn belongs_to(&self, pid: Pid, class: usize) -> bool {
        if let Some(member) = self.members.get(&pid) {
            return member.class == class;
        }
        // One that has ended is in nobody's way.
        self.procfs.stat(pid).map_or(true, |stat| {
            let parent = self.members.get(&stat.parent).filter(|_| stat.has_not_execed());
            stat.is_over()
                || parent.map_or_else(|| self.classify(pid, &stat), |parent| Some(parent.class)) == Some(class)
        })
    }

    /// A process that runs a new program may be the first in its group that belongs elsewhere: then the group is given
    /// back and its members are placed by affinity.
    pub(super) fn share_no_group_with(&mut self, pid: Pid, pass: &mut Pass) {
        if self.in_place.is_empty() {
            return;
        }
        let Ok(cgroups) = self.cgroups_of(pid) else { return };
        let Some(path) = self.ground.path_of(&cgroups).map(Path::to_owned) else { return };
        let class = self.members.get(&pid).and_then(|member| self.class(member.class)).map(|class| class.name.clone());
        if self.in_place.get(&path).is_none_or(|held| Some(&held.class) == class.as_ref()) {
            return;
        }
        if let Err(error) = self.let_go(&path) {
            self.failed(pid, error, pass);
        }
        let there = |place: &Option<Place>| *place == Some(Place::InPlace(path.clone()));
        let members: Vec<Pid> =
            self.members.iter().filter(|(_, member)| there(&member.place)).map(|(pid, _)| *pid).collect();
        for member in members {
            self.conform(member, pass);
        }
    }

    /// Gives a group back when the last process placed by it has left.
    pub(super) fn let_go_unless_held(&mut self, path: &Path) -> Result<(), KernelError> {
        let held = self.members.values().any(|member| member.place == Some(Place::InPlace(path.to_owned())));
        if held { Ok(()) } else { self.let_go(path) }
    }

    /// Gives a group its own CPUs back, unless somebody else changed them since.
    pub(super) fn let_go(&mut self, path: &Path) -> Result<(), KernelError> {
        let Some(held) = self.in_place.get(path) else { return Ok(()) };
        let thawed = if held.frozen { held.group.thaw().map(drop) } else { Ok(()) };
        match thawed.and_then(|()| give_back(&held.group, &held.before, &held.wrote, &self.possible)) {
            Err(error) if !error.is_removed() => return Err(error),
            _ => {}
        }
        self.in_place.remove(path);
        self.journal.append(&[Record::GroupGone { path: path.to_owned() }])
    }

    /// Gives every group held for a class its CPUs now, and stops it or lets it run.
    pub(super) fn refresh_in_place(&mut self, class: &str, cpus: &CpuSet, frozen: bool) -> Result<(), KernelError> {
        let mut refused = Ok(());
        let mut removed = Vec::new();
        for (path, held) in self.in_place.iter_mut().filter(|(_, held)| held.class == class) {
            match held.give(path, cpus, frozen, &mut self.journal) {
                Err(error) if error.is_removed() => removed.push(path.clone()),
                done => refused = refused.and(done),
            }
        }
        for path in removed {
            self.in_place.remove(&path);
            self.journal.append(&[Record::GroupGone { path }])?;
        }
        refused
    }

    /// Looks again at what version 1 left the groups held of their CPUs, so that what is lacking is written.
    pub(super) fn renew_in_place(&mut self) -> Result<(), KernelError> {
        for held in self.in_place.values_mut().filter(|held| held.group.version() == Version::V1) {
            match held.group.cpus() {
                Ok(now) if now.is_subset(&held.wrote) => held.wrote = now,
                Err(error) if !error.is_removed() => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    /// Whether the group at this path has the CPUs of that class.
    pub(super) fn is_held_for(&self, path: &Path, class: &str) -> bool {
        self.in_place.get(path).is_some_and(|held| held.class == class)
    }

    /// Paths of all groups held.
    pub(super) fn held_groups(&self) -> Vec<PathBuf> {
        self.in_place.keys().cloned().collect()
    }
}

impl InPlace {
    /// The journal's line about it.
    pub(super) fn record(&self, path: &Path) -> Record {
        let (before, wrote) = (self.before.clone(), self.wrote.clone());
        Record::Group { path: path.to_owned(), before, wrote, frozen: self.frozen }
    }

    /// Takes what somebody else gave the group meanwhile for what it was. Returns whether there was anything.
    pub(super) fn concede(&mut self) -> Result<bool, KernelError> {
        if has_still(&self.group, &self.wrote)? {
            return Ok(false);
        }
        self.before = self.group.cpus()?;
        self.wrote = self.before.clone();
        Ok(true)
    }

    /// Gives the group these CPUs, and stops it or lets it run. CPUs that somebody else gave it are theirs.
    fn give(&mut self, path: &Path, cpus: &CpuSet, frozen: bool, journal: &mut Journal) -> Result<(), KernelError> {
        // Version 1 freezes in another tree, where the class has a group.
        let frozen = frozen && self.group.version() == Version::V2;
        let cpus = within(cpus, &self.room);
        let are_theirs = self.wrote != cpus && !has_still(&self.group, &self.wrote)?;
        let cpus = &if are_theirs { self.wrote.clone() } else { cpus };
        if (&self.wrote, self.frozen) == (cpus, frozen) {
            return Ok(());
        }
        let (wrote, ran) =
            (std::mem::replace(&mut self.wrote, cpus.clone()), !std::mem::replace(&mut self.frozen, frozen));
        let done = journal.append(&[self.record(path)]).and_then(|()| {
            if wrote != *cpus {
                self.group.set_cpus(cpus)?;
            }
            match (ran, frozen) {
                (true, true) => self.group.freeze().map(drop),
                (false, false) => self.group.thaw().map(drop),
                _ => Ok(()),
            }
        });
        // What was refused is tried again at the next change.
        done.inspect_err(|_| (self.wrote, self.frozen) = (wrote, !ran))
    }
}

/// The part of the class's CPUs that the group had: somebody has kept it off the others. All of them where there is none.
fn within(cpus: &CpuSet, before: &CpuSet) -> CpuSet {
    if cpus.intersects(before) { cpus.intersection(before) } else { cpus.clone() }
}

/// Restores a group's CPUs where they still stand as written. `possible` is every CPU there can be.
pub(super) fn give_back(group: &Group, before: &CpuSet, wrote: &CpuSet, possible: &CpuSet) -> Result<(), KernelError> {
    if has_still(group, wrote)? { put_back(group, before, possible) } else { Ok(()) }
}

/// Whether a group has what was written, or on version 1 what the kernel left of it: that takes CPUs that go offline out of
/// every group, for good.
fn has_still(group: &Group, wrote: &CpuSet) -> Result<bool, KernelError> {
    let now = group.cpus()?;
    Ok(now == *wrote || group.version() == Version::V1 && now.is_subset(wrote))
}

fn above(group: &Group) -> Result<Group, KernelError> {
    let directory = group.directory();
    Group::open(directory.parent().unwrap_or(directory), group.version())
}

/// A version 2 group that had no set of its own cannot lose one again while processes are in it (`ENOSPC`). Every CPU there
/// can be comes to the same: its threads may use what its parent has, now and later. On version 1 what its parent has lost
/// meanwhile is lost to the group too.
fn put_back(group: &Group, before: &CpuSet, possible: &CpuSet) -> Result<(), KernelError> {
    match group.set_cpus(before) {
        Err(error) if before.is_empty() && error.errno() == Errno::ENOSPC => group.set_cpus(possible),
        Err(error) if group.version() == Version::V1 && [Errno::EACCES, Errno::EINVAL].contains(&error.errno()) => {
            match above(group)?.cpus()?.intersection(before) {
                left if left.is_empty() => Err(error),
                left => group.set_cpus(&left),
            }
        }
        done => done,
    }
}
