//! `cotenant exec`: placed before the first instruction, and the command in every other respect.

use std::process::{Output, Stdio};

use nix::sys::signal::Signal;

use super::stage::{IDLE, OTHER, RR, kernel, last_cpu, stage, until};

/// What the command's first instructions see: its mask, priority and policy.
const LOOK: &str = "sed -n 's/^Cpus_allowed_list:\\t//p' /proc/$$/status; cut -d' ' -f40,41 /proc/$$/stat";

#[test]
fn a_command_is_placed_before_its_first_instruction_by_the_daemon_or_without_one() {
    let Some(mut stage) = stage() else { return };
    let cpu = last_cpu();
    // Nothing of this name runs: only who asks is in the class.
    let text = format!("rt class chosen: match exe @/nobody and user root, on cpu {cpu}, priority 7;");
    let policy = stage.policy("p.policy", &text);
    let expected = format!("{cpu}\n7 2\n");
    let look = ["chosen", "--", "sh", "-c", LOOK];
    let path = policy.to_str().unwrap();
    let alone = stage.ask(&[&["exec", "--policy", path], &look[..]].concat());
    let said = |output: &Output| String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!((alone.status.code(), said(&alone)), (Some(0), expected.clone()), "{alone:?}");
    let none = stage.ask(&[&["exec"], &look[..]].concat());
    assert_eq!((none.status.code(), none.stdout.is_empty()), (Some(2), true));
    assert!(String::from_utf8_lossy(&none.stderr).contains("name the policy's files with `--policy`"), "{none:?}");
    stage.daemon(&policy, &[]);
    let placed = stage.ask(&[&["exec"], &look[..]].concat());
    assert_eq!((placed.status.code(), said(&placed)), (Some(0), expected), "{placed:?}");
    // Wrong names and commands, and the command's own status.
    let asked = |arguments: &[&str]| {
        let output = stage.ask(&[&["exec"], arguments].concat());
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, why) = asked(&["chose", "--", "true"]);
    assert!(code == 2 && why.contains("no class `chose`: write `chosen`"), "{why}");
    assert_eq!(asked(&["chosen", "--", "/nowhere/at/all"]).0, 127);
    assert_eq!(asked(&["chosen", "--", "/dev/null"]).0, 126);
    assert_eq!(asked(&["chosen", "--", "sh", "-c", "exit 42"]).0, 42);
    assert_eq!(asked(&["chosen"]).0, 2);
}

#[test]
fn it_stays_in_its_class_and_is_the_command_for_signals_and_the_way_back() {
    let Some(mut stage) = stage() else { return };
    let policy = stage.policy("p.policy", "batch class spare: match exe @/nobody; class web: match exe @/web, nice 3;");
    let daemon = stage.daemon(&policy, &[]);
    // What it becomes belongs to another class, if it had not asked.
    let web = stage.program("web", "/bin/sleep");
    let mut command = stage.cotenant(&["exec", "spare", "--", "sh", "-c", &format!("exec {} 60", web.display())]);
    let pid = stage.run(command.stdout(Stdio::null()));
    until("the second exec", || std::fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|exe| exe == web));
    let why = || String::from_utf8(stage.ask(&["why", &pid.to_string()]).stdout).unwrap();
    until("the answer", || why().contains("because it was started by `cotenant exec`"));
    assert_eq!(kernel(pid).policy, IDLE);
    // A reload that asks after everything leaves it there; a policy without the class does not.
    stage.policy("p.policy", "batch class spare: match exe @/nobody; class web: match exe @/web, nice 4;");
    until("the reload", || stage.status()["daemon"]["last_reload"]["outcome"] == "applied");
    assert_eq!(kernel(pid).policy, IDLE);
    stage.policy("p.policy", "rt class web: match exe @/web and user root;");
    until("its own class", || kernel(pid).policy == RR);
    stage.signal(daemon, Signal::SIGTERM);
    stage.end(daemon);
    assert_eq!(kernel(pid).policy, OTHER);
    stage.signal(pid, Signal::SIGUSR1);
    assert_eq!(stage.end(pid), None, "the signal was the command's");
}
