//! Sets of processes.

use super::{At, Name};
use crate::Span;

/// A set of processes as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProcessExpr {
    /// `exe GLOB` and its like.
    Predicate(At<Field>, At<String>),
    /// `policy WORD`
    Policy(At<()>, At<InitialPolicy>),
    /// `parent (…)`, `ancestor (…)`
    Relative(At<Relation>, Box<ProcessExpr>),
    /// The name of a process set.
    Set(Name),
    /// `not X`
    Not(At<()>, Box<ProcessExpr>),
    /// `X and Y and …`, two or more.
    All(Vec<ProcessExpr>),
    /// `X or Y or …`, two or more.
    Any(Vec<ProcessExpr>),
    /// Could not be read; already reported.
    Damaged(At<()>),
}

impl ProcessExpr {
    /// A placeholder for a piece that could not be read and was reported.
    #[must_use]
    pub fn damaged(span: Span) -> ProcessExpr {
        ProcessExpr::Damaged(At { value: (), span })
    }

    /// Where the expression stands.
    #[must_use]
    pub fn span(&self) -> Span {
        match self {
            ProcessExpr::Predicate(field, pattern) => field.span.to(pattern.span),
            ProcessExpr::Policy(word, policy) => word.span.to(policy.span),
            ProcessExpr::Relative(relation, inner) => relation.span.to(inner.span()),
            ProcessExpr::Set(name) => name.span,
            ProcessExpr::Not(not, inner) => not.span.to(inner.span()),
            ProcessExpr::Damaged(at) => at.span,
            ProcessExpr::All(parts) | ProcessExpr::Any(parts) => {
                let spans = parts.iter().map(ProcessExpr::span);
                spans.reduce(Span::to).unwrap_or_default()
            }
        }
    }
}

/// What a predicate compares with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Field {
    /// The resolved executable.
    Exe,
    /// The process leader's kernel name.
    Comm,
    /// Each thread's own name.
    Thread,
    /// The script that a known interpreter runs; for Wine, the Windows program.
    Script,
    /// Any one argument.
    Arg,
    /// The effective user.
    User,
    /// The effective group.
    Group,
    /// The cgroup path.
    Cgroup,
    /// The innermost systemd unit.
    Unit,
    /// Any enclosing systemd slice.
    Slice,
    /// The id of the container it is in, or the beginning of one.
    Container,
}

impl Field {
    /// The keyword.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Field::Exe => "exe",
            Field::Comm => "comm",
            Field::Thread => "thread",
            Field::Script => "script",
            Field::Arg => "arg",
            Field::User => "user",
            Field::Group => "group",
            Field::Cgroup => "cgroup",
            Field::Unit => "unit",
            Field::Slice => "slice",
            Field::Container => "container",
        }
    }
}

/// Whose fields are compared in place of the process's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Relation {
    /// The parent's.
    Parent,
    /// Those of any ancestor.
    Ancestor,
}

impl Relation {
    /// The keyword.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Relation::Parent => "parent",
            Relation::Ancestor => "ancestor",
        }
    }
}

/// The scheduling policy that a process had when it was first seen. See sched(7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InitialPolicy {
    /// `SCHED_OTHER`
    Other,
    /// `SCHED_BATCH`
    Batch,
    /// `SCHED_IDLE`
    Idle,
    /// `SCHED_FIFO`
    Fifo,
    /// `SCHED_RR`
    RoundRobin,
    /// `SCHED_DEADLINE`
    Deadline,
}

impl InitialPolicy {
    /// The keyword.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            InitialPolicy::Other => "other",
            InitialPolicy::Batch => "batch",
            InitialPolicy::Idle => "idle",
            InitialPolicy::Fifo => "fifo",
            InitialPolicy::RoundRobin => "rr",
            InitialPolicy::Deadline => "deadline",
        }
    }
}
