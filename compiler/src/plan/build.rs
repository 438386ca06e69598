//! From a checked policy and a machine to a plan.
//!
//! In order: what each class's zone is here; which cores floors keep, and for whom; which CPUs that leaves each class, in
//! tiers; then the questions that take two classes at once.
//!
//! A floor is a promise of whole cores. Classes whose share moves with the load (`prefer idle core`, `spill`, a gate) are
//! kept off cores that another class's floor claims; a class with a plain zone said outright where it runs and keeps it.

use std::collections::HashMap;

use cotenant_grammar::tree::{At, ClassKind, EqualPrio, IdleUnit};
use cotenant_grammar::{Diagnostics, Span};

use super::cookies::{Sharing, cookies};
use super::{
    Attributes, Cookie, Facilities, Gate, Means, Placement, Plan, PlannedClass, Scheduling, Strength, admission,
    ceiling, cpus, demands, host, keep, tiers,
};
use crate::CpuSet;
use crate::mistake::{ClauseMistake, Mistake};
use crate::policy::{Policy, PolicyClass, Prefer};
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
    let facilities = facilities.assuming(&policy.conditions);
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
    let cookies = cookies_of(&drafts, topology, facilities);
    let mut classes = Vec::new();
    let mut complete = true;
    let mut sensed = 0;
    for ((position, draft), cookie) in drafts.into_iter().enumerate().zip(cookies) {
        let facilities = Facilities { sensor: facilities.sensor && sensed < Facilities::SENSED_CLASSES, ..facilities };
        let placement = match draft.class.kind.value {
            ClassKind::Unmanaged => Some(None),
            _ => placement(position, &draft, &floors, cookie, topology, facilities, &mut report).map(Some),
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
    refused.map(|(header, kept)| {
        let (clause, text) = (kept.span.unwrap_or(header), kept.text.clone());
        match kept.means {
            Means::NoCookies => ClauseMistake::NoCoreScheduling { clause, text, has: plan.facilities.core_scheduling },
            _ => ClauseMistake::NotCarriedOut { clause, text },
        }
    })
}

/// The cookie of each class, in order; none where no two threads share a core or the kernel has none to give.
fn cookies_of(drafts: &[Draft], topology: &Topology, facilities: Facilities) -> Vec<Option<Cookie>> {
    if !topology.has_smt() || !facilities.core_scheduling.is_present() {
        return vec![None; drafts.len()];
    }
    let shares: Vec<_> = drafts.iter().map(|draft| demands::core_sharing(&draft.class)).collect();
    let sharing = drafts.iter().zip(&shares).map(|(draft, share)| Sharing {
        name: &draft.class.name.value,
        share: share.as_ref(),
        // Without SCHED_IDLE a cookie does not give way: it takes turns. And it gives way for ever, which a class that may
        // wait for so long only cannot have.
        gives_way: draft.class.settings.core_idle.is_some()
            && draft.class.settings.wait_at_most.is_none()
            && draft.class.kind.value == ClassKind::Batch,
    });
    cookies(&sharing.collect::<Vec<_>>())
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

/// The cores a floor claims: the first of the zone that no earlier floor claims, preferred ones before others, and claimed
/// ones only where it must.
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
    let preferred = tiers::preferred(class, topology);
    cores.sort_by_key(|core| (of(*core).intersects(claimed), !of(*core).intersects(&preferred)));
    let chosen = cores.into_iter().take(number.value as usize);
    chosen.fold(CpuSet::new(), |all, core| all.union(&of(core)))
}

/// Whether the class's share moves with the load.
fn is_elastic(class: &PolicyClass) -> bool {
    let it = &class.settings;
    let prefers = matches!(&it.prefer, Some(At { value: Prefer::Cpus(_), .. }));
    it.prefer_idle_core.is_some() || it.spill.is_some() || it.core_idle.is_some() || it.unit_idle.is_some() || prefers
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
    cookie: Option<Cookie>,
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
    let gate = gate(class, topology);
    let most = ceiling::most_cores(class, &zone, topology, report);
    let most = most.filter(|most| *most < topology.cores_in(&open).len());
    // Which cores are idle changes; where nothing waits for that, a fixed choice is as good and moves nobody.
    let open = match (most, gate) {
        (Some(most), None) => {
            ceiling::within(most, &open, &[&draft.floor, &tiers::preferred(class, topology)], topology)
        }
        _ => open,
    };
    let (tiers, spill_below) = tiers::tiers(class, &open, topology);
    // Pinned threads cannot be moved, gated ones have what their gate leaves them, and a preference is for the tick loop.
    let movable = gate.is_none()
        && settings.prefer.is_none()
        && settings.equal_prio.is_none_or(|mode| mode.value != EqualPrio::Hold);
    let spread = facilities.sensor && spill_below.is_some() && movable;
    // One core to spare is what the sensor sees to by itself; for more, the load says how many siblings are open.
    let spill_below = spill_below.filter(|below| !spread || *below != 1);
    let mut placement = Placement {
        zone,
        kept_for_others,
        tiers,
        spill_below,
        spread,
        most_cores: most.filter(|_| gate.is_some()),
        gate,
        cookie,
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

/// What must be watched so that the class runs only where it may.
fn gate(class: &PolicyClass, topology: &Topology) -> Option<Gate> {
    let settings = &class.settings;
    let unit = settings.core_idle.map(|_| IdleUnit::Core).or(settings.unit_idle.map(|unit| unit.value))?;
    let is_one_cpu = unit == IdleUnit::Cpu || unit == IdleUnit::Core && !topology.has_smt();
    if is_one_cpu && class.kind.value == ClassKind::Batch {
        // SCHED_IDLE already gives way on each CPU.
        return None;
    }
    Some(match unit {
        IdleUnit::Cpu => Gate::CpuIdle,
        IdleUnit::Core => Gate::CoreIdle,
        // A machine that reports no caches has none that two nodes share.
        IdleUnit::Llc if topology.llcs().is_empty() => Gate::NodeIdle,
        IdleUnit::Llc => Gate::LlcIdle,
        IdleUnit::Node => Gate::NodeIdle,
    })
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
