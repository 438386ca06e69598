//! The tutorial, typed as it stands: one shell, a daemon, real processes.
//!
//! Only the name `cotenant` is another's: a script of that name adds a run directory and a group of the test's own to what
//! touches the host. With `README_UPDATE=1` the page is rewritten instead; read the difference before it is committed.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

#[path = "documents/session.rs"]
mod session;

use std::fs::{Permissions, read_to_string, set_permissions, write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use session::{Shell, Step, blocks, shown, steps};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/tutorial.md");

const SCRIPT: &str = r#"#!/bin/sh
case $1 in
enforce | status | why | exec | release)
    command=$1
    shift
    exec BINARY "$command" --run-dir PLACE/run --group GROUP "$@"
    ;;
*) exec BINARY "$@" ;;
esac
"#;

/// Ends what the tutorial would have ended, where it did not come so far.
struct Cleared<'a>(&'a Path);

impl Drop for Cleared<'_> {
    fn drop(&mut self) {
        let _ = Command::new(self.0.join("programs/cotenant")).arg("release").output();
    }
}

/// Text with what differs from run to run left out: process ids and the widths that tables have from them.
fn settled(text: &str) -> Vec<String> {
    let word = |word: &str| match word {
        rule if rule.chars().all(|sign| sign == '─') => "─".to_owned(),
        word => {
            let digits = word.trim_matches(|sign: char| !sign.is_ascii_digit());
            let is_id = digits.len() > 2 && digits.chars().all(|sign| sign.is_ascii_digit());
            if is_id { word.replace(digits, "N") } else { word.to_owned() }
        }
    };
    text.lines().map(|line| line.split_whitespace().map(word).collect::<Vec<_>>().join(" ")).collect()
}

/// How each line begins, for what depends on the host and its load.
fn beginnings(text: &str) -> Vec<String> {
    let first = |line: String| line.split(' ').next().unwrap_or_default().to_owned();
    settled(text).into_iter().map(first).collect()
}

#[test]
fn the_tutorial_goes_as_it_says() {
    if !nix::unistd::geteuid().is_root() {
        return eprintln!("passed over: placing processes needs root");
    }
    let directory = tempfile::tempdir().unwrap();
    set_permissions(directory.path(), Permissions::from_mode(0o755)).unwrap();
    let script = SCRIPT.replace("BINARY", env!("CARGO_BIN_EXE_cotenant"));
    let script = script.replace("PLACE", directory.path().to_str().unwrap());
    let script = script.replace("GROUP", &format!("cotenant-tutorial-{}", std::process::id()));
    let programs = directory.path().join("programs");
    std::fs::create_dir(&programs).unwrap();
    write(programs.join("cotenant"), script).unwrap();
    set_permissions(programs.join("cotenant"), Permissions::from_mode(0o755)).unwrap();
    let _cleared = Cleared(directory.path());

    let before = read_to_string(PAGE).unwrap();
    // Blocks of both kinds, in the order in which they stand.
    let plain = before.replace("```console varies\n", "```console\n");
    let varying = blocks(&before, "console varies");
    let sessions: Vec<(Vec<Step>, String)> =
        blocks(&plain, "console").into_iter().map(|block| (steps(&block), block)).collect();
    let typed: Vec<&str> = sessions.iter().flat_map(|(steps, _)| steps.iter().map(|it| it.typed.as_str())).collect();
    assert!(typed.len() > 20, "the tutorial is typed");
    let shell = Shell { directory: directory.path(), programs: &programs };
    let mut said = shell.types(&typed).into_iter();

    let mut after = before.clone();
    for (steps, block) in sessions {
        let varies = varying.contains(&block);
        let mut now = Vec::new();
        for step in steps {
            let said = said.next().unwrap();
            if std::env::var_os("README_UPDATE").is_none() {
                let settle = if varies { beginnings } else { settled };
                assert_eq!(settle(&said), settle(&step.said), "$ {}\n{said}", step.typed);
            }
            now.push(Step { typed: step.typed, said });
        }
        after = after.replace(&block, &shown(&now));
    }
    if std::env::var_os("README_UPDATE").is_some() {
        write(PAGE, after).unwrap();
    }
}
