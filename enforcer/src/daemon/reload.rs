//! Reading the policy again, because its files, the machine or whatever somebody knows of has changed.
//!
//! A policy that is wrong leaves the running plan in force. Where the machine has changed too, that is what the machine has
//! left of it, made of the whole plan each time, and the policy is tried again whenever anything changes.

use std::time::{Duration, Instant};

use cotenant_compiler::Plan;
use cotenant_compiler::plan::{Astray, diff};

use super::{Cause, Daemon, Host, Notice, Reload, schedule};
use crate::enforcer::Pass;
use crate::error::KernelError;
use crate::hotplug::Hotplug;
use crate::sensor::Sensor;

impl Daemon {
    /// Reads the policy again, and keeps the running plan where that is wrong.
    pub(super) fn reload(&mut self, cause: Cause, host: &mut dyn Host) {
        // Files that are still being written when CPUs come or go are read again when they are not.
        if cause != Cause::Machine {
            self.files.clear();
        }
        if cause != Cause::Changed {
            self.cpus.clear();
        }
        if cause == Cause::Asked {
            host.tell(&Notice::Reloading);
        }
        let (mut pass, mut astray) = (Pass::default(), Vec::new());
        let loaded = host.load(cause);
        // New links may lead elsewhere, whether or not what they lead to is right.
        if let Err(error) = self.watch.follow(&host.paths()) {
            host.tell(&Notice::Weaker("some changes of the policy's files will go unseen", &error));
        }
        let outcome = match loaded {
            Ok(None) => return,
            Ok(Some(plan)) => self.put_in_force(cause, plan, &mut pass),
            Err(why) => match self.make_do(cause, host, &mut pass) {
                Ok(without) => {
                    astray = without;
                    Reload::Refused(why)
                }
                Err(error) => Reload::Failed(error),
            },
        };
        let hand = self.enforcer.sensor().and_then(Sensor::hand);
        schedule(self.enforcer.plan(), hand.into_iter().chain([self.guard.tid()]), host);
        self.count(&pass, host);
        host.tell(&Notice::Reloaded(cause, &outcome, &pass));
        astray.iter().for_each(|astray| host.tell(&Notice::Astray(astray)));
        self.note(cause, outcome);
    }

    fn note(&mut self, cause: Cause, outcome: Reload) {
        let is_right = matches!(outcome, Reload::Applied(_) | Reload::Unchanged);
        // On the machine as it is.
        self.last_machine.take_if(|last| is_right && matches!(last, Reload::Refused(_)));
        match (cause, outcome) {
            // Of a burst that was acted on before its end.
            (Cause::Machine, Reload::Unchanged) => {}
            (cause, outcome) => {
                self.counters.reloads.count(&outcome);
                let last = if cause == Cause::Machine { &mut self.last_machine } else { &mut self.last_reload };
                *last = Some(outcome);
            }
        }
    }

    fn put_in_force(&mut self, cause: Cause, plan: Plan, pass: &mut Pass) -> Reload {
        let changes = diff(self.enforcer.plan(), &plan);
        let done = match changes.is_empty() && cause != Cause::Machine {
            true => self.enforcer.restate(plan.clone()),
            false => self.adopt(cause, plan.clone()),
        };
        match done {
            Ok(done) => {
                pass.add(done);
                self.whole = plan;
                if changes.is_empty() { Reload::Unchanged } else { Reload::Applied(changes) }
            }
            Err(error) => Reload::Failed(error),
        }
    }

    /// Puts in force what the machine has left of the last plan that was right, where it is another machine. Returns the
    /// classes for which that is nothing.
    fn make_do(&mut self, cause: Cause, host: &dyn Host, pass: &mut Pass) -> Result<Vec<Astray>, KernelError> {
        let machine = host.machine();
        if cause != Cause::Machine && *machine == self.enforcer.plan().topology {
            return Ok(Vec::new());
        }
        let (left, astray) = self.whole.left_on(machine);
        pass.add(self.adopt(cause, left)?);
        Ok(astray)
    }

    /// Puts a plan in force, or the one before it again.
    fn adopt(&mut self, cause: Cause, plan: Plan) -> Result<Pass, KernelError> {
        let before = self.enforcer.plan().clone();
        let done = match cause == Cause::Machine || plan.topology != before.topology {
            true => self.enforcer.adopt_on_another_machine(plan),
            false => self.enforcer.adopt(plan),
        };
        done.inspect_err(|_| {
            // What it did is not worth a word beside the error.
            drop(self.enforcer.adopt(before));
        })
    }

    /// Takes note of CPUs that came or went.
    pub(super) fn hear_of_cpus(&mut self, host: &mut dyn Host) {
        match self.hotplug.as_ref().map(Hotplug::drain) {
            Some(Ok(true)) => self.cpus.stir(Instant::now()),
            Some(Err(error)) => {
                self.hotplug = None;
                host.tell(&Notice::Weaker(UNHEARD, &error));
            }
            Some(Ok(false)) | None => {}
        }
    }

    /// How long until the first of what changes in bursts is to be acted on; none while nothing changed.
    pub(super) fn settled_in(&self) -> Option<Duration> {
        let now = Instant::now();
        [&self.files, &self.cpus].into_iter().filter_map(|it| it.settled_in(now)).min()
    }
}

/// What it means where CPUs that come or go are not heard of.
pub const UNHEARD: &str = "CPUs that come or go are not followed, and the plan is for those online until SIGHUP";
