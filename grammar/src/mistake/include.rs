//! What is said of an include statement that brought nothing.

use crate::{Code, Diagnostic, IncludeFault, Span};

pub(super) fn diagnostic(at: Span, pattern: &str, fault: IncludeFault) -> Diagnostic {
    let error = |code, message: String, label: &str| Diagnostic::error(Code(code), message, at, label);
    match fault {
        IncludeFault::NoMatch => error("include-empty", format!("no file matches `{pattern}`"), "nothing to include")
            .help("paths are relative to the file that the statement stands in; correct it, or remove the statement"),
        IncludeFault::BadGlob(reason) => {
            error("bad-glob", format!("this pattern cannot be read: {reason}"), "not a pattern")
                .help("to match a bracket itself, put it into brackets: `[[]`")
        }
        IncludeFault::Cycle { file, through } => {
            let finding =
                error("include-cycle", format!("`{file}` includes itself"), "leads back to a file being read");
            let also = |finding: Diagnostic, span: Span| finding.also(span, "by way of this");
            through.into_iter().fold(finding, also).help("remove one of the statements")
        }
        IncludeFault::Twice { file, first } => {
            let finding = error("include-twice", format!("`{file}` is part of this policy already"), "read again here");
            match first {
                Some(first) => finding.also(first, "first included here").help("include it once"),
                None => finding.help("it was named on the command line, or its directory was: name one of the two"),
            }
        }
        IncludeFault::TooDeep { limit } => error(
            "include-too-deep",
            format!("files that include files are followed {limit} deep"),
            "not followed any further",
        )
        .help("include the file from one further out"),
        IncludeFault::TooMany { limit } => {
            error("include-too-many", format!("a policy has {limit} files at most"), "more than that")
                .help("write a narrower pattern, or put more classes into one file")
        }
    }
}
