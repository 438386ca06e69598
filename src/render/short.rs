//! Diagnostics for editors and for grep: one line each.

use cotenant_grammar::{Diagnostics, SourceSet};

use super::printable;

/// `file:line:column: severity[code]: message`, one line each.
pub(crate) fn short(diagnostics: &Diagnostics, sources: &SourceSet) -> String {
    let line = |it: &cotenant_grammar::Diagnostic| {
        let place = sources.place(it.primary.span);
        let text = format!("{place}: {}[{}]: {}", it.severity.word(), it.code.0, it.message);
        // A file's name may hold a line break; a diagnostic is one line all the same.
        printable(&text).replace('\n', "?") + "\n"
    };
    diagnostics.iter().map(line).collect()
}
