//! Whose record the leader's is after an exec.
//!
//! Only the leader's id survives execve(2). Where another thread called it, that one has the leader's id and start time from
//! then on, and what it was given is not what the leader was given (`de_thread` in `fs/exec.c`).

use std::collections::BTreeMap;

use super::Enforcer;
use crate::ids::Pid;
use crate::procfs::Stat;
use crate::thread::Touched;

impl Enforcer {
    /// Keeps the record of the thread that executed a program, and of those that were made since.
    pub(super) fn keep_callers_record(&mut self, pid: Pid, stat: &Stat) {
        if self.members.get(&pid).is_none_or(|member| member.start != stat.start) {
            return;
        }
        let leader = pid.leader();
        let was_unseen = self.late.take_unseen(pid);
        // Asked after where it may be needed, which is seldom.
        let makers = if was_unseen { self.given_to(pid, leader) } else { Vec::new() };
        let Some(member) = self.members.get_mut(&pid) else { return };
        let left = self.procfs.threads(pid).unwrap_or_default();
        let (stays, mut ended): (BTreeMap<_, _>, BTreeMap<_, _>) =
            std::mem::take(&mut member.threads).into_iter().partition(|(tid, _)| left.binary_search(tid).is_ok());
        member.threads = stays;
        let was_overtaken = self.late.overtaken.remove(&pid);
        if ended.is_empty() && !was_unseen {
            return;
        }
        let cpuset = self.cpuset_of(pid);
        let Some(member) = self.members.get_mut(&pid) else { return };
        // Others may have ended since the exec that is heard of now: where the leader called it, its end was not reported.
        let is_here = |touched: &Touched| touched.stands(leader, &cpuset).unwrap_or(true);
        let is_other = was_overtaken || !member.threads.contains_key(&leader);
        // That may have been lost; then what the leader shows tells.
        let may_be_other = is_other || !member.threads.get(&leader).is_some_and(is_here);
        let seen = ended.iter().rev().find(|(_, touched)| may_be_other && is_here(touched)).map(|(tid, _)| *tid);
        let last = ended.keys().next_back().copied().filter(|_| is_other && !was_unseen);
        let of_caller = match seen.or(last).and_then(|caller| ended.remove(&caller)) {
            Some(caller) => Some(Touched { start: stat.start, ..caller }),
            None if may_be_other && was_unseen => {
                Touched::inherited(&self.procfs, leader, stat.start, makers.iter(), &cpuset).ok()
            }
            None => None,
        };
        member.threads.extend(of_caller.map(|caller| (leader, caller)));
    }
}
