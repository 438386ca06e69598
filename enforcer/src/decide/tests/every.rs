//! Every occupancy of small machines, every demand, every promise.

use super::machines::small;
use super::scene::Scene;
use super::spec::{ALWAYS, IN_THE_END, check};
use super::*;

/// What the clauses about sharing can be made of. The first class is the one whose demand takes every value.
pub(super) const POLICIES: &[&str] = &[
    "rt class web: prefer idle core;",
    "rt class web: prefer idle core, spill to siblings below 2 idle cores; batch: only when core idle;",
    "rt class web: spill to siblings below 3 idle cores; rt class api: on all except cpu 0;",
    "rt class web: never spill; batch: only when core idle;",
    "class plain: nice 1; batch: only when core idle;",
    "batch: only when core idle, prefer idle core; rt class web: prefer idle core;",
    "rt class web: prefer idle core, at least 1 core; rt class api: prefer idle core, on all except cpu 0;",
    "rt class web: prefer idle core, at most 1 core; batch: only when core idle, at most 1 core;",
    "rt class web: on all except cpu 0, prefer idle core; batch: only when core idle, on all except cpu 0;",
    "rt class web: prefer idle core; rt class api: prefer idle core;",
    "rt class web: on cpu 0, hold equal prio; batch: only when core idle;",
    "batch: only when core idle, at least 1 core; class plain: nice 1;",
    "batch: only when core idle, at least 1 core, prefer idle core; class plain: nice 1;",
    "class web: only when llc idle; class plain: nice 1;",
    "batch: only when node idle; rt class web: never spill;",
    "class web: only when cpu idle; class plain: on all except cpu 0;",
    "class web: prefer cpus 0-1; class plain: nice 1;",
    "class web: prefer cpus 1-2, spill to siblings; batch: only when core idle, prefer cpu 0;",
    "batch: prefer cpu 2, only when core idle, at most 1 core; class plain: nice 1;",
];

/// Loads in which each CPU has nobody on it, something foreign, or one of the first `classes` classes.
fn loads(stage: &Stage, classes: u32, demands_of_second: &[usize]) -> Vec<Load> {
    let online: Vec<CpuId> = stage.plan.topology.online().iter().collect();
    let kinds = classes + 2;
    let mut loads = Vec::new();
    for occupancy in 0..kinds.pow(online.len() as u32) {
        let on = |who: u32| {
            let places = online.iter().enumerate();
            let here = places.filter(|(at, _)| occupancy / kinds.pow(*at as u32) % kinds == who);
            here.map(|(_, cpu)| *cpu).collect::<CpuSet>()
        };
        for demand in 0..=online.len() + 1 {
            for second in demands_of_second {
                let demands = [demand, *second];
                let class = |at: usize| ClassLoad {
                    ran_on: if (at as u32) < classes { on(at as u32 + 2) } else { CpuSet::new() },
                    demand: demands[at],
                };
                let classes = (0..stage.plan.classes.len()).map(class).collect();
                loads.push(Load { elapsed: Duration::from_millis(10), foreign: on(1), classes, ..Load::default() });
            }
        }
    }
    loads
}

/// Holds every class against what is always promised and, `in_the_end`, the rest.
pub(super) fn holds(stage: &Stage, load: &Load, now: &Assignment, in_the_end: bool) {
    for scene in (0..stage.plan.classes.len()).filter_map(|class| Scene::of(&stage.plan, load, now, class)) {
        check(&scene, ALWAYS);
        check(&scene, if in_the_end { IN_THE_END } else { &[] });
    }
}

/// One machine, every policy, from the beginning: after one tick all that is promised holds, and the next changes nothing.
fn every_occupancy(machine: usize) {
    let (name, topology) = &small()[machine];
    let few = topology.online().len() <= 4;
    for text in POLICIES {
        // One floor takes the only core there is.
        let Some(stage) = Stage::possible(text, topology) else {
            assert!(topology.cores().len() == 1 && text.contains("at least"), "{name}: {text}");
            continue;
        };
        let classes = stage.plan.classes.len() as u32;
        let most = topology.online().len() + 1;
        let (classes, second) = if few { (classes, vec![0, 1, 2, most]) } else { (1, vec![most]) };
        let initial = stage.initial();
        for load in loads(&stage, classes, if stage.plan.classes.len() > 1 { &second } else { &[0] }) {
            let now = stage.decide(&load, &initial);
            holds(&stage, &load, &now, true);
            assert_eq!(stage.decide(&load, &now), now, "{name}: {text}: {load:?} does not settle");
        }
    }
}

#[test]
fn of_two_cores_of_two_threads() {
    every_occupancy(0);
}

#[test]
fn of_one_core_of_four_threads() {
    every_occupancy(1);
}

#[test]
fn of_four_cores_of_two_threads_with_one_offline() {
    every_occupancy(2);
}

#[test]
fn of_two_performance_and_two_efficiency_cores() {
    every_occupancy(3);
}

/// States far from where a load leads, to begin from: all given, nothing given, all stopped.
fn far_states(stage: &Stage) -> Vec<Assignment> {
    let online = stage.plan.topology.online().clone();
    let most = online.len();
    let busy = |foreign: CpuSet, demand: usize| {
        let classes = vec![ClassLoad { ran_on: CpuSet::new(), demand }; stage.plan.classes.len()];
        Load { elapsed: Duration::from_millis(10), foreign, classes, ..Load::default() }
    };
    let given = busy(CpuSet::new(), most);
    let mut quiet_again = stage.after(&[busy(online.clone(), 0)]);
    for _ in 1..OPEN_AFTER {
        quiet_again = stage.decide(&busy(CpuSet::new(), 0), &quiet_again);
    }
    vec![stage.after(std::slice::from_ref(&given)), stage.after(&[busy(online, most)]), quiet_again]
}

/// From wherever a load leads, the same load leads to the same promises, in a bounded number of ticks and to stay.
#[test]
fn from_any_state_of_the_smallest_machine_a_steady_load_settles() {
    let (name, topology) = &small()[0];
    for text in POLICIES {
        let stage = Stage::new(text, topology);
        for before in far_states(&stage) {
            for load in loads(&stage, 1, &[3][..]) {
                let mut now = stage.decide(&load, &before);
                let mut ticks = 1;
                holds(&stage, &load, &now, false);
                while let Some(next) = Some(stage.decide(&load, &now)).filter(|next| *next != now) {
                    assert!(ticks < SETTLED, "{name}: {text}: {load:?} does not settle");
                    (now, ticks) = (next, ticks + 1);
                }
                holds(&stage, &load, &now, true);
            }
        }
    }
}
