//! The counters of one thread.

use std::fs::File;
use std::os::unix::fs::FileExt;

use cotenant_compiler::CpuId;

use super::is_negligible;
use crate::ids::{Pid, Tid};
use crate::procfs::{Procfs, SchedStat, Whereabouts};

/// Longer than any `stat`, whose name is at most 64 bytes and whose 50 numbers are at most 20 digits each.
const LINE: usize = 1280;

/// A thread's `schedstat` and `stat`, kept open: reading them again costs a third of opening them again.
pub(super) struct Counter {
    schedstat: Option<File>,
    stat: Option<File>,
    seen: SchedStat,
    /// What it was taken to have run since then without being asked, and at how many looks.
    trusted: (u64, u64),
    /// Where it was when it was last asked, and for how many looks that has been good enough.
    place: Option<(CpuId, u8)>,
    /// Where it was when it was last at work, if it was the last time.
    at_work: Option<CpuId>,
    /// For how many looks it has done nothing.
    asleep: u8,
}

/// What a thread did since the last look, if it did anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Seen {
    /// Where it is, and where it was at work before if that is elsewhere.
    pub(super) cpus: [Option<CpuId>; 2],
    /// Nanoseconds on a CPU.
    pub(super) run: u64,
    /// Nanoseconds on a CPU or waiting for one, as far as the look is long.
    pub(super) busy: u64,
    /// Whether it stood in line for longer than is worth a move.
    pub(super) waited: bool,
    /// Whether it ran at all, as far as can be known.
    pub(super) ran: bool,
}

/// Looks for which a thread that hardly works is taken to be where it was. Asking costs five times what its counters cost.
const GOOD_FOR: u8 = 4;

/// Looks through which a thread must have slept before it is passed over. Services have many threads that wait for hours.
const SOUND_ASLEEP: u8 = 8;

/// Descriptors that one keeps.
pub(super) const FILES: usize = 2;

impl Counter {
    /// Of a thread that was not looked at before, and what it did since it began; none where it is gone.
    pub(super) fn new(procfs: &Procfs, pid: Pid, tid: Tid, keeps: bool) -> Option<(Counter, SchedStat)> {
        let open = |name: &str| File::open(procfs.root().join(format!("{pid}/task/{tid}/{name}"))).ok();
        let schedstat = open("schedstat")?;
        let seen = read(&schedstat, SchedStat::parse)?;
        let (schedstat, stat) = if keeps { (Some(schedstat), open("stat")) } else { (None, None) };
        Some((Counter { schedstat, stat, seen, trusted: (0, 0), place: None, at_work: None, asleep: 0 }, seen))
    }

    /// Whether it has done nothing for long.
    pub(super) fn sleeps_soundly(&self) -> bool {
        self.asleep >= SOUND_ASLEEP
    }

    /// Whether it was at work when it was last asked.
    pub(super) fn is_at_work(&self) -> bool {
        self.at_work.is_some()
    }

    /// What the thread did since the last time; none where it is gone, and another may have its id.
    pub(super) fn since(&mut self, procfs: &Procfs, pid: Pid, tid: Tid) -> Option<SchedStat> {
        let now = match &self.schedstat {
            Some(file) => read(file, SchedStat::parse),
            None => procfs.thread_schedstat(pid, tid).ok(),
        }?;
        let before = std::mem::replace(&mut self.seen, now);
        let (trusted, looks) = std::mem::take(&mut self.trusted);
        let done = SchedStat {
            run: now.run.saturating_sub(before.run).saturating_sub(trusted),
            // Nobody knows at which of several looks it waited.
            wait: now.wait.saturating_sub(before.wait) / (looks + 1),
            slices: now.slices.saturating_sub(before.slices),
        };
        let sleeps = done.work() == 0 && self.at_work.is_none();
        self.asleep = if sleeps { self.asleep.saturating_add(1) } else { 0 };
        Some(done)
    }

    /// What it makes of that: asks where the thread is and whether it still works, if that may be another answer than last
    /// time. One that `stays` on a CPU is asked each time.
    pub(super) fn judge(
        &mut self,
        (procfs, pid, tid): (&Procfs, Pid, Tid),
        done: SchedStat,
        elapsed: u64,
        stays: bool,
    ) -> Option<Seen> {
        let before = self.at_work.take();
        let stands_still = done.work() == 0;
        if stands_still && before.is_none() && !stays {
            // A wait is booked only when it is over, so of those that are kept on one CPU it must be asked whether they
            // stand in line.
            return None;
        }
        let may_trust = is_negligible(done.work(), elapsed) && before.is_none() && !stays;
        let recent = if may_trust { self.recent_whereabouts() } else { None };
        let stat = recent.or_else(|| self.whereabouts(procfs, pid, tid))?;
        self.at_work = (stat.state == b'R').then_some(stat.cpu);
        if stands_still && self.at_work.is_none() {
            return None;
        }
        Some(Seen {
            cpus: [Some(stat.cpu), before.filter(|before| *before != stat.cpu)],
            run: done.run,
            // Counters are booked late and in one sum; no thread has more work in a tick than a tick.
            busy: if stands_still { elapsed } else { done.work().min(elapsed) },
            waited: stands_still || !is_negligible(done.wait, elapsed),
            ran: done.run > 0 || stands_still,
        })
    }

    /// What it has to do with a little that its process did, without asking; none where that is too long ago.
    pub(super) fn trust(&mut self, run: u64) -> Option<Seen> {
        let place = self.recent_whereabouts()?;
        self.trusted = (self.trusted.0.saturating_add(run), self.trusted.1.saturating_add(1));
        Some(Seen { cpus: [Some(place.cpu), None], run, busy: run, waited: false, ran: true })
    }

    /// Where the thread is, and whether it runs.
    fn whereabouts(&mut self, procfs: &Procfs, pid: Pid, tid: Tid) -> Option<Whereabouts> {
        let found = match &self.stat {
            Some(file) => read(file, Whereabouts::parse),
            None => procfs.thread_stat(pid, tid).ok().map(|stat| Whereabouts { state: stat.state, cpu: stat.cpu }),
        }?;
        self.place = Some((found.cpu, 0));
        Some(found)
    }

    /// Where a thread was that hardly works, and sleeps again; none where that is too long ago.
    fn recent_whereabouts(&mut self) -> Option<Whereabouts> {
        let (cpu, looks) = self.place.as_mut().filter(|(_, looks)| *looks < GOOD_FOR)?;
        *looks += 1;
        Some(Whereabouts { state: b'S', cpu: *cpu })
    }
}

fn read<T>(file: &File, parse: impl FnOnce(&[u8]) -> Option<T>) -> Option<T> {
    let mut line = [0_u8; LINE];
    let length = file.read_at(&mut line, 0).ok()?;
    parse(line.get(..length)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Sleeper;

    #[test]
    fn one_that_has_done_nothing_for_long_sleeps_soundly() {
        let sleeper = Sleeper::start();
        let (pid, tid) = (sleeper.pid(), sleeper.pid().leader());
        let procfs = Procfs::new("/proc");
        let (mut counter, _) = Counter::new(&procfs, pid, tid, true).unwrap();
        // It may still be on its way to where it sleeps.
        let begin = std::time::Instant::now();
        let mut idle = 0;
        while idle < SOUND_ASLEEP {
            assert!(begin.elapsed().as_secs() < 20, "it does not fall asleep");
            assert!(!counter.sleeps_soundly());
            let done = counter.since(&procfs, pid, tid).unwrap();
            idle = if done.work() == 0 { idle + 1 } else { 0 };
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        assert!(counter.sleeps_soundly());
    }

    #[test]
    fn what_was_taken_on_trust_is_not_counted_again_and_a_wait_is_spread() {
        let directory = tempfile::tempdir().unwrap();
        let (pid, tid) = (Pid(7), Tid(8));
        let of_thread = directory.path().join("7/task/8");
        std::fs::create_dir_all(&of_thread).unwrap();
        let counters = |text: &str| std::fs::write(of_thread.join("schedstat"), text).unwrap();
        let stat = format!("8 (w) S{} 3 0\n", " 0".repeat(35));
        std::fs::write(of_thread.join("stat"), stat).unwrap();
        counters("1000 0 1\n");
        let procfs = Procfs::new(directory.path());
        let (mut counter, _) = Counter::new(&procfs, pid, tid, true).unwrap();
        assert_eq!(counter.trust(500), None, "nobody has asked yet where it is");
        counters("1100 0 2\n");
        let done = counter.since(&procfs, pid, tid).unwrap();
        let seen = counter.judge((&procfs, pid, tid), done, 10_000, false).unwrap();
        assert_eq!((seen.cpus, seen.run), ([Some(CpuId(3)), None], 100));
        let trusted = [400, 500].map(|run| counter.trust(run).unwrap());
        assert_eq!(trusted.map(|seen| (seen.cpus[0], seen.busy)), [(Some(CpuId(3)), 400), (Some(CpuId(3)), 500)]);
        counters("2300 9000 5\n");
        let done = counter.since(&procfs, pid, tid).unwrap();
        assert_eq!((done.run, done.wait), (300, 3000));
        counters("2400 9100 6\n");
        let done = counter.since(&procfs, pid, tid).unwrap();
        assert_eq!((done.run, done.wait), (100, 100), "each look begins anew");
        assert!(counter.trust(1).is_some() && counter.trust(1).is_some());
        assert_eq!(counter.trust(1), None, "where it was is too long ago");
    }
}
