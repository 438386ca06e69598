//! `hold equal prio` on real threads: by number, then by load.

use super::*;

#[test]
fn held_threads_have_a_cpu_each() {
    if !is_root() {
        return;
    }
    let mut stage = Stage::new();
    let pids: Vec<Pid> = (0..4).map(|_| stage.sleeper("rt")).collect();
    pids.iter().for_each(|pid| settled(*pid, "rt"));
    let before = kernel(pids[0]);
    let text = "rt class a: match exe @/rt, hold equal prio;";
    let mut enforcer = stage.start(stage.plan(text, &machine(1)));
    assert_eq!(enforcer.scan().unwrap().failures, []);
    let masks: Vec<CpuSet> = pids.iter().map(|pid| kernel(*pid).3).collect();
    let online = machine(1).online().clone();
    for cpu in online.iter() {
        let here = masks.iter().filter(|mask| **mask == [cpu].into_iter().collect()).count();
        assert_eq!(here, pids.len() / online.len(), "{masks:?}");
    }
    enforcer.release_all();
    assert!(pids.iter().all(|pid| kernel(*pid) == before));
}

#[test]
fn two_that_work_on_one_cpu_are_parted_and_two_that_sleep_are_left() {
    let mut stage = Stage::new();
    // By number alone the first and the third come to one CPU, the others to the other.
    let pids = ["spinner-1", "sleeper-1", "spinner-2", "sleeper-2"].map(|name| {
        let pid = if name.starts_with("spinner") { stage.spinner(name) } else { stage.sleeper(name) };
        settled(pid, name);
        pid
    });
    let machine = machine(1);
    let online: Vec<CpuId> = machine.online().iter().take(2).collect();
    let [first, second] = online[..] else { return };
    let text = format!("rt class a: match exe @/s*-*, on cpu {first} and cpu {second}, hold equal prio;");
    let mut enforcer = stage.start(stage.plan(&text, &machine));
    if !is_root() {
        return;
    }
    enforcer.scan().unwrap();
    let on = |pid: Pid| affinity::get(Tid(pid.0)).unwrap().to_string();
    assert!(pids.iter().all(|pid| on(*pid).parse::<u32>().is_ok()), "each has one CPU");
    assert!(enforcer.may_be_unbalanced());
    assert_eq!(enforcer.balance(Instant::now()), Pass::default());
    std::thread::sleep(LOOK);
    assert_eq!(enforcer.balance(Instant::now()), Pass::default());
    assert_ne!(on(pids[0]), on(pids[2]), "who works is parted");
    let settled: Vec<String> = pids.iter().map(|pid| on(*pid)).collect();
    std::thread::sleep(LOOK);
    enforcer.balance(Instant::now());
    assert_eq!(pids.iter().map(|pid| on(*pid)).collect::<Vec<_>>(), settled, "and nobody moves again");
    assert_eq!(enforcer.release_all().failures, []);
    assert!(pids.iter().all(|pid| affinity::get(Tid(pid.0)).unwrap() == *machine.online()));
}
