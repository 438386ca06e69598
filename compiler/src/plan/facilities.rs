//! What a host offers for keeping a clause, beyond what every Linux does.

/// The better means that a host has. The default is a host of which nothing is known: clauses are then promised what sets
/// of CPUs and a look at the load once a tick give, which is to be had everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Facilities {
    /// `PR_SCHED_CORE` is built in, so that the kernel itself keeps threads of different cookies off one core
    /// (Documentation/admin-guide/hw-vuln/core-scheduling.rst).
    pub core_scheduling: bool,
    /// A program on `sched_switch` can be loaded that rings the moment a clause is broken.
    pub sensor: bool,
}

impl Facilities {
    /// Classes with `prefer idle core` that a sensor can tell apart. Those beyond are kept by the tick loop.
    pub const SENSED_CLASSES: usize = 250;
}
