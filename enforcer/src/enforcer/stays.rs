//! Classes that prefer the last CPU: each of their threads stays where [`stay::choose`] keeps it.

use std::collections::BTreeMap;
use std::sync::Arc;

use cotenant_compiler::plan::Placement;

use super::{Enforcer, Pass};
use crate::ids::{Pid, Tid};
use crate::stay::{self, Ran, Stay};

impl Enforcer {
    /// Keeps threads where they ran, and lets go of those that had to wait there.
    pub(super) fn stay(&mut self, ran: &BTreeMap<Tid, Ran>, pass: &mut Pass) {
        let plan = Arc::clone(&self.plan);
        for (class, planned) in plan.classes.iter().enumerate() {
            if let Some(placement) = planned.placement.as_ref().filter(|placement| placement.stays_on_last_cpu()) {
                self.stay_class(class, placement, ran, pass);
            }
        }
    }

    fn stay_class(&mut self, class: usize, placement: &Placement, ran: &BTreeMap<Tid, Ran>, pass: &mut Pass) {
        let Some(share) = self.share(class) else { return };
        let threads = self.placed_threads(class);
        let tids: Vec<Tid> = threads.iter().map(|(tid, _)| *tid).collect();
        let before = self.stays.get(&class).cloned().unwrap_or_default();
        let next = stay::choose(&tids, ran, &before, &share.cpus);
        let on = |stays: &BTreeMap<Tid, Stay>, tid: &Tid| match stays.get(tid) {
            Some(Stay::On(cpu)) => Some(*cpu),
            Some(Stay::Free(_)) | None => None,
        };
        let moved: Vec<(Tid, Pid)> =
            threads.into_iter().filter(|(tid, _)| on(&before, tid) != on(&next, tid)).collect();
        self.stays.insert(class, next);
        for (tid, pid) in moved {
            if let Err(error) = self.attend_threads(pid, placement, Some(tid)) {
                self.failed(pid, error, pass);
            }
        }
    }
}
