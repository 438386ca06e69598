//! Diagnostics for programs: one JSON object a line. The fields are ours, so that no library's release can change them.

use cotenant_grammar::{Diagnostic, Diagnostics, Label, SourceSet};
use serde::Serialize;

use super::SCHEMA_VERSION;
use super::place::Place;

#[derive(Serialize)]
struct Finding<'a> {
    schema_version: u32,
    severity: &'static str,
    code: &'static str,
    message: &'a str,
    help: Option<&'a str>,
    /// The primary label first.
    labels: Vec<Labelled<'a>>,
}

#[derive(Serialize)]
struct Labelled<'a> {
    primary: bool,
    text: &'a str,
    #[serde(flatten)]
    place: Place<'a>,
}

/// One object a line, in the order of the diagnostics.
pub(crate) fn json(diagnostics: &Diagnostics, sources: &SourceSet) -> String {
    diagnostics.iter().map(|it| line(it, sources) + "\n").collect()
}

fn line(diagnostic: &Diagnostic, sources: &SourceSet) -> String {
    let labelled = |label, primary| labelled(label, primary, sources);
    let others = diagnostic.secondary.iter().map(|label| labelled(label, false));
    let finding = Finding {
        schema_version: SCHEMA_VERSION,
        severity: diagnostic.severity.word(),
        code: diagnostic.code.0,
        message: &diagnostic.message,
        help: diagnostic.help.as_deref(),
        labels: std::iter::once(labelled(&diagnostic.primary, true)).chain(others).collect(),
    };
    // Cannot fail: nothing in it refuses, and every key is a string.
    serde_json::to_string(&finding).unwrap_or_default()
}

fn labelled<'a>(label: &'a Label, primary: bool, sources: &'a SourceSet) -> Labelled<'a> {
    Labelled { primary, text: &label.text, place: Place::new(label.span, sources) }
}
