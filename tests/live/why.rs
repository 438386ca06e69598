//! `cotenant why` on prepared processes, each of which somebody once asked about.

use std::process::Command;

use cotenant_enforcer::ids::Tid;
use cotenant_enforcer::sys::sched;

use super::stage::{Stage, kernel, stage, until};

const POLICY: &str = "class web: match exe @/web, nice 3;
class player: match script player.py, nice 4;
class desk: match exe \"@/file manager\" with descendants, nice 5;
rt class irq: match comm ksoftirqd and user root and exe /usr/sbin/ksoftirqd;
unmanaged class left: match exe @/left;
class build: match exe @/compiler and (arg -O2 or user nobody), nice 6;
class shop: match unit shop.service or slice shop.slice, nice 7;";

/// What `why` says, without what differs from host to host; `pids` are those that may be named.
fn said(stage: &Stage, pids: &[u32]) -> String {
    let output = stage.cotenant(&["why", &pids[0].to_string()]).env("COLUMNS", "250").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let of_host = ["arg ", "user ", "group ", "cgroup ", "unit ", "slice ", "container ", "parent ", "────"];
    let text = text.replace(&stage.path("").display().to_string(), "@/").replace(stage.group(), "GROUP");
    let names = |word: &&str| pids.iter().any(|pid| pid.to_string() == *word);
    let word = |word: &str| if names(&word) { "PID".to_owned() } else { word.replace(&host_cpus(), "ALL") };
    // How long a line is below a clause is up to the length of a path.
    let line = |line: &str| line.replace('─', "").split_whitespace().map(word).collect::<Vec<_>>().join(" ");
    let lines = text.lines().filter(|line| !of_host.iter().any(|start| line.starts_with(start)));
    let mut lines: Vec<String> = lines.map(line).collect();
    lines.dedup();
    format!("exit code {}\n{}", output.status.code().unwrap(), lines.join("\n"))
}

/// The CPUs of this host as the kernel lists them.
fn host_cpus() -> String {
    kernel(std::process::id()).cpus
}

fn shown(stage: &Stage, name: &str, pids: &[u32]) {
    // It came to its class a moment ago, or two.
    let since = |line: &str| match line.split_once("` for ").zip(line.split_once(" s")) {
        Some(((class, _), (_, rest))) if line.starts_with("in class") => format!("{class}` for N s{rest}"),
        _ => line.to_owned(),
    };
    insta::assert_snapshot!(name, said(stage, pids).lines().map(since).collect::<Vec<_>>().join("\n"));
}

#[test]
fn each_of_ten_processes_has_an_answer() {
    let Some(mut stage) = stage() else { return };
    let policy = stage.policy("p.policy", POLICY);
    stage.daemon(&policy, &[]);
    let start = |stage: &mut Stage, name: &str, original: &str, arguments: &[&str]| {
        let program = stage.program(name, original);
        let pid = stage.run(Command::new(&program).args(arguments));
        until("its exec", || std::fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|exe| exe == program));
        pid
    };
    let web = stage.sleeper("web");
    until("the placement", || kernel(web).nice == 3);
    shown(&stage, "matched_by_its_program", &[web]);
    sched::set_nice(Tid(web as i32), 9).unwrap();
    shown(&stage, "changed_by_hand", &[web]);
    let misspelt = start(&mut stage, "wep", "/bin/sleep", &["60"]);
    shown(&stage, "misspelt", &[misspelt]);
    let named = start(&mut stage, "editor", "/bin/sh", &["-c", "sleep 60; :", "ksoftirqd"]);
    shown(&stage, "an_argument_is_no_program", &[named]);
    // A shell by another name runs a script by another name.
    std::fs::write(stage.path("playr.py"), "sleep 60; :").unwrap();
    let playr = stage.path("playr.py").display().to_string();
    let script = start(&mut stage, "python3", "/bin/sh", &[&playr]);
    shown(&stage, "an_interpreter", &[script]);
    let desk = start(&mut stage, "file manager", "/bin/sh", &["-c", "sleep 60 & wait"]);
    until("the placement", || kernel(desk).nice == 5);
    shown(&stage, "a_blank_in_its_name", &[desk]);
    let children = || std::fs::read_to_string(format!("/proc/{desk}/task/{desk}/children")).unwrap();
    until("its child", || !children().is_empty());
    let child: u32 = children().trim().parse().unwrap();
    until("the child's exec", || std::fs::read_to_string(format!("/proc/{child}/comm")).unwrap().trim() == "sleep");
    until("the placement", || said(&stage, &[child]).contains("keeps the descendants"));
    shown(&stage, "a_descendant", &[child, desk]);
    let left = stage.sleeper("left");
    until("the classification", || said(&stage, &[left]).contains("unmanaged"));
    shown(&stage, "unmanaged", &[left]);
    let compiler = start(&mut stage, "compiler", "/bin/sh", &["-c", "sleep 60; :", "-O3"]);
    shown(&stage, "half_of_it_holds", &[compiler]);
    let stranger = start(&mut stage, "stranger", "/bin/sleep", &["60"]);
    shown(&stage, "in_no_class", &[stranger]);
}

#[test]
fn another_policy_can_be_asked_without_a_daemon() {
    let Some(mut stage) = stage() else { return };
    let policy = stage.policy("other.policy", "class other: match exe @/web;");
    let pid = stage.sleeper("web").to_string();
    let output = stage.ask(&["why", &pid, policy.to_str().unwrap(), "--format", "json"]);
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&answer["matched"], &answer["enforced"]), (&"other".into(), &serde_json::Value::Null), "{answer:#}");
    assert_eq!((&answer["clause"]["line"], &answer["clause"]["column"]), (&1.into(), &14.into()));
    assert_eq!(answer["tried"][0]["reasons"][0]["holds"], true);
    let thread = stage.ask(&["why", &pid]);
    assert_eq!(thread.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&thread.stderr).contains("cotenant why PID PATH"), "{thread:?}");
}
