//! What a service manager is told, where there is one: sd_notify(3), sd_watchdog_enabled(3).

use std::time::{Duration, Instant};

use cotenant_enforcer::daemon::{Cause, Notice, Reload};
use sd_notify::NotifyState;

/// The service that systemd or a manager of its kind started, as the environment tells. Without one all of this does nothing.
pub(super) struct Service {
    /// Half of the time after which the manager takes a silent daemon for dead, as the manual advises.
    watchdog: Option<Duration>,
    /// When it last heard of the daemon.
    heard: Option<Instant>,
}

impl Service {
    /// By `NOTIFY_SOCKET` and `WATCHDOG_USEC`.
    pub(super) fn of_environment() -> Service {
        Service { watchdog: sd_notify::watchdog_enabled().map(|within| within / 2), heard: None }
    }

    /// Passes on what a manager wants to know.
    pub(super) fn tell(&self, notice: &Notice<'_>) {
        match notice {
            Notice::Ready(_) => say(&[NotifyState::Ready, NotifyState::Status("the policy is in force")]),
            Notice::Reloaded(cause, reload, _) => {
                let status = status(*cause, reload);
                let ready = (*cause == Cause::Asked).then_some(NotifyState::Ready);
                say(&ready.into_iter().chain([NotifyState::Status(&status)]).collect::<Vec<_>>());
            }
            Notice::Reloading => {
                // With the time, which tells the manager whether a later `READY=1` belongs to it.
                let now = NotifyState::monotonic_usec_now();
                say(&[Some(NotifyState::Reloading), now.ok()].into_iter().flatten().collect::<Vec<_>>());
            }
            Notice::Stopping => say(&[NotifyState::Stopping, NotifyState::Status("putting everything back")]),
            _ => {}
        }
    }

    /// Says that the daemon lives, where that is due, and when it will be again.
    pub(super) fn pulse(&mut self, now: Instant) -> Option<Duration> {
        let every = self.watchdog?;
        let silent = self.heard.map(|heard| now.saturating_duration_since(heard));
        match silent.and_then(|silent| every.checked_sub(silent)).filter(|left| !left.is_zero()) {
            Some(left) => Some(left),
            None => {
                say(&[NotifyState::Watchdog]);
                self.heard = Some(now);
                Some(every)
            }
        }
    }
}

/// What `systemctl status` shows from then on, in one line as the protocol has it.
fn status(cause: Cause, reload: &Reload) -> String {
    let (what, before) = match cause {
        Cause::Machine => ("the policy is wrong on the CPUs that are online", "what they leave of the plan before"),
        Cause::Changed | Cause::Asked => ("the changed policy is wrong", "the one before"),
    };
    match reload {
        Reload::Unchanged | Reload::Applied(_) => "the policy is in force".to_owned(),
        Reload::Refused(why) => {
            let mistake = why.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
            format!("{what}, keeping {before}: {mistake}")
        }
        Reload::Failed(error) => {
            let error = error.to_string();
            format!("the policy could not be applied, the one before is back: {}", error.replace('\n', " "))
        }
    }
}

fn say(states: &[NotifyState<'_>]) {
    // A manager that does not listen finds out by itself, and placing goes on.
    let _ = sd_notify::notify(states);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manager_hears_often_enough_and_an_idle_daemon_without_one_sleeps() {
        let (start, second) = (Instant::now(), Duration::from_secs(1));
        assert_eq!(Service { watchdog: None, heard: None }.pulse(start), None);
        let mut service = Service { watchdog: Some(10 * second), heard: None };
        assert_eq!(service.pulse(start), Some(10 * second));
        assert_eq!(service.pulse(start + 3 * second), Some(7 * second), "heard of a moment ago");
        assert_eq!(service.heard, Some(start));
        let late = start + 10 * second;
        assert_eq!((service.pulse(late), service.heard), (Some(10 * second), Some(late)));
    }
}
