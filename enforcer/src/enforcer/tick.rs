//! Following the load: one look, one decision, and the writes that make the difference.

use std::sync::Arc;
use std::time::Instant;

use super::{Enforcer, Pass};
use crate::decide::{Assignment, Load, decide};
use crate::error::KernelError;
use crate::ids::Pid;
use crate::member::Place;

impl Enforcer {
    /// Reads the load since the last tick, decides, and applies what changed.
    pub fn tick(&mut self, now: Instant) -> Pass {
        let plan = Arc::clone(&self.plan);
        let mut load = self.load.read(&self.procfs, &plan, &self.members, self.rules.make_room(), now);
        if let Some(sensor) = &self.sensor {
            load.used = sensor.used();
            sensor.answered();
        }
        let mut pass = self.respond(&load);
        let ran = self.load.take_ran();
        self.stay(&ran, &mut pass);
        // Each mask that is written is in the journal. One that cannot be rewritten is longer than it need be, and says the same.
        drop(self.compact());
        pass
    }

    /// Decides on a load and applies what changed.
    pub(super) fn respond(&mut self, load: &Load) -> Pass {
        let mut pass = Pass::default();
        if self.behind.is_empty() && self.steady_under.as_ref().is_some_and(|steady| steady.is_like(load)) {
            return pass;
        }
        let next = decide(&self.rules, load, &self.assignment);
        // Whoever waits for a turn is another whenever time passes, so that time alone changes nothing here.
        let is_steady = next == self.assignment && !load.elapsed.is_zero();
        self.assign(next, &mut pass);
        self.steady_under = is_steady.then(|| load.clone());
        pass
    }

    /// Puts other sets of CPUs in force, and writes those that differ.
    pub(super) fn assign(&mut self, next: Assignment, pass: &mut Pass) {
        self.steady_under = None;
        let before = std::mem::replace(&mut self.assignment, next);
        for (class, before) in before.classes.iter().enumerate() {
            let (Some(before), Some(next)) = (before, self.share(class)) else { continue };
            if (&before.cpus, before.frozen) != (&next.cpus, next.frozen) || self.behind.contains(&class) {
                self.apply_share(class, pass);
            }
        }
    }

    /// Writes every class's share as it stands now, where the kernel has another.
    pub(super) fn refresh(&mut self, pass: &mut Pass) {
        for class in 0..self.plan.classes.len() {
            self.apply_share(class, pass);
        }
    }

    /// Writes the CPUs of classes to the groups that they have; what is refused is refused again by [`Enforcer::refresh`].
    pub(super) fn refresh_groups(&mut self) {
        let plan = Arc::clone(&self.plan);
        for (class, planned) in plan.classes.iter().enumerate() {
            let Some(share) = self.share(class).cloned() else { continue };
            drop(self.ground.set_cpus(&planned.name, &share.cpus));
            drop(self.refresh_in_place(&planned.name, &share.cpus, share.frozen));
        }
    }

    fn apply_share(&mut self, class: usize, pass: &mut Pass) {
        let Some(share) = self.share(class).cloned() else { return };
        let Some(name) = self.class(class).map(|class| class.name.clone()) else { return };
        // Stopped first and let run last, so that nothing runs where it should not in between.
        let stop = if share.frozen { self.ground.set_frozen(&name, true).map(drop) } else { Ok(()) };
        let cpus = self.ground.set_cpus(&name, &share.cpus);
        let run = if share.frozen { Ok(()) } else { self.ground.set_frozen(&name, false).map(drop) };
        let in_place = self.refresh_in_place(&name, &share.cpus, share.frozen);
        let members: Vec<(Pid, bool)> = self
            .members
            .iter()
            .filter(|(_, member)| member.class == class)
            .map(|(pid, member)| (*pid, matches!(member.place, Some(Place::Affinity(_)))))
            .collect();
        for (pid, _) in members.iter().filter(|(_, by_affinity)| *by_affinity) {
            self.reshare(*pid, pass);
        }
        self.repin(class, pass);
        let refused: Vec<KernelError> = [stop, cpus, run, in_place].into_iter().filter_map(Result::err).collect();
        match refused.is_empty() {
            true => self.behind.remove(&class),
            false => self.behind.insert(class),
        };
        if let Some((pid, _)) = members.first() {
            for error in refused {
                self.failed(*pid, error, pass);
            }
        }
    }

    /// Gives the threads of a process that is placed by their masks the CPUs that its class has now. Nothing else is asked
    /// after: new threads come with events, and a gate is answered in the meantime.
    fn reshare(&mut self, pid: Pid, pass: &mut Pass) {
        let plan = Arc::clone(&self.plan);
        let class = self.members.get(&pid).and_then(|member| plan.classes.get(member.class));
        let Some(placement) = class.and_then(|class| class.placement.as_ref()) else { return };
        // Where something was refused, all of it is tried again.
        if self.failures.contains_key(&pid) || self.attend_threads(pid, placement, None).is_err() {
            self.conform(pid, pass);
        }
    }
}
