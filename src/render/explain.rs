//! Pages about codes, for a terminal.

use cotenant_grammar::Diagnostics;

use crate::pages::{Page, pages};
use crate::terminal::Look;

const BOLD: (&str, &str) = ("\u{1b}[1m", "\u{1b}[0m");

/// All codes with severity and one line; never wrapped, so that `grep` finds whole entries.
pub(crate) fn codes(look: Look) -> String {
    let width = pages().map(|page| page.code.len()).max().unwrap_or(0);
    let line = |page: Page| {
        format!("{}  {:<7}  {}\n", bold(&format!("{:<width$}", page.code), look), page.severity(), page.summary())
    };
    pages().map(line).collect()
}

/// One page. Markdown is plain text already but for its marks: headings lose theirs, and code is indented instead of
/// fenced.
pub(crate) fn page(page: Page, look: Look) -> String {
    let mut shown = format!("{}: {}\n\n", bold(&format!("{}[{}]", page.severity(), page.code), look), page.summary());
    let mut code = false;
    for line in page.body().lines() {
        match line.strip_prefix("## ") {
            _ if line.starts_with("```") => code = !code,
            Some(heading) if !code => shown.push_str(&(bold(heading, look) + "\n")),
            _ if code && !line.is_empty() => shown.push_str(&format!("    {line}\n")),
            _ => shown.push_str(&format!("{line}\n")),
        }
    }
    shown
}

fn bold(text: &str, look: Look) -> String {
    if look.colour { format!("{}{text}{}", BOLD.0, BOLD.1) } else { text.to_owned() }
}

/// Where to read more about the first finding; nothing where there is none.
pub(crate) fn hint(diagnostics: &Diagnostics) -> Option<String> {
    let worst = diagnostics.iter().map(|it| it.severity).max()?;
    let first = diagnostics.iter().find(|it| it.severity == worst)?;
    Some(format!("explain: cotenant explain {}\n", first.code.0))
}

#[cfg(test)]
mod tests {
    use cotenant_grammar::{Code, Diagnostic, Severity, Span};

    use super::*;

    #[test]
    fn the_first_of_the_gravest_is_pointed_at_once() {
        let mut all = Diagnostics::default();
        assert_eq!(hint(&all), None);
        let found = [(Severity::Warning, "a"), (Severity::Error, "b"), (Severity::Error, "c"), (Severity::Note, "d")];
        for (severity, code) in found {
            all.push(Diagnostic::new(severity, Code(code), "", Span::default(), ""));
        }
        assert_eq!(hint(&all).unwrap(), "explain: cotenant explain b\n");
    }
}
