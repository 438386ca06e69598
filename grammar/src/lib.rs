//! The text side of a placement policy: where text comes from, what it says, and what is wrong with it.

mod diagnostic;
mod format;
mod mistake;
mod parse;
mod source;
mod spelling;
mod tokens;
pub mod tree;

pub use diagnostic::{Code, Diagnostic, Diagnostics, Label, Severity};
pub use format::format;
pub use parse::{IncludeSite, PREDICATE_WORDS, includes, parse};
pub use source::{IncludeFault, Inclusion, Location, Source, SourceId, SourceSet, Span};
pub use spelling::nearest;
