//! Which process is in which class: decided when a program is executed.
//!
//! A fork stays in its parent's class until it executes a program. An exec is classified afresh; where no class matches,
//! the process leaves, unless the class it was in keeps its descendants. A process in no class is looked at again when its
//! user, group or name changes, because daemons drop privileges after their exec; a member stays whatever it calls itself.

use std::time::SystemTime;

use cotenant_compiler::Plan;

use super::{Enforcer, Pass};
use crate::events::ProcEvent;
use crate::ids::{Pid, Tid};
use crate::journal::Record;
use crate::member::{Joined, Member, NO_CLASS, Place};
use crate::procfs::Stat;
use crate::subject::Subject;
use crate::thread::Touched;

/// A class and the reason for being in it.
pub(super) type Verdict = Option<(usize, Joined)>;

/// The class of a process. `own` is the class that matches it, `from` the class it would inherit.
pub(super) fn verdict(plan: &Plan, has_not_execed: bool, own: Option<usize>, from: Option<usize>) -> Verdict {
    let own = own.map(|class| (class, Joined::Matched));
    match from {
        Some(class) if has_not_execed => Some((class, Joined::Forked)),
        Some(class) if plan.classes.get(class).is_some_and(|class| class.with_descendants) => {
            own.or(Some((class, Joined::Descended)))
        }
        _ => own,
    }
}

impl Enforcer {
    /// Follows one event.
    pub fn follow(&mut self, event: &ProcEvent) -> Pass {
        let pass = self.respond_to(event);
        // A journal that cannot be rewritten is longer than it need be, and says the same.
        drop(self.compact());
        pass
    }

    fn respond_to(&mut self, event: &ProcEvent) -> Pass {
        match event {
            ProcEvent::Fork { parent, parent_thread, child } => self.forked(*parent, *parent_thread, *child),
            ProcEvent::Thread { process, thread } => self.new_thread(*process, *thread),
            ProcEvent::Exec { process } => self.executed(*process),
            ProcEvent::Uid { process, .. } | ProcEvent::Gid { process, .. } => self.changed(*process),
            ProcEvent::Comm { process, thread, .. } if thread.leads(*process) => self.changed(*process),
            ProcEvent::Exit { process, thread, .. } => self.exited(*process, *thread),
            ProcEvent::Comm { .. } => Pass::default(),
        }
    }

    /// The first class that matches.
    pub(super) fn classify(&self, pid: Pid, stat: &Stat) -> Option<usize> {
        let subject = Subject::new(&self.procfs, &self.accounts, &self.roots.group, pid, stat);
        let class = self.plan.classify(&subject);
        // What ends in the midst of it takes with it what selectors see, and other threads may outlive it.
        let has_ended = class.is_none() && subject.lacks_something() && !stat.is_zombie();
        let now = has_ended.then(|| self.procfs.stat(pid).ok()).flatten();
        match now.filter(Stat::is_zombie) {
            Some(now) => self.plan.classify(&Subject::new(&self.procfs, &self.accounts, &self.roots.group, pid, &now)),
            None => class,
        }
    }

    /// Whether the process is none that a class could have: a kernel thread, a zombie or the enforcer itself.
    pub(super) fn is_exempt(pid: Pid, stat: &Stat) -> bool {
        stat.is_kernel_thread() || stat.is_over() || pid == Pid::current()
    }

    /// The facts of a process that became a member before its fork was heard of.
    fn found_before(&self, pid: Pid) -> Option<Stat> {
        let start = self.members.get(&pid)?.start;
        self.procfs.stat(pid).ok().filter(|stat| stat.start == start && !stat.is_over())
    }

    /// Whether a member has been placed for the class that it is in.
    fn is_placed(&self, pid: Pid) -> bool {
        self.members.get(&pid).is_some_and(|member| {
            self.class(member.class).is_none_or(|class| Some(&class.name) == member.placed_for.as_ref())
        })
    }

    fn forked(&mut self, parent: Pid, parent_thread: Tid, child: Pid) -> Pass {
        let mut pass = Pass::default();
        // What a look found ended may have been forked after the events that are heard now.
        let known = self.late.start_of(child);
        if known.is_some_and(|start| self.procfs.stat(child).is_ok_and(|stat| start != stat.start)) {
            self.late.forget(child);
        }
        if let Some(stat) = self.found_before(child) {
            match self.credit(child, &stat, parent) {
                Ok(is_news) if is_news || !self.is_placed(child) => self.conform(child, &mut pass),
                Ok(_) => {}
                Err(error) => self.failed(child, error, &mut pass),
            }
            return pass;
        }
        let Some(from) = self.members.get(&parent) else {
            self.follow_heir(parent, child, &mut pass);
            return pass;
        };
        let stat = match self.procfs.stat(child) {
            Ok(stat) if !Self::is_exempt(child, &stat) => stat,
            // It may have made others all the same.
            _ => {
                self.late.add_child(child, from);
                return pass;
            }
        };
        let (place, placed_for) = self.inherited_place(child, parent, (from.place.clone(), from.placed_for.clone()));
        let mut member = Member {
            start: stat.start,
            class: from.class,
            joined: Joined::Forked,
            since: SystemTime::now(),
            parent,
            place,
            placed_for,
            threads: Default::default(),
        };
        // It has what its parent has: the same groups, and the state of the thread that forked it.
        let mut records = Vec::new();
        let makers = self.given_to(parent, parent_thread);
        if !makers.is_empty() {
            let cpuset = self.cpuset_of(child);
            let Ok(touched) = Touched::inherited(&self.procfs, child.leader(), stat.start, makers.iter(), &cpuset)
            else {
                self.late.add_child(child, from);
                return pass;
            };
            records.push(Record::Thread { pid: child, tid: child.leader(), touched: touched.clone() });
            member.threads.insert(child.leader(), touched);
        }
        if let Some(Place::Moved(origin)) = &member.place {
            records.push(Record::Process { pid: child, start: stat.start, origin: origin.clone() });
        }
        self.members.insert(child, member);
        pass.placed += 1;
        match self.journal.append(&records) {
            Err(error) => self.failed(child, error, &mut pass),
            // Where it runs another program already, the event about that decides.
            Ok(()) if !stat.has_not_execed() => {}
            Ok(()) => self.conform(child, &mut pass),
        }
        pass
    }

    /// Only the new thread is looked at: the others have what they are to have, and there may be thousands.
    fn new_thread(&mut self, process: Pid, thread: Tid) -> Pass {
        let mut pass = Pass::default();
        if self.members.get(&process).is_some_and(|member| member.place.is_some()) {
            self.conform_thread(process, thread, &mut pass);
            if self.members.get(&process).is_some_and(|member| !member.threads.contains_key(&thread)) {
                self.late.unseen.insert((process, thread));
            }
        } else {
            self.follow_heir(process, process, &mut pass);
        }
        pass
    }

    fn executed(&mut self, pid: Pid) -> Pass {
        let Ok(stat) = self.procfs.stat(pid) else { return Pass::default() };
        if Self::is_exempt(pid, &stat) {
            return Pass::default();
        }
        self.keep_callers_record(pid, &stat);
        let own = self.classify(pid, &stat);
        let known = self.members.get(&pid).filter(|member| member.start == stat.start);
        let from = known.or_else(|| self.members.get(&stat.parent)).map(|member| member.class);
        let asked = known.filter(|member| member.joined == Joined::Asked).map(|member| (member.class, Joined::Asked));
        let verdict = asked.or_else(|| verdict(&self.plan, false, own, from));
        self.enrol(pid, &stat, verdict)
    }

    /// Puts a process into the class of that name because it asks for it.
    ///
    /// # Errors
    /// In words: where there is no such class, or no process that can have one.
    pub fn admit(&mut self, pid: Pid, class: &str) -> Result<Pass, String> {
        let at = self.plan.class_named(class).map_err(|nearest| {
            let help = nearest.map_or_else(String::new, |nearest| format!(": write `{nearest}`"));
            format!("the policy in force has no class `{class}`{help}")
        })?;
        let stat = self.procfs.stat(pid).map_err(|error| error.to_string())?;
        if Self::is_exempt(pid, &stat) {
            return Err(format!("process {pid} can have no class"));
        }
        // What was refused of it before it asked is no answer.
        self.failures.remove(&pid);
        Ok(self.enrol(pid, &stat, Some((at, Joined::Asked))))
    }

    /// The user, group or name of a process changed.
    fn changed(&mut self, pid: Pid) -> Pass {
        if self.members.contains_key(&pid) {
            return Pass::default();
        }
        let Ok(stat) = self.procfs.stat(pid) else { return Pass::default() };
        if Self::is_exempt(pid, &stat) {
            return Pass::default();
        }
        let own = self.classify(pid, &stat).map(|class| (class, Joined::Matched));
        self.enrol(pid, &stat, own)
    }

    fn exited(&mut self, process: Pid, thread: Tid) -> Pass {
        let Some(member) = self.members.get_mut(&process) else {
            self.failures.remove(&process);
            self.late.overtaken.remove(&process);
            return Pass::default();
        };
        let class = member.class;
        self.late.unseen.remove(&(process, thread));
        let before = self.late.has_unseen(process).then(|| member.clone());
        // An id that is somebody's may be another's by now: of a process that came later, or of a thread that executes a program.
        // The event about that comes next, and where it was heard of before, the record is of the one that lives.
        let now = self.procfs.thread_stat(process, thread).ok().filter(|stat| !stat.is_zombie());
        if thread.leads(process) && now.as_ref().is_some_and(|now| now.start == member.start) {
            self.late.overtaken.insert(process);
        }
        member
            .threads
            .retain(|tid, touched| *tid != thread || now.as_ref().is_some_and(|it| it.start == touched.start));
        // The exit of the leader is not the end of the process while other threads live, known or not.
        let start = member.start;
        let is_over = |stat: Stat| stat.is_over() || stat.start != start;
        if member.threads.is_empty() && self.procfs.stat(process).map_or(true, is_over) {
            // Another thread may have executed a program, and the process made others, before all of it ended.
            before.into_iter().for_each(|member| self.late.add_leaver(process, &member, &self.ground));
            self.forget(process);
        }
        let mut pass = Pass::default();
        self.repin(class, &mut pass);
        pass
    }

    /// Drops a process that has ended.
    pub(super) fn forget(&mut self, pid: Pid) {
        self.contests.remove(&pid);
        self.failures.remove(&pid);
        self.late.take_unseen(pid);
        if self.members.remove(&pid).is_some() {
            // A line too many in the journal is found to be void by its start time.
            drop(self.journal.append(&[Record::Gone { pid }]));
        }
    }

    /// Notes the class of a process without doing anything about it yet. Returns whether that is news.
    pub(super) fn expect(&mut self, pid: Pid, stat: &Stat, class: usize, joined: Joined) -> bool {
        if self.members.get(&pid).is_some_and(|member| member.start != stat.start) {
            self.forget(pid);
        }
        let before = self.members.get(&pid).map(|member| member.class);
        let new = || Member {
            start: stat.start,
            class,
            joined,
            since: SystemTime::now(),
            parent: stat.parent,
            place: None,
            placed_for: None,
            threads: Default::default(),
        };
        let member = self.members.entry(pid).or_insert_with(new);
        if before != Some(class) {
            member.since = SystemTime::now();
        }
        (member.class, member.joined) = (class, joined);
        before != Some(class)
    }

    /// Puts a process into the class of the verdict, or out of the one it is in.
    pub(super) fn enrol(&mut self, pid: Pid, stat: &Stat, verdict: Verdict) -> Pass {
        let mut pass = Pass::default();
        if self.members.get(&pid).is_some_and(|member| member.start != stat.start) {
            self.forget(pid);
        }
        if let Err(error) = self.adopt_unless_known(pid, stat, NO_CLASS) {
            self.failed(pid, error, &mut pass);
        }
        let before = self.members.get(&pid).map(|member| member.class);
        match verdict {
            None if before.is_some() => {
                pass.released += 1;
                self.leave(pid, &mut pass);
            }
            None => self.dismiss_threads(pid),
            Some((class, joined)) => {
                if before != Some(class) {
                    pass.placed += 1;
                }
                self.expect(pid, stat, class, joined);
                self.share_no_group_with(pid, &mut pass);
                self.conform(pid, &mut pass);
                if let Some(left) = before.filter(|left| *left != class) {
                    self.repin(left, &mut pass);
                }
            }
        }
        if verdict.is_none() {
            self.share_no_group_with(pid, &mut pass);
        }
        pass
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cotenant_compiler::topology::{CoreKind, CpuPlace, Topology};
    use cotenant_compiler::{CpuId, compile};
    use cotenant_grammar::SourceSet;

    #[test]
    fn a_fork_stays_an_exec_is_classified_and_descendants_are_kept() {
        let place = CpuPlace {
            cpu: CpuId(0),
            online: true,
            core: 0,
            llc: None,
            node: 0,
            package: 0,
            kind: CoreKind::Performance,
        };
        let text = "class plain: match exe a; class keeps: match exe b with descendants;";
        let plan = compile(SourceSet::one("p", text), &Topology::new(&[place])).0.unwrap();
        let cases = [
            (true, None, Some(0), Some((0, Joined::Forked))),
            (true, Some(1), Some(0), Some((0, Joined::Forked))),
            (true, Some(1), None, Some((1, Joined::Matched))),
            (false, Some(1), Some(0), Some((1, Joined::Matched))),
            (false, None, Some(0), None),
            (false, None, Some(1), Some((1, Joined::Descended))),
            (false, Some(0), Some(1), Some((0, Joined::Matched))),
            (false, None, None, None),
        ];
        for (has_not_execed, own, from, expected) in cases {
            assert_eq!(verdict(&plan, has_not_execed, own, from), expected, "{has_not_execed} {own:?} {from:?}");
        }
    }
}
