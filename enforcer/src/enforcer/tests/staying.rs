//! `prefer last cpu` on real threads.

use super::*;
use crate::stay::{FREE_FOR, Ran};

fn ran(pid: Pid, cpu: CpuId, waited: bool) -> BTreeMap<Tid, Ran> {
    [(Tid(pid.0), Ran { cpu, waited })].into()
}

#[test]
fn a_thread_stays_where_it_ran_until_it_had_to_wait_and_is_put_back() {
    let mut stage = Stage::new();
    let a = stage.sleeper("a");
    settled(a, "a");
    let machine = machine(1);
    let mut enforcer = stage.start(stage.plan("class a: match exe @/a, prefer last cpu;", &machine));
    if !is_root() {
        return;
    }
    let before = affinity::get(Tid(a.0)).unwrap();
    enforcer.scan().unwrap();
    assert!(enforcer.is_reactive_now());
    let last = machine.online().iter().last().unwrap();
    let one: CpuSet = [last].into_iter().collect();
    let mut pass = Pass::default();
    enforcer.stay(&ran(a, last, false), &mut pass);
    assert_eq!(affinity::get(Tid(a.0)).unwrap(), one);
    // Looking again, and sleeping, change nothing.
    enforcer.conform(a, &mut pass);
    enforcer.stay(&BTreeMap::new(), &mut pass);
    assert_eq!(affinity::get(Tid(a.0)).unwrap(), one);
    enforcer.stay(&ran(a, last, true), &mut pass);
    assert_eq!(affinity::get(Tid(a.0)).unwrap(), before);
    for _ in 0..FREE_FOR {
        assert_eq!(affinity::get(Tid(a.0)).unwrap(), before);
        enforcer.stay(&ran(a, last, false), &mut pass);
    }
    assert_eq!(affinity::get(Tid(a.0)).unwrap(), one);
    assert_eq!(pass, Pass::default());
    assert_eq!(enforcer.release_all().failures, []);
    assert_eq!(affinity::get(Tid(a.0)).unwrap(), before);
    assert!(!stage.has_groups());
}

#[test]
fn the_load_tells_where_a_busy_thread_stays() {
    let mut stage = Stage::new();
    let a = stage.spinner("a");
    settled(a, "a");
    let mut enforcer = stage.start(stage.plan("class a: match exe @/a, prefer last cpu;", &machine(1)));
    if !is_root() {
        return;
    }
    enforcer.scan().unwrap();
    // It may have to wait on a busy host, and is let go then; sooner or later it runs for a tick without.
    let deadline = Instant::now() + Duration::from_secs(60);
    let all = affinity::get(Tid(a.0)).unwrap();
    while affinity::get(Tid(a.0)).unwrap().len() != 1 {
        assert!(Instant::now() < deadline && all.len() > 1, "never kept on one of {all}");
        assert_eq!(enforcer.tick(Instant::now()).failures, []);
        std::thread::sleep(Duration::from_millis(10));
    }
    enforcer.release_all();
    assert_eq!(affinity::get(Tid(a.0)).unwrap(), all);
}
