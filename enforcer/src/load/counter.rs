//! The counters of one thread.

use std::fs::File;
use std::os::unix::fs::FileExt;

use cotenant_compiler::CpuId;

use crate::ids::{Pid, Tid};
use crate::procfs::{Procfs, SchedStat, Whereabouts};

/// Longer than any `stat`, whose name is at most 64 bytes and whose 50 numbers are at most 20 digits each.
const LINE: usize = 1280;

/// A thread's `schedstat` and `stat`, kept open: reading them again costs a third of opening them again.
pub(super) struct Counter {
    schedstat: Option<File>,
    stat: Option<File>,
    seen: SchedStat,
    /// Where it was when it was last asked, and for how many looks that has been good enough.
    place: Option<(CpuId, u8)>,
    /// Where it was when it was last at work, if it was the last time.
    pub(super) at_work: Option<CpuId>,
    /// For how many looks it has done nothing.
    asleep: u8,
    /// Whether it was there at this tick.
    pub(super) fresh: bool,
}

/// Looks for which a thread that hardly works is taken to be where it was. Asking costs five times what its counters cost.
const GOOD_FOR: u8 = 4;

/// Looks through which a thread must have slept before it is looked at every [`SLEEPERS`]th time only. Services have many
/// threads that wait for hours.
const SOUND_ASLEEP: u8 = 8;

/// How many threads that sleep soundly cost as much as one that works.
const SLEEPERS: u64 = 4;

/// Descriptors that one keeps.
pub(super) const FILES: usize = 2;

impl Counter {
    /// Of a thread that was not looked at before, and what it did since it began; none where it is gone.
    pub(super) fn new(procfs: &Procfs, pid: Pid, tid: Tid, keeps: bool) -> Option<(Counter, SchedStat)> {
        let open = |name: &str| File::open(procfs.root().join(format!("{pid}/task/{tid}/{name}"))).ok();
        let schedstat = open("schedstat")?;
        let seen = read(&schedstat, SchedStat::parse)?;
        let (schedstat, stat) = if keeps { (Some(schedstat), open("stat")) } else { (None, None) };
        Some((Counter { schedstat, stat, seen, place: None, at_work: None, asleep: 0, fresh: true }, seen))
    }

    /// Whether this look passes the thread over, because it sleeps soundly. Each has its turn at another look.
    pub(super) fn is_passed_over(&mut self, look: u64, tid: Tid) -> bool {
        let its_turn = look.wrapping_add(u64::from(tid.0.unsigned_abs())).is_multiple_of(SLEEPERS);
        let passed = self.asleep >= SOUND_ASLEEP && !its_turn;
        self.fresh |= passed;
        passed
    }

    /// What the thread did since the last time; none where it is gone, and another may have its id.
    pub(super) fn since(&mut self, procfs: &Procfs, pid: Pid, tid: Tid) -> Option<SchedStat> {
        let now = match &self.schedstat {
            Some(file) => read(file, SchedStat::parse),
            None => procfs.thread_schedstat(pid, tid).ok(),
        }?;
        let before = std::mem::replace(&mut self.seen, now);
        self.fresh = true;
        let done = SchedStat {
            run: now.run.saturating_sub(before.run),
            wait: now.wait.saturating_sub(before.wait),
            slices: now.slices.saturating_sub(before.slices),
        };
        let sleeps = done.work() == 0 && self.at_work.is_none();
        self.asleep = if sleeps { self.asleep.saturating_add(1) } else { 0 };
        Some(done)
    }

    /// Where the thread is, and whether it runs.
    pub(super) fn whereabouts(&mut self, procfs: &Procfs, pid: Pid, tid: Tid) -> Option<Whereabouts> {
        let found = match &self.stat {
            Some(file) => read(file, Whereabouts::parse),
            None => procfs.thread_stat(pid, tid).ok().map(|stat| Whereabouts { state: stat.state, cpu: stat.cpu }),
        }?;
        self.place = Some((found.cpu, 0));
        Some(found)
    }

    /// Where a thread was that hardly works, and sleeps again; none where that is too long ago.
    pub(super) fn recent_whereabouts(&mut self) -> Option<Whereabouts> {
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
    fn one_that_sleeps_soundly_has_its_turn_at_every_fourth_look() {
        let sleeper = Sleeper::start();
        let (pid, tid) = (sleeper.pid(), sleeper.pid().leader());
        let procfs = Procfs::new("/proc");
        let (mut counter, _) = Counter::new(&procfs, pid, tid, true).unwrap();
        // It may still be on its way to where it sleeps.
        let begin = std::time::Instant::now();
        while counter.asleep < SOUND_ASLEEP {
            assert!(begin.elapsed().as_secs() < 20, "it does not fall asleep");
            assert!((0..SLEEPERS).all(|look| !counter.is_passed_over(look, tid)));
            counter.since(&procfs, pid, tid).unwrap();
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        counter.fresh = false;
        let passed = (0..8).filter(|look| counter.is_passed_over(*look, tid)).count();
        assert_eq!((passed, counter.fresh), (6, true));
    }
}
