//! Runs the real binary in a fixed setting.

#![allow(dead_code, reason = "each test file uses its own part")]

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// What a run came to.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// The binary, started at the root of the repository, without colours and with a known width.
pub(crate) fn cotenant(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cotenant"));
    command.args(arguments).current_dir(env!("CARGO_MANIFEST_DIR"));
    command.env("NO_COLOR", "1").env("COLUMNS", "100").stdin(Stdio::null());
    command
}

/// Runs it to its end.
pub(crate) fn run(arguments: &[&str]) -> Ran {
    finish(&mut cotenant(arguments))
}

/// Runs it with `input` on standard input.
pub(crate) fn run_with(arguments: &[&str], input: &[u8]) -> Ran {
    let mut child =
        cotenant(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    match child.stdin.take().unwrap().write_all(input) {
        // It refused for another reason and never read it.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => {}
        written => written.unwrap(),
    }
    ran(child.wait_with_output().unwrap())
}

/// Runs a prepared command to its end.
pub(crate) fn finish(command: &mut Command) -> Ran {
    ran(command.output().unwrap())
}

fn ran(output: std::process::Output) -> Ran {
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// The files of a folder of the repository with that ending, as paths from its root, in order of their names.
pub(crate) fn files(folder: &str, ending: &str) -> Vec<String> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let entries = std::fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().file_name());
    let names = entries.map(|name| name.into_string().unwrap()).filter(|name| name.ends_with(ending));
    let mut paths: Vec<String> = names.map(|name| format!("{folder}/{name}")).collect();
    paths.sort();
    assert!(!paths.is_empty(), "{folder} has no {ending}");
    paths
}

/// The name of a file without its folder and ending.
pub(crate) fn stem(path: &str) -> &str {
    path.rsplit('/').next().unwrap().split('.').next().unwrap()
}
