//! The leavings of a run that ended without a word.

use std::time::SystemTime;

use super::estates::Estates;
use super::in_place::give_back;
use super::{Enforcer, Pass};
use crate::error::KernelError;
use crate::ids::Pid;
use crate::journal::Record;
use crate::member::{Joined, Member, NO_CLASS, Place};
use crate::sys::sched;

impl Enforcer {
    /// Puts back what an earlier run of this boot left behind.
    pub(super) fn recover(&mut self, records: Vec<Record>) -> Result<Pass, KernelError> {
        let (mut pass, mut refused, mut ended) = (Pass::default(), Vec::new(), Vec::new());
        for record in &records {
            match record {
                Record::Process { pid, start, origin } if self.is_still(*pid, *start) => {
                    self.left_behind(*pid, *start).place = Some(Place::Moved(origin.clone()));
                }
                Record::Thread { pid, tid, touched } if self.procfs.is_thread_still(*pid, *tid, touched.start) => {
                    let Ok(stat) = self.procfs.stat(*pid) else { continue };
                    let mut touched = touched.clone();
                    // A run that was killed before the write that this tells of left what it had written before.
                    if let Some(given) = sched::get(*tid).ok().and_then(|now| touched.given_sched(&now)) {
                        touched.wrote.sched = Some(given);
                    }
                    if let Ok(Some(given)) = touched.given_mask(*tid, &self.cpuset_of(*pid)) {
                        touched.wrote.cpus = Some(given);
                    }
                    self.left_behind(*pid, stat.start).threads.insert(*tid, touched);
                }
                Record::Thread { pid, touched, .. } => ended.push((*pid, touched)),
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
        // The last of them may have executed a program and have its leader's id.
        for (pid, touched) in ended {
            let cpuset = self.cpuset_of(pid);
            if let Some(leader) = self.members.get_mut(&pid).and_then(|member| member.threads.get_mut(&pid.leader())) {
                leader.give_way_to(touched, pid.leader(), &cpuset);
            }
        }
        let mut estates = Estates::of(&self.members);
        for record in &records {
            match record {
                Record::Thread { pid, touched, .. } => estates.add_given(*pid, touched),
                Record::Group { path, .. } => estates.add_group(path),
                _ => {}
            }
        }
        self.clear_left_cookies(&mut pass);
        self.ground.adopt_leftovers()?;
        let done = self.release_estates(estates);
        pass.add(done);
        refused.extend(self.records());
        self.journal.rewrite(&refused)?;
        Ok(pass)
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
}
