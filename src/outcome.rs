//! How a command ended, as the shell sees it.

use std::process::ExitCode;

/// What a command came to. A [`Failure`](crate::failure::Failure) takes its place where the work could not be done at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Everything asked for was done.
    Done,
    /// The policy was refused: it has errors, denied warnings, or another layout than `fmt` gives.
    Refused,
    /// Not everything could be done; what was not was said.
    InPart,
    /// A command that was to be started could not be: the exit code that shells give it.
    Exit(u8),
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> ExitCode {
        match outcome {
            Outcome::Done => ExitCode::SUCCESS,
            Outcome::Refused => ExitCode::from(1),
            Outcome::InPart => ExitCode::from(3),
            Outcome::Exit(code) => ExitCode::from(code),
        }
    }
}
