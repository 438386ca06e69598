//! Moves of threads by their masks, and what is made in the middle of one.
//!
//! For some tens of microseconds a thread that is moved has a mask that is not its own. clone(2) copies the maker's mask early:
//! what a thread makes meanwhile, another thread or a process, begins with the mask that moves its maker, and the move, which
//! ends with its thread, gives it nothing back. Such an *heir* is known in two ways. The sensor's program names most of them,
//! once they are made; a child may be read of before that, and a daemon may be killed. Then it is told by what a mask of its
//! own wish would hardly have in common: the child's maker was moved, the child was started during that move or in the moment
//! that a clone takes, and its mask is the move's.

use std::collections::VecDeque;

use cotenant_compiler::CpuSet;

use crate::ids::{Pid, Tid};
use crate::procfs::CLOCK_TICK;

/// The most that a clone may take from the copy of the mask to the time that counts as the child's start, in clock ticks: a
/// second, on a machine however busy.
const CLONE: u64 = 100;

/// Moves that are remembered. Thousands a second are many.
const KEPT: usize = 64;

/// A thread about to be moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moving {
    /// Its process.
    pub process: Pid,
    /// The thread.
    pub tid: Tid,
    /// When it was started, in nanoseconds since boot.
    pub born: u64,
    /// When the move begins, in nanoseconds since boot.
    pub since: u64,
    /// The mask that it is to have again.
    pub asked: CpuSet,
    /// The mask that moves it.
    pub to: CpuSet,
}

/// A thread that may be an heir.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Child {
    pub(crate) tid: Tid,
    pub(crate) process: Pid,
    /// Its process's parent.
    pub(crate) parent: Pid,
    /// When it was started, in clock ticks since boot.
    pub(crate) start: u64,
    pub(crate) mask: CpuSet,
}

impl Moving {
    /// Whether a child has its mask of this move.
    pub(crate) fn made(&self, child: &Child) -> bool {
        let begin = self.since / CLOCK_TICK;
        let of_maker = child.process == self.process || child.parent == self.process;
        let in_time = (begin..=begin.saturating_add(CLONE)).contains(&child.start);
        of_maker && in_time && child.tid != self.tid && child.mask == self.to
    }
}

/// The last moves of this process.
#[derive(Debug, Default)]
pub(crate) struct Recent(VecDeque<Moving>);

impl Recent {
    pub(crate) const fn new() -> Recent {
        Recent(VecDeque::new())
    }

    pub(crate) fn note(&mut self, moving: Moving) {
        if self.0.len() == KEPT {
            self.0.pop_front();
        }
        self.0.push_back(moving);
    }

    /// Whether anything of a mask may be of a move, so that it is worth to look at who has it.
    pub(crate) fn may_have_left(&self, mask: &CpuSet) -> bool {
        self.0.iter().any(|moving| moving.to == *mask)
    }

    /// What a child asked for, as its maker did, where its mask is of a move.
    pub(crate) fn owed(&self, child: &Child) -> Option<&CpuSet> {
        self.0.iter().rev().find(|moving| moving.made(child)).map(|moving| &moving.asked)
    }

    /// The same of a child that is known to have had its maker's mask in the middle of a move.
    pub(crate) fn owed_by(&self, maker: Tid, mask: &CpuSet) -> Option<&CpuSet> {
        let of_maker = |moving: &&Moving| moving.tid == maker && mask.is_subset(&moving.to);
        self.0.iter().rev().find(of_maker).map(|moving| &moving.asked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moving(tid: i32, since: u64, to: &str) -> Moving {
        let set = |text: &str| text.parse().unwrap();
        Moving { process: Pid(10), tid: Tid(tid), born: 0, since, asked: set("0-7"), to: set(to) }
    }

    fn child(start: u64, mask: &str) -> Child {
        Child { tid: Tid(20), process: Pid(20), parent: Pid(10), start, mask: mask.parse().unwrap() }
    }

    #[test]
    fn an_heir_is_told_from_who_pinned_itself() {
        let mut recent = Recent::new();
        recent.note(moving(10, 5 * CLOCK_TICK + 3, "4-5"));
        let owed = |child: &Child| recent.owed(child).is_some();
        assert!(owed(&child(5, "4-5")) && owed(&child(105, "4-5")));
        assert!(owed(&Child { process: Pid(10), parent: Pid(1), ..child(5, "4-5") }), "a thread of the same process");
        for (other, why) in [
            (child(4, "4-5"), "started before the move"),
            (child(106, "4-5"), "started long after it"),
            (child(5, "4"), "of another mask"),
            (Child { parent: Pid(9), ..child(5, "4-5") }, "made by nobody that was moved"),
            (Child { tid: Tid(10), process: Pid(10), ..child(5, "4-5") }, "who was moved itself"),
        ] {
            assert!(!owed(&other), "{why}");
        }
    }

    #[test]
    fn the_last_moves_are_known_and_the_program_names_heirs_however_slow() {
        let mut recent = Recent::new();
        recent.note(moving(1, 0, "0-1"));
        (0..KEPT - 1).for_each(|at| recent.note(moving(2, at as u64, "2-3")));
        let (first, part) = ("0-1".parse().unwrap(), "2".parse().unwrap());
        assert!(recent.owed_by(Tid(1), &first).is_some());
        assert!(recent.owed_by(Tid(2), &part).is_some(), "the part of it that a cpuset leaves");
        assert!(recent.owed_by(Tid(2), &first).is_none() && recent.owed_by(Tid(3), &part).is_none());
        assert!(recent.may_have_left(&first));
        recent.note(moving(2, 0, "2-3"));
        assert!(!recent.may_have_left(&first) && recent.owed_by(Tid(1), &first).is_none());
    }
}
