//! Heirs: threads and processes that nobody saw being made, which have what their makers had been given.
//!
//! A child has the scheduling, the mask and the groups of the thread that made it. Mostly an event tells of it in time. Where
//! none does, because nobody watched, because events were lost, or because the maker is put back while it forks, heirs are found
//! by looking: by their parents and, where the parent has ended, by the groups they are in. What an orphan inherited in a group
//! that is no class's cannot be told from what somebody chose for it, and is left.

use std::collections::{BTreeMap, BTreeSet};

use super::estates::{Estate, Estates};
use super::{Enforcer, Pass};
use crate::error::KernelError;
use crate::ids::{Pid, Tid};
use crate::journal::Record;
use crate::member::{Joined, Member, NO_CLASS, Origin, Place};
use crate::procfs::Stat;
use crate::thread::{Touched, Wrote};

impl Enforcer {
    /// Every process that a class could have, parents first.
    ///
    /// # Errors
    /// Where `/proc` itself cannot be listed.
    pub(super) fn living(&self) -> Result<Vec<(Pid, Stat)>, KernelError> {
        // A process that ended since the list was read is not there, which is all there is to say.
        let stats = self.procfs.processes()?.into_iter().filter_map(|pid| Some((pid, self.procfs.stat(pid).ok()?)));
        Ok(parents_first(stats.filter(|(pid, stat)| !Self::is_exempt(*pid, stat)).collect()))
    }

    /// Makes members of all heirs that live, in the class of their makers, with what is to be undone, in the journal too. Returns
    /// whose threads are new.
    ///
    /// # Errors
    /// Where the journal cannot be written or a group of cotenant's cannot be read.
    pub(super) fn adopt_heirs(
        &mut self,
        living: &[(Pid, Stat)],
        estates: &mut Estates,
    ) -> Result<Vec<Pid>, KernelError> {
        let mut starts: BTreeMap<Pid, u64> = living.iter().map(|(pid, stat)| (*pid, stat.start)).collect();
        let mut class_of = BTreeMap::new();
        for class in self.ground.classes() {
            class_of.extend(self.ground.residents(&class)?.into_iter().map(|pid| (pid, class.clone())));
        }
        // Those that came since everybody was listed.
        let new = class_of.keys().filter(|pid| !starts.contains_key(pid));
        let stats = new.filter_map(|pid| Some((*pid, self.procfs.stat(*pid).ok()?)));
        let late: Vec<(Pid, Stat)> = stats.filter(|(pid, stat)| !Self::is_exempt(*pid, stat)).collect();
        starts.extend(late.iter().map(|(pid, stat)| (*pid, stat.start)));
        let held = estates.groups.iter().filter_map(|path| self.ground.group_at(path).ok()?.procs().ok());
        let held: BTreeSet<Pid> = held.flatten().collect();
        let mut adopted = Vec::new();
        for (pid, stat) in living.iter().chain(&late) {
            // A parent that has left made it before or after: what it has tells.
            let parents_start = starts.get(&stat.parent).copied();
            let left = parents_start.and_then(|start| self.late.of(stat.parent, start));
            let parents = parents_start.and_then(|start| estates.get(stat.parent, start)).cloned();
            let parents = match (parents, left) {
                (Some(now), Some(left)) => Some(Estate { given: [now.given, left.given].concat(), ..now }),
                (now, left) => now.or(left),
            };
            let own = estates.get(*pid, stat.start).cloned();
            let own = own.or_else(|| self.late.of(*pid, stat.start).map(Estate::for_another));
            let (maker, estate) = match (own, parents, class_of.get(pid)) {
                (Some(own), ..) => (Some(*pid), own),
                (None, Some(parents), _) => (Some(stat.parent), parents.for_another()),
                (None, None, Some(class)) => (None, estates.of_class(class)),
                (None, None, None) if held.contains(pid) => (None, estates.of_all()),
                (None, None, None) => continue,
            };
            let class = match maker {
                Some(maker) => self.members.get(&maker).map(|maker| maker.class),
                None => self.plan.classes.iter().position(|class| Some(&class.name) == estate.placed_for.as_ref()),
            };
            let class = class.unwrap_or(NO_CLASS);
            // Whoever shows nothing of it any more may have made others before.
            let left = Estate { start: stat.start, ..estate.clone().for_another() };
            estates.processes.entry(*pid).or_insert(left);
            if self.take_on(*pid, stat, class, &estate, class_of.contains_key(pid))? {
                self.members.get(pid).into_iter().for_each(|member| estates.add(*pid, member));
                adopted.push(*pid);
            }
        }
        Ok(adopted)
    }

    /// What a process has been given, first what this thread of it was.
    pub(super) fn given_to(&self, maker: Pid, first: Tid) -> Vec<Touched> {
        let threads = self.members.get(&maker).map(|member| &member.threads);
        let first = threads.and_then(|threads| threads.get(&first)).into_iter();
        let given: Vec<Touched> = first.chain(threads.into_iter().flat_map(|it| it.values())).cloned().collect();
        let left = self.late.get(maker).map(|(_, estate)| estate.given).unwrap_or_default();
        given.into_iter().chain(left).collect()
    }

    /// A process was found before its fork was heard of, perhaps as an orphan: what it was then may be what its maker had been
    /// given. Returns whether that was so.
    pub(super) fn credit(&mut self, pid: Pid, stat: &Stat, maker: Pid) -> Result<bool, KernelError> {
        let (given, cpuset) = (self.given_to(maker, maker.leader()), self.cpuset_of(pid));
        let Some(member) = self.members.get_mut(&pid) else { return Ok(false) };
        let mut records = Vec::new();
        for (tid, touched) in &mut member.threads {
            if touched.credit(*tid, given.iter(), &cpuset).unwrap_or(false) {
                records.push(Record::Thread { pid, tid: *tid, touched: touched.clone() });
            }
        }
        let class = member.class;
        self.journal.append(&records)?;
        let estate = Estate { given, ..Estate::default() };
        Ok(self.take_on(pid, stat, class, &estate, false)? || !records.is_empty())
    }

    /// Makes a member of a process whose fork nobody has heard of, in this class, where it has something of its parent.
    ///
    /// # Errors
    /// Where the journal cannot be written.
    pub(super) fn adopt_unless_known(&mut self, pid: Pid, stat: &Stat, class: usize) -> Result<(), KernelError> {
        if self.members.get(&pid).is_some_and(|member| member.start == stat.start) {
            return Ok(());
        }
        let parent = self.members.get(&stat.parent).filter(|parent| parent.start <= stat.start);
        // A thread that it made while it was put back may be its leader now.
        let own = self.late.of(pid, stat.start);
        let Some(estate) = own.or_else(|| parent.map(Estate::of)) else { return Ok(()) };
        self.take_on(pid, stat, class, &estate.for_another(), self.is_resident(pid)).map(drop)
    }

    /// Whether a process is in a group of cotenant's.
    fn is_resident(&self, pid: Pid) -> bool {
        self.cgroups_of(pid).is_ok_and(|cgroups| self.ground.has_in_own(&cgroups))
    }

    /// Where a child is of a process that is in this place, and what for. One that was forked before its parent was moved is not
    /// where that is.
    pub(super) fn inherited_place(
        &self,
        child: Pid,
        parent: Pid,
        of_parent: (Option<Place>, Option<String>),
    ) -> (Option<Place>, Option<String>) {
        let group = |pid: Pid| self.cgroups_of(pid).ok().and_then(|it| Some(self.ground.path_of(&it)?.to_owned()));
        // An orphan's parent says nothing.
        let there = self.members.get(&parent).and_then(|_| group(parent));
        let is_resident = self.is_resident(child);
        let is_moved = matches!(of_parent.0, Some(Place::Moved(_)));
        let is_beside = match there {
            Some(there) => group(child) == Some(there),
            None => is_resident,
        };
        match (is_moved, is_beside, is_resident) {
            (true, true, _) | (false, _, false) => of_parent,
            (_, _, true) => (Some(Place::Moved(Origin::roots())), None),
            (true, false, false) => (None, None),
        }
    }

    /// Follows the event that somebody who is no member made a process or thread. Where the maker was one, what it made may have
    /// what it had: it goes into the maker's class or, where that has left, back.
    pub(super) fn follow_heir(&mut self, maker: Pid, pid: Pid, pass: &mut Pass) {
        let Some((class, mut estate)) = self.late.get(maker) else { return };
        if maker != pid {
            estate = estate.for_another();
        }
        let stat = match self.procfs.stat(pid) {
            Ok(stat) if !Self::is_exempt(pid, &stat) => stat,
            _ => return self.late.add(pid, class, estate),
        };
        match self.take_on(pid, &stat, class, &estate, self.is_resident(pid)) {
            Err(error) => self.failed(pid, error, pass),
            Ok(false) => {}
            Ok(true) if class == NO_CLASS => self.leave(pid, pass),
            Ok(true) => {
                pass.placed += 1;
                // Where it runs another program already, the event about that decides.
                if stat.has_not_execed() {
                    self.conform(pid, pass);
                }
            }
        }
    }

    /// Makes a member of one process, if it has something of this estate. Returns whether anything about it is news.
    fn take_on(
        &mut self,
        pid: Pid,
        stat: &Stat,
        class: usize,
        estate: &Estate,
        is_resident: bool,
    ) -> Result<bool, KernelError> {
        let known = self.members.get(&pid).filter(|member| member.start == stat.start);
        let is_known = |tid: &Tid| estate.known.contains(tid) || known.is_some_and(|it| it.threads.contains_key(tid));
        let is_new = known.is_none();
        let mut threads = Vec::new();
        if !estate.given.is_empty() {
            let cpuset = self.cpuset_of(pid);
            let tids = self.procfs.threads(pid).unwrap_or_default();
            for tid in tids.into_iter().filter(|tid| !is_known(tid)) {
                let Ok(start) = self.procfs.thread_stat(pid, tid).map(|stat| stat.start) else { continue };
                let heir = Touched::inherited(&self.procfs, tid, start, estate.given.iter(), &cpuset);
                threads.extend(heir.ok().filter(|heir| heir.wrote != Wrote::default()).map(|heir| (tid, heir)));
            }
        }
        if threads.is_empty() && !(is_new && is_resident) {
            return Ok(false);
        }
        let of_maker = (estate.place.clone(), estate.placed_for.clone());
        let (place, placed_for) = self.inherited_place(pid, stat.parent, of_maker);
        let process = match &place {
            Some(Place::Moved(origin)) if is_new => {
                Some(Record::Process { pid, start: stat.start, origin: origin.clone() })
            }
            _ => None,
        };
        let thread = |(tid, touched): &(Tid, Touched)| Record::Thread { pid, tid: *tid, touched: touched.clone() };
        let records: Vec<Record> = process.into_iter().chain(threads.iter().map(thread)).collect();
        self.journal.append(&records)?;
        if is_new {
            let (start, parent, joined) = (stat.start, stat.parent, Joined::Forked);
            let since = std::time::SystemTime::now();
            let heir = Member { start, class, joined, since, parent, place, placed_for, threads: Default::default() };
            self.members.insert(pid, heir);
        }
        self.members.get_mut(&pid).into_iter().for_each(|member| member.threads.extend(threads.iter().cloned()));
        Ok(true)
    }
}

/// Puts parents before their children. Start times alone do not: they are in hundredths of a second, and ids begin anew.
fn parents_first(mut found: Vec<(Pid, Stat)>) -> Vec<(Pid, Stat)> {
    let parents: BTreeMap<Pid, Pid> = found.iter().map(|(pid, stat)| (*pid, stat.parent)).collect();
    let depth =
        |pid: Pid| std::iter::successors(Some(pid), |pid| parents.get(pid).copied()).take(parents.len() + 1).count();
    found.sort_by_cached_key(|(pid, stat)| (stat.start, depth(*pid), *pid));
    found
}
