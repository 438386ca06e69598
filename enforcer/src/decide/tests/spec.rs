//! What the language promises of every share, said without regard to how it is worked out.
//!
//! Each promise is a function named as one. It sees a plan, a load, and the shares decided on that load. [`ALWAYS`] holds
//! after every tick, whatever was before; [`IN_THE_END`] when the load has stayed the same for as long as anything waits.

use cotenant_compiler::plan::Preference;

use super::scene::{Scene, is_gated};
use super::*;

type Promise = (&'static str, fn(&Scene<'_>) -> bool);

/// What holds after every tick.
pub(super) const ALWAYS: &[Promise] = &[
    ("a set is never empty", |it| !it.cpus().is_empty()),
    ("no CPU is outside what is online", |it| it.cpus().is_subset(it.plan.topology.online())),
    ("on CPUS: the class's zone is kept", |it| it.cpus().is_subset(&it.says.zone)),
    ("at least N cores: others keep off them", |it| !it.cpus().intersects(&it.says.kept_for_others)),
    ("at least N cores: the class has as many", keeps_its_floor),
    ("at most N cores: the class has no more", keeps_its_ceiling),
    ("never spill: siblings are never used", |it| !it.has("never spill") || it.most_on_one_core() <= 1),
    ("only when … idle: it runs only where nothing else in that unit runs", keeps_off_others),
    ("a class is frozen only for its gate, and never with a floor", frozen_for_a_reason),
    ("spill to siblings: as far as the load needs it", has_the_siblings_it_needs),
    ("who is not gated has as many free CPUs as it has work for", is_given_what_is_free),
];

/// What holds once nothing changes.
pub(super) const IN_THE_END: &[Promise] = &[
    ("prefer idle core: no sibling more than the load needs", |it| {
        it.share().frozen || it.overflow() <= it.needed_overflow()
    }),
    ("prefer CPUS: nothing else before they are full", prefers_its_part),
    ("only when … idle: what is idle and lacked by nobody is open", uses_what_is_idle),
    ("who is not gated finds room where it lacks it", leaves_room),
];

/// Fails with the first broken promise of some, and what there is to see.
pub(super) fn check(it: &Scene<'_>, promises: &[Promise]) {
    for (promise, holds) in promises {
        assert!(holds(it), "broken: {promise}\n{it}");
    }
}

fn keeps_its_floor(it: &Scene<'_>) -> bool {
    let promised = it.cores_of(&it.says.floor);
    // A plain class has all of its zone; only a share that moves can fall short.
    promised == 0 || it.cores_of(it.cpus()) >= promised
}

fn keeps_its_ceiling(it: &Scene<'_>) -> bool {
    let clauses = it.says.clauses.iter().filter_map(|kept| kept.text.strip_prefix("at most "));
    let most = clauses.filter_map(|text| text.strip_suffix(" cores").or(text.strip_suffix(" core"))?.parse().ok());
    most.into_iter().all(|most: usize| it.cores_of(it.cpus()) <= most)
}

fn keeps_off_others(it: &Scene<'_>) -> bool {
    let share = it.share();
    if it.says.gate.is_none() || share.frozen || share.turn.is_some() {
        return true;
    }
    let gated = share.cpus.difference(&it.says.floor);
    it.units.iter().all(|unit| !(unit.intersects(&gated) && unit.intersects(&it.others)))
}

fn frozen_for_a_reason(it: &Scene<'_>) -> bool {
    !it.share().frozen || it.says.gate.is_some() && it.says.floor.is_empty()
}

fn has_the_siblings_it_needs(it: &Scene<'_>) -> bool {
    // Which units are open besides those that it uses cannot be seen of a class that leaves some for later.
    let leaves_some = it.says.gate.is_some() && matches!(it.says.demands.preference, Some(Preference::Cpus(_)));
    it.share().frozen || leaves_some || it.overflow() >= it.needed_overflow()
}

fn is_given_what_is_free(it: &Scene<'_>) -> bool {
    if it.says.gate.is_some() {
        return true;
    }
    let free = |cpus: &CpuSet| cpus.difference(&it.others).len();
    free(it.cpus()) >= it.demand().min(free(&it.reach))
}

fn prefers_its_part(it: &Scene<'_>) -> bool {
    let Some(Preference::Cpus(preferred)) = &it.says.demands.preference else { return true };
    let part = preferred.intersection(&it.open).intersection(&it.says.tiers[0]);
    if part.is_empty() || it.share().frozen {
        return true;
    }
    // With siblings as overflow, a core with others on it is no place of its own.
    let taken = match it.says.spill_below {
        None => it.others.clone(),
        Some(_) => it.plan.topology.whole_cores(&it.others),
    };
    let more = it.demand().saturating_sub(part.difference(&taken).len());
    let kept_anyway = part.union(&it.says.floor);
    it.cpus().difference(&kept_anyway).len() <= more.saturating_add(it.needed_overflow())
}

/// Units that stand empty, beyond those that ungated classes lack: a class that waits for one must not wait for more.
fn uses_what_is_idle(it: &Scene<'_>) -> bool {
    let says = it.says;
    if says.gate.is_none() || it.share().turn.is_some() {
        return true;
    }
    let used = if it.share().frozen { CpuSet::new() } else { it.cpus().clone() };
    if says.most_cores.is_some_and(|most| it.cores_of(&used) == most) {
        return true;
    }
    // Whether a later tier is open cannot be seen while the first is not full.
    let mine = if used.intersects(&says.tiers[0]) { says.tiers[0].clone() } else { it.reach.clone() };
    let idle = it.units.iter().filter(|unit| unit.intersects(&mine) && !unit.intersects(&it.others));
    let unused = idle.filter(|unit| !unit.intersects(&used)).count();
    let ungated = (0..it.plan.classes.len()).filter(|class| !is_gated(it.plan, *class));
    unused <= ungated.map(|class| it.lack(class)).sum()
}

/// Whoever is not gated finds as many cores as it has work for, or CPUs if it does not ask for cores, that gated classes
/// keep off, as far as there are any.
fn leaves_room(it: &Scene<'_>) -> bool {
    let classes =
        || it.now.classes.iter().zip(&it.plan.classes).filter_map(|(share, class)| Some((share.as_ref()?, class)));
    let is_held = it.has("hold equal prio");
    let has_a_turn = classes().any(|(share, _)| share.turn.is_some());
    if it.says.gate.is_some() || is_held || has_a_turn {
        return true;
    }
    let gated = || {
        classes().filter_map(|(share, class)| Some((share, class.placement.as_ref()?))).filter(|it| it.1.gate.is_some())
    };
    let running =
        gated().filter(|(share, _)| !share.frozen).fold(CpuSet::new(), |all, (share, _)| all.union(&share.cpus));
    let floors = gated().fold(CpuSet::new(), |all, (_, placement)| all.union(&placement.floor));
    let (reach, own, others) = (&it.reach, &it.load.classes[it.class].ran_on, &it.others);
    let (mut found, mut possible) = (0, 0);
    if it.says.spill_below.is_some() {
        for core in it.cores().filter(|core| core.cpus.intersects(reach)) {
            let here = |set: &CpuSet| core.cpus.intersects(set);
            found += usize::from(here(own) || !here(others) && !here(&running));
            possible += usize::from(here(own) || !here(others) && !here(&floors));
        }
    } else {
        let beside_floors = it.plan.topology.whole_cores(&floors);
        for cpu in reach.iter() {
            let here = |set: &CpuSet| set.contains(cpu);
            found += usize::from(here(own) || !here(others) && !here(&running));
            possible += usize::from(here(own) || !here(others) && !here(&beside_floors));
        }
    }
    found >= possible.min(it.demand())
}
