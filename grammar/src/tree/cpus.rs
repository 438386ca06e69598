//! Sets of CPUs.

use super::{At, Name};
use crate::Span;

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
