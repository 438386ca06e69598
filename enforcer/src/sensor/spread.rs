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

use cotenant_compiler::{CpuId, CpuSet};

use crate::ids::Tid;

/// A core at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Core {
    pub(crate) seats: Vec<Seat>,
    /// What its last-level cache is called, where it has one.
    pub(crate) llc: Option<usize>,
    /// Whether a thread was sent to it a moment ago.
    pub(crate) awaits: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seat {
    pub(crate) cpu: CpuId,
    pub(crate) runs: Runs,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Runs {
    Nothing,
    /// A thread that makes room for whoever comes.
    Gated,
    /// A thread that counts and does not mind company.
    Other,
    /// A thread that wants a core alone.
    Spread(Thread),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Thread {
    pub(crate) tid: Tid,
    /// When it was started, in nanoseconds since boot: with the id it tells the thread from a later one.
    pub(crate) born: u64,
    /// When it began to run.
    pub(crate) since: u64,
    /// CPUs of its zone on which it may run.
    pub(crate) fits: CpuSet,
    /// Whether it was moved a moment ago.
    pub(crate) settles: bool,
    /// What it was allowed and what it had asked for, when it began to run.
    pub(crate) mask: Masks,
}

/// The masks of a thread.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Masks {
    /// All CPUs on which it might run.
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
    pub(crate) born: u64,
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) cpus: CpuSet,
    pub(crate) mask: Masks,
}

/// What to do now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Orders {
    pub(crate) moves: Vec<Move>,
    /// Crowded cores that are stuck.
    pub(crate) stuck: Vec<usize>,
}

impl Core {
    fn counting(&self) -> usize {
        self.seats.iter().filter(|seat| matches!(seat.runs, Runs::Other | Runs::Spread(_))).count()
    }

    pub(crate) fn is_free(&self) -> bool {
        self.counting() == 0
    }

    fn has_gated(&self) -> bool {
        self.seats.iter().any(|seat| seat.runs == Runs::Gated)
    }

    /// Threads that could go, the newest first, and how many must.
    fn leavers(&self) -> (Vec<&Thread>, usize) {
        let spread = |seat: &'_ Seat| matches!(seat.runs, Runs::Spread(_));
        let mut threads: Vec<&Thread> = self
            .seats
            .iter()
            .filter(|seat| spread(seat))
            .filter_map(|seat| match &seat.runs {
                Runs::Spread(thread) => Some(thread),
                _ => None,
            })
            .collect();
        threads.sort_by_key(|thread| (std::cmp::Reverse(thread.since), thread.tid));
        let most = threads.len().min(self.counting().saturating_sub(1));
        (threads, most)
    }

    fn cpus(&self) -> CpuSet {
        self.seats.iter().map(|seat| seat.cpu).collect()
    }
}

/// The moves that a look at all cores calls for.
pub(crate) fn orders(cores: &[Core]) -> Orders {
    let free: Vec<(usize, &Core, CpuSet)> =
        cores.iter().enumerate().filter(|(_, core)| core.is_free()).map(|(at, core)| (at, core, core.cpus())).collect();
    let mut orders = Orders::default();
    if free.is_empty() {
        return orders;
    }
    let room = |thread: &Thread| free.iter().filter(|(_, _, cpus)| cpus.intersects(&thread.fits)).count();
    let crowded = cores.iter().enumerate().filter(|(_, core)| core.leavers().1 > 0);
    let mut crowded: Vec<(usize, usize, &Core)> = crowded
        .map(|(at, core)| (core.leavers().0.into_iter().map(room).max().unwrap_or(0), at, core))
        .filter(|(room, ..)| *room > 0)
        .collect();
    crowded.sort_by_key(|(room, at, _)| (*room, *at));
    let mut taken = vec![false; free.len()];
    for (_, from, core) in crowded {
        let (threads, most) = core.leavers();
        let mut gone = 0;
        for thread in threads.iter().filter(|thread| !thread.settles) {
            if gone == most {
                break;
            }
            let open =
                free.iter().zip(&taken).enumerate().filter(|(_, ((_, there, cpus), taken))| {
                    !**taken && !there.awaits && cpus.intersects(&thread.fits)
                });
            let best = open.min_by_key(|(_, ((to, there, _), _))| (there.has_gated(), there.llc != core.llc, *to));
            let Some((slot, ((to, _, cpus), _))) = best else { continue };
            let cpus = cpus.intersection(&thread.fits);
            let Thread { tid, born, mask, .. } = (*thread).clone();
            orders.moves.push(Move { tid, born, from, to: *to, cpus, mask });
            if let Some(taken) = taken.get_mut(slot) {
                *taken = true;
            }
            gone += 1;
        }
        let waits = |thread: &&Thread| {
            free.iter().any(|(_, it, cpus)| (it.awaits || thread.settles) && cpus.intersects(&thread.fits))
        };
        if gone < most && threads.iter().any(waits) {
            orders.stuck.push(from);
        }
    }
    orders
}

#[cfg(test)]
mod tests;
