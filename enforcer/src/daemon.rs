//! The daemon: one loop that waits for whatever can change what is true, and does nothing in between.
//!
//! It wakes for process events, for a change of the policy's files, when CPUs come or go, for signals, for a request on the
//! control socket, when a sensor rings for a gated class and, while a class whose share moves with the load has members, once
//! a tick; once a second while a held class has more threads than CPUs. An idle host without such members costs no wake-up at all.

mod guard;
mod host;
mod own;
mod reload;
mod settle;
mod wait;

use std::time::{Duration, Instant};

use cotenant_compiler::Plan;
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};

use crate::control::{Control, Request};
use crate::enforcer::{Enforcer, LOOK, Pass};
use crate::error::KernelError;
use crate::events::{Connector, ProcEvent};
use crate::hotplug::Hotplug;
use crate::ids::{Pid, Tid};
use crate::lock::{Busy, RunLock};
use crate::roots::Roots;
use crate::sensor::Sensor;
use crate::watch::PolicyWatch;
use guard::Guard;
pub use host::{Cause, Counters, Host, Notice, Reload, Reloads, View};
pub use reload::UNHEARD;
use settle::Settling;
use wait::{Sources, Ticker};

/// How long the kernel may take to answer the subscription to its events.
const CONNECTOR_PATIENCE: Duration = Duration::from_secs(5);

/// What it means where nobody can be moved.
pub const UNMOVED: &str = "processes are not moved into groups of cotenant's own, and get an affinity instead";

/// What it means where the host's groups cannot be told.
pub const UNSEEN: &str =
    "classes that name a cgroup, unit or slice may miss processes, and nobody is placed by a group of the host";

/// What the daemon is told beforehand.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where the kernel's file systems and the run directory are.
    pub roots: Roots,
    /// The time between two looks at the load.
    pub tick: Duration,
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

/// What the daemon sees with beside its own events; each may be missing.
#[derive(Default)]
pub struct Eyes {
    /// In the kernel, on every switch.
    pub sensor: Option<Sensor>,
    /// On CPUs that come and go; missing also where the plan is not for this machine as it is.
    pub hotplug: Option<Hotplug>,
}

/// Runs until a signal or a request to release ends it, and puts everything back. `plan` is what [`Host::load`] gave, and
/// promises a sensor only where one is given.
///
/// # Errors
/// Where nothing can be enforced here: another daemon works, or the kernel refuses what the whole rests on.
pub fn run(settings: &Settings, plan: Plan, eyes: Eyes, host: &mut dyn Host) -> Result<Pass, DaemonError> {
    let _lock = RunLock::take(&settings.roots.run)?;
    // Before any thread is started, so that all have the signals blocked and the descriptor gets them.
    let signals = block_signals()?;
    // The watcher stands before the first look, so that no change falls between.
    let mut watch = PolicyWatch::new()?;
    watch.follow(&host.paths())?;
    let connector = Connector::open(CONNECTOR_PATIENCE)?;
    let guard = Guard::start()?;
    schedule(&plan, [guard.tid()], host);
    let whole = plan.clone();
    let (mut enforcer, recovered) = Enforcer::start(settings.roots.clone(), plan)?;
    if recovered != Pass::default() {
        host.tell(&Notice::Recovered(&recovered));
        recovered.failures.iter().for_each(|failure| host.tell(&Notice::Refused(failure)));
    }
    if let Some(error) = enforcer.hindrance() {
        host.tell(&Notice::Weaker(UNMOVED, error));
    }
    if let Some(error) = enforcer.unseen_groups() {
        host.tell(&Notice::Weaker(UNSEEN, &error));
    }
    if let Some(sensor) = eyes.sensor {
        enforcer.watch_with(sensor)?;
        let hand = enforcer.sensor().and_then(Sensor::hand);
        schedule(enforcer.plan(), hand.into_iter().chain([guard.tid()]), host);
    }
    let control = Control::listen(&settings.roots.run)?;
    let mut daemon = Daemon {
        enforcer,
        counters: Counters::default(),
        whole,
        last_reload: None,
        last_machine: None,
        files: Settling::of_files(),
        cpus: Settling::of_cpus(),
        hotplug: eyes.hotplug,
        ticker: Ticker::new()?,
        guard,
        connector,
        watch,
        events: Vec::new(),
    };
    let served = daemon.begin(host).and_then(|()| daemon.serve(&signals, &control, settings, host));
    // However it ended: what was done is undone.
    host.tell(&Notice::Stopping);
    let pass = daemon.enforcer.release_all();
    daemon.count(&pass, host);
    host.tell(&Notice::Released(&pass));
    if let Some(client) = served? {
        client.answer(&crate::control::released(&pass));
    }
    Ok(pass)
}

/// Puts the daemon above every class of a plan.
fn schedule(plan: &Plan, above: impl IntoIterator<Item = Tid>, host: &mut dyn Host) {
    if let Err(error) = own::schedule(plan, above) {
        host.tell(&Notice::Weaker(
            "the daemon's priority stays as it is, and it may react late on a busy host",
            &error,
        ));
    }
}

struct Daemon {
    enforcer: Enforcer,
    counters: Counters,
    /// The last plan that was compiled: the one in force may be what the machine has left of it.
    whole: Plan,
    last_reload: Option<Reload>,
    last_machine: Option<Reload>,
    /// Changes of the policy's files since they were read.
    files: Settling,
    /// CPUs that came or went since the machine was looked at.
    cpus: Settling,
    hotplug: Option<Hotplug>,
    ticker: Ticker,
    guard: Guard,
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
                hotplug: self.hotplug.as_ref(),
                gate: self.enforcer.sensor().map(Sensor::gate_bell),
            };
            let longest = self.settled_in().into_iter().chain(host.pulse()).min();
            self.guard.rest()?;
            let ready = sources.wait(longest)?;
            self.guard.work()?;
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
                if self.enforcer.has_to_insist() {
                    pass.add(self.enforcer.insist(now));
                }
                self.count(&pass, host);
            }
            if ready.watch {
                self.watch.hush();
                self.files.stir(Instant::now());
            }
            if ready.hotplug {
                self.hear_of_cpus(host);
            }
            if self.cpus.is_settled(Instant::now()) {
                self.reload(Cause::Machine, host);
            }
            if self.files.is_settled(Instant::now()) {
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
                    Request::Policy => host.encode_policy(&self.whole),
                    Request::Exec(class) => self.admit(client.process(), &class, host),
                    Request::Why(pid) => host.encode_story(self.enforcer.story(pid).as_ref()),
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

    /// Puts a process that asks for it into a class. Returns what it is answered.
    fn admit(&mut self, pid: Pid, class: &str, host: &mut dyn Host) -> Vec<u8> {
        let (pass, answer) = match self.enforcer.admit(pid, class) {
            Ok(pass) => {
                let refused = pass.failures.iter().find(|failure| failure.pid == pid);
                let answer = refused.map_or_else(|| "placed".to_owned(), |failure| failure.error.to_string());
                (pass, answer)
            }
            Err(why) => (Pass::default(), why),
        };
        self.count(&pass, host);
        format!("{answer}\n").into_bytes()
    }

    /// How often the clock must ring; not at all while nothing needs it.
    fn rhythm(&self, tick: Duration) -> Option<Duration> {
        match self.enforcer.is_reactive_now() {
            true => Some(tick),
            false => (self.enforcer.may_be_unbalanced() || self.enforcer.has_to_insist()).then_some(LOOK),
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

    fn count(&mut self, pass: &Pass, host: &mut dyn Host) {
        self.counters.placed += pass.placed as u64;
        self.counters.released += pass.released as u64;
        self.counters.contested += pass.contested.len() as u64;
        pass.contested.iter().for_each(|contested| host.tell(&Notice::Contested(contested)));
        if pass.failures.is_empty() {
            return;
        }
        // A CPU is gone before its event is there.
        if self.hotplug.is_some() && !self.enforcer.is_on_its_machine() {
            self.cpus.stir(Instant::now());
        }
        // What is refused while CPUs come and go is tried again, and said if it still is.
        if self.cpus.is_calm() {
            pass.failures.iter().for_each(|failure| host.tell(&Notice::Refused(failure)));
        }
    }

    fn view(&self, settings: &Settings) -> View<'_> {
        View {
            status: self.enforcer.status(),
            counters: self.counters,
            last_reload: self.last_reload.as_ref(),
            last_machine: self.last_machine.as_ref(),
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
