//! CPUs that come and go, without switching any: plans for this host with one taken out, and what the kernel would have done.

use super::*;

/// This host with its last CPU switched off, for all that a plan knows.
fn without_last() -> Topology {
    let online = affinity::get(Tid::current()).unwrap();
    let last = online.iter().last();
    let place = |cpu: CpuId| CpuPlace {
        cpu,
        online: Some(cpu) != last,
        core: cpu.0,
        llc: None,
        node: 0,
        package: 0,
        kind: CoreKind::Performance,
    };
    Topology::new(&online.iter().map(place).collect::<Vec<_>>())
}

/// As a policy writes it, and as a set; none where there is one only, which is said.
fn last() -> Option<(String, CpuSet)> {
    let online = affinity::get(Tid::current()).unwrap();
    if !is_root() || online.len() < 2 {
        eprintln!("passed over: needs root and two CPUs");
        return None;
    }
    let last = online.iter().last().unwrap();
    Some((last.to_string(), [last].into_iter().collect()))
}

#[test]
fn a_class_has_what_is_left_and_its_own_again_when_it_is_back() {
    let Some((cpu, only)) = last() else { return };
    let mut stage = Stage::new();
    let web = stage.sleeper("web");
    settled(web, "web");
    let before = kernel(web);
    let whole = stage.plan(&format!("class web: match exe @/web, on cpu {cpu}, nice 3;"), &machine(1));
    let mut enforcer = stage.start(whole.clone());
    enforcer.scan().unwrap();
    assert!(enforcer.is_on_its_machine());
    assert_eq!(kernel(web).3, only);
    let (left, astray) = whole.left_on(&without_last());
    assert_eq!(astray.len(), 1);
    let pass = enforcer.adopt_on_another_machine(left).unwrap();
    assert_eq!((pass.released, pass.failures), (0, vec![]));
    assert!(!enforcer.is_on_its_machine());
    assert_eq!((kernel(web).2, kernel(web).3), (3, before.3.clone()), "anywhere, and else as the class says");
    assert_eq!(enforcer.adopt_on_another_machine(whole).unwrap().failures, vec![]);
    assert_eq!(kernel(web).3, only);
    enforcer.release_all();
    assert_eq!(kernel(web), before);
    assert!(!stage.has_groups());
}

#[test]
fn whom_the_kernel_moved_out_of_an_empty_group_is_back_in_it() {
    let Some((cpu, only)) = last() else { return };
    let mut stage = Stage::new();
    let web = stage.sleeper("web");
    settled(web, "web");
    let plan = stage.plan(&format!("class web: match exe @/web, on cpu {cpu};"), &machine(1));
    let mut enforcer = stage.start(plan.clone());
    if enforcer.version() != Some(Version::V1) {
        eprintln!("passed over: needs version 1 of control groups");
        return;
    }
    enforcer.scan().unwrap();
    let group = stage.roots.cgroup.join("cpuset").join(&stage.roots.group);
    std::fs::write(group.join("cgroup.procs"), web.0.to_string()).unwrap();
    assert_ne!(kernel(web).3, only);
    assert_eq!(enforcer.adopt_on_another_machine(plan).unwrap().failures, vec![]);
    let cgroups = enforcer.procfs.cgroups(web).unwrap();
    let own = format!("/{}/web", stage.roots.group);
    assert_eq!((cgroups.controller("cpuset"), kernel(web).3), (Some(own.as_bytes()), only));
    enforcer.release_all();
    assert!(!stage.has_groups());
}
