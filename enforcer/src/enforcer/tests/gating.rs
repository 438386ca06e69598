//! Gates, waits and preferred parts on real processes, the machine being played with a cache and a node for each CPU.

use super::*;

fn apart() -> Topology {
    let online = affinity::get(Tid::current()).unwrap();
    let place = |cpu: CpuId| CpuPlace {
        cpu,
        online: true,
        core: cpu.0,
        llc: Some(cpu.0),
        node: cpu.0,
        package: 0,
        kind: CoreKind::Performance,
    };
    Topology::new(&online.iter().map(place).collect::<Vec<_>>())
}

/// One tick of 10 ms in which others ran there, and class 0 had this much to do.
fn others_on(foreign: &CpuSet, demand: usize) -> Load {
    let class = ClassLoad { ran_on: CpuSet::new(), demand };
    Load { elapsed: Duration::from_millis(10), foreign: foreign.clone(), classes: vec![class], ..Load::default() }
}

#[test]
fn a_class_is_kept_off_caches_and_nodes_that_others_use() {
    let machine = apart();
    let first: CpuSet = machine.online().first().into_iter().collect();
    let rest = machine.online().difference(&first);
    for unit in ["llc", "node"] {
        let mut stage = Stage::new();
        let b = stage.sleeper("b");
        settled(b, "b");
        let text = format!("batch class b: match exe @/b, only when {unit} idle;");
        let mut enforcer = stage.start(stage.plan(&text, &machine));
        if !is_root() || rest.is_empty() {
            return;
        }
        enforcer.scan().unwrap();
        assert_eq!(kernel(b).3, *machine.online());
        assert_eq!(enforcer.respond(&others_on(&first, 0)).failures, []);
        assert_eq!(kernel(b).3, rest, "{unit}");
        for _ in 0..crate::decide::OPEN_AFTER {
            assert_eq!(enforcer.respond(&others_on(&CpuSet::new(), 0)).failures, []);
        }
        assert_eq!(kernel(b).3, *machine.online(), "{unit}");
        assert_eq!(enforcer.release_all().failures, []);
        assert!(!stage.has_groups());
    }
}

#[test]
fn a_stopped_class_runs_when_it_has_waited_and_is_stopped_again() {
    let mut stage = Stage::new();
    let machine = apart();
    let b = stage.spinner("b");
    settled(b, "b");
    let text = "batch class b: match exe @/b, only when llc idle, wait at most 100ms;";
    let mut enforcer = stage.start(stage.plan(text, &machine));
    if !is_root() || enforcer.version() != Some(Version::V1) {
        return;
    }
    enforcer.scan().unwrap();
    let state = stage.roots.cgroup.join("freezer").join(&stage.roots.group).join("b/freezer.state");
    let stopped = || std::fs::read_to_string(&state).unwrap().trim() != "THAWED";
    let busy = others_on(machine.online(), 1);
    for round in 0..2 {
        for tick in 0..10 {
            assert_eq!(enforcer.respond(&busy).failures, []);
            assert!(stopped(), "round {round}, tick {tick}");
        }
        assert_eq!(enforcer.respond(&busy).failures, []);
        assert!(!stopped(), "round {round}");
        assert_eq!(kernel(b).3, machine.online().first().into_iter().collect(), "one of the least occupied caches");
        let used = enforcer.procfs.schedstat(b).unwrap().run;
        while enforcer.procfs.schedstat(b).unwrap().run == used {
            std::thread::yield_now();
        }
        for _ in 1..crate::decide::TURN {
            assert_eq!(enforcer.respond(&busy).failures, []);
            assert!(!stopped(), "round {round}");
        }
    }
    assert_eq!(enforcer.release_all().failures, []);
    assert!(!stage.has_groups());
}

#[test]
fn the_rest_is_opened_when_the_preferred_part_is_full() {
    let mut stage = Stage::new();
    let machine = apart();
    let a = stage.sleeper("a");
    settled(a, "a");
    let last = machine.online().iter().last().unwrap();
    let text = format!("class a: match exe @/a, prefer cpu {last};");
    let mut enforcer = stage.start(stage.plan(&text, &machine));
    if !is_root() || machine.online().len() < 2 {
        return;
    }
    let last: CpuSet = [last].into_iter().collect();
    enforcer.scan().unwrap();
    assert_eq!(kernel(a).3, last);
    assert_eq!(enforcer.respond(&others_on(&CpuSet::new(), 1)).failures, []);
    assert_eq!(kernel(a).3, last);
    assert_eq!(enforcer.respond(&others_on(&last, 1)).failures, []);
    assert_eq!(kernel(a).3.len(), 2, "somebody else is there");
    assert_eq!(enforcer.release_all().failures, []);
    assert_eq!(kernel(a).3, *machine.online());
}
