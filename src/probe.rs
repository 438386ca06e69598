//! What a busy neighbour costs a thread on this machine: on its sibling, behind the same cache, in the same memory node, in
//! another.
//!
//! A victim does work of one kind on one CPU, alone and beside a neighbour, in turns, so that what changes meanwhile changes
//! both. What counts is work per second of its own CPU time: time that others took from it, this program's threads apart, is
//! not in there. A turn in which a hypervisor took the CPU away counts for nothing.

mod measure;
mod places;
mod verdict;
mod work;

use cotenant_compiler::CpuId;

pub(crate) use measure::{Effort, measure};
pub(crate) use places::{Spot, spots};
pub(crate) use verdict::{cost_of, matters, verdicts};
pub(crate) use work::Work;

/// Where a neighbour is, from the nearest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Distance {
    /// On the victim's core.
    Sibling,
    /// On another core behind the same last-level cache.
    Cache,
    /// Behind another cache of the same memory node.
    Node,
    /// In another node.
    Elsewhere,
}

impl Distance {
    pub(crate) const ALL: [Distance; 4] = [Distance::Sibling, Distance::Cache, Distance::Node, Distance::Elsewhere];

    /// As tables say it.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Distance::Sibling => "on its sibling",
            Distance::Cache => "behind the same cache",
            Distance::Node => "in the same node",
            Distance::Elsewhere => "in another node",
        }
    }

    /// Why there is nothing to measure, where this machine has no such place.
    pub(crate) fn lacking(self) -> &'static str {
        match self {
            Distance::Sibling => "no core here has a second thread online that this program may use",
            Distance::Cache => "no cache here has a second core that this program may use",
            Distance::Node => "each memory node here has one last-level cache, as far as this program may go",
            Distance::Elsewhere => "there is one memory node here, as far as this program may go",
        }
    }
}

/// What one kind of neighbour in one place cost one kind of victim.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Cost {
    pub(crate) distance: Distance,
    pub(crate) victim: Work,
    pub(crate) neighbour: Work,
    /// How many times as much CPU time the same work took: the median of all turns. 1 is no cost.
    pub(crate) slowdown: f64,
    /// Half of the range that the middle half of the turns lies in.
    pub(crate) spread: f64,
    /// Turns that count.
    pub(crate) turns: usize,
    /// Turns that did not, because the hypervisor took a CPU away.
    pub(crate) stolen: usize,
}

/// All that there is to say.
pub(crate) struct Findings {
    pub(crate) victim: CpuId,
    pub(crate) spots: Vec<Spot>,
    pub(crate) costs: Vec<Cost>,
}

impl Findings {
    /// Places that this machine does not have.
    pub(crate) fn lacking(&self) -> impl Iterator<Item = Distance> + '_ {
        Distance::ALL.into_iter().filter(|distance| self.spots.iter().all(|spot| spot.distance != *distance))
    }
}
