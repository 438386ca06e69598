//! The program, told what to look for.

use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};

use cotenant_compiler::plan::{Facilities, Gate};
use cotenant_compiler::topology::Topology;
use cotenant_compiler::{CpuSet, Plan};
use nix::errno::Errno;

use super::Sight;
use super::mover::{self, Hands, Tally};
use super::view::{self, Shape};
use crate::aide::Aide;
use crate::error::{KernelError, Object, errno_of};
use crate::ids::Tid;
use crate::journal::moving::MovingFile;
use crate::procfs::Procfs;
use crate::roots::Roots;
use crate::sys::affinity;
use crate::sys::mapping::store;
use crate::sys::sensor::layout::{GROUPS, NOWHERE, Shared, WORDS, runs};
use crate::sys::sensor::{Program, Ringer};

/// The group of all gated classes.
const GATED: u8 = 255;

/// The program in the kernel and the thread that acts on it.
pub struct Sensor {
    // The thread ends before what it listens to is taken away.
    mover: Option<Aide>,
    program: Program,
    gate: Ringer,
    roots: Roots,
    shape: Arc<Shape>,
    online: CpuSet,
    possible: CpuSet,
    tally: Arc<Tally>,
    /// The group of each class of the plan, 0 for those that need not be told from others.
    groups: Vec<u8>,
}

impl Sensor {
    /// Loads the program and tells it the machine. It costs nothing before [`Sensor::watch`].
    ///
    /// # Errors
    /// `EPERM` without privilege or under lockdown, `ENOENT` or `EINVAL` on a kernel that cannot run it, `E2BIG` on a
    /// machine that is too large for it, `ENOSYS` in a build without it.
    pub fn open(roots: &Roots, topology: &Topology) -> Result<Sensor, KernelError> {
        let shape = shape_of(topology)?;
        let path = roots.proc.join("sys/kernel/pid_max");
        let text =
            std::fs::read_to_string(&path).map_err(|error| KernelError::file(&path, "read", errno_of(&error)))?;
        let most = text.trim().parse().map_err(|_| KernelError::unreadable(&path, text.as_bytes()))?;
        let program = Program::load(most)?;
        let online = topology.online().clone();
        let possible = online.union(topology.offline()).union(&possible(roots));
        let sensor = Sensor {
            mover: None,
            gate: program.ringer("gate_bell")?,
            program,
            roots: roots.clone(),
            shape: Arc::new(shape),
            online,
            possible,
            tally: Arc::default(),
            groups: Vec::new(),
        };
        sensor.describe();
        Ok(sensor)
    }

    /// Tells the program another machine than it knows. Nobody may watch or act meanwhile: who is known to run where is
    /// forgotten.
    fn turn_to(&mut self, topology: &Topology) -> Result<(), KernelError> {
        let shape = shape_of(topology)?;
        if shape == *self.shape {
            return Ok(());
        }
        self.mover = None;
        self.program.detach();
        self.shape = Arc::new(shape);
        self.online = topology.online().clone();
        self.describe();
        Ok(())
    }

    /// Tells the program which CPU is which thread of which core.
    fn describe(&self) {
        let shared = self.program.memory().shared();
        for mask in [&shared.free, &shared.crowded, &shared.offline] {
            mask.iter().for_each(|word| word.store(0, SeqCst));
        }
        let last = self.possible.iter().last().map_or(0, |cpu| cpu.0);
        let words = (last / 64 + 1).min(WORDS as u32);
        shared.words.store(words, SeqCst);
        shared.own.store(std::process::id(), SeqCst);
        shared.cpus.iter().for_each(|cpu| cpu.core.store(NOWHERE, SeqCst));
        for (number, (core, state)) in (0_u16..).zip(self.shape.cores.iter().zip(&shared.cores)) {
            state.threads.store(u16::try_from(core.threads.len()).unwrap_or(0), SeqCst);
            let mut word = [0_u8; 8];
            for ((at, cpu), (slot, byte)) in (0_u8..).zip(&core.threads).zip(state.cpus.iter().zip(&mut word)) {
                let Some(here) = shared.cpus.get(cpu.0 as usize) else { continue };
                // Taken until it is seen to be free.
                *byte = runs::COUNTS;
                here.runs.store(runs::COUNTS, SeqCst);
                here.thread.store(at, SeqCst);
                here.core.store(number, SeqCst);
                slot.store(u16::try_from(cpu.0).unwrap_or(NOWHERE), SeqCst);
            }
            state.word.store(u64::from_le_bytes(word), SeqCst);
        }
    }

    /// Watches for what a plan asks for, on its machine, and for nothing where it asks for nothing that the sensor keeps.
    /// Members are named afterwards.
    ///
    /// # Errors
    /// As [`Sensor::open`].
    pub fn watch(&mut self, plan: &Plan) -> Result<(), KernelError> {
        self.turn_to(&plan.topology)?;
        let memory = Arc::clone(self.program.memory());
        let shared = memory.shared();
        self.groups.clear();
        // Who is in no group counts; those that make room all do it alike.
        set_kind(shared, 0, runs::COUNTS);
        set_kind(shared, GATED, runs::GATED);
        let mut last = 0;
        for class in &plan.classes {
            let group = match &class.placement {
                Some(placement) if placement.gate == Some(Gate::CoreIdle) => GATED,
                Some(placement) if placement.gate.is_none() && placement.spread => {
                    last += 1;
                    set_kind(shared, last, runs::COUNTS | runs::SPREADS);
                    set_zone(shared, last, &placement.reach());
                    last
                }
                _ => 0,
            };
            self.groups.push(group);
        }
        if self.groups.iter().all(|group| *group == 0) {
            self.mover = None;
            self.program.detach();
            return Ok(());
        }
        if self.mover.is_none() {
            self.mover = Some(mover::start(Hands {
                memory: Arc::clone(&memory),
                shape: Arc::clone(&self.shape),
                bell: self.program.ringer("bell")?,
                asker: self.program.asker()?,
                file: MovingFile::create(&self.roots.run, &Procfs::new(&self.roots.proc))?,
                online: self.online.clone(),
                possible: self.possible.clone(),
                tally: Arc::clone(&self.tally),
                heirs: shared.heirs_told.load(SeqCst),
            })?);
        }
        self.program.attach()?;
        self.visit();
        Ok(())
    }

    /// Switches once on every CPU, because the program knows of one only what it switches to.
    fn visit(&self) {
        let me = Tid::current();
        let Ok(before) = affinity::get(me) else { return };
        for cpu in self.online.iter() {
            // A CPU that this process may not use is taken for busy until it switches by itself.
            drop(affinity::set(me, &[cpu].into_iter().collect()));
        }
        drop(affinity::set(me, &before));
    }

    /// Names a thread as one of a class, by the class's place in the plan.
    pub fn enrol(&self, tid: Tid, class: usize) {
        self.write(tid, self.groups.get(class).copied().unwrap_or(0));
    }

    /// Names a thread as one of no class.
    pub fn dismiss(&self, tid: Tid) {
        self.write(tid, 0);
    }

    fn write(&self, tid: Tid, group: u8) {
        let roll = self.program.memory().roll();
        // One that is beyond the roll is counted by the program, at every switch.
        let entry = usize::try_from(tid.0).ok().and_then(|tid| roll.get(tid));
        if let Some(entry) = entry.filter(|entry| entry.load(Relaxed) != group) {
            entry.store(group, SeqCst);
        }
    }

    /// The thread that moves others, while there is one.
    #[must_use]
    pub fn hand(&self) -> Option<Tid> {
        self.mover.as_ref().map(Aide::tid)
    }

    /// Becomes readable when a gated class has company.
    #[must_use]
    pub fn gate_bell(&self) -> BorrowedFd<'_> {
        self.gate.as_fd()
    }

    /// CPUs of the cores that a gated class shares at this moment. The bell is silent until [`Sensor::answered`].
    pub fn invaded(&self) -> CpuSet {
        self.gate.hush();
        self.cpus_of(&view::invaded(self.program.memory().shared(), &self.shape))
    }

    /// Leaves the bell silent until [`Sensor::answered`].
    pub fn wait(&self) {
        self.program.memory().shared().gate_pending.store(1, SeqCst);
    }

    /// Makes the bell ready. Returns whether something came meanwhile, which must be looked at.
    pub fn answered(&self) -> bool {
        let shared = self.program.memory().shared();
        shared.gate_pending.store(0, SeqCst);
        !view::invaded(shared, &self.shape).is_empty()
    }

    /// CPUs of the cores on which anything ran for which gated classes make room, since this was asked.
    pub fn used(&self) -> CpuSet {
        self.cpus_of(&view::used(self.program.memory().shared(), &self.shape))
    }

    fn cpus_of(&self, cores: &[usize]) -> CpuSet {
        let cores = cores.iter().filter_map(|at| self.shape.cores.get(*at));
        cores.fold(CpuSet::new(), |all, core| all.union(&core.cpus))
    }

    /// What it saw and did.
    #[must_use]
    pub fn sight(&self) -> Sight {
        let shared = self.program.memory().shared();
        let read = |counter: &AtomicU64| counter.load(Relaxed);
        Sight {
            switches: shared.cpus.iter().map(|cpu| read(&cpu.switches)).sum(),
            rings: read(&shared.rings),
            gate_rings: read(&shared.gate_rings),
            moves: read(&self.tally.moves),
            unmade: read(&self.tally.unmade),
            lost: read(&shared.lost),
            unknown: read(&shared.unknown),
        }
    }
}

fn shape_of(topology: &Topology) -> Result<Shape, KernelError> {
    Shape::of(topology).ok_or_else(|| KernelError::new(Object::Sensor, "load", Errno::E2BIG))
}

fn set_kind(shared: &Shared, group: u8, kind: u8) {
    shared.kinds.get(usize::from(group)).into_iter().for_each(|slot| slot.store(kind, SeqCst));
}

fn set_zone(shared: &Shared, group: u8, zone: &CpuSet) {
    shared.zones.get(usize::from(group)).into_iter().for_each(|words| store(words, zone));
}

fn possible(roots: &Roots) -> CpuSet {
    let text = std::fs::read_to_string(roots.sys.join("devices/system/cpu/possible")).unwrap_or_default();
    text.trim().parse().unwrap_or_default()
}

// Every class that the plan may give to the sensor has a group of its own, between those in none and those that are gated.
const _: () = assert!(Facilities::SENSED_CLASSES < GATED as usize && (GATED as usize) < GROUPS);

#[cfg(test)]
mod tests;
