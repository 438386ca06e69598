//! What somebody else sets after a process was placed is theirs.

use super::*;

fn share(enforcer: &mut Enforcer, class: usize, cpus: &str) {
    enforcer.assignment.classes[class].as_mut().unwrap().cpus = set(cpus);
    let mut pass = Pass::default();
    enforcer.refresh(&mut pass);
    assert_eq!(pass.failures, []);
}

#[test]
fn attributes_set_by_hand_stand_until_the_policy_says_something_new() {
    if !is_root() {
        return;
    }
    let mut stage = Stage::new();
    let a = stage.sleeper("a");
    settled(a, "a");
    let mut enforcer = stage.start(stage.plan("rt class a: match exe @/a, priority 5;", &machine(1)));
    enforcer.scan().unwrap();
    let by_hand = SchedState { nice: 4, ..SchedState::of(SchedPolicy::Batch) };
    sched::set(a.leader(), &by_hand).unwrap();
    enforcer.scan().unwrap();
    assert_eq!((kernel(a).0, kernel(a).2), (SchedPolicy::Batch, 4));
    enforcer.adopt(stage.plan("rt class a: match exe @/a, priority 6;", &machine(1))).unwrap();
    assert_eq!((kernel(a).0, kernel(a).1), (SchedPolicy::RoundRobin, 6));
    enforcer.release_all();
    assert_eq!((kernel(a).0, kernel(a).2), (SchedPolicy::Batch, 4), "back to what it was last set to");
}

#[test]
fn a_mask_set_by_hand_stands_while_the_load_moves_the_class() {
    if !is_root() {
        return;
    }
    let mut stage = Stage::new();
    let (a, other) = (stage.sleeper("a"), stage.sleeper("other"));
    settled(a, "a");
    settled(other, "other");
    // Beside a stranger in a group of their own, so that only affinity is left.
    let _home = stage.home(&[a, other]);
    let mut enforcer = stage.start(stage.plan("class a: match exe @/a, on cpus 0-1, prefer idle core;", &machine(2)));
    enforcer.scan().unwrap();
    assert_eq!(kernel(a).3, set("0"));
    share(&mut enforcer, 0, "1");
    assert_eq!(kernel(a).3, set("1"), "the load moves it");
    affinity::set(a.leader(), &set("0")).unwrap();
    share(&mut enforcer, 0, "0-1");
    enforcer.scan().unwrap();
    share(&mut enforcer, 0, "1");
    assert_eq!(kernel(a).3, set("0"), "set by hand");
    enforcer.release_all();
    assert_eq!(kernel(a).3, set("0"));
}

#[test]
fn a_process_that_somebody_else_moved_on_stays_there() {
    let mut stage = Stage::new();
    let a = stage.sleeper("a");
    settled(a, "a");
    let mut enforcer = stage.start(stage.plan("class a: match exe @/a, on cpu 0;", &machine(1)));
    if !is_root() || enforcer.version() != Some(Version::V1) {
        return;
    }
    enforcer.scan().unwrap();
    let home = stage.home(&[a]);
    enforcer.release_all();
    let cgroups = enforcer.procfs.cgroups(a).unwrap();
    assert_eq!(cgroups.controller("cpuset"), Some(format!("/{}", home.name()).as_bytes()));
}
