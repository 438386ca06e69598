//! `apply`, `release` and `status` without a daemon.

use super::stage::{RR, kernel, last_cpu, stage};

#[test]
fn one_pass_places_and_release_puts_back() {
    let Some(mut stage) = stage() else { return };
    let policy = stage.policy("p.policy", &format!("rt class web: match exe @/web, on cpu {};", last_cpu()));
    let pid = stage.sleeper("web");
    let before = kernel(pid);
    let applied = stage.ask(&["apply", policy.to_str().unwrap()]);
    assert_eq!((applied.status.code(), &applied.stdout[..]), (Some(0), &b"1 process placed\n"[..]), "{applied:?}");
    assert_eq!((kernel(pid).policy, kernel(pid).cpus), (RR, last_cpu()));
    let released = stage.ask(&["release"]);
    assert_eq!((released.status.code(), &released.stdout[..]), (Some(0), &b"1 process put back\n"[..]));
    assert_eq!(kernel(pid), before);
    let again = stage.ask(&["release"]);
    assert_eq!((again.status.code(), &again.stdout[..]), (Some(0), &b"0 processes put back\n"[..]));
    assert!(!stage.has_groups());
}

#[test]
fn clauses_that_need_watching_are_said_to_be_unkept() {
    let Some(mut stage) = stage() else { return };
    let policy = stage.policy("p.policy", "class web: match exe @/web, prefer idle core;");
    let pid = stage.sleeper("web");
    let applied = stage.ask(&["apply", policy.to_str().unwrap(), "--topology", "pack:1 core:1 pu:2"]);
    let said = String::from_utf8_lossy(&applied.stderr).into_owned();
    assert_eq!(applied.status.code(), Some(3), "{said}");
    assert!(said.contains("not done: class `web`: `prefer idle core` follows the load"), "{said}");
    assert!(said.contains("cotenant enforce"), "{said}");
    assert_eq!(kernel(pid).cpus, "0");
}

#[test]
fn status_without_a_daemon_says_that_nothing_is_enforced() {
    let Some(stage) = stage() else { return };
    let status = stage.ask(&["status"]);
    let said = String::from_utf8_lossy(&status.stderr).into_owned();
    assert_eq!(status.status.code(), Some(2));
    assert!(said.contains("nothing is enforced") && said.contains("cotenant enforce PATH"), "{said}");
}
