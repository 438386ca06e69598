//! Waiting for any of several things at once.

use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signalfd::SignalFd;
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};

use crate::control::Control;
use crate::error::KernelError;
use crate::events::Connector;
use crate::hotplug::Hotplug;
use crate::watch::PolicyWatch;

/// Everything the daemon waits for.
pub(super) struct Sources<'a> {
    pub(super) signals: &'a SignalFd,
    pub(super) connector: &'a Connector,
    pub(super) watch: &'a PolicyWatch,
    pub(super) control: &'a Control,
    pub(super) ticker: &'a Ticker,
    /// Events of CPUs, where they are listened to.
    pub(super) hotplug: Option<&'a Hotplug>,
    /// The sensor's bell for gated classes, where there is a sensor.
    pub(super) gate: Option<BorrowedFd<'a>>,
}

/// What is to be looked at.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ready {
    pub(super) signals: bool,
    pub(super) connector: bool,
    pub(super) watch: bool,
    pub(super) control: bool,
    pub(super) tick: bool,
    pub(super) hotplug: bool,
    pub(super) gate: bool,
}

impl Sources<'_> {
    /// Sleeps until one of them has something, or for `longest`, or for good.
    pub(super) fn wait(&self, longest: Option<Duration>) -> Result<Ready, KernelError> {
        let on = |fd| PollFd::new(fd, PollFlags::POLLIN);
        let mut fds = vec![
            on(self.signals.as_fd()),
            on(self.connector.as_fd()),
            on(self.watch.as_fd()),
            on(self.control.as_fd()),
            on(self.ticker.timer.as_fd()),
        ];
        let (hotplug, gate) = (self.hotplug.map(|hotplug| on(hotplug.as_fd())), self.gate.map(on));
        fds.extend(hotplug.into_iter().chain(gate));
        // Rounded up: a millisecond too early would be waited for again, in turns without rest.
        let longest = longest.map(|longest| PollTimeout::try_from(longest + Duration::from_millis(1)));
        let timeout = longest.map_or(PollTimeout::NONE, |longest| longest.unwrap_or(PollTimeout::MAX));
        match poll(&mut fds, timeout) {
            Ok(_) => {}
            Err(Errno::EINTR) => return Ok(Ready::default()),
            Err(errno) => return Err(KernelError::file("descriptors", "poll", errno)),
        }
        let mut ready = fds.iter().map(|fd| fd.any().unwrap_or(false));
        let mut next = || ready.next().unwrap_or(false);
        let [signals, connector, watch, control, tick] = std::array::from_fn(|_| next());
        // Those that are not there have no place in the row.
        let hotplug = self.hotplug.is_some() && next();
        let gate = self.gate.is_some() && next();
        Ok(Ready { signals, connector, watch, control, tick, hotplug, gate })
    }
}

/// The clock of the load loop, which stands still while nothing needs it.
pub(super) struct Ticker {
    timer: TimerFd,
    every: Option<Duration>,
}

impl Ticker {
    /// A clock that stands still.
    pub(super) fn new() -> Result<Ticker, KernelError> {
        Ok(Ticker { timer: timer()?, every: None })
    }

    /// Lets it ring so often, or stand still.
    pub(super) fn set(&mut self, every: Option<Duration>) -> Result<(), KernelError> {
        if self.every == every {
            return Ok(());
        }
        self.every = every;
        set(&self.timer, every)
    }

    /// Whether a tick has passed since this was asked; several count as one.
    pub(super) fn passed(&self) -> bool {
        // EAGAIN means that the clock was stopped after it had rung.
        self.timer.wait().is_ok()
    }
}

/// A timer that stands still.
pub(super) fn timer() -> Result<TimerFd, KernelError> {
    let flags = TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC;
    TimerFd::new(ClockId::CLOCK_MONOTONIC, flags).map_err(fail("open"))
}

/// Lets a timer ring so often from now on, or stand still.
pub(super) fn set(timer: &TimerFd, every: Option<Duration>) -> Result<(), KernelError> {
    match every {
        Some(every) => {
            let every = Expiration::Interval(TimeSpec::from_duration(every));
            timer.set(every, TimerSetTimeFlags::empty()).map_err(fail("set"))
        }
        None => timer.unset().map_err(fail("unset")),
    }
}

fn fail(operation: &'static str) -> impl Fn(Errno) -> KernelError {
    move |errno| KernelError::file("timerfd", operation, errno)
}
