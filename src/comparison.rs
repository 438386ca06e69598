//! What one plan changes about another, in words: what a reviewer wants to know of a change to a policy.
//!
//! Both plans are for one machine. Where a class stands in its file, and how its clauses are laid out, does not count.
//! Nothing here asks where the plans come from, so that the one in force can take the place of the older.

mod aspects;
mod demands;
mod host;
mod order;

use cotenant_compiler::Plan;
use cotenant_compiler::plan::{PlannedClass, gone, predecessors};

use aspects::{Aspect, differences};

/// The differences between two plans.
#[derive(Debug, Default)]
pub(crate) struct Comparison {
    /// In the order of the new plan.
    pub(crate) added: Vec<Described>,
    /// In the order of the new plan.
    pub(crate) changed: Vec<Changed>,
    /// In the order of the old plan.
    pub(crate) removed: Vec<Described>,
    /// Classes that are matched earlier or later than before, among those that both plans have.
    pub(crate) moved: Vec<Moved>,
    /// What the host must be.
    pub(crate) requirements: Vec<Change>,
    /// Settings of the kernel, for all that runs on the host.
    pub(crate) kernel: Vec<Change>,
}

/// A class that only one plan has.
#[derive(Debug)]
pub(crate) struct Described {
    pub(crate) kind: &'static str,
    pub(crate) name: String,
    /// What is known of it: a heading and what stands under it.
    pub(crate) says: Vec<(String, String)>,
}

/// A class that says something else.
#[derive(Debug)]
pub(crate) struct Changed {
    pub(crate) kind: &'static str,
    pub(crate) name: String,
    pub(crate) changes: Vec<Change>,
}

/// One thing that is said differently; absent is what is not said.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) what: String,
    pub(crate) before: Option<String>,
    pub(crate) after: Option<String>,
    /// CPUs that are new and CPUs that are gone, in words.
    pub(crate) note: Option<String>,
}

/// A class that is tried at another place.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Moved {
    pub(crate) name: String,
    /// The class that is now tried right before it, if any.
    pub(crate) behind: Option<String>,
}

impl Comparison {
    /// Compares an older plan with a newer one.
    pub(crate) fn of(old: &Plan, new: &Plan) -> Comparison {
        let predecessors = predecessors(old, new);
        let mut comparison = Comparison {
            removed: gone(old, &predecessors).map(described).collect(),
            requirements: host::requirements(old, new),
            kernel: host::kernel(old, new),
            ..Comparison::default()
        };
        let mut pairs = Vec::new();
        for (at, (class, before)) in new.classes.iter().zip(predecessors).enumerate() {
            match before.and_then(|before| Some((before, old.classes.get(before)?))) {
                None => comparison.added.push(described(class)),
                Some((before, was)) => {
                    pairs.push((before, at));
                    let changes = changes(was, class);
                    if !changes.is_empty() {
                        let (kind, name) = (class.kind.word(), class.name.clone());
                        comparison.changed.push(Changed { kind, name, changes });
                    }
                }
            }
        }
        let names: Vec<&str> = new.classes.iter().map(|class| class.name.as_str()).collect();
        comparison.moved = order::moved(&pairs, &names);
        comparison
    }

    /// Whether the plans do the same.
    pub(crate) fn is_empty(&self) -> bool {
        let classes_stay = self.added.is_empty() && self.changed.is_empty() && self.removed.is_empty();
        classes_stay && self.moved.is_empty() && self.requirements.is_empty() && self.kernel.is_empty()
    }
}

fn described(class: &PlannedClass) -> Described {
    let says = aspects::of(class).into_iter().map(|Aspect { what, text }| (what, text)).collect();
    Described { kind: class.kind.word(), name: class.name.clone(), says }
}

fn changes(old: &PlannedClass, new: &PlannedClass) -> Vec<Change> {
    let all = |class: &PlannedClass| -> Vec<Aspect> {
        std::iter::once(aspects::kind(class)).chain(aspects::of(class)).chain(aspects::promises(class)).collect()
    };
    let mut changes = differences(&all(old), &all(new));
    // That a clause which is new or gone is kept by some means is no news.
    changes.retain(|it| !aspects::is_promise(&it.what) || it.before.is_some() && it.after.is_some());
    for change in changes.iter_mut().filter(|change| change.what == aspects::CPUS) {
        change.note = aspects::shifted(old, new);
    }
    changes
}

#[cfg(test)]
mod tests;
