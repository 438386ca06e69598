//! What is in force, with what the kernel says of it at this moment.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cotenant_compiler::CpuSet;
use cotenant_compiler::plan::{KeptClause, PlannedClass};
use cotenant_grammar::tree::{ClassKind, EqualPrio};

use crate::enforcer::{Enforcer, Failure};
use crate::ids::{Pid, Tid};
use crate::member::{Member, Place};
use crate::sys::core_sched::{self, Cookie};
use crate::sys::{affinity, sched};
use crate::thread::wanted;

/// The classes of the plan, in its order, and what stands refused.
#[derive(Debug, Clone)]
pub struct Status {
    /// Every class.
    pub classes: Vec<ClassStatus>,
    /// What the kernel refused and nobody has mended since.
    pub failures: Vec<Failure>,
}

/// One class.
#[derive(Debug, Clone)]
pub struct ClassStatus {
    /// Its name.
    pub name: String,
    /// How it is scheduled.
    pub kind: ClassKind,
    /// The CPUs it may use now; absent for unmanaged classes.
    pub cpus: Option<CpuSet>,
    /// Whether it is stopped because its gate leaves it nothing.
    pub frozen: bool,
    /// Core-scheduling cookies that the kernel shows of its threads; [`Cookie::NONE`] among them where some have none.
    /// Nothing where the class wants none.
    pub cookies: BTreeSet<Cookie>,
    /// Its clauses and how each is kept.
    pub clauses: Vec<KeptClause>,
    /// Its processes, lowest id first.
    pub members: Vec<MemberStatus>,
}

/// One process of a class.
#[derive(Debug, Clone)]
pub struct MemberStatus {
    /// The process.
    pub pid: Pid,
    /// Its name.
    pub comm: Vec<u8>,
    /// How it is placed: `move`, `cgroup`, `affinity`, `none`.
    pub place: &'static str,
    /// Why not better, where that needs a reason.
    pub reason: Option<&'static str>,
    /// Core-scheduling cookies that the kernel shows of its threads, as in [`ClassStatus::cookies`].
    pub cookies: BTreeSet<Cookie>,
    /// How many threads it has.
    pub threads: usize,
    /// How many of them the kernel shows as the class wants them.
    pub conforming: usize,
    /// How many of them have something that somebody else set after they were placed.
    pub theirs: usize,
    /// Whether somebody else changes again and again what the class insists on.
    pub contested: bool,
}

impl ClassStatus {
    /// Threads of all members, and how many of them conform.
    #[must_use]
    pub fn threads(&self) -> (usize, usize) {
        let sum = |each: fn(&MemberStatus) -> usize| self.members.iter().map(each).sum();
        (sum(|member| member.threads), sum(|member| member.conforming))
    }

    /// How many members are placed in each way.
    #[must_use]
    pub fn places(&self) -> BTreeMap<&'static str, usize> {
        let mut places = BTreeMap::new();
        self.members.iter().for_each(|member| *places.entry(member.place).or_default() += 1);
        places
    }
}

impl Enforcer {
    /// Asks the kernel about every thread of every member.
    #[must_use]
    pub fn status(&self) -> Status {
        let plan = Arc::clone(self.shared_plan());
        let mut members: Vec<Vec<(Pid, &Member)>> = vec![Vec::new(); plan.classes.len()];
        for (pid, member) in self.members() {
            if let Some(class) = members.get_mut(member.class) {
                class.push((pid, member));
            }
        }
        let classes = plan.classes.iter().zip(members).enumerate().map(|(at, (class, mut members))| {
            members.sort_unstable_by_key(|(pid, _)| *pid);
            let share = self.assignment().classes.get(at).and_then(Option::as_ref);
            let members: Vec<MemberStatus> =
                members.into_iter().filter_map(|(pid, member)| self.member_status(pid, member, class)).collect();
            ClassStatus {
                name: class.name.clone(),
                kind: class.kind,
                cpus: share.map(|share| share.cpus.clone()),
                frozen: share.is_some_and(|share| share.frozen),
                clauses: class.placement.as_ref().map_or_else(Vec::new, |placement| placement.clauses.clone()),
                cookies: members.iter().flat_map(|member| &member.cookies).copied().collect(),
                members,
            }
        });
        let mut failures: Vec<Failure> = self.failures().cloned().collect();
        failures.sort_by_key(|failure| failure.pid);
        Status { classes: classes.collect(), failures }
    }

    /// None where the process has ended.
    fn member_status(&self, pid: Pid, member: &Member, class: &PlannedClass) -> Option<MemberStatus> {
        let comm = self.procfs().stat(pid).ok()?.comm;
        let threads = self.procfs().threads(pid).ok()?;
        let cgroups = self.procfs().cgroups(pid).unwrap_or_default();
        let (share, cpuset) = (self.share_of(pid), self.cpuset_in(&cgroups));
        let conforms = |tid: &&Tid| {
            let Some(placement) = &class.placement else { return true };
            let everywhere = matches!(member.place, Some(Place::Everywhere) | None);
            let here = affinity::get(**tid).is_ok_and(|mask| match (&share, placement.equal_prio) {
                (None, _) => false,
                (Some(share), Some(EqualPrio::Hold)) => mask.len() == 1 && mask.is_subset(share),
                (Some(share), Some(EqualPrio::Push)) => mask == *share,
                (Some(share), None) => everywhere || mask.is_subset(share),
            });
            here && self.has_its_cookie(pid, **tid, placement)
                && sched::get(**tid).is_ok_and(|now| wanted(&now, placement.attributes) == now)
        };
        let wants_cookie = class.placement.as_ref().is_some_and(|placement| placement.cookie.is_some());
        let asked = threads.iter().filter(|_| wants_cookie);
        Some(MemberStatus {
            pid,
            comm,
            cookies: asked.filter_map(|tid| core_sched::get(*tid).ok()).collect(),
            place: member.place.as_ref().map_or("none", Place::word),
            reason: self.reason(member, &cgroups),
            conforming: threads.iter().filter(conforms).count(),
            threads: threads.len(),
            theirs: member.threads.iter().filter(|(tid, it)| it.is_changed(**tid, &cpuset).unwrap_or(false)).count(),
            contested: self.is_contested(pid),
        })
    }
}
