//! What a policy comes to on one machine, and need not have meant.

use std::collections::{HashMap, HashSet};

use cotenant_grammar::Span;
use cotenant_grammar::tree::ClassKind;

use super::mistake::Lint;
use super::no_smt::SmtClauses;
use crate::CpuSet;
use crate::plan::{Placement, Plan, PlannedClass};
use crate::policy::{Policy, PolicyClass};
use crate::topology::Topology;

/// What is asked of a machine once there is a plan for it, noted while the policy is still at hand.
#[derive(Debug, Clone)]
pub(crate) struct ForMachine {
    /// Headers of classes in which a clause could not be read: what they do not say may be what could not be read.
    damaged: HashSet<Span>,
    floors: HashMap<Span, (u32, Span)>,
    smt: Vec<SmtClauses>,
}

impl ForMachine {
    pub(super) fn new(policy: &Policy) -> ForMachine {
        let classes = || policy.classes.iter();
        let floor = |class: &PolicyClass| {
            let (number, span) = class.settings.at_least?;
            Some((class.header, (number.value, span)))
        };
        ForMachine {
            damaged: classes().filter(|class| class.damaged).map(|class| class.header).collect(),
            floors: classes().filter_map(floor).collect(),
            smt: classes().filter_map(SmtClauses::of).collect(),
        }
    }

    /// Every lint about a machine, in the order of its findings.
    pub(super) fn find(&self, plan: Option<&Plan>, topology: &Topology, report: &mut dyn FnMut(Lint)) {
        if !topology.has_smt() {
            self.smt.iter().for_each(|clauses| clauses.no_smt(report));
        }
        let Some(plan) = plan else { return };
        let whole = || plan.classes.iter().filter(|class| !self.damaged.contains(&class.header));
        whole().for_each(|class| rt_covers_all(class, topology, report));
        self.overlapping_floors(plan, topology, report);
    }

    /// Floors that cannot all be kept at the same time. Whatever zone one looks at: the floors of all classes that lie in it
    /// have no other cores to come from.
    fn overlapping_floors(&self, plan: &Plan, topology: &Topology, report: &mut dyn FnMut(Lint)) {
        let claim = |class: &PlannedClass| {
            let (cores, span) = *self.floors.get(&class.header)?;
            Some(Floor { zone: class.placement.as_ref()?.zone.clone(), name: class.name.clone(), cores, span })
        };
        let floors: Vec<Floor> = plan.classes.iter().filter_map(claim).collect();
        let mut zones: Vec<&CpuSet> = Vec::new();
        for floor in floors.iter().take(MOST_FLOORS) {
            if !zones.contains(&&floor.zone) {
                zones.push(&floor.zone);
            }
        }
        // The smallest zone first: what is too much for it is too much for those around it, and is reported once.
        zones.sort_by_key(|zone| zone.len());
        let mut told: Vec<&CpuSet> = Vec::new();
        for zone in zones {
            let within: Vec<&Floor> = floors.iter().filter(|floor| floor.zone.is_subset(zone)).collect();
            let wanted: u32 = within.iter().fold(0, |sum, floor| sum.saturating_add(floor.cores));
            let cores = topology.cores_in(zone).len();
            let reported = told.iter().any(|inner| inner.is_subset(zone));
            let (Some((last, others)), false) = (within.split_last(), reported) else { continue };
            if others.is_empty() || wanted as usize <= cores {
                continue;
            }
            told.push(zone);
            let others = others.iter().map(|floor| (floor.span, floor.name.clone())).collect();
            report(Lint::OverlappingFloors { wanted, cores, at: last.span, others });
        }
    }
}

/// Classes with a floor whose zones are looked at. More floors than this machine can have cores.
const MOST_FLOORS: usize = 256;

struct Floor {
    zone: CpuSet,
    name: String,
    cores: u32,
    span: Span,
}

/// A machine of one core has none to leave, and no help to offer.
fn rt_covers_all(class: &PlannedClass, topology: &Topology, report: &mut dyn FnMut(Lint)) {
    let reach = class.placement.as_ref().map(Placement::reach);
    let Some(reach) = reach.filter(|_| class.kind == ClassKind::Rt && topology.cores().len() > 1) else { return };
    if topology.online().is_subset(&reach) {
        report(Lint::RtCoversAll { class: class.name.clone(), at: class.header, cpus: reach.brief() });
    }
}
