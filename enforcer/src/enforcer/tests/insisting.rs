//! What somebody else changes is theirs, or where the class insists set back: threads, groups, and processes moved on.

use super::*;

/// A look so many seconds after the first.
struct Looks(Instant);

impl Looks {
    fn at(&self, enforcer: &mut Enforcer, second: u64) -> Pass {
        let pass = enforcer.insist(self.0 + Duration::from_secs(second));
        assert_eq!(pass.failures, []);
        pass
    }
}

fn theirs(enforcer: &Enforcer) -> (usize, usize, bool) {
    let member = &enforcer.status().classes[0].members[0];
    (member.conforming, member.theirs, member.contested)
}

#[test]
fn a_class_that_insists_has_its_threads_back_and_one_that_yields_has_not() {
    if !is_root() {
        return;
    }
    for (word, sets_back) in [("insist", true), ("yield", false)] {
        let mut stage = Stage::new();
        let (a, other) = (stage.sleeper("a"), stage.sleeper("other"));
        settled(a, "a");
        settled(other, "other");
        let _home = stage.home(&[a, other]);
        let mut enforcer =
            stage.start(stage.plan(&format!("class a: match exe @/a, on cpu 0, nice 3, {word};"), &machine(1)));
        enforcer.scan().unwrap();
        assert_eq!((enforcer.has_to_insist(), theirs(&enforcer)), (sets_back, (1, 0, false)));
        let looks = Looks(Instant::now());
        looks.at(&mut enforcer, 0);
        let wanted = kernel(a);
        affinity::set(a.leader(), &set("1")).unwrap();
        sched::set_nice(a.leader(), 7).unwrap();
        let by_hand = kernel(a);
        assert_eq!(theirs(&enforcer), (0, 1, false));
        assert_eq!(kernel(a), by_hand, "a look at the status changes nothing");
        looks.at(&mut enforcer, 0);
        assert_eq!(kernel(a), by_hand, "not before it is time");
        looks.at(&mut enforcer, 1);
        assert_eq!(kernel(a), if sets_back { wanted } else { by_hand.clone() }, "{word}");
        assert_eq!(theirs(&enforcer), if sets_back { (1, 0, false) } else { (0, 1, false) });
        enforcer.release_all();
        assert_eq!(kernel(a), by_hand, "{word}: what somebody else set last is what it is without a policy");
    }
}

#[test]
fn a_held_thread_gets_its_one_cpu_back() {
    if !is_root() {
        return;
    }
    let mut stage = Stage::new();
    let a = stage.sleeper("a");
    settled(a, "a");
    let mut enforcer = stage.start(stage.plan("rt class a: match exe @/a, hold equal prio, insist;", &machine(1)));
    enforcer.scan().unwrap();
    let before = kernel(a);
    assert_eq!(before.3.len(), 1);
    affinity::set(a.leader(), machine(1).online()).unwrap();
    assert_eq!(theirs(&enforcer), (0, 1, false));
    Looks(Instant::now()).at(&mut enforcer, 0);
    assert_eq!((kernel(a), theirs(&enforcer)), (before, (1, 0, false)));
    enforcer.release_all();
    assert_eq!(kernel(a).3, *machine(1).online());
}

#[test]
fn a_tug_of_war_is_said_once_and_fought_less_and_less_often() {
    if !is_root() {
        return;
    }
    let mut stage = Stage::new();
    let a = stage.sleeper("a");
    settled(a, "a");
    let mut enforcer = stage.start(stage.plan("class a: match exe @/a, nice 3, insist;", &machine(1)));
    enforcer.scan().unwrap();
    let looks = Looks(Instant::now());
    let (mut set_back, mut said) = (Vec::new(), Vec::new());
    for second in 0..20 {
        sched::set_nice(a.leader(), 9).unwrap();
        let pass = looks.at(&mut enforcer, second);
        set_back.extend((kernel(a).2 == 3).then_some(second));
        said.extend(pass.contested.iter().map(|it| (second, it.pid, it.class.clone())));
    }
    assert_eq!(said, [(4, a, "a".to_owned())]);
    assert_eq!(set_back, [0, 1, 2, 3, 4, 6, 10, 18]);
    assert!(theirs(&enforcer).2, "status says so");
    looks.at(&mut enforcer, 34);
    assert_eq!(kernel(a).2, 3);
    // Nobody pulls any more: it is forgotten in time.
    looks.at(&mut enforcer, 34 + 200);
    assert_eq!(theirs(&enforcer), (1, 0, false));
    enforcer.release_all();
    assert_eq!(kernel(a).2, 9);
}

#[test]
fn the_cpus_of_a_group_that_somebody_else_changed_are_theirs_unless_the_class_insists() {
    for (word, sets_back) in [("insist", true), ("yield", false)] {
        let mut stage = Stage::new();
        let a = stage.sleeper("a");
        settled(a, "a");
        let text = format!("class a: match exe @/a, on cpus 0-1, prefer idle core, {word};");
        let mut enforcer = stage.start(stage.plan(&text, &machine(2)));
        if !is_root() || enforcer.version() != Some(Version::V1) {
            return;
        }
        let home = stage.home(&[a]);
        enforcer.scan().unwrap();
        assert_eq!(enforcer.status().classes[0].members[0].place, "cgroup");
        let file = stage.roots.cgroup.join("cpuset").join(home.name()).join("cpuset.cpus");
        let cpus = || std::fs::read_to_string(&file).unwrap().trim().to_owned();
        let looks = Looks(Instant::now());
        looks.at(&mut enforcer, 0);
        assert_eq!(cpus(), "0");
        std::fs::write(&file, "1").unwrap();
        looks.at(&mut enforcer, 1);
        assert_eq!(cpus(), if sets_back { "0" } else { "1" }, "{word}");
        // The load wants both, which is no reason to take what somebody else has given.
        enforcer.assignment.classes[0].as_mut().unwrap().cpus = set("0-1");
        let mut pass = Pass::default();
        enforcer.refresh(&mut pass);
        assert_eq!(pass.failures, []);
        assert_eq!(cpus(), if sets_back { "0-1" } else { "1" }, "{word}");
        enforcer.release_all();
        assert_eq!(cpus(), "1", "{word}");
    }
}

#[test]
fn a_process_that_somebody_else_moved_on_is_placed_where_it_is_only_by_a_class_that_insists() {
    for (word, cpus, reason) in [("insist", "0", None), ("yield", "0-1", Some("somebody else moved it on"))] {
        let mut stage = Stage::new();
        let a = stage.sleeper("a");
        settled(a, "a");
        let mut enforcer = stage.start(stage.plan(&format!("class a: match exe @/a, on cpu 0, {word};"), &machine(1)));
        if !is_root() || enforcer.version() != Some(Version::V1) {
            return;
        }
        enforcer.scan().unwrap();
        let home = stage.home(&[a]);
        assert_eq!(enforcer.status().classes[0].members[0].reason, Some("somebody else moved it on"));
        enforcer.scan().unwrap();
        Looks(Instant::now()).at(&mut enforcer, 0);
        assert_eq!((kernel(a).3, enforcer.status().classes[0].members[0].reason), (set(cpus), reason), "{word}");
        enforcer.release_all();
        let cgroups = enforcer.procfs.cgroups(a).unwrap();
        assert_eq!(cgroups.controller("cpuset"), Some(format!("/{}", home.name()).as_bytes()), "it is never taken out");
        assert_eq!(kernel(a).3, *machine(1).online(), "{word}");
        assert!(!stage.has_groups());
    }
}
