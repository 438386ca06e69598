//! Churn: many short processes, reloads, and a daemon that is killed and started again. Run with `--ignored`.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use nix::sys::signal::Signal;

use super::stage::{IDLE, Kernel, RR, Stage, kernel, stage, until};

const ROUNDS: u32 = 12;

/// Short processes of each kind in a round.
const EACH: usize = 25;

/// Short ones of every kind: of a class, of none, a shell of a class with children, and one that becomes another.
fn churn(stage: &Stage) -> Vec<Child> {
    let at = |name: &str, original: &str| stage.program(name, original).display().to_string();
    let (web, shell, leaf) = (at("web", "/bin/sleep"), at("shell", "/bin/sh"), at("leaf", "/bin/sleep"));
    let (forks, becomes) = (format!("({leaf} 0.02) & (: & :) & {web} 0.01; wait"), format!("exec {leaf} 0.02"));
    let kinds: [&[&str]; 4] = [&[&web, "0.02"], &[&leaf, "0.02"], &[&shell, "-c", &forks], &[&shell, "-c", &becomes]];
    let kinds = std::iter::repeat_n(kinds, EACH).flatten();
    kinds.map(|words| Command::new(words[0]).args(&words[1..]).stdin(Stdio::null()).spawn().unwrap()).collect()
}

fn count(directory: &Path) -> usize {
    fs::read_dir(directory).unwrap().count()
}

/// The daemon's resident memory in KiB.
fn resident(daemon: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{daemon}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
#[ignore = "ten seconds of churn"]
fn whatever_comes_and_goes_survivors_conform_and_all_is_put_back() {
    let Some(mut stage) = stage() else { return };
    let text = |priority: u32| {
        format!(
            "rt class web: match exe @/web, on cpu 0, priority {priority};
             batch class shells: match exe @/shell with descendants, only when core idle;"
        )
    };
    // The programs stand before anything forks, or they could be open for writing in a child.
    for (name, original) in [("web", "/bin/sleep"), ("leaf", "/bin/sleep"), ("shell", "/bin/sh")] {
        stage.program(name, original);
    }
    let policy = stage.policy("p.policy", &text(1));
    let mut survivors = vec![(stage.sleeper("web"), "web"), (stage.sleeper("leaf"), "leaf")];
    let before = kernel(survivors[0].0);
    let mut daemon = stage.daemon(&policy, &[]);
    let (mut files, mut memory) = (0, 0);
    for round in 1..=ROUNDS {
        let mut short = churn(&stage);
        survivors.push((stage.sleeper("web"), "web"));
        stage.policy("p.policy", &text(1 + round % 50));
        short.append(&mut churn(&stage));
        until("the new priority", || kernel(survivors[0].0).priority == 1 + round % 50);
        if round % 4 == 0 {
            stage.signal(daemon, Signal::SIGKILL);
            stage.end(daemon);
            survivors.push((stage.sleeper("web"), "web"));
            short.append(&mut churn(&stage));
            daemon = stage.daemon(&policy, &[]);
        }
        short.iter_mut().for_each(|child| assert!(child.wait().is_ok()));
        if round == ROUNDS - 3 {
            until("the short ones' end", || stage.status()["classes"][1]["members"].as_array().unwrap().is_empty());
            (files, memory) = (count(Path::new(&format!("/proc/{daemon}/fd"))), resident(daemon));
        }
        if round == ROUNDS - 1 {
            until("the short ones' end", || stage.status()["classes"][1]["members"].as_array().unwrap().is_empty());
            assert_eq!(count(Path::new(&format!("/proc/{daemon}/fd"))), files, "no descriptor is lost");
            assert!(resident(daemon) < memory + memory / 4, "{} KiB, and {memory} before", resident(daemon));
        }
    }
    let status = stage.status();
    assert_eq!(status["failures"].as_array().unwrap().len(), 0, "{status:#}");
    let webs = survivors.iter().filter(|(_, name)| *name == "web").count();
    assert_eq!(status["classes"][0]["members"].as_array().unwrap().len(), webs, "{status:#}");
    assert_eq!(status["classes"][0]["threads"], status["classes"][0]["conforming"], "{status:#}");
    for (pid, name) in &survivors {
        let wanted = Kernel { policy: RR, priority: 1 + ROUNDS % 50, nice: 0, cpus: "0".to_owned() };
        assert_eq!(kernel(*pid), if *name == "web" { wanted } else { before.clone() }, "{pid} {name}");
    }
    let journal = fs::read_to_string(stage.path("run/journal")).unwrap();
    assert!(journal.lines().count() < 1_000 + 40 * survivors.len(), "{} lines", journal.lines().count());
    let released = stage.ask(&["release"]);
    assert_eq!(released.status.code(), Some(0), "{released:?}");
    assert_eq!(stage.end(daemon), Some(0));
    for (pid, name) in &survivors {
        assert_eq!(kernel(*pid), before, "{pid} {name}");
        assert_ne!(kernel(*pid).policy, IDLE);
    }
    assert!(!stage.has_groups());
    stage.ask(&["release"]);
    let journal = fs::read_to_string(stage.path("run/journal")).unwrap();
    assert_eq!(journal.lines().count(), 1, "{journal}");
}
