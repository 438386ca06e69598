//! Who shares a core with whom: a question between two classes.

use std::collections::BTreeMap;

use cotenant_grammar::nearest;
use cotenant_grammar::tree::{ClassKind, Name, Sharer};

use super::PolicyClass;
use super::checks::Report;
use crate::mistake::ClauseMistake;

/// Every class that is let onto a core exists, can be kept off others', and does not refuse.
pub(super) fn check(classes: &[PolicyClass], report: Report<'_>) {
    let sharing = || classes.iter().filter(|class| class.settings.share_core.is_some());
    if sharing().next().is_none() {
        return;
    }
    let mut by_name: BTreeMap<&str, &PolicyClass> = BTreeMap::new();
    for class in classes {
        by_name.entry(&class.name.value).or_insert(class);
    }
    for class in sharing() {
        for name in listed(class) {
            match by_name.get(name.value.as_str()) {
                None => {
                    let meant = nearest(&name.value, by_name.keys().copied());
                    let nearest = meant.and_then(|meant| by_name.get(meant)).map(|class| class.name.clone());
                    report(ClauseMistake::UndefinedClass { name: name.clone(), nearest }.into());
                }
                Some(other) if other.kind.value == ClassKind::Unmanaged => {
                    report(ClauseMistake::ShareWithUnmanaged { name: name.clone(), class: other.header }.into());
                }
                Some(other) => agrees(class, other, name, report),
            }
        }
    }
}

/// A class that does not say with whom it shares does not refuse.
fn agrees(class: &PolicyClass, other: &PolicyClass, name: &Name, report: Report<'_>) {
    let Some((_, clause)) = &other.settings.share_core else { return };
    let is_same = std::ptr::eq(class, other);
    if !is_same && !listed(other).any(|listed| listed.value == class.name.value) {
        let (name, other) = (name.clone(), class.name.value.clone());
        report(ClauseMistake::OneSidedSharing { name, clause: *clause, other }.into());
    }
}

fn listed(class: &PolicyClass) -> impl Iterator<Item = &Name> {
    let sharers = class.settings.share_core.iter().flat_map(|(sharers, _)| sharers);
    sharers.filter_map(|sharer| match &sharer.value {
        Sharer::Class(name) => Some(name),
        Sharer::Nobody | Sharer::Itself => None,
    })
}
