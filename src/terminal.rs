//! The two streams, and what whoever looks at them can be shown.

use std::io::{ErrorKind, IsTerminal, Write};

use crate::failure::Failure;

/// Columns where nobody tells, as with a pipe or a log.
const USUAL_WIDTH: usize = 100;

/// Below this, wrapping makes text harder to read rather than easier.
const LEAST_WIDTH: usize = 40;

/// How text for a stream may look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Look {
    /// Columns to stay within.
    pub(crate) width: usize,
    /// Whether colours are understood and wanted.
    pub(crate) colour: bool,
}

impl Look {
    /// For what goes to standard output.
    pub(crate) fn of_stdout() -> Look {
        let stream = std::io::stdout();
        Look::of(stream.is_terminal(), terminal_size::terminal_size_of(stream))
    }

    /// For what goes to standard error.
    pub(crate) fn of_stderr() -> Look {
        let stream = std::io::stderr();
        Look::of(stream.is_terminal(), terminal_size::terminal_size_of(stream))
    }

    fn of(terminal: bool, size: Option<(terminal_size::Width, terminal_size::Height)>) -> Look {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        // COLUMNS is how a user overrides what the terminal says; see environ(7).
        let columns = set("COLUMNS").and_then(|columns| columns.to_str()?.parse().ok());
        let width = columns.or_else(|| size.map(|(width, _)| usize::from(width.0))).unwrap_or(USUAL_WIDTH);
        // https://no-color.org: any value but the empty one.
        let colour = terminal && set("NO_COLOR").is_none() && set("TERM").is_none_or(|term| term != "dumb");
        Look { width: width.max(LEAST_WIDTH), colour }
    }
}

/// Writes a result to standard output. A reader that has seen enough, such as `head`, is no failure.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut stream = std::io::stdout().lock();
    match stream.write_all(text.as_bytes()).and_then(|()| stream.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::new(format!("standard output cannot be written: {error}"))
                .help("the result is incomplete; see what it is redirected to"))
        }
        _ => Ok(()),
    }
}

/// Writes what is not the result, diagnostics above all, to standard error.
pub(crate) fn tell(text: &str) {
    // Where standard error is closed there is nobody left to tell.
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}
