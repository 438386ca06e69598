//! Diagnostics as SARIF 2.1.0, the format that code hosts and editors read findings in.
//!
//! Columns count characters, as everywhere in this program, and the document says so. A byte-order mark counts neither
//! here nor there.

mod log;

use cotenant_grammar::{Label, Location, Severity, SourceSet, Span};

use crate::findings::{Finding, Findings};
use crate::pages;
use log::{
    ArtifactLocation, Configuration, Driver, Log, MarkdownText, PhysicalLocation, Properties, Region, RelatedLocation,
    Result, ResultLocation, Rule, Run, Text, Tool,
};

/// All findings as one document, with every rule that a finding breaks.
pub(crate) fn sarif(findings: &Findings, sources: &SourceSet) -> String {
    let mut rules: Vec<Rule<'_>> = Vec::new();
    let mut results = Vec::new();
    for finding in findings.iter() {
        let code = finding.diagnostic.code.0;
        let index = rules.iter().position(|rule| rule.id == code).unwrap_or_else(|| {
            rules.push(rule(code, finding.diagnostic.severity));
            rules.len() - 1
        });
        results.push(result(finding, index, findings, sources));
    }
    let driver = Driver { name: "cotenant", version: env!("CARGO_PKG_VERSION"), rules };
    let run = Run { tool: Tool { driver }, column_kind: "unicodeCodePoints", results };
    let log = Log { schema: log::SCHEMA, version: "2.1.0", runs: vec![run] };
    // Cannot fail: nothing in it refuses, and every key is a string.
    serde_json::to_string_pretty(&log).unwrap_or_default() + "\n"
}

fn rule(code: &'static str, severity: Severity) -> Rule<'static> {
    let page = pages::page(code);
    let summary = page.map_or(code, |page| page.summary());
    let explain = || format!("see `cotenant explain {code}`");
    Rule {
        id: code,
        short_description: Text { text: summary },
        help: MarkdownText {
            text: page.map_or_else(explain, |page| format!("{}\n\n{}", page.summary(), page.body())),
            markdown: page.map_or_else(explain, |page| page.text.to_owned()),
        },
        default_configuration: Configuration { level: severity.word() },
    }
}

fn result<'a>(finding: &'a Finding, index: usize, findings: &'a Findings, sources: &'a SourceSet) -> Result<'a> {
    let it = &finding.diagnostic;
    let help = it.help.as_ref().map_or_else(String::new, |help| format!("; {help}"));
    let others = it.secondary.iter().enumerate();
    Result {
        rule_id: it.code.0,
        rule_index: index,
        level: it.severity.word(),
        message: Text { text: format!("{}{help}", findings.message(finding)) },
        locations: vec![ResultLocation {
            message: (!it.primary.text.is_empty()).then_some(Text { text: &it.primary.text }),
            physical_location: place(it.primary.span, sources),
        }],
        related_locations: others.map(|(at, label)| related(at, label, sources)).collect(),
        properties: findings.names(finding).map(|machines| Properties { machines }),
    }
}

fn related<'a>(id: usize, label: &'a Label, sources: &SourceSet) -> RelatedLocation<'a> {
    RelatedLocation { id, message: Text { text: &label.text }, physical_location: place(label.span, sources) }
}

fn place(span: Span, sources: &SourceSet) -> PhysicalLocation {
    let source = sources.get(span.source);
    let point = |byte| source.map_or(Location { line: 1, column: 1 }, |source| source.location(byte));
    let (start, end) = (point(span.start), point(span.end));
    PhysicalLocation {
        artifact_location: ArtifactLocation { uri: uri(source.map_or("", |source| source.name())) },
        region: Region {
            start_line: start.line,
            start_column: start.column,
            end_line: end.line,
            end_column: end.column,
        },
    }
}

/// A path as a URI; one that is not absolute stays relative, to wherever the reader keeps the texts.
fn uri(path: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    let escape = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    let escaped: String = path.strip_prefix("./").unwrap_or(path).bytes().map(escape).collect();
    if path.starts_with('/') { format!("file://{escaped}") } else { escaped }
}

#[cfg(test)]
mod tests {
    use super::uri;

    #[test]
    fn paths_become_references() {
        for (path, reference) in [
            ("policies/web.policy", "policies/web.policy"),
            ("./web.policy", "web.policy"),
            ("/etc/cotenant/größe 1.policy", "file:///etc/cotenant/gr%C3%B6%C3%9Fe%201.policy"),
            ("<stdin>", "%3Cstdin%3E"),
            ("a:b#c?d%.policy", "a%3Ab%23c%3Fd%25.policy"),
        ] {
            assert_eq!(uri(path), reference);
        }
    }
}
