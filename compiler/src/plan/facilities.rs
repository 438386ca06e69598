//! What a host offers for keeping a clause, beyond what every Linux does.

use cotenant_grammar::tree::{At, Condition};

/// The better means that a host has. The default is a host of which nothing is known: clauses are then promised what sets
/// of CPUs and a look at the load once a tick give, which is to be had everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Facilities {
    /// Whether the kernel itself keeps threads of different cookies off one core.
    pub core_scheduling: CoreScheduling,
    /// A program on `sched_switch` can be loaded that rings the moment a clause is broken.
    pub sensor: bool,
}

/// `PR_SCHED_CORE` on a host (Documentation/admin-guide/hw-vuln/core-scheduling.rst).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CoreScheduling {
    /// Nothing is known: the machine is only described.
    #[default]
    Unknown,
    /// The kernel is built without it, or sees no core with two threads.
    Missing,
    /// It is built in, and a sched_ext scheduler is loaded: that one picks what runs, and no promise rests on it.
    Overruled,
    /// Cookies can be given.
    Present,
}

impl Facilities {
    /// Classes with `prefer idle core` that a sensor can tell apart. Those beyond are kept by the tick loop.
    pub const SENSED_CLASSES: usize = 250;

    /// A machine that is only described has what the policy requires of it: where it has not, the policy is refused.
    pub(super) fn assuming(self, conditions: &[At<Condition>]) -> Facilities {
        let required = conditions.iter().any(|condition| condition.value == Condition::CoreScheduling);
        let core_scheduling = match self.core_scheduling {
            CoreScheduling::Unknown if required => CoreScheduling::Present,
            known => known,
        };
        Facilities { core_scheduling, ..self }
    }
}

impl CoreScheduling {
    /// Whether clauses may rest on it.
    #[must_use]
    pub fn is_present(self) -> bool {
        self == CoreScheduling::Present
    }
}
