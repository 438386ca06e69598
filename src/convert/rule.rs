//! One rule of somebody else's, as a policy would say it.

/// A line of an input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    /// The file as it was named.
    pub(crate) file: String,
    /// From 1.
    pub(crate) number: usize,
    pub(crate) text: String,
}

/// What one line, or several that belong together, came to.
#[derive(Debug, Clone)]
pub(crate) struct Rule {
    pub(crate) lines: Vec<Line>,
    /// Absent where nothing could be carried over.
    pub(crate) class: Option<Class>,
    /// What could not be carried over, each with the reason.
    pub(crate) lost: Vec<String>,
    /// Whether the input itself is wrong here.
    pub(crate) fault: bool,
    /// Whether there was a class, and the compiler did not take it.
    pub(crate) refused: bool,
}

/// A class in the making. What stands in it is policy text; whether it is right is for the compiler to say.
#[derive(Debug, Clone)]
pub(crate) struct Class {
    /// What it would be called if every text were a name.
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// The processes, as behind `match`.
    pub(crate) processes: String,
    pub(crate) clauses: Vec<String>,
}

/// The kinds that conversions need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Fair,
    Rt,
    Batch,
    Unmanaged,
}

impl Kind {
    /// The words before the class's name.
    pub(crate) fn header(self) -> &'static str {
        match self {
            Kind::Fair => "class",
            Kind::Rt => "rt class",
            Kind::Batch => "batch class",
            Kind::Unmanaged => "unmanaged class",
        }
    }
}

impl Rule {
    /// A rule that comes to a class.
    pub(crate) fn of(line: Line, class: Class, lost: Vec<String>) -> Rule {
        Rule { lines: vec![line], class: Some(class), lost, fault: false, refused: false }
    }

    /// A line of which nothing is left, and why.
    pub(crate) fn lost(line: Line, why: impl Into<String>) -> Rule {
        Rule { lines: vec![line], class: None, lost: vec![why.into()], fault: false, refused: false }
    }

    /// A line that is wrong in its own form, and in what.
    pub(crate) fn fault(line: Line, what: impl Into<String>) -> Rule {
        Rule { fault: true, ..Rule::lost(line, what) }
    }
}
