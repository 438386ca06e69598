//! What a policy asks of a host, and what it sets there for all.

use super::{At, LinuxVersion, Name, Percent};

/// One condition of a `require` statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// `linux N.N`
    Linux(At<LinuxVersion>),
    /// `smt`
    Smt,
    /// `core scheduling`
    CoreScheduling,
    /// `cgroup v2`
    CgroupV2,
    /// `at least N cores`
    AtLeastCores(At<u32>),
    /// `host GLOB`
    Host(At<String>),
}

/// One setting of a `kernel` statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Knob {
    /// `feature NAME on|off`
    Feature {
        /// The scheduler's name for it.
        name: Name,
        /// What it is set to.
        on: bool,
    },
    /// `rt runtime N%`
    RtRuntime(At<Percent>),
    /// `autogroup on|off`
    Autogroup(bool),
}
