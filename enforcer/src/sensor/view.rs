//! What the program shares, as values.

use std::sync::atomic::Ordering::{Acquire, Relaxed, SeqCst};
use std::sync::atomic::fence;

use cotenant_compiler::topology::Topology;
use cotenant_compiler::{CpuId, CpuSet};

use super::spread::{Asked, Crowded, Free, Known, Moment, Seen, Thread};
use crate::ids::{Pid, Tid};
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

/// Every core at this moment that matters, but for what was done to cores and threads a moment ago; none where no thread that
/// spreads has both company and a core to go to, which most looks find and must not cost much.
pub(super) fn look<'a>(shared: &Shared, shape: &'a Shape) -> Option<Moment<'a>> {
    let watched = || shared.cores.iter().take(shape.cores.len()).map(|core| core.word.load(Acquire));
    if !watched().any(is_crowded) || !watched().any(is_free) {
        return None;
    }
    let offline = shared.set(&shared.offline);
    let mut moment = Moment::default();
    for (core, (CoreShape { threads, cpus, llc }, state)) in shape.cores.iter().zip(&shared.cores).enumerate() {
        let word = match offline.intersects(cpus) {
            true => online(state.word.load(Acquire), threads, &offline),
            false => state.word.load(Acquire),
        };
        let llc = *llc;
        if is_free(word) {
            let has_gated = word & every(runs::GATED) != 0;
            moment.free.push(Free { core, cpus, llc, has_gated, awaits: false });
        } else if is_crowded(word) {
            let spread = threads.iter().zip(word.to_le_bytes()).filter(|(_, runs)| runs & runs::SPREADS != 0);
            let threads = spread.filter_map(|(cpu, _)| thread(shared, *cpu, &offline)).collect();
            moment.crowded.push(Crowded { core, llc, counting: counting(word), threads });
        }
    }
    Some(moment)
}

/// The word without what it says of threads that are offline.
fn online(word: u64, threads: &[CpuId], offline: &CpuSet) -> u64 {
    let mut bytes = word.to_le_bytes();
    bytes.iter_mut().zip(threads).filter(|(_, cpu)| offline.contains(**cpu)).for_each(|(byte, _)| *byte = 0);
    u64::from_le_bytes(bytes)
}

/// The same bit of each thread's byte.
fn every(bit: u8) -> u64 {
    u64::from_le_bytes([bit; 8])
}

fn is_free(word: u64) -> bool {
    word & every(runs::COUNTS) == 0
}

fn is_crowded(word: u64) -> bool {
    word & every(runs::SPREADS) != 0 && counting(word) > 1
}

fn breaks_gate(word: u64) -> bool {
    word & every(runs::GATED) != 0 && !is_free(word)
}

fn counting(word: u64) -> usize {
    (word & every(runs::COUNTS)).count_ones() as usize
}

/// The thread that spreads and runs there, or was the last; none while another takes its place.
fn thread(shared: &Shared, cpu: CpuId, offline: &CpuSet) -> Option<Thread> {
    let state = shared.cpus.get(cpu.0 as usize)?;
    in_one_turn(state, |turn| {
        let fits = shared.set(&state.fits);
        Some(Thread {
            tid: Tid(i32::try_from(state.tid.load(Relaxed)).ok()?),
            since: state.since.load(Relaxed),
            fits: if offline.is_empty() { fits } else { fits.difference(offline) },
            settles: false,
            seen: Seen { cpu, turn },
        })
    })
}

/// More of a thread that was seen; none where it does not run there any more. Masks of one thread must never be taken for
/// another's.
pub(super) fn known(shared: &Shared, seen: Seen) -> Option<Known> {
    let state = shared.cpus.get(seen.cpu.0 as usize)?;
    in_one_turn(state, |turn| {
        let asked = match state.asked_is.load(Relaxed) {
            asked::OWN => Some(Asked::Own(shared.set(&state.asked))),
            asked::NOTHING => Some(Asked::Nothing),
            _ => None,
        };
        let known = || {
            let process = Pid(i32::try_from(state.process.load(Relaxed)).unwrap_or(0));
            Known { process, born: state.born.load(Relaxed), allowed: shared.set(&state.allowed), asked }
        };
        (turn == seen.turn && state.runs.load(Relaxed) & runs::SPREADS != 0).then(known)
    })
}

/// What is read of a CPU while the same thread that spreads runs on it.
fn in_one_turn<T>(state: &layout::Cpu, read: impl FnOnce(u32) -> Option<T>) -> Option<T> {
    let turn = state.turns.load(Acquire);
    let what = read(turn);
    fence(Acquire);
    what.filter(|_| turn.is_multiple_of(2) && state.turns.load(Relaxed) == turn)
}

/// Cores that a gated thread shares with somebody for whom it makes room, by number.
pub(super) fn invaded(shared: &Shared, shape: &Shape) -> Vec<usize> {
    let cores = shape.cores.iter().zip(&shared.cores).enumerate();
    cores.filter(|(_, (_, core))| breaks_gate(core.word.load(SeqCst))).map(|(at, _)| at).collect()
}

/// Cores on which something that counts runs, or ran since this was asked, by number.
pub(super) fn used(shared: &Shared, shape: &Shape) -> Vec<usize> {
    let used = |core: &layout::Core| core.used.swap(0, SeqCst) != 0 || !is_free(core.word.load(SeqCst));
    let cores = shape.cores.iter().zip(&shared.cores).enumerate();
    cores.filter(|(_, (_, core))| used(core)).map(|(at, _)| at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPREAD: u8 = runs::COUNTS | runs::SPREADS;

    #[test]
    fn what_a_word_says_of_a_core() {
        for (bytes, free, crowded, broken) in [
            ([0, 0], true, false, false),
            ([runs::GATED, 0], true, false, false),
            ([runs::COUNTS, 0], false, false, false),
            ([runs::COUNTS, runs::COUNTS], false, false, false),
            ([SPREAD, 0], false, false, false),
            ([SPREAD, runs::GATED], false, false, true),
            ([runs::GATED, runs::COUNTS], false, false, true),
            ([SPREAD, runs::COUNTS], false, true, false),
            ([SPREAD, SPREAD], false, true, false),
        ] {
            let word = u64::from_le_bytes([bytes[0], bytes[1], 0, 0, 0, 0, 0, 0]);
            assert_eq!((is_free(word), is_crowded(word), breaks_gate(word)), (free, crowded, broken), "{bytes:?}");
        }
    }

    #[test]
    fn a_thread_that_is_offline_is_not_there() {
        let word = u64::from_le_bytes([SPREAD, SPREAD, runs::COUNTS, 0, 0, 0, 0, 0]);
        let threads = [4, 5, 6].map(CpuId);
        assert!(is_crowded(online(word, &threads, &"5".parse().unwrap())));
        assert!(!is_crowded(online(word, &threads, &"5-6".parse().unwrap())));
        assert!(is_free(online(word, &threads, &"0-6".parse().unwrap())));
    }
}
