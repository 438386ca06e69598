//! What each CPU did that no class did.
//!
//! Only the busy time of each CPU is to be had, less what classes used of it. `/proc/stat` has a grain of 10 ms and costs as
//! much as a dozen threads do, so it is read at every other look, a few of these are taken together, and what stays below
//! [`FOREIGN_SHARE`] of them is not seen.

use std::collections::VecDeque;

use cotenant_compiler::{CpuId, CpuSet};

use crate::procfs::{self, CpuTimesReader, Procfs};

/// Looks for each at which the times are read.
const EVERY: u32 = 2;

/// Readings over which the busy time of others is taken together.
const WINDOW: usize = 3;

/// The share of a window that others must have used of a CPU to count, in per cent; below it lies the counters' grain.
const FOREIGN_SHARE: i64 = 40;

/// One tick of `/proc/stat` in nanoseconds.
const CLOCK_TICK: i64 = procfs::CLOCK_TICK as i64;

/// A number for each CPU, by its own.
#[derive(Default)]
pub(super) struct PerCpu(Vec<i64>);

impl PerCpu {
    pub(super) fn add(&mut self, cpu: CpuId, number: i64) {
        let at = cpu.0 as usize;
        if self.0.len() <= at {
            self.0.resize(at + 1, 0);
        }
        if let Some(sum) = self.0.get_mut(at) {
            *sum = sum.saturating_add(number);
        }
    }

    pub(super) fn of(&self, cpu: CpuId) -> i64 {
        self.0.get(cpu.0 as usize).copied().unwrap_or(0)
    }

    fn clear(&mut self) {
        self.0.iter_mut().for_each(|number| *number = 0);
    }
}

/// Keeps what was read last, because only differences mean something.
#[derive(Default)]
pub(super) struct Others {
    times: CpuTimesReader,
    /// Busy time so far of each CPU seen, by its number, in clock ticks.
    busy: Vec<Option<u64>>,
    /// What classes used since that was read, in nanoseconds.
    pub(super) used: PerCpu,
    /// How many looks ago that was, and how many nanoseconds.
    since: (u32, u64),
    /// For each of the last readings: its length, and what others used of each CPU, in nanoseconds.
    window: VecDeque<(i64, PerCpu)>,
    /// CPUs on which others ran enough to count at the last reading.
    found: CpuSet,
}

impl Others {
    /// CPUs on which others ran enough to count of late; the last look took `elapsed` nanoseconds, and what classes used
    /// meanwhile is in `used`.
    pub(super) fn look(&mut self, procfs: &Procfs, elapsed: u64) -> CpuSet {
        let (looks, length) = (self.since.0 + 1, self.since.1.saturating_add(elapsed));
        self.since = (looks, length);
        if looks >= EVERY || self.busy.is_empty() {
            self.since = (0, 0);
            self.found = self.read(procfs, length);
            self.used.clear();
        }
        self.found.clone()
    }

    fn read(&mut self, procfs: &Procfs, length: u64) -> CpuSet {
        let spent = if self.window.len() == WINDOW { self.window.pop_front() } else { None };
        let (_, mut now) = spent.unwrap_or_default();
        now.clear();
        for times in self.times.read(procfs).unwrap_or_default() {
            let at = times.cpu.0 as usize;
            if self.busy.len() <= at {
                self.busy.resize(at + 1, None);
            }
            let before = self.busy.get_mut(at).and_then(|busy| busy.replace(times.busy)).unwrap_or(times.busy);
            let busy = i64::try_from(times.busy.saturating_sub(before)).unwrap_or(0).saturating_mul(CLOCK_TICK);
            now.add(times.cpu, busy.saturating_sub(self.used.of(times.cpu)));
        }
        self.window.push_back((i64::try_from(length).unwrap_or(i64::MAX), now));
        let length: i64 = self.window.iter().fold(0, |all, (length, _)| all.saturating_add(*length));
        // One clock tick may have been booked to others that was a class's, and that is no sign of anything.
        let enough = (length / 100 * FOREIGN_SHARE).max(2 * CLOCK_TICK);
        let spent_on = |cpu: &CpuId| self.window.iter().map(|(_, others)| others.of(*cpu)).sum::<i64>();
        (0..self.busy.len() as u32).map(CpuId).filter(|cpu| spent_on(cpu) >= enough).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A `/proc/stat` on which two CPUs were busy for so many clock ticks, with as much behind it as real ones have.
    fn stat(directory: &std::path::Path, busy: [u64; 2]) {
        let cpu = |(at, busy): (usize, u64)| format!("cpu{at} {busy} 0 0 100 0 0 0 0 0 0\n");
        let cpus: String = busy.into_iter().enumerate().map(cpu).collect();
        let rest = format!("intr {}\nctxt 1\n", "0 ".repeat(5_000));
        std::fs::write(directory.join("stat"), format!("cpu  9 0 0 9 0 0 0 0 0 0\n{cpus}{rest}")).unwrap();
    }

    #[test]
    fn what_classes_used_is_not_others() {
        let directory = tempfile::tempdir().unwrap();
        let procfs = Procfs::new(directory.path());
        let mut others = Others::default();
        stat(directory.path(), [50, 50]);
        let look = |others: &mut Others| others.look(&procfs, 10_000_000).to_string();
        assert_eq!(look(&mut others), "", "the first look has nothing to compare with");
        stat(directory.path(), [54, 54]);
        others.used.add(CpuId(0), 20_000_000);
        assert_eq!(look(&mut others), "", "it is not read yet");
        others.used.add(CpuId(0), 20_000_000);
        assert_eq!(look(&mut others), "1");
        // For as long as it is two fifths of the window: 40 ms of 40, 60, 80 and, without itself, of 60.
        let later: Vec<String> = (0..8).map(|_| look(&mut others)).collect();
        assert_eq!(later, ["1", "1", "1", "1", "1", "", "", ""]);
        // What classes used is taken off once.
        stat(directory.path(), [60, 54]);
        let later: Vec<String> = (0..2).map(|_| look(&mut others)).collect();
        assert!(later.contains(&"0".to_owned()), "{later:?}");
    }
}
