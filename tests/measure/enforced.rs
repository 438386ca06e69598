//! A policy in force on this host while something is measured.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A daemon with a run directory and a group of its own; ends when it is dropped, and puts everything back.
pub(crate) struct Enforced {
    daemon: Child,
    folder: tempfile::TempDir,
}

impl Enforced {
    /// Puts a policy in force, and waits until it is.
    pub(crate) fn new(policy: &str, arguments: &[&str]) -> Enforced {
        let folder = tempfile::tempdir().unwrap();
        let (file, log) = (folder.path().join("measured.policy"), folder.path().join("log"));
        std::fs::write(&file, policy).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_cotenant"));
        command.arg("enforce").arg(&file).args(arguments).arg("--run-dir").arg(folder.path().join("run"));
        command.args(["--group", &format!("cotenant-measure-{}", std::process::id())]);
        command.stdout(Stdio::null()).stderr(std::fs::File::create(&log).unwrap());
        let daemon = command.spawn().unwrap();
        let said = || std::fs::read_to_string(&log).unwrap_or_default();
        let start = Instant::now();
        while !said().contains("the policy is in force") {
            assert!(start.elapsed() < Duration::from_secs(20), "the policy does not come in force:\n{}", said());
            std::thread::sleep(Duration::from_millis(20));
        }
        Enforced { daemon, folder }
    }

    /// Waits until a class has so many members.
    pub(crate) fn await_members(&self, class: &str, members: usize) {
        let run = self.folder.path().join("run");
        let start = Instant::now();
        loop {
            let mut command = Command::new(env!("CARGO_BIN_EXE_cotenant"));
            command.args(["status", "--format", "json", "--run-dir"]).arg(&run);
            let status: serde_json::Value =
                serde_json::from_slice(&command.output().unwrap().stdout).unwrap_or_default();
            let of = status["classes"].as_array().and_then(|all| all.iter().find(|it| it["name"] == class));
            if of.is_some_and(|it| it["members"].as_array().is_some_and(|all| all.len() == members)) {
                return;
            }
            assert!(start.elapsed() < Duration::from_secs(10), "`{class}` has not {members} members: {status:#}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Enforced {
    fn drop(&mut self) {
        let _ = Command::new("kill").args(["-TERM", &self.daemon.id().to_string()]).status();
        let _ = self.daemon.wait();
    }
}

/// The load under a name of its own, which is what a policy matches.
pub(crate) fn named(folder: &Path, name: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::copy(super::image::load(), &path).unwrap();
    path
}
