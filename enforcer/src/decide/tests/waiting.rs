//! `wait at most T`.

use super::machines::{even, machine, plain};
use super::*;

const BATCH: &str = "batch: only when core idle, wait at most 100ms; class plain: nice 1;";

fn batch(now: &Assignment) -> (bool, &CpuSet) {
    let share = now.classes[0].as_ref().unwrap();
    (share.frozen, &share.cpus)
}

#[test]
fn who_has_waited_for_long_enough_has_a_turn_and_waits_anew() {
    let stage = Stage::new(BATCH, &plain(2, 2));
    let busy = load("0-2", &[("", 0), ("", 0)]);
    let mut now = stage.initial();
    for round in 0..3 {
        // Stopped at the first tick, and for ten of 10 ms.
        for tick in 0..10 {
            now = stage.decide(&busy, &now);
            assert!(batch(&now).0, "round {round}, tick {tick}");
        }
        // A tenth of 100 ms is less than the least number of ticks.
        for tick in 0..TURN {
            now = stage.decide(&busy, &now);
            assert_eq!(batch(&now), (false, &set("2-3")), "round {round}, tick {tick}: the core with the free CPU");
        }
    }
}

#[test]
fn a_turn_lasts_a_tenth_of_the_wait_where_that_is_longer() {
    let stage = Stage::new("batch: only when core idle, wait at most 2s; class plain: nice 1;", &plain(2, 2));
    let busy = load("0-3", &[("", 0), ("", 0)]);
    let mut runs = Vec::new();
    let mut now = stage.initial();
    for tick in 0..500 {
        now = stage.decide(&busy, &now);
        runs.extend((!batch(&now).0).then_some(tick));
    }
    // Stopped from tick 0 on: 2 s are over at tick 200, and 200 ms later the next wait begins.
    assert_eq!(runs, (200..220).chain(420..440).collect::<Vec<_>>());
}

#[test]
fn a_core_that_becomes_idle_ends_a_turn() {
    let stage = Stage::new(BATCH, &plain(2, 2));
    let (busy, half) = (load("0-3", &[("", 0), ("", 0)]), load("0-1", &[("", 0), ("", 0)]));
    let mut now = (0..=10).fold(stage.initial(), |now, _| stage.decide(&busy, &now));
    assert_eq!(batch(&now), (false, &set("0-1")));
    for _ in 0..OPEN_AFTER {
        now = stage.decide(&half, &now);
    }
    assert_eq!(batch(&now), (false, &set("2-3")));
    now = stage.decide(&busy, &now);
    assert!(batch(&now).0, "and the wait begins anew");
}

#[test]
fn a_turn_is_on_one_unit_of_the_gate_within_the_zone_and_the_ceiling() {
    let topology = machine(&even(4, 2, 2), &CpuSet::new());
    let all = |text: &str| {
        let stage = Stage::new(text, &topology);
        let busy = load("0-4,7", &[("", 0)]);
        batch(&(0..=10).fold(stage.initial(), |now, _| stage.decide(&busy, &now))).1.to_string()
    };
    assert_eq!(all("batch: only when llc idle, wait at most 100ms;"), "4-7");
    assert_eq!(all("batch: only when node idle, wait at most 100ms, on cores 1-2;"), "4-5");
    assert_eq!(all("batch: only when llc idle, wait at most 100ms, at most 1 core;"), "4-5");
    assert_eq!(all("class batch: only when cpu idle, wait at most 100ms, on cpus 0-3;"), "0");
    assert_eq!(all("class batch: only when core idle, wait at most 100ms, prefer idle core;"), "4");
}

#[test]
fn nobody_is_let_run_who_does_not_ask_for_it() {
    let stage = Stage::new("batch: only when core idle; class plain: nice 1;", &plain(2, 2));
    let busy = load("0-3", &[("", 9), ("", 0)]);
    let now = (0..10_000).fold(stage.initial(), |now, _| stage.decide(&busy, &now));
    assert!(batch(&now).0);
}
