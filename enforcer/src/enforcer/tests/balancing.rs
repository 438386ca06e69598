//! `hold equal prio` by load, on real threads.

use super::*;

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
