//! What a class says, in words, each thing under a heading by which two classes are compared.

use cotenant_compiler::CpuSet;
use cotenant_compiler::plan::{KeptClause, PlannedClass};
use cotenant_grammar::tree::EqualPrio;

use super::{Change, demands};
use crate::render::{gate, scheduling, tiers};

/// The heading under which a class's CPUs stand.
pub(super) const CPUS: &str = "CPUs";

/// One thing that a class says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Aspect {
    pub(super) what: String,
    pub(super) text: String,
}

pub(super) fn aspect(what: impl Into<String>, text: impl Into<String>) -> Aspect {
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
    said.extend(demands::of(placement));
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

/// What is said otherwise, in the order of what is said now; what is no longer said comes last.
pub(super) fn differences(before: &[Aspect], after: &[Aspect]) -> Vec<Change> {
    let find = |aspects: &[Aspect], what: &str| aspects.iter().find(|it| it.what == what).map(|it| it.text.clone());
    let gone = before.iter().filter(|was| !after.iter().any(|it| it.what == was.what));
    let change = |Aspect { what, .. }: &Aspect| {
        let (before, after) = (find(before, what), find(after, what));
        (before != after).then(|| Change { what: what.clone(), before, after, note: None })
    };
    after.iter().chain(gone).filter_map(change).collect()
}

/// CPUs that a class may use and could not before, and the other way round: `gains 4-7, loses 0-1`.
pub(super) fn shifted(old: &PlannedClass, new: &PlannedClass) -> Option<String> {
    let (before, after) = (old.placement.as_ref()?.reach(), new.placement.as_ref()?.reach());
    let said = |word: &str, set: CpuSet| (!set.is_empty()).then(|| format!("{word} {}", set.brief()));
    let parts = [said("gains", after.difference(&before)), said("loses", before.difference(&after))];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}
