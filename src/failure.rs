//! What keeps a command from doing its work, and how that is said.

use std::io::Write;
use std::process::ExitCode;

use cotenant_compiler::topology::TopologyError;

use crate::render::printable;

/// Why a command could not do its work: exit code 2. Mistakes in a policy are diagnostics, never failures.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    help: Option<String>,
}

impl Failure {
    /// A failure in one sentence that names the thing it is about: lowercase, no final stop.
    pub(crate) fn new(message: impl Into<String>) -> Failure {
        Failure { message: message.into(), help: None }
    }

    /// Adds what to do about it.
    pub(crate) fn help(self, help: impl Into<String>) -> Failure {
        Failure { help: Some(help.into()), ..self }
    }

    /// Adds another thing to do about it.
    pub(crate) fn or_help(self, another: &str) -> Failure {
        let help = self.help.map_or_else(|| another.to_owned(), |help| format!("{help}; {another}"));
        Failure { help: Some(help), ..self }
    }

    /// The failure as it is said: what, and below it what to do about it.
    pub(crate) fn text(&self) -> String {
        let mut text = format!("error: {}\n", printable(&self.message));
        if let Some(help) = &self.help {
            text.push_str(&format!("help: {}\n", printable(help)));
        }
        text
    }

    /// Says it on standard error.
    pub(crate) fn report(&self) -> ExitCode {
        // Where standard error is closed there is nobody left to tell.
        let _ = std::io::stderr().lock().write_all(self.text().as_bytes());
        ExitCode::from(2)
    }
}

impl From<TopologyError> for Failure {
    fn from(error: TopologyError) -> Failure {
        let text = error.to_string();
        match text.rsplit_once("; ") {
            Some((message, help)) => Failure::new(message).help(help),
            None => Failure::new(text),
        }
    }
}
