//! From a checked policy and a machine to a plan.
//!
//! In order: what each class's zone is here; which cores floors keep, and for whom; which CPUs that leaves each class, in
//! tiers; then the questions that take two classes at once.
//!
//! A floor is a promise of whole cores. Classes whose share moves with the load (`prefer idle core`, `spill`, a gate) are
//! kept off cores that another class's floor claims; a class with a plain zone said outright where it runs and keeps it.

use std::collections::HashMap;

use cotenant_grammar::tree::{ClassKind, EqualPrio};
use cotenant_grammar::{Diagnostics, Span};

use super::{
    Attributes, Facilities, Gate, Placement, Plan, PlannedClass, Scheduling, Strength, admission, ceiling, cpus,
    demands, host, keep, leaders,
};
use crate::CpuSet;
use crate::mistake::{ClauseMistake, Mistake};
use crate::policy::{Policy, PolicyClass};
use crate::topology::Topology;

/// A class and what was found out about it so far.
struct Draft {
    class: PolicyClass,
    zone: Option<CpuSet>,
    /// Whole cores of the zone that its floor claims.
    floor: CpuSet,
}

/// Plans every class that can be planned; none where one cannot, which is then reported. `sound` says that nothing was
/// wrong so far.
pub(crate) fn plan(
    policy: Policy,
    topology: &Topology,
    facilities: Facilities,
    sound: bool,
    diagnostics: &mut Diagnostics,
) -> Option<Plan> {
    let mut report = |mistake: Mistake| diagnostics.push(mistake.into());
    let mut drafts: Vec<Draft> = Vec::new();
    let mut claimed = CpuSet::new();
    for class in policy.classes {
        let zone = zone(&class, topology, &mut report);
        let floor = zone.as_ref().map_or_else(CpuSet::new, |zone| floor(&class, zone, &claimed, topology, &mut report));
        claimed = claimed.union(&floor);
        drafts.push(Draft { class, zone, floor });
    }
    equals_agree(&drafts, &mut report);
    let zones = drafts.iter().map(|draft| (&draft.class, draft.zone.as_ref()));
    admission::check(zones, &policy.knobs, topology, &mut report);
    let requirements = host::requirements(policy.conditions, topology, &mut report);
    let kernel = host::kernel(policy.knobs);
    let floors = floors(&drafts);
    let mut classes = Vec::new();
    let mut complete = true;
    let mut sensed = 0;
    for (position, draft) in drafts.into_iter().enumerate() {
        let facilities = Facilities { sensor: facilities.sensor && sensed < Facilities::SENSED_CLASSES, ..facilities };
        let placement = match draft.class.kind.value {
            ClassKind::Unmanaged => Some(None),
            _ => placement(position, &draft, &floors, topology, facilities, &mut report).map(Some),
        };
        let (Some(placement), Some(selector)) = (placement, draft.class.selector) else {
            complete = false;
            continue;
        };
        sensed += usize::from(placement.as_ref().is_some_and(|placement| placement.spread));
        classes.push(PlannedClass {
            name: draft.class.name.value,
            kind: draft.class.kind.value,
            header: draft.class.header,
            selector,
            matched: draft.class.matched,
            with_descendants: draft.class.settings.descendants.is_some(),
            placement,
        });
    }
    let plan = Plan { sources: policy.sources, topology: topology.clone(), facilities, requirements, kernel, classes };
    // What nobody carries out is said of a policy that could be put in force; of another, what is wrong comes first.
    if sound && complete && !diagnostics.has_errors() {
        refusals(&plan).for_each(|mistake| diagnostics.push(Mistake::from(mistake).into()));
    }
    complete.then_some(plan)
}

/// Every clause and setting that the plan lists as refused.
fn refusals(plan: &Plan) -> impl Iterator<Item = ClauseMistake> {
    let placed = plan.classes.iter().filter_map(|class| Some((class.header, class.placement.as_ref()?)));
    let clauses = placed.flat_map(|(header, placement)| placement.clauses.iter().map(move |clause| (header, clause)));
    let settings = plan.kernel.iter().map(|setting| (Span::default(), &setting.kept));
    let refused = clauses.chain(settings).filter(|(_, clause)| clause.strength == Strength::Refused);
    refused.map(|(header, clause)| ClauseMistake::NotCarriedOut {
        clause: clause.span.unwrap_or(header),
        text: clause.text.clone(),
    })
}

fn zone(class: &PolicyClass, topology: &Topology, report: &mut impl FnMut(Mistake)) -> Option<CpuSet> {
    let Some((expr, span)) = &class.settings.on else { return Some(topology.online().clone()) };
    let expr = expr.as_ref()?;
    let zone = cpus::evaluate(expr, topology);
    if !cpus::missing(expr, topology, report) {
        return None;
    }
    if zone.is_empty() {
        report(Mistake::EmptyCpuSet { at: *span });
        return None;
    }
    Some(zone)
}

/// The cores a floor claims: the first of the zone that no earlier floor claims, and claimed ones only where it must.
fn floor(
    class: &PolicyClass,
    zone: &CpuSet,
    claimed: &CpuSet,
    topology: &Topology,
    report: &mut impl FnMut(Mistake),
) -> CpuSet {
    let Some((number, clause)) = class.settings.at_least else { return CpuSet::new() };
    let mut cores = topology.cores_in(zone);
    if number.value as usize > cores.len() {
        let zone = class.settings.on.as_ref().map_or(clause, |on| on.1);
        report(Mistake::FloorTooHigh { at: number, cores: cores.len(), zone });
    }
    let of = |core: usize| topology.cores().get(core).map_or_else(CpuSet::new, |core| core.cpus.intersection(zone));
    cores.sort_by_key(|core| of(*core).intersects(claimed));
    let chosen = cores.into_iter().take(number.value as usize);
    chosen.fold(CpuSet::new(), |all, core| all.union(&of(core)))
}

/// Whether the class's share moves with the load.
fn is_elastic(class: &PolicyClass) -> bool {
    let it = &class.settings;
    it.prefer_idle_core.is_some() || it.spill.is_some() || it.core_idle.is_some()
}

/// A floor, and whose it is.
struct Floor {
    /// The class's position.
    of: usize,
    name: String,
    clause: Span,
    cores: CpuSet,
}

/// Few classes have a floor, and every class asks about all that do.
fn floors(drafts: &[Draft]) -> Vec<Floor> {
    let kept = drafts.iter().enumerate().filter(|(_, draft)| !draft.floor.is_empty());
    kept.map(|(of, draft)| Floor {
        of,
        name: draft.class.name.value.clone(),
        clause: draft.class.settings.at_least.map_or(draft.class.header, |it| it.1),
        cores: draft.floor.clone(),
    })
    .collect()
}

fn placement(
    position: usize,
    draft: &Draft,
    floors: &[Floor],
    topology: &Topology,
    facilities: Facilities,
    report: &mut impl FnMut(Mistake),
) -> Option<Placement> {
    let (class, settings) = (&draft.class, &draft.class.settings);
    let zone = draft.zone.clone()?;
    let others = || floors.iter().filter(|other| other.of != position && other.cores.intersects(&zone));
    let claimed = others().fold(CpuSet::new(), |all, other| all.union(&other.cores));
    let kept_for_others =
        if is_elastic(class) { zone.intersection(&claimed).difference(&draft.floor) } else { CpuSet::new() };
    let open = zone.difference(&kept_for_others);
    if open.is_empty() {
        let floors = others().map(|other| (other.name.clone(), other.clause)).collect();
        report(Mistake::FloorsLeaveNothing { class: class.name.clone(), floors });
        return None;
    }
    let open = ceiling::within(class, &zone, open, &draft.floor, topology, report);
    let fronts: CpuSet = leaders(&open, topology).into_iter().collect();
    let siblings = open.difference(&fronts);
    // Pinned threads cannot be moved, and gated ones have what their gate leaves them.
    let movable = settings.core_idle.is_none() && settings.equal_prio.is_none_or(|mode| mode.value != EqualPrio::Hold);
    let overflows = (settings.prefer_idle_core.is_some() || settings.spill.is_some()) && settings.never_spill.is_none();
    let (tiers, spill_below) = match settings.never_spill {
        Some(_) => (vec![fronts], None),
        None if overflows && !siblings.is_empty() => {
            let below = settings.spill.and_then(|spill| spill.value).map_or(1, |below| below.value);
            (vec![fronts, siblings], Some(below))
        }
        None => (vec![open], None),
    };
    let spread = facilities.sensor && spill_below.is_some() && movable;
    // One core to spare is what the sensor sees to by itself; for more, the load says how many siblings are open.
    let spill_below = spill_below.filter(|below| !spread || *below != 1);
    // Where no core has siblings a CPU is a core, and SCHED_IDLE already gives way on it.
    let kernel_gives_way = !topology.has_smt() && class.kind.value == ClassKind::Batch;
    let mut placement = Placement {
        zone,
        kept_for_others,
        tiers,
        spill_below,
        spread,
        gate: settings.core_idle.filter(|_| !kernel_gives_way).map(|_| Gate::CoreIdle),
        equal_prio: settings.equal_prio.map(|mode| mode.value),
        floor: draft.floor.clone(),
        attributes: attributes(class),
        demands: demands::demands(class, topology),
        clauses: Vec::new(),
    };
    ceiling::limits_limit(class, &placement, report);
    cpus::preference(class, &placement, topology, report);
    placement.clauses = keep::clauses(class, &placement, topology, facilities);
    Some(placement)
}

fn attributes(class: &PolicyClass) -> Attributes {
    let settings = &class.settings;
    let priority = settings.priority.map_or(1, |it| it.0);
    let policy = match class.kind.value {
        ClassKind::Rt if settings.fifo.is_some() => Some(Scheduling::Fifo(priority)),
        ClassKind::Rt => Some(Scheduling::RoundRobin(priority)),
        ClassKind::Batch => Some(Scheduling::Idle),
        ClassKind::Deadline | ClassKind::Fair | ClassKind::Unmanaged => None,
    };
    Attributes { policy, nice: settings.nice.map(|it| it.0) }
}

/// Where pinned and movable threads of one priority meet on a CPU, the kernel pushes: so `hold` would not hold.
fn equals_agree(drafts: &[Draft], report: &mut impl FnMut(Mistake)) {
    let with = |mode: EqualPrio| {
        drafts.iter().filter_map(move |draft| {
            let clause = draft.class.settings.equal_prio.filter(|it| it.value == mode)?;
            let rt = draft.class.kind.value == ClassKind::Rt;
            Some((draft, clause.span, draft.zone.as_ref().filter(|_| rt)?))
        })
    };
    let priority = |draft: &Draft| draft.class.settings.priority.map_or(1, |it| it.0);
    // Of those who push at one priority in one zone, one stands for all: there may be thousands, and they say the same.
    let mut pushers: HashMap<(u8, &CpuSet), (&Draft, Span)> = HashMap::new();
    for (pusher, pushes, zone) in with(EqualPrio::Push) {
        pushers.entry((priority(pusher), zone)).or_insert((pusher, pushes));
    }
    let mut pushers: Vec<_> = pushers.into_iter().collect();
    pushers.sort_by_key(|(_, (_, pushes))| *pushes);
    for (holder, holds, here) in with(EqualPrio::Hold) {
        for ((level, there), (pusher, pushes)) in &pushers {
            let shared = here.intersection(there);
            if priority(holder) == *level && !shared.is_empty() {
                report(Mistake::EqualPrioConflict {
                    holds,
                    pushes: *pushes,
                    holder: holder.class.name.value.clone(),
                    pusher: pusher.class.name.value.clone(),
                    priority: *level,
                    shared: shared.brief(),
                });
                break;
            }
        }
    }
}
