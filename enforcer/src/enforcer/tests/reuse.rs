//! Ids that are used again before anybody has heard of it.

use super::*;

/// Ends a process of the stage and starts another with its id, by telling the kernel which id it gave last
/// (proc_sys_kernel(5), `ns_last_pid`). None where the kernel does not let itself be told.
fn replaced(stage: &mut Stage, pid: Pid, name: &str) -> Option<Pid> {
    let last = "/proc/sys/kernel/ns_last_pid";
    let at = stage.children.iter().position(|child| child.id() == pid.0 as u32).unwrap();
    let mut child = stage.children.remove(at);
    child.kill().unwrap();
    child.wait().unwrap();
    let start = Procfs::new("/proc").stat(Pid::current()).unwrap().start;
    // Others start processes meanwhile, so it may take some tries.
    for _ in 0..1_000 {
        std::fs::write(last, (pid.0 - 1).to_string()).ok()?;
        let next = stage.sleeper(name);
        if next == pid {
            settled(pid, name);
            assert!(Procfs::new("/proc").stat(pid).unwrap().start >= start);
            return Some(pid);
        }
        let mut missed = stage.children.pop().unwrap();
        missed.kill().unwrap();
        missed.wait().unwrap();
    }
    panic!("{pid} was not given again");
}

/// A class with a member whose id is a stranger's by now, which nobody was told of.
fn stranger(stage: &mut Stage, text: &str) -> Option<(Enforcer, Pid)> {
    let pid = stage.sleeper("member");
    settled(pid, "member");
    let mut enforcer = stage.start(stage.plan(text, &machine(1)));
    enforcer.scan().unwrap();
    // A start time has a grain of 10 ms.
    std::thread::sleep(Duration::from_millis(30));
    replaced(stage, pid, "stranger").map(|pid| (enforcer, pid))
}

#[test]
fn a_stranger_with_a_members_id_gets_back_what_is_written_to_it() {
    if !is_root() {
        return;
    }
    let mut stage = Stage::new();
    let Some((mut enforcer, pid)) = stranger(&mut stage, "rt class web: match exe @/member, priority 7;") else {
        return;
    };
    let before = kernel(pid);
    let plan = enforcer.plan.clone();
    let placement = plan.classes[0].placement.as_ref().unwrap();
    // As if it had not been placed yet, so that there is something to write.
    let touched = enforcer.members.get_mut(&pid).unwrap().threads.get_mut(&pid.leader()).unwrap();
    touched.wrote = Default::default();
    enforcer.attend_threads(pid, placement, None).unwrap();
    assert_eq!(kernel(pid), before);
    assert!(enforcer.members[&pid].threads.is_empty(), "it is known to have ended");
}

#[test]
fn a_stranger_is_not_moved() {
    if !is_root() {
        return;
    }
    let mut stage = Stage::new();
    let text = "class web: match exe @/member, on cpu 0;";
    let Some((mut enforcer, pid)) = stranger(&mut stage, text) else { return };
    let groups = || std::fs::read_to_string(format!("/proc/{}/cgroup", pid.0)).unwrap();
    let (before, held) = (kernel(pid), groups());
    // As if it had not been placed yet.
    let member = enforcer.members.get_mut(&pid).unwrap();
    (member.place, member.placed_for) = (None, None);
    let mut pass = Pass::default();
    enforcer.conform(pid, &mut pass);
    assert_eq!((pass.failures, kernel(pid), groups()), (Vec::new(), before, held));
}

#[test]
fn a_stranger_is_put_back_to_nothing() {
    if !is_root() {
        return;
    }
    let mut stage = Stage::new();
    let Some((mut enforcer, pid)) = stranger(&mut stage, "rt class web: match exe @/member, priority 7;") else {
        return;
    };
    // What the member was given, and the stranger has by somebody else's choice.
    let chosen = SchedState { priority: 7, ..SchedState::of(SchedPolicy::RoundRobin) };
    sched::set(pid.leader(), &chosen).unwrap();
    enforcer.release_all();
    assert_eq!(kernel(pid).0, SchedPolicy::RoundRobin);
}
