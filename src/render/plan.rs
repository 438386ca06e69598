//! A plan as a reviewer reads it: the machine, the classes in matching order, then each class's clauses with the promise
//! made for each.

mod clauses;

use cotenant_compiler::plan::{Gate, Placement, PlannedClass, Scheduling};
use cotenant_compiler::{CpuSet, Plan, topology};

use super::counted::counted;
use super::table::{Fit, fit, lines, row, table};
use crate::terminal::Look;

/// The whole plan.
pub(crate) fn plan(plan: &Plan, look: Look) -> String {
    let mut text = format!("machine: {}\npolicy:  {}\n", topology::summary(&plan.topology), policy(plan));
    if !plan.requirements.is_empty() {
        let required: Vec<String> = plan.requirements.iter().map(|required| required.value.to_string()).collect();
        text.push_str(&format!("host:    must have {}\n", required.join(", ")));
    }
    if !plan.classes.is_empty() {
        text.push('\n');
        text.push_str(&overview(plan, look));
    }
    for class in &plan.classes {
        if let Some(placement) = class.placement.as_ref().filter(|placement| !placement.clauses.is_empty()) {
            let place = plan.sources.place(class.header);
            text.push_str(&format!("\n{} class {} ({place})\n\n", class.kind.word(), class.name));
            text.push_str(&clauses::clauses(&placement.clauses, plan, look));
        }
    }
    if !plan.kernel.is_empty() {
        text.push_str("\nkernel, for the whole host\n\n");
        text.push_str(&clauses::clauses(plan.kernel.iter().map(|setting| &setting.kept), plan, look));
    }
    text.push_str(&clauses::legend(plan));
    text
}

fn policy(plan: &Plan) -> String {
    let files = counted(plan.sources.iter().count(), "file");
    match plan.classes.len() {
        0 => format!("{files}, no classes: nothing would be done"),
        1 => format!("{files}, 1 class"),
        many => format!("{files}, {many} classes; a process belongs to the first that matches it"),
    }
}

fn overview(plan: &Plan, look: Look) -> String {
    let mut overview = table(&["class", "kind", "matches", "CPUs, in filling order", "scheduling"], look);
    let mut longest = 0;
    for class in &plan.classes {
        let placement = class.placement.as_ref();
        let matches = matches(class);
        longest = matches.split_whitespace().map(|word| word.chars().count()).fold(longest, usize::max);
        row(
            &mut overview,
            [
                class.name.clone(),
                class.kind.word().to_owned(),
                matches,
                placement.map_or("never touched".to_owned(), cpus),
                placement.map_or(String::new(), scheduling),
            ],
        );
    }
    // A unit's name is easier to read in one piece, but for a few that would leave no room for anything else.
    let word = u16::try_from(longest.min(28)).unwrap_or(28);
    fit(&mut overview, &[Fit::Whole, Fit::Whole, Fit::AtLeast(word), Fit::AtLeast(24), Fit::Whole]);
    lines(&mut overview)
}

fn matches(class: &PlannedClass) -> String {
    let descendants = if class.with_descendants { "\nwith descendants" } else { "" };
    format!("{}{descendants}", class.selector)
}

/// The tiers, one a line, when they are open, and what is kept for whom.
fn cpus(placement: &Placement) -> String {
    let mut said = tiers(placement);
    said.extend(placement.gate.map(|it| gate(it).to_owned()));
    if !placement.floor.is_empty() {
        said.push(format!("floor {}", placement.floor.brief()));
    }
    if !placement.kept_for_others.is_empty() {
        said.push(format!("not {}: floors of others", placement.kept_for_others.brief()));
    }
    said.join("\n")
}

/// The tiers, in filling order, each with when it is open.
pub(crate) fn tiers(placement: &Placement) -> Vec<String> {
    let last = placement.tiers.len().saturating_sub(1);
    let said = |(at, tier): (usize, &CpuSet)| match placement.spill_below {
        _ if at == 0 => tier.brief(),
        Some(1) if at == last => format!("then {} when no core is idle", tier.brief()),
        None if placement.spread => format!("then {} when no core is idle", tier.brief()),
        Some(below) if at == last => format!("then {} below {below} idle cores", tier.brief()),
        _ => format!("then {} when those are full", tier.brief()),
    };
    let mut said: Vec<String> = placement.tiers.iter().enumerate().map(said).collect();
    said.extend(placement.most_cores.map(|most| format!("at most {} at a time", counted(most, "core"))));
    said
}

/// When a gated class runs.
pub(crate) fn gate(gate: Gate) -> &'static str {
    match gate {
        Gate::CpuIdle => "only when cpu idle",
        Gate::CoreIdle => "only when core idle",
        Gate::LlcIdle => "only when llc idle",
        Gate::NodeIdle => "only when node idle",
    }
}

/// Policy and nice value, or that neither is touched.
pub(crate) fn scheduling(placement: &Placement) -> String {
    let policy = placement.attributes.policy.map(|policy| match policy {
        Scheduling::Fifo(priority) => format!("SCHED_FIFO {priority}"),
        Scheduling::RoundRobin(priority) => format!("SCHED_RR {priority}"),
        Scheduling::Idle => "SCHED_IDLE".to_owned(),
    });
    let nice = placement.attributes.nice.map(|nice| format!("nice {nice}"));
    let said: Vec<String> = policy.into_iter().chain(nice).collect();
    if said.is_empty() { "unchanged".to_owned() } else { said.join(", ") }
}
