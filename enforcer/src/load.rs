//! What ran where since the last tick.
//!
//! For threads of classes the kernel's own counters tell it to the nanosecond: `schedstat` has the time on a CPU and the
//! time waiting for one, `stat` the CPU. They stand still while a thread waits, or runs on a CPU that has no ticks
//! (`nohz_full`) or is a virtual one that the host has stopped; so of a thread that was at work, `stat` is asked whether it
//! still is. For everything else only the busy time of each CPU is to be had, less what
//! classes used of it; `/proc/stat` has a grain of 10 ms, so a few ticks are taken together, and what stays below
//! [`FOREIGN_SHARE`] of them is not seen.

use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use cotenant_compiler::plan::Placement;
use cotenant_compiler::{CpuId, CpuSet, Plan};

use crate::decide::{ClassLoad, Load};
use crate::ids::{Pid, Tid};
use crate::member::Member;
use crate::procfs::{Procfs, SchedStat};
use crate::stay::Ran;

/// Ticks over which the busy time of others is taken together.
const WINDOW: usize = 5;

/// The share of a window that others must have used of a CPU to count, in per cent; below it lies the counters' grain.
const FOREIGN_SHARE: i64 = 40;

/// One tick of `/proc/stat` in nanoseconds, `sysconf(_SC_CLK_TCK)` being 100 wherever Linux runs today.
const CLOCK_TICK: i64 = 10_000_000;

/// Nanoseconds without a look after which counting begins anew, longer than any tick.
const LAPSE: u64 = 3_000_000_000;

/// Work of less than this share of a CPU, in per cent, is not rounded up to one.
const NEGLIGIBLE: u64 = 10;

/// Descriptors left to everything else when counters are kept open.
const SPARE_FILES: u64 = 512;

/// Reads the load; keeps the last values, because only differences mean something.
#[derive(Default)]
pub struct LoadReader {
    /// How many counters may be kept open.
    most_open: usize,
    threads: HashMap<Tid, Counter>,
    busy: HashMap<CpuId, u64>,
    /// For each of the last ticks: its length, and what others used of each CPU, in nanoseconds.
    others: VecDeque<(i64, HashMap<CpuId, i64>)>,
    last: Option<Instant>,
    /// What the threads did since the last tick that are kept where they ran.
    ran: HashMap<Tid, Ran>,
}

/// A thread's `schedstat`, kept open: reading it again costs a third of opening it again.
struct Counter {
    /// None where there are too many.
    file: Option<File>,
    seen: SchedStat,
    /// Where it was when it was last at work, if it was the last time.
    at_work: Option<CpuId>,
    /// Whether it was there at this tick.
    fresh: bool,
}

impl LoadReader {
    /// One that keeps within a process's limit of open files (`RLIMIT_NOFILE`, getrlimit(2)).
    #[must_use]
    pub fn new(open_files: u64) -> LoadReader {
        let most_open = usize::try_from(open_files.saturating_sub(SPARE_FILES)).unwrap_or(usize::MAX);
        LoadReader { most_open, ..LoadReader::default() }
    }

    /// The load since the last call. The first call has nothing to compare with and reports none.
    pub fn read(&mut self, procfs: &Procfs, plan: &Plan, members: &HashMap<Pid, Member>, now: Instant) -> Load {
        let elapsed = self.last.replace(now).map_or(Duration::ZERO, |last| now.saturating_duration_since(last));
        let elapsed = u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX);
        let classes = vec![ClassLoad::default(); plan.classes.len()];
        let mut load = Load { elapsed: Duration::from_nanos(elapsed), classes, ..Load::default() };
        let mut work = vec![0_u64; plan.classes.len()];
        let mut used: HashMap<CpuId, i64> = HashMap::new();
        if elapsed > LAPSE {
            // Nobody looked for a while, and what happened in it says nothing about now.
            *self = LoadReader { most_open: self.most_open, last: self.last, ..LoadReader::default() };
        }
        let first = self.busy.is_empty();
        self.threads.values_mut().for_each(|counter| counter.fresh = false);
        self.ran.clear();
        for (pid, member) in members {
            let (Some(class), Some(work)) = (load.classes.get_mut(member.class), work.get_mut(member.class)) else {
                continue;
            };
            let placement = plan.classes.get(member.class).and_then(|class| class.placement.as_ref());
            let stays = placement.is_some_and(Placement::stays_on_last_cpu);
            for tid in member.threads.keys() {
                let Some(done) = self.thread(procfs, *pid, *tid, first, elapsed) else { continue };
                let Some(counter) = self.threads.get_mut(tid) else { continue };
                let before = counter.at_work.take();
                if done.run == 0 && done.wait == 0 && before.is_none() && !stays {
                    // A sleeping thread costs one read a tick; a wait is booked only when it is over, so of those that are
                    // kept on one CPU it must be asked whether they stand in line.
                    continue;
                }
                let Ok(stat) = procfs.thread_stat(*pid, *tid) else { continue };
                counter.at_work = (stat.state == b'R').then_some(stat.cpu);
                let stands_still = done.run == 0 && done.wait == 0;
                // Counters are booked late and in one sum; no thread has more work in a tick than a tick.
                let busy = if stands_still { elapsed } else { done.run.saturating_add(done.wait).min(elapsed) };
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
                    *used.entry(cpu).or_default() += run;
                }
            }
        }
        self.threads.retain(|_, counter| counter.fresh);
        for (class, work) in load.classes.iter_mut().zip(work) {
            class.demand = demand(work, elapsed);
        }
        load.foreign = self.foreign(procfs, &used, elapsed);
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
        let path = || procfs.root().join(format!("{pid}/task/{tid}/schedstat"));
        if let Some(counter) = self.threads.get_mut(&tid) {
            let now = match &counter.file {
                Some(file) => read(file),
                None => File::open(path()).ok().and_then(|file| read(&file)),
            };
            if let Some(now) = now {
                let before = std::mem::replace(&mut counter.seen, now);
                counter.fresh = true;
                return Some(SchedStat {
                    run: now.run.saturating_sub(before.run),
                    wait: now.wait.saturating_sub(before.wait),
                    slices: now.slices.saturating_sub(before.slices),
                });
            }
        }
        let file = File::open(path()).ok()?;
        let seen = read(&file)?;
        let file = Some(file).filter(|_| self.threads.len() < self.most_open);
        self.threads.insert(tid, Counter { file, seen, at_work: None, fresh: true });
        // One that was not there at the last tick did all it did since; short-lived ones are of their class too.
        let since = |time: u64| time.min(elapsed);
        (!first).then(|| SchedStat { run: since(seen.run), wait: since(seen.wait), ..seen })
    }

    /// CPUs on which others ran enough to count.
    fn foreign(&mut self, procfs: &Procfs, used: &HashMap<CpuId, i64>, elapsed: u64) -> CpuSet {
        let mut others = HashMap::new();
        for times in procfs.cpu_times().unwrap_or_default() {
            let before = self.busy.insert(times.cpu, times.busy).unwrap_or(times.busy);
            let busy = i64::try_from(times.busy.saturating_sub(before)).unwrap_or(0) * CLOCK_TICK;
            others.insert(times.cpu, busy - used.get(&times.cpu).copied().unwrap_or(0));
        }
        self.others.push_back((i64::try_from(elapsed).unwrap_or(i64::MAX), others));
        if self.others.len() > WINDOW {
            self.others.pop_front();
        }
        let length: i64 = self.others.iter().map(|(length, _)| *length).sum();
        let mut sums: HashMap<CpuId, i64> = HashMap::new();
        for (cpu, time) in self.others.iter().flat_map(|(_, others)| others) {
            *sums.entry(*cpu).or_default() += time;
        }
        // One clock tick may have been booked to others that was a class's, and that is no sign of anything.
        let enough = (length / 100 * FOREIGN_SHARE).max(2 * CLOCK_TICK);
        sums.into_iter().filter(|(_, time)| *time >= enough).map(|(cpu, _)| cpu).collect()
    }
}

fn read(file: &File) -> Option<SchedStat> {
    let mut buffer = [0_u8; 96];
    let length = file.read_at(&mut buffer, 0).ok()?;
    SchedStat::parse(buffer.get(..length)?)
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
