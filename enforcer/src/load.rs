//! What ran where since the last tick.
//!
//! For threads of classes the kernel's own counters tell it to the nanosecond: `schedstat` has the time on a CPU and the
//! time waiting for one, `stat` the CPU. They stand still while a thread waits, or runs on a CPU that has no ticks
//! (`nohz_full`) or is a virtual one that the host has stopped; so of a thread that was at work, `stat` is asked whether it
//! still is. One that hardly works is taken to be where it was a few looks ago, and one that sleeps soundly is not looked at
//! every time. What ran otherwise is in [`others`].

mod counter;
mod others;
mod own;

use std::collections::HashMap;
use std::time::{Duration, Instant};

use cotenant_compiler::Plan;
use cotenant_compiler::plan::Placement;

use crate::decide::{ClassLoad, Load};
use crate::ids::{Pid, Tid};
use crate::member::Member;
use crate::procfs::{Procfs, SchedStat};
use crate::stay::Ran;
use counter::{Counter, FILES};
use others::{Others, PerCpu};
use own::Own;

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
    threads: HashMap<Tid, Counter>,
    others: Others,
    own: Own,
    last: Option<Instant>,
    /// How many looks there were.
    looks: u64,
    /// What the threads did since the last tick that are kept where they ran.
    ran: HashMap<Tid, Ran>,
}

impl LoadReader {
    /// One that keeps within a process's limit of open files (`RLIMIT_NOFILE`, getrlimit(2)).
    #[must_use]
    pub fn new(open_files: u64) -> LoadReader {
        let most_open = usize::try_from(open_files.saturating_sub(SPARE_FILES)).unwrap_or(usize::MAX) / FILES;
        LoadReader { most_open, ..LoadReader::default() }
    }

    /// The load since the last call. The first call has nothing to compare with and reports none.
    pub fn read(&mut self, procfs: &Procfs, plan: &Plan, members: &HashMap<Pid, Member>, now: Instant) -> Load {
        let elapsed = self.last.replace(now).map_or(Duration::ZERO, |last| now.saturating_duration_since(last));
        let elapsed = u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX);
        let classes = vec![ClassLoad::default(); plan.classes.len()];
        let mut load = Load { elapsed: Duration::from_nanos(elapsed), classes, ..Load::default() };
        let mut work = vec![0_u64; plan.classes.len()];
        let mut used = PerCpu::default();
        if elapsed > LAPSE {
            // Nobody looked for a while, and what happened in it says nothing about now.
            *self = LoadReader { most_open: self.most_open, last: self.last, ..LoadReader::default() };
        }
        let first = self.others.is_new();
        self.looks = self.looks.wrapping_add(1);
        self.threads.values_mut().for_each(|counter| counter.fresh = false);
        self.ran.clear();
        for (pid, member) in members {
            let (Some(class), Some(work)) = (load.classes.get_mut(member.class), work.get_mut(member.class)) else {
                continue;
            };
            let placement = plan.classes.get(member.class).and_then(|class| class.placement.as_ref());
            let stays = placement.is_some_and(Placement::stays_on_last_cpu);
            for tid in member.threads.keys() {
                if !stays && self.threads.get_mut(tid).is_some_and(|counter| counter.is_passed_over(self.looks, *tid)) {
                    continue;
                }
                let Some(done) = self.thread(procfs, *pid, *tid, first, elapsed) else { continue };
                let Some(counter) = self.threads.get_mut(tid) else { continue };
                let before = counter.at_work.take();
                let stands_still = done.work() == 0;
                if stands_still && before.is_none() && !stays {
                    // A sleeping thread costs one read a tick; a wait is booked only when it is over, so of those that are
                    // kept on one CPU it must be asked whether they stand in line.
                    continue;
                }
                let hardly = done.work() < elapsed / 100 * NEGLIGIBLE;
                let recent = if hardly && before.is_none() && !stays { counter.recent_whereabouts() } else { None };
                let Some(stat) = recent.or_else(|| counter.whereabouts(procfs, *pid, *tid)) else { continue };
                counter.at_work = (stat.state == b'R').then_some(stat.cpu);
                // Counters are booked late and in one sum; no thread has more work in a tick than a tick.
                let busy = if stands_still { elapsed } else { done.work().min(elapsed) };
                if stands_still && counter.at_work.is_none() {
                    continue;
                }
                if stays {
                    let waited = stands_still || done.wait > elapsed / 100 * NEGLIGIBLE;
                    self.ran.insert(*tid, Ran { cpu: stat.cpu, waited });
                }
                *work = work.saturating_add(busy);
                if done.run > 0 || stands_still {
                    class.ran_on.insert(stat.cpu);
                }
                // Nobody knows how much of it was where, if it moved: none of it is to be taken for somebody else's.
                let run = i64::try_from(done.run).unwrap_or(i64::MAX);
                for cpu in [Some(stat.cpu), before.filter(|before| *before != stat.cpu)].into_iter().flatten() {
                    used.add(cpu, run);
                }
            }
        }
        self.threads.retain(|_, counter| counter.fresh);
        for (class, work) in load.classes.iter_mut().zip(work) {
            class.demand = demand(work, elapsed);
        }
        self.own.note(&mut used);
        load.foreign = self.others.read(procfs, &used, elapsed);
        load
    }

    /// What threads did since the last tick that are kept where they ran; who did nothing is not among them.
    /// The next look begins anew.
    #[must_use]
    pub fn take_ran(&mut self) -> HashMap<Tid, Ran> {
        std::mem::take(&mut self.ran)
    }

    /// What a thread did since the last tick; none where nothing is known of it or it is gone.
    fn thread(&mut self, procfs: &Procfs, pid: Pid, tid: Tid, first: bool, elapsed: u64) -> Option<SchedStat> {
        if let Some(done) = self.threads.get_mut(&tid).and_then(|counter| counter.since(procfs, pid, tid)) {
            return Some(done);
        }
        let keeps = self.threads.len() < self.most_open;
        let (counter, seen) = Counter::new(procfs, pid, tid, keeps)?;
        self.threads.insert(tid, counter);
        // One that was not there at the last tick did all it did since; short-lived ones are of their class too.
        let since = |time: u64| time.min(elapsed);
        (!first).then(|| SchedStat { run: since(seen.run), wait: since(seen.wait), ..seen })
    }
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
