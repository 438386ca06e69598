//! The daemon: one loop that waits for whatever can change what is true, and does nothing in between.
//!
//! It wakes for process events, for a change of the policy's files, for signals, for a request on the control socket, when a
//! sensor rings for a gated class and, while a class whose share moves with the load has members, once a tick; once a second
//! while a held class has more threads than CPUs. An idle host without such members costs no wake-up at all.

mod own;
mod wait;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use cotenant_compiler::Plan;
use cotenant_compiler::plan::{Change, diff};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};

use crate::control::{Control, Request};
use crate::enforcer::{Enforcer, Failure, LOOK, Pass};
use crate::error::KernelError;
use crate::events::{Connector, ProcEvent};
use crate::ids::Tid;
use crate::lock::{Busy, RunLock};
use crate::roots::Roots;
use crate::sensor::{Sensor, Sight};
use crate::status::Status;
use crate::watch::PolicyWatch;
use wait::{Sources, Ticker};

/// How long a policy's files must be left alone before they are read again.
const SETTLE: Duration = Duration::from_millis(50);

/// How long they are waited for when they are not.
const LONGEST_SETTLE: Duration = Duration::from_secs(1);

/// How long the kernel may take to answer the subscription to its events.
const CONNECTOR_PATIENCE: Duration = Duration::from_secs(5);

/// What the daemon is told beforehand.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where the kernel's file systems and the run directory are.
    pub roots: Roots,
    /// The time between two looks at the load.
    pub tick: Duration,
}

/// Counts since the start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Process events followed.
    pub events: u64,
    /// Times events were lost, each answered by a scan of everything.
    pub lost: u64,
    /// Ticks of the load loop.
    pub ticks: u64,
    /// Processes placed.
    pub placed: u64,
    /// Processes put back because they left their class.
    pub released: u64,
}

/// Why the policy is read again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// Its files may have changed.
    Changed,
    /// Somebody asked for it, by a signal or on the control socket.
    Asked,
}

/// What became of reading the policy again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reload {
    /// It says in other words what is in force.
    Unchanged,
    /// The difference was applied.
    Applied(Vec<Change>),
    /// The text is wrong, and the running plan stays; why, as diagnostics would say it.
    Refused(String),
    /// The kernel could not be asked what runs, and the plan before it is in force again.
    Failed(KernelError),
}

/// Something worth telling whoever runs the daemon.
#[derive(Debug)]
pub enum Notice<'a> {
    /// What an earlier run had left was put back.
    Recovered(&'a Pass),
    /// The plan is in force.
    Ready(&'a Pass),
    /// The policy was read again.
    Reloaded(&'a Reload, &'a Pass),
    /// Events were lost, and everything was scanned.
    Lost(&'a Pass),
    /// The kernel refused something for a process.
    Refused(&'a Failure),
    /// Something works less well than it could; what, and why.
    Weaker(&'static str, &'a KernelError),
    /// Everything was put back.
    Released(&'a Pass),
}

/// Answers of the daemon to its surroundings: what only a program with a command line can know.
pub trait Host {
    /// Compiles the policy from its files as they are now; none where nobody [asked](Cause::Asked) and they are as they
    /// were the last time, right or wrong.
    ///
    /// # Errors
    /// What is wrong with it, as text for a log.
    fn load(&mut self, cause: Cause) -> Result<Option<Plan>, String>;
    /// The files and directories the policy is read from.
    fn paths(&self) -> Vec<PathBuf>;
    /// Says something to whoever listens.
    fn tell(&mut self, notice: &Notice<'_>);
    /// Puts a status into the form that the control socket speaks.
    fn encode(&self, view: &View<'_>) -> Vec<u8>;
    /// Puts the policy in force into the form that the control socket speaks.
    fn encode_policy(&self, plan: &Plan) -> Vec<u8>;
}

/// All there is to say about a running daemon.
#[derive(Debug)]
pub struct View<'a> {
    /// Classes, members and refusals.
    pub status: Status,
    /// Counts since the start.
    pub counters: Counters,
    /// What became of the last time the policy was read again.
    pub last_reload: Option<&'a Reload>,
    /// The time between two looks at the load.
    pub tick: Duration,
    /// What the sensor saw and did, where there is one.
    pub sight: Option<Sight>,
}

/// Why the daemon could not start or had to end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DaemonError {
    /// The run directory is taken or cannot be used.
    #[error(transparent)]
    Busy(#[from] Busy),
    /// The kernel refused something without which nothing can be done.
    #[error(transparent)]
    Kernel(#[from] KernelError),
}

/// Runs until a signal or a request to release ends it, and puts everything back. `plan` is what [`Host::load`] gave, and
/// promises a sensor only where one is given.
///
/// # Errors
/// Where nothing can be enforced here: another daemon works, or the kernel refuses what the whole rests on.
pub fn run(settings: &Settings, plan: Plan, sensor: Option<Sensor>, host: &mut dyn Host) -> Result<Pass, DaemonError> {
    let _lock = RunLock::take(&settings.roots.run)?;
    // Before any thread is started, so that all have the signals blocked and the descriptor gets them.
    let signals = block_signals()?;
    // The watcher stands before the first look, so that no change falls between.
    let mut watch = PolicyWatch::new()?;
    watch.follow(&host.paths())?;
    let connector = Connector::open(CONNECTOR_PATIENCE)?;
    schedule(&plan, None, host);
    let (mut enforcer, recovered) = Enforcer::start(settings.roots.clone(), plan)?;
    if recovered != Pass::default() {
        host.tell(&Notice::Recovered(&recovered));
    }
    if let Some(sensor) = sensor {
        enforcer.watch_with(sensor)?;
        schedule(enforcer.plan(), enforcer.sensor().and_then(Sensor::hand), host);
    }
    let control = Control::listen(&settings.roots.run)?;
    let mut daemon = Daemon {
        enforcer,
        counters: Counters::default(),
        last_reload: None,
        changed: None,
        ticker: Ticker::new()?,
        connector,
        watch,
        events: Vec::new(),
    };
    let served = daemon.begin(host).and_then(|()| daemon.serve(&signals, &control, settings, host));
    // However it ended: what was done is undone.
    let pass = daemon.enforcer.release_all();
    daemon.count(&pass, host);
    host.tell(&Notice::Released(&pass));
    if let Some(client) = served? {
        client.answer(&crate::control::released(&pass));
    }
    Ok(pass)
}

/// Puts the daemon above every class of a plan.
fn schedule(plan: &Plan, hand: Option<Tid>, host: &mut dyn Host) {
    if let Err(error) = own::schedule(plan, hand) {
        host.tell(&Notice::Weaker(
            "the daemon's priority stays as it is, and it may react late on a busy host",
            &error,
        ));
    }
}

struct Daemon {
    enforcer: Enforcer,
    counters: Counters,
    last_reload: Option<Reload>,
    /// When the policy's files changed first and last since they were read.
    changed: Option<(Instant, Instant)>,
    ticker: Ticker,
    connector: Connector,
    watch: PolicyWatch,
    events: Vec<ProcEvent>,
}

impl Daemon {
    /// Places what runs.
    fn begin(&mut self, host: &mut dyn Host) -> Result<(), DaemonError> {
        let pass = self.enforcer.scan()?;
        self.count(&pass, host);
        host.tell(&Notice::Ready(&pass));
        Ok(())
    }

    /// Until the end is asked for; whoever asked on the socket waits for the answer.
    fn serve(
        &mut self,
        signals: &SignalFd,
        control: &Control,
        settings: &Settings,
        host: &mut dyn Host,
    ) -> Result<Option<crate::control::Client>, DaemonError> {
        loop {
            self.ticker.set(self.rhythm(settings.tick))?;
            let sources = Sources {
                signals,
                connector: &self.connector,
                watch: &self.watch,
                control,
                ticker: &self.ticker,
                gate: self.enforcer.sensor().map(Sensor::gate_bell),
            };
            let ready = sources.wait(self.settles_in())?;
            if ready.gate {
                let pass = self.enforcer.clear_gates();
                self.count(&pass, host);
            }
            // Then processes: everything else can wait for a moment, and a process that runs elsewhere cannot.
            if ready.connector {
                self.follow_events(host)?;
            }
            if ready.tick && self.ticker.passed() {
                self.counters.ticks += 1;
                let now = Instant::now();
                let mut pass = if self.enforcer.is_reactive_now() { self.enforcer.tick(now) } else { Pass::default() };
                if self.enforcer.may_be_unbalanced() {
                    pass.add(self.enforcer.balance(now));
                }
                self.count(&pass, host);
            }
            if ready.watch {
                self.watch.hush();
                let now = Instant::now();
                self.changed = Some((self.changed.map_or(now, |(first, _)| first), now));
            }
            if self.settles_in() == Some(Duration::ZERO) {
                self.reload(Cause::Changed, host);
            }
            if ready.signals {
                match read_signal(signals)? {
                    Some(Signal::SIGHUP) => self.reload(Cause::Asked, host),
                    Some(_) => return Ok(None),
                    None => {}
                }
            }
            while let Some((request, client)) = ready.control.then(|| control.next()).flatten() {
                let answer = match request {
                    Request::Release => return Ok(Some(client)),
                    Request::Policy => host.encode_policy(self.enforcer.plan()),
                    Request::Reload => {
                        self.reload(Cause::Asked, host);
                        host.encode(&self.view(settings))
                    }
                    Request::Status => host.encode(&self.view(settings)),
                };
                client.answer(&answer);
            }
        }
    }

    /// How often the clock must ring; not at all while nothing needs it.
    fn rhythm(&self, tick: Duration) -> Option<Duration> {
        match self.enforcer.is_reactive_now() {
            true => Some(tick),
            false => self.enforcer.may_be_unbalanced().then_some(LOOK),
        }
    }

    fn follow_events(&mut self, host: &mut dyn Host) -> Result<(), KernelError> {
        let drained = self.connector.drain(&mut self.events)?;
        let mut pass = Pass::default();
        for event in std::mem::take(&mut self.events) {
            self.counters.events += 1;
            pass.add(self.enforcer.follow(&event));
        }
        if drained.lost > 0 {
            // Which ones cannot be known, so everything is looked at.
            self.counters.lost += drained.lost as u64;
            let found = self.enforcer.scan()?;
            host.tell(&Notice::Lost(&found));
            pass.add(found);
        }
        self.count(&pass, host);
        Ok(())
    }

    /// Reads the policy again, and keeps the running plan where that is wrong.
    fn reload(&mut self, cause: Cause, host: &mut dyn Host) {
        self.changed = None;
        let mut pass = Pass::default();
        let loaded = host.load(cause);
        // New links may lead elsewhere, whether or not what they lead to is right.
        if let Err(error) = self.watch.follow(&host.paths()) {
            host.tell(&Notice::Weaker("some changes of the policy's files will go unseen", &error));
        }
        let outcome = match loaded {
            Err(why) => Reload::Refused(why),
            Ok(None) => return,
            Ok(Some(plan)) => match diff(self.enforcer.plan(), &plan) {
                same if same.is_empty() => match self.enforcer.restate(plan) {
                    Ok(done) => {
                        pass.add(done);
                        Reload::Unchanged
                    }
                    Err(error) => Reload::Failed(error),
                },
                changes => self.adopt(plan, changes, &mut pass),
            },
        };
        schedule(self.enforcer.plan(), self.enforcer.sensor().and_then(Sensor::hand), host);
        self.count(&pass, host);
        host.tell(&Notice::Reloaded(&outcome, &pass));
        self.last_reload = Some(outcome);
    }

    fn adopt(&mut self, plan: Plan, changes: Vec<Change>, pass: &mut Pass) -> Reload {
        let before = self.enforcer.plan().clone();
        match self.enforcer.adopt(plan) {
            Ok(done) => {
                pass.add(done);
                Reload::Applied(changes)
            }
            Err(error) => {
                if let Ok(back) = self.enforcer.adopt(before) {
                    pass.add(back);
                }
                Reload::Failed(error)
            }
        }
    }

    /// How long until the changed files count as settled; none while nothing changed.
    fn settles_in(&self) -> Option<Duration> {
        let (first, last) = self.changed?;
        let at = (last + SETTLE).min(first + LONGEST_SETTLE);
        Some(at.saturating_duration_since(Instant::now()))
    }

    fn count(&mut self, pass: &Pass, host: &mut dyn Host) {
        self.counters.placed += pass.placed as u64;
        self.counters.released += pass.released as u64;
        for failure in &pass.failures {
            host.tell(&Notice::Refused(failure));
        }
    }

    fn view(&self, settings: &Settings) -> View<'_> {
        View {
            status: self.enforcer.status(),
            counters: self.counters,
            last_reload: self.last_reload.as_ref(),
            tick: settings.tick,
            sight: self.enforcer.sensor().map(Sensor::sight),
        }
    }
}

fn block_signals() -> Result<SignalFd, KernelError> {
    let fail = |errno| KernelError::file("signalfd", "open", errno);
    let mut set = SigSet::empty();
    [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP].into_iter().for_each(|signal| set.add(signal));
    set.thread_block().map_err(fail)?;
    SignalFd::with_flags(&set, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC).map_err(fail)
}

fn read_signal(signals: &SignalFd) -> Result<Option<Signal>, KernelError> {
    let read = signals.read_signal().map_err(|errno| KernelError::file("signalfd", "read", errno))?;
    Ok(read.and_then(|signal| Signal::try_from(i32::try_from(signal.ssi_signo).ok()?).ok()))
}
