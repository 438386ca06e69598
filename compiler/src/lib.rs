//! From checked text to a plan for one machine.
//!
//! ```text
//! text ─parse▶ Parsed ─resolve▶ Resolved ─check▶ Policy ─topology▶ Plan
//! ```
//!
//! Each stage consumes the one before, and none stops at the first mistake. Nothing here looks at a clock, a file system
//! or the environment, [`topology`]'s loader aside.

mod cpuset;
pub mod lints;
mod mistake;
pub mod plan;
mod policy;
mod resolve;
pub mod selector;
pub mod topology;

pub use cpuset::{CpuId, CpuSet, ParseCpuSetError};
pub use plan::Plan;

use cotenant_grammar::{Diagnostics, SourceSet};
use topology::Topology;

/// Compiles a policy for a machine: a plan unless there is an error, and everything there is to say about the text,
/// ordered by place.
#[must_use]
pub fn compile(sources: SourceSet, topology: &Topology) -> (Option<Plan>, Diagnostics) {
    let (parsed, mut diagnostics) = cotenant_grammar::parse(sources);
    lints::on_text(&parsed, &mut diagnostics);
    let resolved = resolve::resolve(parsed, &mut diagnostics);
    let policy = policy::check(resolved, &mut diagnostics);
    let asked = lints::on_policy(&policy, &mut diagnostics);
    let plan = plan::plan(policy, topology, &mut diagnostics);
    lints::on_machine(&asked, plan.as_ref(), topology, &mut diagnostics);
    diagnostics.sort();
    (plan.filter(|_| !diagnostics.has_errors()), diagnostics)
}
