//! What the figures mean for a policy.

use super::{Cost, Distance, Work};

/// A cost that a policy should do something about.
const MATTERS: f64 = 1.10;

/// What to write into a policy, one sentence for each place that was measured.
pub(crate) fn verdicts(costs: &[Cost]) -> Vec<String> {
    Distance::ALL.into_iter().filter_map(|distance| verdict(costs, distance)).collect()
}

fn verdict(costs: &[Cost], distance: Distance) -> Option<String> {
    let there = costs.iter().filter(|cost| cost.distance == distance);
    let worst = there.max_by(|a, b| a.slowdown.total_cmp(&b.slowdown))?;
    let (victim, neighbour, times) = (worst.victim.word(), worst.neighbour.word(), worst.slowdown);
    let is_bad = times >= MATTERS;
    let costs = match is_bad {
        true => format!("a neighbour {} costs {victim} up to {times:.2}× ({neighbour})", distance.words()),
        false => format!("a neighbour {} costs at most {times:.2}×", distance.words()),
    };
    let advice = match (distance, is_bad) {
        (Distance::Sibling, true) => {
            "keep `prefer idle core` for what is waited for, and `only when core idle` for batch"
        }
        (Distance::Sibling, false) => "`prefer idle cpu` loses little here",
        (Distance::Cache, true) => "`only when llc idle` keeps batch off the cache of what is waited for",
        (Distance::Cache, false) => "sharing a cache is fine",
        (Distance::Node, true) => "`only when node idle` keeps batch off the memory of what is waited for",
        (Distance::Node, false) => "sharing a memory node is fine",
        (Distance::Elsewhere, true) => {
            "even another node is felt: keep memory-hungry batch off this machine, or few of it"
        }
        (Distance::Elsewhere, false) => "`on node N` for each side keeps them apart for good",
    };
    Some(format!("{costs}: {advice}"))
}

/// The mark above which a figure is shown as one that matters.
pub(crate) fn matters(cost: &Cost) -> bool {
    cost.slowdown >= MATTERS
}

/// The cost of one pair in one place.
pub(crate) fn cost_of(costs: &[Cost], distance: Distance, victim: Work, neighbour: Work) -> Option<&Cost> {
    costs.iter().find(|cost| (cost.distance, cost.victim, cost.neighbour) == (distance, victim, neighbour))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_neighbour_decides_and_what_was_not_measured_is_not_judged() {
        let cost = |distance, victim, neighbour, slowdown| Cost {
            distance,
            victim,
            neighbour,
            slowdown,
            spread: 0.0,
            turns: 5,
            stolen: 0,
        };
        let costs = [
            cost(Distance::Sibling, Work::Compute, Work::Float, 1.2),
            cost(Distance::Sibling, Work::Compute, Work::Compute, 1.63),
            cost(Distance::Cache, Work::Chase, Work::Walk, 1.04),
        ];
        assert_eq!(
            verdicts(&costs),
            [
                "a neighbour on its sibling costs compute up to 1.63× (compute): keep `prefer idle core` for what is waited for, \
                 and `only when core idle` for batch",
                "a neighbour behind the same cache costs at most 1.04×: sharing a cache is fine"
            ]
        );
    }
}
