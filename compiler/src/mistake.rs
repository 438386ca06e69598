//! Every mistake the compiler can report, as data, and the prose for it in one place.

mod clause;
mod deadline;
mod host;
mod prose;

pub(crate) use clause::ClauseMistake;
pub(crate) use deadline::DeadlineMistake;
pub(crate) use host::HostMistake;

use cotenant_grammar::Span;
use cotenant_grammar::tree::{At, ClassKind, Name};

#[derive(Debug)]
pub(crate) enum Mistake {
    // Names
    Undefined { what: &'static str, name: Name, nearest: Option<Name> },
    DefinedTwice { what: &'static str, name: Name, first: Span },
    ReservedName { what: &'static str, name: Name },
    RefersToItself { what: &'static str, name: Name, again: Span },
    ChainTooLong { what: &'static str, at: Span, limit: usize },
    Unused { what: &'static str, name: Name },
    // Patterns
    EmptyPattern { at: Span },
    BadGlob { at: Span, reason: String },
    BlankAtEnd { at: Span, text: String },
    CommTooLong { at: Span, text: String, limit: usize },
    // Clauses
    RepeatedClause { what: &'static str, first: Span, again: Span },
    Contradiction { first: Span, second: Span, why: &'static str },
    WrongKind { clause: Span, what: &'static str, kind: At<ClassKind>, fits: &'static str },
    PriorityOutOfRange { at: At<i64> },
    NiceOutOfRange { at: At<i64> },
    ZeroCores { at: Span },
    UnmanagedWithoutMatch { header: Span },
    MatchedByName { class: Name },
    Clause(ClauseMistake),
    Deadline(DeadlineMistake),
    Host(HostMistake),
    // Machine
    NotHere { at: Span, what: &'static str, missing: u32, last: Option<u32> },
    Offline { at: Span, cpu: u32 },
    EmptyCpuSet { at: Span },
    FloorTooHigh { at: At<u32>, cores: usize, zone: Span },
    FloorsLeaveNothing { class: Name, floors: Vec<(String, Span)> },
    EqualPrioConflict { holds: Span, pushes: Span, holder: String, pusher: String, priority: u8, shared: String },
}
