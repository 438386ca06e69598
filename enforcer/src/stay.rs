//! `prefer last cpu`: which threads stay where they last ran.
//!
//! The kernel looks for an idle CPU whenever a thread wakes, and its caches stay behind. A thread that is allowed on one CPU
//! is not moved; but where others want that CPU too, it has to wait. So a thread is kept on the CPU where it last ran, and
//! is let go as soon as it waited there: for [`FREE_FOR`] ticks it may run anywhere in its class, and stays again where it
//! ends up. What it costs: a thread that finds its CPU taken waits until the tick that sees it.

use std::collections::BTreeMap;

use cotenant_compiler::{CpuId, CpuSet};

/// Ticks for which a thread that had to wait may run anywhere.
pub const FREE_FOR: u32 = 5;

/// What a thread did since the last tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ran {
    /// Where it ran last.
    pub cpu: CpuId,
    /// Whether it stood in line for longer than is worth a move.
    pub waited: bool,
}

/// Where a thread may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stay {
    /// On the CPU where it last ran.
    On(CpuId),
    /// Wherever its class may, for so many ticks more.
    Free(u32),
}

/// One tick on, for every thread `T` of a class that may use `cpus`. `ran` has those that did anything; who is not among
/// `threads` any more is forgotten.
#[must_use]
pub fn choose<T: Copy + Ord>(
    threads: &[T],
    ran: &BTreeMap<T, Ran>,
    before: &BTreeMap<T, Stay>,
    cpus: &CpuSet,
) -> BTreeMap<T, Stay> {
    let next = |thread: &T| {
        let before = before.get(thread).copied().unwrap_or(Stay::Free(0));
        let next = match (ran.get(thread), before) {
            (Some(ran), _) if ran.waited => Stay::Free(FREE_FOR),
            (_, Stay::Free(ticks)) if ticks > 1 => Stay::Free(ticks - 1),
            (Some(ran), Stay::Free(_)) => Stay::On(ran.cpu),
            // One that has not run yet has nowhere to stay.
            (None, before) => before,
            // It runs elsewhere although it may not: somebody moved it, or its mask is not written yet.
            (Some(_), Stay::On(cpu)) => Stay::On(cpu),
        };
        match next {
            Stay::On(cpu) if !cpus.contains(cpu) => (*thread, Stay::Free(0)),
            next => (*thread, next),
        }
    };
    threads.iter().map(next).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(list: &str) -> CpuSet {
        list.parse().unwrap()
    }

    fn ran(cpu: u32, waited: bool) -> BTreeMap<u8, Ran> {
        [(1, Ran { cpu: CpuId(cpu), waited })].into()
    }

    fn after(ticks: &[BTreeMap<u8, Ran>], cpus: &str) -> Stay {
        let cpus = set(cpus);
        ticks.iter().fold(BTreeMap::new(), |before, ran| choose(&[1], ran, &before, &cpus))[&1]
    }

    #[test]
    fn a_thread_stays_where_it_ran_also_while_it_sleeps() {
        assert_eq!(after(&[BTreeMap::new()], "0-3"), Stay::Free(0), "it has not run yet");
        assert_eq!(after(&[ran(2, false)], "0-3"), Stay::On(CpuId(2)));
        assert_eq!(after(&[ran(2, false), BTreeMap::new(), BTreeMap::new()], "0-3"), Stay::On(CpuId(2)));
    }

    #[test]
    fn one_that_waited_is_free_for_a_while_and_stays_where_it_ends_up() {
        let mut ticks = vec![ran(2, false), ran(2, true)];
        for left in (1..=FREE_FOR).rev() {
            assert_eq!(after(&ticks, "0-3"), Stay::Free(left));
            ticks.push(ran(3, false));
        }
        assert_eq!(after(&ticks, "0-3"), Stay::On(CpuId(3)));
        ticks.extend([ran(3, true), ran(3, true)]);
        assert_eq!(after(&ticks, "0-3"), Stay::Free(FREE_FOR), "it begins anew with each wait");
    }

    #[test]
    fn nobody_stays_where_the_class_may_not_be() {
        assert_eq!(after(&[ran(2, false)], "0-1"), Stay::Free(0));
        let before: BTreeMap<u8, Stay> = [(1, Stay::On(CpuId(2)))].into();
        assert_eq!(choose(&[1], &BTreeMap::new(), &before, &set("0-1"))[&1], Stay::Free(0));
        assert!(choose(&[], &ran(2, false), &before, &set("0-3")).is_empty(), "one that ended is forgotten");
    }
}
