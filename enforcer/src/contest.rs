//! A tug-of-war over one thing that cotenant and somebody else both set.
//!
//! What is set back again and again costs both sides work and nobody gets what they want. After a few times it is *contested*:
//! said once, and set back less and less often. Pure.

use std::time::{Duration, Instant};

/// Times that a thing is set back within [`WINDOW`] before it is contested.
const ENOUGH: u32 = 5;

/// For so long a reversal counts.
const WINDOW: Duration = Duration::from_secs(60);

/// The first pause of a contested thing. Each is twice the one before.
const FIRST: Duration = Duration::from_secs(2);

/// The longest.
const LONGEST: Duration = Duration::from_secs(60);

/// How one thing was set back so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Contest {
    /// When the first of the reversals that count was.
    since: Instant,
    times: u32,
    last: Instant,
    /// What must pass between two of them, where it is contested.
    pause: Option<Duration>,
}

impl Contest {
    /// Of a thing that is set back for the first time.
    pub(crate) fn new(now: Instant) -> Contest {
        Contest { since: now, times: 1, last: now, pause: None }
    }

    /// Whether it may be set back now.
    pub(crate) fn may(&self, now: Instant) -> bool {
        self.pause.is_none_or(|pause| now.saturating_duration_since(self.last) >= pause)
    }

    /// Counts another time. Returns whether that makes it contested.
    pub(crate) fn again(&mut self, now: Instant) -> bool {
        let quiet = now.saturating_duration_since(self.last);
        self.last = now;
        if let Some(pause) = self.pause {
            if quiet < pause + WINDOW {
                self.pause = Some((pause * 2).min(LONGEST));
                return false;
            }
            // Whoever it was has given up meanwhile.
            *self = Contest::new(now);
            return false;
        }
        if now.saturating_duration_since(self.since) > WINDOW {
            *self = Contest::new(now);
        } else {
            self.times += 1;
        }
        self.pause = (self.times >= ENOUGH).then_some(FIRST);
        self.is_contested()
    }

    /// Whether it is contested.
    pub(crate) fn is_contested(&self) -> bool {
        self.pause.is_some()
    }

    /// Whether nobody has pulled at it for so long that it may be forgotten.
    pub(crate) fn is_over(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.last) > self.pause.unwrap_or_default() + WINDOW
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What comes of somebody who changes a thing after each second, for so many: when it was set back.
    fn tug(seconds: u64) -> (Contest, Vec<u64>, Vec<u64>) {
        let begin = Instant::now();
        let mut contest = Contest::new(begin);
        let (mut set_back, mut said) = (vec![0], Vec::new());
        for second in 1..seconds {
            let now = begin + Duration::from_secs(second);
            if contest.may(now) {
                set_back.push(second);
                said.extend(contest.again(now).then_some(second));
            }
        }
        (contest, set_back, said)
    }

    #[test]
    fn it_is_said_once_and_set_back_less_and_less_often() {
        let (contest, set_back, said) = tug(300);
        assert_eq!(said, [4]);
        assert_eq!(set_back, [0, 1, 2, 3, 4, 6, 10, 18, 34, 66, 126, 186, 246]);
        assert!(contest.is_contested());
    }

    #[test]
    fn now_and_then_is_no_contest() {
        let begin = Instant::now();
        let mut contest = Contest::new(begin);
        for minute in 1..20 {
            let now = begin + Duration::from_secs(61 * minute);
            assert!(contest.is_over(now) && contest.may(now) && !contest.again(now));
        }
    }

    #[test]
    fn who_gives_up_and_comes_back_begins_anew() {
        let (mut contest, ..) = tug(10);
        let later = contest.last + Duration::from_secs(70);
        assert!(contest.is_contested() && contest.is_over(later) && contest.may(later));
        assert!(!contest.again(later) && !contest.is_contested());
    }
}
