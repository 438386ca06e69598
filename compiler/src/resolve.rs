//! Names: every zone and process set is found, or reported with its nearest spelling.
//!
//! Definitions may stand in any order. What is named twice, refers to itself or is never used is reported here. The result
//! holds no names of zones or sets that could be missing: expressions with an unreadable or unknown part become `None`,
//! and what follows from that is not reported again.

mod cpus;
mod names;
mod processes;

pub(crate) use cpus::Cpus;

use std::collections::HashMap;

use cotenant_grammar::tree::{
    At, Class, Clause, Condition, CpuExpr, Definition, Knob, Name, Parsed, ProcessExpr, Statement,
};
use cotenant_grammar::{Diagnostic, Diagnostics, PREDICATE_WORDS, SourceSet, Span};

use crate::mistake::{HostMistake, Mistake};
use crate::selector::Selector;
use names::Names;

/// All names looked up; made only by [`resolve`].
pub(crate) struct Resolved {
    pub(crate) sources: SourceSet,
    pub(crate) classes: Vec<ResolvedClass>,
    pub(crate) conditions: Vec<At<Condition>>,
    pub(crate) knobs: Vec<At<Knob>>,
}

/// A class whose expressions stand on their own.
pub(crate) struct ResolvedClass {
    pub(crate) syntax: Class,
    /// One entry a `match` clause, in order; `None` where it could not be resolved.
    pub(crate) selectors: Vec<(Option<Selector>, Span)>,
    /// One entry an `on` or `prefer CPUS` clause, in order.
    pub(crate) zones: Vec<(Option<Cpus>, Span)>,
}

/// Whether a zone cannot be called so, because the word means something in a set of CPUs.
fn means_cpus(word: &str) -> bool {
    ["all", "and", "within", "except"].contains(&word)
}

/// Whether a process set cannot be called so, because the word means something in a set of processes.
fn means_processes(word: &str) -> bool {
    PREDICATE_WORDS.contains(&word) || ["and", "or", "with"].contains(&word)
}

pub(crate) fn resolve(parsed: Parsed, diagnostics: &mut Diagnostics) -> Resolved {
    let (mut zones, mut sets, mut classes) = (Vec::new(), Vec::new(), Vec::new());
    let (mut conditions, mut knobs, mut unread) = (Vec::new(), Vec::new(), Vec::new());
    for statement in parsed.statements {
        match statement {
            Statement::Zone(zone) => zones.push(zone),
            Statement::Processes(set) => sets.push(set),
            Statement::Class(class) => classes.push(class),
            Statement::Require(mut more) => conditions.append(&mut more),
            Statement::Kernel(mut more) => knobs.append(&mut more),
            // What the statement brought follows it in the list.
            Statement::Include(include) => {
                unread.extend(parsed.sources.included(include.pattern.span).is_none().then_some(include.pattern));
            }
        }
    }
    let mut report = |mistake: Mistake| diagnostics.push(Diagnostic::from(mistake));
    unread.into_iter().for_each(|pattern| report(HostMistake::UnreadInclude { pattern }.into()));
    defined_once("zone", zones.iter().map(|zone| &zone.name), &mut report);
    defined_once("process set", sets.iter().map(|set| &set.name), &mut report);
    defined_once("class", classes.iter().filter(|class| has_name(class)).map(|class| &class.name), &mut report);
    names_are_free("zone", &zones, means_cpus, &mut report);
    names_are_free("process set", &sets, means_processes, &mut report);

    let mut zones: Names<CpuExpr, Cpus> = Names::new(zones);
    let mut sets: Names<ProcessExpr, Selector> = Names::new(sets);
    let classes = classes.into_iter().map(|class| {
        let mut resolved = ResolvedClass { selectors: Vec::new(), zones: Vec::new(), syntax: class };
        for At { value, span } in &resolved.syntax.clauses {
            match value {
                Clause::Match(expr) => {
                    resolved.selectors.push((processes::selector(expr, &mut sets, &mut report), *span));
                }
                Clause::On(expr) | Clause::PreferCpus(expr) => {
                    resolved.zones.push((cpus::cpus(expr, &mut zones, &mut report), *span))
                }
                _ => {}
            }
        }
        resolved
    });
    let classes = classes.collect();
    for name in zones.finish(cpus::cpus, &mut report).into_iter().filter(|name| !means_cpus(&name.value)) {
        report(Mistake::Unused { what: "zone", name });
    }
    for name in sets.finish(processes::selector, &mut report).into_iter().filter(|name| !means_processes(&name.value)) {
        report(Mistake::Unused { what: "process set", name });
    }
    Resolved { sources: parsed.sources, classes, conditions, knobs }
}

/// A nameless `unmanaged:` may stand as often as it is needed; every other class goes by its name.
fn has_name(class: &Class) -> bool {
    class.named || class.kind.value != cotenant_grammar::tree::ClassKind::Unmanaged
}

fn defined_once<'a>(what: &'static str, names: impl Iterator<Item = &'a Name>, report: &mut impl FnMut(Mistake)) {
    let mut seen: HashMap<&str, Span> = HashMap::new();
    for name in names {
        match seen.get(name.value.as_str()) {
            Some(first) => report(Mistake::DefinedTwice { what, name: name.clone(), first: *first }),
            None => drop(seen.insert(&name.value, name.span)),
        }
    }
}

fn names_are_free<E>(
    what: &'static str,
    definitions: &[Definition<E>],
    taken: fn(&str) -> bool,
    report: &mut impl FnMut(Mistake),
) {
    for definition in definitions.iter().filter(|it| taken(&it.name.value)) {
        report(Mistake::ReservedName { what, name: definition.name.clone() });
    }
}
