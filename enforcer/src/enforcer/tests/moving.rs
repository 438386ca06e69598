//! Between cotenant's own groups.

use super::*;

const FREE: &str = "batch class a: match exe @/a, on cpu 0; batch class b: match exe @/b, on cpu 0;";
const GATED: &str = "batch class a: match exe @/a, on cpu 0, only when core idle; batch class b: match exe @/b;";

fn freezer(enforcer: &Enforcer, pid: Pid) -> String {
    let cgroups = enforcer.procfs.cgroups(pid).unwrap();
    String::from_utf8(cgroups.controller("freezer").unwrap().to_vec()).unwrap()
}

#[test]
fn a_class_that_gets_a_gate_can_be_stopped_and_one_that_loses_it_cannot() {
    let mut stage = Stage::new();
    let a = stage.sleeper("a");
    settled(a, "a");
    let mut enforcer = stage.start(stage.plan(FREE, &machine(1024)));
    if !is_root() || enforcer.version() != Some(Version::V1) {
        return;
    }
    enforcer.scan().unwrap();
    assert_eq!(freezer(&enforcer, a), "/");
    assert_eq!(enforcer.adopt(stage.plan(GATED, &machine(1024))).unwrap().failures, []);
    assert_eq!(freezer(&enforcer, a), format!("/{}/a", stage.roots.group));
    assert_eq!(enforcer.adopt(stage.plan(FREE, &machine(1024))).unwrap().failures, []);
    assert_eq!(freezer(&enforcer, a), "/");
    enforcer.release_all();
    assert!(!stage.has_groups());
}

#[test]
fn a_process_that_changes_class_leaves_the_freezer_group_of_the_one_before() {
    let mut stage = Stage::new();
    let a = stage.sleeper("a");
    settled(a, "a");
    let text = "batch class a: match exe @/a, only when core idle; batch class c: match exe @/c, only when core idle;";
    let mut enforcer = stage.start(stage.plan(text, &machine(1024)));
    if !is_root() || enforcer.version() != Some(Version::V1) {
        return;
    }
    enforcer.scan().unwrap();
    let swapped = text.replace("@/c", "@/x").replace("@/a", "@/c").replace("@/x", "@/a");
    assert_eq!(enforcer.adopt(stage.plan(&swapped, &machine(1024))).unwrap().failures, []);
    assert_eq!(freezer(&enforcer, a), format!("/{}/c", stage.roots.group));
    let free = swapped.replace("match exe @/a, only when core idle", "match exe @/a, on cpu 0");
    assert_eq!(enforcer.adopt(stage.plan(&free, &machine(1024))).unwrap().failures, []);
    assert_eq!(freezer(&enforcer, a), "/");
    enforcer.release_all();
    assert!(!stage.has_groups());
}
