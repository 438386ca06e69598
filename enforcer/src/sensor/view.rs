//! What the program shares, as values.

use std::sync::atomic::Ordering::{Acquire, Relaxed, SeqCst};
use std::sync::atomic::fence;

use cotenant_compiler::topology::Topology;
use cotenant_compiler::{CpuId, CpuSet};

use super::spread::{Asked, Core, Masks, Runs, Seat, Thread};
use crate::ids::Tid;
use crate::sys::sensor::layout::{self, Shared, asked, runs};

/// The machine as the program was told it.
#[derive(Debug, Clone)]
pub(super) struct Shape {
    pub(super) cores: Vec<CoreShape>,
}

#[derive(Debug, Clone)]
pub(super) struct CoreShape {
    pub(super) threads: Vec<CpuId>,
    pub(super) cpus: CpuSet,
    pub(super) llc: Option<usize>,
}

impl Shape {
    /// None where the program cannot tell all CPUs apart.
    pub(super) fn of(topology: &Topology) -> Option<Shape> {
        let cores = topology.cores().iter().map(|core| CoreShape {
            threads: core.threads.clone(),
            cpus: core.cpus.clone(),
            llc: core.llc,
        });
        let shape = Shape { cores: cores.collect() };
        let fits = |core: &CoreShape| {
            let known = core.threads.iter().all(|cpu| (cpu.0 as usize) < layout::CPUS);
            known && core.threads.len() <= layout::THREADS
        };
        shape.cores.iter().all(fits).then_some(shape)
    }
}

/// Every core at this moment, but for what was done to cores and threads a moment ago.
pub(super) fn look(shared: &Shared, shape: &Shape) -> Vec<Core> {
    let offline = shared.set(&shared.offline);
    let core = |(core, state): (&CoreShape, &layout::Core)| {
        let word = state.word.load(Acquire);
        let online = core.threads.iter().enumerate().filter(|(_, cpu)| !offline.contains(**cpu));
        let seats = online.map(|(thread, cpu)| Seat { cpu: *cpu, runs: seat(shared, *cpu, byte(word, thread)) });
        Core { seats: seats.collect(), llc: core.llc, awaits: false }
    };
    // A core with no CPU left is nobody's to go to, but keeps its number.
    let all = shape.cores.iter().zip(&shared.cores).map(core);
    all.map(|core| if core.seats.is_empty() { Core { awaits: true, ..core } } else { core }).collect()
}

fn byte(word: u64, thread: usize) -> u8 {
    word.to_le_bytes().get(thread).copied().unwrap_or(0)
}

fn seat(shared: &Shared, cpu: CpuId, state: u8) -> Runs {
    let Some(cpu) = shared.cpus.get(cpu.0 as usize) else { return Runs::Nothing };
    match state {
        it if it & runs::SPREADS != 0 => thread(shared, cpu).map_or(Runs::Other, Runs::Spread),
        it if it & runs::COUNTS != 0 => Runs::Other,
        it if it & runs::GATED != 0 => Runs::Gated,
        _ => Runs::Nothing,
    }
}

/// The thread that spreads and runs there, or was the last; none while another takes its place. Masks of one thread must
/// never be taken for another's.
fn thread(shared: &Shared, cpu: &layout::Cpu) -> Option<Thread> {
    let turns = cpu.turns.load(Acquire);
    let asked = match cpu.asked_is.load(Relaxed) {
        asked::OWN => Some(Asked::Own(shared.set(&cpu.asked))),
        asked::NOTHING => Some(Asked::Nothing),
        _ => None,
    };
    let thread = Thread {
        tid: Tid(i32::try_from(cpu.tid.load(Relaxed)).ok()?),
        born: cpu.born.load(Relaxed),
        since: cpu.since.load(Relaxed),
        fits: shared.set(&cpu.fits),
        settles: false,
        mask: Masks { allowed: shared.set(&cpu.allowed), asked },
    };
    fence(Acquire);
    (turns.is_multiple_of(2) && cpu.turns.load(Relaxed) == turns).then_some(thread)
}

/// Cores that a gated thread shares with somebody for whom it makes room, by number.
pub(super) fn invaded(shared: &Shared, shape: &Shape) -> Vec<usize> {
    let every = |bit: u8| u64::from_le_bytes([bit; 8]);
    let broken = |word: u64| word & every(runs::GATED) != 0 && word & every(runs::COUNTS) != 0;
    let cores = shape.cores.iter().zip(&shared.cores).enumerate();
    cores.filter(|(_, (_, core))| broken(core.word.load(SeqCst))).map(|(at, _)| at).collect()
}

/// Cores on which something that counts runs, or ran since this was asked, by number.
pub(super) fn used(shared: &Shared, shape: &Shape) -> Vec<usize> {
    let counts = u64::from_le_bytes([runs::COUNTS; 8]);
    let used = |core: &layout::Core| core.used.swap(0, SeqCst) != 0 || core.word.load(SeqCst) & counts != 0;
    let cores = shape.cores.iter().zip(&shared.cores).enumerate();
    cores.filter(|(_, (_, core))| used(core)).map(|(at, _)| at).collect()
}
