//! Diagnostics for programs: one JSON object a line. The fields are ours, so that no library's release can change them.

use cotenant_grammar::{Label, SourceSet};
use serde::Serialize;

use super::SCHEMA_VERSION;
use super::place::Place;
use crate::findings::{Finding, Findings};

#[derive(Serialize)]
struct Line<'a> {
    schema_version: u32,
    severity: &'static str,
    code: &'static str,
    message: &'a str,
    help: Option<&'a str>,
    /// Absent where the finding holds on every machine that was asked about.
    #[serde(skip_serializing_if = "Option::is_none")]
    machines: Option<Vec<&'a str>>,
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

/// One object a line, in the order of the findings.
pub(crate) fn json(findings: &Findings, sources: &SourceSet) -> String {
    findings.iter().map(|it| line(it, findings, sources) + "\n").collect()
}

fn line(finding: &Finding, findings: &Findings, sources: &SourceSet) -> String {
    let diagnostic = &finding.diagnostic;
    let labelled = |label, primary| labelled(label, primary, sources);
    let others = diagnostic.secondary.iter().map(|label| labelled(label, false));
    let line = Line {
        schema_version: SCHEMA_VERSION,
        severity: diagnostic.severity.word(),
        code: diagnostic.code.0,
        message: &diagnostic.message,
        help: diagnostic.help.as_deref(),
        machines: findings.names(finding),
        labels: std::iter::once(labelled(&diagnostic.primary, true)).chain(others).collect(),
    };
    // Cannot fail: nothing in it refuses, and every key is a string.
    serde_json::to_string(&line).unwrap_or_default()
}

fn labelled<'a>(label: &'a Label, primary: bool, sources: &'a SourceSet) -> Labelled<'a> {
    Labelled { primary, text: &label.text, place: Place::new(label.span, sources) }
}
