//! The README says what the product does: its policies compile, and its sessions are run and compared.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::path::Path;
use std::process::Command;

/// The fenced blocks of a language.
fn blocks(text: &str, language: &str) -> Vec<String> {
    let opening = format!("```{language}\n");
    text.split(&opening).skip(1).map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

fn readme() -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap()
}

fn shell(directory: &Path, command: &str) -> String {
    let binaries = Path::new(env!("CARGO_BIN_EXE_cotenant")).parent().unwrap();
    let path = format!("{}:{}", binaries.display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("{command} 2>&1")]).current_dir(directory);
    let output = shell.env("PATH", path).env("NO_COLOR", "1").env("COLUMNS", "100").output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn its_policies_compile() {
    let directory = tempfile::tempdir().unwrap();
    let policies = blocks(&readme(), "policy");
    assert!(!policies.is_empty());
    for policy in policies {
        std::fs::write(directory.path().join("p.policy"), &policy).unwrap();
        let said = shell(directory.path(), "cotenant lint --topology 'pack:1 core:8 pu:2' p.policy || echo refused");
        assert!(!said.contains("refused"), "{policy}\n{said}");
    }
}

/// With `README_UPDATE=1` the README is rewritten instead; read the difference before it is committed.
#[test]
fn its_sessions_go_as_shown() {
    let directory = tempfile::tempdir().unwrap();
    let before = readme();
    let mut after = before.clone();
    let sessions = blocks(&before, "console");
    assert!(!sessions.is_empty());
    for session in sessions {
        let mut shown = String::new();
        for line in session.lines().filter_map(|line| line.strip_prefix("$ ")) {
            shown.push_str(&format!("$ {line}\n{}", shell(directory.path(), line)));
        }
        after = after.replace(&session, &shown);
    }
    if std::env::var_os("README_UPDATE").is_some() {
        return std::fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md"), after).unwrap();
    }
    for (line, now) in before.lines().zip(after.lines()) {
        assert_eq!(now, line, "a session goes otherwise now; see with README_UPDATE=1");
    }
    assert_eq!(before.lines().count(), after.lines().count());
}
