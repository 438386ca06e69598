//! Changes that come in bursts, and are acted on when a burst is over.

use std::time::{Duration, Instant};

/// How long a policy's files must be left alone before they are read again.
const FILES: Duration = Duration::from_millis(50);

/// How long no CPU may come or go before the machine is looked at again: `smt/control` takes them one after another, some
/// tens of milliseconds each.
const CPUS: Duration = Duration::from_millis(200);

/// How long the end of a burst is waited for.
const LONGEST: Duration = Duration::from_secs(1);

/// What has changed and is not acted on yet.
#[derive(Debug)]
pub(super) struct Settling {
    calm: Duration,
    /// The first change and the last.
    burst: Option<(Instant, Instant)>,
}

impl Settling {
    /// For files of a policy.
    pub(super) fn of_files() -> Settling {
        Settling { calm: FILES, burst: None }
    }

    /// For CPUs.
    pub(super) fn of_cpus() -> Settling {
        Settling { calm: CPUS, burst: None }
    }

    /// Something changed.
    pub(super) fn stir(&mut self, now: Instant) {
        self.burst = Some((self.burst.map_or(now, |(first, _)| first), now));
    }

    /// Whether nothing has changed that is not acted on.
    pub(super) fn is_calm(&self) -> bool {
        self.burst.is_none()
    }

    /// All of it is acted on.
    pub(super) fn clear(&mut self) {
        self.burst = None;
    }

    /// How long until the burst counts as over; none while nothing changed.
    pub(super) fn settled_in(&self, now: Instant) -> Option<Duration> {
        let (first, last) = self.burst?;
        Some((last + self.calm).min(first + LONGEST).saturating_duration_since(now))
    }

    /// Whether there was a burst and it is over.
    pub(super) fn is_settled(&self, now: Instant) -> bool {
        self.settled_in(now) == Some(Duration::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_over_when_it_is_calm_and_in_any_case_after_a_while() {
        let (start, ms) = (Instant::now(), Duration::from_millis);
        let mut settling = Settling::of_cpus();
        assert_eq!(settling.settled_in(start), None, "an idle daemon waits for nothing");
        settling.stir(start);
        settling.stir(start + ms(100));
        assert_eq!(settling.settled_in(start + ms(150)), Some(ms(150)));
        assert!(!settling.is_settled(start + ms(299)) && settling.is_settled(start + ms(300)));
        (2..20).for_each(|turn| settling.stir(start + ms(100 * turn)));
        assert!(settling.is_settled(start + LONGEST), "it goes on, and is acted on all the same");
        settling.clear();
        assert_eq!(settling.settled_in(start), None);
    }
}
