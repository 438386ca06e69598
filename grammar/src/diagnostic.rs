//! What is wrong with a text, as data.
//!
//! The prose follows one voice: lowercase, no final stop, the user's words in backticks, no line breaks. Rendering is
//! left to whoever shows it.

use crate::Span;

/// How much a diagnostic weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing; never affects an exit code.
    Note,
    /// Probably not what was meant; the policy still compiles.
    Warning,
    /// The policy does not compile.
    Error,
}

impl Severity {
    /// The word printed for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// The stable kebab-case name of a kind of diagnostic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code(pub &'static str);

/// A piece of text and what to say beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// What; may be empty for a bare underline.
    pub text: String,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// How much it weighs.
    pub severity: Severity,
    /// Its stable name.
    pub code: Code,
    /// The finding in one sentence.
    pub message: String,
    /// Where it is.
    pub primary: Label,
    /// Other places that take part in it, such as the first of two definitions.
    pub secondary: Vec<Label>,
    /// What to type instead.
    pub help: Option<String>,
}

impl Diagnostic {
    /// A finding without further places or help.
    #[must_use]
    pub fn new(severity: Severity, code: Code, message: impl Into<String>, at: Span, label: impl Into<String>) -> Self {
        let primary = Label { span: at, text: label.into() };
        Diagnostic { severity, code, message: message.into(), primary, secondary: Vec::new(), help: None }
    }

    /// [`Diagnostic::new`] with [`Severity::Error`].
    #[must_use]
    pub fn error(code: Code, message: impl Into<String>, at: Span, label: impl Into<String>) -> Self {
        Diagnostic::new(Severity::Error, code, message, at, label)
    }

    /// Adds another place.
    #[must_use]
    pub fn also(mut self, span: Span, text: impl Into<String>) -> Self {
        self.secondary.push(Label { span, text: text.into() });
        self
    }

    /// Sets the help line.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// Findings in the order in which they were made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Diagnostics(Vec<Diagnostic>);

impl Diagnostics {
    /// Adds one.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.0.push(diagnostic);
    }

    /// Adds all of another list.
    pub fn extend(&mut self, others: Diagnostics) {
        self.0.extend(others.0);
    }

    /// Whether any is an error.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.0.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }

    /// The errors alone.
    #[must_use]
    pub fn errors(&self) -> Diagnostics {
        Diagnostics(self.iter().filter(|diagnostic| diagnostic.severity == Severity::Error).cloned().collect())
    }

    /// Orders by place; findings at one place keep their order.
    pub fn sort(&mut self) {
        self.0.sort_by_key(|diagnostic| diagnostic.primary.span);
    }

    /// The findings.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.0.iter()
    }

    /// How many have this severity.
    #[must_use]
    pub fn count(&self, severity: Severity) -> usize {
        self.0.iter().filter(|diagnostic| diagnostic.severity == severity).count()
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
