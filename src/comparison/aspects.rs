//! What a class says, in words, each thing under a heading by which two classes are compared.

use cotenant_compiler::CpuSet;
use cotenant_compiler::plan::{KeptClause, Placement, PlannedClass};
use cotenant_grammar::tree::EqualPrio;

use crate::render::{gate, scheduling, tiers};

/// The heading under which a class's CPUs stand.
pub(super) const CPUS: &str = "CPUs";

/// One thing that a class says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Aspect {
    pub(super) what: String,
    pub(super) text: String,
}

fn aspect(what: impl Into<String>, text: impl Into<String>) -> Aspect {
    Aspect { what: what.into(), text: text.into() }
}

/// How a class is scheduled, in one word.
pub(super) fn kind(class: &PlannedClass) -> Aspect {
    aspect("kind", class.kind.word())
}

/// Everything a reader wants to know of a class but its kind and name.
pub(super) fn of(class: &PlannedClass) -> Vec<Aspect> {
    let descendants = if class.with_descendants { " with descendants" } else { "" };
    let mut said = vec![aspect("processes", format!("{}{descendants}", class.selector))];
    let Some(placement) = &class.placement else { return said };
    said.push(aspect(CPUS, tiers(placement).join(", ")));
    said.extend(placement.gate.map(|it| aspect("runs", gate(it))));
    if !placement.floor.is_empty() {
        said.push(aspect("floor", format!("CPUs {}", placement.floor.brief())));
    }
    said.push(aspect("scheduling", scheduling(placement)));
    said.extend(placement.equal_prio.map(|mode| {
        let words = match mode {
            EqualPrio::Push => "pushed",
            EqualPrio::Hold => "held",
        };
        aspect("threads of equal priority", words)
    }));
    said.extend(others(placement).map(|clause| aspect(topic(clause), clause.text.as_str())));
    said
}

/// How strongly each clause holds, and by what.
pub(super) fn promises(class: &PlannedClass) -> Vec<Aspect> {
    let promise = |clause: &KeptClause| {
        let kept = format!("{}, by {}", clause.strength.word(), clause.means.words());
        aspect(format!("`{}`", clause.text), kept)
    };
    class.placement.iter().flat_map(|placement| &placement.clauses).map(promise).collect()
}

/// Whether the heading is one of [`promises`].
pub(super) fn is_promise(what: &str) -> bool {
    what.starts_with('`')
}

/// Beginnings of clauses that the headings above speak of already.
const SPOKEN_OF: &[&str] = &[
    "on",
    "rt",
    "fair",
    "batch",
    "fifo",
    "round robin",
    "priority",
    "nice",
    "prefer",
    "spill",
    "never spill",
    "only when",
    "at least",
    "push equal",
    "hold equal",
    "with descendants",
];

/// Clauses that no heading speaks of.
fn others(placement: &Placement) -> impl Iterator<Item = &KeptClause> {
    let spoken_of = |clause: &&KeptClause| !SPOKEN_OF.iter().any(|start| clause.text.starts_with(start));
    placement.clauses.iter().filter(spoken_of)
}

/// The words of a clause up to its first number: by these it is told which clause of another class is its like.
fn topic(clause: &KeptClause) -> String {
    let words = clause.text.split_whitespace();
    words.take_while(|word| !word.contains(|c: char| c.is_ascii_digit())).collect::<Vec<_>>().join(" ")
}

/// CPUs that a class may use and could not before, and the other way round: `gains 4-7, loses 0-1`.
pub(super) fn shifted(old: &PlannedClass, new: &PlannedClass) -> Option<String> {
    let (before, after) = (old.placement.as_ref()?.reach(), new.placement.as_ref()?.reach());
    let said = |word: &str, set: CpuSet| (!set.is_empty()).then(|| format!("{word} {}", set.brief()));
    let parts = [said("gains", after.difference(&before)), said("loses", before.difference(&after))];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}
