//! From checked text to a plan for one machine.
//!
//! ```text
//! text ─parse▶ Parsed ─resolve▶ Resolved ─check▶ Policy ─topology▶ Plan
//! ```
//!
//! Each stage consumes the one before, and none stops at the first mistake. Nothing here looks at a clock, a file system
//! or the environment, [`topology`]'s loader aside.

mod checked;
mod cpuset;
pub mod lints;
mod mistake;
pub mod plan;
mod policy;
mod resolve;
pub mod selector;
pub mod topology;

pub use checked::{Checked, check};
pub use cpuset::{CpuId, CpuSet, ParseCpuSetError};
pub use plan::Plan;

use cotenant_grammar::{Diagnostics, SourceSet};
use plan::Facilities;
use topology::Topology;

/// Compiles a policy for a machine: a plan unless there is an error, and everything there is to say about the text,
/// ordered by place. For many machines, [`check`] once and [`Checked::plan`] for each.
#[must_use]
pub fn compile(sources: SourceSet, topology: &Topology) -> (Option<Plan>, Diagnostics) {
    compile_on(sources, topology, Facilities::default())
}

/// [`compile`] for a host of which more is known than its topology.
#[must_use]
pub fn compile_on(sources: SourceSet, topology: &Topology, facilities: Facilities) -> (Option<Plan>, Diagnostics) {
    check(sources).into_plan(topology, facilities)
}
