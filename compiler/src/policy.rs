//! A policy that has been checked without regard to any machine.
//!
//! Each class has at most one of each setting, all of them fit its kind, and none contradicts another: the questions that
//! remain need a topology.

mod checks;
mod settings;

use cotenant_grammar::tree::{At, ClassKind, EqualPrio, Name, ProcessExpr};
use cotenant_grammar::{Diagnostics, SourceSet, Span};

use crate::resolve::{Cpus, Resolved};
use crate::selector::Selector;

/// Made only by [`check`].
#[derive(Debug, Clone)]
pub(crate) struct Policy {
    pub(crate) sources: SourceSet,
    pub(crate) classes: Vec<PolicyClass>,
}

/// One class; a setting that is absent was not written.
#[derive(Debug, Clone)]
pub(crate) struct PolicyClass {
    pub(crate) name: Name,
    pub(crate) kind: At<ClassKind>,
    pub(crate) header: Span,
    /// None where it could not be read, which was reported.
    pub(crate) selector: Option<Selector>,
    /// The `match` clause; absent where the class matches by its name.
    pub(crate) matched: Option<Span>,
    /// What `match` says, as written: the places of the selector's parts.
    pub(crate) written: Option<ProcessExpr>,
    /// Whether a clause could not be read; then nothing is concluded from the absence of clauses.
    pub(crate) damaged: bool,
    pub(crate) settings: Settings,
}

/// The clauses of a class but `match`, each with its place.
#[derive(Debug, Clone, Default)]
pub(crate) struct Settings {
    pub(crate) on: Option<(Option<Cpus>, Span)>,
    pub(crate) prefer_idle_core: Option<Span>,
    pub(crate) spill: Option<At<Option<At<u32>>>>,
    pub(crate) never_spill: Option<Span>,
    pub(crate) equal_prio: Option<At<EqualPrio>>,
    pub(crate) core_idle: Option<Span>,
    pub(crate) at_least: Option<(At<u32>, Span)>,
    pub(crate) fifo: Option<Span>,
    pub(crate) round_robin: Option<Span>,
    pub(crate) priority: Option<(u8, Span)>,
    pub(crate) nice: Option<(i8, Span)>,
    pub(crate) descendants: Option<Span>,
}

/// Gathers each class's settings, then asks every question that needs no machine.
pub(crate) fn check(resolved: Resolved, diagnostics: &mut Diagnostics) -> Policy {
    let mut report = |mistake: crate::mistake::Mistake| diagnostics.push(mistake.into());
    let mut classes = Vec::new();
    for class in resolved.classes {
        let damaged = class.syntax.damaged;
        let class = settings::gather(class, &mut report);
        // What an unreadable clause would have said is not guessed at.
        checks::class(&class, damaged, &mut report);
        classes.push(class);
    }
    Policy { sources: resolved.sources, classes }
}
