//! The syntax tree: what a policy says, before any name is looked up.
//!
//! Nodes carry spans and no text beyond names and patterns. A piece that could not be read is present as `Damaged`, so
//! that later stages neither trip over it nor report what follows from it. Equality ignores where a node stands: printing
//! a tree and parsing the print gives an equal tree.

use crate::{SourceSet, Span};

/// A value and where it was written. Equal values are equal wherever they stand.
#[derive(Debug, Clone, Copy, Eq)]
pub struct At<T> {
    /// What was written.
    pub value: T,
    /// Where.
    pub span: Span,
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

/// One clause of a class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Clause {
    /// `match PROCESSES`
    Match(ProcessExpr),
    /// `on CPUS`
    On(CpuExpr),
    /// `prefer idle core`
    PreferIdleCore,
    /// `spill to siblings [below N idle cores]`
    Spill {
        /// The N, where written.
        below: Option<At<u32>>,
    },
    /// `never spill`
    NeverSpill,
    /// `push equal prio` or `hold equal prio`
    EqualPrio(EqualPrio),
    /// `only when core idle`
    OnlyWhenCoreIdle,
    /// `at least N cores`
    AtLeastCores(At<u32>),
    /// `priority N`
    Priority(At<i64>),
    /// `fifo`
    Fifo,
    /// `round robin`
    RoundRobin,
    /// `nice N`
    Nice(At<i64>),
    /// `with descendants`
    WithDescendants,
}

/// What becomes of a waking real-time thread whose CPU runs an equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EqualPrio {
    /// One of the two may be moved to another CPU.
    Push,
    /// Both stay where they are.
    Hold,
}

/// A set of CPUs as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CpuExpr {
    /// `all`
    All(At<()>),
    /// `cpu N`, `cores N-M`, `llc N`, `node N`, `package N`
    Units(At<Units>),
    /// `performance cores`, `efficiency cores`
    KindCores(At<CoreKind>),
    /// `siblings of X`, `fronts of X`; one or more parts, the outermost first.
    Part(Vec<At<Part>>, Box<CpuExpr>),
    /// A zone's name.
    Zone(Name),
    /// `X and Y except Z …`, left to right. A list rather than a nest, so that length costs no stack.
    Chain(Box<CpuExpr>, Vec<(At<CpuOperator>, CpuExpr)>),
    /// Could not be read; already reported.
    Damaged(At<()>),
}

impl CpuExpr {
    /// A placeholder for a piece that could not be read and was reported.
    #[must_use]
    pub fn damaged(span: Span) -> CpuExpr {
        CpuExpr::Damaged(At { value: (), span })
    }

    /// Where the expression stands.
    #[must_use]
    pub fn span(&self) -> Span {
        match self {
            CpuExpr::All(at) | CpuExpr::Damaged(at) => at.span,
            CpuExpr::Units(at) => at.span,
            CpuExpr::KindCores(at) => at.span,
            CpuExpr::Zone(name) => name.span,
            CpuExpr::Part(parts, of) => parts.first().map_or(of.span(), |part| part.span.to(of.span())),
            CpuExpr::Chain(first, rest) => rest.last().map_or(first.span(), |(_, last)| first.span().to(last.span())),
        }
    }
}

/// A range of numbered parts of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Units {
    /// What is counted.
    pub unit: Unit,
    /// First number.
    pub first: u32,
    /// Last number, not below the first.
    pub last: u32,
}

/// What a policy can name by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unit {
    /// A hardware thread, by the operating system's number.
    Cpu,
    /// A core, by logical number.
    Core,
    /// A last-level cache, by logical number.
    Llc,
    /// A NUMA node, by logical number.
    Node,
    /// A package, by logical number.
    Package,
}

impl Unit {
    /// The keyword, singular.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Unit::Cpu => "cpu",
            Unit::Core => "core",
            Unit::Llc => "llc",
            Unit::Node => "node",
            Unit::Package => "package",
        }
    }
}

/// Kinds of core on a hybrid processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CoreKind {
    /// `performance cores`
    Performance,
    /// `efficiency cores`
    Efficiency,
}

/// Which threads of each core.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// The first online thread.
    Fronts,
    /// The others.
    Siblings,
}

/// How two sets of CPUs are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CpuOperator {
    /// `and`: the union.
    And,
    /// `within`: the intersection.
    Within,
    /// `except`: the difference.
    Except,
}

/// A set of processes as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProcessExpr {
    /// `exe GLOB` and its like.
    Predicate(At<Field>, At<String>),
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
}

impl Field {
    /// The keyword.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Field::Exe => "exe",
            Field::Comm => "comm",
            Field::Arg => "arg",
            Field::User => "user",
            Field::Group => "group",
            Field::Cgroup => "cgroup",
            Field::Unit => "unit",
            Field::Slice => "slice",
        }
    }
}
