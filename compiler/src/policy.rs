//! A policy that has been checked without regard to any machine.
//!
//! Each class has at most one of each setting, all of them fit its kind, and none contradicts another: the questions that
//! remain need a topology.

mod checks;
mod kinds;
mod limits;
mod settings;
mod sharing;

use cotenant_grammar::tree::{
    At, ClassKind, Condition, Duration, EqualPrio, IdleUnit, Knob, Name, OnChange, Percent, PlaceBy, ProcessExpr,
    Quota, Sharer,
};
use cotenant_grammar::{Diagnostics, SourceSet, Span};

use crate::resolve::{Cpus, Resolved};
use crate::selector::Selector;

/// Made only by [`check`].
#[derive(Debug, Clone)]
pub(crate) struct Policy {
    pub(crate) sources: SourceSet,
    pub(crate) classes: Vec<PolicyClass>,
    /// What a host must be for the policy to be put in force.
    pub(crate) conditions: Vec<At<Condition>>,
    /// Each at most once.
    pub(crate) knobs: Vec<At<Knob>>,
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
    /// Boxed: most are absent, and a class is moved from stage to stage.
    pub(crate) settings: Box<Settings>,
}

/// The clauses of a class but `match`, each with its place.
#[derive(Debug, Clone, Default)]
pub(crate) struct Settings {
    pub(crate) on: Option<(Option<Cpus>, Span)>,
    pub(crate) prefer_idle_core: Option<Span>,
    /// Any `prefer` but the one above.
    pub(crate) prefer: Option<At<Prefer>>,
    pub(crate) spill: Option<At<Option<At<u32>>>>,
    pub(crate) never_spill: Option<Span>,
    pub(crate) share_core: Option<(Vec<At<Sharer>>, Span)>,
    pub(crate) equal_prio: Option<At<EqualPrio>>,
    pub(crate) core_idle: Option<Span>,
    /// `only when … idle` of any unit but the core.
    pub(crate) unit_idle: Option<At<IdleUnit>>,
    pub(crate) wait_at_most: Option<(At<Duration>, Span)>,
    pub(crate) at_least: Option<(At<u32>, Span)>,
    pub(crate) at_most: Option<(Ceiling, Span)>,
    pub(crate) fifo: Option<Span>,
    pub(crate) round_robin: Option<Span>,
    pub(crate) priority: Option<(u8, Span)>,
    /// Runtime and period.
    pub(crate) runtime: Option<([At<Duration>; 2], Span)>,
    pub(crate) deadline: Option<(At<Duration>, Span)>,
    pub(crate) nice: Option<(i8, Span)>,
    pub(crate) slice: Option<(At<Duration>, Span)>,
    pub(crate) weight: Option<(u16, Span)>,
    pub(crate) quota: Option<(At<Quota>, Span)>,
    pub(crate) clamp: Option<([At<Percent>; 2], Span)>,
    pub(crate) memory_bandwidth: Option<(At<Percent>, Span)>,
    pub(crate) llc_share: Option<(At<Percent>, Span)>,
    pub(crate) descendants: Option<Span>,
    pub(crate) on_change: Option<At<OnChange>>,
    pub(crate) place_by: Option<(PlaceBy, Span)>,
}

/// What a class prefers, other than an idle core.
#[derive(Debug, Clone)]
pub(crate) enum Prefer {
    IdleCpu,
    LastCpu,
    /// None where the set could not be read.
    Cpus(Option<Cpus>),
}

/// The most cores a class gets.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Ceiling {
    Cores(At<u32>),
    Share(At<Percent>),
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
    sharing::check(&classes, &mut report);
    let knobs = limits::knobs(resolved.knobs, &mut report);
    Policy { sources: resolved.sources, classes, conditions: resolved.conditions, knobs }
}
