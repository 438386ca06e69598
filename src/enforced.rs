//! The policy in force, as a daemon hands it out: its texts, which of them include which, and the machine it is enforced
//! for. From these anybody compiles the very plan that the daemon keeps.
//!
//! They are the texts in force, not those on disk: these may be newer, and refused.

mod document;

use std::path::Path;

use cotenant_compiler::Plan;
use cotenant_compiler::topology::Topology;
use cotenant_enforcer::control::{Request, ask};
use cotenant_grammar::SourceSet;

use crate::failure::Failure;
use document::Document;

/// What a daemon enforces.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Enforced {
    pub(crate) sources: SourceSet,
    /// The daemon's own machine, or the one that it plays.
    pub(crate) machine: Topology,
}

impl Enforced {
    /// Asks the daemon of a run directory.
    pub(crate) fn of_daemon(run: &Path) -> Result<Enforced, Failure> {
        let answer = ask(run, Request::Policy)?.ok_or_else(|| nothing_enforced(run))?;
        if answer.is_empty() {
            return Err(Failure::new(format!("the daemon of `{}` does not say what it enforces", run.display()))
                .help("it may be of an older version: restart it with this one, or name the policy's files"));
        }
        decode(&answer).map_err(|cause| {
            Failure::new(format!("the answer of the daemon of `{}` cannot be read: {cause}", run.display()))
                .help("it may be of another version: restart it with this one, or name the policy's files")
        })
    }
}

/// That no daemon answers, which is no small thing to whoever asks what is enforced.
pub(crate) fn nothing_enforced(run: &Path) -> Failure {
    Failure::new(format!("nothing is enforced: no daemon answers in `{}`", run.display()))
        .help("start one with `cotenant enforce PATH`, or name its directory with `--run-dir`")
}

/// What the control socket answers.
pub(crate) fn encode(plan: &Plan) -> Vec<u8> {
    // Strings, numbers and lists of them; there is nothing in it that JSON could not say.
    serde_json::to_vec(&Document::new(plan)).unwrap_or_default()
}

fn decode(answer: &[u8]) -> Result<Enforced, String> {
    let document: Document = serde_json::from_slice(answer).map_err(|error| error.to_string())?;
    document.enforced()
}

#[cfg(test)]
mod tests;
