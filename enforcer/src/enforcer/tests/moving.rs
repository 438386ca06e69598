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

#[test]
fn a_gated_process_that_stays_in_its_group_is_stopped_all_the_same() {
    let mut stage = Stage::new();
    let machine = machine(1024);
    let (a, other) = (stage.sleeper("a"), stage.sleeper("other"));
    settled(a, "a");
    settled(other, "other");
    let text = "batch class a: match exe @/a, only when core idle;";
    let plan = stage.plan(text, &machine);
    let mut enforcer = stage.start(plan.clone());
    if !is_root() || enforcer.version() != Some(Version::V1) {
        return;
    }
    let home = stage.home(&[a, other]);
    let stop = |enforcer: &mut Enforcer| {
        assert_eq!(enforcer.scan().unwrap().failures, []);
        let somebody =
            Load { foreign: machine.online().clone(), classes: vec![ClassLoad::default()], ..Load::default() };
        assert_eq!(enforcer.respond(&somebody).failures, []);
        let state = stage.roots.cgroup.join("freezer").join(&stage.roots.group).join("a/freezer.state");
        assert_ne!(std::fs::read_to_string(state).unwrap().trim(), "THAWED");
    };
    stop(&mut enforcer);
    let free = text.replace(", only when core idle", ", on cpu 0");
    assert_eq!(enforcer.adopt(stage.plan(&free, &machine)).unwrap().failures, []);
    assert_eq!(freezer(&enforcer, a), "/");
    assert_eq!(enforcer.adopt(plan.clone()).unwrap().failures, []);
    stop(&mut enforcer);
    // A run that ends without a word leaves nobody stopped.
    drop(enforcer);
    let mut next = stage.start(stage.plan("", &machine));
    assert_eq!(freezer(&next, a), "/");
    let cgroups = next.procfs.cgroups(a).unwrap();
    assert_eq!(cgroups.controller("cpuset"), Some(format!("/{}", home.name()).as_bytes()));
    next.release_all();
    assert!(!stage.has_groups());
}
