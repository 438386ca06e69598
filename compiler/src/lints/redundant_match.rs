//! Parts of one selector that another part makes idle.

use super::cover::covered_by_earlier;
use super::logic::{Case, Logic, Part, cases};
use super::mistake::{Joint, Lint};
use crate::selector::Selector;

/// Conditions of one `and` that are held against each other. Nobody writes as many.
const MOST_CONDITIONS: usize = 16;

/// The part is one that can match; what contradicts itself implies everything and is reported as that.
pub(super) fn redundant_match(part: Part<'_>, logic: &Logic, report: &mut dyn FnMut(Lint)) {
    let parts = match part.selector {
        Selector::All(_) | Selector::Any(_) => part.parts(),
        _ => return,
    };
    let said: Option<Vec<Vec<Case<'_>>>> = parts.iter().map(|part| cases(*part)).collect();
    let said = said.unwrap_or_default();
    let idle = match part.selector {
        Selector::Any(_) => alternatives(&said, logic),
        _ => conditions(&said, logic),
    };
    let of = if matches!(part.selector, Selector::Any(_)) { Joint::Or } else { Joint::And };
    let place = |at: usize| parts.get(at).map(|part| part.at);
    for (at, by) in &idle {
        let Some(at) = place(*at) else { continue };
        report(Lint::RedundantMatch { at, by: by.iter().filter_map(|by| place(*by)).collect(), of });
    }
    let busy = parts.iter().enumerate().filter(|(at, _)| idle.iter().all(|(idle, _)| idle != at));
    busy.for_each(|(_, part)| redundant_match(*part, logic, report));
}

/// Alternatives that others cover: those before them, or else those behind them.
fn alternatives(said: &[Vec<Case<'_>>], logic: &Logic) -> Vec<(usize, Vec<usize>)> {
    let forward: Vec<&[Case<'_>]> = said.iter().map(Vec::as_slice).collect();
    let mut idle: Vec<(usize, Vec<usize>)> = Vec::new();
    let earlier = covered_by_earlier(logic, &forward);
    idle.extend(earlier.into_iter().enumerate().filter_map(|(at, by)| Some((at, by?))));
    // A second pass from the end, without what the first one found: of two that say the same, one has to stay.
    let gone = |at: usize| idle.iter().any(|(idle, _)| *idle == at);
    let backward: Vec<usize> = (0..said.len()).rev().filter(|at| !gone(*at)).collect();
    let cases: Vec<&[Case<'_>]> = backward.iter().filter_map(|at| forward.get(*at).copied()).collect();
    let back = |at: usize| backward.get(at).copied();
    for (at, by) in covered_by_earlier(logic, &cases).into_iter().enumerate() {
        let by = by.map(|by| by.into_iter().filter_map(back).collect());
        idle.extend(back(at).zip(by));
    }
    idle
}

/// Conditions that follow from one other.
fn conditions(said: &[Vec<Case<'_>>], logic: &Logic) -> Vec<(usize, Vec<usize>)> {
    if said.len() > MOST_CONDITIONS {
        return Vec::new();
    }
    let mut idle: Vec<(usize, Vec<usize>)> = Vec::new();
    for (at, cases) in said.iter().enumerate().rev() {
        let others = said.iter().enumerate().filter(|(other, _)| *other != at);
        let implies = |(other, other_cases): &(usize, &Vec<Case<'_>>)| {
            idle.iter().all(|(idle, _)| idle != other) && logic.all_covered(other_cases, cases)
        };
        if let Some((by, _)) = others.into_iter().find(implies) {
            idle.push((at, vec![by]));
        }
    }
    idle
}
