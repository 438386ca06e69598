//! What the program shares, as values.

use std::sync::atomic::Ordering::{Acquire, Relaxed, SeqCst};
use std::sync::atomic::fence;

use cotenant_compiler::topology::Topology;
use cotenant_compiler::{CpuId, CpuSet};

use super::spread::{Asked, Core, Masks, Runs, Seat, Thread};
use crate::ids::Tid;
use crate::sys::sensor::layout::{self, Shared, asked, runs};

/// The machine as the program was told it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) cores: Vec<CoreShape>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
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

/// Every core at this moment, but for what was done to cores and threads a moment ago; none where no thread that spreads has
/// both company and a core to go to, which most looks find and must not cost much. Who runs on a core that is not crowded
/// makes no difference, and is not read.
pub(super) fn look(shared: &Shared, shape: &Shape) -> Option<Vec<Core>> {
    let watched = || shared.cores.iter().take(shape.cores.len()).map(|core| core.word.load(Acquire));
    if !watched().any(is_crowded) || !watched().any(is_free) {
        return None;
    }
    let offline = shared.set(&shared.offline);
    let core = |(core, state): (&CoreShape, &layout::Core)| {
        let word = state.word.load(Acquire);
        let reads = is_crowded(word);
        let online = core.threads.iter().enumerate().filter(|(_, cpu)| !offline.contains(**cpu));
        let seats = online.map(|(thread, cpu)| Seat { cpu: *cpu, runs: seat(shared, *cpu, byte(word, thread), reads) });
        Core { seats: seats.collect(), llc: core.llc, awaits: false }
    };
    // A core with no CPU left is nobody's to go to, but keeps its number.
    let all = shape.cores.iter().zip(&shared.cores).map(core);
    Some(all.map(|core| if core.seats.is_empty() { Core { awaits: true, ..core } } else { core }).collect())
}

/// The same bit of each thread's byte.
fn every(bit: u8) -> u64 {
    u64::from_le_bytes([bit; 8])
}

fn is_free(word: u64) -> bool {
    word & every(runs::COUNTS) == 0
}

fn is_crowded(word: u64) -> bool {
    word & every(runs::SPREADS) != 0 && (word & every(runs::COUNTS)).count_ones() > 1
}

fn byte(word: u64, thread: usize) -> u8 {
    word.to_le_bytes().get(thread).copied().unwrap_or(0)
}

fn seat(shared: &Shared, cpu: CpuId, state: u8, reads: bool) -> Runs {
    let Some(cpu) = shared.cpus.get(cpu.0 as usize) else { return Runs::Nothing };
    match state {
        it if reads && it & runs::SPREADS != 0 => thread(shared, cpu).map_or(Runs::Other, Runs::Spread),
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
    let broken = |word: u64| word & every(runs::GATED) != 0 && word & every(runs::COUNTS) != 0;
    let cores = shape.cores.iter().zip(&shared.cores).enumerate();
    cores.filter(|(_, (_, core))| broken(core.word.load(SeqCst))).map(|(at, _)| at).collect()
}

/// Cores on which something that counts runs, or ran since this was asked, by number.
pub(super) fn used(shared: &Shared, shape: &Shape) -> Vec<usize> {
    let used = |core: &layout::Core| core.used.swap(0, SeqCst) != 0 || !is_free(core.word.load(SeqCst));
    let cores = shape.cores.iter().zip(&shared.cores).enumerate();
    cores.filter(|(_, (_, core))| used(core)).map(|(at, _)| at).collect()
}

#[cfg(test)]
mod tests {
    use super::super::spread::orders;
    use super::*;

    #[test]
    fn what_a_word_says_of_a_core_is_what_its_seats_say() {
        let spread = runs::COUNTS | runs::SPREADS;
        let kinds = [0, runs::COUNTS, spread, runs::GATED];
        let seat = |(cpu, kind): (u32, u8)| {
            let thread = Thread {
                tid: Tid(cpu as i32 + 1),
                born: 0,
                since: 0,
                fits: "0-9".parse().unwrap(),
                settles: false,
                mask: Masks::default(),
            };
            let runs = match kind {
                it if it == spread => Runs::Spread(thread),
                runs::COUNTS => Runs::Other,
                runs::GATED => Runs::Gated,
                _ => Runs::Nothing,
            };
            Seat { cpu: CpuId(cpu), runs }
        };
        for kinds in kinds.iter().flat_map(|one| kinds.map(|other| [*one, other])) {
            let word = u64::from_le_bytes([kinds[0], kinds[1], 0, 0, 0, 0, 0, 0]);
            let core = Core { seats: (0..).zip(kinds).map(seat).collect(), llc: None, awaits: false };
            assert_eq!(is_free(word), core.is_free(), "{kinds:?}");
            let open = Core { seats: vec![seat((8, 0)), seat((9, 0))], llc: None, awaits: false };
            assert_eq!(is_crowded(word), !orders(&[core, open]).moves.is_empty(), "{kinds:?}");
        }
    }
}
