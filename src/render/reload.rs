//! What became of a reload, as the status of the daemon tells whoever asked for it.

use serde::Deserialize;

use super::printable;
use crate::failure::Failure;

/// What is read of the status: a daemon of another version may say more or less beside it.
#[derive(Deserialize)]
struct Document {
    daemon: Daemon,
}

#[derive(Deserialize)]
struct Daemon {
    last_reload: Reloaded,
}

/// What became of a policy that was read again, and what there is to say of that.
#[derive(Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct Reloaded {
    pub(crate) outcome: ReloadOutcome,
    /// What changed, the diagnostics, or the kernel's error.
    pub(crate) detail: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ReloadOutcome {
    /// It says what is in force.
    Unchanged,
    /// It is in force.
    Applied,
    /// It is wrong.
    Refused,
    /// The kernel kept it from being applied.
    Failed,
}

/// Reads the answer to a request to reload.
pub(crate) fn reloaded(answer: &str) -> Result<Reloaded, Failure> {
    let document: Document = serde_json::from_str(answer).map_err(|error| {
        Failure::new(format!("the answer of the daemon cannot be read: {error}"))
            .help("it may be of another version, or have ended; `cotenant status` tells")
    })?;
    let Reloaded { outcome, detail } = document.daemon.last_reload;
    Ok(Reloaded { outcome, detail: printable(&detail).into_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_outcome_is_told_apart_and_shown_as_harmless_text() {
        let answer = |outcome: &str| {
            let last = format!(r#"{{"outcome": "{outcome}", "detail": "a\u001b[2J"}}"#);
            reloaded(&format!(r#"{{"schema_version": 1, "daemon": {{"pid": 7, "last_reload": {last}}}}}"#))
        };
        for (word, outcome) in [
            ("unchanged", ReloadOutcome::Unchanged),
            ("applied", ReloadOutcome::Applied),
            ("refused", ReloadOutcome::Refused),
            ("failed", ReloadOutcome::Failed),
        ] {
            assert_eq!(answer(word).unwrap(), Reloaded { outcome, detail: "a?[2J".to_owned() });
        }
        assert!(answer("postponed").is_err());
        // A daemon that ended before it could answer.
        assert!(reloaded("").unwrap_err().text().contains("cotenant status"));
    }
}
