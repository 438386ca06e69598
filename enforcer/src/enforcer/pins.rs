//! Classes that hold equals: each of their threads stays on the CPU chosen by [`hold::choose`].

use std::collections::BTreeMap;

use cotenant_compiler::{CpuId, CpuSet};
use cotenant_grammar::tree::EqualPrio;

use super::{Enforcer, Pass};
use crate::error::KernelError;
use crate::hold::{self, Held, PRESENCE};
use crate::ids::{Pid, Tid};
use crate::journal::Record;
use crate::member::Member;
use crate::thread::Touched;

impl Enforcer {
    /// For a class that holds equals: gives each of its threads one CPU, because some came or went or its CPUs changed.
    pub(super) fn repin(&mut self, class: usize, pass: &mut Pass) {
        self.pin_class(class, &BTreeMap::new(), PRESENCE, pass);
    }

    /// The threads of a class whose processes are in their place, in order.
    pub(super) fn placed_threads(&self, class: usize) -> Vec<(Tid, Pid)> {
        // Not yet where the class of that name is another than the one a process was placed for.
        let name = self.class(class).map(|class| &class.name);
        let is_placed = |member: &Member| member.place.is_some() && member.placed_for.as_ref() == name;
        let placed = self.members.iter().filter(|(_, member)| member.class == class && is_placed(member));
        let mut threads: Vec<(Tid, Pid)> =
            placed.flat_map(|(pid, member)| member.threads.keys().map(|tid| (*tid, *pid))).collect();
        threads.sort_unstable();
        threads
    }

    /// Gives each thread of a held class its CPU, by `loads` in thousandths of one.
    pub(super) fn pin_class(&mut self, class: usize, loads: &BTreeMap<Tid, u64>, margin: u64, pass: &mut Pass) {
        let holds = self.placement(class).is_some_and(|placement| placement.equal_prio == Some(EqualPrio::Hold));
        let Some(cpus) = self.share(class).filter(|_| holds).map(|share| share.cpus.clone()) else { return };
        let threads = self.placed_threads(class);
        let load = |tid: &Tid| loads.get(tid).copied().unwrap_or(0);
        let held: Vec<Held<Tid>> = threads.iter().map(|(tid, _)| Held { thread: *tid, load: load(tid) }).collect();
        let before = self.pins.remove(&class).unwrap_or_default();
        let mut pins = hold::choose(&held, &before, &cpus, margin);
        for (tid, pid) in threads {
            let Some(cpu) = pins.get(&tid).copied() else { continue };
            if before.get(&tid) != Some(&cpu)
                && let Err(error) = self.pin(pid, tid, cpu)
            {
                self.failed(pid, error, pass);
                pins.remove(&tid);
            }
        }
        self.pins.insert(class, pins);
    }

    fn pin(&mut self, pid: Pid, tid: Tid, cpu: CpuId) -> Result<(), KernelError> {
        let (one, cpuset): (CpuSet, CpuSet) = ([cpu].into_iter().collect(), self.cpuset_of(pid));
        let touched = self.members.get_mut(&pid).and_then(|member| member.threads.get_mut(&tid));
        let Some(touched) = touched else { return Ok(()) };
        let former = touched.clone();
        let known = former.wrote.clone();
        let mut todo = touched.intend_cpus(tid, &one, &cpuset)?;
        touched.keep(&former);
        if touched.wrote == known && todo.is_empty() {
            return Ok(());
        }
        self.journal.append(&[Record::Thread { pid, tid, touched: touched.clone() }])?;
        let of = (pid, tid, touched.start);
        match Touched::perform(&self.procfs, of, &mut todo) {
            Err(error) => self.not_written(pid, tid, known, &todo).and(Err(error)),
            done => done,
        }
    }
}
