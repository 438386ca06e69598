//! Classes that hold equals: each of their threads stays on the CPU chosen by [`hold::choose`].

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
    /// For a class that holds equals: gives each of its threads one CPU.
    pub(super) fn repin(&mut self, class: usize, pass: &mut Pass) {
        let holds = self.placement(class).is_some_and(|placement| placement.equal_prio == Some(EqualPrio::Hold));
        let Some(cpus) = self.share(class).filter(|_| holds).map(|share| share.cpus.clone()) else { return };
        let of_class = |member: &Member| member.class == class && member.place.is_some();
        let mut threads: Vec<(Tid, Pid)> = self
            .members
            .iter()
            .filter(|(_, member)| of_class(member))
            .flat_map(|(pid, member)| member.threads.keys().map(|tid| (*tid, *pid)))
            .collect();
        threads.sort_unstable();
        let held: Vec<Held<Tid>> = threads.iter().map(|(tid, _)| Held { thread: *tid, load: 0 }).collect();
        let before = self.pins.remove(&class).unwrap_or_default();
        let pins = hold::choose(&held, &before, &cpus, PRESENCE);
        for (tid, pid) in threads {
            let Some(cpu) = pins.get(&tid).copied() else { continue };
            if before.get(&tid) != Some(&cpu)
                && let Err(error) = self.pin(pid, tid, cpu)
            {
                self.failed(pid, error, pass);
            }
        }
        self.pins.insert(class, pins);
    }

    fn pin(&mut self, pid: Pid, tid: Tid, cpu: CpuId) -> Result<(), KernelError> {
        let (one, cpuset): (CpuSet, CpuSet) = ([cpu].into_iter().collect(), self.cpuset_of(pid));
        let touched = self.members.get_mut(&pid).and_then(|member| member.threads.get_mut(&tid));
        let Some(touched) = touched else { return Ok(()) };
        let known = touched.wrote.clone();
        let mut todo = touched.intend_cpus(tid, &one, &cpuset)?;
        if touched.wrote == known && todo.is_empty() {
            return Ok(());
        }
        self.journal.append(&[Record::Thread { pid, tid, touched: touched.clone() }])?;
        match Touched::perform(tid, &mut todo) {
            Err(error) => self.not_written(pid, tid, known, &todo).and(Err(error)),
            done => done,
        }
    }
}
