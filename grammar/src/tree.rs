//! The syntax tree: what a policy says, before any name is looked up.
//!
//! Nodes carry spans and no text beyond names and patterns. A piece that could not be read is present as `Damaged`, so
//! that later stages neither trip over it nor report what follows from it. Equality ignores where a node stands: printing
//! a tree and parsing the print gives an equal tree.

mod clause;
mod cpus;
mod host;
mod processes;
mod quantity;

pub use clause::{Clause, EqualPrio, IdleUnit, OnChange, PlaceBy, Sharer};
pub use cpus::{CoreKind, CpuExpr, CpuOperator, Part, Unit, Units};
pub use host::{Condition, Knob};
pub use processes::{Field, InitialPolicy, ProcessExpr, Relation};
pub(crate) use quantity::decimal;
pub use quantity::{Duration, LinuxVersion, Percent, Quota};

use crate::{SourceSet, Span};

/// A value and where it was written. Equal values are equal wherever they stand.
#[derive(Debug, Clone, Copy, Eq)]
pub struct At<T> {
    /// What was written.
    pub value: T,
    /// Where.
    pub span: Span,
}

impl<T> At<T> {
    /// The same place with a value made of this one.
    pub fn map<U>(self, make: impl FnOnce(T) -> U) -> At<U> {
        At { value: make(self.value), span: self.span }
    }
}

impl<T: PartialEq> PartialEq for At<T> {
    fn eq(&self, other: &At<T>) -> bool {
        self.value == other.value
    }
}

/// A name as written.
pub type Name = At<String>;

/// A whole parse: the texts and the statements in reading order. Made only by [`parse`](crate::parse).
#[derive(Debug, Clone)]
pub struct Parsed {
    /// The texts that the spans point into.
    pub sources: SourceSet,
    /// All statements.
    pub statements: Vec<Statement>,
}

/// One statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Statement {
    /// `rt class web: …;` and its short forms.
    Class(Class),
    /// `zone NAME: CPUS;`
    Zone(Definition<CpuExpr>),
    /// `processes NAME: PROCESSES;`
    Processes(Definition<ProcessExpr>),
    /// `include "GLOB";` The statements it brought, if any, follow it.
    Include(Include),
    /// `require: condition, …;`
    Require(Vec<At<Condition>>),
    /// `kernel: knob, …;`
    Kernel(Vec<At<Knob>>),
}

/// An include statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Include {
    /// Which files, relative to the one it stands in.
    pub pattern: At<String>,
}

/// A name given to an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition<E> {
    /// The name.
    pub name: Name,
    /// What it stands for.
    pub body: E,
}

/// How a class is scheduled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ClassKind {
    /// `SCHED_FIFO` or `SCHED_RR`.
    Rt,
    /// `SCHED_DEADLINE`.
    Deadline,
    /// The scheduling policy is left alone.
    Fair,
    /// `SCHED_IDLE`.
    Batch,
    /// Never touched.
    Unmanaged,
}

impl ClassKind {
    /// The keyword.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            ClassKind::Rt => "rt",
            ClassKind::Deadline => "deadline",
            ClassKind::Fair => "fair",
            ClassKind::Batch => "batch",
            ClassKind::Unmanaged => "unmanaged",
        }
    }
}

/// A class statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Class {
    /// How it is scheduled; fair where no kind is written.
    pub kind: At<ClassKind>,
    /// Its name; the kind's word where no name is written.
    pub name: Name,
    /// Whether the name was written, rather than taken from the kind.
    pub named: bool,
    /// The header, without the colon.
    pub header: At<()>,
    /// The clauses that could be read, in order.
    pub clauses: Vec<At<Clause>>,
    /// Whether a clause could not be read.
    pub damaged: bool,
}
