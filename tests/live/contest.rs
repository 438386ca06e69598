//! Somebody else sets what a policy sets.

use std::thread::sleep;
use std::time::Duration;

use cotenant_enforcer::ids::Tid;
use cotenant_enforcer::sys::sched;

use super::stage::{kernel, stage, until};

#[test]
fn who_is_changed_by_hand_is_left_alone_and_shown() {
    let Some(mut stage) = stage() else { return };
    let policy = stage.policy("p.policy", "class web: match exe @/web, nice 3;");
    let pid = stage.sleeper("web");
    stage.daemon(&policy, &[]);
    assert_eq!(kernel(pid).nice, 3);
    sched::set_nice(Tid(pid as i32), 8).unwrap();
    // A change of the policy elsewhere looks at everything.
    stage.policy("p.policy", "class web: match exe @/web, nice 3; class other: match exe @/other, nice 1;");
    until("the reload", || stage.status()["daemon"]["last_reload"]["outcome"] == "applied");
    assert_eq!(kernel(pid).nice, 8);
    let member = stage.status()["classes"][0]["members"][0].clone();
    assert_eq!((&member["theirs"], &member["conforming"], &member["contested"]), (&1.into(), &0.into(), &false.into()));
    let shown = stage.ask(&["status"]);
    assert!(String::from_utf8_lossy(&shown.stdout).contains("changed by somebody else"), "{shown:?}");
}

#[test]
fn a_tug_of_war_is_one_line_in_the_log_and_ends() {
    let Some(mut stage) = stage() else { return };
    let policy = stage.policy("p.policy", "class web: match exe @/web, nice 3, insist;");
    let pid = stage.sleeper("web");
    stage.daemon(&policy, &[]);
    let said = |log: String| log.lines().filter(|line| line.contains("contested: something else")).count();
    until("the contest", || {
        sched::set_nice(Tid(pid as i32), 8).unwrap();
        sleep(Duration::from_millis(50));
        said(stage.log()) > 0
    });
    assert_eq!(stage.status()["classes"][0]["members"][0]["contested"], true);
    assert_eq!(stage.status()["daemon"]["contested"], 1);
    // The other one stops, and what the policy says holds after the pause.
    until("the last word", || kernel(pid).nice == 3);
    assert_eq!(said(stage.log()), 1, "{}", stage.log());
    let shown = stage.ask(&["status"]);
    assert!(String::from_utf8_lossy(&shown.stdout).contains("reactive, 1 s"), "{shown:?}");
}
