//! All that is known of one process: how it came to its class, what was written to it, and what the kernel says now.

use std::path::PathBuf;
use std::time::SystemTime;

use cotenant_compiler::CpuSet;

use crate::enforcer::Enforcer;
use crate::ids::{Pid, Tid};
use crate::member::{Joined, Member, NO_CLASS, Place};
use crate::procfs::Cgroups;
use crate::sys::affinity;
use crate::sys::sched::{self, SchedState};
use crate::thread::{Before, Wrote};

/// A process of a class.
#[derive(Debug, Clone)]
pub struct Story {
    /// The process.
    pub pid: Pid,
    /// Its class's name; empty where it left its class and could not be put back yet.
    pub class: String,
    /// Why it is in it.
    pub joined: Joined,
    /// Its parent when it joined.
    pub parent: Pid,
    /// Since when.
    pub since: SystemTime,
    /// How it is placed: `move`, `cgroup`, `affinity`, `none`.
    pub place: &'static str,
    /// The group that gives it its CPUs, from its hierarchy's root, where one does.
    pub group: Option<PathBuf>,
    /// Why not better, where that needs a reason.
    pub reason: Option<&'static str>,
    /// The CPUs that its class may use now; absent for unmanaged classes.
    pub cpus: Option<CpuSet>,
    /// Whether the class is stopped.
    pub frozen: bool,
    /// What the kernel refused for it.
    pub refused: Option<String>,
    /// Whether somebody else changes again and again what the class insists on.
    pub contested: bool,
    /// Its threads, the leader first; none of a process that nothing is done to.
    pub threads: Vec<ThreadStory>,
}

/// One thread of it.
#[derive(Debug, Clone)]
pub struct ThreadStory {
    /// The thread.
    pub tid: Tid,
    /// What it was before it was touched.
    pub before: Before,
    /// What was written to it.
    pub wrote: Wrote,
    /// What the kernel says of it now; absent where it has ended.
    pub now: Option<(SchedState, CpuSet)>,
    /// Whether somebody else has set something since.
    pub theirs: bool,
}

impl Enforcer {
    /// Why a member is not placed better, where that needs a reason.
    pub(crate) fn reason(&self, member: &Member, cgroups: &Cgroups) -> Option<&'static str> {
        match member.place.as_ref()? {
            Place::Affinity(reason) => Some(reason),
            place => self.is_moved_on(place, cgroups).then_some("somebody else moved it on"),
        }
    }

    /// What is known of a process; none of one in no class.
    #[must_use]
    pub fn story(&self, pid: Pid) -> Option<Story> {
        let member = self.member(pid)?;
        let class = (member.class != NO_CLASS).then(|| self.plan().classes.get(member.class)).flatten();
        let share = self.assignment().classes.get(member.class).and_then(Option::as_ref);
        let cgroups = self.procfs().cgroups(pid).unwrap_or_default();
        let cpuset = self.cpuset_in(&cgroups);
        let threads = member.threads.iter().map(|(tid, touched)| ThreadStory {
            tid: *tid,
            before: touched.before.clone(),
            wrote: touched.wrote.clone(),
            now: sched::get(*tid).ok().zip(affinity::get(*tid).ok()),
            theirs: touched.is_changed(*tid, &cpuset).unwrap_or(false),
        });
        Some(Story {
            pid,
            class: class.map_or_else(String::new, |class| class.name.clone()),
            joined: member.joined,
            parent: member.parent,
            since: member.since,
            place: member.place.as_ref().map_or("none", Place::word),
            group: match &member.place {
                Some(Place::Moved(_) | Place::InPlace(_)) => self.group_of(&cgroups),
                _ => None,
            },
            reason: self.reason(member, &cgroups),
            cpus: share.map(|share| share.cpus.clone()),
            frozen: share.is_some_and(|share| share.frozen),
            refused: self.failures().find(|failure| failure.pid == pid).map(|failure| failure.error.to_string()),
            contested: self.is_contested(pid),
            threads: threads.collect(),
        })
    }
}
