//! How much of what is open the load needs: tiers and overflow, with hysteresis.

use cotenant_compiler::CpuSet;

use super::occupancy::Busy;
use super::rules::Rule;
use super::{CALM, Share};

/// The share of a class of which `open` is open; that must not be empty.
pub(super) fn fill(rule: &Rule, open: &CpuSet, busy: &Busy, demand: usize, before: &Share) -> Share {
    let mut tiers = rule.tiers.iter().map(|tier| tier.intersection(open)).filter(|tier| !tier.is_empty());
    let Some(first) = tiers.next() else {
        // Only siblings are open: they are all there is.
        return Share { cpus: open.clone(), ..Share::default() };
    };
    // A floor is kept whatever is preferred.
    let first = match rule.floor.is_empty() {
        true => first,
        false => first.union(&rule.floor.difference(&rule.siblings).intersection(open)),
    };
    let mut free = free(rule, &first, busy);
    if before.cpus == first && demand <= free && overflow(demand, rule.below, free) == 0 {
        // As most ticks find most classes.
        return Share { cpus: first, ..Share::default() };
    }
    let mut fronts = first.clone();
    let mut parts = Vec::new();
    for tier in tiers.map(|tier| tier.difference(&first)).filter(|tier| !tier.is_empty()).collect::<Vec<_>>() {
        let wanted = demand.saturating_sub(free).min(tier.len());
        free += self::free(rule, &tier, busy);
        fronts = fronts.union(&tier);
        parts.push(Part { wanted, candidates: vec![tier] });
    }
    if rule.wants_cores() {
        let siblings = rule.siblings.intersection(open);
        // One on which others run helps nobody while there is a front, or a sibling, on which they do not.
        let unoccupied = siblings.difference(&busy.cpus).len();
        let no_other_way = demand.saturating_sub(fronts.difference(&busy.cpus).len());
        let wanted = overflow(demand, rule.below, free).min(unoccupied.max(no_other_way)).min(siblings.len());
        let candidates = rule.overflow.iter().map(|depth| depth.intersection(open)).collect();
        parts.push(Part { wanted, candidates });
    }
    settle(first, parts, busy, before)
}

/// The share of a class without work and without a gate, which needs no more than it has at rest: it is the same whoever
/// occupies what.
pub(super) fn rest(rule: &Rule, before: &Share) -> Share {
    let calm = if before.cpus == rule.at_rest { 0 } else { before.calm.saturating_add(1) };
    match calm > CALM {
        true => Share { cpus: rule.at_rest.clone(), ..Share::default() },
        false => Share { cpus: before.cpus.clone(), calm, ..Share::default() },
    }
}

/// CPUs of a tier that one more thread could have: on cores of their own, where the class wants those.
fn free(rule: &Rule, tier: &CpuSet, busy: &Busy) -> usize {
    tier.difference(if rule.wants_cores() { &busy.cores } else { &busy.cpus }).len()
}

/// How many threads need a sibling, of `demand` that come one after another and find `idle` cores.
fn overflow(demand: usize, below: usize, idle: usize) -> usize {
    match below {
        0 => 0,
        _ => demand.saturating_add(below - 1).saturating_sub(idle).min(demand),
    }
}

/// CPUs of which some are given.
struct Part {
    wanted: usize,
    /// The better ones first.
    candidates: Vec<CpuSet>,
}

impl Part {
    fn given(&self, cpus: &CpuSet) -> usize {
        self.candidates.iter().map(|set| set.intersection(cpus).len()).sum()
    }
}

fn settle(first: CpuSet, parts: Vec<Part>, busy: &Busy, before: &Share) -> Share {
    let given: Vec<usize> = parts.iter().map(|part| part.given(&before.cpus)).collect();
    let fewer = parts.iter().zip(&given).any(|(part, given)| part.wanted < *given);
    let mut calm = if fewer { before.calm.saturating_add(1) } else { 0 };
    let shrinks = calm > CALM;
    if shrinks {
        calm = 0;
    }
    let mut cpus = first;
    for (part, given) in parts.iter().zip(given) {
        let count = if shrinks { part.wanted } else { part.wanted.max(given) };
        choose(&part.candidates, busy, &before.cpus, count, &mut cpus);
    }
    Share { cpus, calm, ..Share::default() }
}

/// Adds `count` of the candidates. An open one stays while nobody else is on it: one that is better now is no better for
/// long, and a change moves threads. Then come those of idle cores, those that are free themselves, and the rest.
fn choose(candidates: &[CpuSet], busy: &Busy, open: &CpuSet, mut count: usize, cpus: &mut CpuSet) {
    let kinds: [&dyn Fn(&CpuSet) -> CpuSet; 5] = [
        &|set| set.intersection(open).difference(&busy.cpus),
        &|set| set.difference(open).difference(&busy.cores),
        &|set| set.difference(open).intersection(&busy.cores).difference(&busy.cpus),
        &|set| set.intersection(open).intersection(&busy.cpus),
        &|set| set.difference(open).intersection(&busy.cpus),
    ];
    for kind in kinds {
        for group in candidates.iter().map(kind) {
            if count == 0 {
                return;
            }
            match group.len() <= count {
                true => *cpus = cpus.union(&group),
                false => group.iter().take(count).for_each(|cpu| cpus.insert(cpu)),
            }
            count = count.saturating_sub(group.len());
        }
    }
}
