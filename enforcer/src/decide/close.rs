//! Between two ticks: gated classes leave cores at once.

use cotenant_compiler::{CpuSet, Plan};

use super::{Assignment, Share, gate};

/// The sets without cores that have a CPU in `invaded`, for gated classes; the others stay as they are. Rule 3 of
/// [`decide`](super::decide) opens them again, counting from now. Floors stay open.
#[must_use]
pub fn close(plan: &Plan, previous: &Assignment, invaded: &CpuSet) -> Assignment {
    let classes = plan.classes.iter().zip(&previous.classes).map(|(class, before)| {
        let (placement, before) = (class.placement.as_ref()?, before.as_ref()?);
        if placement.gate.is_none() {
            return Some(before.clone());
        }
        let cores = plan.topology.cores().iter().zip(&before.quiet);
        let quiet: Vec<u32> =
            cores.map(|(core, quiet)| if core.cpus.intersects(invaded) { 0 } else { *quiet }).collect();
        let open = gate(placement, &plan.topology, &placement.reach(), &quiet);
        let left = before.cpus.intersection(&open);
        let cpus = match (left.is_empty(), open.is_empty()) {
            (false, _) => left,
            (true, false) => open.clone(),
            (true, true) => before.cpus.clone(),
        };
        Some(Share { cpus, frozen: before.frozen || open.is_empty(), quiet, ..before.clone() })
    });
    Assignment { classes: classes.collect() }
}
