//! What cannot be done is said, with the thing and the remedy, and nothing is half done.

use std::fs::{Permissions, set_permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;

use super::stage::{Group, OTHER, Stage, kernel, stage, until};

fn refused(stage: &Stage, arguments: &[&str], code: i32, words: &[&str]) {
    let output = stage.ask(arguments);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
    for word in words {
        assert!(said.contains(word), "{arguments:?} does not say `{word}`: {said}");
    }
}

#[test]
fn a_policy_that_others_can_write_is_refused() {
    let Some(mut stage) = stage() else { return };
    let policy = stage.policy("p.policy", "rt class web: match exe @/web;");
    let path = policy.to_str().unwrap().to_owned();
    let pid = stage.sleeper("web");
    let before = kernel(pid);
    set_permissions(&policy, Permissions::from_mode(0o666)).unwrap();
    for command in ["apply", "enforce"] {
        refused(&stage, &[command, &path], 2, &["can be written by others", &format!("chmod go-w {path}")]);
    }
    assert_eq!(kernel(pid), before);
    // Reading harms nobody.
    for command in ["lint", "plan"] {
        assert_eq!(stage.ask(&[command, &path]).status.code(), Some(0), "{command}");
    }
}

#[test]
fn paths_that_hold_no_policy_are_refused() {
    let Some(stage) = stage() else { return };
    let empty = stage.path("empty");
    std::fs::create_dir(&empty).unwrap();
    let missing = stage.path("missing.policy");
    for command in ["apply", "enforce"] {
        refused(&stage, &[command, missing.to_str().unwrap()], 2, &["no policy at", "missing.policy"]);
        refused(&stage, &[command, empty.to_str().unwrap()], 2, &["has no `*.policy` file"]);
        refused(&stage, &[command, "-"], 2, &["standard input cannot be enforced"]);
    }
}

#[test]
fn a_policy_with_mistakes_is_refused_before_anything_is_touched() {
    let Some(mut stage) = stage() else { return };
    let policy = stage.policy("p.policy", "rt class web: match exe @/web; class b: nise 5;");
    let pid = stage.sleeper("web");
    let before = kernel(pid);
    for command in ["apply", "enforce"] {
        refused(&stage, &[command, policy.to_str().unwrap()], 1, &["unknown-clause", "write `nice`", "1 error"]);
    }
    assert_eq!(kernel(pid), before);
}

#[test]
fn a_second_daemon_is_told_of_the_first() {
    let Some(mut stage) = stage() else { return };
    let policy = stage.policy("p.policy", "rt class web: match exe @/web;");
    let daemon = stage.daemon(&policy, &[]);
    let holder = format!("process {daemon}");
    for command in ["apply", "enforce"] {
        refused(&stage, &[command, policy.to_str().unwrap()], 2, &["another cotenant", &holder, "cotenant release"]);
    }
}

#[test]
fn without_privilege_nothing_is_done_and_the_remedy_is_said() {
    let Some(stage) = stage() else { return };
    // A directory and policy of the user's own, so that nothing but privilege is missing.
    const NOBODY: u32 = 65_534;
    let home = stage.path("home");
    std::fs::create_dir(&home).unwrap();
    let policy = home.join("p.policy");
    std::fs::write(&policy, stage.text("rt class web: match exe @/web;")).unwrap();
    for path in [&home, &policy] {
        std::os::unix::fs::chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    }
    let binary = home.join("cotenant");
    std::fs::copy(env!("CARGO_BIN_EXE_cotenant"), &binary).unwrap();
    let mut command = std::process::Command::new(&binary);
    command.arg("enforce").arg(&policy).arg("--run-dir").arg(home.join("run")).uid(NOBODY).gid(NOBODY);
    let output = loop {
        match command.output() {
            Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => std::thread::yield_now(),
            output => break output.unwrap(),
        }
    };
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("needs root"), "{said}");
}

#[test]
fn a_played_machine_must_fit_this_one() {
    let Some(stage) = stage() else { return };
    let policy = stage.policy("p.policy", "class a: match exe @/a, nice 1;");
    let arguments = ["enforce", policy.to_str().unwrap(), "--topology", "pack:4 core:64 pu:2"];
    refused(&stage, &arguments, 2, &["not online here", "cotenant plan"]);
}

#[test]
fn a_pipe_is_no_policy() {
    let Some(stage) = stage() else { return };
    stage.policy("a.policy", "class a: match exe @/a, nice 1;");
    let pipe = stage.path("b.policy");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::from_bits_truncate(0o644)).unwrap();
    let directory = stage.path("");
    refused(&stage, &["apply", directory.to_str().unwrap()], 2, &["b.policy` is not a regular file"]);
}

#[test]
fn a_policy_that_others_can_write_meanwhile_is_not_read_again() {
    let Some(mut stage) = stage() else { return };
    let policy = stage.policy("p.policy", "class web: match exe @/web, nice 3;");
    let pid = stage.sleeper("web");
    stage.daemon(&policy, &[]);
    set_permissions(&policy, Permissions::from_mode(0o666)).unwrap();
    std::fs::write(&policy, stage.text("rt class web: match exe @/web;")).unwrap();
    until("the refusal", || stage.log().contains("keeping the one before"));
    assert!(stage.log().contains(&format!("chmod go-w {}", policy.display())), "{}", stage.log());
    assert_eq!((kernel(pid).policy, kernel(pid).nice), (OTHER, 3));
}

#[test]
fn what_a_policy_includes_is_looked_at_as_closely() {
    let Some(stage) = stage() else { return };
    let directory = stage.path("conf.d");
    std::fs::create_dir(&directory).unwrap();
    let policy = stage.policy("p.policy", "include \"conf.d/*.policy\";");
    let included = stage.policy("conf.d/a.policy", "class web: match exe @/web, nice 3;");
    let path = policy.to_str().unwrap();
    set_permissions(&directory, Permissions::from_mode(0o755)).unwrap();
    assert_eq!(stage.ask(&["apply", path]).status.code(), Some(0));
    for (what, mode) in [(&included, 0o664), (&directory, 0o777)] {
        let before = std::fs::metadata(what).unwrap().permissions();
        set_permissions(what, Permissions::from_mode(mode)).unwrap();
        refused(&stage, &["apply", path], 2, &["can be written by others", &format!("chmod go-w {}", what.display())]);
        set_permissions(what, before).unwrap();
    }
    std::os::unix::fs::chown(&included, Some(64_129), None).unwrap();
    refused(&stage, &["apply", path], 2, &["belongs to user 64129", "chown root"]);
}

/// `enforce` in namespaces or mounts of its own, which unshare(1) makes.
fn apart(stage: &Stage, how: &[&str], prepare: &str, policy: &std::path::Path) -> std::process::Command {
    let enforce = stage.cotenant(&["enforce", policy.to_str().unwrap()]);
    let mut command = std::process::Command::new("unshare");
    command.args(how).args(["sh", "-c", &format!("{prepare} exec \"$@\""), "sh"]).arg(enforce.get_program());
    command.args(enforce.get_args()).env("NO_COLOR", "1");
    command
}

#[test]
fn namespaces_in_which_the_host_cannot_be_seen_are_named_with_the_way_out() {
    let Some(stage) = stage() else { return };
    let policy = stage.policy("p.policy", "class web: match exe @/web, nice 1;");
    for (how, cause, remedy) in [
        (&["--user", "--map-root-user"][..], "initial user and process namespaces", "--pid host"),
        (&["--pid", "--fork", "--mount-proc"][..], "initial user and process namespaces", "--pid host"),
        (&["--net"][..], "network namespace", "--network host"),
    ] {
        let output = apart(&stage, how, "", &policy).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{how:?}: {said}");
        assert!(said.contains(cause) && said.contains(remedy), "{how:?}: {said}");
    }
}

#[test]
fn in_a_cgroup_tree_that_is_read_only_processes_get_an_affinity() {
    let Some(mut stage) = stage() else { return };
    let tree = std::path::Path::new("/sys/fs/cgroup/cpuset");
    if !tree.join("cpuset.cpus").exists() {
        return eprintln!("passed over: version 2 of control groups, where nobody is moved");
    }
    let policy = stage.policy("p.policy", "rt class web: match exe @/web, on cpu 0, priority 4;");
    let pid = stage.sleeper("web");
    let before = kernel(pid);
    let prepare = format!("mount -o remount,bind,ro {} &&", tree.display());
    let command = apart(&stage, &["--mount"], &prepare, &policy);
    let daemon = stage.daemon_of(command);
    assert_eq!((kernel(pid).priority, kernel(pid).cpus.as_str()), (4, "0"));
    let log = stage.log();
    assert!(log.contains("get an affinity instead") && log.contains("mounted read-only"), "{log}");
    stage.signal(daemon, nix::sys::signal::Signal::SIGTERM);
    assert_eq!(stage.end(daemon), Some(0));
    assert_eq!(kernel(pid), before);
}

#[test]
fn without_cpusets_processes_get_an_affinity() {
    let Some(mut stage) = stage() else { return };
    let policy = stage.policy("p.policy", "rt class web: match exe @/web, on cpu 0, priority 4;");
    let pid = stage.sleeper("web");
    let before = kernel(pid);
    let command = apart(&stage, &["--mount"], "umount -l /sys/fs/cgroup &&", &policy);
    let daemon = stage.daemon_of(command);
    assert_eq!((kernel(pid).priority, kernel(pid).cpus.as_str()), (4, "0"));
    assert_eq!(stage.status()["classes"][0]["members"][0]["place"], "affinity");
    stage.signal(daemon, nix::sys::signal::Signal::SIGTERM);
    assert_eq!(stage.end(daemon), Some(0));
    assert_eq!(kernel(pid), before);
}

#[test]
fn the_socket_and_its_peers_are_root_s_alone() {
    let Some(mut stage) = stage() else { return };
    const USER: u32 = 64_128;
    let policy = stage.policy("p.policy", "class web: match exe @/web, nice 1;");
    stage.daemon(&policy, &[]);
    let (run, socket) = (stage.path("run"), stage.path("run/control.sock"));
    assert_eq!(std::fs::metadata(&socket).unwrap().permissions().mode() & 0o777, 0o660);
    let binary = stage.program("cotenant", env!("CARGO_BIN_EXE_cotenant"));
    set_permissions(&binary, Permissions::from_mode(0o755)).unwrap();
    let asks = |what: &str| {
        let mut command = std::process::Command::new(&binary);
        let output = command.arg(what).arg("--run-dir").arg(&run).uid(USER).gid(USER).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, said) = asks("status");
    assert!(code == Some(2) && said.contains("Permission denied"), "{said}");
    // Whatever becomes of the mode, the kernel says who asks.
    set_permissions(&socket, Permissions::from_mode(0o666)).unwrap();
    for what in ["status", "release"] {
        let (code, said) = asks(what);
        assert_eq!(code, Some(2), "{what}: {said}");
    }
    assert_eq!(stage.status()["classes"][0]["name"], "web", "it is still there");
}

#[test]
fn a_group_without_real_time_budget_is_named_as_the_cause() {
    let tree = std::path::Path::new("/sys/fs/cgroup/cpu");
    if !tree.join("cpu.rt_runtime_us").exists() {
        return eprintln!("passed over: no cpu tree of version 1 with real-time budgets");
    }
    let Some(mut stage) = stage() else { return };
    // A new group has none.
    let group = tree.join(format!("{}-budget", stage.group()));
    std::fs::create_dir(&group).unwrap();
    stage.keep(Group(group.clone()));
    assert_eq!(std::fs::read_to_string(group.join("cpu.rt_runtime_us")).unwrap().trim(), "0");
    let (poor, other) = (stage.sleeper("web"), stage.sleeper("web"));
    std::fs::write(group.join("cgroup.procs"), poor.to_string()).unwrap();
    let policy = stage.policy("p.policy", "rt class web: match exe @/web, priority 4;");
    stage.daemon(&policy, &[]);
    assert_eq!((kernel(poor).policy, kernel(other).priority), (OTHER, 4));
    let said = stage.status()["failures"][0].to_string();
    assert!(said.contains("sched_setattr") && said.contains("cpu.rt_runtime_us"), "{said}");
    assert!(stage.log().contains("cpu.rt_runtime_us"), "{}", stage.log());
}
