//! Cookies of members: each thread has the one that its class wants, and loses it with the class.

use std::collections::BTreeSet;

use cotenant_compiler::plan::{self, Placement};
use nix::errno::Errno;

use super::{Enforcer, Pass};
use crate::cookies::{self, Given, Step, Wish, step};
use crate::error::KernelError;
use crate::ids::{Pid, Tid};
use crate::journal::Record;
use crate::member::Member;
use crate::sys::core_sched::{self, Cookie};

impl Enforcer {
    /// Gives every thread of a member the cookie of its class, or just one.
    pub(super) fn attend_cookies(
        &mut self,
        pid: Pid,
        placement: &Placement,
        only: Option<Tid>,
    ) -> Result<(), KernelError> {
        let given = |member: &Member| match only {
            Some(tid) => member.threads.get(&tid).is_some_and(|it| it.wrote.cookie.is_some()),
            None => member.threads.values().any(|it| it.wrote.cookie.is_some()),
        };
        if placement.cookie.is_none() && !self.members.get(&pid).is_some_and(given) {
            return Ok(());
        }
        let (wish, classes) = match &placement.cookie {
            None => (Wish::Nothing, [].as_slice()),
            Some(plan::Cookie::Each) => (Wish::Own, [].as_slice()),
            Some(plan::Cookie::Common(classes)) => (Wish::Common(self.cookies.of(classes)?), classes.as_slice()),
        };
        let Some(member) = self.members.get_mut(&pid) else { return Ok(()) };
        let (mut steps, mut records, mut refused) = (Vec::new(), Vec::new(), Vec::new());
        for (tid, touched) in member.threads.iter_mut().filter(|(tid, _)| only.is_none_or(|only| only == **tid)) {
            let now = match core_sched::get(*tid) {
                Ok(now) => now,
                // No two threads share a core: nobody is beside anybody. What was given is kept, and shows when they do.
                Err(error) if error.errno() == Errno::ENODEV => continue,
                Err(error) => {
                    refused.push(error);
                    continue;
                }
            };
            let former = touched.clone();
            let known = former.wrote.cookie;
            let (step, given) = step(wish, now, known, self.cookies.holds(now));
            touched.wrote.cookie = given;
            touched.keep(&former);
            if given != known {
                records.push(Record::Thread { pid, tid: *tid, touched: touched.clone() });
            }
            match step {
                Step::Stay => {}
                Step::Foreign => refused.push(cookies::foreign(*tid)),
                step => steps.push((*tid, step, known)),
            }
        }
        self.journal.append(&records)?;
        for (tid, step, known) in steps {
            let done = match step {
                Step::Give => self.cookies.give(classes, tid),
                Step::Clear => cookies::clear(tid),
                Step::Make => cookies::make(tid).and_then(|made| self.note_cookie(pid, tid, Some(Given::Own(made)))),
                Step::Stay | Step::Foreign => Ok(()),
            };
            if let Err(error) = done {
                refused.push(error);
                self.note_cookie(pid, tid, known)?;
            }
        }
        // What one thread refuses does not keep the others from theirs.
        refused.into_iter().find(|error| !error.is_gone()).map_or(Ok(()), Err)
    }

    fn note_cookie(&mut self, pid: Pid, tid: Tid, given: Option<Given>) -> Result<(), KernelError> {
        let touched = self.members.get_mut(&pid).and_then(|member| member.threads.get_mut(&tid));
        let Some(touched) = touched else { return Ok(()) };
        touched.wrote.cookie = given;
        self.journal.append(&[Record::Thread { pid, tid, touched: touched.clone() }])
    }

    /// Lets go of common cookies that the plan has no use for.
    pub(super) fn drop_cookies(&mut self) {
        let plan = &self.plan;
        let wanted = |classes: &[String]| {
            let placements = plan.classes.iter().filter_map(|class| class.placement.as_ref());
            placements
                .filter_map(|it| it.cookie.as_ref())
                .any(|it| matches!(it, plan::Cookie::Common(it) if it == classes))
        };
        self.cookies.keep(wanted);
    }

    /// Takes cookies of classes away from threads that are no member's: made while nobody looked.
    pub(super) fn clear_stray_cookies(&mut self, pass: &mut Pass) {
        if self.cookies.is_empty() {
            return;
        }
        self.clear_cookies(|enforcer, cookie| enforcer.cookies.holds(cookie), pass);
    }

    /// Takes cookies away that an earlier run gave, from threads that the journal does not know. Of a cookie that nobody has
    /// any more the kernel may use the number again, so only those count that a recorded thread still shows.
    pub(super) fn clear_left_cookies(&mut self, pass: &mut Pass) {
        let threads = self.members.values().flat_map(|member| &member.threads);
        let given = threads.filter_map(|(tid, touched)| Some((tid, touched.wrote.cookie?)));
        let standing: BTreeSet<Cookie> =
            given.filter_map(|(tid, given)| core_sched::get(*tid).ok().filter(|now| given.stands(*now))).collect();
        if !standing.is_empty() {
            self.clear_cookies(|_, cookie| standing.contains(&cookie), pass);
        }
    }

    fn clear_cookies(&mut self, is_ours: impl Fn(&Enforcer, Cookie) -> bool, pass: &mut Pass) {
        for pid in self.procfs.processes().unwrap_or_default() {
            if pid == Pid::current() {
                continue;
            }
            for tid in self.procfs.threads(pid).unwrap_or_default() {
                if self.members.get(&pid).is_some_and(|member| member.threads.contains_key(&tid)) {
                    continue;
                }
                let Ok(now) = core_sched::get(tid) else { continue };
                if now != Cookie::NONE
                    && is_ours(self, now)
                    && let Err(error) = cookies::clear(tid)
                {
                    self.failed(pid, error, pass);
                }
            }
        }
    }

    /// Whether the kernel shows the cookie of a thread as its class wants it.
    pub(crate) fn has_its_cookie(&self, pid: Pid, tid: Tid, placement: &Placement) -> bool {
        let Some(wanted) = &placement.cookie else { return true };
        let Ok(now) = core_sched::get(tid) else { return false };
        match wanted {
            plan::Cookie::Common(classes) => self.cookies.known(classes) == Some(now),
            plan::Cookie::Each => {
                let touched = self.members.get(&pid).and_then(|member| member.threads.get(&tid));
                touched.is_some_and(|touched| touched.wrote.cookie == Some(Given::Own(now)))
            }
        }
    }
}
