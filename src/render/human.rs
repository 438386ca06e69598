//! Diagnostics for people: the text they are about, marked.

use std::fmt;

use cotenant_grammar::{Diagnostic, Diagnostics, Severity, SourceSet};
use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, SourceCode};

use super::printable;
use super::snippets::{Index, Snippets};
use crate::terminal::Look;

/// Every diagnostic with its text, separated by blank lines.
pub(crate) fn human(diagnostics: &Diagnostics, sources: &SourceSet, look: Look) -> String {
    let index = Index::new(sources);
    let head = |it: &Diagnostic| format!("{}[{}]:", it.severity.word(), it.code.0);
    diagnostics.iter().map(|diagnostic| one(&head(diagnostic), diagnostic, &index, look) + "\n").collect()
}

/// One place with something to say about it that is no finding; `head` stands before it.
pub(super) fn marked(head: &str, what: &Diagnostic, sources: &SourceSet, look: Look) -> String {
    one(head, what, &Index::new(sources), look)
}

fn one(head: &str, diagnostic: &Diagnostic, index: &Index, look: Look) -> String {
    let mut theme = if look.colour { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    // In the icon's place: it is the one piece that takes the severity's colour and stands before the message.
    let characters = &mut theme.characters;
    (characters.error, characters.warning, characters.advice) = (head.to_owned(), head.to_owned(), head.to_owned());
    let handler = GraphicalReportHandler::new_themed(theme)
        .with_wrap_lines(false)
        .with_context_lines(1)
        .without_syntax_highlighting()
        .with_links(false);
    let snippets = Snippets::new(index, diagnostic.primary.span);
    let report = Report {
        severity: diagnostic.severity,
        message: printable(&diagnostic.message).into_owned(),
        help: diagnostic.help.as_deref().map(|help| printable(help).into_owned()),
        labels: snippets.labels(diagnostic),
        snippets,
    };
    let mut text = String::new();
    match handler.render_report(&mut text, &report) {
        Ok(()) => text,
        // miette gives up where it cannot show a place; the finding still counts.
        Err(fmt::Error) => format!("{head} {}\n", report.message),
    }
}

/// A diagnostic as miette wants it.
#[derive(Debug)]
struct Report<'a> {
    severity: Severity,
    message: String,
    help: Option<String>,
    labels: Vec<LabeledSpan>,
    snippets: Snippets<'a>,
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Report<'_> {}

impl miette::Diagnostic for Report<'_> {
    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.severity {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
            Severity::Note => miette::Severity::Advice,
        })
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.snippets)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.labels.iter().cloned()))
    }
}

#[cfg(test)]
mod tests;
