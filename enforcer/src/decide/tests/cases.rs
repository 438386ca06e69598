//! Single situations, each for a rule of its own.

use super::machines::plain;
use super::*;

const WEB: &str = "rt class web: prefer idle core;";

#[test]
fn siblings_stay_closed_while_every_thread_has_a_core() {
    let stage = Stage::new(WEB, &plain(4, 2));
    for (demand, expected) in [(0, "0,2,4,6"), (4, "0,2,4,6"), (5, "0-2,4,6"), (6, "0-4,6"), (8, "0-7"), (99, "0-7")] {
        let now = stage.after(&[load("", &[("", demand)])]);
        assert_eq!(cpus(&now, 0), expected, "demand {demand}");
    }
}

#[test]
fn cores_of_others_do_not_count_as_idle() {
    let stage = Stage::new(WEB, &plain(4, 2));
    let now = stage.after(&[load("4", &[("0,2", 4)])]);
    assert_eq!(cpus(&now, 0), "0-2,4,6", "three cores are left and four are needed: the sibling of an idle one opens");
    let now = stage.after(&[load("0-7", &[("", 0)])]);
    assert_eq!(cpus(&now, 0), "0,2,4,6", "no work, no sibling");
}

#[test]
fn spilling_starts_where_the_policy_says() {
    let stage = Stage::new("rt class web: prefer idle core, spill to siblings below 3 idle cores;", &plain(4, 2));
    let now = stage.after(&[load("", &[("0,2", 2)])]);
    assert_eq!(cpus(&now, 0), "0,2,4,6", "the second found three");
    let now = stage.after(&[load("", &[("0,2,4", 3)])]);
    assert_eq!(cpus(&now, 0), "0-2,4,6");
}

#[test]
fn siblings_are_given_at_once_and_taken_back_after_a_calm() {
    let stage = Stage::new(WEB, &plain(4, 2));
    let busy = load("", &[("0,2,4,6", 7)]);
    let calm = load("", &[("0", 1)]);
    let mut now = stage.after(std::slice::from_ref(&busy));
    assert_eq!(cpus(&now, 0), "0-6");
    for _ in 0..CALM {
        now = stage.decide(&calm, &now);
        assert_eq!(cpus(&now, 0), "0-6");
    }
    assert_eq!(cpus(&stage.decide(&calm, &now), 0), "0,2,4,6");
    assert_eq!(cpus(&stage.decide(&busy, &now), 0), "0-6");
    let broken = stage.decide(&calm, &stage.decide(&busy, &now));
    assert_eq!(cpus(&broken, 0), "0-6", "the calm starts anew");
}

#[test]
fn open_siblings_are_kept_before_others_are_opened() {
    let stage = Stage::new(WEB, &plain(4, 2));
    let first = stage.after(&[load("0", &[("", 4)])]);
    assert_eq!(cpus(&first, 0), "0,2-4,6", "the core of the other comes last");
    let then = stage.decide(&load("6", &[("", 4)]), &first);
    assert_eq!(cpus(&then, 0), "0,2-4,6");
    let beside = stage.decide(&load("2", &[("", 4)]), &then);
    assert_eq!(cpus(&beside, 0), "0,2-4,6", "its core is in use, and it is free itself");
    let on_it = stage.decide(&load("3", &[("", 4)]), &beside);
    assert_eq!(cpus(&on_it, 0), "0-2,4,6", "somebody else is on it");
}

#[test]
fn who_has_no_work_keeps_what_it_was_given_for_a_calm_wherever_others_run() {
    let stage = Stage::new(WEB, &plain(4, 2));
    let mut now = stage.after(&[load("", &[("0,2,4,6", 5)])]);
    assert_eq!(cpus(&now, 0), "0-2,4,6");
    for tick in 0..CALM {
        now = stage.decide(&load(["0-7", "1", ""][tick as usize % 3], &[("", 0)]), &now);
        assert_eq!(cpus(&now, 0), "0-2,4,6");
    }
    now = stage.decide(&load("1", &[("", 0)]), &now);
    assert_eq!(cpus(&now, 0), "0,2,4,6");
}

const BOTH: &str = "rt class web: prefer idle core; batch: only when core idle;";

#[test]
fn a_gate_closes_at_once_and_opens_after_quiet() {
    let stage = Stage::new(BOTH, &plain(4, 2));
    let busy = load("", &[("2", 1), ("0-7", 8)]);
    let idle = load("", &[("", 0), ("0-7", 8)]);
    let mut now = stage.after(&[busy]);
    assert_eq!(cpus(&now, 1), "0-1,4-7");
    for _ in 1..OPEN_AFTER {
        now = stage.decide(&idle, &now);
        assert_eq!(cpus(&now, 1), "0-1,4-7");
    }
    assert_eq!(cpus(&stage.decide(&idle, &now), 1), "0-7");
}

#[test]
fn a_gated_class_with_nothing_left_is_frozen_and_comes_back() {
    let stage = Stage::new(BOTH, &plain(2, 2));
    let now = stage.after(&[load("0,3", &[("", 0), ("", 9)])]);
    let share = now.classes[1].as_ref().unwrap();
    assert!(share.frozen && !share.cpus.is_empty());
    let back = (0..OPEN_AFTER).fold(now, |now, _| stage.decide(&load("0", &[("", 0), ("", 9)]), &now));
    assert_eq!((back.classes[1].as_ref().unwrap().frozen, cpus(&back, 1).as_str()), (false, "2-3"));
}

#[test]
fn gated_classes_do_not_close_each_other_and_floors_stay_open() {
    let text = "batch class a: only when core idle; batch class b: only when core idle, at least 1 core;";
    let stage = Stage::new(text, &plain(2, 2));
    let now = stage.after(&[load("", &[("0-3", 4), ("0-3", 4)])]);
    assert_eq!((cpus(&now, 0).as_str(), cpus(&now, 1).as_str()), ("2-3", "0-3"), "b's core is kept from a");
    let now = stage.after(&[load("0-3", &[("", 4), ("", 4)])]);
    assert!(now.classes[0].as_ref().unwrap().frozen);
    assert_eq!((now.classes[1].as_ref().unwrap().frozen, cpus(&now, 1).as_str()), (false, "0-1"));
}

#[test]
fn batch_does_not_count_against_web() {
    let stage = Stage::new(BOTH, &plain(4, 2));
    let now = stage.after(&[load("", &[("0", 2), ("0-7", 8)])]);
    assert_eq!(cpus(&now, 0), "0,2,4,6");
}

#[test]
fn a_gated_class_that_gives_way_by_itself_is_moved_and_never_frozen() {
    let stage = Stage::new("require: core scheduling; batch: only when core idle;", &plain(4, 2));
    let busy = |others: &str| load(others, &[("0-7", 8)]);
    assert_eq!(cpus(&stage.after(&[busy("1")]), 0), "2-7");
    let now = stage.after(&[busy("1"), busy("0,2,4,6")]);
    assert_eq!((cpus(&now, 0), now.classes[0].as_ref().unwrap().frozen), ("0-7".to_owned(), false));
}

#[test]
fn one_that_may_wait_for_so_long_only_is_frozen_in_spite_of_core_scheduling() {
    let text = "require: core scheduling; batch: only when core idle, wait at most 1s;";
    let stage = Stage::new(text, &plain(2, 2));
    let now = stage.after(&[load("0-3", &[("", 4)])]);
    assert!(now.classes[0].as_ref().unwrap().frozen);
}
