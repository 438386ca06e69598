//! The sensor on this machine's own kernel, its first two CPUs played as siblings of one core.

use std::fs;
use std::path::Path;
use std::process::Command;

use nix::sys::signal::Signal;

use super::stage::{IDLE, Stage, kernel, stage, until};

const SIBLINGS: [&str; 2] = ["--topology", "pack:1 core:1 pu:2"];

/// None where this kernel has no sensor, which is said.
fn watched(stage: &mut Stage, policy: &Path, more: &[&str]) -> Option<u32> {
    let probe = stage.cotenant(&["enforce", "/nowhere", "--eyes", "sensor"]).output().unwrap();
    if String::from_utf8_lossy(&probe.stderr).contains("sensor's BPF program") {
        eprintln!("passed over: {}", String::from_utf8_lossy(&probe.stderr));
        return None;
    }
    Some(stage.daemon(policy, &[&SIBLINGS[..], &["--eyes", "sensor"], more].concat()))
}

/// A process that spins.
fn spinner(stage: &mut Stage, name: &str) -> u32 {
    let program = stage.program(name, "/bin/sh");
    let pid = stage.run(Command::new(&program).args(["-c", "while :; do :; done"]));
    let exe = format!("/proc/{pid}/exe");
    until("its exec", || fs::read_link(&exe).is_ok_and(|exe| exe == program));
    pid
}

#[test]
fn a_gated_class_stops_when_somebody_comes_to_its_core_and_is_left_as_it_was() {
    let Some(mut stage) = stage() else { return };
    let policy = stage.policy("p.policy", "batch: match exe @/batch, only when core idle;");
    let batch = spinner(&mut stage, "batch");
    let before = kernel(batch);
    // So slow a tick that the sensor is what stops it.
    let Some(daemon) = watched(&mut stage, &policy, &["--tick", "1s"]) else { return };
    assert_eq!(kernel(batch).policy, IDLE);
    spinner(&mut stage, "other");
    let frozen = format!("/sys/fs/cgroup/freezer/{}/batch/freezer.state", stage.group());
    if Path::new(&frozen).exists() {
        until("the freezer", || fs::read_to_string(&frozen).unwrap().trim() == "FROZEN");
    }
    let status = stage.status();
    assert_eq!(status["daemon"]["eyes"], "sensor");
    assert!(status["daemon"]["sensor"]["gate_rings"].as_u64().unwrap() > 0, "{status:#}");
    assert_eq!(status["classes"][0]["clauses"][1]["means"], "sensor", "{status:#}");
    stage.signal(daemon, Signal::SIGTERM);
    assert_eq!(stage.end(daemon), Some(0));
    assert_eq!(kernel(batch), before);
    assert!(!stage.has_groups() && !stage.path("run/moving").exists());
}

#[test]
fn a_class_that_prefers_idle_cores_has_its_whole_zone_open() {
    let Some(mut stage) = stage() else { return };
    let policy = stage.policy("p.policy", "rt class web: match exe @/web, prefer idle core;");
    let web = stage.sleeper("web");
    let before = kernel(web);
    let Some(daemon) = watched(&mut stage, &policy, &[]) else { return };
    assert_eq!(kernel(web).cpus, "0-1");
    let status = stage.ask(&["status"]);
    let text = String::from_utf8_lossy(&status.stdout).into_owned();
    assert!(text.contains("watched by the sensor, 0.1 ms: 0 threads moved\n"), "{text}");
    assert_eq!(stage.status()["daemon"]["ticks"], 0, "there is nothing to look at the load for");
    stage.signal(daemon, Signal::SIGTERM);
    assert_eq!(stage.end(daemon), Some(0));
    assert_eq!(kernel(web), before);
}
