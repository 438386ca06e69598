//! A policy that changes under a running daemon.

use std::fs;

use nix::sys::signal::Signal;

use super::stage::{FIFO, IDLE, OTHER, RR, kernel, stage, until};

#[test]
fn a_changed_policy_takes_effect_and_a_broken_one_does_not() {
    let Some(mut stage) = stage() else { return };
    let policy = stage.policy("p.policy", "rt class web: match exe @/web, priority 5;");
    let pid = stage.sleeper("web");
    stage.daemon(&policy, &[]);
    assert_eq!((kernel(pid).policy, kernel(pid).priority), (RR, 5));
    // Written in place, as with `>`.
    stage.policy("p.policy", "rt class web: match exe @/web, priority 6;");
    until("the new priority", || kernel(pid).priority == 6);
    // Written beside and renamed over, as editors do.
    stage.policy(".p.swp", "rt class web: match exe @/web, fifo, priority 7;");
    fs::rename(stage.path(".p.swp"), &policy).unwrap();
    until("the new policy", || kernel(pid).policy == FIFO);
    // Broken: the plan stays and the reason is said, in the log and in `status`.
    stage.policy("p.policy", "rt class web: match exe @/web, fifo, priotity 8;");
    until("the refusal", || stage.log().contains("the changed policy is wrong, keeping the one before"));
    assert!(stage.log().contains("write `priority`"), "{}", stage.log());
    assert_eq!((kernel(pid).policy, kernel(pid).priority), (FIFO, 7));
    let reload = stage.status()["daemon"]["last_reload"].clone();
    assert_eq!(reload["outcome"], "refused");
    assert!(reload["detail"].as_str().unwrap().contains("priotity"), "{reload:#}");
    // Mended.
    stage.policy("p.policy", "batch class web: match exe @/web;");
    until("the mended policy", || kernel(pid).policy == IDLE);
    assert_eq!(stage.status()["daemon"]["last_reload"]["outcome"], "applied");
    // Gone: that is no policy, so the plan stays.
    fs::remove_file(&policy).unwrap();
    until("the complaint", || stage.status()["daemon"]["last_reload"]["outcome"] == "refused");
    assert_eq!(kernel(pid).policy, IDLE);
    // Back, and it no longer speaks of the process.
    stage.policy("p.policy", "batch class other: match exe @/other;");
    until("the release", || kernel(pid).policy == OTHER);
}

#[test]
fn only_what_differs_is_touched() {
    let Some(mut stage) = stage() else { return };
    let policy = stage.policy("p.policy", "rt class a: match exe @/a, priority 5; class b: match exe @/b, nice 3;");
    let (a, b) = (stage.sleeper("a"), stage.sleeper("b"));
    stage.daemon(&policy, &[]);
    // Changed by hand: a reload that says nothing new about `b` leaves it alone.
    assert_eq!(kernel(b).nice, 3);
    stage.policy("p.policy", "rt class a: match exe @/a, priority 6; class b: match exe @/b, nice 3;");
    until("the new priority", || kernel(a).priority == 6);
    until("the log", || stage.log().contains("class `a`: other scheduling"));
    assert!(!stage.log().contains("class `b`"), "{}", stage.log());
}

#[test]
fn an_included_file_is_watched_where_it_stands() {
    let Some(mut stage) = stage() else { return };
    std::fs::create_dir(stage.path("conf.d")).unwrap();
    let policy = stage.policy("p.policy", "include \"conf.d/*.policy\";");
    stage.policy("conf.d/a.policy", "rt class web: match exe @/web, priority 3;");
    let pid = stage.sleeper("web");
    stage.daemon(&policy, &[]);
    assert_eq!(kernel(pid).priority, 3);
    stage.policy("conf.d/a.policy", "rt class web: match exe @/web, priority 4;");
    until("the included change", || kernel(pid).priority == 4);
    // A file that the pattern takes in later comes first by its name.
    stage.policy("conf.d/0.policy", "batch class first: match exe @/web and user root;");
    until("the newly included file", || kernel(pid).policy == IDLE);
}

#[test]
fn a_reload_that_is_asked_for_happens_whether_or_not_the_text_changed() {
    let Some(mut stage) = stage() else { return };
    let policy = stage.policy("p.policy", "class web: match exe @/web, nice 3;");
    let daemon = stage.daemon(&policy, &[]);
    let last_reload = || stage.status()["daemon"]["last_reload"]["outcome"].clone();
    assert_eq!(last_reload(), serde_json::Value::Null);
    stage.signal(daemon, Signal::SIGHUP);
    until("the reload", || last_reload() == "unchanged");
    // A wrong text is said to be wrong again to whoever asks again.
    let times = || stage.log().matches("the changed policy is wrong").count();
    stage.policy("p.policy", "class web: match exe @/web, nise 3;");
    until("the refusal", || times() == 1);
    stage.signal(daemon, Signal::SIGHUP);
    until("the second refusal", || times() == 2);
}
