//! The last line of a check.

use std::collections::BTreeSet;

use cotenant_grammar::{Diagnostics, Severity};

use super::counted::counted;

/// What was found in a policy that is refused: `2 errors, 1 warning in 1 file`.
pub(crate) fn found(diagnostics: &Diagnostics) -> String {
    let files: BTreeSet<_> = diagnostics.iter().map(|it| it.primary.span.source).collect();
    let counts = counts(diagnostics, &[Severity::Error, Severity::Warning, Severity::Note]);
    format!("{} in {}", counts.join(", "), counted(files.len(), "file"))
}

/// What a policy that passes holds, and what was found in it all the same: `1 file, 2 classes: no errors, 1 note`.
pub(crate) fn passed(diagnostics: &Diagnostics, files: usize, classes: usize) -> String {
    let held = format!("{}, {}", counted(files, "file"), counted(classes, "class"));
    let rest = counts(diagnostics, &[Severity::Warning, Severity::Note]);
    let all: Vec<String> = std::iter::once("no errors".to_owned()).chain(rest).collect();
    format!("{held}: {}", all.join(", "))
}

fn counts(diagnostics: &Diagnostics, severities: &[Severity]) -> Vec<String> {
    let present = severities.iter().map(|severity| (diagnostics.count(*severity), severity));
    present.filter(|(count, _)| *count > 0).map(|(count, severity)| counted(count, severity.word())).collect()
}
