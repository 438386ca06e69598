//! What an include statement came to.

use super::{SourceId, Span};

/// The sources that one include statement brought, and what it named in vain.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inclusion {
    /// In reading order.
    pub sources: Vec<SourceId>,
    /// Why others were not read.
    pub faults: Vec<IncludeFault>,
}

/// Why an include statement did not bring a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IncludeFault {
    /// No file matches.
    NoMatch,
    /// The glob cannot be read, for this reason.
    BadGlob(String),
    /// The file includes itself, by way of the statement at hand.
    Cycle {
        /// The file, as diagnostics show it.
        file: String,
        /// The include statements between the file and this one, outermost first.
        through: Vec<Span>,
    },
    /// The file is part of the policy already.
    Twice {
        /// The file, as diagnostics show it.
        file: String,
        /// The include statement that brought it; absent where it was named from outside.
        first: Option<Span>,
    },
    /// Files that include files that …; more than this many are not followed.
    TooDeep {
        /// How many.
        limit: usize,
    },
    /// More than this many files in one policy are not read.
    TooMany {
        /// How many.
        limit: usize,
    },
}
