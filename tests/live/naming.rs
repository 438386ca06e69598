//! An unprivileged user who calls a program as a policy calls those it makes real-time does not get there.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use super::stage::{OTHER, RR, Stage, kernel, stage, until};

/// Needs no account.
const USER: u32 = 64_125;

fn as_user(stage: &mut Stage, command: &mut Command) -> u32 {
    stage.run(command.uid(USER).gid(USER))
}

/// Waits until a process shows this path as its program.
fn shows(pid: u32, path: &Path) {
    until("its exec", || fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|exe| exe == path));
}

#[test]
fn no_name_makes_a_program_real_time_that_the_policy_knows_by_its_path() {
    let Some(mut stage) = stage() else { return };
    fs::create_dir(stage.path("bin")).unwrap();
    let genuine = stage.program("bin/web", "/bin/sleep");
    // Where the user may put things.
    let home = stage.path("home");
    fs::create_dir(&home).unwrap();
    std::os::unix::fs::chown(&home, Some(USER), Some(USER)).unwrap();
    let policy = stage.policy("p.policy", "rt class web: match exe @/bin/web, priority 5;");
    stage.daemon(&policy, &[]);
    let mut others = Vec::new();
    // A program of the same name; the right name as its argument.
    let namesake = stage.program("home/web", "/bin/sleep");
    others.push(as_user(&mut stage, Command::new(&namesake).arg0(&genuine).arg("120")));
    // A link of the user's to a program of root's.
    let link = stage.path("home/link");
    symlink("/bin/sleep", &link).unwrap();
    others.push(as_user(&mut stage, Command::new(&link).arg0(&genuine).arg("120")));
    // A script of the right name, whose name the kernel shows as that of the process.
    let script = stage.path("home/script");
    fs::create_dir(&script).unwrap();
    let script = script.join("web");
    fs::write(&script, "#!/bin/sh\nwhile :; do sleep 1; done\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    others.push(as_user(&mut stage, &mut Command::new(&script)));
    // The right path in every way: another program mounted over it, as a user namespace lets anybody do.
    let (from, over) = (namesake.display().to_string(), genuine.display().to_string());
    let mount = format!("mount --bind {from} {over} && exec {over} 120");
    let mounted =
        as_user(&mut stage, Command::new("unshare").args(["--user", "--map-root-user", "--mount", "sh", "-c", &mount]));
    let ended = |pid: u32| fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| stat.contains(") Z"));
    let exe = format!("/proc/{mounted}/exe");
    until("the mount or its refusal", || ended(mounted) || fs::read_link(&exe).is_ok_and(|exe| exe == genuine));
    if ended(mounted) {
        eprintln!("passed over in part: this host gives no user namespaces to unprivileged users");
    } else {
        others.push(mounted);
        // The same file from outside of that namespace.
        let through = format!("/proc/{mounted}/root{over}");
        let outside = as_user(&mut stage, Command::new(through).arg("120"));
        shows(outside, &genuine);
        others.push(outside);
    }
    // Events come in order: when the last is placed, the others have been looked at.
    let real = as_user(&mut stage, Command::new(&genuine).arg("120"));
    shows(real, &genuine);
    until("the genuine one", || kernel(real).policy == RR);
    for pid in others {
        assert_eq!(kernel(pid).policy, OTHER, "{:?}", fs::read_link(format!("/proc/{pid}/exe")));
    }
    assert_eq!(stage.status()["classes"][0]["members"].as_array().unwrap().len(), 1);
}

#[test]
fn a_program_that_was_replaced_meanwhile_is_still_itself() {
    let Some(mut stage) = stage() else { return };
    let web = stage.sleeper("web");
    let before = kernel(web);
    // As an upgrade does it: the new file is renamed over the old one, which runs on.
    let new = stage.program("new", "/bin/cat");
    fs::rename(new, stage.path("web")).unwrap();
    let policy = stage.policy("p.policy", "rt class web: match exe @/web;");
    let daemon = stage.daemon(&policy, &[]);
    assert_eq!(kernel(web).policy, RR);
    stage.signal(daemon, nix::sys::signal::Signal::SIGTERM);
    assert_eq!(stage.end(daemon), Some(0));
    assert_eq!(kernel(web), before);
}
