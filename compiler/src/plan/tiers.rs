//! In which order a class fills its CPUs.
//!
//! Whether a core has a front of its own comes before which part is preferred: siblings of the preferred part are overflow
//! like any others.

use cotenant_grammar::tree::At;

use super::{cpus, leaders};
use crate::CpuSet;
use crate::policy::{PolicyClass, Prefer};
use crate::topology::Topology;

/// The CPUs of `prefer CPUS`, inside the zone or not; empty without that clause.
pub(super) fn preferred(class: &PolicyClass, topology: &Topology) -> CpuSet {
    match &class.settings.prefer {
        Some(At { value: Prefer::Cpus(Some(expr)), .. }) => cpus::evaluate(expr, topology),
        _ => CpuSet::new(),
    }
}

/// The tiers of `open`, and below how many idle cores the last of them is opened, where it is one of siblings.
pub(super) fn tiers(class: &PolicyClass, open: &CpuSet, topology: &Topology) -> (Vec<CpuSet>, Option<u32>) {
    let settings = &class.settings;
    let fronts: CpuSet = leaders(open, topology).into_iter().collect();
    let siblings = open.difference(&fronts);
    let never = settings.never_spill.is_some();
    let overflows = !never && (settings.prefer_idle_core.is_some() || settings.spill.is_some()) && !siblings.is_empty();
    let first = if never || overflows { fronts } else { open.clone() };
    let preferred = first.intersection(&preferred(class, topology));
    let rest = first.difference(&preferred);
    let mut tiers: Vec<CpuSet> = [preferred, rest].into_iter().filter(|tier| !tier.is_empty()).collect();
    if !overflows {
        return (tiers, None);
    }
    tiers.push(siblings);
    (tiers, Some(settings.spill.and_then(|spill| spill.value).map_or(1, |below| below.value)))
}
