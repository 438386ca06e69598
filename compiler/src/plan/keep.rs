//! Says of each clause by what it is kept and how strongly. No clause is promised more than its means give.

mod cookie;
mod demands;

use cotenant_grammar::Span;
use cotenant_grammar::tree::{ClassKind, EqualPrio};

use super::{CoreScheduling, Facilities, KeptClause, Means, Placement, Scheduling, Strength};
use crate::policy::PolicyClass;
use crate::topology::Topology;

/// Every clause of the class that does something, in the order in which they stand; what follows from the kind first.
pub(super) fn clauses(
    class: &PolicyClass,
    placement: &Placement,
    topology: &Topology,
    facilities: Facilities,
) -> Vec<KeptClause> {
    let mut kept: Vec<KeptClause> = [
        scheduling(class, placement),
        nice(class),
        zone(class, placement),
        prefer_idle_core(class, placement),
        spill(class, placement),
        never_spill(class, placement),
        gate(class, placement, topology, facilities),
        cookie::share_core(class, placement, topology, facilities),
        floor(class, placement),
        equal_prio(class, placement),
    ]
    .into_iter()
    .flatten()
    .collect();
    kept.extend(demands::clauses(class, placement, topology));
    kept.sort_by_key(|clause| clause.span);
    kept
}

fn kept(text: impl Into<String>, span: Option<Span>, effect: String, means: Means, strength: Strength) -> KeptClause {
    KeptClause { text: text.into(), span, effect, means, strength }
}

fn scheduling(class: &PolicyClass, placement: &Placement) -> Option<KeptClause> {
    let settings = &class.settings;
    let (word, effect) = match placement.attributes.policy? {
        Scheduling::Fifo(priority) => ("fifo", format!("SCHED_FIFO, priority {priority}")),
        Scheduling::RoundRobin(priority) => ("round robin", format!("SCHED_RR, priority {priority}")),
        Scheduling::Idle => ("batch", "SCHED_IDLE".to_owned()),
    };
    let policy = settings.fifo.or(settings.round_robin);
    let (text, span) = match (class.kind.value, policy, settings.priority) {
        (ClassKind::Rt, Some(policy), Some((priority, span))) => {
            (format!("{word}, priority {priority}"), policy.to(span))
        }
        (ClassKind::Rt, Some(policy), None) => (word.to_owned(), policy),
        (ClassKind::Rt, None, Some((priority, span))) => (format!("priority {priority}"), span),
        (kind, ..) => (kind.word().to_owned(), class.kind.span),
    };
    Some(kept(text, Some(span), effect, Means::SchedAttr, Strength::Strict))
}

fn nice(class: &PolicyClass) -> Option<KeptClause> {
    let (nice, span) = class.settings.nice?;
    let text = format!("nice {nice}");
    Some(kept(text, Some(span), format!("nice value {nice}"), Means::SchedAttr, Strength::Strict))
}

fn zone(class: &PolicyClass, placement: &Placement) -> Option<KeptClause> {
    let (_, span) = class.settings.on.as_ref()?;
    let effect = format!("CPUs {}", placement.zone.brief());
    Some(kept("on", Some(*span), effect, Means::AllowedCpus, Strength::Strict))
}

fn prefer_idle_core(class: &PolicyClass, placement: &Placement) -> Option<KeptClause> {
    let span = Some(class.settings.prefer_idle_core?);
    let text = "prefer idle core";
    if let (true, [fronts, siblings]) = (placement.spread, &placement.tiers[..]) {
        let effect = format!("{}: moved off a shared core while another is idle", fronts.union(siblings).brief());
        return Some(kept(text, span, effect, Means::Sensor, Strength::Reactive));
    }
    Some(match (&placement.tiers[..], placement.spill_below) {
        ([fronts, siblings], Some(_)) => {
            let effect = format!("fronts {} first, siblings {} as overflow", fronts.brief(), siblings.brief());
            kept(text, span, effect, Means::TickLoop, Strength::Reactive)
        }
        _ if class.settings.never_spill.is_some() => {
            let effect = format!("fronts {} only", placement.reach().brief());
            kept(text, span, effect, Means::AllowedCpus, Strength::Strict)
        }
        _ => {
            let effect = format!("every core of {} has one CPU here", placement.reach().brief());
            kept(text, span, effect, Means::Nothing, Strength::Strict)
        }
    })
}

fn spill(class: &PolicyClass, placement: &Placement) -> Option<KeptClause> {
    let spill = class.settings.spill?;
    let text = match spill.value {
        Some(below) => format!("spill to siblings below {} idle cores", below.value),
        None => "spill to siblings".to_owned(),
    };
    Some(match placement.spill_below {
        Some(below) => {
            let effect = match below {
                1 => "a sibling for each thread that finds no core idle".to_owned(),
                _ => format!("a sibling for each thread that finds fewer than {below} cores idle"),
            };
            kept(text, Some(spill.span), effect, Means::TickLoop, Strength::Reactive)
        }
        None if placement.spread => {
            let effect = "siblings stay in use while no core is idle".to_owned();
            kept(text, Some(spill.span), effect, Means::Sensor, Strength::Reactive)
        }
        None => kept(text, Some(spill.span), "no siblings here".to_owned(), Means::Nothing, Strength::Strict),
    })
}

fn never_spill(class: &PolicyClass, placement: &Placement) -> Option<KeptClause> {
    let effect = format!("fronts {} only", placement.reach().brief());
    Some(kept("never spill", Some(class.settings.never_spill?), effect, Means::AllowedCpus, Strength::Strict))
}

fn gate(class: &PolicyClass, placement: &Placement, topology: &Topology, facilities: Facilities) -> Option<KeptClause> {
    // A core of one thread is never shared at one instant, so there is nothing for a sensor to see.
    let means = if facilities.sensor && topology.has_smt() { Means::Sensor } else { Means::TickLoop };
    let span = Some(class.settings.core_idle?);
    let text = "only when core idle";
    Some(match placement.gate {
        Some(_) if placement.gives_way() => cookie::gate(text, span),
        Some(_) if topology.has_smt() => {
            let mut effect = "off every core on which others run".to_owned();
            if facilities.core_scheduling == CoreScheduling::Overruled {
                effect.push_str("; no cookie while a sched_ext scheduler is loaded");
            }
            kept(text, span, effect, means, Strength::Reactive)
        }
        Some(_) => {
            let effect = "off every CPU on which others run".to_owned();
            kept(text, span, effect, means, Strength::Reactive)
        }
        None => {
            let effect = "no siblings here: SCHED_IDLE gives way on each CPU".to_owned();
            kept(text, span, effect, Means::SchedAttr, Strength::Strict)
        }
    })
}

fn floor(class: &PolicyClass, placement: &Placement) -> Option<KeptClause> {
    let (number, span) = class.settings.at_least?;
    let text = format!("at least {} core{}", number.value, if number.value == 1 { "" } else { "s" });
    let effect = match placement.gate {
        Some(_) => format!("CPUs {} stay open, and elastic classes are kept off them", placement.floor.brief()),
        None => format!("CPUs {}: elastic classes are kept off them", placement.floor.brief()),
    };
    Some(kept(text, Some(span), effect, Means::AllowedCpus, Strength::Strict))
}

fn equal_prio(class: &PolicyClass, placement: &Placement) -> Option<KeptClause> {
    let mode = class.settings.equal_prio?;
    let span = Some(mode.span);
    let cpus = placement.reach().brief();
    Some(match mode.value {
        EqualPrio::Push => {
            let effect = format!("every thread movable in all of {cpus}");
            kept("push equal prio", span, effect, Means::AllowedCpus, Strength::Strict)
        }
        EqualPrio::Hold => {
            let effect = format!("each thread on one CPU of {cpus}");
            kept("hold equal prio", span, effect, Means::Pinning, Strength::Strict)
        }
    })
}
