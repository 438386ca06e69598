//! What holds for every text, sound or not.

use cotenant_grammar::{Diagnostic, SourceId, SourceSet, Span, format, includes, parse};

/// Panics where an invariant does not hold.
pub(crate) fn check(text: &str) {
    let sources = SourceSet::one("fuzz", text);
    let (parsed, diagnostics) = parse(sources.clone());
    for finding in &diagnostics {
        check_finding(finding, text);
    }
    let laid_out = format(text);
    assert_eq!(format(&laid_out), laid_out, "laying out again changes it");
    if !diagnostics.has_errors() {
        let (again, diagnostics) = parse(SourceSet::one("fuzz", laid_out.as_str()));
        assert!(!diagnostics.has_errors(), "the layout of a sound text is sound: {laid_out}");
        assert_eq!(again.statements, parsed.statements, "the layout says the same: {laid_out}");
    }
    for site in includes(&sources, first(&sources)) {
        assert!(!sources.text(site.at).is_empty() && !site.pattern.is_empty(), "{site:?}");
    }
}

fn first(sources: &SourceSet) -> SourceId {
    sources.roots().next().unwrap_or_default()
}

/// Every label lies on characters of the text, and the prose keeps to one line.
fn check_finding(finding: &Diagnostic, text: &str) {
    let spans = std::iter::once(&finding.primary).chain(&finding.secondary).map(|label| label.span);
    for Span { start, end, .. } in spans {
        assert!(text.get(start as usize..end as usize).is_some(), "{start}..{end} is no text: {finding:?}");
    }
    assert!(!finding.message.is_empty(), "{finding:?}");
}
