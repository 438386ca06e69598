//! Between two ticks: gated classes leave cores at once.

use cotenant_compiler::CpuSet;
use cotenant_compiler::plan::Gate;

use super::gate::Gates;
use super::rules::Rule;
use super::{Assignment, Rules, Share};

/// The sets without the cores that have a CPU in `invaded`, for classes that run on idle cores only; the others stay as they
/// are, and so does a class that has its turn. Rule 4 of [`decide`](super::decide()) opens them again, counting from now.
/// Floors stay open.
#[must_use]
pub fn close(rules: &Rules, previous: &Assignment, invaded: &CpuSet) -> Assignment {
    let mut quiet = previous.quiet.clone();
    let around = rules.whole_cores(invaded);
    around.iter().for_each(|cpu| quiet.get_mut(cpu.0 as usize).into_iter().for_each(|ticks| *ticks = 0));
    let gates = Gates::of(rules, &quiet);
    let classes = rules.classes.iter().zip(&previous.classes).map(|(rule, before)| {
        let (rule, before) = (rule.as_ref()?, before.as_ref()?);
        Some(match &gates {
            Some(gates) if rule.gate == Some(Gate::CoreIdle) && before.turn.is_none() => left(rule, gates, before),
            _ => before.clone(),
        })
    });
    Assignment { classes: classes.collect(), quiet }
}

/// What is left of what a class had, or else what is open elsewhere.
fn left(rule: &Rule, gates: &Gates, before: &Share) -> Share {
    let open = gates.open(rule);
    let left = before.cpus.intersection(&open);
    match (left.is_empty(), open.is_empty()) {
        (false, _) => Share { cpus: left, ..before.clone() },
        (true, false) => Share { cpus: open, ..before.clone() },
        (true, true) if rule.gives_way => Share { cpus: rule.reach.clone(), ..before.clone() },
        (true, true) => Share { frozen: true, ..before.clone() },
    }
}
