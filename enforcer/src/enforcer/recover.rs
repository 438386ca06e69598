//! What nobody watched being made: the leavings of a run that ended without a word, and processes whose events were lost.

use std::collections::HashSet;
use std::time::SystemTime;

use super::in_place::give_back;
use super::{Enforcer, Pass};
use crate::error::KernelError;
use crate::ids::{Pid, Tid};
use crate::journal::Record;
use crate::member::{Joined, Member, NO_CLASS, Origin, Place};
use crate::procfs::Stat;
use crate::sys::{affinity, sched};
use crate::thread::{Touched, Wrote};

impl Enforcer {
    /// Puts back what an earlier run of this boot left behind.
    pub(super) fn recover(&mut self, records: Vec<Record>) -> Result<Pass, KernelError> {
        let (mut pass, mut refused) = (Pass::default(), Vec::new());
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
                Record::Group { path, before, wrote, frozen } => {
                    let given_back = self.ground.group_at(path).and_then(|group| {
                        if *frozen {
                            group.thaw()?;
                        }
                        give_back(&group, before, wrote, &self.possible)
                    });
                    if let Some(error) = given_back.err().filter(|error| !error.is_removed()) {
                        self.failed(Pid(0), error, &mut pass);
                        refused.push(record.clone());
                    }
                }
                _ => {}
            }
        }
        self.adopt_heirs();
        self.clear_left_cookies(&mut pass);
        self.ground.adopt_leftovers()?;
        for class in self.ground.classes() {
            let residents = self.ground.set_frozen(&class, false).and_then(|_| self.ground.residents(&class));
            match residents {
                Ok(residents) => residents.into_iter().for_each(|pid| self.adopt_stray(pid, &given)),
                Err(error) => self.failed(Pid(0), error, &mut pass),
            }
        }
        let done = self.release_all();
        pass.add(done);
        refused.extend(self.records());
        self.journal.rewrite(&refused)?;
        Ok(pass)
    }

    /// Threads and children of what is recorded that no record tells of: made while nobody watched, with what their
    /// makers had been given.
    fn adopt_heirs(&mut self) {
        let processes = self.procfs.processes().unwrap_or_default();
        let stats = processes.into_iter().filter_map(|pid| Some((pid, self.procfs.stat(pid).ok()?)));
        let mut found: Vec<(Pid, Stat)> = stats.filter(|(pid, stat)| !Self::is_exempt(*pid, stat)).collect();
        // Parents first: what a child inherits must be known.
        found.sort_by_key(|(pid, stat)| (stat.start, *pid));
        for (pid, stat) in found {
            let maker = if self.members.contains_key(&pid) { pid } else { stat.parent };
            let Some(makers) = self.members.get(&maker).map(|maker| maker.threads.clone()) else { continue };
            let cpuset = self.cpuset_of(pid);
            for tid in self.procfs.threads(pid).unwrap_or_default() {
                if self.members.get(&pid).is_some_and(|member| member.threads.contains_key(&tid)) {
                    continue;
                }
                let Ok(start) = self.procfs.thread_stat(pid, tid).map(|stat| stat.start) else { continue };
                let heir = Touched::inherited(&self.procfs, tid, start, makers.values(), &cpuset);
                if let Ok(touched) = heir.as_ref()
                    && touched.wrote != Wrote::default()
                {
                    self.left_behind(pid, stat.start).threads.insert(tid, touched.clone());
                }
            }
        }
    }

    /// Puts back processes in cotenant's groups that are of no class: what made them was not seen, as when events are lost.
    pub(super) fn put_back_strays(&mut self, pass: &mut Pass) -> Result<(), KernelError> {
        for class in self.ground.classes() {
            for pid in self.ground.residents(&class)? {
                if self.members.contains_key(&pid) || pid == Pid::current() {
                    continue;
                }
                let given: Vec<Touched> = self
                    .members
                    .values()
                    .filter(|member| member.placed_for.as_ref() == Some(&class))
                    .flat_map(|member| member.threads.values().cloned())
                    .collect();
                self.adopt_stray(pid, &given);
                pass.released += 1;
                self.leave(pid, pass);
            }
        }
        Ok(())
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
        member.place.get_or_insert_with(|| Place::Moved(Origin { cpuset: "/".into(), freezer: Some("/".into()) }));
    }

    /// A member that stands for what an earlier run touched.
    fn left_behind(&mut self, pid: Pid, start: u64) -> &mut Member {
        self.members.entry(pid).or_insert_with(|| Member {
            start,
            class: NO_CLASS,
            joined: Joined::Matched,
            since: SystemTime::now(),
            parent: Pid(0),
            place: None,
            placed_for: None,
            threads: Default::default(),
        })
    }

    fn is_still(&self, pid: Pid, start: u64) -> bool {
        self.procfs.stat(pid).is_ok_and(|stat| stat.start == start && !stat.is_over())
    }

    fn is_thread_still(&self, pid: Pid, tid: Tid, start: u64) -> bool {
        self.procfs.thread_stat(pid, tid).is_ok_and(|stat| stat.start == start)
    }
}
