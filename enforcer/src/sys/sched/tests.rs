use super::*;
use crate::testing::{Sleeper, is_root};

#[test]
fn the_struct_has_the_published_size() {
    assert_eq!(SIZE, 56);
}

#[test]
fn a_fair_thread_becomes_real_time_and_comes_back_as_it_was() {
    if !is_root() {
        return;
    }
    let sleeper = Sleeper::start();
    let tid = sleeper.pid().leader();
    set(tid, &SchedState { nice: 3, ..SchedState::of(SchedPolicy::Other) }).unwrap();
    let before = get(tid).unwrap();
    assert_eq!((before.policy, before.nice, before.reset_on_fork), (SchedPolicy::Other, 3, false));

    let rt = SchedState { priority: 20, reset_on_fork: true, ..SchedState::of(SchedPolicy::RoundRobin) };
    set(tid, &rt).unwrap();
    let during = get(tid).unwrap();
    assert_eq!((during.policy, during.priority, during.reset_on_fork), (SchedPolicy::RoundRobin, 20, true));
    assert_eq!(during.nice, 3, "the nice value waits");
    assert_eq!(during.to_string(), "SCHED_RR, priority 20, reset on fork");

    set(tid, &before).unwrap();
    assert_eq!(get(tid).unwrap(), before);
}

#[test]
fn idle_keeps_the_nice_value_for_later() {
    let sleeper = Sleeper::start();
    let tid = sleeper.pid().leader();
    set_nice(tid, 7).unwrap();
    let before = get(tid).unwrap();
    set(tid, &SchedState::of(SchedPolicy::Idle)).unwrap();
    let during = get(tid).unwrap();
    assert_eq!((during.policy, during.nice), (SchedPolicy::Idle, 7));
    assert_eq!(during.slice, before.slice);
}

#[test]
fn deadline_parameters_survive_a_round_trip() {
    if !is_root() {
        return;
    }
    let sleeper = Sleeper::start();
    let tid = sleeper.pid().leader();
    let parameters = Deadline {
        runtime: 1_000_000,
        deadline: 50_000_000,
        period: 100_000_000,
        reclaim: true,
        overrun_signal: false,
    };
    let wanted = SchedState { deadline: Some(parameters), ..SchedState::of(SchedPolicy::Deadline) };
    match set(tid, &wanted) {
        Ok(()) => assert_eq!(get(tid).unwrap().deadline, Some(parameters)),
        // A host whose root domains are split, or whose bandwidth is taken, refuses; the remedy must say so.
        Err(error) => assert!(error.remedy().unwrap().contains("deadline"), "{error}"),
    }
}

#[test]
fn clamps_leave_policy_and_parameters_alone() {
    let sleeper = Sleeper::start();
    let tid = sleeper.pid().leader();
    set_nice(tid, 5).unwrap();
    match set_clamps(tid, Clamps { min: 0, max: 512 }) {
        Ok(()) => {
            let before = get(tid).unwrap();
            assert_eq!((before.policy, before.nice, before.clamps.max), (SchedPolicy::Other, 5, 512));
            set(tid, &SchedState { nice: 6, ..SchedState::of(SchedPolicy::Batch) }).unwrap();
            assert_eq!(get(tid).unwrap().clamps, before.clamps);
        }
        Err(error) => {
            assert_eq!(error.errno(), Errno::EOPNOTSUPP, "{error}");
            assert_eq!(get(tid).unwrap().nice, 5);
        }
    }
}

#[test]
fn numbers_without_a_name_are_kept() {
    for number in 0..10 {
        assert_eq!(SchedPolicy::from_raw(number).to_raw(), number);
    }
    assert_eq!(SchedPolicy::Unknown(4).to_string(), "policy 4");
}

#[test]
fn a_thread_that_is_not_there_is_gone() {
    assert!(get(Tid(i32::MAX)).unwrap_err().is_gone());
    let error = set(Tid(i32::MAX), &SchedState::of(SchedPolicy::Idle)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot sched_setattr `SCHED_IDLE` on thread 2147483647: No such process: it has ended"
    );
}
