//! Who shares a core with whom: a question between two classes.

use std::collections::BTreeMap;

use cotenant_grammar::nearest;
use cotenant_grammar::tree::{ClassKind, Name, Sharer};

use super::PolicyClass;
use super::checks::Report;
use crate::mistake::ClauseMistake;

/// Every class that is let onto a core exists, can be kept off others', and does not refuse.
pub(super) fn check(classes: &[PolicyClass], tell: Report<'_>) {
    let sharing = || classes.iter().filter(|class| class.settings.share_core.is_some());
    if sharing().next().is_none() {
        return;
    }
    let mut by_name: BTreeMap<&str, &PolicyClass> = BTreeMap::new();
    for class in classes {
        by_name.entry(&class.name.value).or_insert(class);
    }
    let mut agreed = true;
    let mut report = |mistake| {
        agreed = false;
        tell(ClauseMistake::into(mistake));
    };
    for class in sharing() {
        for name in listed(class) {
            match by_name.get(name.value.as_str()) {
                None => {
                    let meant = nearest(&name.value, by_name.keys().copied());
                    let nearest = meant.and_then(|meant| by_name.get(meant)).map(|class| class.name.clone());
                    report(ClauseMistake::UndefinedClass { name: name.clone(), nearest });
                }
                Some(other) if other.kind.value == ClassKind::Unmanaged => {
                    report(ClauseMistake::ShareWithUnmanaged { name: name.clone(), class: other.header });
                }
                Some(other) => {
                    agrees(class, other, name, &mut report);
                    same_gate(class, other, name, &mut report);
                }
            }
        }
    }
    // What is wrong comes first.
    if agreed {
        makes_groups(&sharing().collect::<Vec<_>>(), &mut |mistake| tell(mistake.into()));
    }
}

/// A class that does not say with whom it shares does not refuse.
fn agrees(class: &PolicyClass, other: &PolicyClass, name: &Name, report: Tell<'_>) {
    let Some((_, clause)) = &other.settings.share_core else { return };
    let is_same = std::ptr::eq(class, other);
    if !is_same && !listed(other).any(|listed| listed.value == class.name.value) {
        let (name, other) = (name.clone(), class.name.value.clone());
        report(ClauseMistake::OneSidedSharing { name, clause: *clause, other });
    }
}

/// A gated class stays off cores on which others run, which is more than not sharing with them.
fn same_gate(class: &PolicyClass, other: &PolicyClass, name: &Name, report: Tell<'_>) {
    let (gated, gate) = match (class.settings.core_idle, other.settings.core_idle) {
        (Some(gate), None) => (class, gate),
        (None, Some(gate)) => (other, gate),
        _ => return,
    };
    report(ClauseMistake::ShareAcrossGate { name: name.clone(), gated: gated.name.value.clone(), gate });
}

/// Sharing is carried out as groups, within which everybody shares with everybody. A policy that says something else is
/// told what that comes to, once a group: at the first class that gets more company than it lists.
fn makes_groups(sharing: &[&PolicyClass], report: Tell<'_>) {
    let mut seen: Vec<&str> = Vec::new();
    for class in sharing.iter().filter(|class| listed(class).next().is_some()) {
        if seen.contains(&class.name.value.as_str()) {
            continue;
        }
        let group = group_of(class, sharing);
        seen.extend(&group);
        let members = sharing.iter().filter(|other| group.contains(&other.name.value.as_str()));
        if let Some(uneven) = members.filter_map(|member| uneven(member, &group, sharing)).next() {
            report(uneven);
        }
    }
}

/// The names that listing leads to from this class, in either direction, its own among them.
fn group_of<'a>(class: &'a PolicyClass, sharing: &[&'a PolicyClass]) -> Vec<&'a str> {
    let mut group = vec![class.name.value.as_str()];
    loop {
        let before = group.len();
        for other in sharing {
            let own = other.name.value.as_str();
            let names = || std::iter::once(own).chain(listed(other).map(|name| name.value.as_str()));
            if listed(other).next().is_some() && names().any(|name| group.contains(&name)) {
                let new: Vec<&str> = names().filter(|name| !group.contains(name)).collect();
                new.into_iter().for_each(|name| {
                    if !group.contains(&name) {
                        group.push(name)
                    }
                });
            }
        }
        if group.len() == before {
            return group;
        }
    }
}

/// What a class of a group does not list of it.
fn uneven(class: &PolicyClass, group: &[&str], sharing: &[&PolicyClass]) -> Option<ClauseMistake> {
    let own = class.name.value.as_str();
    let lists = |class: &PolicyClass, wanted: &str| listed(class).any(|name| name.value == wanted);
    let itself = |class: &PolicyClass| {
        class.settings.share_core.iter().any(|(all, _)| all.iter().any(|it| it.value == Sharer::Itself))
    };
    let (_, clause) = class.settings.share_core.as_ref()?;
    let with: Vec<String> =
        group.iter().filter(|name| **name != own && !lists(class, name)).map(|name| (*name).to_owned()).collect();
    if let Some(first) = with.first() {
        // A class that both name, or that names both, where one such is between them; else any that is listed here.
        let between = |by: &&&PolicyClass| {
            let name = by.name.value.as_str();
            name != own && lists(class, name)
        };
        let by = sharing.iter().find(|by| between(by) && lists(by, first)).or_else(|| sharing.iter().find(between));
        let through = by.and_then(|by| Some((by.name.value.clone(), by.settings.share_core.as_ref()?.1)));
        let through = through.or_else(|| Some((listed(class).next()?.value.clone(), listed(class).next()?.span)));
        return Some(ClauseMistake::UnevenSharing { class: own.to_owned(), clause: *clause, with, through });
    }
    let alone = !itself(class) && !lists(class, own);
    alone.then(|| ClauseMistake::UnevenSharing { class: own.to_owned(), clause: *clause, with, through: None })
}

/// What these checks report.
type Tell<'a> = &'a mut dyn FnMut(ClauseMistake);

fn listed(class: &PolicyClass) -> impl Iterator<Item = &Name> {
    let sharers = class.settings.share_core.iter().flat_map(|(sharers, _)| sharers);
    sharers.filter_map(|sharer| match &sharer.value {
        Sharer::Class(name) => Some(name),
        Sharer::Nobody | Sharer::Itself => None,
    })
}
