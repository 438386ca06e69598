//! What is kept for events that are yet to come.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use super::estates::Estate;
use crate::ground::Ground;
use crate::ids::{Pid, Tid};
use crate::member::{Member, NO_CLASS};
use crate::thread::Touched;

/// Processes that are members no more, or were over before anybody looked, and whose children may yet be heard of: events come
/// in order, but late. Ids are enough here, since the events say when one is used again.
#[derive(Default)]
pub(super) struct Late {
    /// Those of the time since `turned`, and those of the one before: thousands may come in a second, and none is looked
    /// through for those that are too old.
    new: BTreeMap<Pid, (usize, Estate)>,
    old: BTreeMap<Pid, (usize, Estate)>,
    turned: Option<Instant>,
    /// Those whose leader's id another thread has by now: the event that tells of its exec comes next.
    pub(super) overtaken: BTreeSet<Pid>,
    /// Threads of members that were told of, were not there, and of whose end nothing was told yet: one that executes a program
    /// is not there under its own id any more.
    pub(super) unseen: BTreeSet<(Pid, Tid)>,
}

/// No event is as late as this.
const LATEST: Duration = Duration::from_secs(2);

impl Late {
    /// Adds a process that leaves its class.
    pub(super) fn add_leaver(&mut self, pid: Pid, member: &Member, ground: &Ground) {
        let mut estate = Estate::of(member);
        if let Some(class) = &member.placed_for {
            ground.cpus_of_class(class).into_iter().for_each(|cpus| estate.add_cpus(class, cpus));
        }
        self.add(pid, NO_CLASS, estate);
    }

    /// Adds a child of a member that was over before it was looked at.
    pub(super) fn add_child(&mut self, pid: Pid, parent: &Member) {
        self.add(pid, parent.class, Estate::of(parent).for_another());
    }

    /// Adds threads of a member that are not there any more, before anything was told of how they ended.
    pub(super) fn add_ended(&mut self, pid: Pid, member: &Member, gone: &[Tid]) {
        let given = gone.iter().filter_map(|tid| member.threads.get(tid)).cloned().collect();
        self.unseen.extend(gone.iter().map(|tid| (pid, *tid)));
        self.add(pid, member.class, Estate { start: member.start, given, ..Estate::default() });
    }

    pub(super) fn add(&mut self, pid: Pid, class: usize, mut estate: Estate) {
        // It may have left before.
        let before = self.of(pid, estate.start).map(|before| before.given);
        if self.turned.is_none_or(|turned| turned.elapsed() >= LATEST) {
            self.old = std::mem::take(&mut self.new);
            self.turned = Some(Instant::now());
        }
        let more: Vec<Touched> = before.into_iter().flatten().filter(|given| !estate.given.contains(given)).collect();
        estate.given.extend(more);
        self.new.insert(pid, (class, estate));
    }

    /// Whether there is anything of the process that has or had this id.
    pub(super) fn start_of(&self, pid: Pid) -> Option<u64> {
        self.new.get(&pid).or_else(|| self.old.get(&pid)).map(|(_, estate)| estate.start)
    }

    /// Whether a thread of this process was told of and not seen; from now on none was.
    pub(super) fn take_unseen(&mut self, pid: Pid) -> bool {
        let before = self.unseen.len();
        self.unseen.retain(|(process, _)| *process != pid);
        self.unseen.len() < before
    }

    /// Whether a thread of this process was told of and not seen.
    pub(super) fn has_unseen(&self, pid: Pid) -> bool {
        self.unseen.range((pid, Tid(0))..).next().is_some_and(|(process, _)| *process == pid)
    }

    /// The id is free, or somebody else's.
    pub(super) fn forget(&mut self, pid: Pid) {
        self.new.remove(&pid);
        self.old.remove(&pid);
    }

    /// Events were lost, so that an id may be another's by now: only those are kept that began then.
    pub(super) fn keep(&mut self, began: impl Fn(Pid) -> Option<u64>) {
        for each in [&mut self.new, &mut self.old] {
            each.retain(|pid, (_, estate)| began(*pid) == Some(estate.start));
        }
        self.unseen.clear();
    }

    /// Another plan has other numbers for its classes.
    pub(super) fn renumber(&mut self, renumbered: &BTreeMap<usize, usize>) {
        for (class, _) in self.new.values_mut().chain(self.old.values_mut()) {
            *class = renumbered.get(class).copied().unwrap_or(NO_CLASS);
        }
    }

    /// Of the process that has or had this id and began then.
    pub(super) fn of(&self, pid: Pid, start: u64) -> Option<Estate> {
        self.get(pid).map(|(_, estate)| estate).filter(|estate| estate.start == start)
    }

    /// With its class, whoever has the id.
    pub(super) fn get(&self, pid: Pid) -> Option<(usize, Estate)> {
        self.new.get(&pid).or_else(|| self.old.get(&pid)).cloned()
    }
}
