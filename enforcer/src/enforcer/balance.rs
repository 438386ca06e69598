//! Held classes with more threads than CPUs: now and then a look at who does how much, and a move where that is worth one.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::{Enforcer, Pass};
use crate::hold::UNBALANCED;
use crate::ids::Tid;

/// Between two looks. Long against what threads do, because a held thread that is moved comes to a cold cache, and short
/// against the time in which anybody would notice.
pub const LOOK: Duration = Duration::from_secs(1);

/// What held threads had done at the last look, in nanoseconds, running and waiting.
#[derive(Default)]
pub(super) struct Weighed {
    at: Option<Instant>,
    done: BTreeMap<Tid, u64>,
}

impl Enforcer {
    /// Whether a held class has more threads than CPUs, so that [`Enforcer::balance`] may have something to do. Where each
    /// thread has a CPU of its own there is nothing to even out.
    #[must_use]
    pub fn may_be_unbalanced(&self) -> bool {
        self.pins.iter().any(|(class, pins)| self.share(*class).is_some_and(|share| pins.len() > share.cpus.len()))
    }

    /// Evens out held classes by what their threads did since the last look, where there was one not long ago.
    pub fn balance(&mut self, now: Instant) -> Pass {
        let mut pass = Pass::default();
        let since = self.weighed.at.map(|at| now.saturating_duration_since(at));
        // With other classes to follow the clock rings more often.
        if since.is_some_and(|since| since < LOOK * 9 / 10) || !self.may_be_unbalanced() {
            return pass;
        }
        let mut done = BTreeMap::new();
        for class in self.pins.keys().copied().collect::<Vec<_>>() {
            for (tid, pid) in self.placed_threads(class) {
                if let Ok(stat) = self.procfs.thread_schedstat(pid, tid) {
                    done.insert(tid, stat.run.saturating_add(stat.wait));
                }
            }
        }
        let before = std::mem::replace(&mut self.weighed, Weighed { at: Some(now), done });
        // What was done in an hour says nothing about now.
        let Some(since) = since.filter(|since| *since < 4 * LOOK) else { return pass };
        let nanoseconds = u64::try_from(since.as_nanos()).unwrap_or(u64::MAX).max(1);
        let share = |(tid, done): (&Tid, &u64)| {
            let done = done.saturating_sub(*before.done.get(tid)?).min(nanoseconds);
            Some((*tid, u64::try_from(u128::from(done) * 1000 / u128::from(nanoseconds)).unwrap_or(1000)))
        };
        let loads: BTreeMap<Tid, u64> = self.weighed.done.iter().filter_map(share).collect();
        for class in self.pins.keys().copied().collect::<Vec<_>>() {
            self.pin_class(class, &loads, UNBALANCED, &mut pass);
        }
        pass
    }
}
