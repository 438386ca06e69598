//! What the daemon itself takes of a CPU, which is in nobody's way.
//!
//! `/proc/stat` books a whole tick of the kernel's clock to whoever runs at that instant. The daemon wakes by a timer, so it
//! is that more often than not: what it takes for a fraction of a millisecond is booked as several.

use cotenant_compiler::CpuId;
use nix::sched::sched_getcpu;
use nix::time::{ClockId, clock_getres, clock_gettime};

use super::others::PerCpu;

/// Keeps what was read last.
#[derive(Default)]
pub(super) struct Own {
    used: Option<i64>,
    /// A tick of the kernel's clock in nanoseconds; 0 until it is known.
    clock_tick: i64,
}

impl Own {
    /// Adds what the calling thread used since the last time, where it is now, and at least a tick of the kernel's clock.
    pub(super) fn note(&mut self, used: &mut PerCpu) {
        let nanoseconds = |clock: ClockId, read: fn(ClockId) -> nix::Result<_>| {
            read(clock).map_or(0, |time: nix::sys::time::TimeSpec| time.tv_sec() * 1_000_000_000 + time.tv_nsec())
        };
        if self.clock_tick == 0 {
            // clock_getres(2): coarse clocks are as fine as the kernel's tick.
            self.clock_tick = nanoseconds(ClockId::CLOCK_MONOTONIC_COARSE, clock_getres);
        }
        let now = nanoseconds(ClockId::CLOCK_THREAD_CPUTIME_ID, clock_gettime);
        let before = self.used.replace(now).unwrap_or(now);
        if let Some(cpu) = sched_getcpu().ok().and_then(|cpu| u32::try_from(cpu).ok()) {
            used.add(CpuId(cpu), now.saturating_sub(before).max(self.clock_tick));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_counts_where_it_runs_and_at_least_a_tick() {
        let mut own = Own::default();
        let mut used = PerCpu::default();
        own.note(&mut used);
        own.note(&mut used);
        let all: i64 = (0..1024).map(|cpu| used.of(CpuId(cpu))).sum();
        assert!((1_000_000..=10_000_000).contains(&own.clock_tick), "{}", own.clock_tick);
        assert!(all >= 2 * own.clock_tick, "{all}");
    }
}
