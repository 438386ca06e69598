//! Which thread goes where, so that none that wants a core alone shares one while another core is free. Pure.
//!
//! # Terms
//! * A seat is a CPU of a core. What runs on it *counts* unless it is nothing, a gated class's or the kernel's own.
//! * A core is *free* when nothing that counts runs on it, and *crowded* when a thread that spreads is not the only one that
//!   counts there.
//!
//! # Rules
//! 1. Of a crowded core go as many threads that spread as leave no two that count, or none that spreads.
//! 2. The newer goes: what has just begun to run has most of its run before it, so the move pays longest.
//! 3. It goes to all CPUs of one free core that it may use: which of them, the kernel chooses. Cores without even a gated
//!    thread first, then those under the same last-level cache, then the lowest.
//! 4. Who has fewest cores to go to chooses first.
//! 5. A core takes one thread, and no other while that one is *on its way*. A thread that has *just been moved* stays for a
//!    moment: another goes in its place, or nobody.
//!
//! A crowded core that could be helped once that moment is over is *stuck*.
//!
//! This runs between a switch in the kernel and the move that mends it. It looks only at cores that are free or crowded, and
//! takes no memory for machines of a usual size.

use std::cmp::Reverse;

use cotenant_compiler::{CpuId, CpuSet};
use smallvec::{SmallVec, smallvec};

use crate::ids::{Pid, Tid};

/// All that matters of a machine at one moment.
#[derive(Debug, Clone, Default)]
pub(crate) struct Moment<'a> {
    pub(crate) free: SmallVec<[Free<'a>; 4]>,
    pub(crate) crowded: SmallVec<[Crowded; 4]>,
}

/// A core on which nothing that counts runs.
#[derive(Debug, Clone)]
pub(crate) struct Free<'a> {
    /// The core's number.
    pub(crate) core: usize,
    pub(crate) cpus: &'a CpuSet,
    /// What its last-level cache is called, where it has one.
    pub(crate) llc: Option<usize>,
    /// Whether threads that make room run there.
    pub(crate) has_gated: bool,
    /// Whether a thread was sent there a moment ago.
    pub(crate) awaits: bool,
}

/// A core on which a thread that spreads has company.
#[derive(Debug, Clone)]
pub(crate) struct Crowded {
    /// The core's number.
    pub(crate) core: usize,
    pub(crate) llc: Option<usize>,
    /// How many threads there count, those that spread among them.
    pub(crate) counting: usize,
    /// Those that spread.
    pub(crate) threads: SmallVec<[Thread; 2]>,
}

/// A thread that wants a core alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Thread {
    pub(crate) tid: Tid,
    /// When it began to run.
    pub(crate) since: u64,
    /// CPUs of its zone on which it may run.
    pub(crate) fits: CpuSet,
    /// Whether it was moved a moment ago.
    pub(crate) settles: bool,
    pub(crate) seen: Seen,
}

/// Where and in which of the CPU's turns a thread was seen, by which more can be learnt of it while it runs there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) cpu: CpuId,
    pub(crate) turn: u32,
}

/// What is known of a thread that is about to be moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) process: Pid,
    /// When it was started, in nanoseconds since boot: with the id it tells the thread from a later one.
    pub(crate) born: u64,
    /// All CPUs on which it might run, when it began to.
    pub(crate) allowed: CpuSet,
    /// The mask that it set itself; none where that is not known.
    pub(crate) asked: Option<Asked>,
}

/// The mask that a thread set itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Asked {
    /// This one.
    Own(CpuSet),
    /// None: it runs wherever its cpuset lets it.
    Nothing,
}

/// One thread to move, from a core to CPUs of another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Move {
    pub(crate) tid: Tid,
    pub(crate) seen: Seen,
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) cpus: CpuSet,
}

/// What to do now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Orders {
    pub(crate) moves: SmallVec<[Move; 4]>,
    /// Crowded cores that are stuck.
    pub(crate) stuck: SmallVec<[usize; 4]>,
}

impl Crowded {
    /// How many threads must go.
    fn most(&self) -> usize {
        self.threads.len().min(self.counting.saturating_sub(1))
    }
}

/// The moves that a moment calls for.
pub(crate) fn orders(moment: Moment<'_>) -> Orders {
    let mut orders = Orders::default();
    let Moment { free, mut crowded } = moment;
    let room = |core: &Crowded| {
        let of = |thread: &Thread| free.iter().filter(|it| it.cpus.intersects(&thread.fits)).count();
        core.threads.iter().map(of).max()
    };
    crowded.sort_by_key(|core| (room(core), core.core));
    let mut taken: SmallVec<[bool; 4]> = smallvec![false; free.len()];
    for mut core in crowded {
        core.threads.sort_unstable_by_key(|thread| (Reverse(thread.since), thread.tid));
        let (from, most) = (core.core, core.most());
        let mut gone = 0;
        for thread in core.threads.iter().filter(|thread| !thread.settles) {
            if gone == most {
                break;
            }
            let open = free
                .iter()
                .zip(&mut taken)
                .filter(|(there, taken)| !**taken && !there.awaits && there.cpus.intersects(&thread.fits));
            let best = open.min_by_key(|(there, _)| (there.has_gated, there.llc != core.llc, there.core));
            let Some((there, taken)) = best else { continue };
            let cpus = there.cpus.intersection(&thread.fits);
            orders.moves.push(Move { tid: thread.tid, seen: thread.seen, from, to: there.core, cpus });
            *taken = true;
            gone += 1;
        }
        let waits =
            |thread: &Thread| free.iter().any(|it| (it.awaits || thread.settles) && it.cpus.intersects(&thread.fits));
        if gone < most && core.threads.iter().any(waits) {
            orders.stuck.push(from);
        }
    }
    orders
}

#[cfg(test)]
mod tests;
