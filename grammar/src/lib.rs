//! The text side of a placement policy: where text comes from, what it says, and what is wrong with it.

mod diagnostic;
mod format;
mod source;
mod tokens;

pub use diagnostic::{Code, Diagnostic, Diagnostics, Label, Severity};
pub use format::format;
pub use source::{Location, Source, SourceId, SourceSet, Span};
