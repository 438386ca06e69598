use cotenant_compiler::topology::{CoreKind, CpuPlace};
use cotenant_compiler::{CpuId, compile};
use cotenant_grammar::SourceSet;

use super::*;

fn machine(cores: u32, threads: u32) -> Topology {
    let place = |cpu: u32| CpuPlace {
        cpu: CpuId(cpu),
        online: true,
        core: cpu / threads,
        llc: None,
        node: 0,
        package: 0,
        kind: CoreKind::Performance,
    };
    Topology::new(&(0..cores * threads).map(place).collect::<Vec<_>>())
}

fn plan(text: &str, topology: &Topology) -> Plan {
    let (plan, diagnostics) = compile(SourceSet::one("p", text), topology);
    plan.unwrap_or_else(|| panic!("{diagnostics:#?}"))
}

fn set(list: &str) -> CpuSet {
    list.parse().unwrap()
}

/// A load from `(ran on, demand)` a class.
fn load(foreign: &str, classes: &[(&str, usize)]) -> Load {
    let classes = classes.iter().map(|(ran_on, demand)| ClassLoad { ran_on: set(ran_on), demand: *demand });
    Load { foreign: set(foreign), classes: classes.collect(), ..Load::default() }
}

fn after(plan: &Plan, loads: &[Load]) -> Assignment {
    loads.iter().fold(Assignment::initial(plan), |before, load| decide(plan, load, &before))
}

fn cpus(assignment: &Assignment, class: usize) -> String {
    assignment.classes[class].as_ref().unwrap().cpus.to_string()
}

const WEB: &str = "rt class web: prefer idle core;";

#[test]
fn siblings_stay_closed_while_a_core_is_left_idle() {
    let plan = plan(WEB, &machine(4, 2));
    for (demand, expected) in [(0, "0,2,4,6"), (3, "0,2,4,6"), (4, "0-2,4,6"), (5, "0-4,6"), (7, "0-7"), (99, "0-7")] {
        let now = after(&plan, &[load("", &[("", demand)])]);
        assert_eq!(cpus(&now, 0), expected, "demand {demand}");
    }
}

#[test]
fn cores_of_others_do_not_count_as_idle() {
    let plan = plan(WEB, &machine(4, 2));
    let now = after(&plan, &[load("4", &[("0,2", 3)])]);
    assert_eq!(cpus(&now, 0), "0-2,4,6", "three cores are left and three are needed: the sibling of an idle one opens");
    let now = after(&plan, &[load("0-7", &[("", 0)])]);
    assert_eq!(cpus(&now, 0), "0,2,4,6", "no work, no sibling");
}

#[test]
fn spilling_starts_where_the_policy_says() {
    let plan = plan("rt class web: prefer idle core, spill to siblings below 3 idle cores;", &machine(4, 2));
    let now = after(&plan, &[load("", &[("0", 1)])]);
    assert_eq!(cpus(&now, 0), "0,2,4,6");
    let now = after(&plan, &[load("", &[("0,2", 2)])]);
    assert_eq!(cpus(&now, 0), "0-2,4,6");
}

#[test]
fn siblings_are_given_at_once_and_taken_back_after_a_calm() {
    let plan = plan(WEB, &machine(4, 2));
    let busy = load("", &[("0,2,4,6", 6)]);
    let calm = load("", &[("0", 1)]);
    let mut now = after(&plan, std::slice::from_ref(&busy));
    assert_eq!(cpus(&now, 0), "0-6");
    for _ in 0..CALM {
        now = decide(&plan, &calm, &now);
        assert_eq!(cpus(&now, 0), "0-6");
    }
    assert_eq!(cpus(&decide(&plan, &calm, &now), 0), "0,2,4,6");
    assert_eq!(cpus(&decide(&plan, &busy, &now), 0), "0-6");
    let broken = decide(&plan, &calm, &decide(&plan, &busy, &now));
    assert_eq!(cpus(&broken, 0), "0-6", "the calm starts anew");
}

#[test]
fn open_siblings_are_kept_before_others_are_opened() {
    let plan = plan(WEB, &machine(4, 2));
    let first = after(&plan, &[load("0", &[("", 3)])]);
    assert_eq!(cpus(&first, 0), "0,2-4,6", "the core of the other comes last");
    let then = decide(&plan, &load("6", &[("", 3)]), &first);
    assert_eq!(cpus(&then, 0), "0,2-4,6");
}

const BOTH: &str = "rt class web: prefer idle core; batch: only when core idle;";

#[test]
fn a_gate_closes_at_once_and_opens_after_quiet() {
    let plan = plan(BOTH, &machine(4, 2));
    let busy = load("", &[("2", 1), ("0-7", 8)]);
    let idle = load("", &[("", 0), ("0-7", 8)]);
    let mut now = after(&plan, &[busy]);
    assert_eq!(cpus(&now, 1), "0-1,4-7");
    for _ in 1..OPEN_AFTER {
        now = decide(&plan, &idle, &now);
        assert_eq!(cpus(&now, 1), "0-1,4-7");
    }
    assert_eq!(cpus(&decide(&plan, &idle, &now), 1), "0-7");
}

#[test]
fn a_gated_class_with_nothing_left_is_frozen_and_comes_back() {
    let plan = plan(BOTH, &machine(2, 2));
    let now = after(&plan, &[load("0,3", &[("", 0), ("", 9)])]);
    let share = now.classes[1].as_ref().unwrap();
    assert!(share.frozen && !share.cpus.is_empty());
    let back = (0..OPEN_AFTER).fold(now, |now, _| decide(&plan, &load("0", &[("", 0), ("", 9)]), &now));
    assert_eq!((back.classes[1].as_ref().unwrap().frozen, cpus(&back, 1).as_str()), (false, "2-3"));
}

#[test]
fn gated_classes_do_not_close_each_other_and_floors_stay_open() {
    let text = "batch class a: only when core idle; batch class b: only when core idle, at least 1 core;";
    let plan = plan(text, &machine(2, 2));
    let now = after(&plan, &[load("", &[("0-3", 4), ("0-3", 4)])]);
    assert_eq!((cpus(&now, 0).as_str(), cpus(&now, 1).as_str()), ("2-3", "0-3"), "b's core is kept from a");
    let now = after(&plan, &[load("0-3", &[("", 4), ("", 4)])]);
    assert!(now.classes[0].as_ref().unwrap().frozen);
    assert_eq!((now.classes[1].as_ref().unwrap().frozen, cpus(&now, 1).as_str()), (false, "0-1"));
}

#[test]
fn batch_does_not_count_against_web() {
    let plan = plan(BOTH, &machine(4, 2));
    let now = after(&plan, &[load("", &[("0", 2), ("0-7", 8)])]);
    assert_eq!(cpus(&now, 0), "0,2,4,6");
}

/// Every occupancy of two cores of two threads: who ran on each CPU (nobody, web, batch, somebody else) and how much web
/// asked for, one tick after the start.
#[test]
fn every_occupancy_of_a_small_machine_keeps_the_rules() {
    let topology = machine(2, 2);
    let plan = plan(BOTH, &topology);
    for occupancy in 0..4_u32.pow(4) {
        let on = |who: u32| (0..4).filter(|cpu| occupancy / 4_u32.pow(*cpu) % 4 == who).map(CpuId).collect::<CpuSet>();
        let (web, batch, foreign) = (on(1), on(2), on(3));
        for demand in 0..=4 {
            let seen = |ran_on: &CpuSet, demand| ClassLoad { ran_on: ran_on.clone(), demand };
            let classes = vec![seen(&web, demand), seen(&batch, batch.len())];
            let now = after(&plan, &[Load { foreign: foreign.clone(), classes, ..Load::default() }]);
            let [Some(for_web), Some(for_batch)] = &now.classes[..] else { panic!() };
            let situation = format!("web on {web}, batch on {batch}, others on {foreign}, demand {demand}");
            assert!(!for_web.cpus.is_empty() && !for_batch.cpus.is_empty(), "{situation}");
            let free = topology.cores().iter().filter(|core| !core.cpus.intersects(&foreign)).count();
            let uses_siblings = !topology.siblings(&for_web.cpus).is_empty();
            assert_eq!(uses_siblings, demand > 0 && demand >= free, "{situation}: {}", for_web.cpus);
            assert_eq!(topology.fronts(&for_web.cpus).len(), 2, "{situation}");
            let taken = topology.whole_cores(&web.union(&foreign));
            assert_eq!(for_batch.frozen, taken.len() == 4, "{situation}");
            assert!(for_batch.frozen || !for_batch.cpus.intersects(&taken), "{situation}");
        }
    }
}
