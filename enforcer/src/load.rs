//! What ran where since the last tick.
//!
//! For threads of classes the kernel's own counters tell it to the nanosecond: `schedstat` has the time on a CPU and the
//! time waiting for one, `stat` the CPU. They stand still while a thread waits, or runs on a CPU that has no ticks
//! (`nohz_full`) or is a virtual one that the host has stopped; so of a thread that was at work, `stat` is asked whether it
//! still is. Each of these is a text that costs more than all else in a tick, so nobody is asked for one without a reason:
//! first the clock of the [`process`] tells whether any thread of it did anything, and whether that is worth asking for. One
//! that hardly works is taken to be where it was a few looks ago. What ran otherwise is in [`others`].

mod counter;
mod others;
mod own;
mod process;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use cotenant_compiler::Plan;
use cotenant_compiler::plan::Placement;

use crate::decide::{ClassLoad, Load};
use crate::ids::{Pid, Tid};
use crate::member::Member;
use crate::procfs::Procfs;
use crate::stay::Ran;
use counter::{FILES, Seen};
use others::{Others, PerCpu};
use own::Own;
use process::{Look, Process};

/// Nanoseconds without a look after which counting begins anew, longer than any tick.
const LAPSE: u64 = 3_000_000_000;

/// Work of less than this share of a CPU, in per cent, is not rounded up to one.
const NEGLIGIBLE: u64 = 10;

/// Descriptors left to everything else when counters are kept open.
const SPARE_FILES: u64 = 512;

/// Reads the load; keeps the last values, because only differences mean something.
#[derive(Default)]
pub struct LoadReader {
    /// Of how many threads the counters may be kept open.
    most_open: usize,
    processes: BTreeMap<Pid, Process>,
    others: Others,
    own: Own,
    last: Option<Instant>,
    /// How many looks there were.
    looks: u64,
    /// What each class did in this look, in nanoseconds.
    work: Vec<u64>,
    /// What the threads did since the last tick that are kept where they ran.
    ran: BTreeMap<Tid, Ran>,
}

impl LoadReader {
    /// One that keeps within a process's limit of open files (`RLIMIT_NOFILE`, getrlimit(2)).
    #[must_use]
    pub fn new(open_files: u64) -> LoadReader {
        let most_open = usize::try_from(open_files.saturating_sub(SPARE_FILES)).unwrap_or(usize::MAX) / FILES;
        LoadReader { most_open, ..LoadReader::default() }
    }

    /// The load since the last call. The first call has nothing to compare with and reports none. What belongs to no class is
    /// looked for only where somebody makes room for it.
    pub fn read(
        &mut self,
        procfs: &Procfs,
        plan: &Plan,
        members: &BTreeMap<Pid, Member>,
        makes_room: bool,
        now: Instant,
    ) -> Load {
        let elapsed = self.last.replace(now).map_or(Duration::ZERO, |last| now.saturating_duration_since(last));
        let elapsed = u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX);
        let classes = vec![ClassLoad::default(); plan.classes.len()];
        let mut load = Load { elapsed: Duration::from_nanos(elapsed), classes, ..Load::default() };
        if elapsed > LAPSE {
            // Nobody looked for a while, and what happened in it says nothing about now.
            *self = LoadReader { most_open: self.most_open, last: self.last, ..LoadReader::default() };
        }
        self.looks += 1;
        self.ran.clear();
        self.work.clear();
        self.work.resize(plan.classes.len(), 0);
        let mut open: usize = self.processes.values().map(|process| process.threads.len()).sum();
        let mut look = Look { procfs, elapsed, number: self.looks, most_open: self.most_open, open: &mut open };
        let mut there = 0;
        for (pid, member) in members {
            let (Some(class), Some(work)) = (load.classes.get_mut(member.class), self.work.get_mut(member.class))
            else {
                continue;
            };
            let placement = plan.classes.get(member.class).and_then(|class| class.placement.as_ref());
            let stays = placement.is_some_and(Placement::stays_on_last_cpu);
            let process = self.processes.entry(*pid).or_default();
            there += 1;
            let (used, ran) = (&mut self.others.used, &mut self.ran);
            process.look(&mut look, (*pid, member), stays, |tid, seen| {
                *work = work.saturating_add(seen.busy);
                tally(&seen, class, used);
                if let (true, Some(cpu)) = (stays, seen.cpus[0]) {
                    ran.insert(tid, Ran { cpu, waited: seen.waited });
                }
            });
        }
        if there < self.processes.len() {
            self.processes.retain(|_, process| process.seen_at == self.looks);
        }
        for (class, work) in load.classes.iter_mut().zip(&self.work) {
            class.demand = demand(*work, elapsed);
        }
        self.own.note(&mut self.others.used);
        if makes_room {
            load.foreign = self.others.look(procfs, elapsed);
        }
        load
    }

    /// What threads did since the last tick that are kept where they ran; who did nothing is not among them.
    /// The next look begins anew.
    #[must_use]
    pub fn take_ran(&mut self) -> BTreeMap<Tid, Ran> {
        std::mem::take(&mut self.ran)
    }
}

/// Adds what one thread did to where its class ran and what classes used.
fn tally(seen: &Seen, class: &mut ClassLoad, used: &mut PerCpu) {
    if let (true, Some(cpu)) = (seen.ran, seen.cpus[0]) {
        class.ran_on.insert(cpu);
    }
    // Nobody knows how much of it was where, if it moved: none of it is to be taken for somebody else's.
    let run = i64::try_from(seen.run).unwrap_or(i64::MAX);
    seen.cpus.into_iter().flatten().for_each(|cpu| used.add(cpu, run));
}

/// Whether so many nanoseconds are not worth much in a look of `elapsed`.
fn is_negligible(work: u64, elapsed: u64) -> bool {
    work < elapsed / 100 * NEGLIGIBLE
}

/// CPUs' worth of `work` nanoseconds in `elapsed`, rounded up but for what is negligible.
fn demand(work: u64, elapsed: u64) -> usize {
    if elapsed == 0 {
        return 0;
    }
    let spare = elapsed / 100 * NEGLIGIBLE;
    usize::try_from(work.saturating_sub(spare).div_ceil(elapsed)).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_rounded_up_but_for_what_is_negligible() {
        let cases = [(0, 0), (9, 0), (11, 1), (100, 1), (109, 1), (120, 2), (400, 4), (411, 5)];
        for (work, cpus) in cases {
            assert_eq!(demand(work * 1_000, 100_000), cpus, "{work} %");
        }
        assert_eq!(demand(5, 0), 0);
    }
}
