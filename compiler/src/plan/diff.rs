//! What one plan changes about another, in words.

use std::collections::{HashMap, HashSet};

use super::{Demands, Plan, PlannedClass};

/// One difference between two plans.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// A class that was not there before.
    Added(String),
    /// A class that is gone.
    Removed(String),
    /// A class of the same name that says something else; what it says differently, in words.
    Changed(String, Vec<&'static str>),
    /// The same classes in another matching order.
    Reordered,
    /// Other conditions on the host.
    Requirements,
    /// Other settings of the kernel.
    Kernel,
    /// The machine is another.
    Machine,
}

impl std::fmt::Display for Change {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Change::Added(name) => write!(f, "class `{name}` added"),
            Change::Removed(name) => write!(f, "class `{name}` removed"),
            Change::Changed(name, what) => write!(f, "class `{name}`: other {}", what.join(", ")),
            Change::Reordered => f.write_str("classes match in another order"),
            Change::Requirements => f.write_str("the host must meet other requirements"),
            Change::Kernel => f.write_str("other settings of the kernel"),
            Change::Machine => f.write_str("the machine changed"),
        }
    }
}

/// For each class of the new plan, the position of the class of the old plan that it [succeeds](PlannedClass::succeeds).
/// No class has two successors.
#[must_use]
pub fn predecessors(old: &Plan, new: &Plan) -> Vec<Option<usize>> {
    let mut by_name: HashMap<&str, Vec<(usize, &PlannedClass)>> = HashMap::new();
    for (at, class) in old.classes.iter().enumerate() {
        by_name.entry(&class.name).or_default().push((at, class));
    }
    let mut find = |class: &PlannedClass| {
        let left = by_name.get_mut(class.name.as_str())?;
        let which = left.iter().position(|(_, before)| class.succeeds(before))?;
        Some(left.remove(which).0)
    };
    new.classes.iter().map(&mut find).collect()
}

/// The classes of the old plan that none of the new one succeeds.
pub fn gone<'a>(old: &'a Plan, predecessors: &[Option<usize>]) -> impl Iterator<Item = &'a PlannedClass> {
    let succeeded: HashSet<usize> = predecessors.iter().flatten().copied().collect();
    old.classes.iter().enumerate().filter(move |(at, _)| !succeeded.contains(at)).map(|(_, class)| class)
}

/// The differences, in the order of the new plan; removed classes last. Where a class stands in its file does not count.
#[must_use]
pub fn diff(old: &Plan, new: &Plan) -> Vec<Change> {
    let predecessors = predecessors(old, new);
    let mut changes = Vec::new();
    for (class, before) in new.classes.iter().zip(&predecessors) {
        match before.and_then(|at| old.classes.get(at)) {
            None => changes.push(Change::Added(class.name.clone())),
            Some(before) => {
                let what = changed(before, class);
                if !what.is_empty() {
                    changes.push(Change::Changed(class.name.clone(), what));
                }
            }
        }
    }
    changes.extend(gone(old, &predecessors).map(|class| Change::Removed(class.name.clone())));
    if !predecessors.iter().flatten().is_sorted() {
        changes.push(Change::Reordered);
    }
    if old.requirements != new.requirements {
        changes.push(Change::Requirements);
    }
    if !old.kernel.iter().map(|setting| &setting.knob).eq(new.kernel.iter().map(|setting| &setting.knob)) {
        changes.push(Change::Kernel);
    }
    if old.topology != new.topology {
        changes.push(Change::Machine);
    }
    changes
}

fn changed(old: &PlannedClass, new: &PlannedClass) -> Vec<&'static str> {
    let mut what = Vec::new();
    let mut note = |differs: bool, word| what.extend(differs.then_some(word));
    note(old.kind != new.kind, "kind");
    note(old.selector != new.selector || old.with_descendants != new.with_descendants, "processes");
    if let (Some(old), Some(new)) = (&old.placement, &new.placement) {
        note(old.tiers != new.tiers, "CPUs");
        note((old.spill_below, old.spread) != (new.spill_below, new.spread), "spill");
        note(old.most_cores != new.most_cores, "ceiling");
        note(old.gate != new.gate, "gate");
        note(old.cookie != new.cookie, "cookie");
        note(old.floor != new.floor, "floor");
        note(old.equal_prio != new.equal_prio, "equal-priority rule");
        note(old.attributes != new.attributes || old.demands.deadline != new.demands.deadline, "scheduling");
        let rest = |demands: &Demands| Demands { deadline: None, ..demands.clone() };
        note(rest(&old.demands) != rest(&new.demands), "clauses");
    }
    what
}
