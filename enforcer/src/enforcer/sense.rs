//! What the enforcer tells the sensor, and what it does when that rings for a gated class.

use super::{Enforcer, Pass};
use crate::decide::close;
use crate::error::KernelError;
use crate::ids::Pid;
use crate::sensor::Sensor;

/// Answers to one ring: others may come to a core while the class leaves another.
const ANSWERS: usize = 4;

impl Enforcer {
    /// Watches with a sensor from now on. Before [`Enforcer::scan`], which names the members.
    ///
    /// # Errors
    /// As [`Sensor::watch`].
    pub fn watch_with(&mut self, mut sensor: Sensor) -> Result<(), KernelError> {
        sensor.watch(&self.plan)?;
        self.sensor = Some(sensor);
        Ok(())
    }

    /// The sensor, where there is one.
    #[must_use]
    pub fn sensor(&self) -> Option<&Sensor> {
        self.sensor.as_ref()
    }

    /// Watches for what the plan in force asks for.
    pub(super) fn watch_plan(&mut self) -> Result<(), KernelError> {
        self.sensor.as_mut().map_or(Ok(()), |sensor| sensor.watch(&self.plan))
    }

    /// Names every thread of a member as one of its class.
    pub(super) fn enrol_threads(&self, pid: Pid) {
        let (Some(sensor), Some(member)) = (&self.sensor, self.members.get(&pid)) else { return };
        member.threads.keys().for_each(|tid| sensor.enrol(*tid, member.class));
    }

    /// Names every thread of a process as one of no class: what its parent was, the kernel side has taken it for as well.
    pub(super) fn dismiss_threads(&self, pid: Pid) {
        let Some(sensor) = &self.sensor else { return };
        sensor.dismiss(pid.leader());
        self.members.get(&pid).into_iter().flat_map(|it| it.threads.keys()).for_each(|tid| sensor.dismiss(*tid));
    }

    /// Takes gated classes off the cores on which they have company, at once; the tick loop opens them again.
    pub fn clear_gates(&mut self) -> Pass {
        let mut pass = Pass::default();
        for _ in 0..ANSWERS {
            let Some(invaded) = self.sensor.as_ref().map(Sensor::invaded) else { return pass };
            if !invaded.is_empty() {
                let next = close(&self.rules, &self.assignment, &invaded);
                self.assign(next, &mut pass);
            }
            if !self.sensor.as_ref().is_some_and(Sensor::answered) {
                return pass;
            }
        }
        // What is left cannot be helped, as on the cores of a floor: the next tick makes the bell ready again.
        if let Some(sensor) = &self.sensor {
            sensor.wait();
        }
        pass
    }
}
