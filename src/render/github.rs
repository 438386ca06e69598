//! Diagnostics as annotations of a pull request: the workflow commands that a GitHub runner reads from a step's output.

use cotenant_grammar::{Diagnostic, Diagnostics, Severity, SourceSet};

/// One command a line: `::error file=…,line=…,endLine=…,col=…,endColumn=…,title=…::message`.
pub(crate) fn github(diagnostics: &Diagnostics, sources: &SourceSet) -> String {
    diagnostics.iter().map(|it| command(it, sources) + "\n").collect()
}

fn command(diagnostic: &Diagnostic, sources: &SourceSet) -> String {
    let word = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "notice",
    };
    let mut properties = Vec::new();
    let span = diagnostic.primary.span;
    if let Some(source) = sources.get(span.source) {
        let (start, end) = (source.location(span.start), source.location(span.end));
        properties.push(format!("file={}", property(source.name())));
        properties.push(format!("line={}", start.line));
        properties.push(format!("endLine={}", end.line));
        // Columns of a piece of several lines are refused.
        if start.line == end.line {
            properties.push(format!("col={}", start.column));
            properties.push(format!("endColumn={}", end.column));
        }
    }
    properties.push(format!("title={}", property(diagnostic.code.0)));
    let mut message = diagnostic.message.clone();
    for label in &diagnostic.secondary {
        message.push_str(&format!("\n{}: {}", sources.place(label.span), label.text));
    }
    if let Some(help) = &diagnostic.help {
        message.push_str(&format!("\nhelp: {help}"));
    }
    format!("::{word} {}::{}", properties.join(","), data(&message))
}

/// Text behind the second `::`, where a line end would end the command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A property's value, where `,` and `:` would end it.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use cotenant_grammar::{Code, Span};

    use super::*;

    fn annotated(text: &str, name: &str, span: Span, message: &str) -> String {
        let sources = SourceSet::one(name, text);
        let mut all = Diagnostics::default();
        all.push(Diagnostic::error(Code("a-code"), message, span, "here").help("100% sure\r\n").also(span, "there"));
        github(&all, &sources)
    }

    #[test]
    fn nothing_in_a_text_ends_a_command() {
        let span = Span { start: 2, end: 4, ..Span::default() };
        assert_eq!(
            annotated("größe", "a,b:c%.policy", span, "one\n::error::two"),
            "::error file=a%2Cb%3Ac%25.policy,line=1,endLine=1,col=3,endColumn=4,title=a-code\
             ::one%0A::error::two%0Aa,b:c%25.policy:1:3: there%0Ahelp: 100%25 sure%0D%0A\n"
        );
    }

    #[test]
    fn a_piece_of_several_lines_has_no_columns() {
        let span = Span { start: 0, end: 3, ..Span::default() };
        assert!(annotated("a\nb", "p", span, "m").starts_with("::error file=p,line=1,endLine=2,title=a-code::m"));
    }
}
